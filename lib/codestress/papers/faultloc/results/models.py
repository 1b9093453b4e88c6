"""Facts about Fault Localizability's models from the registry of models (Table III,
Figure 10)."""

from collections.abc import Sequence

import pandas as pd

from codestress.inference.registry import ModelEntry


def model_facts(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Return the paper's Table III for `models`, rows of the registry of models.

    Columns: name, size (a word if it is unknown), category (empty if unknown), licence.
    """
    rows = []
    for entry in models:
        closed = entry.licence == "proprietary"
        size = _fact(entry, "size", "undisclosed" if closed else "not in the registry")
        category = str(entry.architecture.get("category", ""))
        rows.append((entry.name, size, category, entry.licence))
    return pd.DataFrame(rows, columns=["name", "size", "category", "licence"])


def _fact(entry: ModelEntry, name: str, unknown: str) -> str:
    """Return the fact `name` of a row of the registry.

    If the row lacks the fact, return `simulated` for a simulated reader, else the text
    in the argument `unknown`.
    """
    missing = "simulated" if entry.simulated else unknown
    return str(entry.architecture.get(name, missing))


def categories(models: Sequence[ModelEntry]) -> dict[str, str]:
    """Return a dict from the name of each of `models`, rows of the registry, to its
    category.

    The category is the registry's `architecture.category`, else `simulated` for a
    simulated reader, else `uncategorised`.
    """
    return {model.name: _fact(model, "category", "uncategorised") for model in models}
