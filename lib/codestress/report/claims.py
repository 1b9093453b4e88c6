"""The claims ledger: each number that a paper states beside the regenerated one, with a verdict.

A paper's statements are data (`statements` in params/published/PAPER.json); one rule finds the
regenerated number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from codestress.errors import ParameterError
from codestress.fitting.proportions import Interval
from codestress.fitting.verdicts import (
    FEWEST_CLUSTERS,
    Measured,
    Verdict,
    clusters_to_decide,
    difference,
    judge,
    margin_of,
    of_noise,
)
from codestress.parameters import Facts
from codestress.paths import PUBLISHED, shown
from codestress.report.checked import damaged, kept, read_table
from codestress.report.protocol import Deviation, deviations
from codestress.report.published import read_published
from codestress.validation import Strict, check, nearest

Evidence = Literal["re-run", "recomputed", "internal", "derived", "quoted", "finding"]
"""Class of evidence for a regenerated number: run here by the paper's protocol ("re-run"); computed
from the authors' published items ("recomputed"); the paper against itself ("internal"); a formula
of the paper ("derived"); a copied number ("quoted"); a number that no paper states, recorded beside
the command that shows it ("finding")."""
Relation = Literal["equal", "at most", "more than", "less than"]
"""Relation in which a regenerated number must stand to the published one. "more than" and "less
than" belong to statements on orders and signs: the number is a difference or a slope, and the
published number is its bound."""
EVIDENCE = ("re-run", "recomputed")
"""Classes of evidence that count for or against a paper."""
SOURCES = {
    "recomputed": "recomputed from the paper's own data",
    "internal": "the paper against itself",
    "derived": "by the paper's own formula",
}
"""Words that follow a verdict, by the class of its evidence, if the evidence has no answer of a
model."""

WORDS = {
    "re-run": (Verdict.REPRODUCED, Verdict.DIFFERS),
    "recomputed": (Verdict.REPRODUCED, Verdict.DIFFERS),
    "internal": ("consistent", "inconsistent"),
    "derived": ("follows", "does not follow"),
}
"""Verdicts, by class of evidence, on a number without sampling: where it agrees as printed, and
where it does not."""

Cell = Mapping[str, Any]
"""A row of published numbers about which a statement is made; empty for a statement that is made
once, about no row."""


class Statement(Strict):
    """A paper's statement on a number in some of its figures or tables (artefacts), and the place
    of the regenerated number."""

    artefacts: list[str] = Field(min_length=1)
    """Names of artefacts, without the paper's name."""
    rule: str = ""
    """Name in `rules`, which holds the fields that several statements share."""
    each: str = ""
    """Table with the published cells about which the statement is made, one row at a time; `where`
    selects its rows where it is also `table`."""
    statement: str
    """The statement in words; may name columns of the cell, as in {label}."""
    value: int | float | str
    """The published number, or the cell's column with it."""
    unit: str
    relation: Relation = "equal"
    needs: str
    """The run that is needed; may name columns of the cell, and models."""
    table: str = ""
    """Table with the regenerated number; empty where nothing regenerates it (see `why`)."""
    why: str = ""
    """Reason why no run can decide the statement, where none can."""
    number: list[str] = Field([], max_length=3)
    """Column of the regenerated number, and the columns of its interval where it has one."""
    student: bool = False
    """Whether the number's interval already uses Student's quantile."""
    per_cent: bool = False
    """Whether the column has shares where the statement has per cent."""
    rounding: float = 0
    """Half the width of the interval of a number that was rounded or read from a picture."""
    where: dict[str, Any] = {}
    """Columns of the table with the required value, or a list of allowed values."""
    match: list[str] = []
    """Columns that must agree with the cell's."""
    models: list[str] = []
    """Models of the statement: one, or several together by a name in `groups`."""
    group: str = ""
    """Name in `groups` for the statement's models together; it stands in the table in place of a
    model's name."""
    readings: dict[str, Statement] = {}
    """Meanings that the paper's words can have, each with the fields that it sets (none: rows whose
    `reading` is its name); or a name in `readings`."""
    basis: str = ""
    """Description of the run; may name columns of cell and table, and rows (their number)."""
    evidence: Evidence = "re-run"
    """Class of evidence of a regenerated number."""
    clusters: str = ""
    """Column with the number of independent items behind a sampled number."""
    theirs: list[str] = []
    """The cell's columns with the interval of the published number."""
    n: int | str = 0
    """The paper's number of independent items, or the cell's column with it; 0: not stated."""
    difference: list[str] = []
    """Columns with an interval of ours - theirs, where theirs is known for each item."""
    deviation: str = ""
    """Column with the standard deviation of a number that grows with noise."""
    without_effect: str = ""
    """Column with the value that a number which grows with noise has under noise alone."""
    effect: bool = False
    """Whether the number is itself an effect: the margin is then half of it, at most 10 points."""
    independent: list[str] | str = []
    """Parameters on which the number does not depend, or the cell's column with them."""


