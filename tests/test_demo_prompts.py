"""The demo asks the same questions wherever it is built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codestress.problems import installed
from conftest import ROOT, ran
from demo_prompts import prompt_hashes
from told import names

PINNED = json.loads((ROOT / "tests/demo_prompts.json").read_text())
OTHERS = ("python3.12", "python3.13", "python3.14")


@pytest.mark.slow
def test_prompts_are_the_pinned_ones() -> None:
    assert prompt_hashes() == PINNED


@pytest.mark.slow
def test_another_python_asks_the_same(tmp_path: Path) -> None:
    found = [path for name in OTHERS if (path := shutil.which(name))]
    found = [
        path
        for path in found
        if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0
    ]
    if not found:
        pytest.skip(f"no other Python is here: {', '.join(OTHERS)}")
    python = tmp_path / "bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [found[-1], "-m", "venv", tmp_path],
        [*install, "--requirement", ROOT / "requirements.lock"],
        [*install, "--no-deps", "--editable", ROOT],
    ):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    told = ran(python, ROOT / "tests/demo_prompts.py", check=True)
    assert json.loads(told.stdout) == PINNED


def test_packages_of_another_version_are_told(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("click==0.1\n")
    code = "from codestress.problems.installed import installed_modules as found\n"
    code += "assert 'def ' in found('click')['click.core']"
    environment = {**os.environ, "CODESTRESS_ROOT": str(tmp_path)}
    done = ran(sys.executable, "-c", code, env=environment, check=True)
    names(done.stderr, "UserWarning", "click", "0.1", "prompts")


def test_every_package_is_pinned_for_every_python() -> None:
    assert set(installed.PACKAGES) <= set(installed.pins())
