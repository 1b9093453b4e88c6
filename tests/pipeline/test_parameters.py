"""Wrong parameters are refused before anything runs, with file, key, value and the nearest valid name."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from test_failures import Project, project  # noqa: F401

from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import DataError, ParameterError
from codestress.inference.registry import load_registry
from codestress.papers.origin.studies import FindTheOrigin
from codestress.parameters import Asked, Experiment, parameters_cell
from codestress.paths import NOTEBOOKS
from codestress.pipeline.artefacts import resolve, select
from codestress.pipeline.notebooks import check_parameters_cell, schemas, sync
from codestress.validation import read_yaml
from conftest import artefact_of, forget, some
from told import names, refused

PROFILES = [
    pytest.param(name, marks=[pytest.mark.slow] * (name != "smoke"))
    for name in profile_names()
]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_artefact_of_every_profile_resolves_and_renders(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without data sets, also where an earlier test read them: test_plan.py renders the prompts of those."""
    monkeypatch.delenv("CODESTRESS_DATA", raising=False)
    forget()
    wanted = select([], load_profile(profile))
    assert len(artefact_names()) >= 15
    assert profile == "try" or wanted == artefact_names()
    chosen = resolve(wanted, profile)
    assert [artefact.name for artefact in chosen] == wanted
    missing = []
    for artefact in some(chosen, 6):
        try:
            trials, asked = artefact.trials(), isinstance(artefact.parameters, Asked)
            assert bool(trials.items) == asked, artefact.name
            if asked:
                last = trials.render(trials.items[-1]).messages[-1]
                assert last.content, artefact.name
        except DataError:
            missing.append(artefact.name)
    assert profile == "paper" or missing == []


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("lins=3", ("lins = 3", "'lists'")),
        ("seed=one", ("seed = 'one'", "integer")),
        ("seed='1'", ("seed = '1'", "integer")),
        ("d=[0]", ("d.0 = 0",)),
        ("wording=[as_runn]", ("wording.0 = 'as_runn'", "'as_run'", "'as_printed'")),
        ("words=authors", ("words = 'authors'", "lists")),
        ("seed", ("'seed'", "KEY=VALUE")),
        ("seed=[", ("seed=[", "YAML")),
    ],
)
def test_bad_overrides(setting: str, named: tuple[str, ...]) -> None:
    with refused(ParameterError, *named):
        artefact_of("origin/fig04", "demo", setting, "lists=2")


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("origen/fig01", ("'origen/fig01'", "'origin/fig01'")),
        # A folder of outputs names no artefact: the options are said.
        ("paper/semtrace/fig01", ("--profile", "--models", "--set")),
        ("mine/origin/fig04@seed=1", ("--profile", "--models", "--set")),
        ("origin/fig04@seed=1", ("--profile", "--models", "--set")),
    ],
)
def test_what_names_no_artefact_is_told(name: str, named: tuple[str, ...]) -> None:
    with refused(ParameterError, name, *named):
        select([name], load_profile("demo"))


def test_set_reaches_the_artefacts_that_have_the_key_and_a_key_of_none_is_refused() -> (
    None
):
    wanted = ["origin/fig04", "origin/sec62"]
    both = resolve(wanted, "demo", settings=["step=16"])
    assert both[0].parameters.model_dump()["step"] == 16
    assert "step" not in both[1].parameters.model_dump()
    with refused(ParameterError, "stepp", "'step'"):
        resolve(wanted, "demo", settings=["stepp=16"])


ARTEFACT = "title: t\nnotebook: origin/shares.ipynb\nstudy: origin.find_the_origin\n"


UNKNOWN = "description: d\nparameters: {origin/fig99: {seed: 1}}\n"


