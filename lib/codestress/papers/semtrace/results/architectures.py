"""Sense and Sensitivity: licences, architectures, and what positions can tell apart (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.report.published import published_cells

ABOUT_31K = (30_500, 31_500)
"""Lengths that are 31k tokens when rounded."""


def smallest_rope_base(context: float) -> float:
    """Smallest base of RoPE for a context of that many tokens: the power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G) has 861,000 for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Name, kind, licence and what Table 3 prints, of the models and of the data sets; empty where it has none.

    They differ for Llama 3.1 8B, which the paper has under the licence of 3.3; ours are the model cards'.
    """
    rows = [{"name": entry.name, "kind": "model", "licence": entry.licence} for entry in models]
    sets = [find_dataset("cruxeval"), find_dataset("codesearchnet-python")]
    table = pd.DataFrame([*rows, *({"name": d.name, "kind": "data set", "licence": d.licence} for d in sets)])
    printed = published_cells("semtrace/tab03", "name").set_index("name")["value"]
    return table.assign(table_3=table["name"].map(printed).fillna(""))


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """What the registry says of each model, and whether its RoPE base reaches the bound for `context` tokens.

    `smallest_base` is that bound; `lowest_bound` and `highest_bound` are those of the lengths that the paper's
    "approximately 31k" tokens may be. The power law's constants are Men et al.'s; the paper prints none.
    """
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
    lowest, highest = (round(smallest_rope_base(end)) for end in ABOUT_31K)
    return pd.DataFrame(rows).assign(smallest_base=round(bound), lowest_bound=lowest, highest_bound=highest)


def bound_table(context: int) -> pd.DataFrame:
    """The bound for a context of that many tokens: context, thousands."""
    return pd.DataFrame([{"context": context, "thousands": smallest_rope_base(context) / 1000}])
