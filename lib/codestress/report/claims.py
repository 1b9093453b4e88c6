"""The claims ledger: each number that a paper states beside the regenerated one, and what to say of it.

What a paper states is data (`statements` in params/published/PAPER.json); one rule finds the regenerated number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from codestress.fitting.proportions import Interval, normal_quantile
from codestress.fitting.verdicts import Verdict, clusters_to_decide, judge, margin_of
from codestress.parameters import Facts
from codestress.paths import PUBLISHED, shown
from codestress.report.protocol import deviations
from codestress.report.published import read_published
from codestress.validation import Strict, check

Evidence = Literal["re-run", "recomputed", "internal", "derived", "quoted"]
"""Answered here by the paper's protocol; from what its authors published for each item; the paper against itself; a
formula of the paper; a number that was copied. Only the first two are evidence for or against a paper."""

WORDS = {
    "re-run": (Verdict.REPRODUCED, Verdict.DIFFERS),
    "recomputed": (Verdict.REPRODUCED, Verdict.DIFFERS),
    "internal": ("consistent", "inconsistent"),
    "derived": ("follows", "does not follow"),
}
"""What is said of a number without sampling that agrees as printed, and of one that does not."""
EXPERIMENTS = (*Verdict, "not comparable")
"""What is said of numbers that were asked, or computed, again."""

Cell = Mapping[str, Any]
"""A row of published numbers of which a statement is made; empty where it is made once."""


class Statement(Strict):
    """What a paper states in an artefact, and where the regenerated number is found."""

    artefacts: list[str] = Field(min_length=1, description="names without the paper's")
    rule: str = Field("", description="a name in `rules`, which say what several statements have in common")
    each: str = Field("", description="table with the published cells of which it is stated, one row a time")
    statement: str = Field(description="may name columns of the cell, as in {label}")
    value: int | float | str = Field(description="the published number, or the cell's column with it")
    unit: str
    relation: Literal["equal", "at most"] = "equal"
    needs: str = Field(description="what must be run; may name columns of the cell, and models")
    table: str = Field("", description="where the regenerated number stands; empty: nothing regenerates it")
    number: list[str] = Field([], description="its column, and those of its interval where it has one")
    per_cent: bool = Field(False, description="the column has shares, the statement per cent")
    rounding: float = Field(0, description="half of the interval of a number that was rounded or read")
    where: dict[str, Any] = Field({}, description="columns of the table and what must stand in them, or a list of it")
    match: list[str] = Field([], description="columns that must agree with the cell's")
    near: dict[str, float] = Field({}, description="columns that may differ from the cell's by that share")
    models: list[str] = Field([], description="stated of their mean, each at its largest; or a name in `groups`")
    basis: str = Field("", description="what was run; may name columns of cell and table, and rows (how many)")
    evidence: Evidence = Field("re-run", description="what a regenerated number would be")
    clusters: str = Field("", description="column with the independent items behind a sampled number")
    theirs: list[str] = Field([], description="the cell's columns with the interval of the published number")
    n: int = Field(0, description="the paper's items, for a largest drop; 0: not known")
    deviation: str = Field("", description="column with the standard deviation of our largest drop")
    without_effect: str = Field("", description="column with what noise alone makes of a largest drop")
    effect: bool = Field(False, description="the number is itself an effect: the margin is half of it, or 10 points")
    independent: list[str] = Field([], description="parameters on which the number does not depend")


def half_unit(number: float) -> float:
    """Half of the last digit printed: what was rounded to 76.14 may have been 76.1364."""
    return 0.5 * 10.0 ** min(int(Decimal(str(number)).as_tuple().exponent), 0)


@dataclass(frozen=True)
class Claim:
    """One number of a paper and what became of it."""

    artefact: str
    statement: str
    published: float
    """In the unit of the statement."""
    unit: str
    regenerated: float = math.nan
    low: float = math.nan
    high: float = math.nan
    basis: str = ""
    """What was run for the regenerated number, or what must be run."""
    relation: Literal["equal", "at most"] = "equal"
    """How the regenerated number must stand to the published one."""
    evidence: Evidence = "re-run"
    margin: float = 0.0
    """How far a number may be from the published one and still be called reproduced, in the unit; 0: not at all."""
    difference_low: float = math.nan
    difference_high: float = math.nan
    """The interval of regenerated - published, which counts the error of both; nan where theirs is not known."""
    clusters: float = math.nan
    """Independent items behind the regenerated number; nan for a number without sampling."""
    deviates: str = ""
    """Which parameters are not the paper's."""
    undecided: str = ""
    """What would decide it."""

    @property
    def verdict(self) -> str:
        """The words of its class of evidence, `not comparable`, `no verdict` for a quoted number, or `not run`."""
        if math.isnan(self.regenerated):
            return "not run"
        if self.evidence == "quoted":
            return "no verdict"
        if self.deviates:
            return "not comparable"
        if not math.isnan(self.clusters) and self.evidence in ("re-run", "recomputed"):
            return judge(Interval(self.difference_low, self.difference_high), self.margin, self.clusters)
        slack = half_unit(self.published)
        low = -math.inf if self.relation == "at most" else self.published - slack
        agrees, other = WORDS[self.evidence]
        return agrees if self.high >= low and self.low <= self.published + slack else other


