"""Takes the pictures that the README and docs show: the report's first screen, light, dark, and on a phone; or a whole
page of `make try`.

    .venv/bin/python docs/pictures.py outputs/demo/index.html
    .venv/bin/python docs/pictures.py outputs/try/nano/index.html

It needs Chromium. What is photographed is what was built there; the README shows the demo's.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent


class Shot(NamedTuple):
    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]
    whole: bool = False


SHOTS = (
    Shot("report", 1280, 760, "light"),
    Shot("report-dark", 1280, 760, "dark"),
    Shot("report-phone", 390, 844, "light"),
)
TRIED = (Shot("try", 1100, 800, "light", whole=True),)


def take(page: Path, folder: Path) -> list[Path]:
    """Writes the pictures of a page into a folder; returns their paths."""
    shots = TRIED if page.resolve().parent.parent.name == "try" else SHOTS
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for shot in shots:
            tab = browser.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme)
            tab.goto(page.resolve().as_uri())
            tab.wait_for_function("[...document.querySelectorAll('.paper img')].every((one) => one.naturalWidth)")
            picture = Image.open(io.BytesIO(tab.screenshot(full_page=shot.whole))).convert("RGB")
            picture.quantize(96, dither=Image.Dither.NONE).save(folder / f"{shot.name}.png", optimize=True)
        browser.close()
    return [folder / f"{shot.name}.png" for shot in shots]


if __name__ == "__main__":
    for picture in take(Path(sys.argv[1]), HERE):
        print(f"{picture.name}: {picture.stat().st_size:,} bytes")