def half_unit(number: float) -> float:
    """Returns half a unit of the last digit in which `number` is printed: 0.005 for 76.14, which
    may have been 76.1364 before it was rounded."""
    return 0.5 * 10.0 ** min(int(Decimal(str(number)).as_tuple().exponent), 0)


@dataclass(frozen=True)
class Claim:
    """A number of a paper, with the regenerated number beside it."""

    artefact: str
    statement: str
    published: float
    """The published number, in the unit of the statement."""
    unit: str
    regenerated: float = math.nan
    low: float = math.nan
    high: float = math.nan
    basis: str = ""
    """Description of the run behind the regenerated number, or of the run that is needed."""
    relation: Relation = "equal"
    evidence: Evidence = "re-run"
    margin: float = 0.0
    """Largest difference from the published number, in its unit, that still counts as reproduced;
    0: none."""
    difference_low: float = math.nan
    difference_high: float = math.nan
    """Upper end of the interval of regenerated - published, which counts the error of both numbers;
    nan where the paper's error is unknown."""
    clusters: float = math.nan
    """Number of independent items behind the regenerated number; nan for a number without
    sampling."""
    deviates: str = ""
    """Parameters that differ from the paper's, in words."""
    undecided: str = ""
    """The number of items that would decide an inconclusive claim, or the reason why none would, in
    words; empty for other claims."""
    read: Mapping[str, Claim] = field(default_factory=dict)
    """Claims by each reading of the paper's words, where they have several readings."""

    @property
    def of_order(self) -> bool:
        """Whether this claim is on an order: its regenerated number must lie above or below a
        bound."""
        return self.relation in ("more than", "less than")

    @property
    def verdict(self) -> str:
        """Verdict on this claim in the words of its class of evidence; `not run` without a
        regenerated number, `no verdict` for one that was only copied or recorded, `not comparable`
        for a run that deviates from the paper's protocol.

        A claim with several readings of the paper's words has the verdict that all of them have, on
        the same side of the published number: between two sides a further reading may give the
        number. Else its verdict is `inconclusive`.
        """
        if math.isnan(self.regenerated):
            return "not run"
        if self.evidence in ("quoted", "finding"):
            return "no verdict"
        if self.deviates:
            return "not comparable"
        if self.read:
            claims = self.read.values()
            words = {claim.verdict for claim in claims}
            sides = {claim.regenerated > claim.published for claim in claims}
            alike = len(words) == 1 and (
                len(sides) == 1
                or words <= {Verdict.REPRODUCED, "consistent", "follows"}
            )
            return words.pop() if alike else Verdict.INCONCLUSIVE
        if self.of_order:
            return self._side()
        if not math.isnan(self.clusters) and self.evidence in EVIDENCE:
            return judge(
                Interval(self.difference_low, self.difference_high),
                self.margin,
                self.clusters,
            )
        slack = half_unit(self.published) * (1 + 1e-9)
        low = -math.inf if self.relation == "at most" else self.published - slack
        agrees, other = WORDS[self.evidence]
        return (
            agrees if self.high >= low and self.low <= self.published + slack else other
        )

    def _side(self) -> str:
        """Returns the verdict on a claim on an order: whether the whole interval, or a number
        without one, lies on the stated side of the bound. `inconclusive` where the interval covers
        the bound, or too few items are behind a number that agrees."""
        low, high = self.difference_low, self.difference_high
        if self.relation == "less than":
            low, high = -high, -low
        agrees, other = WORDS[self.evidence]
        if low > 0:
            return Verdict.INCONCLUSIVE if self.clusters < FEWEST_CLUSTERS else agrees
        exact = math.isnan(self.clusters)
        return other if high < 0 or (exact and high == 0) else Verdict.INCONCLUSIVE

    @property
    def readings(self) -> str:
        """Names of the readings of the paper's words in one text, each with its regenerated number
        and verdict where there is a number; empty where the words have one reading."""
        words = []
        for name, claim in self.read.items():
            number = f": {claim.regenerated:,.2f} {claim.unit} ({claim.verdict})"
            known = not math.isnan(claim.regenerated)
            words.append(name + number.replace(".00 ", " ") if known else name)
        return "; ".join(words)