COLUMNS = [
    *("artefact", "statement", "evidence", "relation", "published", "unit", "regenerated", "low", "high", "verdict"),
    *("difference_low", "difference_high", "margin", "clusters", "deviates", "undecided", "basis"),
]


def ledger(given: Facts, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What became of everything that the paper states in an artefact: `COLUMNS`, a row for each number.

    `given`: the run's parameters, which the paper's must match. `tables`: the artefact's tables by the names that the
    statements have for them, published cells among them.
    """
    paper, _, name = given.artefact.partition("/")
    deviating = deviations(given)
    claims: list[Claim] = []
    for (each, _), group in itertools.groupby(statements(paper, name), key=lambda one: (one.each, one.table)):
        together = list(group)
        cells = tables[each].to_dict("records") if each else [{}]
        for cell, one in itertools.product(cells, together):
            claim = _claim(given.artefact, one, cell, tables)
            if one.evidence == "re-run" and not math.isnan(claim.regenerated):
                of = _models_of(one, cell, given.models)
                told = [d.told for d in deviating if d.parameter not in one.independent and of & {*d.models}]
                claim = replace(claim, deviates=", ".join(told))
            claims.append(claim)
    rows = [vars(claim) | {"verdict": claim.verdict} for claim in claims if not math.isnan(claim.published)]
    return pd.DataFrame(rows, columns=COLUMNS)


def statements(paper: str, name: str) -> list[Statement]:
    """What a paper states in an artefact, in the order of its file; what its `rule` says is filled in."""
    published = read_published(paper)
    found = []
    for own in published.get("statements", []):
        if name in own.get("artefacts", []):
            rule = published["rules"][own["rule"]] if "rule" in own else {}
            where = rule.get("where", {}) | own.get("where", {})
            models = own.get("models", [])
            models = published["groups"][models] if isinstance(models, str) else models
            values = rule | own | {"where": where, "models": models}
            found.append(check(Statement, values, f"{shown(PUBLISHED)}/{paper}.json, {own.get('statement', name)}"))
    return found


def _claim(artefact: str, stated: Statement, cell: Cell, tables: Mapping[str, pd.DataFrame]) -> Claim:
    text = {"models": ", ".join(stated.models), **cell}
    claim = Claim(
        artefact,
        statement=stated.statement.format_map(text),
        published=cell[stated.value] if isinstance(stated.value, str) else stated.value,
        unit=stated.unit,
        basis=f"needs {stated.needs.format_map(text)}",
        relation=stated.relation,
        evidence=stated.evidence,
    )
    rows = _rows(stated, cell, tables[stated.table]) if stated.table else pd.DataFrame()
    if rows.empty:
        return claim
    unit = 100 if stated.per_cent else 1
    value, *interval = (unit * float(rows[name].mean()) for name in stated.number)
    low, high = interval or (value - stated.rounding, value + stated.rounding)
    told = text | {str(name): rows[name].min() for name in rows} | {"rows": len(rows)}
    claim = replace(claim, regenerated=value, low=low, high=high, basis=stated.basis.format_map(told))
    if not interval:
        return claim
    published = claim.published
    of_a_share = 1 if stated.unit in ("%", "points") else abs(published) / 100
    margin = 100 * margin_of(published / 100 if stated.effect else None) * of_a_share
    claim = replace(claim, clusters=float(rows[stated.clusters].min()) if stated.clusters else 0.0, margin=margin)
    if stated.theirs:
        bottom, top = (unit * float(cell[name]) for name in stated.theirs)
        # Square and add (Zou and Donner 2008), which for two shares is Newcombe's interval.
        down, up = math.hypot(value - low, top - published), math.hypot(high - value, published - bottom)
        error = max(top - published, published - bottom)
    elif stated.deviation and len(rows) == 1:
        if claim.clusters != stated.n:  # a largest drop grows with noise, so that both must be of one n
            return replace(claim, undecided=f"{stated.n} items would decide it, as many as the paper's")
        error, without_effect = (float(rows[name].iloc[0]) for name in (stated.deviation, stated.without_effect))
        error *= normal_quantile(0.95)
        down = up = math.sqrt(2) * error + (without_effect if published < 2 * without_effect else 0)
    else:
        return replace(claim, undecided="the error of the published number is not known")
    difference = value - published
    claim = replace(claim, difference_low=difference - down, difference_high=difference + up)
    return replace(claim, undecided=_undecided(claim, max(value - low, high - value), error))


def _undecided(claim: Claim, ours: float, theirs: float) -> str:
    """How many items would decide what is inconclusive, from the half-widths that both numbers have alone."""
    if claim.verdict != Verdict.INCONCLUSIVE:
        return ""
    items = clusters_to_decide(claim.regenerated - claim.published, claim.margin, ours, claim.clusters, theirs)
    if math.isinf(items):
        return "no run of ours can decide it: the published number alone is as uncertain as the margin"
    return f"about {items:,.0f} items would decide it, if the difference stays"


def _models_of(stated: Statement, cell: Cell, asked: list[str]) -> set[str]:
    """The models of which something is stated: those that statement or cell name, else all that were asked."""
    named = [*stated.models, *stated.where.values(), *cell.values()]
    return {name for name in named if isinstance(name, str)} & {*asked} or {*asked}


def _rows(stated: Statement, cell: Cell, table: pd.DataFrame) -> pd.DataFrame:
    """The rows with the regenerated number: one, or one for each of the stated models; empty where one is lacking."""
    for name, wanted in [*stated.where.items(), *((name, cell[name]) for name in stated.match)]:
        known = table.get(name, pd.Series(index=table.index, dtype=object))
        table = table[known.isin(wanted if isinstance(wanted, list) else [wanted])]
    for name, share in stated.near.items():
        table = table[(table[name] / cell[name] - 1).abs() < share]
    if not stated.models:
        return table[:1]
    table = table[table["model"].isin(stated.models)]
    if set(table["model"]) != set(stated.models):
        return table[:0]
    return table.loc[table.groupby("model")[stated.number[0]].idxmax()]


def read_claims(path: Path) -> list[str]:
    """The compared rows of a ledger (claims.csv), each as a line; empty where there is none."""
    if not path.is_file():
        return []
    frame = pd.read_csv(path)
    return [
        f"{row.verdict} ({row.evidence}): {row.statement}: "
        f"{row.regenerated:,.2f} {row.unit} [{row.low:,.2f}, {row.high:,.2f}], "
        f"published {row.relation.replace('equal', '')} {row.published:,.2f}".replace("  ", " ")
        for row in frame[~frame["verdict"].isin(["not run", "no verdict"])].itertuples()
    ]
