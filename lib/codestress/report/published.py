"""Numbers that the papers publish (params/published/PAPER.json), each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.paths import PUBLISHED, shown

if TYPE_CHECKING:
    import pandas as pd


def published_numbers(artefact: str) -> dict[str, Any]:
    """Returns the entry of an artefact (PAPER/ARTEFACT) in the paper's file of published numbers:
    its `values`, and their `provenance`. Empty where the file or the entry is missing."""
    _, _, name = artefact.partition("/")
    numbers: dict[str, Any] = read_published(artefact).get(name, {})
    return numbers


def provenance(artefact: str) -> str:
    """Returns, in words, the source of the published numbers of an artefact (PAPER/ARTEFACT); empty
    where the file of published numbers has no entry of it."""
    about = read_published(artefact).get("about", {})
    words: dict[str, str] = about.get("provenance", {})
    return words.get(published_numbers(artefact).get("provenance", ""), "")


LACKING = {"without_numbers": "not published as numbers", "not_at_hand": "not at hand"}
"""Reasons why numbers of a paper are missing: they are only drawn, or printed in a table that the
text used here has lost."""


def without_numbers(artefact: str) -> str:
    """Returns, in words, the numbers of the paper that the artefact (PAPER/ARTEFACT) lacks for a
    comparison, and the reason; empty where none is missing."""
    _, _, name = artefact.partition("/")
    for kind, why in LACKING.items():
        if what := read_published(artefact).get(kind, {}).get(name, ""):
            return f"{what}: {why}"
    return ""


def published_cells(artefact: str, *axes: str) -> pd.DataFrame:
    """Returns the paper's numbers for an artefact (PAPER/ARTEFACT) as a table with a row for each
    number. Without published numbers, the table has no rows.

    In the paper's file, the numbers are nested objects: `axes` are names of columns, outermost
    level first, for the keys of each level; the number is in the column `value`. A list at the
    lowest level has its keys in the file's entry `columns`.
    """
    import pandas as pd  # a build with nothing to do makes no table

    numbers = published_numbers(artefact)
    leaves = _leaves(numbers.get("values", {}), numbers.get("columns", []))
    return pd.DataFrame(leaves, columns=[*axes, "value"])


def _leaves(values: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    if isinstance(values, list):
        values = dict(zip(columns, values, strict=True))
    if not isinstance(values, dict):
        yield (values,)
        return
    for name, part in values.items():
        yield from ((name, *rest) for rest in _leaves(part, columns))


def published_models(paper: str) -> dict[str, str]:
    """Returns a mapping from the labels of a paper's models in the paper to their names in the
    registry; empty where the paper's file gives none."""
    models: dict[str, str] = read_published(paper).get("models", {})
    return models


def version_of(name: str) -> str:
    """Returns the version that the kit follows of the paper `name` (PAPER, or PAPER/ARTEFACT), in
    words; empty where the paper's file does not say."""
    version: str = read_published(name).get("about", {}).get("version", "")
    return version


def read_published(name: str) -> dict[str, Any]:
    """Returns the whole content of params/published/PAPER.json for the `name` of a paper or of one
    of its artefacts (PAPER/ARTEFACT); empty without a file. Raises `DataError` for a faulty one."""
    path = PUBLISHED / f"{name.partition('/')[0]}.json"
    if not path.is_file():
        return {}
    try:
        content = parse_json(path.read_text("utf-8"), unique=True)
        if not isinstance(content, dict):
            raise ValueError(f"it is a {type(content).__name__}, not an object")
    except ValueError as error:
        raise DataError(
            f"{shown(path)}: is no file of a paper: {error}; take the file of the last commit"
        ) from None
    return content