@pytest.mark.parametrize(
    ("file", "content", "named"),
    some(
        [
            ("t/a", ARTEFACT + "parameter: {}\n", ("parameter = {}", "'parameters'")),
            ("t/a", ARTEFACT.replace("origin\n", "orign\n"), ("find_the_origin",)),
            ("profiles/demo", "parameters: {t/b: {seed: 1}}\n", ("description",)),
            ("t/a", ARTEFACT.replace("shares", "sharez"), ("sharez.ipynb",)),
            ("t/a", "title: [\n", ("YAML",)),
            ("profiles/demo", UNKNOWN, ("'origin/fig99'",)),
            ("t/a", "- a\n", ("list",)),
        ],
        3,
    ),
)
def test_bad_files_of_params_are_named(
    file: str,
    content: str,
    named: tuple[str, ...],
    project: Project,  # noqa: F811
) -> None:
    project.artefact("a")
    (project.root / f"params/{file}.yaml").write_text(content)
    named = (f"params/{file}.yaml", *named)
    project.fails("plan", "t/a", named=named, kernels=True)


def test_unknown_names_get_the_nearest_one() -> None:
    with refused(ParameterError, "'dem'", "'demo'"):
        load_profile("dem")
    for model, *nearest in (("sim-neer", "'sim-near'"), ("gpt",)):
        with refused(ParameterError, "--models", model, "models.yaml", *nearest):
            artefact_of("origin/fig04", "demo", models=(model,))


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("m: {engine: opnai, settings: {}}", ("'opnai'", "'openai'")),
        ("m: {engine: openai, settings: {base_ulr: x}}", ("base_ulr =", "'base_url'")),
        ("m: {engine: simulated, settings: {capacity: 1}}", ("'sim-'",)),
        ("sim-m: {engine: simulated, settings: {}}", ("capacity",)),
        (
            "sim-m: {engine: simulated, settings: {capacity: big}}",
            ("capacity = 'big'", "number"),
        ),
        ("m: 3", ("mapping",)),
        ("m: {engine: openai, contxt: 3}", ("contxt = 3", "'context'")),
    ],
)
def test_bad_registry_rows(row: str, named: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(row)
    with refused(ParameterError, f"{path}: {row.partition(':')[0]}", *named):
        load_registry(path)


def test_notebooks_and_schemas_agree_and_have_no_outputs() -> None:
    assert sync(write=False) == []
    for path, (schema, _) in schemas().items():
        check_parameters_cell(path, schema)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("step: int", "setp: int", ("codestress sync",)),
        ("step: int", "step: str", ("codestress sync",)),
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
    old: str, new: str, named: tuple[str, ...], tmp_path: Path
) -> None:
    path = NOTEBOOKS / "origin" / "shares.ipynb"
    schema, _ = schemas()[path]
    text, drifted = path.read_text(), tmp_path / "drifted.ipynb"
    assert old in text
    drifted.write_text(text.replace(old, new))
    with refused(ParameterError, drifted, *named):
        check_parameters_cell(drifted, schema)


def test_what_a_notebook_s_metadata_name_must_be_there(project: Project) -> None:  # noqa: F811
    project.artefact("a")  # whose notebook is of another artefact
    named = ("notebooks/t/a.ipynb", "artefact = 'origin/", "t/a")
    project.fails("sync", "--check", named=named, kernels=True)


def test_the_cell_names_its_knobs_and_the_artefact_s_file_has_the_rest() -> None:
    scope: dict[str, object] = {}
    values = {"artefact": "origin/fig04", "models": ["sim-near"], "seed": 3}
    knobs = {"models": "Who is asked.", "seed": "Another seed, other lists."}
    exec(parameters_cell(FindTheOrigin, values, knobs), scope)
    demo = artefact_of("origin/fig04", "demo")
    expected = demo.parameters.model_copy(update={"models": ["sim-near"], "seed": 3})
    assert FindTheOrigin.of(scope) == expected


