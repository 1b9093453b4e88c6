"""What the runs cost that the ledger waits for: tokens as `codestress plan` counts them, times the registry's prices.

Nothing is asked and nothing is rendered: params/plans.csv has what plans counted (`python bench/plans.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pandas as pd

from codestress.inference.budget import cost
from codestress.inference.registry import load_registry
from codestress.paths import PARAMS
from codestress.types import CHARACTERS_PER_TOKEN

PLANS = PARAMS / "plans.csv"
COLUMNS = ["artefact", "model", "requests", "characters", "longest"]
"""Of the paper profile: questions, characters of all prompts, and tokens of all answers if each is as long as it may
be."""


@cache
def plans() -> pd.DataFrame:
    """`COLUMNS`; empty without the file."""
    return pd.read_csv(PLANS) if PLANS.is_file() else pd.DataFrame(columns=COLUMNS)


def price(artefacts: Sequence[str], needs: str) -> str:
    """What the models that `needs` names (all of an artefact's, where it names none) cost in the first artefact that
    has a plan, in words; `price unknown` where nobody knows."""
    known = plans()
    for artefact in artefacts:
        rows = known[known["artefact"] == artefact]
        named = rows[[model in needs for model in rows["model"]]]
        chosen = named if len(named) else rows
        if len(chosen):
            return _told(chosen)
    return "price unknown"


def _told(rows: pd.DataFrame) -> str:
    registry = load_registry()
    low = high = 0.0
    unknown, own = [], []
    for row in rows.to_dict("records"):
        entry = registry.get(row["model"])
        if entry is not None and entry.price is not None:
            tokens = row["characters"] / CHARACTERS_PER_TOKEN
            low, high = low + cost(entry, tokens, 0), high + cost(entry, tokens, row["longest"])
        elif entry is not None and not entry.needs_key:
            own.append(row["model"])
        else:
            unknown.append(row["model"])
    parts = [f"{int(rows['requests'].sum()):,} questions"]
    if high:
        parts.append(f"${low:,.2f} to ${high:,.2f}")
    if own:
        parts.append(f"{len(own)} models on a machine of one's own")
    if unknown:
        parts.append(f"price unknown for {', '.join(unknown)}")
    return ", ".join(parts)
