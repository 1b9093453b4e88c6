"""Numbers that the papers publish (params/published/PAPER.json), with where each was read."""

from __future__ import annotations

import json
from typing import Any

from codestress.errors import DataError
from codestress.paths import PUBLISHED, shown


def published_numbers(artefact: str) -> dict[str, Any] | None:
    """What the paper publishes for PAPER/ARTEFACT, with its provenance; None where it has nothing to compare."""
    paper, _, name = artefact.partition("/")
    numbers: dict[str, Any] | None = _read(paper).get(name)
    return numbers


def published_models(paper: str) -> dict[str, str]:
    """The paper's label of each model to the registry's name."""
    models: dict[str, str] = _read(paper).get("models", {})
    return models


def _read(paper: str) -> dict[str, Any]:
    path = PUBLISHED / f"{paper}.json"
    if not path.is_file():
        return {}
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{shown(path)}: is not valid JSON: {error}; take the file of the last commit") from None
    return content