KINDS: dict[str, type[str | float]] = {
    "artefact": str,
    "statement": str,
    "evidence": str,
    "relation": str,
    "published": float,
    "unit": str,
    "regenerated": float,
    "low": float,
    "high": float,
    "verdict": str,
    "readings": str,
    "difference_low": float,
    "difference_high": float,
    "margin": float,
    "clusters": float,
    "deviates": str,
    "undecided": str,
    "basis": str,
}
"""Type of each column of a ledger, in their order."""
COLUMNS = list(KINDS)
VERDICTS = frozenset(
    [
        *Verdict,
        "not run",
        "no verdict",
        "not comparable",
        *itertools.chain(*WORDS.values()),
    ]
)


def ledger(given: Facts, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Returns the ledger of an artefact: a table with the columns `COLUMNS` and a row for each
    number that the paper states.

    `given`: the run's parameters; numbers run with others than the paper's are `not comparable`.
    `tables`: the artefact's tables and the published cells, by their names in the statements.
    Raises `ParameterError` where a statement names a table or column that does not exist.
    """
    paper, _, name = given.artefact.partition("/")
    deviating = deviations(given)
    rows = []
    stated = statements(paper, name)
    for (each, table), group in itertools.groupby(
        stated, key=lambda own: (own.each, own.table)
    ):
        together = list(group)
        for statement in together:
            _check(paper, statement, tables)
        cells = tables[each].to_dict("records") if each else [{}]
        for cell, statement in itertools.product(cells, together):
            if each == table and not _fits(statement.where, cell):
                continue
            claim = _claim(given.artefact, statement, cell, tables)
            if math.isnan(claim.published):
                continue
            if statement.evidence == "re-run" and not math.isnan(claim.regenerated):
                claim = replace(
                    claim, deviates=_deviates(statement, cell, given, deviating)
                )
            rows.append(
                vars(claim) | {"verdict": claim.verdict, "readings": claim.readings}
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _deviates(
    stated: Statement, cell: Cell, given: Facts, deviating: Sequence[Deviation]
) -> str:
    """Returns, in words, those of the run's deviations from the paper's protocol that concern the
    statement `stated` about the row `cell`: deviations of the models that either names, or of all
    models asked where neither names one. Empty where none concerns it."""
    names = [*stated.models, *stated.where.values(), *cell.values()]
    for reading in stated.readings.values():
        names += reading.models
    asked = set(given.models)
    models = (
        asked.intersection(name for name in names if isinstance(name, str)) or asked
    )
    free = stated.independent
    if isinstance(free, str):
        free = cell[free]
    return ", ".join(
        deviation.told
        for deviation in deviating
        if deviation.parameter not in free and models & {*deviation.models}
    )


def statements(paper: str, name: str = "") -> list[Statement]:
    """Returns a paper's statements for the artefact `name` (for all artefacts where `name` is
    empty), in the file's order, with the shared fields of the rule that a statement names filled
    in.

    Raises `ParameterError` for a faulty statement, such as one with a rule, group or reading that
    the paper's file lacks. Empty where the paper has no file.
    """
    published = read_published(paper)
    found = []
    for own in published.get("statements", []):
        if not name or name in own.get("artefacts", []):
            told = f"{_file(paper)}, {own.get('statement', name)}"
            rule = (
                _named(published, "rules", own["rule"], told) if "rule" in own else {}
            )
            found.append(_statement(published, _with(rule, own), told))
    return found


def _statement(
    published: Mapping[str, Any], fields: Mapping[str, Any], told: str
) -> Statement:
    """Returns the statement of the file's entry `fields`, checked, its readings as statements too;
    names of groups and readings are replaced by the paper's entries in `published`. `told` names
    the statement in errors; raises `ParameterError` for a faulty one."""
    models, readings = fields.get("models", []), fields.get("readings", {})
    group = models if isinstance(models, str) else ""
    filled = {
        "models": _named(published, "groups", group, told) if group else models,
        "group": group,
    }
    if isinstance(readings, str):
        readings = _named(published, "readings", readings, told)
    alone = {name: value for name, value in fields.items() if name != "readings"}
    ways = {
        name: _statement(
            published,
            _read_as(published, alone, changed or {"where": {"reading": name}}, told),
            told,
        )
        for name, changed in readings.items()
    }
    return check(Statement, {**alone, **filled, "readings": ways}, told)


def _read_as(
    published: Mapping[str, Any],
    fields: Mapping[str, Any],
    changed: Mapping[str, Any],
    told: str,
) -> dict[str, Any]:
    rule = (
        _named(published, "rules", changed["rule"], told) if "rule" in changed else {}
    )
    return {
        **fields,
        **rule,
        **changed,
        "where": _with(_with(rule, fields), changed)["where"],
    }


def _with(fields: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **fields,
        **changed,
        "where": fields.get("where", {}) | changed.get("where", {}),
    }


UNKNOWN_ITEMS = "the paper does not say how many items are behind it"


def undecidable(stated: Statement) -> str:
    """Returns the reason, in words, why no run can decide the statement `stated`: its own `why`, or
    that the paper gives no number of items. Empty where neither applies."""
    if stated.why or stated.evidence not in EVIDENCE:
        return stated.why
    if (
        stated.relation == "equal"
        and len(stated.number) == 3
        and not (stated.theirs or stated.n or stated.difference)
    ):
        return UNKNOWN_ITEMS
    return ""


def _named(published: Mapping[str, Any], kind: str, name: str, told: str) -> Any:
    known = published.get(kind, {})
    if name not in known:
        raise ParameterError(f"{told}: no {kind[:-1]} {name!r}{nearest(name, known)}")
    return known[name]


def _file(paper: str) -> str:
    return f"{shown(PUBLISHED)}/{paper}.json"


def _check(paper: str, stated: Statement, tables: Mapping[str, pd.DataFrame]) -> None:
    """Checks that the tables have everything that a statement names; raises `ParameterError`,
    because a statement that no rule can evaluate is an error, not a verdict."""
    for way in stated.readings.values():
        _check(paper, way, tables)
    told = f"{_file(paper)}, {stated.statement}"
    if not stated.table and not stated.why:
        raise ParameterError(
            f"{told}: name the table that regenerates it, or say why none does (why)"
        )
    if len(stated.number) == 2 or (stated.table and not stated.number):
        raise ParameterError(f"{told}: number: one column, or three with its interval")
    cell = [*stated.theirs, *stated.match]
    cell += [
        name
        for name in (stated.value, stated.n, stated.independent)
        if isinstance(name, str)
    ]
    own = [*stated.number, *stated.difference, stated.clusters]
    own += [stated.deviation, stated.without_effect]
    if cell and not stated.each:
        raise ParameterError(
            f"{told}: {', '.join(cell)}: name the table with the published cells "
            "under the key `each`"
        )
    for kind, source, names in (
        ("each", stated.each, cell),
        ("table", stated.table, own),
    ):
        if not source:
            continue
        if source not in tables:
            hint = nearest(source, tables)
            raise ParameterError(f"{told}: {kind}: there is no table {source!r}{hint}")
        table = tables[source]
        for name in names:
            # A table without rows may have no columns: nothing was asked.
            if name and len(table) and name not in table:
                hint = nearest(name, table)
                raise ParameterError(f"{told}: {source} has no column {name!r}{hint}")


def _claim(
    artefact: str, stated: Statement, cell: Cell, tables: Mapping[str, pd.DataFrame]
) -> Claim:
    if stated.readings:
        return _together(
            {
                name: _claim(artefact, one, cell, tables)
                for name, one in stated.readings.items()
            }
        )
    text = {"models": ", ".join(stated.models), **cell}
    published = cell[stated.value] if isinstance(stated.value, str) else stated.value
    why = f"; {stated.why}" if stated.why else ""
    claim = Claim(
        artefact,
        _told(stated.statement, text, artefact),
        published,
        stated.unit,
        basis=f"needs {_told(stated.needs, text, artefact)}{why}",
        relation=stated.relation,
        evidence=stated.evidence,
    )
    row = _row(stated, cell, tables[stated.table]) if stated.table else None
    if math.isnan(published) or row is None or pd.isna(row[stated.number[0]]):
        return claim
    return _read(claim, stated, text, row)


def _together(read: Mapping[str, Claim]) -> Claim:
    """Returns one claim from the claims `read`, by reading: the number of the first reading that
    has a number, and an interval that covers those of all; the first claim where none has a number.
    Its `undecided` says so where the readings' verdicts, or the joint one, differ."""
    claims = list(read.values())
    known = [claim for claim in claims if not math.isnan(claim.regenerated)]
    if not known:
        return replace(claims[0], read=read)
    together = replace(
        known[0],
        read=read,
        difference_low=min(claim.difference_low for claim in known),
        difference_high=max(claim.difference_high for claim in known),
        undecided=next((claim.undecided for claim in known if claim.undecided), ""),
    )
    words = {claim.verdict for claim in claims}
    if words == {together.verdict}:
        return together
    told = f"the paper's words can be read in {len(read)} ways, which do not agree"
    if len(words) == 1:
        told = f"it lies between {len(read)} readings of the paper's words, so that a further one may give it"
    return replace(together, undecided=told)