@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ({}, ("parameters cell", "artefact =")),
        ({"artefact": "origin/fig4"}, ("artefact = 'origin/fig4'", "'origin/fig04'")),
        ({"artefact": "origin/fig04", "step": "8"}, ("parameters cell", "step = '8'")),
    ],
)
def test_what_is_wrong_in_a_parameters_cell_is_named(
    cell: dict[str, object], named: tuple[str, ...]
) -> None:
    with refused(ParameterError, *named):
        FindTheOrigin.of(cell)


def test_jupyter_shows_every_parameter_with_its_meaning() -> None:
    given = FindTheOrigin(artefact="origin/fig04", models=["sim-near", "<b>"])
    rows = re.findall(
        r"<tr><td>(\w+)</td><td.*?>(.*?)</td><td.*?>(.+?)</td></tr>",
        given._repr_html_(),
    )
    assert [row[0] for row in rows] == list(FindTheOrigin.model_fields)
    assert rows[1][:2] == ("models", "sim-near &lt;b&gt;")
    names(rows[1][2], "params/models.yaml")


def test_every_parameter_is_used_by_its_notebook() -> None:
    """A knob that turns nothing misleads: each is read by the notebook's own cells, or by what they hand `given` to."""
    for path, (schema, _) in schemas().items():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join(
            "".join(cell["source"])
            for cell in cells
            if cell["cell_type"] == "code"
            and "parameters" not in cell["metadata"].get("tags", ())
        )
        tree = ast.parse(code)
        scope: dict[str, Any] = {}
        imports = [
            node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        exec(compile(ast.Module(list(imports), []), str(path), "exec"), scope)
        assert f"{schema.__name__}.of(globals())" in code, path.name
        used = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
        } | parameters_read(tree, scope)
        if issubclass(schema, Experiment):
            used |= read_by_methods(schema)
        assert set(schema.model_fields) <= used, (
            f"{path.name}: {set(schema.model_fields) - used}"
        )


def parameters_read(
    tree: ast.AST, scope: Mapping[str, Any], seen: frozenset[Any] = frozenset()
) -> set[str]:
    """Attributes of `given` that are read here, and in the functions and classes that are called with it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name("given") | ast.Attribute(_, "given"), name):
                found.add(name)
        if isinstance(node, ast.Call) and any(
            isinstance(one, ast.Name) and one.id == "given" for one in node.args
        ):
            handed = ast.unparse(node.func)
            # `partial(FUNCTION, given)` hands `given` to the function that it names.
            function_name = ast.unparse(node.args[0]) if handed == "partial" else handed
            first, *rest = function_name.split(".")
            if first not in scope:
                continue  # a builtin, or a method, which is read by itself
            function = inspect.unwrap(reduce(getattr, rest, scope[first]))
            if function not in seen:
                body = ast.parse(textwrap.dedent(inspect.getsource(function)))
                names = vars(sys.modules[function.__module__])
                found |= parameters_read(body, names, seen | {function})
    return found


def read_by_methods(schema: type[Experiment]) -> set[str]:
    """Attributes of an experiment that its methods read, and `per_model`, which `questions` reads."""
    found = {"per_model"}
    for owner in schema.__mro__[: schema.__mro__.index(Experiment)]:
        for member in vars(owner).values():
            function = member.fget if isinstance(member, property) else member
            if not inspect.isfunction(function):
                continue
            source = textwrap.dedent(inspect.getsource(function))
            body = ast.parse(source.replace("self", "given"))
            found |= parameters_read(body, function.__globals__)
    return found & set(schema.model_fields)


def test_a_parameter_that_nothing_reads_is_found() -> None:
    assert read_by_methods(FindTheOrigin) == set(FindTheOrigin.model_fields) - {
        "artefact", "confidence", "failures", "models", "resamples", "rule",
    }  # fmt: skip


def test_a_key_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(
        "parameters:\n  origin/fig02: {seed: 1}\n  origin/fig02: {step: 4}\n"
    )
    with refused(ParameterError, path, "'origin/fig02'", "line"):
        read_yaml(path)
