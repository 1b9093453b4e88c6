"""How much of the kit stands behind a notebook's imports, and behind the estimators."""

from __future__ import annotations

import ast
import json
import sys

import pytest

from codestress.paths import PACKAGE, ROOT
from conftest import ran, some

NOTEBOOKS = ROOT / "notebooks"
RECOMPUTING = (
    *("codecrash/published", "faultloc/published", "origin/published"),
    *("semtrace/published", "faultloc/models"),
)
"""Notebooks that read published numbers or the registry of models, and nothing else."""
ASKING_NOBODY = (
    *RECOMPUTING,
    *("faultloc/audit", "faultloc/catalogue", "faultloc/programs"),
    *("semtrace/registry", "semtrace/templates"),
)
MOST = 80
"""Modules of the kit that a notebook may load that asks nobody, or runs no programs."""
MOST_RECOMPUTING = 60
"""Modules of the kit that a notebook may load that reads published numbers alone."""


def imports_of(notebook: str) -> str:
    """Return the import statements of all code cells."""
    content = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))
    sources = [
        "".join(cell["source"])
        for cell in content["cells"]
        if cell["cell_type"] == "code"
    ]
    statements = ast.parse("\n".join(sources)).body
    return "\n".join(
        ast.unparse(one)
        for one in statements
        if isinstance(one, ast.Import | ast.ImportFrom)
    )


def loaded_by(code: str) -> set[str]:
    """Return the modules of the kit, and the two slow packages, that a fresh process has loaded after the code."""
    kit = "name.startswith('codestress') or name in ('openai', 'pandas')"
    listing = f"import sys\nprint(*(name for name in sys.modules if {kit}))"
    done = ran(sys.executable, "-c", f"{code}\n{listing}", check=True)
    return set(done.stdout.split())


def asks_nobody(notebook: str) -> bool:
    return "codestress.inference.run" not in imports_of(notebook)


def test_notebooks_that_ask_nobody_are_known() -> None:
    papers = sorted(path.parent.name for path in PACKAGE.glob("papers/*/studies.py"))
    notebooks = [
        f"{paper}/{path.stem}"
        for paper in papers
        for path in (NOTEBOOKS / paper).glob("*.ipynb")
    ]
    assert {name for name in notebooks if asks_nobody(name)} == set(ASKING_NOBODY)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", some(ASKING_NOBODY, 4))
def test_a_notebook_that_asks_nobody_loads_no_engine(notebook: str) -> None:
    loaded = loaded_by(imports_of(notebook))
    assert len(loaded) < MOST, sorted(loaded)
    assert not {"openai", "codestress.inference.run"} & loaded
    assert not {
        name for name in loaded if name.startswith("codestress.inference.engines")
    }


@pytest.mark.slow
@pytest.mark.parametrize("notebook", RECOMPUTING)
def test_published_numbers_are_read_without_what_makes_programs(notebook: str) -> None:
    loaded = loaded_by(imports_of(notebook))
    assert len(loaded) <= MOST_RECOMPUTING, sorted(loaded)
    makers = {"codestress.sandbox", "codestress.mutate.perturbations.variants"}
    assert not makers & loaded


@pytest.mark.slow
def test_shares_of_origin_load_no_sandbox() -> None:
    loaded = loaded_by(imports_of("origin/shares"))
    assert len(loaded) < MOST, sorted(loaded)
    assert "codestress.sandbox" not in loaded


def test_a_build_with_nothing_to_do_loads_neither_client_nor_tables() -> None:
    loaded = loaded_by("import codestress.pipeline.builder")
    assert not {"openai", "pandas"} & loaded


@pytest.mark.slow
def test_estimators_need_little_of_the_kit() -> None:
    modules = sorted(path.stem for path in (PACKAGE / "fitting").glob("[!_]*.py"))
    loaded = loaded_by(
        "\n".join(f"import codestress.fitting.{name}" for name in modules)
    )
    beside = {
        name
        for name in loaded - {"pandas"}
        if not name.startswith("codestress.fitting")
    }
    assert len(beside) <= 4, sorted(beside)
