"""The papers' statements on numbers (`statements` in params/published/PAPER.json), and
an artefact's comparison table: each published number beside the regenerated number.

An artefact's tables hold the regenerated numbers. A statement selects a row of one of
these tables by the values of columns. Rules are groups of fields that several
statements share. A cell is a row of a table of published numbers, about which a
statement is made.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby, product
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from codestress.errors import ParameterError
from codestress.parameters import Facts
from codestress.paths import PUBLISHED, shown
from codestress.validation import Strict, check, nearest

from .protocol import Deviation, deviations
from .published import read_published

Evidence = Literal["re-run", "recomputed", "internal", "derived", "quoted", "finding"]
"""Class of evidence for a regenerated number.

"re-run": run here by the paper's protocol. "recomputed": computed from the authors'
published items. "internal": the paper against itself. "derived": from a formula of the
paper. "quoted": a copied number. "finding": a number that no paper states, recorded
beside the command that shows it.
"""
Relation = Literal["equal", "at most", "more than", "less than"]
"""Relation in which a regenerated number must stand to the published number.

"more than" and "less than" belong to statements on orders and signs: the number is a
difference or a slope, and the published number is its bound.
"""
COPIED = {"evidence", "relation", "unit", "effect", "student"}
"""Fields of a statement that are columns of the comparison table."""
Row = Mapping[Hashable, Any]
Tables = Mapping[str, pd.DataFrame]
Groups = Mapping[str, list[str]]


class Statement(Strict):
    """A paper's statement on a number in some of its figures or tables (artefacts), and
    the place of the regenerated number."""

    artefacts: list[str] = Field(min_length=1)
    """Names of artefacts, without the paper's name."""
    rules: list[str] = []
    """Names of rules in the file's `rules`: groups of fields that several statements
    share. A later rule overrides an earlier rule, and the statement's own fields
    override every rule."""
    each: str = ""
    """Name of the table with the published cells about which the statement is made, one
    cell at a time; empty for a statement without cells.

    If `each` and `table` are the same table, `where` selects the cells too. A cell may
    have its own number of items (`n`), interval (`low`, `high`), and parameters on
    which its number does not depend (`free`).
    """
    statement: str
    """The statement in words; may name columns of the cell, as in {label}."""
    value: int | float | str
    """The published number, or the name of the cell's column that has the number."""
    unit: str
    relation: Relation = "equal"
    needs: str
    """Description of the run that the statement needs; may name columns of the cell,
    and models."""
    table: str = ""
    """Name of the table with the regenerated number; empty if no run regenerates the
    number (see `why`)."""
    why: str = ""
    """Reason why no run can decide the statement; empty if a run can."""
    where: dict[str, Any] = {}
    """Dict from a column of the table to the required value, or to a list of allowed
    values. The column `model` may have the name of a group of models (`groups` in the
    file)."""
    match: list[str] = []
    """Columns whose values in the table's row must equal the cell's values."""
    number: list[str] = []
    """Column of the regenerated number. A sampled number has four columns: the number,
    the two ends of its interval, and the number of independent items.

    If a number grows with noise, the table also has its standard deviation in the
    column NUMBER_deviation, and the value under noise alone in NUMBER_without_effect.
    """
    student: bool = False
    """Whether the number's interval already uses Student's quantile."""
    per_cent: bool = False
    """Whether the columns have shares (0 to 1) while the statement is in per cent."""
    rounding: float = 0
    """Half the width of the interval of a number that was rounded or read from a
    picture."""
    readings: dict[str, Statement] = {}
    """Meanings that the paper's words can have: a dict from a reading's name to the
    fields that the reading sets. Without fields, a reading selects the rows whose
    column `reading` has its name."""
    basis: str = ""
    """Description of the run; may name columns of the cell and of the table."""
    evidence: Evidence = "re-run"
    n: int = 0
    """The paper's number of independent items, for cells without their own number; 0:
    not stated."""
    effect: bool = False
    """Whether the number is itself an effect. The margin is then half of the number, at
    most 10 points."""
    independent: list[str] = []
    """Parameters on which the number does not depend."""