def _told(form: str, text: Cell, artefact: str) -> str:
    try:
        return form.format_map(text)
    except KeyError as error:
        paper, known = artefact.partition("/")[0], ", ".join(map(str, text))
        raise ParameterError(
            f"{_file(paper)}, {form}: names {error}; known are {known}"
        ) from None


def _read(claim: Claim, stated: Statement, cell: Cell, row: Mapping[Any, Any]) -> Claim:
    """Returns `claim` with the regenerated number from `row` of the statement's table. Where the
    errors of both sides are known, it has the interval of their difference; where it is
    inconclusive, the number of items that would decide it, in words."""
    unit, published = 100 if stated.per_cent else 1, claim.published
    value, *interval = (unit * float(row[name]) for name in stated.number)
    low, high = interval or (value - stated.rounding, value + stated.rounding)
    basis = _told(stated.basis, {**cell, **row}, claim.artefact)
    claim = replace(claim, regenerated=value, low=low, high=high, basis=basis)
    if claim.of_order:
        claim = replace(
            claim, difference_low=low - published, difference_high=high - published
        )
    if not interval:
        return claim
    clusters = float(row[stated.clusters]) if stated.clusters else 0.0
    ours = Measured(value, low, high, clusters, stated.student)
    if claim.of_order:
        return _ordered(replace(claim, clusters=clusters), ours)
    claim = replace(claim, clusters=clusters, margin=_margin(stated, published))
    n = float((cell[stated.n] if isinstance(stated.n, str) else stated.n) or math.nan)
    if stated.deviation:  # it grows with noise, so that both must be of one n
        if clusters != n:
            told = f"{n:,.0f} items would decide it, as many as the paper's"
            return replace(claim, undecided=told)
        deviation = unit * float(row[stated.deviation])
        noise = unit * float(row[stated.without_effect])
        ours, theirs = of_noise(value, deviation, noise, n, published)
    elif stated.difference:
        down, up = (unit * float(row[name]) for name in stated.difference)
        ours = Measured(value - published, down, up, clusters)
        theirs = Measured(0.0, 0.0, 0.0, math.inf)
    elif stated.theirs:
        bottom, top = (unit * float(cell[name]) for name in stated.theirs)
        theirs = Measured(published, bottom, top, n if n == n else math.inf)
    elif n == n:
        theirs = ours.at(published, n)
    else:
        away, own = abs(value - published), max(ours.down, ours.up)
        told = ", and ours are too few to differ from any number"
        if away > own:
            least = math.ceil(clusters * own**2 / (away**2 - own**2))
            told = f": it would differ with {least:,} or more"
        return replace(claim, undecided=UNKNOWN_ITEMS + told)
    between, slack = difference(ours, theirs), half_unit(published)
    claim = replace(
        claim, difference_low=between.low - slack, difference_high=between.high + slack
    )
    if claim.verdict != Verdict.INCONCLUSIVE:
        return claim
    own, doubt = (
        max(ours.value - ours.low, ours.high - ours.value),
        max(theirs.down, theirs.up),
    )
    items = clusters_to_decide(value - published, claim.margin, own, clusters, doubt)
    told = f"about {items:,.0f} items would decide it, if the difference stays"
    if math.isinf(items):
        told = "no run of ours can decide it: the published number alone is as uncertain as the margin"
    return replace(claim, undecided=told)


