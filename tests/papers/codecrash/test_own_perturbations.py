"""Perturbations of your own: the README's is proved by running, one that changes the meaning is rejected."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codestress.paths import PARAMS
from codestress.problems.pool import generated_problems
from conftest import ROOT, codestress
from told import names


class Project:
    """A project with mine.py and its perturbations, by the names of its functions."""

    def __init__(self, root: Path, code: str, **functions: str) -> None:
        self.root = root
        shutil.copytree(PARAMS, root / "params")
        (root / "notebooks").symlink_to(ROOT / "notebooks")
        (root / "mine.py").write_text(code)
        rows = {name: {"function": f"mine.py:{own}"} for name, own in functions.items()}
        (root / "params" / "perturbations.yaml").write_text(json.dumps(rows))

    def run(self, *arguments: str, status: int = 0) -> str:
        """Returns what the command prints; where it fails, its message."""
        outputs = self.root / "outputs"
        done = codestress(*arguments, outputs=outputs, CODESTRESS_ROOT=str(self.root))
        assert done.returncode == status, done.stderr
        return done.stderr if status else done.stdout

    def perturb(self, count: int, *conditions: str, status: int = 0) -> str:
        """Returns what the command says of the first `count` programs of the kit."""
        path = self.root / "problems.jsonl"
        lines = []
        for one in generated_problems(count):
            row = {"id": one.id, "function": one.function, "input": one.arguments}
            lines.append(json.dumps(row | {"code": one.code}))
        path.write_text("\n".join(lines))
        wanted = ("--conditions", ",".join(conditions))
        return self.run("perturb", str(path), *wanted, "--json", status=status)


def counted(told: str) -> Counter[tuple[str, str]]:
    rows: list[dict[str, Any]] = [json.loads(line) for line in told.splitlines()]
    vanilla = {row["id"]: row["code"] for row in rows if row["condition"] == "VAN"}
    for row in rows:
        changed = row["code"] != vanilla[row["id"]]
        assert changed == (row["state"] == "applied" and row["condition"] != "VAN"), row
    return Counter((row["condition"], row["state"]) for row in rows)


def readme_code() -> str:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"    # my_perturbation.py\n((?:    .*\n)+)", readme)
    return textwrap.dedent(shown)


@pytest.mark.slow
@pytest.mark.isolation
def test_the_readme_s_perturbation_is_neutral_and_asked_about(tmp_path: Path) -> None:
    project = Project(tmp_path, readme_code(), MINE="double_negation")
    found = counted(project.perturb(40, "VAN", "MINE"))
    assert found["MINE", "applied"] > 5
    assert found["MINE", "rejected"] == 0
    study = ("codecrash/tab01", "--profile", "smoke", "--models", "sim-careful")
    study += ("--set", "perturbations=[VAN,MINE]")
    asked = json.loads(project.run("show", *study, "--limit", "0", "--json"))
    assert {row["factors"]["perturbation"] for row in asked} == {"VAN", "MINE"}
    assert any("not not" in row["prompt"]["messages"][-1]["content"] for row in asked)
    project.run("build", *study)
    [path] = (tmp_path / "outputs").rglob("tab01*/manifest.json")
    manifest = json.loads(path.read_text())
    assert any(name.endswith("mine.py") for name in manifest["inputs"])
    assert manifest["counts"]["sim-careful"]["correct"] > 0


BROKEN = """
def wrong(code, draw): return code.replace('return ', 'return 1 or ')
def no_program(code, draw): return code + '\\n)'
def raising(code, draw): return 1 / 0
def nothing(code, draw): return None
"""


@pytest.mark.isolation
def test_what_changes_the_meaning_or_breaks_is_rejected(tmp_path: Path) -> None:
    own = re.findall(r"def (\w+)", BROKEN)
    project = Project(tmp_path, BROKEN, **{name.upper(): name for name in own})
    found = counted(project.perturb(8, "VAN", *map(str.upper, own)))
    assert all(found[name.upper(), "rejected"] >= 6 for name in own), found
    study = ("codecrash/tab01", "--profile", "smoke", "--models", "sim-careful")
    study += ("--set", "perturbations=[VAN,RAISING]", "--set", "problems=[generated]")
    told = project.run("build", *study, status=1)
    names(told, "perturbations = ['VAN', 'RAISING']", "codecrash/perturbations")
    study = ("codecrash/fig03", *study[1:-4], *study[-2:], "--set")
    told = project.run("build", *study, "perturbations=[RAISING]", status=1)
    names(told, "perturbations = ['RAISING']", "codecrash/perturbations")


def test_a_name_or_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    project = Project(tmp_path, readme_code(), MINE="double_negative")
    study = (
        "codecrash/tab01",
        "--profile",
        "smoke",
        "--set",
        "perturbations=[VAN,MNE]",
    )
    names(project.run("show", *study, status=1), "perturbations", "'MNE'", "'MINE'")
    told = project.perturb(1, "MINE", status=1)
    names(told, "params/perturbations.yaml", "MINE", "'mine.py:double_negative'")
