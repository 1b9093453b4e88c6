"""Tables of shares with intervals, and comparisons of two conditions on the same items,
computed from answers."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from codestress.seeding import rng

from .proportions import (
    UNKNOWN,
    paired_difference,
    wilson,
)
from .significance import sign_flips


def with_accuracy(
    table: pd.DataFrame, correct: str, n: str, confidence: float = 0.95, alike: int = 1
) -> pd.DataFrame:
    """Return `table` with three added columns: `accuracy`, and `low` and `high`, the
    ends of Wilson's interval at `confidence` (nan for 0 answers).

    The accuracy is the count in the column named by `correct` over the count in the
    column named by `n`. In the interval, `alike` answers count as one.
    """
    ends = []
    for right, asked in zip(table[correct] / alike, table[n] / alike, strict=True):
        ends.append(wilson(right, asked, confidence))
    shares = table.assign(accuracy=table[correct] / table[n])
    shares[["low", "high"]] = np.reshape(ends, (-1, 2))
    return shares


class PairedComparison(NamedTuple):
    """Comparison of a second condition with a first, on the same items: difference of
    the means, interval, p-value and numbers of items."""

    difference: float
    """Mean of the second condition minus mean of the first, over the items with answers
    in both conditions."""
    low: float
    """Lower end of Bonett and Price's interval of the difference, over clusters."""
    high: float
    """Upper end of that interval."""
    p_value: float
    """p-value of McNemar's exact test if every item was asked once and is its own
    cluster, else of a sign-flip permutation test on clusters."""
    items: int
    """Number of items with an answer in both conditions."""
    only_first: int
    """Number of items on which the first condition did better."""
    only_second: int
    """Number of items on which the second condition did better."""
    unpaired: int
    """Number of items with an answer in only one condition. The comparison leaves such
    items out."""


def compare(
    first: pd.Series,
    second: pd.Series,
    *,
    clusters: pd.Series | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> PairedComparison:
    """Return the comparison of two conditions' scores (0 to 1), by item, a row for each
    answer; nan and `UNKNOWN` when no item has answers in both.

    McNemar 1947, exact: of the items on which the conditions differ, half should favour
    each. With several answers to an item, or several items in one cluster (faults of
    one program), the test flips the signs of whole clusters' differences instead, by
    `resamples` random choices. `clusters` has each item's cluster (None: itself).
    """
    before = first.groupby(level=0).mean()
    differences = second.groupby(level=0).mean() - before
    both = differences.dropna()
    items = len(both)
    names = both.index if clusters is None else clusters[both.index]
    groups, known = pd.factorize(names)
    better = int((both > 0).sum())
    worse = int((both < 0).sum())
    counts = (items, worse, better, len(differences) - items)
    # A single cluster's sign says nothing.
    interval = UNKNOWN
    p_value = 1.0 if items else math.nan
    if len(known) > 1:
        interval = paired_difference(both, groups, confidence)
        if len(known) == items == max(len(first), len(second)):
            p_value = sign_flips(np.sign(both))
        elif better + worse:
            from scipy.stats import permutation_test  # a second that most do without

            sums = both.groupby(groups).sum().to_numpy()
            how = {"permutation_type": "samples", "n_resamples": resamples}
            p_value = permutation_test((sums,), np.mean, rng=rng, **how).pvalue
    return PairedComparison(both.mean(), *interval, p_value, *counts)


def paired_differences(
    answers: pd.DataFrame,
    condition: str,
    *,
    clusters: str = "problem",
    rule: str = "strict",
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a table that compares, for each model, each later value of a column with
    the column's first value, on the same items (column `problem`).

    `condition` names the column; answers without a value in it are left out. Scores are
    in the column `value_strict`, or that of another `rule`. Items with equal values in
    the column named by `clusters` are dependent.

    The table has a row for each comparison. Columns: model, condition, first, second
    (values of the condition), difference (second minus first, -1 to 1), low, high,
    p_value (McNemar's exact test if items were asked once), items, only_first,
    only_second, unpaired.
    """
    rows = []
    for model, part in answers.groupby("model", sort=False):
        first, *others = part[condition].dropna().unique()
        scores = part.set_index("problem")[f"value_{rule}"]
        of_problem = part.drop_duplicates("problem").set_index("problem", drop=False)
        of_way = scores.groupby(part[condition].to_numpy()).get_group
        for second in others:
            result = compare(
                of_way(first),
                of_way(second),
                clusters=of_problem[clusters],
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "paired", str(model), str(first), str(second)),
            )
            rows.append((model, condition, str(first), str(second), *result))
    columns = ["model", "condition", "first", "second", *PairedComparison._fields]
    return pd.DataFrame(rows, columns=columns)