def _ordered(claim: Claim, ours: Measured) -> Claim:
    """Returns `claim`, on an order or a sign, with the interval of the number `ours` minus its
    bound, the published number; where it is inconclusive, with the number of items that would
    decide it, in words."""
    away = ours.value - claim.published
    claim = replace(
        claim, difference_low=away - ours.down, difference_high=away + ours.up
    )
    if claim.verdict != Verdict.INCONCLUSIVE:
        return claim
    half = max(ours.value - ours.low, ours.high - ours.value)
    if not away:
        told = "it lies on the bound, so that no number of items would decide it"
        return replace(claim, undecided=told)
    items = max(math.ceil(ours.items * (half / away) ** 2), FEWEST_CLUSTERS)
    told = f"about {items:,} items would decide it, if the difference stays"
    return replace(claim, undecided=told)


def _margin(stated: Statement, published: float) -> float:
    """Returns the largest difference from the number `published` that counts as reproduced, in the
    unit of the statement `stated`: a number of points where that is per cent or points, else as
    many per cent of `published`."""
    margin = 100 * margin_of(published / 100 if stated.effect and published else None)
    return (
        margin
        if stated.unit.startswith(("%", "points"))
        else margin * abs(published) / 100
    )


def _fits(where: Mapping[str, Any], cell: Cell) -> bool:
    """Whether the row `cell` has the values that `where` requires: for each column, the one value
    or any value of a list."""
    return all(
        cell.get(name) in (value if isinstance(value, list) else [value])
        for name, value in where.items()
    )


