"""Every notebook as committed: its cells, that it runs where it is opened, and that it computes what it publishes."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient import NotebookClient

from codestress.artefact_files import artefact_names, read_artefact
from codestress.parameters import REST
from codestress.paths import visible
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.pipeline.notebooks import about, closing, is_parameters, schemas
from conftest import ROOT, artefact_of, smoke_names, some

NOTEBOOKS = ROOT / "notebooks"
SCHEMAS = schemas()
HEADINGS = [
    "## What you have seen",
    "## What it does not show",
    "## Three things to try",
]

SEEN = {
    "origin/shares": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
        pairs = answers.pivot_table(index="problem", columns=["model", "condition"], values="right")
        for row in differences.itertuples():
            change = pairs[row.model][row.second] - pairs[row.model][row.first]
            assert np.isclose(change.mean(), row.difference)
    """,
    "origin/outcomes": """
        ours = table[table["source"] == "regenerated"].set_index("model")["accuracy"]
        assert np.allclose(ours, summary.set_index("model")["accuracy"][ours.index])
        bits = cells[cells["model"] == ours.index[0]].set_index("lines")["outcome"]
        first = table.set_index("model")["lines_of_first_failure"][ours.index[0]]
        assert (bits[bits.index < first] == "correct").all() and bits[first] != "correct"
    """,
    "origin/needles": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
    """,
    "origin/distance": """
        assert np.allclose(summary["accuracy"], summary[f"accuracy_{given.rule}"])
        both = fitted.merge(seen, on=["model", "side"])
        assert len(both) == len(fitted) == 2
        assert np.allclose(both[["top seen here", "reach seen here"]], both[["top", "reach_lines"]], rtol=2e-3)
    """,
    "semtrace/positions": """
        wanted = dips[dips["metric"] == given.metrics[0]].set_index(curve)
        assert np.allclose(wanted.loc[seen.index, ["dip_points", "drop_points"]], seen)
        assert np.allclose(curves.to_numpy().ravel(), table["accuracy"])
    """,
    "semtrace/baselines": """
        assert np.allclose(share, table["accuracy"])
        wanted = differences.set_index(["task", "model"])["difference"]
        assert np.allclose(wanted, change.iloc[:, 0][wanted.index])
    """,
    "semtrace/recall": """
        wanted = taus[taus["other"] == "SemTrace"].set_index("lexical")["tau"]
        assert np.allclose(wanted, pd.Series(seen)[wanted.index])
    """,
    "semtrace/line_removal": """
        from codestress.papers.semtrace.results.removal import fit_removal
        assert np.allclose(table.set_index(["model", "task", "share_removed"])["accuracy"][
            pd.MultiIndex.from_frame(share[["model", "task", "share_removed"]])], share["mean"])
        for curve, fit in fits.items():
            assert np.allclose(fit.at(share["share_removed"]), form(share["share_removed"], *seen[curve]), atol=2e-3)
    """,
    "semtrace/sensitivity": """
        wanted = sensitivity.set_index(["model", "task"])["sensitivity"]
        assert np.allclose(wanted, seen[wanted.index])
    """,
    "faultloc/localization": """
        wanted = table.set_index(groups)
        assert np.allclose(wanted["accuracy"][share.index], share)
        assert np.allclose(wanted["accuracy_kept"][share_kept.index], share_kept)
    """,
    "faultloc/robustness": """
        wanted = table.set_index(["model", *by])
        assert np.allclose(wanted.loc[share.index, ["accuracy", "asked_again"]], share)
        wanted = losses[losses["control"] == controls[0]].set_index(["model", "language"])["net_lost"]
        assert np.allclose(wanted, net[wanted.index])
    """,
    "codecrash/robustness": """
        wanted = table.set_index(conditions.CELL)["points"].drop("merge", level="dataset")
        assert len(wanted) and np.allclose(wanted, points[wanted.index])
    """,
    "codecrash/collapse": """
        assert np.allclose(fit.convert().coef, table.loc[0, ["c0", "c1", "c2"]].astype(float))
    """,
    "codecrash/reasoning": """
        wanted = table.set_index(cell)[["average_tokens", "most_tokens"]]
        assert np.allclose(wanted.loc[spent.index], spent)
        for row in growth.itertuples():
            assert np.isclose(times[row.perturbation][row.model, row.dataset], row.times)
    """,
}
"""A last cell that compares what a reader sees computed with what is published, by notebook."""


def name_of(path: Path) -> str:
    return str(path.relative_to(NOTEBOOKS).with_suffix(""))


@pytest.fixture(scope="module")
def demo() -> dict[Path, Artefact]:
    """What each notebook makes when it is opened and run."""
    names = [artefact for _, artefact in SCHEMAS.values()]
    return dict(zip(SCHEMAS, resolve(names, "demo"), strict=True))


def executed(
    notebook: nbformat.NotebookNode, folder: Path, **environment: str
) -> nbformat.NotebookNode:
    """The notebook after all its cells ran, as JupyterLab runs them, without data and without a network; a cell that
    fails raises."""
    dropped = ("CODESTRESS_STAGING", "CODESTRESS_DATA", "CODESTRESS_STORE")
    known = {name: value for name, value in os.environ.items() if name not in dropped}
    nobody = dict.fromkeys(
        ("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9"
    )
    client = NotebookClient(notebook, timeout=3600, kernel_name="python3")
    return client.execute(cwd=str(folder), env={**known, **nobody, **environment})


@pytest.mark.slow
@pytest.mark.parametrize("path", some([*SCHEMAS], 6), ids=name_of)
def test_every_notebook_runs_as_it_is_committed(path: Path, tmp_path: Path) -> None:
    """Opened and run, it publishes the artefact that its metadata name, and what is seen is what is published."""
    outputs = tmp_path / "outputs"
    notebook = nbformat.read(path, 4)
    compared = re.sub("^        ", "", SEEN.get(name_of(path), ""), flags=re.M)
    notebook.cells.append(
        nbformat.v4.new_code_cell(f"import numpy as np, pandas as pd\n{compared}")
    )
    found = executed(notebook, path.parent, CODESTRESS_OUTPUTS=str(outputs))
    assert (outputs / "lab" / about(path).artefact / "manifest.json").is_file()
    shown = [output for cell in found.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown)


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_a_notebook_asks_computes_and_ends_with_what_to_try(
    path: Path, demo: dict[Path, Artefact]
) -> None:
    """Opened by the paper's question; the demo's values, few of them on top; closed by what is seen, what is not shown,
    and three changes of parameters that the schema takes."""
    first, cell, *_, last = nbformat.read(path, 4).cells
    assert first.cell_type == last.cell_type == "markdown"
    assert re.search(r"^\*\*The question( \(.+\))?:\*\* [^?]+\?", first.source, re.M)
    assert re.findall(r"^#.*", last.source, re.M) == HEADINGS
    assert f"`{about(path).artefact}`" in last.source
    assert re.findall(r"^(\d)\. ", last.source, re.M) == ["1", "2", "3"]
    assert cell.metadata.tags == ["parameters"]
    knobs = about(path).knobs
    assert 1 <= len(knobs) <= 6
    values = demo[path].parameters.model_dump()
    declared = re.findall(r"^(\w+): ", cell.source, re.M)
    assert declared == [*(name for name in values if name in knobs), "artefact"]
    sentences = {**knobs, "artefact": REST}
    assert all(f"# {text}\n{name}: " in cell.source for name, text in sentences.items())
    for tried in re.findall(r"^\d\. (.+?)(?=^\d\. |\Z)", last.source, re.M | re.S):
        changes = {
            name: ast.literal_eval(value)
            for name, value in re.findall(r"`(\w+) = ([^`]+)`", tried)
        }
        assert changes, tried
        SCHEMAS[path][0].checked({**values, **changes}, path.name)
        assert any(values[name] != value for name, value in changes.items()), tried


def test_an_executed_notebook_ends_with_words_about_its_own_artefact(
    smoke: Path,
) -> None:
    """What a notebook's end says of one artefact in the demo stands below no other artefact and no other parameters."""
    own = {artefact for _, artefact in SCHEMAS.values()}
    for artefact in resolve(artefact_names(), "demo"):
        end = closing(artefact)
        assert (end == "") == (artefact.name in own)
        assert artefact.name not in own or not artefact.file.seen
        assert artefact.file.seen.strip() in end
        assert (HEADINGS[0] in end) == bool(artefact.file.seen)
    nano = artefact_of("origin/nano", "demo")
    changed = artefact_of("origin/nano", "demo", "seed=1")
    assert nano.file.seen
    assert nano.file.seen.strip() not in closing(changed)
    for name in smoke_names():
        last = (
            nbformat.read(smoke / "smoke" / name / "notebook.ipynb", 4).cells[-1].source
        )
        assert HEADINGS[0] not in last
        assert "notebooks/" + read_artefact(name).notebook in last


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_papermill_reads_the_demo_s_values(
    path: Path, demo: dict[Path, Artefact]
) -> None:
    found = papermill.inspect_notebook(str(path))
    values = demo[path].parameters.model_dump()
    declared = {name: ast.literal_eval(one["default"]) for name, one in found.items()}
    assert declared == {name: values[name] for name in [*about(path).knobs, "artefact"]}
    assert SCHEMAS[path][0].of(declared) == demo[path].parameters
    assert all(
        one["help"] and one["inferred_type_name"] != "None" for one in found.values()
    )


