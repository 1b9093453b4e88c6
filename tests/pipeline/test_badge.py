"""The badge claims nothing that was not found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from codestress.paths import ROOT
from codestress.pipeline.badge import TABLE
from told import names

WRITE = """
from codestress.pipeline.badge import Criterion, ready_for, write
criteria = [
    Criterion("available", "a licence", True, "LICENSE"),
    Criterion("available", "archived with a DOI", False, "deposit it"),
    Criterion("functional", "a clean clone builds", True, "64 built"),
    Criterion("reusable", "tests", True, "60"),
    Criterion("reproduced", "every artefact is built", False, "3 of 64"),
]
assert ready_for(criteria) == "functional, reusable"
write(criteria)
"""


def test_an_empty_folder_is_neither_tests_nor_notebooks(tmp_path: Path) -> None:
    for name in ("tests", "notebooks"):
        (tmp_path / name).mkdir()
    for pattern in TABLE["needed"]:
        assert any(ROOT.glob(pattern))
        assert not any(tmp_path.glob(pattern))


def test_a_badge_needs_all_of_its_criteria(tmp_path: Path) -> None:
    environment = os.environ | {"CODESTRESS_OUTPUTS": str(tmp_path)}
    subprocess.run([sys.executable, "-c", WRITE], env=environment, check=True)
    text = (tmp_path / "badge.md").read_text()
    names(text, "functional, reusable", "[x] a licence", "[ ] archived with a DOI")
