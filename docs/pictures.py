"""Takes the pictures of the README and docs: the report's first screen (light, dark, on a phone), the explorers.

    .venv/bin/python docs/pictures.py outputs/demo/index.html
    .venv/bin/python docs/pictures.py http://localhost:8866/       # of the explorers, while `make explore` serves them

It needs Chromium. What is photographed is what was built there; the README shows the demo's.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).resolve().parent


class Shot(NamedTuple):
    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]


SHOTS = (
    Shot("report", 1280, 760, "light"),
    Shot("report-dark", 1280, 760, "dark"),
    Shot("report-phone", 390, 844, "light"),
)
EXPLORERS = ("prompts", "ask", "answers", "figure", "fit")
CARDS = HERE.parent / "lib/codestress/explore/jupyter/voila/templates/codestress/static"


@contextmanager
def chromium() -> Iterator[Browser]:
    found = next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        "",
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def keep(
    screenshot: bytes, path: Path, width: int | None = None, colours: int = 96
) -> Path:
    """The picture, in few colours, as wide as it was or is to be."""
    picture = Image.open(io.BytesIO(screenshot)).convert("RGB")
    if width is not None:
        picture = picture.resize(
            (width, picture.height * width // picture.width), Image.Resampling.LANCZOS
        )
    picture.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def take(page: Path, folder: Path) -> list[Path]:
    """Writes the pictures of a page into a folder; returns their paths."""
    with chromium() as browser:
        for shot in SHOTS:
            tab = browser.new_page(
                viewport={"width": shot.width, "height": shot.height},
                color_scheme=shot.scheme,
            )
            tab.goto(page.resolve().as_uri())
            tab.wait_for_function(
                "[...document.querySelectorAll('.paper img')].every((one) => one.naturalWidth)"
            )
            keep(tab.screenshot(), folder / f"{shot.name}.png")
    return [folder / f"{shot.name}.png" for shot in SHOTS]


def take_explorers(address: str) -> list[Path]:
    """The pictures on the explorers' landing page, and the README's of one of them."""
    taken = []
    with chromium() as browser:
        for name in EXPLORERS:
            tab = browser.new_page(viewport={"width": 900, "height": 530})
            tab.set_default_timeout(120_000)
            tab.goto(f"{address}voila/render/{name}.ipynb")
            tab.locator(".jupyter-widgets").first.wait_for()
            tab.wait_for_timeout(2000)
            content = tab.screenshot(
                clip={"x": 0, "y": 40, "width": 900, "height": 490}
            )
            taken.append(keep(content, CARDS / f"{name}.png", 640, 32))
            if name == "fit":
                taken.append(keep(content, HERE / "fit.png"))
    return taken


if __name__ == "__main__":
    wanted = sys.argv[1]
    for picture in (
        take_explorers(wanted)
        if wanted.startswith("http")
        else take(Path(wanted), HERE)
    ):
        print(f"{picture.name}: {picture.stat().st_size:,} bytes")