@pytest.mark.parametrize("path", SCHEMAS, ids=name_of)
def test_no_cell_gives_a_parameter_s_name_to_something_else(path: Path) -> None:
    """A notebook whose first cells are run again reads its parameters among all of its names."""
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code" and not is_parameters(cell):
            names = [
                node
                for node in ast.walk(ast.parse(cell.source))
                if isinstance(node, ast.Name)
            ]
            bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
            assert not bound & set(SCHEMAS[path][0].model_fields)


def test_committed_notebooks_are_short_and_have_no_outputs() -> None:
    for path in set(visible(NOTEBOOKS, "**/*.ipynb")) - set(
        (NOTEBOOKS / "course").glob("*")
    ):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert len(code) <= 9, path  # the parameters and eight more
        assert all(not cell.outputs and cell.execution_count is None for cell in code)
        assert all("def " not in cell.source for cell in code)
        assert notebook.cells[0].cell_type == "markdown"
        assert notebook.cells[0].source.startswith("# ")
        assert notebook.metadata.kernelspec.name == "python3"


def test_the_index_links_to_every_notebook_and_to_nothing_else() -> None:
    text = "".join(
        cell.source for cell in nbformat.read(NOTEBOOKS / "index.ipynb", 4).cells
    )
    linked = re.findall(r"\]\(([^)]+)\)", text)
    here = {
        str(path.relative_to(NOTEBOOKS)) for path in visible(NOTEBOOKS, "**/*.ipynb")
    }
    assert sorted(linked) == sorted(here - {"index.ipynb"})


# In `make test` one, the quickest: no other quick test executes an explorer.
@pytest.mark.parametrize(
    "path",
    some(visible(NOTEBOOKS / "explore", "*.ipynb")[::-1], 8),
    ids=lambda path: path.stem,
)
def test_explorers_show_something_when_executed_headless(
    path: Path, smoke: Path
) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('"demo"', '"smoke"')
    cells = [
        cell
        for cell in executed(notebook, path.parent, CODESTRESS_OUTPUTS=str(smoke)).cells
        if cell.get("outputs")
    ]
    assert len(cells) >= 2  # the controls, then the same without
    assert "widget-view" in json.dumps(cells[0].outputs)
    assert "widget-view" not in json.dumps(cells[-1].outputs)
    assert "<Figure" not in json.dumps(cells[-1].outputs)  # its name in place of it
