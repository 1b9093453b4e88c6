"""Tables of shares with intervals, and comparisons of two conditions on the same items,
from answers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from codestress.fitting.proportions import (
    UNKNOWN,
    Array,
    Interval,
    paired_difference,
    wilson,
)
from codestress.seeding import rng


def with_accuracy(
    table: pd.DataFrame, correct: str, n: str, confidence: float = 0.95, alike: int = 1
) -> pd.DataFrame:
    """Return the table with added columns: `accuracy`, the counts in the column named
    by `correct` over those in the column named by `n`, and `low` and `high`, the ends
    of Wilson's interval (nan for 0 answers), in which `alike` answers count as one."""
    pairs = zip(table[correct] / alike, table[n] / alike, strict=True)
    ends = np.array([wilson(*pair, confidence) for pair in pairs]).reshape(-1, 2)
    low, high = ends.T
    return table.assign(accuracy=table[correct] / table[n], low=low, high=high)


class PairedComparison(NamedTuple):
    """Comparison of a second condition with a first, on the same items: difference of
    the means, with interval, p-value and numbers of items."""

    difference: float
    """Mean of the second condition minus mean of the first, over the items that both
    have."""
    interval: Interval
    """Bonett and Price's interval of the difference, over clusters of items."""
    p_value: float
    """p-value of McNemar's exact test when every item was asked once, else of a
    sign-flip permutation test on clusters."""
    items: int
    only_first: int
    """Number of items on which the first condition did better."""
    only_second: int
    unpaired: int
    """Number of items with an answer in only one condition; they do not enter the
    comparison."""


def compare(
    first: Mapping[Hashable, Sequence[float]],
    second: Mapping[Hashable, Sequence[float]],
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> PairedComparison:
    """Return the comparison of two conditions' scores (0 to 1) by item. `first` and
    `second` map an item to its answers' scores. nan and `UNKNOWN` when no item has
    answers in both.

    McNemar 1947, exact: of the items on which the conditions differ, half should favour
    each. With several answers to an item, or several items in one cluster (such as
    faults of one program), the test instead flips the signs of whole clusters'
    differences, by `resamples` random choices. `clusters` maps an item to its cluster;
    without it each item is its own. With one cluster alone the interval is `UNKNOWN`
    and the p-value 1.
    """
    common = [item for item in first if first[item] and second.get(item)]
    unpaired = len(first.keys() | second.keys()) - len(common)
    if not common:
        return PairedComparison(math.nan, UNKNOWN, math.nan, 0, 0, 0, unpaired)
    pairs = [(first[item], second[item]) for item in common]
    differences = np.array([np.mean(new) - np.mean(old) for old, new in pairs])
    names = pd.Series([clusters[item] for item in common] if clusters else common)
    groups, known = pd.factorize(names)
    alone = len(known) == len(common)
    once = alone and all(len(old) == len(new) == 1 for old, new in pairs)
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    interval, p_value = UNKNOWN, 1.0  # a single cluster's sign says nothing
    if len(known) > 1:
        interval = paired_difference(differences, groups, confidence)
    if once and better + worse:
        p_value = min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5)))
    elif len(known) > 1 and better + worse:
        sums = pd.Series(differences).groupby(groups).sum().to_numpy()
        p_value = flipped_signs(sums, resamples, rng)
    value = float(differences.mean())
    items = len(common)
    return PairedComparison(value, interval, p_value, items, worse, better, unpaired)


def flipped_signs(sums: Array, resamples: int, rng: np.random.Generator) -> float:
    """Return the two-sided p-value of clusters' `sums` (n,) of differences, by
    `resamples` random sign flips, or all of them where there are no more."""
    from scipy.stats import permutation_test  # here: a second that most can do without

    test = permutation_test(
        (sums,), np.mean, permutation_type="samples", n_resamples=resamples, rng=rng
    )
    return float(test.pvalue)


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
    """Return the comparisons, for each model, of every later value of the column named
    by `condition` with its first value, on the same items (column `problem`): a table
    with a row for each comparison.

    Scores are in the column `value_strict`, or that of another `rule`. Items with equal
    values in the column named by `clusters` are dependent. Columns: model, condition,
    first, second (values of the condition), difference (second minus first, -1 to 1),
    low, high, p_value (McNemar's exact test when items were asked once), items,
    only_first, only_second, unpaired.
    """
    rows = []
    for model, part in answers.groupby("model", sort=False):
        first, *others = part[condition].unique()
        scores = {
            value: asked.groupby("problem")[f"value_{rule}"].apply(list).to_dict()
            for value, asked in part.groupby(condition, sort=False)
        }
        items = part.drop_duplicates("problem")
        for second in others:
            result = compare(
                scores.get(first, {}),
                scores.get(second, {}),
                clusters=dict(zip(items["problem"], items[clusters], strict=True)),
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "paired", str(model), str(first), str(second)),
            )
            names = (model, condition, str(first), str(second))
            rows.append((*names, result.difference, *result.interval, *result[2:]))
    columns = ["model", "condition", "first", "second", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, *PairedComparison._fields[2:]])
