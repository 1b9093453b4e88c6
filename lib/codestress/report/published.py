"""Numbers that the papers publish (params/published/PAPER.json), with their sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.paths import PUBLISHED, shown

if TYPE_CHECKING:
    import pandas as pd


def published_numbers(artefact: str) -> dict[str, Any]:
    """Return the entry of `artefact` (PAPER/ARTEFACT) in the paper's file of published
    numbers: its `values`, and their `provenance`.

    The entry is empty if it or the file is missing.
    """
    _, _, name = artefact.partition("/")
    numbers: dict[str, Any] = read_published(artefact).get(name, {})
    return numbers


def provenance(artefact: str) -> str:
    """Return, in words, the source of the published numbers of `artefact`
    (PAPER/ARTEFACT); empty if the file of published numbers has no entry for it."""
    about = read_published(artefact).get("about", {})
    words: dict[str, str] = about.get("provenance", {})
    return words.get(published_numbers(artefact).get("provenance", ""), "")


LACKING = {"without_numbers": "not published as numbers", "not_at_hand": "not at hand"}
"""Reasons why numbers of a paper are missing: they are only drawn, or printed in a
table that is lost in the copy of the paper used here."""


def without_numbers(artefact: str) -> str:
    """Return, in words, the paper's numbers that are missing for a comparison with
    `artefact` (PAPER/ARTEFACT), and the reason; empty if none is missing."""
    _, _, name = artefact.partition("/")
    for kind, why in LACKING.items():
        if what := read_published(artefact).get(kind, {}).get(name, ""):
            return f"{what}: {why}"
    return ""


def published_cells(artefact: str, *axes: str) -> pd.DataFrame:
    """Return the paper's numbers for `artefact` (PAPER/ARTEFACT) as a table with a row
    for each number; no rows without published numbers.

    In the paper's file, the numbers are nested objects. `axes` are names of columns for
    the keys of each level, outermost level first; the number is in the column `value`.
    The keys of a list at the lowest level are in the entry's `columns`.
    """
    # Imported here: a build with nothing to do needs no table.
    import pandas as pd

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
    """Return a dict from each label of a model in the paper `paper` to the model's name
    in the registry; empty if the paper's file has no such dict."""
    return dict(read_published(paper).get("models", {}))


def version_of(name: str) -> str:
    """Return, in words, the version that the kit follows of the paper `name` (PAPER, or
    PAPER/ARTEFACT); empty if the paper's file does not say."""
    return str(read_published(name).get("about", {}).get("version", ""))


def read_published(name: str) -> dict[str, Any]:
    """Return the content of params/published/PAPER.json for the paper or artefact
    `name` (PAPER, or PAPER/ARTEFACT); empty without a file.

    Raises `DataError` if the file is faulty.
    """
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
