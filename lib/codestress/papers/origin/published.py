"""Numbers computed from the published outcomes of Find the Origin: Figures 1 to 3 and
10, at each size of the list.

Outcomes of 14 models at the same sizes are paired by size. Each figure has one prompt
for each size, all cut from one list of words, so neighbouring sizes share most of their
lines. Every paired test is therefore done on single sizes (McNemar's exact test) and
again on blocks of neighbouring sizes that change sides together.
"""

import numpy as np
import pandas as pd

from codestress.fitting.proportions import paired_difference
from codestress.fitting.significance import LEVEL, holm, sign_flips
from codestress.report.published import read_published

BLOCKS = {"p": 1, "p_3": 3, "p_6": 6}
"""Dict from the column of a test's p-values to the number of neighbouring sizes that
change sides together in the test. The test with the column p treats sizes as
independent."""
LISTS = {
    "d = 1": "fig01",
    "d = 15": "fig02",
    "d = -15": "fig03",
    "d = 15, shuffled": "fig10",
}
"""Dict from list to the figure that shows its outcomes."""
SHUFFLING, APART = "shuffled - in order", "15 lines apart - adjacent"
"""Comparisons that the title of the figure counts."""
PAIRED = {
    SHUFFLING: ("d = 15", "d = 15, shuffled"),
    "up - down": ("d = 15", "d = -15"),
    APART: ("d = 1", "d = 15"),
}
"""Pairs of lists that are compared at the same sizes, the second list with the first.
Lists of d = 1 are four lines longer."""
STEP = 8
"""Number of lines by which the lists grow."""


def by_size(figure: str) -> pd.DataFrame:
    """Return the published outcomes that `figure` shows (`fig01`, …), a row for each
    model and size of the list; empty if the figure shows none. Columns: model, lines,
    right (0 or 1)."""
    numbers = read_published("origin").get(figure, {})
    rows = []
    for model, bits in numbers.get("outcomes", {}).items():
        first, last = numbers["lines"]
        sizes = range(first, last + 1, STEP)
        for lines, bit in zip(sizes, bits, strict=True):
            rows.append((model, lines, int(bit)))
    return pd.DataFrame(rows, columns=["model", "lines", "right"])


def outcomes() -> pd.DataFrame:
    """Return every published outcome at each size of the list. Columns: model, lines,
    right (0 or 1), list (`d = 1`, `d = 15`, `d = -15` or `d = 15, shuffled`), size
    (number by which lists are paired: lines // 8)."""
    parts = [by_size(figure).assign(list=name) for name, figure in LISTS.items()]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(size=table["lines"] // STEP)


def paired_by_size(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return comparisons of two lists at the same sizes, a row for each comparison in
    `PAIRED` and each model: shuffled or in order, up or down, 15 lines apart or
    adjacent. `table` is the result of `outcomes()`; Holm's correction is within each
    comparison.

    Columns: comparison, model; sizes (their number), first, second (numbers of sizes at
    which each list is correct); only_second, only_first (numbers of sizes at which only
    that list is correct); difference with its interval low, high at `confidence`
    (second - first, -1 to 1); p (McNemar's exact test), p_holm. Each test of `BLOCKS`,
    on single sizes and on blocks of them, has its p-value, such as p_3, and the
    corrected one, such as p_3_holm. decided (bool): whether all of these are below
    `LEVEL`.
    """
    rows = []
    for comparison, names in PAIRED.items():
        for model, part in table.groupby("model", sort=False):
            wide = part.pivot_table("right", "size", "list")[[*names]].dropna()
            first, second = wide.to_numpy(int).T
            change = second - first
            row = {
                "comparison": comparison,
                "model": model,
                "first": first.sum(),
                "second": second.sum(),
                "sizes": len(change),
                "only_second": (change > 0).sum(),
                "only_first": (change < 0).sum(),
                "difference": change.mean(),
            }
            row |= paired_difference(change, confidence=confidence)._asdict()
            for name, block in BLOCKS.items():
                blocks = np.arange(len(change)) // block
                row[name] = sign_flips(np.bincount(blocks, weights=change))
            rows.append(row)
    comparisons = pd.DataFrame(rows)
    families = comparisons.groupby("comparison")
    tests = [f"{name}_holm" for name in BLOCKS]
    comparisons[tests] = families[list(BLOCKS)].transform(holm)
    return comparisons.assign(decided=(comparisons[tests] < LEVEL).all(axis=1))


def headline(pairs: pd.DataFrame) -> str:
    """Return the title of the figure of `pairs`, the result of `paired_by_size`: how
    many models shuffling helps, and how many a longer distance between the links harms.
    Only decided differences count."""
    known = pairs[pairs["decided"]].set_index("comparison")["difference"]
    helped = (known[[SHUFFLING]] > 0).sum()
    harmed = (known[[APART]] < 0).sum()
    return (
        f"Shuffling helps {helped} of {pairs['model'].nunique()} models, "
        f"15 lines between the links harm {harmed}"
    )
