"""`make` on a machine that cannot set up: it ends at once, names what is in the way and what to type."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT, ran

pytestmark = pytest.mark.bare


@pytest.mark.parametrize(
    ("named", "written", "told"),
    [
        ("old", "exit 1", ["3.11", "old"]),
        ("python3", '[ "$1" = -c ]', ["python3-venv"]),
        ("ln", "exit 1", ["links", "make BIN="]),
    ],
)
def test_what_is_in_the_way_is_named(
    tmp_path: Path, named: str, written: str, told: list[str]
) -> None:
    """Each time one program is replaced: by a Python that is too old, or has no venv, or a disk without links."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    (tools / named).unlink(missing_ok=True)
    (tools / named).write_text(f"#!/bin/sh\n{written}\n")
    (tools / named).chmod(0o755)
    old = ["PYTHON=old"] if named == "old" else []
    path = os.environ | {"PATH": f"{tools}:/usr/bin:/bin"}
    done = ran("make", *old, cwd=tmp_path, env=path)
    assert done.returncode == 2
    assert all(words in done.stderr for words in told), done.stderr
    assert not (tmp_path / ".venv" / "ready").exists()
