"""A path means the folder where it was typed, in every process, or is refused before anything is asked."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from test_failures import Project, project  # noqa: F401

from codestress.paths import exported, whole
from codestress.pipeline.inputs import inputs_of
from conftest import ROOT, SCRIPT, artefact_of, ran
from told import names


def test_a_typed_path_is_made_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a b ä").mkdir()
    monkeypatch.chdir(tmp_path / "a b ä")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert whole("x ü") == tmp_path / "a b ä/x ü"
    assert whole("../x") == tmp_path / "x"
    assert whole("~/x") == tmp_path / "home/x"
    assert whole("/x/../y") == Path("/y")
    assert whole("x", Path("/elsewhere")) == Path("/elsewhere/x")
    assert whole("~nobody-of-this-name/x") == tmp_path / "a b ä/~nobody-of-this-name/x"


def test_an_exported_variable_has_its_earlier_value_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("X", "before")
    with exported("X", "outer"):
        with exported("X", "inner"):
            assert os.environ["X"] == "inner"
        assert os.environ["X"] == "outer"
    assert os.environ["X"] == "before"
    monkeypatch.delenv("X")
    with pytest.raises(KeyError), exported("X", "within"):
        raise KeyError
    assert "X" not in os.environ


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("mine.jsonl", "lib/mine.jsonl"),
        ("../ä b.jsonl", "ä b.jsonl"),
        ("../../beside.jsonl", str(ROOT.parent / "beside.jsonl")),
        ("~/x.jsonl", "/home of/x.jsonl"),
        ("generated", "generated"),
    ],
)
def test_files_in_settings_mean_where_they_were_typed(
    typed: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path inside the project stays short, so that it means the same in every checkout."""
    monkeypatch.setenv("HOME", "/home of")
    monkeypatch.chdir(ROOT / "lib")
    artefact = artefact_of("codecrash/tab01", "paper", f"hints={typed}")
    assert artefact.parameters.model_dump()["hints"] == kept
    files = artefact.parameters.files()
    assert (ROOT / kept in files) == (kept != "generated")


def test_a_file_of_answers_is_an_input_wherever_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    artefact = artefact_of("faultloc/relabel", "demo", "answers=mine.jsonl")
    assert f"data {tmp_path / 'mine.jsonl'}" in inputs_of(artefact)
    cell = {"artefact": "faultloc/relabel", "answers": "mine.jsonl"}
    given = type(artefact.parameters).of(cell).model_dump()
    assert given["answers"] == f"{tmp_path}/mine.jsonl"


def test_files_in_params_are_below_the_project_s_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = artefact_of("codecrash/tab01", "paper")
    monkeypatch.chdir(tmp_path)
    after = artefact_of("codecrash/tab01", "paper")
    assert after.parameters == before.parameters
    assert ROOT / "outputs/data/codecrash.hints.jsonl" in after.parameters.files()
    home = type(after.parameters).checked(
        {**after.parameters.model_dump(), "hints": "~/h.jsonl"}, "here"
    )
    assert Path.home() / "h.jsonl" in home.files()


TYPED = {
    "CODESTRESS_DATA": ("../d ä", "d ä"),
    "CODESTRESS_OUTPUTS": ("o, p", "here/o, p"),
    "CODESTRESS_STORE": ("~/a b.sqlite", "home/a b.sqlite"),
}
"""Variables: what is typed in the folder `here`, and what it means."""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a script in the place of the kit's that tells where it runs and what it gets."""
    given = " ".join(f'"${name}"' for name in TYPED)
    script = tmp_path / "bin" / "codestress"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\npwd; printf '%s\\n' {given} \"$@\"\n")
    script.chmod(0o755)
    return script.parent


