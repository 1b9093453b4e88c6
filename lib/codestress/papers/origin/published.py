"""What the published outcomes of Find the Origin say: Figures 1 to 3 and 10 by size of the list, Figures 6 to 9 by d.

Outcomes of 14 models at the same sizes are paired by size. Each figure has one prompt for each size, all cut from one
list of words: neighbouring sizes share most of their lines. So every paired test is done twice: on single sizes
(McNemar's exact test) and on blocks of neighbouring sizes that change sides together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval, newcombe, paired_difference, ratio
from codestress.fitting.significance import LEVEL, holm, sign_flips, two_shares_p, with_holm
from codestress.papers.origin.curves import fit_half_length, misfit
from codestress.report.findings import Finding, listed, points, span
from codestress.report.published import read_published
from codestress.seeding import rng

BLOCK = 3
"""Neighbouring sizes that change sides together in the second test."""
LISTS = {"d = 1": "fig01", "d = 15": "fig02", "d = -15": "fig03", "d = 15, shuffled": "fig10"}
SHUFFLING, DIRECTION, APART = "shuffled - in order", "up - down", "15 lines apart - adjacent"
PAIRED = {SHUFFLING: ("d = 15", "d = 15, shuffled"), DIRECTION: ("d = 15", "d = -15"), APART: ("d = 1", "d = 15")}
"""What is compared on the same sizes of the list, the second with the first; lists of d = 1 are four lines longer."""
STEP = 8
"""Lines by which the lists grow."""
BY_DISTANCE = ("fig06", "fig07", "fig08", "fig09")
UNDESCRIBED = 0.05
"""A curve whose misfit is below does not describe its points."""


def by_size(figure: str) -> pd.DataFrame:
    """The outcomes that a figure shows: model, lines, right (0 or 1); empty where it shows none."""
    numbers = read_published("origin").get(figure, {})
    rows = []
    for model, bits in numbers.get("outcomes", {}).items():
        first, last = numbers["lines"]
        rows += [(model, lines, int(bit)) for lines, bit in zip(range(first, last + 1, STEP), bits, strict=True)]
    return pd.DataFrame(rows, columns=["model", "lines", "right"])


def outcomes() -> pd.DataFrame:
    """Every published outcome: model, lines, right (0 or 1), list (of `LISTS`), size (by which lists are paired)."""
    parts = [by_size(figure).assign(list=name) for name, figure in LISTS.items()]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(size=table["lines"] // STEP)


def paired_by_size(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """`PAIRED` for each model, from `outcomes()`; Holm within each comparison.

    Columns: comparison, model, first, second (correct of `sizes`), only_second, only_first (sizes at which one is
    correct alone), difference, low, high (second - first, 0 to 1), p (McNemar, exact), p_holm, decided (`p_holm` below
    `LEVEL`), p_blocks (`BLOCK` neighbouring sizes change sides together), p_blocks_holm.
    """
    rows = []
    for comparison, names in PAIRED.items():
        for model, part in table.groupby("model", sort=False):
            wide = part.pivot_table(index="size", columns="list", values="right")[list(names)].dropna()
            change = (wide[names[1]] - wide[names[0]]).to_numpy()
            row = {"comparison": comparison, "model": model, **dict(zip(("first", "second"), wide.sum(), strict=True))}
            row |= {"sizes": len(wide), "only_second": (change > 0).sum(), "only_first": (change < 0).sum()}
            row |= {"difference": change.mean(), **paired_difference(change, confidence=confidence)._asdict()}
            blocks = np.bincount(np.arange(len(change)) // BLOCK, weights=change)
            rows.append(row | {"p": sign_flips(change), "p_blocks": sign_flips(blocks)})
    found = pd.DataFrame(rows).astype({"first": int, "second": int})
    for name in ("p", "p_blocks"):
        found[f"{name}_holm"] = found.groupby("comparison")[name].transform(lambda p: holm(p.to_numpy()))
    return found.assign(decided=found["p_holm"] < LEVEL)


def _curve(
    x: pd.Series, right: pd.Series, asked: pd.Series, confidence: float, random: np.random.Generator
) -> dict[str, Any]:
    fit = fit_half_length(x, right, asked, confidence)
    wrong = misfit(fit, x, right, asked, random)
    row = {"half": fit.half, **fit.interval._asdict(), "steepness": fit.steepness}
    return row | {"misfit": wrong, "describes": not wrong < UNDESCRIBED}


def half_lengths(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """The half-length of each model in each list, in lines; columns model, list, correct, sizes, shortest, longest
    (lines), half, its interval, steepness, misfit, and whether the curve describes its points."""
    rows = []
    for (model, name), part in table.groupby(["model", "list"], sort=False):
        lines, random = part["lines"], rng(seed, "misfit", model, name)
        row = {"model": model, "list": name, "correct": part["right"].sum(), "sizes": len(part)}
        row |= {"shortest": lines.min(), "longest": lines.max()}
        rows.append(row | _curve(lines, part["right"], part["right"] ** 0, confidence, random))
    return pd.DataFrame(rows)


def by_distance() -> pd.DataFrame:
    """Figures 6 to 9, a row for each model and d: model, d, correct, n."""
    figures = [read_published("origin")[figure] for figure in BY_DISTANCE]
    rows = [(one["model"], row["d"], row["correct"], row["n"]) for one in figures for row in one["rows"]]
    return pd.DataFrame(rows, columns=["model", "d", "correct", "n"])


def half_distances(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """The same curve of each model and side against |d|, from `by_distance()`, in lines."""
    rows = []
    for (model, sign), part in table.groupby(["model", np.sign(table["d"])], sort=False):
        random = rng(seed, "misfit", str(model), int(sign))
        found = _curve(part["d"].abs(), part["correct"], part["n"], confidence, random)
        rows.append({"model": model, "side": "down" if sign > 0 else "up"} | found)
    return pd.DataFrame(rows)


def directions(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Up minus down at each |d| from `by_distance()`: model, distance, down, up (shares), difference, low, high, p (two
    independent shares: Newcombe's interval, the pooled z test), p_holm (over all), decided."""
    rows = []
    for (model, distance), part in table.groupby(["model", table["d"].abs()], sort=False):
        down, up = (part[np.sign(part["d"]) == sign].iloc[0] for sign in (1, -1))
        shares = down["correct"] / down["n"], up["correct"] / up["n"]
        interval = newcombe(shares[0], down["n"], shares[1], up["n"], confidence)
        p_value = two_shares_p(shares[0], down["n"], shares[1], up["n"])
        rows.append((model, distance, *shares, shares[1] - shares[0], *interval, p_value))
    columns = ["model", "distance", "down", "up", "difference", "low", "high", "p"]
    found = pd.DataFrame(rows, columns=columns).sort_values("distance", kind="stable")
    return with_holm(found)


