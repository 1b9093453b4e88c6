"""Every notebook as committed: its cells, that it runs where it is opened, and that it computes what it publishes."""

from __future__ import annotations

import ast
import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any

import nbformat
import pytest
from comparisons import COMPARISONS
from nbclient import NotebookClient

from codestress.artefact_files import artefact_names, read_artefact
from codestress.parameters import REST
from codestress.paths import visible
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.pipeline.notebooks import about, closing, is_parameters, schemas
from conftest import ROOT, smoke_names, some

NOTEBOOKS = ROOT / "notebooks"
SCHEMAS = schemas()
HEADINGS = [
    "## What you have seen",
    "## What it does not show",
    "## Three things to try",
]


def name_of(path: Path) -> str:
    return str(path.relative_to(NOTEBOOKS).with_suffix(""))


@pytest.fixture(scope="module")
def demo() -> dict[Path, Artefact]:
    """The artefact that each notebook makes when it is opened and run."""
    artefacts = [artefact for _, artefact in SCHEMAS.values()]
    return dict(zip(SCHEMAS, resolve(artefacts, "demo"), strict=True))


DROPPED = ("CODESTRESS_STAGING", "CODESTRESS_DATA", "CODESTRESS_STORE")


def execute(notebook: nbformat.NotebookNode, folder: Path, outputs: Path) -> list[Any]:
    """Execute all cells as JupyterLab does, without data and without a network, and return those with outputs; a
    cell that fails raises."""
    environment = dict(os.environ, CODESTRESS_OUTPUTS=str(outputs))
    for name in DROPPED:
        environment.pop(name, None)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment[name] = "http://127.0.0.1:9"
    client = NotebookClient(notebook, timeout=3600, kernel_name="python3")
    executed = client.execute(cwd=str(folder), env=environment)
    return [cell for cell in executed.cells if cell.get("outputs")]


@pytest.mark.slow
@pytest.mark.parametrize("path", some([*SCHEMAS], 6), ids=name_of)
def test_a_notebook_runs_as_committed_and_publishes_what_it_shows(
    path: Path, tmp_path: Path
) -> None:
    notebook = nbformat.read(path, 4)
    compared = textwrap.dedent(COMPARISONS.get(name_of(path), ""))
    source = f"import numpy as np, pandas as pd\n{compared}"
    notebook.cells.append(nbformat.v4.new_code_cell(source))
    cells = execute(notebook, path.parent, tmp_path)
    assert (tmp_path / "lab" / about(path).artefact / "manifest.json").is_file()
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_a_notebook_begins_with_its_question_and_few_parameters(
    path: Path, demo: dict[Path, Artefact]
) -> None:
    first, cell = nbformat.read(path, 4).cells[:2]
    assert first.source.startswith("# ")
    assert re.search(r"^\*\*The question( \(.+\))?:\*\* [^?]+\?", first.source, re.M)
    assert cell.metadata.tags == ["parameters"]
    knobs = about(path).knobs
    assert 1 <= len(knobs) <= 6
    values = demo[path].parameters.model_dump()
    declared = {}
    for statement in ast.parse(cell.source).body:
        assert isinstance(statement, ast.AnnAssign)
        declared[ast.unparse(statement.target)] = ast.literal_eval(statement.value)
    assert [*declared] == [name for name in values if name in knobs] + ["artefact"]
    assert SCHEMAS[path][0].of(declared) == demo[path].parameters
    for name, text in {**knobs, "artefact": REST}.items():
        assert f"# {text}\n{name}: " in cell.source


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_a_notebook_ends_with_three_changes_that_its_schema_takes(
    path: Path, demo: dict[Path, Artefact]
) -> None:
    last = nbformat.read(path, 4).cells[-1].source
    assert re.findall(r"^#.*", last, re.M) == HEADINGS
    assert f"`{about(path).artefact}`" in last
    _, *suggestions = re.split(r"^\d\. ", last, flags=re.M)
    assert len(suggestions) == 3
    values = demo[path].parameters.model_dump()
    for suggestion in suggestions:
        changes = {}
        for name, value in re.findall(r"`(\w+) = ([^`]+)`", suggestion):
            changes[name] = ast.literal_eval(value)
        assert values | changes != values, suggestion
        SCHEMAS[path][0].checked(values | changes, path.name)


def test_an_executed_notebook_ends_with_words_about_its_own_artefact(
    smoke: Path,
) -> None:
    """The demo's words stand below no other artefact and no other parameters."""
    own = {artefact for _, artefact in SCHEMAS.values()}
    for artefact in resolve(artefact_names(), "demo"):
        end = closing(artefact)
        summary = artefact.file.seen.strip()
        assert (end == "") == (artefact.name in own)
        assert artefact.name not in own or not summary
        assert summary in end
        assert (HEADINGS[0] in end) == bool(summary)
    for name in smoke_names():
        path = smoke / "smoke" / name / "notebook.ipynb"
        last = nbformat.read(path, 4).cells[-1].source
        assert HEADINGS[0] not in last
        assert "notebooks/" + read_artefact(name).notebook in last


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_no_cell_gives_a_parameter_s_name_to_something_else(path: Path) -> None:
    """A notebook whose first cells are run again reads its parameters among all of its names."""
    fields = set(SCHEMAS[path][0].model_fields)
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code" and not is_parameters(cell):
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    assert node.id not in fields


def test_committed_notebooks_are_short_and_have_no_outputs() -> None:
    course = set((NOTEBOOKS / "course").glob("*"))
    for path in set(visible(NOTEBOOKS, "**/*.ipynb")) - course:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert len(code) <= 9, path  # the parameters and eight more
        for cell in code:
            assert not cell.outputs
            assert cell.execution_count is None
            assert "def " not in cell.source
        assert notebook.metadata.kernelspec.name == "python3"


def test_the_index_links_to_every_notebook_and_to_nothing_else() -> None:
    cells = nbformat.read(NOTEBOOKS / "index.ipynb", 4).cells
    text = "".join(cell.source for cell in cells)
    links = re.findall(r"\]\(([^)]+)\)", text)
    paths = visible(NOTEBOOKS, "**/*.ipynb")
    expected = {str(path.relative_to(NOTEBOOKS)) for path in paths} - {"index.ipynb"}
    assert sorted(links) == sorted(expected)


# In `make test` one, the quickest: no other quick test executes an explorer.
@pytest.mark.parametrize(
    "path",
    some(visible(NOTEBOOKS / "explore", "*.ipynb")[::-1], 8),
    ids=lambda path: path.stem,
)
def test_an_explorer_shows_something_when_executed_headless(
    path: Path, smoke: Path
) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('"demo"', '"smoke"')
    # The controls, then the same without.
    first, *_, last = execute(notebook, path.parent, smoke)
    assert "widget-view" in json.dumps(first.outputs)
    assert "widget-view" not in json.dumps(last.outputs)
    assert "<Figure" not in json.dumps(last.outputs)  # its name in place of it