@pytest.mark.slow
def test_paths_in_the_environment_mean_the_same_in_a_notebook(
    tmp_path: Path,
    project: Project,  # noqa: F811
) -> None:
    """The notebook belongs to a build that was started in another folder than the kit's."""
    here, told = tmp_path / "here", tmp_path / "told.json"
    here.mkdir()
    cell = f"""import json
from codestress.paths import OUTPUTS, STORE
from codestress.problems.datasets import folders
json.dump([str(folders()[0]), str(OUTPUTS), str(STORE)], open({str(told)!r}, "w"))"""
    project.artefact("one", cell)
    typed = {name: path for name, (path, _) in TYPED.items()}
    own = project.environment(**typed, HOME=str(tmp_path / "home"))
    done = ran(SCRIPT, "build", "t/one", cwd=here, env=own)
    names(done.stderr, "figure.pdf")  # which the cell did not publish
    assert json.loads(told.read_text()) == [
        str(tmp_path / path) for _, path in TYPED.values()
    ]


@pytest.mark.slow
def test_a_notebook_that_no_build_starts_refuses_a_relative_path(
    tmp_path: Path,
) -> None:
    """Nothing says in its kernel whether it runs where the path was typed."""
    cell = nbformat.v4.new_code_cell(
        "from codestress.problems.datasets import folders\nfolders()[0]"
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "n.ipynb")

    def executed(data: str) -> subprocess.CompletedProcess[str]:
        words = ("papermill", "-k", "python3", "n.ipynb", "out.ipynb")
        own = os.environ | {"CODESTRESS_DATA": data}
        return ran(sys.executable, "-m", *words, cwd=tmp_path, env=own)

    refused = executed("data")
    assert refused.returncode == 1
    names(refused.stderr, "ParameterError", "CODESTRESS_DATA='data'")
    assert executed(str(tmp_path / "data")).returncode == 0
    assert f"{tmp_path}/data" in (tmp_path / "out.ipynb").read_text()


def test_make_takes_files_whose_names_have_spaces(tools: Path) -> None:
    for words in (["archive", "FILE=~/a b.gz"], ["diff", "A=a b", "B=c"]):
        done = make_at(ROOT, tools, *words)
        typed = [word.partition("=")[2] for word in words[1:]]
        taken = [word for word in done.stdout.splitlines() if word in typed]
        assert taken == typed, done


def make_at(
    here: Path, tools: Path, *words: str, **own: str
) -> subprocess.CompletedProcess[str]:
    """`make` as typed in a folder, with variables of its own alone."""
    foreign = ("MAKE", "CODESTRESS_")
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(foreign)
    }
    typed = shlex.join(["make", f"BIN={tools}", *words])
    return ran("bash", "-c", typed, env=kept | own, cwd=here)


@pytest.mark.parametrize("directory", [False, True])
def test_make_takes_paths_from_where_it_was_typed(
    directory: bool, tools: Path, tmp_path: Path
) -> None:
    """Also with `-C`."""
    here = tmp_path / "here 'ä" if directory else ROOT
    here.mkdir(exist_ok=True)
    how = ["-C", str(ROOT)] if directory else []
    words = [
        "plan",
        "SET=answers=a.jsonl",
        "MODELS=m.py:f",
        "CODESTRESS_OUTPUTS=../o, p",
    ]
    own = {"CODESTRESS_DATA": "d/ü", "CODESTRESS_STORE": "/s t"}
    done = make_at(here, tools, *how, *words, **own)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("make: ")]
    paths = [f"{here}/d/ü", f"{here}/../o, p", "/s t"]
    assert lines[:4] == [str(here), *paths], done
    options = "--profile demo --models m.py:f --set answers=a.jsonl"
    assert " ".join(lines[4:]) == f"plan {options}"


def test_silent_make_elsewhere_refuses_a_relative_path(
    tools: Path, tmp_path: Path
) -> None:
    elsewhere = ("-s", "-C", str(ROOT), "plan")
    for word in ("CODESTRESS_DATA=d e", "FILE=a b", "A=one"):
        done = make_at(tmp_path, tools, *elsewhere, word)
        assert done.returncode == 2
        names(done.stderr, f"'{word.partition('=')[2]}'")
    whole = make_at(tmp_path, tools, *elsewhere, "CODESTRESS_DATA=/d e")
    assert (whole.returncode, whole.stdout.splitlines()[1]) == (0, "/d e"), whole
    here = make_at(ROOT, tools, "-s", "plan", "CODESTRESS_DATA=d")
    assert here.stdout.splitlines()[1] == f"{ROOT}/d", here
