"""All figures of a build at the width of a paper's column, side by side, on the report's light and dark ground.

    make contact-sheet

Writes contact-sheet-light.png and contact-sheet-dark.png beside the report.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

COLUMN = 500
"""Pixels of a column: 3.3 inches at 150 to the inch."""
ACROSS, MARGIN, TITLE = 6, 14, 22
GROUNDS = {"light": ("#ffffff", "#1b1b1b"), "dark": ("#191a1b", "#e8e8e6")}
"""Paper and ink, as in report/page.css."""


def sheet(figures: dict[str, Path], paper: str, ink: str) -> Image.Image:
    """One picture of all figures, by name, in columns of one width; each goes where most space is left."""
    heights = [MARGIN] * ACROSS
    placed: list[tuple[str, Image.Image, int, int]] = []
    for name, path in figures.items():
        with Image.open(path) as picture:
            small = picture.convert("RGB").resize(
                (COLUMN, max(1, round(picture.height * COLUMN / picture.width)))
            )
        column = heights.index(min(heights))
        placed.append(
            (name, small, MARGIN + column * (COLUMN + MARGIN), heights[column])
        )
        heights[column] += TITLE + small.height + MARGIN
    whole = Image.new("RGB", (MARGIN + ACROSS * (COLUMN + MARGIN), max(heights)), paper)
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(15)
    for name, small, x, y in placed:
        pen.text((x, y), name, fill=ink, font=font)
        whole.paste(small, (x, y + TITLE))
    return whole


def write(root: Path) -> list[Path]:
    """Both sheets of the figures below a folder; returns their paths. Ends where there are none."""
    figures = {
        str(path.parent.relative_to(root)): path
        for path in sorted(root.glob("*/*/figure.png"))
    }
    if not figures:
        sys.exit(f"{root}: no figures; make builds them")
    written = []
    for name, (paper, ink) in GROUNDS.items():
        written.append(root / f"contact-sheet-{name}.png")
        sheet(figures, paper, ink).save(written[-1], optimize=True)
    return written


if __name__ == "__main__":
    for path in write(Path(sys.argv[1])):
        print(f"{path}: {path.stat().st_size:,} bytes")
