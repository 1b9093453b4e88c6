"""Notebooks show what is not known of models that have nothing right, or whose server fails now and then."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from codestress.artefact_files import artefact_names
from codestress.pipeline.artefacts import resolve
from conftest import JOBS, ROOT, codestress

UNLUCKY = """
import zlib

def wrong(messages, **how):
    return "hm"

def flaky(messages, **how):
    if zlib.crc32(repr(messages).encode()) % 2:
        raise ValueError("not today")
    return "[ANSWER] 1 [/ANSWER]"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "failures"), [("wrong", "raise"), ("flaky", "count")]
)
def test_every_notebook_draws_it_and_says_what_is_not_known(
    function: str, failures: str, tmp_path: Path
) -> None:
    for part in ("notebooks", "params"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    (tmp_path / "unlucky.py").write_text(UNLUCKY)
    row = {"engine": "function", "settings": {"function": f"unlucky.py:{function}"}}
    with (tmp_path / "params/models.yaml").open("a", encoding="utf-8") as models:
        models.write(f"\n{function}: {json.dumps(row)}\n")
    artefacts = {}
    for artefact in resolve(artefact_names(), "smoke"):
        artefacts[artefact.notebook] = artefact.name
    process = codestress(
        *("build", *artefacts.values(), "--profile", "smoke", "--jobs", str(JOBS)),
        *("--models", function, "--set", f"failures={failures}", "--json"),
        outputs=tmp_path / "outputs",
        CODESTRESS_ROOT=str(tmp_path),
    )
    unbuilt = []
    for outcome in json.loads(process.stdout):
        if outcome["state"] != "built":
            unbuilt.append(outcome["name"])
            # Of a few questions, all may fail.
            assert re.match(r"(\d+) of \1 requests failed", outcome["error"])
    assert len(unbuilt) < 5 if function == "flaky" else not unbuilt
    paths = list(tmp_path.glob("outputs/[!f]*/*/*/manifest.json"))
    assert len(paths) == len(artefacts) - len(unbuilt)
    unknown = 0
    for path in paths:
        manifest = json.loads(path.read_text())
        assert [model["name"] for model in manifest["models"]] == [function]
        counts = manifest["counts"].get(function, {})
        assert sum(counts.values()) == manifest["asked"], path
        assert counts.get("correct", 0) == 0 or function == "flaky", path
        assert not re.search(r"\bnan\b", manifest["alt"]), path
        unknown += "(not known)" in manifest["alt"]
    assert unknown
