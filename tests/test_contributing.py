"""CONTRIBUTING is true: its recipes, and that of a data set of one's own, are typed in a copy of the kit, line by line,
and do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml

from conftest import ROOT, ran

TEXT = "\n".join(
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("CONTRIBUTING.md", "docs/semtrace.md")
)
RECIPES = dict(re.findall(r"^#+ (.+)\n((?:(?!#).*\n)*)", TEXT, re.M))
FILE = re.compile(r"# ([\w./-]+\.\w+)")
COMMAND = re.compile(r"(?:make|\.venv/bin/\w+)\b")


def steps(recipe: str) -> Iterator[tuple[str, str]]:
    """What is typed, in order: a file's name and what is put there, or nothing and a command."""
    block = "".join(re.findall(r"^(?: {4}.*)?\n", RECIPES[recipe], re.M))
    name, lines = "", list[str]()
    for line in textwrap.dedent(block).splitlines():
        begins, command = FILE.fullmatch(line), COMMAND.match(line)
        if (begins or command) and name:
            yield name, "\n".join(lines).strip("\n") + "\n"
        if begins or command:
            name, lines = begins[1] if begins else "", []
        if command:
            yield "", line.partition("  #")[0]
        lines.append(line * (not begins))
    assert not name, f"{recipe}: ends without a command that shows what {name} does"


def notebook(cells: str) -> nbformat.NotebookNode:
    """A notebook from the form in which editors show its cells: each begins with `# %%`."""
    made = nbformat.v4.new_notebook()
    for kind, source in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n?)*)", cells, re.M):
        if "markdown" in kind:
            text = re.sub("^# ?", "", source.strip(), flags=re.M)
            made.cells.append(nbformat.v4.new_markdown_cell(text))
        else:
            cell = nbformat.v4.new_code_cell(source.strip())
            if "parameters" in kind:
                cell["metadata"]["tags"] = ["parameters"]
            made.cells.append(cell)
    return made


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The kit as it is here, with this environment and no outputs."""
    words = ("ls-files", "-coz", "--exclude-standard")
    for name in ran("git", *words, cwd=ROOT, check=True).stdout.split("\0"):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/bin").symlink_to(Path(sys.executable).parent)
    for ready in ("ready", "ready-dev"):
        (tmp_path / ".venv" / ready).touch()
    return tmp_path


def follow(recipe: str, copy: Path, only: str = "") -> None:
    """Types the recipe, or a part of its commands; every command succeeds."""
    environment = {"PYTHONPATH": str(copy / "lib")}
    for name, value in os.environ.items():
        if not name.startswith(("CODESTRESS_", "PYTEST_", "PYTHONPATH")):
            environment[name] = value
    for name, text in steps(recipe):
        if only not in text:
            continue
        path = copy / name
        if not name:
            done = ran(*shlex.split(text), cwd=copy, env=environment)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            nbformat.write(notebook(text), path)
        else:
            with path.open("a", encoding="utf-8") as file:
                file.write(text)


def changed(copy: Path, artefact: str) -> Path:
    """The one folder of what a recipe's MODELS or SET made of an artefact."""
    [folder] = (copy / "outputs/mine").glob(f"{artefact}@*")
    return folder


@pytest.mark.slow
def test_the_tests_of_one_paper(copy: Path) -> None:
    follow("Working on codestress", copy, only="tests/papers")


@pytest.mark.slow
def test_a_figure_is_a_chart_a_notebook_and_a_file_of_parameters(copy: Path) -> None:
    follow("Add a figure", copy)
    table = pd.read_csv(copy / "outputs/smoke/origin/sizes/table.csv")
    assert list(dict.fromkeys(table["model"])) == ["sim-near", "sim-wide"]
    assert table["lines"].nunique() > 5


@pytest.mark.slow
def test_a_model_is_a_function_and_a_row(copy: Path) -> None:
    follow("Add a model", copy)
    manifest = changed(copy, "origin/fig04") / "manifest.json"
    counts = json.loads(manifest.read_text())["counts"]
    assert list(counts) == ["my-function", "sim-wide"]
    assert counts["my-function"]["correct"] + counts["my-function"]["incorrect"] > 5


@pytest.mark.slow
@pytest.mark.isolation
def test_a_perturbation_is_a_function_and_a_row(copy: Path) -> None:
    follow("Add a perturbation", copy)
    table = pd.read_csv(changed(copy, "codecrash/tab01") / "table.csv")
    assert "NOT-NOT" in set(table["perturbation"])


@pytest.mark.slow
def test_a_fifth_paper_is_four_folders(copy: Path) -> None:
    follow("Add a fifth paper", copy)
    assert "echo/fig01" in (copy / "outputs/smoke/index.html").read_text()
    made = json.loads((copy / "outputs/smoke/echo/fig01/manifest.json").read_text())
    counts = made["counts"]["sim-wide"]
    assert counts["correct"] + counts["incorrect"] == made["asked"] == 2
    assert any("papers/echo/studies.py" in name for name in made["inputs"])
    assert list(made["prompts"]) == ["echo.repeat"]
    files = [(name, text) for name, text in steps("Add a fifth paper") if name]
    rooms = ("lib/codestress/papers", "notebooks", "params", "tests/papers")
    assert all(name.partition("/echo/")[0] in rooms for name, _ in files)
    assert sum(len(text.splitlines()) for _, text in files) <= 120


@pytest.mark.slow
@pytest.mark.isolation
def test_equation_5_of_a_data_set_is_two_files_and_a_command(copy: Path) -> None:
    """Python keeps one of seven incomplete versions of the first program, none of three of the second."""
    follow("Equation 5 of a data set of your own", copy)
    file = changed(copy, "semtrace/sensitivity") / "table.csv"
    table = pd.read_csv(file).set_index(["model", "task"])
    python = table.loc["python", "output_prediction"]
    assert python["sensitivity"] == pytest.approx((6 / 7 + 1) / 2)
    assert (python["programs"], python["complete_wrong"]) == (2, 0)
    assert python["low"] < python["sensitivity"] < python["high"]
    assert set(table.loc["sim-wide"].index) == {"input_prediction", "output_prediction"}


def test_hooks_of_a_commit_are_what_make_test_looks_at() -> None:
    written = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    [hooks] = [repository["hooks"] for repository in written["repos"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [style] = re.findall(r"^style:\n((?:\t.*\n)+)", makefile, re.M)
    looks = [line.strip().removeprefix("$(BIN)/") for line in style.splitlines()]
    assert {hook["entry"].removeprefix(".venv/bin/") for hook in hooks} == set(looks)
    for hook in hooks:
        assert (hook["language"], hook["pass_filenames"]) == ("system", False)