def statements(paper: str, name: str = "") -> list[Statement]:
    """Return a paper's statements for the artefact `name` (empty: for all artefacts),
    in the file's order, with the fields of their rules and readings filled in.

    The list is empty if the paper has no file. Raises `ParameterError` if a statement
    is faulty, for instance if the paper's file lacks its rule.
    """
    published = read_published(paper)
    rules = published.get("rules", {})
    merged = []
    for own in published.get("statements", []):
        if name and name not in own.get("artefacts", []):
            continue
        place = _place(paper, own.get("statement", name))
        shared = [
            _known(rules, rule, f"{place}: rules") for rule in own.get("rules", [])
        ]
        fields = _merged(*shared, own)
        readings = {}
        for reading, changed in fields.pop("readings", {}).items():
            changes = changed or {"where": {"reading": reading}}
            readings[reading] = _merged(fields, changes)
        fields["readings"] = readings
        merged.append(check(Statement, fields, place))
    return merged


def _merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of all `parts`. A later part overrides an earlier part, but the
    `where` of all parts are joined."""
    fields: dict[str, Any] = {}
    for part in parts:
        where = {**fields.get("where", {}), **part.get("where", {})}
        fields = {**fields, **part, "where": where}
    return fields


def _place(paper: str, words: str) -> str:
    return f"{shown(PUBLISHED)}/{paper}.json, {words}"


def _known(entries: Mapping[str, Any], name: str, place: str) -> Any:
    """Return the entry `name` of `entries`.

    Raises `ParameterError` if there is no such entry; the message begins with `place`
    and ends with the nearest name.
    """
    if name not in entries:
        raise ParameterError(f"{place}: there is no {name!r}{nearest(name, entries)}")
    return entries[name]


def comparison(given: Facts, tables: Tables) -> list[list[dict[str, Any]]]:
    """Return the comparison table of an artefact, which `judge_table` judges: for each number that the paper states,
    a list with a row for each reading of its words.

    `given` has the run's parameters. `tables` is a dict from names in the statements to the artefact's tables and the
    published cells. Raises `ParameterError` if a statement names a table, column or rule that does not exist. Columns
    on the statement: reading (empty for a single reading), artefact, statement, evidence, relation, published, slack
    (half a unit of the published number's last digit), unit, effect. Columns on the regenerated number: regenerated,
    low, high, clusters (independent items; nan: no sampling), student, deviation and without_effect (nan: the number
    does not grow with noise), basis. Columns on the published number's error (nan: unknown): n, their_low,
    their_high, and pair_low, pair_high, the interval of ours - theirs if the paper's value of each item is known. The
    column deviates has, in words, the parameters that differ from the paper's.
    """
    paper, _, name = given.artefact.partition("/")
    stated = statements(paper, name)
    for claim in stated:
        for way in (claim, *claim.readings.values()):
            _check(paper, way, tables)
    records = {key: table.to_dict("records") for key, table in tables.items()}
    groups = read_published(paper).get("groups", {})
    deviating = deviations(given)
    table = []
    for claim, cell, published in _about_cells(stated, records):
        about = {
            "artefact": given.artefact,
            "published": published,
            "slack": half_unit(published),
            "deviates": _deviates(claim, cell, given, deviating, groups),
        }
        rows = []
        for reading, way in (claim.readings or {"": claim}).items():
            ours = _row(way, cell, records.get(way.table, []))
            compared = _compared(paper, way, cell, ours, groups)
            rows.append(about | {"reading": reading} | compared)
        table.append(rows)
    return table


def _about_cells(
    stated: Sequence[Statement], records: Mapping[str, Sequence[Row]]
) -> Iterator[tuple[Statement, Row, Any]]:
    """Yield each statement with each published cell about which it is made, and the
    published number there. Cells without a number are left out.

    Consecutive statements with the same tables are yielded together, cell after cell.
    """
    for (each, table), together in groupby(
        stated, lambda claim: (claim.each, claim.table)
    ):
        cells = records[each] if each else [{}]
        for cell, claim in product(cells, [*together]):
            published = cell.get(claim.value, claim.value)
            fits = each != table or _fits(claim.where, cell)
            if fits and not math.isnan(published):
                yield claim, cell, published


def _check(paper: str, stated: Statement, tables: Tables) -> None:
    """Raise `ParameterError` if the tables lack a table or column that a statement
    names. A statement that cannot be evaluated is an error, not a verdict."""
    place = _place(paper, stated.statement)
    if len(stated.number) in (2, 3):
        raise ParameterError(
            f"{place}: number: one column, or four with interval and items"
        )
    cell = [*stated.match]
    if isinstance(stated.value, str):
        cell.append(stated.value)
    named = {"each": cell, "table": stated.number}
    for key, columns in named.items():
        source = getattr(stated, key)
        if source or columns or (key == "table" and not stated.why):
            wanted = f"{place}: {key} (with the columns {', '.join(columns)})"
            table = _known(tables, source, wanted)
            # A table without rows may have no columns: nothing was asked.
            for column in columns if len(table) else ():
                _known(table, column, f"{place}: {key} {source}, columns")


def _fits(where: Mapping[str, Any], row: Row) -> bool:
    """Return whether `row` has the values that `where` requires: in each column the one
    value, or any value of a list."""
    for name, value in where.items():
        allowed = value if isinstance(value, list) else [value]
        if row.get(name) not in allowed:
            return False
    return True


def _row(stated: Statement, cell: Row, records: Sequence[Row]) -> Row:
    """Return the first of `records`, the rows of the statement's table, that the
    statement selects for the published row `cell`.

    The result is empty if no row is selected, or if the number in the selected row is
    not known.
    """
    matching = {name: cell[name] for name in stated.match}
    for row in records:
        if _fits(stated.where | matching, row):
            return row if pd.notna(row[stated.number[0]]) else {}
    return {}


def _compared(
    paper: str, stated: Statement, cell: Row, row: Row, groups: Groups
) -> dict[str, Any]:
    """Return those columns of the comparison table that depend only on a statement, its published row `cell`, and
    the `row` with its regenerated number (empty if the number is not known)."""

    def number(source: Row, name: str) -> float:
        return (100 if stated.per_cent else 1) * float(source.get(name, math.nan))

    name, *interval = stated.number or [""]
    value = number(row, name)
    low, high = value - stated.rounding, value + stated.rounding
    clusters = math.nan
    if interval:
        low = number(row, interval[0])
        high = number(row, interval[1])
        clusters = float(row.get(interval[2], math.nan))
    text = {"models": ", ".join(_models(stated, groups)), **cell}
    place = _place(paper, stated.statement)
    if row:
        basis = _filled(stated.basis, {**text, **row}, place)
    else:
        basis = f"needs {_filled(stated.needs, text, place)}"
        if stated.why:
            basis += f"; {stated.why}"
    return stated.model_dump(include=COPIED) | {
        "statement": _filled(stated.statement, text, place),
        "regenerated": value,
        "low": low,
        "high": high,
        "clusters": clusters,
        "deviation": number(row, f"{name}_deviation"),
        "without_effect": number(row, f"{name}_without_effect"),
        "basis": basis,
        "n": float(cell.get("n", stated.n) or math.nan),
        "their_low": number(cell, "low"),
        "their_high": number(cell, "high"),
        "pair_low": number(row, "pair_low"),
        "pair_high": number(row, "pair_high"),
    }


def half_unit(number: float) -> float:
    """Return half a unit of the last digit in which `number` is printed: 0.005 for
    76.14, which may have been 76.1364 before it was rounded."""
    return 0.5 * 10.0 ** min(int(Decimal(str(number)).as_tuple().exponent), 0)


def _filled(form: str, text: Row, place: str) -> str:
    try:
        return form.format_map(text)
    except KeyError as error:
        known = ", ".join(map(str, text))
        raise ParameterError(
            f"{place}: {form}: names {error}; known are {known}"
        ) from None


def _models(stated: Statement, groups: Groups) -> list[str]:
    """Return the models that a statement names: a single model, the models of a group,
    or none."""
    model = stated.where.get("model", "")
    return groups.get(model, [model] if model else [])


def _deviates(
    stated: Statement,
    cell: Row,
    given: Facts,
    deviating: Sequence[Deviation],
    groups: Groups,
) -> str:
    """Return, in words, those of the run's deviations from the paper's protocol that concern the
    statement `stated` about the row `cell`: deviations of the models that either names, or of all
    models asked where neither names one; or another level of its interval than that of verdicts.
    Empty where none concerns it, or nothing is run."""
    level = getattr(given, "confidence", 0.95)
    if level != 0.95 and stated.number[1:]:
        return f"confidence {level} (verdicts: 0.95)"
    if stated.evidence != "re-run":
        return ""
    names = {name for name in cell.values() if isinstance(name, str)}
    for way in (stated, *stated.readings.values()):
        names.update(_models(way, groups))
    models = names.intersection(given.models) or {*given.models}
    free = {*stated.independent, *cell.get("free", [])}
    texts = []
    for deviation in deviating:
        if deviation.parameter not in free and models & {*deviation.models}:
            texts.append(deviation.text)
    return ", ".join(texts)
