"""The `parameters` cell of a notebook is made from its study's schema and the demo profile, so that none can drift."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import codestress.pipeline.quick_nbformat  # noqa: F401
from codestress.errors import DataError, ParameterError
from codestress.inference.registry import load_registry
from codestress.literals import parse_json
from codestress.parameters import Facts, parameters_cell
from codestress.paths import NOTEBOOKS, shown
from codestress.pipeline.artefacts import Overrides, artefact_names, load_study, read_artefact, resolve
from codestress.validation import Strict, check, nearest


class About(Strict):
    """What a notebook's metadata say under `codestress`."""

    artefact: str = ""
    """Whose parameters in the demo stand in the parameters cell: what the notebook makes when it is opened and run."""
    knobs: dict[str, str] = {}
    """The parameters that stand on top of the cell, each with a sentence that says what turning it shows."""


def about(path: Path) -> About:
    """What the metadata say; `ParameterError` where they say something else."""
    metadata = _parsed(path).get("metadata")
    said = metadata.get("codestress", {}) if isinstance(metadata, dict) else {}
    return check(About, said, f"{shown(path)}: metadata.codestress")


def schemas() -> dict[Path, tuple[type[Facts], str]]:
    """Each notebook that artefacts use, with its schema and the artefact that it makes when it is opened and run: the
    one that its metadata name, the first in a notebook that is new."""
    found: dict[Path, tuple[type[Facts], str]] = {}
    users: dict[Path, list[str]] = {}
    for name in artefact_names():
        file = read_artefact(name)
        schema = load_study(file.study, name).parameters
        path = NOTEBOOKS / file.notebook
        if path in found and found[path][0] is not schema:
            raise ParameterError(f"{shown(path)}: artefacts with different schemas share it; the last is {name}")
        users.setdefault(path, []).append(name)
        found[path] = (schema, about(path).artefact or users[path][0])
    for path, (_, chosen) in found.items():
        if chosen not in users[path]:
            told = nearest(chosen, users[path])
            raise ParameterError(f"{shown(path)}: metadata.codestress.artefact = {chosen!r}: does not use it{told}")
    return found


def check_parameters_cell(path: Path, schema: type[Facts]) -> None:
    """Compares the cell's names, types and comments with the schema; the values are free."""
    source = _read_cell(path)
    written = [_shape(line) for line in source.strip().splitlines()]
    cell = parameters_cell(schema, {"artefact": "", "models": []}, _knobs(path, schema))
    wanted = [_shape(line) for line in cell.splitlines()]
    if written != wanted:
        line = next((w for w, v in zip([*written, ""], [*wanted, ""], strict=False) if w != v), written[-1])
        raise ParameterError(
            f"{shown(path)}: the parameters cell differs from the schema {schema.__name__} at {line!r}; "
            "run `codestress sync` to write it anew"
        )


def _knobs(path: Path, schema: type[Facts]) -> dict[str, str]:
    knobs = about(path).knobs
    for name in knobs.keys() - schema.model_fields.keys():
        hint = nearest(name, schema.model_fields)
        raise ParameterError(f"{shown(path)}: metadata.codestress.knobs: {name!r} is no parameter{hint}")
    return knobs


def _shape(line: str) -> str:
    """`name: type # comment` of a line of the cell, without the value."""
    declared, _, rest = line.partition(" = ")
    return f"{declared}  #{rest.rpartition('  #')[2]}"


def _read_cell(path: Path) -> str:
    for cell in plain_cells(path):
        if is_parameters(cell):
            return "".join(cell["source"])
    raise ParameterError(f"{shown(path)}: no cell is tagged 'parameters'")


def plain_cells(path: Path) -> list[Any]:
    """The cells as they stand in the file, as `cells_of` says; without nbformat, a second to import."""
    return cells_of(_parsed(path), path)


def _parsed(path: Path) -> Any:
    try:
        notebook = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{shown(path)}: not a notebook: {error}") from None
    cells_of(notebook, path)
    return notebook


def is_parameters(cell: Any) -> bool:
    """Whether a cell is tagged as the one with the parameters."""
    tags = cell["metadata"].get("tags")
    return isinstance(tags, list) and "parameters" in tags


def read_notebook(path: Path) -> Any:
    """A notebook as nbformat has it, whose cells are as `cells_of` says; `DataError` where it is none."""
    import nbformat

    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # whatever nbformat raises
        raise DataError(f"{shown(path)}: not a notebook: {error}") from None
    cells_of(notebook, path)
    return notebook


def cells_of(notebook: Any, path: Path) -> list[Any]:
    """The cells, each of which has a kind, metadata, and a source of text or lines; `DataError` where one has not."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise DataError(f"{shown(path)}: not a notebook: it has no list of cells")
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            raise DataError(f"{shown(path)}: not a notebook: cell {number} is none: {cell!r:.60}")
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        right = {
            "cell_type": isinstance(cell.get("cell_type"), str),
            "metadata": isinstance(cell.get("metadata"), dict),
            "source": all(isinstance(line, str) for line in lines),
        }
        for key in [key for key in right if not right[key]]:
            raise DataError(f"{shown(path)}: not a notebook: cell {number}: {key}: {cell.get(key)!r:.60}")
    return cells


def sync(*, write: bool) -> list[Path]:
    """Writes the cells anew, with the values of the demo, and clears outputs; returns the notebooks that change."""
    import nbformat

    changed = []
    known = schemas()
    names = list(dict.fromkeys(artefact for _, artefact in known.values()))
    demo = {one.name: one for one in resolve(names, "demo", Overrides(), load_registry())}
    for path, (schema, artefact) in known.items():
        notebook, knobs = read_notebook(path), _knobs(path, schema)
        for cell in notebook.cells:
            if is_parameters(cell):
                cell.source = parameters_cell(schema, demo[artefact].parameters.model_dump(), knobs)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebook.metadata = nbformat.from_dict(
            {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
                "codestress": {"artefact": artefact, "knobs": knobs},
            }
        )
        text = nbformat.writes(notebook) + "\n"
        if text != path.read_text(encoding="utf-8"):
            if write:
                path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed
