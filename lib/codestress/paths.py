"""Where things are, relative to the project's root."""

import os
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("CODESTRESS_ROOT") or PACKAGE.parents[1])
NOTEBOOKS = ROOT / "notebooks"
PARAMS = ROOT / "params"
PUBLISHED = PARAMS / "published"
OUTPUTS = Path(os.environ.get("CODESTRESS_OUTPUTS") or ROOT / "outputs")
STORE = Path(os.environ.get("CODESTRESS_STORE") or OUTPUTS / "responses.sqlite")
DATA = OUTPUTS / "data"
FAILED = OUTPUTS / "failed"
FILES = (
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "table.csv",
    "table.md",
    "table.tex",
    "data.parquet",
    "answers.parquet",
    "manifest.json",
)
"""What every artefact's notebook publishes in its folder."""


@cache
def shown(path: Path) -> str:
    """The path as a person types it: relative to the root where it lies inside."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
