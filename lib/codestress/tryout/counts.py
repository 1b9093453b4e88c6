"""What the answers of a sample say: shares by cell, what they can tell from published ones, what more would tell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from codestress.fitting.proportions import clustered_share, effective_number, newcombe
from codestress.tryout.sampling import Part
from codestress.types import Outcome

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Counted:
    """A paper's panel."""

    cells: pd.DataFrame
    """A row for each cell: cell, right, n, worth (independent answers), share, low, high, too_long, cut."""
    outcomes: dict[str, int]
    """All questions that were taken up; they add up (checked)."""
    told_apart: tuple[int, int, int]
    """Published models below, above, and neither, in the first cell that has answers and published shares."""
    later: int | None
    """How many would still be neither with as many minutes more, at the same share; None without answers."""
    compared: str
    """That cell."""
    half_width: float
    """Of the interval there, in points."""


def counted(part: Part) -> Counted:
    """By the strict rule. Whatever else became of a question that was answered counts as not right, as everywhere; one
    that brought no answer (a failing server) counts for nothing."""
    headline = part.headline
    rows = [
        (headline.cell(answer.trial), answer.scores["strict"].value, headline.cluster(answer.trial))
        for answer in part.answers
        if not answer.error
    ]
    table = pd.DataFrame(rows, columns=["cell", "value", "cluster"])
    cells = []
    for cell in headline.cells:
        these = table[table["cell"] == cell]
        share = clustered_share(these["value"], these["cluster"], CONFIDENCE)
        cells.append(
            {"cell": cell, "right": int(these["value"].sum()), "n": len(these)}
            | {"worth": effective_number(these["cluster"]), "share": share.value, **share.interval._asdict()}
            | {"too_long": part.too_long[cell], "cut": part.cut[cell]}
        )
    frame = pd.DataFrame(cells)
    return Counted(frame, outcomes(part), *_compared(frame, headline.published()))


def outcomes(part: Part) -> dict[str, int]:
    """What became of every question that was taken up."""
    found = Counter(answer.scores["strict"].outcome.value for answer in part.answers)
    taken = sum(len(one) for one in part.rounds[: part.asked])
    other = {"does not fit": part.too_long.total(), "cut by the server": part.cut.total()}
    missed = taken - found.total() - sum(other.values())
    if missed < 0:
        raise AssertionError(f"{part.paper}: {found.total()} outcomes and {other} of {taken} questions")
    table = {outcome.value: found[outcome.value] for outcome in Outcome if found[outcome.value]}
    return table | {name: count for name, count in {**other, "not reached": missed}.items() if count}


def _compared(cells: pd.DataFrame, published: pd.DataFrame) -> tuple[tuple[int, int, int], int | None, str, float]:
    for row in cells.to_dict("records"):
        theirs = published[published["cell"] == row["cell"]]
        if not row["n"] or theirs.empty:
            continue
        pairs = list(zip(theirs["share"], theirs["n"], strict=True))
        now, then = (
            [_side(row["share"], times * row["worth"], share, n) for share, n in pairs] for times in (1, 2)
        )  # fmt: skip
        sides = (now.count(-1), now.count(1), now.count(0))
        return sides, then.count(0), str(row["cell"]), 50 * (row["high"] - row["low"])
    return (0, 0, 0), None, "", float("nan")


def _side(ours: float, our_n: float, theirs: float, their_n: float) -> int:
    """-1: the published share is below ours, 1: above, 0: the difference may be none (Newcombe, 95 %)."""
    low, high = newcombe(ours, our_n, theirs, their_n, CONFIDENCE)
    return -1 if high < 0 else 1 if low > 0 else 0
