"""What the report says of all ledgers together: each number once, how many verdicts to expect, what was not run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import holm
from codestress.fitting.verdicts import Verdict, p_value
from codestress.inference.registry import load_registry
from codestress.report.claims import COLUMNS
from codestress.report.prices import Price, price

SIGNS = {
    **{"reproduced": "✓", "differs": "✗", "inconclusive": "?", "not comparable": "∦", "consistent": "="},
    **{"inconsistent": "≠", "follows": "⊢", "does not follow": "⊬", "no verdict": "·", "not run": "–"},
}
"""Of verdicts, what was decided first: never by colour alone."""


class Judged(NamedTuple):
    """How the verdicts on a paper's numbers add up."""

    paper: str
    judged: int
    """Numbers with a verdict on both sides' errors: those that could differ by chance."""
    expected: float
    """How many of them differ if everything replicates, in clumps, since numbers share items."""
    differ: int
    after_holm: int
    """How many differ after correction for having looked at all of them."""


class NotRun(NamedTuple):
    """Numbers that wait for the same runs."""

    needs: str
    numbers: int
    artefacts: list[str]
    price: Price
    """Of asking for the first of them that has a plan, as `codestress plan` counts it."""


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


def judged(claims: pd.DataFrame) -> list[Judged]:
    """For each paper with numbers that could differ by chance."""
    found = []
    sampled = claims[claims["verdict"].isin(list(Verdict)) & claims["difference_low"].notna()]
    for paper, part in sampled.groupby(sampled["artefact"].str.split("/").str[0]):
        ends = zip(part["difference_low"], part["difference_high"], strict=True)
        chances = [p_value(Interval(low, high)) for low, high in ends]
        sure = holm(np.nan_to_num(chances, nan=1.0)) <= 0.05  # without ends: looked at, too
        differ = int((part["verdict"] == Verdict.DIFFERS).sum())
        found.append(Judged(str(paper), len(part), 0.05 * len(part), differ, int(sure.sum())))
    return found


def not_run(claims: pd.DataFrame) -> list[NotRun]:
    """What must be run, and how many numbers wait for it; most first."""
    waiting = claims[claims["verdict"] == "not run"]
    groups, registry = [], load_registry()
    for needs, part in waiting.groupby("basis", sort=False):
        artefacts = sorted({name for names in part["artefacts"] for name in names})
        groups.append(NotRun(str(needs), len(part), artefacts, price(artefacts, str(needs), registry)))
    return sorted(groups, key=lambda group: -group.numbers)
