"""The size of figures and of their text, at the width at which they are printed.

python tests/drawn.py outputs/demo      # names each figure that is too tall, too wide or too small to read
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from codestress.artefact_files import read_artefact
from codestress.report.style import NOTE, SMALLEST_TEXT, TALLEST, WIDTHS

POINTS = 72
SVG = "{http://www.w3.org/2000/svg}"
SIZE = re.compile(r"font(?:-size)?: *(?:[a-z]+ )*([\d.]+)px")


def faults(svg: Path, width: str) -> list[str]:
    """Returns the faults, in words, of the figure `svg`, printed at `width` (a name in `WIDTHS`)."""
    root = ElementTree.parse(svg).getroot()
    across, down = (
        float(root.attrib[side].removesuffix("pt")) / POINTS
        for side in ("width", "height")
    )
    scale = WIDTHS[width] / across
    sizes = [
        (float(found[1]) * scale, "".join(text.itertext()).strip())
        for text in root.iter(f"{SVG}text")
        if (found := SIZE.search(text.attrib.get("style", "")))
    ]
    wrong = (
        [f"drawn {across:.2f} in wide for {WIDTHS[width]} in"]
        if abs(scale - 1) > 0.03
        else []
    )
    if down * scale > TALLEST:
        wrong.append(f"{down * scale:.1f} in tall")
    if small := sorted(
        {
            (round(size, 1), words)
            for size, words in sizes
            if size < SMALLEST_TEXT - 0.05
        }
    ):
        wrong.append(
            f"{len(small)} texts too small, such as {small[0][1]!r} at {small[0][0]} points"
        )
    if (
        len([group for group in root.iter(f"{SVG}g") if group.attrib.get("id") == NOTE])
        > 1
    ):
        wrong.append("more than one footnote")
    return [*wrong, *([] if sizes else ["no text found"])]


def main() -> int:
    status = 0
    for svg in sorted(Path(sys.argv[1]).glob("*/*/figure.svg")):
        name = f"{svg.parent.parent.name}/{svg.parent.name}"
        if name.startswith(".") or "/." in name:
            continue  # a build is writing it
        for fault in faults(svg, read_artefact(name).width):
            print(f"{name}: {fault}")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
