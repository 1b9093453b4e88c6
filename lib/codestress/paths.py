"""Where things are, relative to the project's root."""

import os
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def _named(variable: str, default: Path) -> Path:
    """A path from the environment, which is made absolute there too: a notebook runs in another folder."""
    if not os.environ.get(variable):
        return default
    path = Path(os.environ[variable]).resolve()
    os.environ[variable] = str(path)
    return path


ROOT = _named("CODESTRESS_ROOT", PACKAGE.parents[1])
NOTEBOOKS = ROOT / "notebooks"
PARAMS = ROOT / "params"
PUBLISHED = PARAMS / "published"
OUTPUTS = _named("CODESTRESS_OUTPUTS", ROOT / "outputs")
STORE = _named("CODESTRESS_STORE", OUTPUTS / "responses.sqlite")
DATA = OUTPUTS / "data"
FAILED = OUTPUTS / "failed"
MINE = "mine"
"""The folder of outputs for artefacts that the command line changed (`--models`, `--set`)."""
FILES = (
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "table.csv",
    "table.md",
    "table.tex",
    "data.parquet",
    "answers.parquet",
    "answers.html",
    "spots.json",
    "manifest.json",
)
"""What every artefact's notebook publishes in its folder."""


def write_whole(path: Path, text: str) -> None:
    """Writes a file, and its folder: whoever reads it meanwhile sees the old one or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@cache
def shown(path: Path) -> str:
    """The path as a person types it: relative to the root where it lies inside."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
