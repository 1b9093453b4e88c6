"""The claims ledger: each number that a paper states beside the regenerated number,
with a verdict.

`statements.comparison` sets both numbers side by side; `judge_table` judges each row on
its own.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

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
from codestress.validation import read_yaml

from .checked import damaged, read_table
from .statements import Tables, comparison

LEDGER = read_yaml(Path(__file__).with_name("ledger.yaml"))
EVIDENCE = ("re-run", "recomputed")
"""Classes of evidence that count for or against a paper."""
SOURCES: dict[str, str] = LEDGER["sources"]
"""Dict from a class of evidence to the words that follow its verdicts."""
WORDS: dict[str, tuple[str, str]] = LEDGER["words"]
"""Dict from a class of evidence to the two verdicts on a number without sampling: if
the number agrees as printed, and if it does not."""
ORDERS = ("more than", "less than")
"""Relations of statements on orders, in which the published number is a bound."""
COLUMNS = list(LEDGER["columns"])
"""Columns of a ledger, in order."""
NONE, NO_VERDICT, APART = "not run", "no verdict", "not comparable"
SIGNS: dict[str, str] = LEDGER["signs"]
"""Dict from each verdict to its sign, in the order of the ledger."""
AGREEING = {agrees for agrees, _ in WORDS.values()}
CONTRARY = {other for _, other in WORDS.values()}
"""Verdicts on numbers that differ from the paper's printed numbers."""
Row = dict[str, Any]


def ledger(given: Facts, tables: Tables) -> pd.DataFrame:
    """Return the ledger of an artefact: a table with the columns `COLUMNS` and a row
    for each number that the paper states.

    `given` has the run's parameters. A number is `not comparable` if its run deviates
    from the paper's parameters. `tables` is a dict from names in the statements to the
    artefact's tables and the published cells. Raises `ParameterError` if a statement
    names a table or column that does not exist.
    """
    return judge_table(comparison(given, tables))


def judge_table(compared: Sequence[Sequence[Row]]) -> pd.DataFrame:
    """Return the ledger of a comparison table (see `comparison`), with a verdict on
    each number.

    A number is judged by the interval of its difference to the published number, which
    counts the error of both numbers (`fitting.verdicts`). A number without sampling
    agrees as printed, or does not. A number on an order must lie on the stated side of
    its bound with its whole interval.

    If the paper's words have several readings, the verdict is the one on which all
    readings agree, else `inconclusive`. Readings that all differ, but on both sides of
    the published number, are `inconclusive` too: a further reading may give the
    published number.

    Further verdicts: `not run` without a regenerated number, `no verdict` for a number
    that was only copied or recorded, `not comparable` for a run that deviates from the
    paper's protocol.
    """
    rows = []
    for number in compared:
        readings = list(map(_judged, number))
        row = _together(readings) if readings[0]["reading"] else readings[0]
        if row["verdict"] == NONE:
            row["deviates"] = ""
        elif row["deviates"]:
            row["verdict"] = APART
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def _judged(compared: Row) -> Row:
    """Return a row of the ledger from a row of the comparison table; deviations of the
    run are not considered."""
    row = {**compared, "margin": 0.0, "undecided": "", "readings": ""}
    row["difference_low"] = row["difference_high"] = math.nan
    of_order = row["relation"] in ORDERS
    sampled = not math.isnan(row["clusters"])
    if not math.isnan(row["regenerated"]) and (of_order or sampled):
        if not of_order:
            row["margin"] = _margin(row)
        ours, theirs = _sides(row)
        if theirs is None:
            row["undecided"] = _lacks(row, ours)
        else:
            slack = 0.0 if of_order else row["slack"]
            between = difference(ours, theirs)
            row["difference_low"] = between.low - slack
            row["difference_high"] = between.high + slack
            if sampled and _verdict(row) == Verdict.INCONCLUSIVE:
                row["undecided"] = _wanted(row, ours, theirs)
    row["verdict"] = _verdict(row)
    return row


def _margin(row: Row) -> float:
    """Return the largest difference from the published number that counts as
    reproduced, in the row's unit.

    If the unit is per cent or points, the margin is a number of points. Otherwise the
    margin is the same number of per cent of the published number.
    """
    published: float = row["published"]
    effect = published / 100 if row["effect"] and published else None
    margin = 100 * margin_of(effect)
    of_points = row["unit"].startswith(("%", "points"))
    if of_points:
        return margin
    return margin * abs(published) / 100


def _sides(row: Row) -> tuple[Measured, Measured | None]:
    """Return the regenerated and the published number of `row`, each with its error;
    None in place of a published number whose error is not known.

    A published number that is a bound (`ORDERS`) has no error.
    """
    value = row["regenerated"]
    published = row["published"]
    n = row["n"]
    items = math.inf if math.isnan(row["clusters"]) else row["clusters"]
    ours = Measured(value, row["low"], row["high"], items, row["student"])
    if row["relation"] in ORDERS:
        return ours, Measured(published, published, published, math.inf)
    # The deviation grows with noise: both numbers must be of the same n.
    if not math.isnan(row["deviation"]):
        if items != n:
            return ours, None
        noise = row["deviation"], row["without_effect"]
        return of_noise(value, *noise, n, published)
    if not math.isnan(row["pair_low"]):
        paired = Measured(value - published, row["pair_low"], row["pair_high"], items)
        return paired, Measured(0.0, 0.0, 0.0, math.inf)
    if not math.isnan(row["their_low"]):
        ends = row["their_low"], row["their_high"]
        return ours, Measured(published, *ends, math.inf if math.isnan(n) else n)
    return ours, None if math.isnan(n) else ours.at(published, n)


