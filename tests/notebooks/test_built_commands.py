"""Commands on the smoke build: build again, plan, explain, diff, and what the report says to type."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from codestress.paths import FILES
from conftest import ROOT, codestress, ran, smoke_names, some
from told import names

pytestmark = pytest.mark.slow


def command(outputs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return codestress(*words, "--profile", "smoke", outputs=outputs)


def test_of_an_unchanged_build_nothing_is_built(smoke: Path) -> None:
    outcomes = json.loads(command(smoke, "build", *smoke_names(), "--json").stdout)
    assert {outcome["state"] for outcome in outcomes} == {"up to date"}
    assert len(outcomes) == len(smoke_names())


def test_the_same_inputs_give_the_same_bytes(smoke: Path, tmp_path: Path) -> None:
    built = some(("origin/fig02", "origin/fig06", "codecrash/tab09"), 3)
    process = command(tmp_path, "build", *built)
    assert process.returncode == 0, process.stderr
    for name in built:
        first, second = smoke / "smoke" / name, tmp_path / "smoke" / name
        for file in {*FILES} - {"manifest.json"}:
            same = (first / file).read_bytes() == (second / file).read_bytes()
            assert same, f"{name}: {file}"
        diff = codestress("diff", str(first), str(second), outputs=smoke)
        assert diff.returncode == 0, diff.stdout


def test_tables_come_out_of_the_answers_without_the_kit(smoke: Path) -> None:
    script = ROOT / "docs/recompute.py"
    assert "codestress" not in script.read_text()
    process = ran(sys.executable, script, smoke / "smoke")
    assert process.returncode == 0, process.stderr
    tables = {line.partition(":")[0] for line in process.stdout.splitlines()}
    assert len(tables) == 13
    assert ": 0 numbers" not in process.stdout
    for path in (smoke / "smoke").glob("*/*/answers.parquet"):
        answers = pd.read_parquet(path)
        manifest = json.loads((path.parent / "manifest.json").read_text())
        total = sum(sum(counts.values()) for counts in manifest["counts"].values())
        assert len(answers) == total, path
        for column in answers.select_dtypes(exclude="number"):
            # No text of a prompt or a completion.
            assert not answers[column].astype(str).str.len().max() >= 200, path


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("origin/fig04", "--set", "seed=5"), ("build origin/fig04", "seed=5")),
        (("semtrace/tab03",), ("semtrace/tab03", "nothing")),
        (("origin/fig04", "--outcome", "rihgt"), ("--outcome", "'rihgt'")),
    ],
)
def test_what_cannot_be_explained_is_named(
    words: tuple[str, ...], parts: tuple[str, ...], smoke: Path
) -> None:
    names(command(smoke, "explain", *words).stderr, *parts)


def test_commands_that_the_report_prints_work_as_typed(smoke: Path) -> None:
    assert command(smoke, "report").returncode == 0
    index = (smoke / "smoke/index.html").read_text()
    # The paper's own size needs its data.
    plans = re.findall(r"make (\S+) PROFILE=paper MODELS=([\w.-]+)", index)
    papers = {name.partition("/")[0] for name in smoke_names()}
    assert {name.partition("/")[0] for name, _ in plans} == papers
    explain = r"<code>\.venv/bin/codestress (explain \S+ --profile smoke)</code>"
    explained = re.findall(explain, index)
    assert len(explained) > len(smoke_names()) / 2
    commands = [explained[0].split(), explained[-1].split()]
    for name, model in plans:
        commands.append(["plan", name, "--models", model, "--profile", "smoke"])
    for words in commands:
        process = codestress(*words, outputs=smoke)
        assert process.returncode == 0, process.stderr
        names(process.stdout, words[1])