# --- findings -----------------------------------------------------------------------------------------------------

ONE_LIST = (
    "One prompt a size, temperature 0, all cut from one list of words: the numbers speak of this list and these sizes."
)
BY_SIZE = "Bonett and Price, paired by 117 sizes of the list"
MCNEMAR = f"McNemar, exact; beside it sign flips of blocks of {BLOCK} neighbouring sizes (p_blocks)"


def findings(
    pairs: pd.DataFrame, lengths: pd.DataFrame, distances: pd.DataFrame, sides: pd.DataFrame, confidence: float
) -> list[Finding]:
    """What stands first, from the tables of this module."""
    shuffling, direction, apart = (pairs[pairs["comparison"] == name] for name in PAIRED)
    helped, hurt, neither = _by_sign(shuffling)
    up, down, even = _by_sign(direction)
    more, fewer, _ = _by_sign(apart)
    return [
        _paired(
            shuffling,
            f"With the other lines shuffled, {len(helped)} of {len(shuffling)} models find the origin more often at "
            f"d = 15, {len(hurt)} less often (sizes won : lost, points): {_told(helped)}.",
        ),
        _paired(
            shuffling,
            "It does not help every model, which the paper does not say: for these nothing is shown either way: "
            f"{_told(neither)}.",
            "No difference shown is no proof of equality: what is excluded stands in the interval. In order they are "
            f"correct at {neither['first'].max()} sizes of {neither['sizes'].max()} at most: there is little to lose. ",
        ),
        _paired(
            direction,
            f"Over 15 lines, {len(up)} of {len(direction)} models find the origin more often where the second link "
            f"stands above the first, {len(down)} where it stands below; for {len(even)} nothing is shown: "
            f"{_told(direction[direction['decided']])}.",
        ),
        _direction_by_distance(sides),
        _paired(
            apart,
            f"15 lines between the links cost {len(fewer)} of {len(apart)} models correct answers, and help "
            f"{len(more)}: {_told(fewer)}.",
            "Lists of adjacent links are paired with those four lines shorter. ",
        ),
        _lengths(lengths, confidence),
        _distances(distances, confidence),
    ]