def _lacks(row: Row, ours: Measured) -> str:
    """Return, in words, why `row` cannot be judged: the paper does not state a number
    of items, or ours is another."""
    if not math.isnan(row["deviation"]):
        return f"{row['n']:,.0f} items would decide it, as many as the paper's"
    lack = "the paper does not say how many items are behind it"
    away = abs(ours.value - row["published"])
    own = max(ours.down, ours.up)
    if away <= own:
        return f"{lack}, and ours are too few to differ from any number"
    least = math.ceil(ours.items * own**2 / (away**2 - own**2))
    return f"{lack}: it would differ with {least:,} or more"


def _wanted(row: Row, ours: Measured, theirs: Measured) -> str:
    """Return, in words, the number of items that would decide an inconclusive `row`."""
    away = row["regenerated"] - row["published"]
    own = max(ours.value - ours.low, ours.high - ours.value)
    if row["relation"] in ORDERS:
        if not away:
            return "it lies on the bound, so that no number of items would decide it"
        items = max(math.ceil(ours.items * (own / away) ** 2), FEWEST_CLUSTERS)
    else:
        doubt = max(theirs.down, theirs.up)
        items = clusters_to_decide(away, row["margin"], own, ours.items, doubt)
        if math.isinf(items):
            return "no run of ours can decide it: the published number alone is as uncertain as the margin"
    return f"about {items:,.0f} items would decide it, if the difference stays"


def _verdict(row: Row) -> str:
    """Return the verdict on one reading of a number.

    A number of an order agrees if the interval between it and its bound lies wholly on
    the stated side. It is `inconclusive` if the interval covers the bound, or if a
    number that agrees has too few items.
    """
    if math.isnan(row["regenerated"]):
        return NONE
    if row["evidence"] not in WORDS:
        return NO_VERDICT
    low, high = row["difference_low"], row["difference_high"]
    agrees, other = WORDS[row["evidence"]]
    sampled = not math.isnan(row["clusters"])
    if row["relation"] in ORDERS:
        if row["relation"] == "less than":
            low, high = -high, -low
        if low > 0 and not row["clusters"] < FEWEST_CLUSTERS:
            return agrees
        if high < 0 or (high == 0 and not sampled):
            return other
        return Verdict.INCONCLUSIVE
    if row["evidence"] in EVIDENCE and sampled:
        return judge(Interval(low, high), row["margin"], row["clusters"])
    slack = row["slack"] * (1 + 1e-9)
    below = row["high"] < row["published"] - slack and row["relation"] == "equal"
    above = row["low"] > row["published"] + slack
    if below or above:
        return other
    return agrees


def _together(read: list[Row]) -> Row:
    """Return one row of the ledger from the rows `read`, one for each reading of the
    paper's words.

    The row has the number of the first reading with a number, and an interval of the
    difference that covers the intervals of all readings. The verdict is the one on
    which all readings agree. If the readings do not agree, or if they all differ on
    both sides of the published number, the verdict is `inconclusive`, and `undecided`
    has the reason.
    """
    known = [row for row in read if row["verdict"] != NONE]
    row = {**(known or read)[0], "readings": "; ".join(map(_of_reading, read))}
    if not known:
        return row
    row["difference_low"] = min(row["difference_low"] for row in known)
    row["difference_high"] = max(row["difference_high"] for row in known)
    words = {row["verdict"] for row in read}
    sides = {row["regenerated"] > row["published"] for row in read}
    one_side = len(sides) == 1 or words <= AGREEING | {NO_VERDICT}
    if len(words) == 1 and one_side:
        return row
    row["verdict"] = Verdict.INCONCLUSIVE
    ways = f"the paper's words can be read in {len(read)} ways"
    if NONE in words:
        row["undecided"] = f"{ways}, of which {len(known)} gave a number"
    elif len(words) > 1:
        row["undecided"] = f"{ways}, which do not agree"
    elif words != {Verdict.INCONCLUSIVE}:
        row["undecided"] = (
            f"it lies between {len(read)} readings of the paper's words, so that a further one may give it"
        )
    return row


def _of_reading(row: Row) -> str:
    """Return a reading's name, followed by its number and verdict if the reading has a
    number."""
    if row["verdict"] == NONE:
        return str(row["reading"])
    number = f"{row['regenerated']:,.2f}".removesuffix(".00")
    return f"{row['reading']}: {number} {row['unit']} ({row['verdict']})"


def read_ledger(path: Path) -> pd.DataFrame:
    """Return the ledger in the file `path` (claims.csv), with the columns `COLUMNS`.
    Raises `DataError` if the file is not a ledger."""
    kinds = LEDGER["columns"]
    numbers = [name for name in kinds if kinds[name] == "number"]
    rows = read_table(path, COLUMNS, numbers)[COLUMNS]
    known = rows[["artefact", "statement"]].notna().all(axis=1)
    faulty = rows[~(known & rows["verdict"].isin(SIGNS))]
    if len(faulty):
        raise damaged(path, f"row {faulty.index[0] + 1} states no claim or no verdict")
    return rows
