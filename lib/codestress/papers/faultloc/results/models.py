"""Facts about Fault Localizability's models from the registry (Table III, Figure 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from codestress.inference.registry import ModelEntry


def model_facts(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Returns the paper's Table III for `models`, rows of the registry of models: name, size (a
    word where it is unknown), category (empty if unknown), licence."""
    rows = []
    for entry in models:
        undisclosed = (
            "undisclosed" if entry.licence == "proprietary" else "not in the registry"
        )
        size = str(
            entry.architecture.get(
                "size", "simulated" if entry.simulated else undisclosed
            )
        )
        rows.append(
            (
                entry.name,
                size,
                str(entry.architecture.get("category", "")),
                entry.licence,
            )
        )
    return pd.DataFrame(rows, columns=["name", "size", "category", "licence"])


def categories(models: Sequence[ModelEntry]) -> dict[str, str]:
    """Returns the category of each of `models`, rows of the registry, by name: the registry's
    `architecture.category`, else `simulated` for a simulated reader, else `uncategorised`."""
    return {
        entry.name: str(
            entry.architecture.get(
                "category", "simulated" if entry.simulated else "uncategorised"
            )
        )
        for entry in models
    }
