"""The parameters cell of each notebook agrees with the schema, the demo and the notebook's own code."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from small_project import Project

from codestress.errors import ParameterError
from codestress.papers.origin.studies import FindTheOrigin
from codestress.parameters import parameters_cell
from codestress.paths import NOTEBOOKS, PACKAGE, visible
from codestress.pipeline.notebooks import (
    check_parameters_cell,
    is_parameters,
    plain_notebook,
    schemas,
    sync,
)
from conftest import artefact_of
from told import names, refused


def test_notebooks_and_schemas_agree_and_have_no_outputs() -> None:
    assert sync(write=False) == []
    for path, (schema, _) in schemas().items():
        check_parameters_cell(path, schema)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("step: int", "setp: int", ("codestress sync",)),
        ("# Lines by which a list grows", "# Lines", ("codestress sync",)),
        # In the notebook's metadata.
        ('"step": "', '"stpe": "', ("'stpe'", "'step'")),
        (
            '"codestress": {',
            '"codestress": {"artefcat": "",',
            ("artefcat = ''", "'artefact'"),
        ),
    ],
)
def test_a_drifted_parameters_cell_is_refused(
    old: str, new: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    path = NOTEBOOKS / "origin" / "shares.ipynb"
    schema, _ = schemas()[path]
    text, drifted = path.read_text(), tmp_path / "drifted.ipynb"
    assert old in text
    drifted.write_text(text.replace(old, new))
    with refused(ParameterError, drifted, *parts):
        check_parameters_cell(drifted, schema)


def test_the_artefact_that_a_notebook_s_metadata_name_must_exist(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.artefact("a")  # whose notebook is of another artefact
    parts = ("notebooks/t/a.ipynb", "artefact = 'origin/", "t/a")
    project.fails("sync", "--check", parts=parts, kernels=True)


def test_values_that_a_build_ignores_are_named_with_the_file_to_edit(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    for name in ("a", "b"):
        project.artefact(name, "pass", step=300)
    artefact = project.root / "params/t/b.yaml"
    artefact.write_text(artefact.read_text().replace("t/b.ipynb", "t/a.ipynb"))
    path = project.root / "notebooks/t/a.ipynb"
    notebook = nbformat.read(path, 4)
    knobs = {"step": "Larger: fewer."}
    notebook.metadata.codestress = {"artefact": "t/a", "knobs": knobs}
    nbformat.write(notebook, path)
    assert "JupyterLab" not in project.run("sync").stderr
    text = path.read_text().replace("step: int = 300", "step: int = 150")
    path.write_text(text.replace("# Any", "seed: int = 9\\n# Any"))
    sources = {"step = 150": "params/profiles/demo.yaml", "seed = 9": "params/t/a.yaml"}
    for command in (("build",), ("sync", "--check")):
        process = project.run(*command)
        for value, source in sources.items():
            [line] = [line for line in process.stderr.splitlines() if value in line]
            files = ("params/t/a.yaml", "params/t/b.yaml")
            names(line, "notebooks/t/a.ipynb", source, *files)
        assert process.returncode == (command[0] == "sync"), process.stderr


def test_the_cell_has_its_knobs_and_the_artefact_s_file_the_rest() -> None:
    scope: dict[str, object] = {}
    values = {"artefact": "origin/fig04", "models": ["sim-near"], "seed": 3}
    knobs = {"models": "Who is asked.", "seed": "Another seed, other lists."}
    exec(parameters_cell(FindTheOrigin, values, knobs), scope)
    demo = artefact_of("origin/fig04", "demo").parameters
    expected = demo.model_copy(update={"models": ["sim-near"], "seed": 3})
    assert FindTheOrigin.of(scope) == expected


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ({}, ("parameters cell", "artefact =")),
        ({"artefact": "origin/fig4"}, ("artefact = 'origin/fig4'", "'origin/fig04'")),
        ({"artefact": "origin/fig04", "step": "8"}, ("parameters cell", "step = '8'")),
    ],
)
def test_a_wrong_parameters_cell_is_refused(
    cell: dict[str, object], parts: tuple[str, ...]
) -> None:
    with refused(ParameterError, *parts):
        FindTheOrigin.of(cell)


def test_jupyter_shows_every_parameter_with_its_meaning() -> None:
    parameters = FindTheOrigin(artefact="origin/fig04", models=["sim-near", "<b>"])
    row = r"<tr><td>(\w+)</td><td.*?>(.*?)</td><td.*?>(.+?)</td></tr>"
    rows = re.findall(row, parameters._repr_html_())
    assert [name for name, _, _ in rows] == list(FindTheOrigin.model_fields)
    assert rows[1][:2] == ("models", "sim-near &lt;b&gt;")
    names(rows[1][2], "params/models.yaml")


def test_every_parameter_is_used_by_its_notebook() -> None:
    """A knob that turns nothing misleads: a cell of the notebook reads it, or a module of its paper or the report."""
    for path, (schema, _) in schemas().items():
        texts = [(PACKAGE / "parameters.py").read_text()]
        for room in ("report", f"papers/{path.parent.name}"):
            texts += [
                module.read_text() for module in visible(PACKAGE / room, "**/*.py")
            ]
        attributes = set(re.findall(r"\.(\w+)", "\n".join(texts)))
        for cell in plain_notebook(path)["cells"]:
            if cell["cell_type"] == "code" and not is_parameters(cell):
                attributes.update(re.findall(r"\w+", "".join(cell["source"])))
        unused = set(schema.model_fields) - attributes
        assert not unused, f"{path.name}: {unused}"
