"""Numbers that the papers publish (params/published/PAPER.json), with where each was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.paths import PUBLISHED, shown


def published_numbers(artefact: str) -> dict[str, Any] | None:
    """What the paper publishes for PAPER/ARTEFACT, with its provenance; None where it has nothing to compare."""
    paper, _, name = artefact.partition("/")
    numbers: dict[str, Any] | None = read_published(paper).get(name)
    return numbers


def without_numbers(artefact: str) -> str:
    """What the paper shows for PAPER/ARTEFACT and does not publish as numbers, in words; empty where it has all."""
    paper, _, name = artefact.partition("/")
    shown_only = read_published(paper).get("without_numbers", {}).get(name, "")
    return f"{shown_only}: not published as numbers" if shown_only else ""


def published_cells(artefact: str, *axes: str) -> pd.DataFrame:
    """The paper's `values` for PAPER/ARTEFACT, a row each: a column for each level of nesting, and `value`.

    A list at the lowest level has the names in `columns`. Empty where the paper has nothing to compare.
    """
    numbers = published_numbers(artefact) or {"values": {}}
    return pd.DataFrame(_leaves(numbers["values"], numbers.get("columns", [])), columns=[*axes, "value"])


def _leaves(values: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    if isinstance(values, list):
        values = dict(zip(columns, values, strict=True))
    if not isinstance(values, dict):
        yield (values,)
        return
    for name, part in values.items():
        yield from ((name, *rest) for rest in _leaves(part, columns))


def published_models(paper: str) -> dict[str, str]:
    """The paper's label of each model to the registry's name."""
    models: dict[str, str] = read_published(paper).get("models", {})
    return models


def read_published(paper: str) -> dict[str, Any]:
    """The whole file of a paper; empty where it has none."""
    path = PUBLISHED / f"{paper}.json"
    if not path.is_file():
        return {}
    try:
        content = parse_json(path.read_text(encoding="utf-8"), unique=True)
        if not isinstance(content, dict):
            raise ValueError(f"it is a {type(content).__name__}, not an object")
    except ValueError as error:
        raise DataError(f"{shown(path)}: is no file of a paper: {error}; take the file of the last commit") from None
    return content