def _row(
    stated: Statement, cell: Cell, table: pd.DataFrame
) -> dict[Hashable, Any] | None:
    """Returns the first row of `table` that the statement `stated` selects for the published row
    `cell`: it holds the regenerated number. None where no row, or no such column, exists."""
    wanted = [*stated.where.items(), *((name, cell[name]) for name in stated.match)]
    if stated.models:
        wanted.append(("model", stated.group or stated.models))
    for name, value in wanted:
        if name not in table:
            return None
        table = table[table[name].isin(value if isinstance(value, list) else [value])]
    return next(iter(table[:1].to_dict("records")), None)


@kept
def read_ledger(path: Path) -> pd.DataFrame:
    """Returns the ledger in the file `path` (claims.csv), with the columns `COLUMNS`; columns that
    an earlier version of the kit did not write are empty. Raises `DataError` where the file is no
    ledger."""
    needed = ("artefact", "statement", "published", "unit", "verdict")
    rows = read_table(path, needed, KINDS).reindex(columns=COLUMNS)
    unknown = ~rows["verdict"].isin(VERDICTS)
    for name, faulty in {
        "verdict": unknown,
        **rows[["artefact", "statement"]].isna(),
    }.items():
        if faulty.any():
            what = rows.loc[faulty, name].iloc[0]
            raise damaged(path, f"{name}: {what!r:.60}")
    return rows


def read_claims(path: Path) -> list[str]:
    """Returns the rows of the ledger in the file `path` (claims.csv) that have a verdict on two
    numbers, each as a line of text; rows with the verdict `not run` or `no verdict` are left out.
    Empty without a file; raises `DataError` for a faulty one."""
    if not path.is_file():
        return []
    frame = read_ledger(path).fillna({"readings": ""})
    return [
        f"{row.verdict} ({SOURCES.get(row.evidence, row.evidence)}): {row.statement}: "
        f"{row.regenerated:,.2f} {row.unit} [{row.low:,.2f}, {row.high:,.2f}], "
        f"published {row.relation.replace('equal', '')} {row.published:,.2f}".replace(
            "  ", " "
        )
        + (
            f"; read as {row.readings}"
            if pd.notna(row.readings) and row.readings
            else ""
        )
        for row in frame[~frame["verdict"].isin(["not run", "no verdict"])].itertuples()
    ]
