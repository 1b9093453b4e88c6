"""The `parameters` cell of a notebook, made from the study's schema and the profile
demo, so that the cell cannot differ from them."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import codestress.pipeline.quick_nbformat  # noqa: F401
from codestress.artefact_files import (
    Layers,
    artefact_names,
    artefact_path,
    demo_layers,
    read_artefact,
)
from codestress.errors import DataError, ParameterError
from codestress.literals import parse_json
from codestress.parameters import Facts, parameters_cell
from codestress.paths import NOTEBOOKS, shown
from codestress.validation import Strict, check, nearest

from .artefacts import Artefact, load_study
from .options import warn

LINE = re.compile(r"^(\w+: .+?) = (.*?)(  #.*)?$", re.M)
"""Pattern of a parameter's line in the parameters cell: name and type, value, meaning.
"""
ABSENT = "", ""
"""A parameter without a line: no form, no value."""


class About(Strict):
    """A notebook's metadata under `codestress`: its default artefact, and the
    parameters that head its parameters cell."""

    artefact: str = ""
    """Name of the artefact whose demo parameters stand in the parameters cell. The
    notebook makes this artefact if it is run in JupyterLab."""
    knobs: dict[str, str] = {}
    """Dict from each parameter at the top of the cell (knob) to a sentence on what a
    change of the parameter shows."""


def about(path: Path) -> About:
    """Return the metadata (`About`) of the notebook at `path` under `codestress`, with
    defaults for missing fields.

    Raises `ParameterError` if the metadata is malformed, `DataError` if the file is not
    a notebook.
    """
    own = plain_notebook(path).get("metadata", {}).get("codestress", {})
    return check(About, own, f"{shown(path)}: metadata.codestress")


def schemas() -> dict[Path, tuple[type[Facts], str]]:
    """Return a dict from the path of each notebook that artefacts use to a pair of its
    schema and its default artefact's name.

    The default artefact is named in the notebook's metadata, or, in a new notebook
    without this metadata, is the first artefact that uses the notebook. Raises
    `ParameterError` if artefacts with different schemas share a notebook, or if the
    default artefact has another notebook.
    """
    users: dict[Path, dict[str, type[Facts]]] = {}
    for name in artefact_names():
        file = read_artefact(name)
        schema = load_study(file.study, name)
        users.setdefault(NOTEBOOKS / file.notebook, {})[name] = schema
    defaults = {}
    for path, schema_of in users.items():
        if len(set(schema_of.values())) > 1:
            raise ParameterError(
                f"{shown(path)}: artefacts with different schemas share this notebook: {', '.join(schema_of)}"
            )
        chosen = about(path).artefact or next(iter(schema_of))
        if chosen not in schema_of:
            hint = nearest(chosen, schema_of)
            raise ParameterError(
                f"{shown(path)}: metadata.codestress.artefact = {chosen!r}: has another notebook{hint}"
            )
        defaults[path] = schema_of[chosen], chosen
    return defaults


def check_parameters_cell(path: Path, schema: type[Facts]) -> None:
    """Raise `ParameterError` if the parameters cell of the notebook at `path` differs
    from `schema` in names, types or comments, or if no cell is tagged `parameters`.

    The values may differ. The cell may have lines for further parameters of `schema`,
    which are not compared.
    """
    knobs = _knobs(path, schema)
    wanted = _lines(parameters_cell(schema, {"artefact": "", "models": []}, knobs))
    written = _lines(_read_cell(path))
    for name in sorted(wanted.keys() | written.keys() - schema.model_fields.keys()):
        if wanted.get(name, ABSENT)[0] != written.get(name, ABSENT)[0]:
            raise ParameterError(
                f"{shown(path)}: the parameters cell differs from the schema {schema.__name__} at {name!r}; "
                "run `codestress sync` to rewrite it"
            )


def tell_ignored_values(artefacts: Iterable[Artefact]) -> None:
    """Print a line on standard error for each value in the parameters cell of a
    notebook of `artefacts` that differs from the demo's value.

    Builds ignore this value; the line names the files from which builds take the
    parameter.
    """
    known = artefact_names()
    schema_of = {artefact.notebook: type(artefact.parameters) for artefact in artefacts}
    for path, schema in schema_of.items():
        name = about(path).artefact
        if name not in known:
            continue
        layers = demo_layers(name)
        demo = _values(schema, layers)
        written = _lines(_read_cell(path))
        wanted = _lines(parameters_cell(schema, demo, dict.fromkeys(written, "")))
        for key in sorted(wanted.keys() & written.keys() - {"artefact"}):
            value = written[key][1]
            if value == wanted[key][1]:
                continue
            users = []
            for user in known:
                if NOTEBOOKS / read_artefact(user).notebook == path:
                    users.append(shown(artefact_path(user)))
            source = layers.sources.get(key, shown(artefact_path(name)))
            warn(
                f"{shown(path)}: {key} = {value} counts in JupyterLab alone: {name} takes it from {source}; "
                f"files of this notebook: {', '.join(users)}"
            )


def _values(schema: type[Facts], layers: Layers) -> dict[str, Any]:
    return schema.checked(layers.values, layers.sources).model_dump()


def _knobs(path: Path, schema: type[Facts]) -> dict[str, str]:
    knobs = about(path).knobs
    for name in knobs.keys() - schema.model_fields.keys():
        hint = nearest(name, schema.model_fields)
        raise ParameterError(
            f"{shown(path)}: metadata.codestress.knobs: {name!r} is no parameter{hint}"
        )
    return knobs


def _lines(cell: str) -> dict[str, tuple[str, str]]:
    """Return a dict from each parameter of a parameters cell to a pair of texts: its
    line `name: type = value  # meaning` without the value, and the value."""
    lines = {}
    for declared, value, meaning in LINE.findall(cell):
        lines[declared.partition(":")[0]] = declared + meaning, value
    return lines


def _read_cell(path: Path) -> str:
    for cell in plain_notebook(path)["cells"]:
        if is_parameters(cell):
            return "".join(cell["source"])
    raise ParameterError(f"{shown(path)}: no cell is tagged 'parameters'; tag one")


class _Cell(BaseModel):
    cell_type: str
    metadata: dict[str, Any]
    source: str | list[str]


class _Notebook(BaseModel):
    """Form of the parts of a notebook that the kit reads; nbformat checks all other
    parts."""

    cells: list[_Cell]
    metadata: dict[str, Any] = {}


def plain_notebook(path: Path) -> dict[str, Any]:
    """Return the notebook at `path` as a dict with the list `cells` (dicts), parsed
    from the file's JSON.

    nbformat is not used, because its import takes a second. Raises `DataError` if the
    file is not a notebook.
    """
    try:
        notebook = parse_json(path.read_text(encoding="utf-8-sig"))
        check(_Notebook, notebook, "its text")
        return dict(notebook)
    except (OSError, ValueError, ParameterError) as error:
        raise DataError(f"{shown(path)}: not a notebook: {error!s:.300}") from None


def is_parameters(cell: Any) -> bool:
    """Return whether a `cell` (dict) has the tag `parameters`, which marks the
    parameters cell."""
    tags = cell["metadata"].get("tags")
    return isinstance(tags, list) and "parameters" in tags


def read_notebook(path: Path) -> Any:
    """Return the notebook at `path`, read by nbformat (version 4).

    A cell without a valid id gets an id with the cell's index. Raises `DataError` if
    the file is not a notebook.
    """
    import nbformat

    defaults = {"metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    whole = defaults | plain_notebook(path)
    try:
        notebook = nbformat.reads(json.dumps(whole), as_version=4)
    except Exception as error:  # nbformat raises many kinds of error
        raise DataError(f"{shown(path)}: not a notebook: {error}") from None
    for number, cell in enumerate(notebook.cells):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(cell.get("id", ""))):
            cell["id"] = f"cell-{number}"
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    return notebook


SEEN = "## What you have seen"


def closing(artefact: Artefact) -> str:
    """Return the Markdown text that replaces the last cell in the executed notebook of
    `artefact`; empty if that cell stays.

    The last cell in the notebook's file describes the notebook's default artefact in
    the demo, and stays for that artefact in the demo alone. Every other build gets a
    text that points to the cell. In the demo this text follows the artefact's `seen`,
    if any.
    """
    demo = artefact.profile == "demo" and not artefact.changed
    written_of = about(artefact.notebook).artefact
    if demo and artefact.name == written_of:
        return ""
    elsewhere = (
        f"What is to be seen in the demo's `{written_of}`, what it does not show, and three things to try stand at the "
        f"end of `{shown(artefact.notebook)}`."
    )
    summary = artefact.file.seen.strip()
    if demo and summary:
        return f"{SEEN}\n\n{summary}\n\n{elsewhere}"
    return elsewhere


def sync(*, write: bool) -> list[Path]:
    """Return the paths of the notebooks that differ from the standard form: the demo's
    values in the parameters cell, standard metadata, and no outputs.

    The notebooks are rewritten in this form only if `write` is true.
    """
    import nbformat

    changed = []
    for path, (schema, artefact) in schemas().items():
        notebook, knobs = read_notebook(path), _knobs(path, schema)
        demo = _values(schema, demo_layers(artefact))
        for cell in notebook.cells:
            if is_parameters(cell):
                cell.source = parameters_cell(schema, demo, knobs)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebook.metadata = {
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
            "codestress": {"artefact": artefact, "knobs": knobs},
        }
        text = nbformat.writes(notebook) + "\n"
        if text != path.read_text("utf-8"):
            if write:
                path.write_text(text, "utf-8")
            changed.append(path)
    return changed
