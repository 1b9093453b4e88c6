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

from codestress.errors import DataError, ParameterError
from codestress.fitting.proportions import Interval
from codestress.fitting.verdicts import Measured, Verdict, clusters_to_decide, difference, judge, margin_of, of_noise
from codestress.parameters import Facts
from codestress.paths import PUBLISHED, shown
from codestress.report.checked import kept, read_table
from codestress.report.protocol import deviations
from codestress.report.published import read_published
from codestress.validation import Strict, check, nearest

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
    table: str = Field("", description="where the regenerated number stands; empty: nothing regenerates it, see `why`")
    why: str = Field("", description="why no run can decide it, where none can")
    number: list[str] = Field([], max_length=3, description="its column, and those of its interval where it has one")
    student: bool = Field(False, description="its interval is by Student's quantile already")
    per_cent: bool = Field(False, description="the column has shares, the statement per cent")
    rounding: float = Field(0, description="half of the interval of a number that was rounded or read")
    where: dict[str, Any] = Field({}, description="columns of the table and what must stand in them, or a list of it")
    match: list[str] = Field([], description="columns that must agree with the cell's")
    near: dict[str, float] = Field({}, description="columns that may differ from the cell's by that share")
    models: list[str] = Field([], description="stated of one, or of several together: a name in `groups`")
    group: str = Field("", description="that name, which the table has in the place of a model's")
    readings: str = Field("", description="column that tells readings of the paper's words apart: all must agree")
    basis: str = Field("", description="what was run; may name columns of cell and table, and rows (how many)")
    evidence: Evidence = Field("re-run", description="what a regenerated number would be")
    clusters: str = Field("", description="column with the independent items behind a sampled number")
    theirs: list[str] = Field([], description="the cell's columns with the interval of the published number")
    n: int | str = Field(
        0, description="the paper's independent items, or the cell's column with them; 0: it does not say"
    )
    difference: list[str] = Field(
        [], description="columns with an interval of ours - theirs, where theirs is known for each item"
    )
    deviation: str = Field("", description="column with the standard deviation of a number that grows with noise")
    without_effect: str = Field("", description="column with what noise alone makes of it")
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
        slack = half_unit(self.published) * (1 + 1e-9)
        low = -math.inf if self.relation == "at most" else self.published - slack
        agrees, other = WORDS[self.evidence]
        return agrees if self.high >= low and self.low <= self.published + slack else other


COLUMNS = [
    *("artefact", "statement", "evidence", "relation", "published", "unit", "regenerated", "low", "high", "verdict"),
    *("difference_low", "difference_high", "margin", "clusters", "deviates", "undecided", "basis"),
]


NUMBERS = ("published", "regenerated", "low", "high", "difference_low", "difference_high", "margin", "clusters")
KINDS = dict.fromkeys(COLUMNS, str) | dict.fromkeys(NUMBERS, float)
VERDICTS = frozenset([*Verdict, "not run", "no verdict", "not comparable", *itertools.chain(*WORDS.values())])


