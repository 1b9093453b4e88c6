"""Wrong parameters are refused before anything runs, with file, key, value and the nearest valid name."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from codestress import artefact_files
from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import DataError, ParameterError
from codestress.inference.registry import ModelEntry, load_registry
from codestress.papers.origin.studies import FindTheOrigin, find_the_origin
from codestress.parameters import parameters_cell
from codestress.paths import NOTEBOOKS
from codestress.pipeline import notebooks
from codestress.pipeline.artefacts import Overrides, resolve, select
from codestress.pipeline.notebooks import About, check_parameters_cell, schemas, sync
from codestress.validation import read_yaml
from conftest import some


@pytest.fixture(scope="module")
def registry() -> dict[str, ModelEntry]:
    return load_registry()


ASK_NOTHING = (
    "codecrash.published",
    "codecrash.calibration",
    "codecrash.variants",
    "faultloc.audit",
    "faultloc.models",
    "faultloc.mutations",
    "faultloc.programs",
    "faultloc.published",
    "origin.published",
    "semtrace.published",
    "semtrace.registry",
    "semtrace.templates",
)
"""Studies of tables of facts."""


PROFILES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name != "smoke")) for name in profile_names()
]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_artefact_of_every_profile_resolves_and_renders(
    profile: str, registry: dict[str, ModelEntry]
) -> None:
    names = select([], load_profile(profile))
    assert len(artefact_names()) >= 15
    assert profile == "try" or names == artefact_names()
    chosen = resolve(names, profile, Overrides(), registry)
    assert [artefact.name for artefact in chosen] == names
    missing = []
    for artefact in some(chosen, 6):
        try:
            trials = artefact.trials()
            assert bool(trials.items) == (artefact.study_name not in ASK_NOTHING), artefact.name
            if trials.items:
                assert trials.render(trials.items[-1]).messages[-1].content, artefact.name
        except DataError:
            missing.append(artefact.name)
    assert profile == "paper" or missing == []


@pytest.mark.parametrize(
    ("settings", "models", "message"),
    [
        (("lins=3",), (), r"--set: lins = 3: unknown key; did you mean '\w+'"),
        (("seed=one",), (), r"--set: seed = 'one': input should be a valid integer"),
        (("seed='1'",), (), r"--set: seed = '1': input should be a valid integer"),
        (("d=[0]",), (), r"--set: d\.0 = 0: two links cannot stand on one line"),
        (
            ("wording=[as_runn]",),
            (),
            r"--set: wording\.0 = 'as_runn': input should be 'as_run' or 'as_printed'",
        ),
        (("words=authors", "lists=2"), (), r"words = 'authors' is one list"),
        (("seed",), (), r"--set 'seed': expected KEY=VALUE"),
        (("seed=[",), (), r"not valid YAML"),
        (
            (),
            ("sim-neer",),
            r"--models: models = 'sim-neer': not in params/models.yaml; did you mean 'sim-near'",
        ),
        ((), ("gpt",), r"not in params/models.yaml"),
    ],
)
def test_bad_overrides(
    settings: tuple[str, ...],
    models: tuple[str, ...],
    message: str,
    registry: dict[str, ModelEntry],
) -> None:
    with pytest.raises(ParameterError, match=message):
        resolve(["origin/fig04"], "demo", Overrides(models, settings), registry)


def test_set_reaches_the_artefacts_that_have_the_key_and_a_key_of_none_is_refused(
    registry: dict[str, ModelEntry],
) -> None:
    both = resolve(
        ["origin/fig04", "origin/sec62"], "demo", Overrides(settings=("step=16",)), registry
    )
    assert both[0].parameters.model_dump()["step"] == 16
    assert "step" not in both[1].parameters.model_dump()
    with pytest.raises(ParameterError, match="no chosen artefact has it; did you mean 'step'"):
        resolve(
            ["origin/fig04", "origin/sec62"], "demo", Overrides(settings=("stepp=16",)), registry
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "title: t\nnotebook: origin/shares.ipynb\nstudy: origin.find_the_origin\nparameter: {}\n",
            "did you mean",
        ),
        (
            "title: t\nnotebook: origin/shares.ipynb\nstudy: origin.find_the_orign\n",
            "origin.find_the_origin",
        ),
        (
            "title: t\nnotebook: origin/sharez.ipynb\nstudy: origin.find_the_origin\n",
            "required, but not given|no such",
        ),
        ("title: t\nstudy: origin.find_the_origin\n", "notebook: required, but not given"),
        ("title: [\n", "is not valid YAML"),
        ("- a\n", "must be a mapping"),
    ],
)
def test_bad_artefact_files_name_the_file(
    content: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    registry: dict[str, ModelEntry],
) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "demo.yaml").write_text(
        "description: d\nparameters: {'p/*': {models: [sim-near]}}\n"
    )
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.yaml").write_text(content)
    monkeypatch.setattr(artefact_files, "PARAMS", tmp_path)
    monkeypatch.setattr(artefact_files, "PROFILES", tmp_path / "profiles")
    with pytest.raises(ParameterError, match=message) as caught:
        resolve(["p/a"], "demo", Overrides(), registry)
    assert "p/a.yaml" in str(caught.value)


def test_unknown_names_get_the_nearest_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="did you mean 'origin/fig01'"):
        select(["origen/fig01"], load_profile("demo"))
    with pytest.raises(ParameterError, match="did you mean 'demo'"):
        load_profile("dem")
    (tmp_path / "p.yaml").write_text("description: d\nparameters: {origin/fig99: {seed: 1}}\n")
    monkeypatch.setattr(artefact_files, "PROFILES", tmp_path)
    with pytest.raises(ParameterError, match="'origin/fig99' matches no artefact"):
        load_profile("p")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m: {engine: opnai, settings: {}}", "unknown engine; did you mean 'openai'"),
        (
            "m: {engine: openai, settings: {base_ulr: x}}",
            "base_ulr = 'x': unknown key; did you mean 'base_url'",
        ),
        ("m: {engine: simulated, settings: {capacity: 1}}", "names that begin with 'sim-'"),
        ("sim-m: {engine: simulated, settings: {}}", "capacity: required"),
        (
            "sim-m: {engine: simulated, settings: {capacity: big}}",
            "capacity = 'big': input should be a valid number",
        ),
        ("m: 3", "must be a mapping"),
        ("m: {engine: openai, contxt: 3}", "contxt = 3: unknown key; did you mean 'context'"),
    ],
)
def test_bad_registry_rows(row: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(row)
    with pytest.raises(ParameterError, match=message):
        load_registry(path)


def test_notebooks_and_schemas_agree_and_have_no_outputs() -> None:
    assert sync(write=False) == []
    for path, (schema, _) in schemas().items():
        check_parameters_cell(path, schema)


def test_a_drifted_parameters_cell_is_refused(tmp_path: Path) -> None:
    path = NOTEBOOKS / "origin" / "shares.ipynb"
    schema, _ = schemas()[path]
    for old, new in (
        ("step: int", "setp: int"),
        ("step: int", "step: str"),
        ("# lines by which a list grows", "# lines"),
    ):
        drifted = tmp_path / "drifted.ipynb"
        drifted.write_text(path.read_text().replace(old, new))
        with pytest.raises(ParameterError, match="differs from the schema"):
            check_parameters_cell(drifted, schema)


def test_what_a_notebook_s_metadata_name_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, (schema, _) = next(iter(schemas().items()))
    text = path.read_text()
    misspelt = tmp_path / "misspelt.ipynb"
    misspelt.write_text(text.replace('"n_problems": "', '"n_probelms": "'))
    with pytest.raises(
        ParameterError, match="'n_probelms' is no parameter; did you mean 'n_problems'"
    ):
        check_parameters_cell(misspelt, schema)
    misspelt.write_text(text.replace('"codestress": {', '"codestress": {"artefcat": "",'))
    with pytest.raises(ParameterError, match="artefcat = '': unknown key; did you mean 'artefact'"):
        check_parameters_cell(misspelt, schema)
    monkeypatch.setattr(notebooks, "about", lambda _: About(artefact="origin/fig06"))
    with pytest.raises(ParameterError, match="'origin/fig06': does not use it"):
        schemas()


def test_the_cell_names_its_knobs_and_the_artefact_s_file_has_the_rest() -> None:
    scope: dict[str, object] = {}
    values = {"artefact": "origin/fig04", "models": ["sim-near"], "seed": 3}
    knobs = {"models": "Who is asked.", "seed": "Another seed, other lists."}
    exec(parameters_cell(FindTheOrigin, values, knobs), scope)
    (demo,) = resolve(["origin/fig04"], "demo", Overrides(), load_registry())
    expected = demo.parameters.model_copy(update={"models": ["sim-near"], "seed": 3})
    assert FindTheOrigin.of(scope) == expected


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({}, 'the parameters cell: artefact = "PAPER/ARTEFACT" is missing'),
        ({"artefact": "origin/fig4"}, "artefact = 'origin/fig4': .*did you mean 'origin/fig04'"),
        ({"artefact": "origin/fig04", "step": "8"}, "the parameters cell: step = '8': "),
    ],
)
def test_what_is_wrong_in_a_parameters_cell_is_named(cell: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        FindTheOrigin.of(cell)


def test_jupyter_shows_every_parameter_with_its_meaning() -> None:
    given = FindTheOrigin(artefact="origin/fig04", models=["sim-near", "<b>"])
    rows = re.findall(
        r"<tr><td>(\w+)</td><td.*?>(.*?)</td><td.*?>(.+?)</td></tr>", given._repr_html_()
    )
    assert [name for name, _, _ in rows] == list(FindTheOrigin.model_fields)
    assert rows[1] == ("models", "sim-near &lt;b&gt;", "names from params/models.yaml")


def test_every_parameter_is_used_by_its_notebook() -> None:
    """A knob that turns nothing misleads: each is read by the notebook's own cells, or by what they hand `given` to."""
    for path, (schema, _) in schemas().items():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join(
            "".join(cell["source"])
            for cell in cells
            if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", ())
        )
        tree = ast.parse(code)
        scope: dict[str, Any] = {}
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(list(imports), []), str(path), "exec"), scope)
        assert f"{schema.__name__}.of(globals())" in code, path.name
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | parameters_read(
            tree, scope
        )
        assert set(schema.model_fields) <= used, f"{path.name}: {set(schema.model_fields) - used}"


