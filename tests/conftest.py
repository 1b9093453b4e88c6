"""Shared fixtures: a place for outputs that is not the project's, and real data where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project, or CODESTRESS_DATA; tests that need it say so when it is missing."""
    folder = Path(os.environ.get("CODESTRESS_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "findtheorigin" / "vertices.txt").is_file():
        pytest.skip("real data is not here; set CODESTRESS_DATA to a folder that has findtheorigin/vertices.txt")
    return folder