def _by_sign(pairs: pd.DataFrame) -> list[pd.DataFrame]:
    """Where the second is decided to be better, where to be worse, and where neither is."""
    sign = np.sign(pairs["difference"]).where(pairs["decided"], 0)
    return [pairs[sign == one] for one in (1, -1, 0)]


def _told(pairs: pd.DataFrame) -> str:
    ordered = pairs.sort_values("difference", ascending=False)
    return "; ".join(
        f"{row.model} {row.only_second}:{row.only_first}, {points(row.difference)} {span(row.low, row.high)}"
        for row in ordered.itertuples()
    )


def _paired(pairs: pd.DataFrame, finding: str, caveat: str = "") -> Finding:
    """With a caveat where the test on blocks says something else."""
    otherwise = list(pairs["model"][pairs["decided"] != (pairs["p_blocks_holm"] < LEVEL)])
    told = f"blocks decide otherwise of {listed(otherwise)}" if otherwise else "blocks decide the same"
    caveat += f"Neighbouring sizes share most of their lines; {told}. {ONE_LIST}"
    return Finding(finding, MCNEMAR, BY_SIZE, f"Holm over {len(pairs)} models, level {LEVEL}", caveat)


def _direction_by_distance(sides: pd.DataFrame) -> Finding:
    told = []
    for model, part in sides.groupby("model"):
        cells = [
            f"{row.distance}: {points(row.difference)} {span(row.low, row.high)}"
            for row in part[part["decided"]].itertuples()
        ]
        told.append(f"{model} at {listed(cells)}")
    return Finding(
        "Whether up or down is easier depends on model and distance (lines: up minus down, points): "
        f"{'; '.join(told)}.",
        "z test of two shares",
        "Newcombe, marginal: the figures give totals, what pairs the sizes is lost",
        f"Holm over {len(sides)} cells, level {LEVEL}",
        f"Distances other than 1 and 15 are published of {sides['model'].nunique()} models alone. {ONE_LIST}",
    )


def _lengths(lengths: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for name, part in lengths.groupby("list", sort=False):
        best = part.sort_values("half", ascending=False).iloc[0]
        half = "beyond the longest list" if best["half"] > best["longest"] else f"{best['half']:.0f} lines"
        beyond = int((part["low"] > part["longest"]).sum())
        told.append(
            f"{name}: {part['half'].median():.0f} lines for the median model, {half} for {best['model']} "
            f"{span(best['low'], best['high'], 1)}, surely beyond the longest list for {beyond}"
        )
    bad = int((~lengths["describes"]).sum())
    return Finding(
        f"Half-lengths, at which a model is correct half of the time. {'; '.join(told)}.",
        "none: estimates, one stretched exponential for each model and list",
        f"profile likelihood, {100 * confidence:g} % each, marginal",
        "none: nothing is tested but the fit of each curve (misfit)",
        f"{bad} of {len(lengths)} curves do not describe their points (describes). A half beyond the longest list "
        "or below the shortest is extrapolated. Intervals take sizes as independent: too short if they are not.",
    )


def _distances(distances: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for model, part in distances.groupby("model", sort=False):
        down, up = (part[part["side"] == side].iloc[0] for side in ("down", "up"))
        below, above = ((float(row["half"]), Interval(row["low"], row["high"])) for row in (down, up))
        interval = ratio(below, above)
        followed = "" if down["describes"] and up["describes"] else ", which the points do not follow"
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
