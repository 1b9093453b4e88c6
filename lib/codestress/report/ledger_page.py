"""What the report says of all ledgers together: each number once, how many verdicts to expect, what was not run, and
what those runs cost: tokens as `codestress plan` counts them, times the registry's prices.

Nothing is asked and nothing is rendered: params/plans.csv has what plans counted (`python bench/plans.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import holm
from codestress.fitting.verdicts import Verdict, p_value
from codestress.inference.budget import cost
from codestress.inference.registry import ModelEntry, load_registry
from codestress.paths import PARAMS
from codestress.report.claims import COLUMNS
from codestress.types import CHARACTERS_PER_TOKEN

SIGNS = {
    **{"reproduced": "✓", "differs": "✗", "inconclusive": "?", "not comparable": "∦", "consistent": "="},
    **{"inconsistent": "≠", "follows": "⊢", "does not follow": "⊬", "no verdict": "·", "not run": "–"},
}
"""Of verdicts, what was decided first: never by colour alone."""
PLANS = PARAMS / "plans.csv"
PLAN_COLUMNS = ["artefact", "model", "part", "basis", "requests", "characters", "longest"]
"""Of the paper profile: a data set where an artefact has several; how the numbers were found, empty where they were
counted; different questions, characters of all prompts, and tokens of all answers if each is as long as it may be."""


def all_claims(ledgers: list[pd.DataFrame]) -> pd.DataFrame:
    """Each number of the papers once, what was decided first: `COLUMNS`, and `artefacts`, all that state it.

    Artefacts that the command line changed, PAPER/ARTEFACT@CHANGES, count by their changes."""
    if not ledgers:
        return pd.DataFrame(columns=[*COLUMNS, "artefacts"])
    rows = pd.concat(ledgers, ignore_index=True)
    rows["paper"] = rows["artefact"].str.replace("/[^@]*", "", regex=True)
    rows = rows.sort_values("verdict", key=lambda said: said.map(list(SIGNS).index), kind="stable")
    same = ["paper", "statement", "published", "unit"]
    where = rows.groupby(same, sort=False)["artefact"].agg(list).rename("artefacts")
    return rows.drop_duplicates(same).merge(where, on=same).drop(columns="paper")


def judged(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """For each paper with numbers that could differ by chance: how many were `judged` by both sides' errors, how many
    are `expected` to differ if everything replicates (in clumps, since numbers share items), how many do, and how many
    after correction for having looked at all of them."""
    found = []
    sampled = claims[claims["verdict"].isin(list(Verdict)) & claims["difference_low"].notna()]
    for paper, part in sampled.groupby(sampled["artefact"].str.split("/").str[0]):
        chances = [p_value(Interval(*ends)) for ends in part[["difference_low", "difference_high"]].to_numpy(float)]
        sure = holm(np.nan_to_num(chances, nan=1.0)) <= 0.05  # without ends: looked at, too
        differ = (part["verdict"] == Verdict.DIFFERS).sum()
        counts = {"judged": len(part), "expected": 0.05 * len(part), "differ": differ, "after_holm": sure.sum()}
        found.append({"paper": paper, **counts})
    return found


def not_run(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """What must be run, how many numbers of which artefacts wait for it, and how to ask for the first of those that has
    a plan, with its price; most first."""
    registry, waiting = load_registry(), claims[claims["verdict"] == "not run"]
    groups = []
    for needs, part in waiting.groupby("basis", sort=False):
        artefacts = sorted({name for names in part["artefacts"] for name in names})
        command, told = price(artefacts, str(needs), registry)
        groups.append({"needs": needs, "numbers": len(part), "artefacts": artefacts, "command": command, "price": told})
    return sorted(groups, key=lambda group: -group["numbers"])


@cache
def plans() -> pd.DataFrame:
    """`PLAN_COLUMNS`; empty without the file."""
    text = {"part": str, "basis": str}
    return (
        pd.read_csv(PLANS, dtype=text, keep_default_na=False) if PLANS.is_file() else pd.DataFrame(columns=PLAN_COLUMNS)
    )


def price(artefacts: Sequence[str], needs: str, registry: Mapping[str, ModelEntry]) -> tuple[str, str]:
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
            return f"make {artefact} PROFILE=paper{options}", told
    return f"make {artefacts[0]} PROFILE=paper", "price unknown"


def _names(needs: str, model: str) -> bool:
    """Whether a model's whole name stands there: one may begin another's."""
    return re.search(rf"(?<![\w.-]){re.escape(model)}(?![\w-]|\.\w)", needs) is not None


def _told(basis: str, rows: pd.DataFrame, registry: Mapping[str, ModelEntry]) -> str:
    tokens = rows["characters"] / CHARACTERS_PER_TOKEN
    parts = [
        f"{rows['requests'].sum():,} questions of {tokens.sum() / 1e6:,.2f} M tokens",
        f"answers of at most {rows['longest'].sum() / 1e6:,.2f} M",
    ]
    low = high = 0.0
    unknown, own = dict[str, None](), set()
    for model, asked, answers in zip(rows["model"], tokens, rows["longest"], strict=True):
        entry = registry.get(model)
        if entry is not None and entry.price is not None:
            low, high = low + cost(entry, asked, 0), high + cost(entry, asked, answers)
        elif entry is not None and not entry.needs_key:
            own.add(model)
        else:
            unknown[model] = None
    parts += [f"${low:,.2f} to ${high:,.2f}"] if high else []
    parts += [f"{len(own)} model{'s' * (len(own) > 1)} on a machine of one's own"] if own else []
    parts += [f"price unknown for {', '.join(unknown)}"] if unknown else []
    return ", ".join(parts) + (f" ({basis})" if basis else "")
