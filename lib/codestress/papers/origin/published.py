"""Findings from the published outcomes of Find the Origin: Figures 1 to 3 and 10 by size of the
list, Figures 6 to 9 by d.

Outcomes of 14 models at the same sizes are paired by size. Each figure has one prompt for each
size, all cut from one list of words, so neighbouring sizes share most of their lines. Every paired
test is therefore done on single sizes (McNemar's exact test) and again on blocks of neighbouring
sizes that change sides together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval, newcombe, paired_difference, ratio
from codestress.fitting.significance import (
    LEVEL,
    holm,
    sign_flips,
    two_shares_p,
    with_holm,
)
from codestress.papers.origin.curves import fit_half_length, misfit
from codestress.report.findings import Finding, listed, points, span
from codestress.report.published import read_published
from codestress.seeding import rng

BLOCKS = (3, 6)
"""Numbers of neighbouring sizes that change sides together, in tests that do not take sizes as
independent."""
LISTS = {
    "d = 1": "fig01",
    "d = 15": "fig02",
    "d = -15": "fig03",
    "d = 15, shuffled": "fig10",
}
SHUFFLING, DIRECTION, APART = (
    "shuffled - in order",
    "up - down",
    "15 lines apart - adjacent",
)
PAIRED = {
    SHUFFLING: ("d = 15", "d = 15, shuffled"),
    DIRECTION: ("d = 15", "d = -15"),
    APART: ("d = 1", "d = 15"),
}
"""Pairs of lists that are compared at the same sizes, the second with the first; lists of d = 1 are
four lines longer."""
STEP = 8
"""Number of lines by which the lists grow."""
BY_DISTANCE = ("fig06", "fig07", "fig08", "fig09")
UNDESCRIBED = 0.05
"""Least misfit (a p-value) of a curve that describes its points."""


def by_size(figure: str) -> pd.DataFrame:
    """Table of the published outcomes that `figure` shows (`fig01`, …), a row for each model and
    size of the list: model, lines, right (0 or 1); empty if the figure shows none."""
    numbers = read_published("origin").get(figure, {})
    rows = []
    for model, bits in numbers.get("outcomes", {}).items():
        first, last = numbers["lines"]
        sizes = range(first, last + 1, STEP)
        rows += [
            (model, lines, int(bit)) for lines, bit in zip(sizes, bits, strict=True)
        ]
    return pd.DataFrame(rows, columns=["model", "lines", "right"])


def outcomes() -> pd.DataFrame:
    """Table of every published outcome by size of the list: model, lines, right (0 or 1), list (`d
    = 1`, `d = 15`, `d = -15` or `d = 15, shuffled`), size (number by which lists are paired: lines
    // 8)."""
    parts = [by_size(figure).assign(list=name) for name, figure in LISTS.items()]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(size=table["lines"] // STEP)


def paired_by_size(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of comparisons of two lists at the same sizes (shuffled or not, up or down, 15 lines
    apart or adjacent), a row for each comparison and model, from `table`, that of `outcomes()`;
    Holm's correction within each comparison.

    Columns: comparison, model, first, second (correct of `sizes`), sizes, only_second, only_first
    (sizes at which one list alone is correct), difference, low, high (second - first, -1 to 1),
    lag_1 (correlation of the change at one size with that at the next; nan if all changes are
    equal), p (McNemar, exact), p_holm, decided (whether p_holm is below `LEVEL`); for each size of
    `BLOCKS` the test on blocks, such as p_3 and p_3_holm.
    """
    rows = []
    tests = ["p", *(f"p_{block}" for block in BLOCKS)]
    for comparison, names in PAIRED.items():
        for model, part in table.groupby("model", sort=False):
            wide = part.pivot_table("right", "size", "list")[[*names]].dropna()
            first, second = wide.to_numpy(int).T
            change = second - first
            row = {"comparison": comparison, "model": model}
            row |= {"first": first.sum(), "second": second.sum(), "sizes": len(change)}
            row |= {"only_second": (change > 0).sum(), "only_first": (change < 0).sum()}
            row["difference"] = change.mean()
            row |= paired_difference(change, confidence=confidence)._asdict()
            row["lag_1"] = pd.Series(change).autocorr() if change.std() else math.nan
            for name, block in zip(tests, (1, *BLOCKS), strict=True):
                row[name] = sign_flips(
                    np.bincount(np.arange(len(change)) // block, weights=change)
                )
            rows.append(row)
    comparisons = pd.DataFrame(rows)
    for name in tests:
        comparisons[f"{name}_holm"] = comparisons.groupby("comparison")[name].transform(
            holm
        )
    return comparisons.assign(decided=comparisons["p_holm"] < LEVEL)


def _curve(
    x: pd.Series,
    right: pd.Series,
    asked: pd.Series,
    confidence: float,
    random: np.random.Generator,
) -> dict[str, Any]:
    fit = fit_half_length(x, right, asked, confidence)
    wrong = misfit(fit, x, right, asked, random)
    row = {"half": fit.half, **fit.interval._asdict(), "steepness": fit.steepness}
    return row | {"misfit": wrong, "describes": not wrong < UNDESCRIBED}


def headline(pairs: pd.DataFrame) -> str:
    """Title of the figure of `pairs`, the table of `paired_by_size`: how many models shuffling
    helps, and how many a longer distance between the links harms: those that are decided on single
    sizes and on blocks of neighbouring ones."""
    tests = [f"p_{block}_holm" for block in BLOCKS]
    robust = pairs["decided"] & (pairs[tests] < LEVEL).all(axis=1)
    known = pairs[robust].set_index("comparison")["difference"]
    helped, harmed = (
        int((known[[SHUFFLING]] > 0).sum()),
        int((known[[APART]] < 0).sum()),
    )
    return (
        f"Shuffling helps {helped} of {pairs['model'].nunique()} models, "
        f"15 lines between the links harm {harmed}"
    )


def half_lengths(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Table of the half-length of each model in each list, from `table`, that of `outcomes()`: the
    number of lines at which half of the answers are correct.

    Columns: model, list, correct, sizes (counts), shortest, longest, half, low, high (in lines),
    steepness, misfit (p-value), describes (whether the curve describes its points). The column
    `half` is 0 if all is wrong, inf if all is correct. `seed` draws for the column `misfit`.
    """
    rows = []
    for (model, name), part in table.groupby(["model", "list"], sort=False):
        lines, random = part["lines"], rng(seed, "misfit", model, name)
        row = {
            "model": model,
            "list": name,
            "correct": part["right"].sum(),
            "sizes": len(part),
        }
        row |= {"shortest": lines.min(), "longest": lines.max()}
        rows.append(
            row | _curve(lines, part["right"], part["right"] ** 0, confidence, random)
        )
    return pd.DataFrame(rows)


def by_distance() -> pd.DataFrame:
    """Table of the counts that Figures 6 to 9 publish, a row for each model and d: model, d,
    correct (answers), n (answers in all)."""
    figures = [read_published("origin")[figure] for figure in BY_DISTANCE]
    parts = [
        pd.DataFrame(figure["rows"]).assign(model=figure["model"]) for figure in figures
    ]
    return pd.concat(parts, ignore_index=True)[["model", "d", "correct", "n"]]


def half_distances(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Table of the half-distance of each model and side, from `table`, that of `by_distance()`: the
    |d| (lines) at which half of the answers are correct, by the curve of `half_lengths`. Columns:
    model, side (`down` or `up`), half, low, high, steepness, misfit, describes."""
    rows = []
    for (model, sign), part in table.groupby(
        ["model", np.sign(table["d"])], sort=False
    ):
        random = rng(seed, "misfit", str(model), int(sign))
        found = _curve(part["d"].abs(), part["correct"], part["n"], confidence, random)
        rows.append({"model": model, "side": "down" if sign > 0 else "up"} | found)
    return pd.DataFrame(rows)


def directions(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the difference of accuracy up minus down at each |d|, from `table`, that of
    `by_distance()`: model, distance, down, up (shares), difference, low, high, p (two independent
    shares: Newcombe's interval, the pooled z test), p_holm (over all rows), decided (bool)."""
    rows = []
    for (model, distance), part in table.groupby(
        ["model", table["d"].abs()], sort=False
    ):
        (_, down, down_n), (_, up, up_n) = part.sort_values("d", ascending=False)[
            ["d", "correct", "n"]
        ].to_numpy()
        sides = down / down_n, down_n, up / up_n, up_n
        down, up = sides[0], sides[2]
        ends, p_value = newcombe(*sides, confidence), two_shares_p(*sides)
        rows.append((model, distance, down, up, up - down, *ends, p_value))
    columns = ["model", "distance", "down", "up", "difference", "low", "high", "p"]
    found = pd.DataFrame(rows, columns=columns).sort_values("distance", kind="stable")
    return with_holm(found)


# --- findings -----------------------------------------------------------------------------------------------------

ONE_LIST = (
    "One prompt a size, temperature 0, all cut from one list of words: "
    "the numbers speak of this list and these sizes."
)
BY_SIZE = "Bonett and Price, paired by 117 sizes of the list"
DEPENDENT = (
    "Their intervals take sizes as independent given the curve: simulated ones cover 95 %, but about 60 % where "
    "neighbouring sizes correlate by 0.45 given the curve."
)
MCNEMAR = "McNemar, exact; beside it sign flips of blocks of 3 and of 6 neighbouring sizes (p_3, p_6)"


def findings(
    pairs: pd.DataFrame,
    lengths: pd.DataFrame,
    distances: pd.DataFrame,
    sides: pd.DataFrame,
    confidence: float,
) -> list[Finding]:
    """List of the seven main findings from the published outcomes, on shuffling, direction,
    distance and length. The tables `pairs`, `lengths`, `distances` and `sides` are those of
    `paired_by_size()`, `half_lengths()`, `half_distances()` and `directions()`."""
    shuffling, direction, apart = (
        pairs[pairs["comparison"] == name] for name in PAIRED
    )
    helped, hurt, neither = _by_sign(shuffling)
    up, down, even = _by_sign(direction)
    more, fewer, _ = _by_sign(apart)
    return [
        _paired(
            shuffling,
            f"With the other lines shuffled, {len(helped)} of {len(shuffling)} models find the origin more often at "
            f"d = 15{_by_blocks(shuffling, 1)}, {len(hurt)} less often (sizes won : lost, points): {_told(helped)}.",
        ),
        _paired(
            shuffling,
            "It is not shown to help every model, which the paper does not say. The tests do not tell these "
            f"differences from zero: {_told(neither)}.",
            "That is no proof of equality: what is excluded stands in the interval. Intervals that leave zero out, not "
            f"corrected for {len(shuffling)} models: {listed(list(neither['model'][neither['low'] > 0]))}. In order "
            f"these models are correct at {neither['first'].max()} sizes of {neither['sizes'].max()} at most: there is "
            "little to lose. ",
        ),
        _paired(
            direction,
            f"Over 15 lines, {len(up)} of {len(direction)} models find the origin more often where the second link "
            f"stands above the first{_by_blocks(direction, 1)}, {len(down)} where it stands below"
            f"{_by_blocks(direction, -1)}: {_told(direction[direction['decided']])}. Of the other {len(even)} no "
            "difference is told from zero.",
        ),
        _direction_by_distance(sides),
        _paired(
            apart,
            f"15 lines between the links cost {len(fewer)} of {len(apart)} models correct answers"
            f"{_by_blocks(apart, -1)}, and help {len(more)}: {_told(fewer)}.",
            "Lists of adjacent links are paired with those four lines shorter. ",
        ),
        _lengths(lengths, confidence),
        _distances(distances, confidence),
    ]


def _by_sign(pairs: pd.DataFrame) -> list[pd.DataFrame]:
    """List of three tables, rows of `pairs`, the table of `paired_by_size()`: the second list is
    decided to be better, decided to be worse, and neither."""
    sign = np.sign(pairs["difference"]).where(pairs["decided"], 0)
    return [pairs[sign == one] for one in (1, -1, 0)]


def _by_blocks(pairs: pd.DataFrame, sign: int) -> str:
    """Note in brackets: the number of models in `pairs` whose difference has this `sign` (1 or -1)
    and is decided if neighbouring sizes count as one; empty if none is decided on single sizes."""
    same = np.sign(pairs["difference"]) == sign
    if not (same & pairs["decided"]).any():
        return ""
    counts = [(same & (pairs[f"p_{block}_holm"] < LEVEL)).sum() for block in BLOCKS]
    return f" ({counts[0]} where {BLOCKS[0]} neighbouring sizes count as one, {counts[1]} where {BLOCKS[1]} do)"


def _told(pairs: pd.DataFrame) -> str:
    ordered = pairs.sort_values("difference", ascending=False)
    return "; ".join(
        f"{row.model} {row.only_second}:{row.only_first}, {points(row.difference)} {span(row.low, row.high)}"
        for row in ordered.itertuples()
    )


def _paired(pairs: pd.DataFrame, finding: str, caveat: str = "") -> Finding:
    """Record of the `finding` (a text) of one paired comparison, the rows `pairs` of
    `paired_by_size()`. To `caveat` comes a text on neighbouring sizes: the models that the tests on
    blocks decide otherwise."""
    told = []
    for block in BLOCKS:
        otherwise = list(
            pairs["model"][pairs["decided"] != (pairs[f"p_{block}_holm"] < LEVEL)]
        )
        told.append(f"blocks of {block} decide otherwise of {listed(otherwise)}")
    most = pairs.loc[pairs["lag_1"].idxmax()]
    caveat += (
        f"Neighbouring sizes share most of their lines: the changes of {most['model']} correlate by "
        f"{most['lag_1']:.2f} from one to the next; {'; '.join(told)}. {ONE_LIST}"
    )
    return Finding(
        finding,
        MCNEMAR,
        BY_SIZE,
        f"Holm over {len(pairs)} models, level {LEVEL}",
        caveat,
    )


def _direction_by_distance(sides: pd.DataFrame) -> Finding:
    told = []
    for model, part in sides.groupby("model"):
        cells = [
            f"{row.distance}: {points(row.difference)} {span(row.low, row.high)}"
            for row in part[part["decided"]].itertuples()
        ]
        told.append(f"{model} at {listed(cells)}")
    return Finding(
        "Whether up or down is easier depends on model and distance, sizes taken as independent (lines: up minus down, "
        "points): "
        f"{'; '.join(told)}.",
        "z test of two shares",
        "Newcombe, marginal: the figures give totals, what pairs the sizes and orders them is lost",
        f"Holm over {len(sides)} cells, level {LEVEL}",
        f"Distances other than 1 and 15 are published of {sides['model'].nunique()} models alone. {ONE_LIST}",
    )


def _lengths(lengths: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for name, part in lengths.groupby("list", sort=False):
        best = part.sort_values("half", ascending=False).iloc[0]
        half = f"{best['half']:.0f} lines"
        if best["half"] > best["longest"]:
            half = "beyond the longest list"
        beyond = int((part["low"] > part["longest"]).sum())
        told.append(
            f"{name}: {part['half'].median():.0f} lines for the median model, {half} for {best['model']} "
            f"{span(best['low'], best['high'], 1)}, the whole interval beyond the longest list for {beyond}"
        )
    bad = int((~lengths["describes"]).sum())
    return Finding(
        f"Half-lengths, at which a model is correct half of the time. {'; '.join(told)}. {DEPENDENT}",
        "none: estimates, one stretched exponential for each model and list",
        f"profile likelihood, {100 * confidence:g} % each, marginal",
        "none: nothing is tested but the fit of each curve (misfit)",
        f"{bad} of {len(lengths)} curves do not describe their points (describes). A half beyond the longest list "
        "or below the shortest is extrapolated.",
    )


def _distances(distances: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for model, part in distances.groupby("model", sort=False):
        down, up = (part[part["side"] == side].iloc[0] for side in ("down", "up"))
        below, above = (
            (row["half"], Interval(row["low"], row["high"])) for row in (down, up)
        )
        interval = ratio(below, above)
        followed = "" if part["describes"].all() else ", which the points do not follow"
        told.append(
            f"{model} down {down['half']:.1f} {span(down['low'], down['high'], 1)}, up {up['half']:.1f} "
            f"{span(up['low'], up['high'], 1)}, {up['half'] / down['half']:.1f} times {span(*interval, 1)}{followed}"
        )
    return Finding(
        f"Half-distances between the links, in lines: {'; '.join(told)}.",
        "none: estimates, the same curve against |d| for each model and side",
        f"profile likelihood, {100 * confidence:g} % each, marginal; of the ratio MOVER (Donner and Zou 2012)",
        "none: nothing is tested but the fit of each curve (misfit)",
        "Four distances a side, taken as independent though their sizes are the same. Where the curve does not "
        "describe its points, its half sums up a fall that stops at a floor, and no more.",
    )
