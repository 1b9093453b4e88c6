"""What the runs cost that the ledger waits for: tokens as `codestress plan` counts them, times the registry's prices.

Nothing is asked and nothing is rendered: params/plans.csv has what plans counted (`python bench/plans.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pandas as pd

from codestress.inference.budget import cost
from codestress.inference.registry import ModelEntry
from codestress.paths import PARAMS
from codestress.types import CHARACTERS_PER_TOKEN

PLANS = PARAMS / "plans.csv"
COLUMNS = ["artefact", "model", "part", "basis", "requests", "characters", "longest"]
"""Of the paper profile: a data set where an artefact has several; how the numbers were found, empty where they were
counted; different questions, characters of all prompts, and tokens of all answers if each is as long as it may be."""


class Price(NamedTuple):
    """How to ask for what is missing, and what that takes."""

    command: str
    told: str


@cache
def plans() -> pd.DataFrame:
    """`COLUMNS`; empty without the file."""
    text = {"part": str, "basis": str}
    return pd.read_csv(PLANS, dtype=text, keep_default_na=False) if PLANS.is_file() else pd.DataFrame(columns=COLUMNS)


def price(artefacts: Sequence[str], needs: str, registry: Mapping[str, ModelEntry]) -> Price:
    """The command that asks what `needs` names, models and a data set (all of an artefact's, where it names none), in
    the first artefact that has a plan, and its price; `price unknown` where nobody knows."""
    known = plans()
    artefacts = [name.partition("@")[0] for name in artefacts]  # whatever command lines changed of them
    for artefact in artefacts:
        rows = known[known["artefact"] == artefact]
        of_models = rows[[_names(needs, model) for model in rows["model"]]]
        named = of_models if len(of_models) else rows
        parts = [part for part in named["part"].unique() if part and part in needs.lower()]
        chosen = named[named["part"].isin(parts)] if parts else named
        if len(chosen):
            options = f' MODELS="{" ".join(of_models["model"].unique())}"' if len(of_models) else ""
            if parts and len(parts) < rows["part"].nunique():
                options += f' SET="problems=[{",".join(parts)}]"'
            told = "; ".join(_told(str(basis), part, registry) for basis, part in chosen.groupby("basis"))
            return Price(f"make {artefact} PROFILE=paper{options}", told)
    return Price(f"make {artefacts[0]} PROFILE=paper", "price unknown")


def _names(needs: str, model: str) -> bool:
    """Whether a model's whole name stands there: one may begin another's."""
    return re.search(rf"(?<![\w.-]){re.escape(model)}(?![\w-]|\.\w)", needs) is not None


def _told(basis: str, rows: pd.DataFrame, registry: Mapping[str, ModelEntry]) -> str:
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
    tokens = f"{rows['characters'].sum() / CHARACTERS_PER_TOKEN / 1e6:,.2f} M tokens"
    answers = f"answers of at most {rows['longest'].sum() / 1e6:,.2f} M"
    parts = [f"{int(rows['requests'].sum()):,} questions of {tokens}, {answers}"]
    if high:
        parts.append(f"${low:,.2f} to ${high:,.2f}")
    if own:
        parts.append(f"{len(set(own))} model{'s' * (len(set(own)) > 1)} on a machine of one's own")
    if unknown:
        parts.append(f"price unknown for {', '.join(dict.fromkeys(unknown))}")
    return ", ".join(parts) + (f" ({basis})" if basis else "")
