"""A path means the folder where it was typed, in every process, or is refused before anything is asked."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from codestress.paths import whole
from codestress.pipeline.inputs import inputs_of
from conftest import ROOT, artefact_of, ran
from told import names


def test_a_typed_path_is_made_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path / "a b ä"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert whole("x ü") == here / "x ü"
    assert whole("../x") == tmp_path / "x"
    assert whole("~/x") == tmp_path / "home/x"
    assert whole("/x/../y") == Path("/y")
    assert whole("x", Path("/elsewhere")) == Path("/elsewhere/x")
    assert whole("~nobody-of-this-name/x") == here / "~nobody-of-this-name/x"


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("../ä b.jsonl", "ä b.jsonl"),
        ("../../beside.jsonl", str(ROOT.parent / "beside.jsonl")),
        ("~/x.jsonl", "/home of/x.jsonl"),
        ("generated", "generated"),  # a word, not a path
    ],
)
def test_a_file_in_a_setting_means_where_it_was_typed(
    typed: str, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path inside the project stays short, so that it means the same in every checkout."""
    monkeypatch.setenv("HOME", "/home of")
    monkeypatch.chdir(ROOT / "lib")
    parameters = artefact_of("codecrash/tab01", "paper", f"hints={typed}").parameters
    assert parameters.model_dump()["hints"] == stored
    assert (ROOT / stored in parameters.files()) == (stored != "generated")


def test_a_file_of_answers_is_an_input_wherever_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    artefact = artefact_of("faultloc/relabel", "demo", "answers=mine.jsonl")
    assert f"data {tmp_path / 'mine.jsonl'}" in inputs_of(artefact)
    cell = {"artefact": "faultloc/relabel", "answers": "mine.jsonl"}
    parameters = type(artefact.parameters).of(cell).model_dump()
    assert parameters["answers"] == f"{tmp_path}/mine.jsonl"


@pytest.mark.slow
def test_a_notebook_that_no_build_starts_refuses_a_relative_path(
    tmp_path: Path,
) -> None:
    """Nothing says in its kernel whether it runs where the path was typed."""
    source = "from codestress.problems.datasets import folders\nfolders()[0]"
    cell = nbformat.v4.new_code_cell(source)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "n.ipynb")

    def execute(data: str) -> subprocess.CompletedProcess[str]:
        words = ("papermill", "-k", "python3", "n.ipynb", "out.ipynb")
        environment = os.environ | {"CODESTRESS_DATA": data}
        return ran(sys.executable, "-m", *words, cwd=tmp_path, env=environment)

    relative = execute("data")
    assert relative.returncode == 1
    names(relative.stderr, "ParameterError", "CODESTRESS_DATA='data'")
    assert execute(str(tmp_path / "data")).returncode == 0
    assert f"{tmp_path}/data" in (tmp_path / "out.ipynb").read_text()


PRINTED = (
    'pwd; printf \'%s\\n\' "$CODESTRESS_DATA" "$CODESTRESS_OUTPUTS" "$CODESTRESS_STORE"'
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a script in the place of the kit's that prints where it runs and what it gets."""
    script = tmp_path / "bin" / "codestress"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\n{PRINTED} "$@"\n')
    script.chmod(0o755)
    return script.parent


def make_at(
    here: Path, tools: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `make` as typed in a folder, with no variables of the kit but these."""
    environment = {}
    for name, text in os.environ.items():
        if not name.startswith(("MAKE", "CODESTRESS_")):
            environment[name] = text
    command = shlex.join(["make", f"BIN={tools}", *words])
    return ran("bash", "-c", command, env=environment | variables, cwd=here)


@pytest.mark.parametrize("directory", [False, True])
def test_make_takes_paths_from_where_it_was_typed(
    directory: bool, tools: Path, tmp_path: Path
) -> None:
    """Also with `-C`."""
    here = tmp_path / "here 'ä" if directory else ROOT
    here.mkdir(exist_ok=True)
    options = ["-C", str(ROOT)] if directory else []
    words = ["plan", "SET=answers=a.jsonl", "MODELS=m.py:f"]
    words.append("CODESTRESS_OUTPUTS=../o, p")
    variables = {"CODESTRESS_DATA": "d/ü", "CODESTRESS_STORE": "/s t"}
    process = make_at(here, tools, *options, *words, **variables)
    lines = []
    for line in process.stdout.splitlines():
        if not line.startswith("make: "):
            lines.append(line)
    assert lines[:4] == [str(here), f"{here}/d/ü", f"{here}/../o, p", "/s t"], process
    passed = "plan --profile demo --models m.py:f --set answers=a.jsonl"
    assert " ".join(lines[4:]) == passed


def test_silent_make_elsewhere_refuses_a_relative_path(
    tools: Path, tmp_path: Path
) -> None:
    elsewhere = ("-s", "-C", str(ROOT), "plan")
    for word in ("CODESTRESS_DATA=d e", "FILE=a b"):
        process = make_at(tmp_path, tools, *elsewhere, word)
        assert process.returncode == 2
        names(process.stderr, f"'{word.partition('=')[2]}'")
    absolute = make_at(tmp_path, tools, *elsewhere, "CODESTRESS_DATA=/d e")
    assert absolute.returncode == 0
    assert absolute.stdout.splitlines()[1] == "/d e"
