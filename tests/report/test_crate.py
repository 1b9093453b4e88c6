"""The RO-Crate of what was built: read back by its own package, it names every file and of what it was made."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT, codestress, ran
from told import names

MANIFEST = {
    "title": "Figure 4: shares",
    "command": "make origin/fig04",
    "commit": "0b5b9cb",
    "built_at": "2026-11-26T22:02:49+00:00",
    "models": [{"name": "sim-wide", "engine": "simulated", "key_revision": "f2eff"}],
    "parameters": {"d": [15], "rule": "strict", "models": ["sim-wide"]},
    "environment": {"python": "3.11.7", "numpy": "2.4.6"},
    "inputs": {"notebook notebooks/origin/shares.ipynb": "bf8d", "parameters": "61f3"},
}


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    for name in ("fig04", "fig 05"):
        folder = tmp_path / "smoke/origin" / name
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps(MANIFEST))
        (folder / "table.csv").write_text(name)
    (folder / "no file").mkdir()
    for name in ("index.html", "models.csv"):
        (tmp_path / "smoke" / name).write_text("<title>report</title>")
    return tmp_path


def test_a_crate_tells_of_what_each_figure_was_made(outputs: Path) -> None:
    reader = pytest.importorskip("rocrate.rocrate")
    # As the Makefile does it, for a folder elsewhere.
    command = ("make", "crate", "PROFILE=smoke", f"BIN={Path(sys.executable).parent}")
    own = os.environ | {"CODESTRESS_OUTPUTS": str(outputs)}
    done = ran(*command, cwd=ROOT, env=own)
    assert done.returncode == 0, done.stderr
    read = reader.ROCrate(outputs / "smoke")
    root = read.root_dataset
    assert root["license"].id == "https://spdx.org/licenses/MIT"
    authors = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["authors"]
    named = [author["name"] for author in root["author"]]
    assert named == [one["name"] for one in authors]
    assert read.mainEntity.id == "index.html"
    assert read.get("models.csv")["sha256"] == read.mainEntity["sha256"]
    for entity in read.data_entities:
        assert Path(entity.source).is_file(), entity.id
    runs = root["mentions"]
    assert [run.id for run in runs] == ["#origin/fig%2005", "#origin/fig04"]
    run = runs[1]
    assert (run.type, run["endTime"]) == ("CreateAction", MANIFEST["built_at"])
    assert run["instrument"]["name"] == "notebooks/origin/shares.ipynb"
    assert run["instrument"]["version"] == "0b5b9cb"
    packages = run["instrument"]["softwareRequirements"]
    assert packages == ["python 3.11.7", "numpy 2.4.6"]
    facts = {one["name"]: one.get("value", one.get("version")) for one in run["object"]}
    assert facts["d"] == "[15]"
    assert facts["sim-wide"] == "f2eff"
    manifest, table = sorted(run["result"], key=lambda file: str(file.id))
    assert manifest.id == "origin/fig04/manifest.json"
    assert table.id == "origin/fig04/table.csv"
    assert table["sha256"] == hashlib.sha256(b"fig04").hexdigest()
    written = outputs / "smoke/ro-crate-metadata.json"
    referred: set[str] = set()

    def noted(entity: dict[str, Any]) -> dict[str, Any]:
        if set(entity) == {"@id"}:
            referred.add(entity["@id"])
        return entity

    graph = json.loads(written.read_text("utf-8"), object_hook=noted)["@graph"]
    named = [entity["@id"] for entity in graph]
    assert len(named) == len(set(named))
    assert referred <= {*named, "https://w3id.org/ro/crate/1.1"}


def test_without_the_package_it_is_said_what_to_install(
    outputs: Path, tmp_path: Path
) -> None:
    (tmp_path / "rocrate.py").write_text("raise ImportError('rocrate')")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = codestress("crate", "--profile", "smoke", outputs=outputs, PYTHONPATH=path)
    assert done.returncode == 1
    names(done.stderr, "pip", "install rocrate")
    assert not (outputs / "smoke/ro-crate-metadata.json").exists()


def test_without_artefacts_it_is_said_what_to_build(tmp_path: Path) -> None:
    done = codestress("crate", "--profile", "smoke", outputs=tmp_path)
    assert done.returncode == 1
    names(done.stderr, "make PROFILE=smoke")
