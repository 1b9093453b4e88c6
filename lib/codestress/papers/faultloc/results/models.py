"""Facts about Fault Localizability's models from the registry (Table III, Figure 10)."""

from collections.abc import Sequence

import pandas as pd

from codestress.inference.registry import ModelEntry


def model_facts(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Returns the paper's Table III for `models`, rows of the registry of models: name, size (a
    word where it is unknown), category (empty if unknown), licence."""
    rows = []
    for entry in models:
        closed = entry.licence == "proprietary"
        size = _fact(entry, "size", "undisclosed" if closed else "not in the registry")
        category = str(entry.architecture.get("category", ""))
        rows.append((entry.name, size, category, entry.licence))
    return pd.DataFrame(rows, columns=["name", "size", "category", "licence"])


def _fact(entry: ModelEntry, name: str, unknown: str) -> str:
    """Returns the fact `name` of a row of the registry; without it, `simulated` for a simulated
    reader, else `unknown`."""
    missing = "simulated" if entry.simulated else unknown
    return str(entry.architecture.get(name, missing))


def categories(models: Sequence[ModelEntry]) -> dict[str, str]:
    """Returns the category of each of `models`, rows of the registry, by name: the registry's
    `architecture.category`, else `simulated` for a simulated reader, else `uncategorised`."""
    return {model.name: _fact(model, "category", "uncategorised") for model in models}