def parameters_read(
    tree: ast.AST, scope: Mapping[str, Any], seen: frozenset[Any] = frozenset()
) -> set[str]:
    """Attributes of `given` that are read here, and in the functions that are called with it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "given"
        ):
            found.add(node.attr)
        if isinstance(node, ast.Call) and any(
            isinstance(one, ast.Name) and one.id == "given" for one in node.args
        ):
            handed = ast.unparse(node.func)
            # `partial(FUNCTION, given)` hands `given` to the function that it names.
            function_name = ast.unparse(node.args[0]) if handed == "partial" else handed
            first, *rest = function_name.split(".")
            made = reduce(getattr, rest, scope[first])
            function = inspect.unwrap(made)
            # By `for_each_model`.
            found |= {"per_model"} if "per_model" in made.__code__.co_names else set()
            if function not in seen:
                body = ast.parse(textwrap.dedent(inspect.getsource(function)))
                found |= parameters_read(body, function.__globals__, seen | {function})
    return found


def test_a_parameter_that_nothing_reads_is_found() -> None:
    tree = ast.parse("trials = find_the_origin(given)\nprint(given.seed)")
    found = parameters_read(tree, {"find_the_origin": find_the_origin})
    assert found == set(FindTheOrigin.model_fields) - {
        "recheck", "artefact", "confidence", "failures", "models", "resamples", "rule",
    }  # fmt: skip


def test_a_key_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text("parameters:\n  origin/fig02: {seed: 1}\n  origin/fig02: {step: 4}\n")
    with pytest.raises(ParameterError, match="the key 'origin/fig02' stands twice"):
        read_yaml(path)


def test_models_for_a_whole_paper_leave_its_calibration_to_its_readers() -> None:
    """Of a real model nobody knows the true value: it is not asked in vain, and named alone it is an error."""
    names = [name for name in artefact_names() if name.startswith("origin/")]
    models = {
        a.name: a.parameters.models
        for a in resolve(names, "smoke", Overrides(("sim-wide",)), load_registry())
    }
    chosen = Overrides(("gpt-4o-2024-05-13",))
    found = {a.name: a for a in resolve(names, "smoke", chosen, load_registry())}
    assert (
        found["origin/calibration"].parameters.models
        == models["origin/calibration"]
        == ["sim-near"]
    )
    assert not found["origin/calibration"].changed
    assert found["origin/fig04"].parameters.models == ["gpt-4o-2024-05-13"]
    with pytest.raises(ParameterError, match=r"--models.*needs simulated readers"):
        resolve(["origin/calibration"], "smoke", chosen, load_registry())
