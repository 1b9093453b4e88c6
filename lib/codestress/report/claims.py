"""The claims ledger: each number that a paper states beside the regenerated one, and what to say of it.

What a paper states is data (`statements` in params/published/PAPER.json); one rule finds the regenerated number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from codestress.paths import PUBLISHED, shown
from codestress.report.published import read_published
from codestress.validation import Strict, check

Evidence = Literal["re-run", "recomputed", "internal", "derived", "quoted"]
"""Answered here by the paper's protocol; from what its authors published for each item; the paper against itself; a
formula of the paper; a number that was copied. Only the first two are evidence for or against a paper."""

WORDS = {"internal": ("consistent", "inconsistent"), "derived": ("follows", "does not follow")}
OTHER_WORDS = ("reproduced", "differs")

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
    sampled: bool = False
    """Whether the regenerated number has a sampling error."""

    @property
    def verdict(self) -> str:
        """The words of its class of evidence, `no verdict` for a quoted number, or `not run`.

        A number without sampling is equal as printed, or it differs. One with sampling is inconclusive: a verdict needs
        the error of both sides, and the published side's is not recorded.
        """
        if math.isnan(self.regenerated):
            return "not run"
        if self.evidence == "quoted":
            return "no verdict"
        if self.sampled and self.evidence in ("re-run", "recomputed"):
            return "inconclusive"
        slack = 0.05 if self.unit == "%" else 0.0
        low = -math.inf if self.relation == "at most" else self.published - slack
        agrees, other = WORDS.get(self.evidence, OTHER_WORDS)
        return agrees if self.high >= low and self.low <= self.published + slack else other


COLUMNS = [
    *("artefact", "statement", "evidence", "relation", "published", "unit", "regenerated", "low", "high", "verdict"),
    "basis",
]


def ledger(artefact: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What became of everything that the paper states in PAPER/ARTEFACT: `COLUMNS`, a row for each number.

    `tables`: the artefact's tables by the names that the statements have for them, published cells among them.
    """
    paper, _, name = artefact.partition("/")
    claims: list[Claim] = []
    for (each, _), group in itertools.groupby(statements(paper, name), key=lambda one: (one.each, one.table)):
        together = list(group)
        cells = tables[each].to_dict("records") if each else [{}]
        claims += [_claim(artefact, one, cell, tables) for cell in cells for one in together]
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
    value, *interval = ((100 if stated.per_cent else 1) * float(rows[name].mean()) for name in stated.number)
    low, high = interval or (value - stated.rounding, value + stated.rounding)
    told = text | {str(name): rows[name].min() for name in rows} | {"rows": len(rows)}
    return replace(
        claim, regenerated=value, low=low, high=high, sampled=bool(interval), basis=stated.basis.format_map(told)
    )


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
