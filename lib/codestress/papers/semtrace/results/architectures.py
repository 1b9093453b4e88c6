"""Sense and Sensitivity: licences, architectures, and what positions can tell apart (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset


def smallest_rope_base(context: float) -> float:
    """Smallest base of RoPE for a context of that many tokens: the power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G) has 861,000 for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Name, kind and licence of the models and of the data sets."""
    rows = [{"name": entry.name, "kind": "model", "licence": entry.licence} for entry in models]
    sets = [find_dataset("cruxeval"), find_dataset("codesearchnet-python")]
    return pd.DataFrame([*rows, *({"name": d.name, "kind": "data set", "licence": d.licence} for d in sets)])


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """What the registry says of each model, and whether its RoPE base reaches the bound for `context` tokens."""
    bound = smallest_rope_base(context)
    rows = []
    for entry in models:
        base = entry.architecture.get("rope_theta")
        facts = {
            name: entry.architecture.get(name, "not published")
            for name in ("positional", "moe", "sliding_window", "gqa")
        }
        reached = "not published" if base is None else "yes" if float(base) >= bound else "no"
        rows.append(
            {"name": entry.name, **facts, "rope_base": base, "context": entry.context, "reaches_bound": reached}
        )
    return pd.DataFrame(rows).assign(smallest_base=round(bound))


def bound_table(context: int) -> pd.DataFrame:
    """The bound for a context of that many tokens: context, thousands."""
    return pd.DataFrame([{"context": context, "thousands": smallest_rope_base(context) / 1000}])