def ledger(given: Facts, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """What became of everything that the paper states in an artefact: `COLUMNS`, a row for each number.

    `given`: the run's parameters, which the paper's must match. `tables`: the artefact's tables by the names that the
    statements have for them, published cells among them. `ParameterError` where a statement asks for what none has.
    """
    paper, _, name = given.artefact.partition("/")
    deviating = deviations(given)
    claims: list[Claim] = []
    for (each, _), group in itertools.groupby(statements(paper, name), key=lambda one: (one.each, one.table)):
        together = list(group)
        for one in together:
            _check(paper, one, tables)
        for cell, one in itertools.product(tables[each].to_dict("records") if each else [{}], together):
            claim = _claim(given.artefact, one, cell, tables)
            if one.evidence == "re-run" and not math.isnan(claim.regenerated):
                # Those that statement or cell name, else all that were asked.
                names = [*one.models, *one.where.values(), *cell.values()]
                of = {name for name in names if isinstance(name, str)} & {*given.models} or {*given.models}
                told = [d.told for d in deviating if d.parameter not in one.independent and of & {*d.models}]
                claim = replace(claim, deviates=", ".join(told))
            claims.append(claim)
    rows = [vars(claim) | {"verdict": claim.verdict} for claim in claims if not math.isnan(claim.published)]
    return pd.DataFrame(rows, columns=COLUMNS)


def statements(paper: str, name: str = "") -> list[Statement]:
    """What a paper states in an artefact (all of them without a name), in the order of its file; what its `rule` says
    is filled in."""
    published = read_published(paper)
    found = []
    for own in published.get("statements", []):
        if not name or name in own.get("artefacts", []):
            told = f"{_file(paper)}, {own.get('statement', name)}"
            rule = _named(published, "rules", own["rule"], told) if "rule" in own else {}
            where = rule.get("where", {}) | own.get("where", {})
            models = own.get("models", [])
            group = models if isinstance(models, str) else ""
            models = _named(published, "groups", group, told) if group else models
            found.append(check(Statement, rule | own | {"where": where, "models": models, "group": group}, told))
    return found


def undecidable(stated: Statement) -> str:
    """Why no run decides a statement, empty where one can."""
    if stated.why or stated.evidence in ("internal", "derived", "quoted"):
        return stated.why
    if len(stated.number) == 3 and not (stated.theirs or stated.n or stated.difference):
        return "the paper does not say how many items are behind it"
    return ""


def _named(published: Mapping[str, Any], kind: str, name: str, told: str) -> Any:
    known = published.get(kind, {})
    if name not in known:
        raise ParameterError(f"{told}: no {kind[:-1]} {name!r}{nearest(name, known)}")
    return known[name]


def _file(paper: str) -> str:
    return f"{shown(PUBLISHED)}/{paper}.json"


def _check(paper: str, stated: Statement, tables: Mapping[str, pd.DataFrame]) -> None:
    """That the tables have what a statement names: what no rule can evaluate is an error, no verdict."""
    told = f"{_file(paper)}, {stated.statement}"
    if not stated.table and not stated.why:
        raise ParameterError(f"{told}: name the table that regenerates it, or say why none does (why)")
    if len(stated.number) == 2 or (stated.table and not stated.number):
        raise ParameterError(f"{told}: number: one column, or three with its interval")
    cell = [*stated.theirs, *stated.match, *stated.near]
    cell += [name for name in (stated.value, stated.n) if isinstance(name, str)]
    own = [*stated.number, *stated.difference, stated.clusters, stated.readings]
    own += [stated.deviation, stated.without_effect]
    if cell and not stated.each:
        raise ParameterError(f"{told}: {', '.join(cell)}: name the table with the published cells (each)")
    for kind, source, names in (("each", stated.each, cell), ("table", stated.table, own)):
        if source and source not in tables:
            raise ParameterError(f"{told}: {kind}: there is no table {source!r}{nearest(source, tables)}")
        if source and len(tables[source]):  # a table without rows may have no columns: nothing was asked
            for name in filter(None, names):
                if name not in tables[source]:
                    raise ParameterError(f"{told}: {source} has no column {name!r}{nearest(name, tables[source])}")


def _claim(artefact: str, stated: Statement, cell: Cell, tables: Mapping[str, pd.DataFrame]) -> Claim:
    text = {"models": ", ".join(stated.models), **cell}
    published = cell[stated.value] if isinstance(stated.value, str) else stated.value
    claim = Claim(
        *(artefact, _told(stated.statement, text, artefact), published, stated.unit),
        basis=f"needs {_told(stated.needs, text, artefact)}" + (f"; {stated.why}" if stated.why else ""),
        relation=stated.relation,
        evidence=stated.evidence,
    )
    rows = _rows(stated, cell, tables[stated.table]) if stated.table else pd.DataFrame()
    if math.isnan(published) or rows.empty or rows[stated.number[0]].isna().any():
        return claim
    found = [(row, _read(claim, stated, text, row)) for row in rows.to_dict("records")]
    (_, first), *others = found
    if not others:
        return first
    told = "; ".join(f"{row[stated.readings]}: {one.regenerated:,.4g}" for row, one in found)
    return replace(
        first,
        difference_low=min(one.difference_low for _, one in found),
        difference_high=max(one.difference_high for _, one in found),
        basis=f"{first.basis}; the paper's words can be read as {told}",
        undecided=next((one.undecided for _, one in found if one.undecided), ""),
    )


def _told(form: str, text: Cell, artefact: str) -> str:
    try:
        return form.format_map(text)
    except KeyError as error:
        paper, known = artefact.partition("/")[0], ", ".join(map(str, text))
        raise ParameterError(f"{_file(paper)}, {form}: names {error}; known are {known}") from None


def _read(claim: Claim, stated: Statement, cell: Cell, row: Mapping[Any, Any]) -> Claim:
    """A claim with the number in one row, the interval of its difference where both errors are known, and how many
    items would decide what is inconclusive."""
    unit, published = 100 if stated.per_cent else 1, claim.published
    value, *interval = (unit * float(row[name]) for name in stated.number)
    low, high = interval or (value - stated.rounding, value + stated.rounding)
    basis = _told(stated.basis, {**cell, **row}, claim.artefact)
    claim = replace(claim, regenerated=value, low=low, high=high, basis=basis)
    if not interval:
        return claim
    clusters = float(row[stated.clusters]) if stated.clusters else 0.0
    claim = replace(claim, clusters=clusters, margin=_margin(stated, published))
    ours = Measured(value, low, high, claim.clusters, stated.student)
    n = float((cell[stated.n] if isinstance(stated.n, str) else stated.n) or math.nan)
    if stated.deviation:  # it grows with noise, so that both must be of one n
        if claim.clusters != n:
            return replace(claim, undecided=f"{n:,.0f} items would decide it, as many as the paper's")
        deviation, noise = (unit * float(row[name]) for name in (stated.deviation, stated.without_effect))
        ours, theirs = of_noise(value, deviation, noise, n, published)
    elif stated.difference:
        down, up = (unit * float(row[name]) for name in stated.difference)
        ours, theirs = Measured(value - published, down, up, claim.clusters), Measured(0.0, 0.0, 0.0, math.inf)
    elif stated.theirs:
        bottom, top = (unit * float(cell[name]) for name in stated.theirs)
        theirs = Measured(published, bottom, top, n if n == n else math.inf)
    elif n == n:
        theirs = ours.at(published, n)
    else:
        away, own = abs(value - published), max(ours.down, ours.up)
        told = ", and ours are too few to differ from any number"
        if away > own:
            told = f": it would differ with {math.ceil(ours.items * own**2 / (away**2 - own**2)):,.0f} or more"
        return replace(claim, undecided=f"the paper does not say how many items are behind it{told}")
    between, slack = difference(ours, theirs), half_unit(published)
    claim = replace(claim, difference_low=between.low - slack, difference_high=between.high + slack)
    if claim.verdict != Verdict.INCONCLUSIVE:
        return claim
    own, doubt = max(ours.value - ours.low, ours.high - ours.value), max(theirs.down, theirs.up)
    items = clusters_to_decide(value - published, claim.margin, own, claim.clusters, doubt)
    told = f"about {items:,.0f} items would decide it, if the difference stays"
    if math.isinf(items):
        told = "no run of ours can decide it: the published number alone is as uncertain as the margin"
    return replace(claim, undecided=told)


def _margin(stated: Statement, published: float) -> float:
    """In the statement's unit: of what is no per cent, in per cent of the published number."""
    margin = 100 * margin_of(published / 100 if stated.effect and published else None)
    return margin if stated.unit.startswith(("%", "points")) else margin * abs(published) / 100


def _rows(stated: Statement, cell: Cell, table: pd.DataFrame) -> pd.DataFrame:
    """The row with the regenerated number, or one for each reading of the paper's words; empty where it is lacking."""
    wanted = [*stated.where.items(), *((name, cell[name]) for name in stated.match)]
    if stated.models:
        wanted.append(("model", stated.group or stated.models))
    for name, value in wanted:
        known = table.get(name, pd.Series(index=table.index, dtype=object))
        table = table[known.isin(value if isinstance(value, list) else [value])]
    for name, share in stated.near.items():
        table = table[(table[name] / cell[name] - 1).abs() < share]
    return table.drop_duplicates(stated.readings) if stated.readings else table[:1]


@kept
def read_ledger(path: Path) -> pd.DataFrame:
    """A ledger (claims.csv) as `ledger` made it, empty in what an earlier version did not say; `DataError` where it is
    none."""
    rows = read_table(path, ("artefact", "statement", "published", "unit", "verdict"), KINDS).reindex(columns=COLUMNS)
    unknown = ~rows["verdict"].isin(VERDICTS)
    for name, faulty in {"verdict": unknown, **rows[["artefact", "statement"]].isna()}.items():
        if faulty.any():
            what = rows.loc[faulty, name].iloc[0]
            raise DataError(f"{shown(path)}: {name}: {what!r:.60}; build it again with --force")
    return rows


def read_claims(path: Path) -> list[str]:
    """The compared rows of a ledger (claims.csv), each as a line; empty where there is none."""
    if not path.is_file():
        return []
    frame = read_ledger(path)
    return [
        f"{row.verdict} ({row.evidence}): {row.statement}: "
        f"{row.regenerated:,.2f} {row.unit} [{row.low:,.2f}, {row.high:,.2f}], "
        f"published {row.relation.replace('equal', '')} {row.published:,.2f}".replace("  ", " ")
        for row in frame[~frame["verdict"].isin(["not run", "no verdict"])].itertuples()
    ]
