"""Tables of shares with intervals, and comparisons of two conditions on the same items, from
answers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    paired_difference,
    wilson,
)
from codestress.seeding import rng


def with_accuracy(
    table: pd.DataFrame, correct: str, n: str, confidence: float = 0.95, alike: int = 1
) -> pd.DataFrame:
    """Returns the table with added columns: `accuracy`, the counts in the column named by `correct`
    over those in the column named by `n`, and `low` and `high`, the ends of Wilson's interval (nan
    for 0 answers), in which `alike` answers count as one."""
    intervals = [
        wilson(found / alike, of / alike, confidence)
        for found, of in zip(table[correct], table[n], strict=True)
    ]
    ends = pd.DataFrame(
        intervals, columns=Interval._fields, index=table.index, dtype=float
    )
    return table.assign(accuracy=table[correct] / table[n], **ends)


class PairedComparison(NamedTuple):
    """Comparison of a second condition with a first, on the same items: difference of the means,
    with interval, p-value and numbers of items."""

    difference: float
    """Mean of the second condition minus mean of the first, over the items that both have."""
    interval: Interval
    """Bonett and Price's interval of the difference, over clusters of items."""
    p_value: float
    """p-value of McNemar's exact test when every item was asked once, else of a sign-flip
    permutation test on clusters."""
    items: int
    only_first: int
    """Number of items on which the first condition did better."""
    only_second: int
    unpaired: int
    """Number of items with an answer in only one condition; they do not enter the comparison."""


def compare(
    first: Mapping[Hashable, Sequence[float]],
    second: Mapping[Hashable, Sequence[float]],
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> PairedComparison:
    """Returns the comparison of two conditions' scores (0 to 1) by item. `first` and `second` map
    an item to its answers' scores. nan and `UNKNOWN` when no item has answers in both.

    McNemar 1947, exact: of the items on which the conditions differ, half should favour each. With
    several answers to an item, or several items in one cluster (such as faults of one program), the
    test instead flips the signs of whole clusters' differences, by `resamples` random choices.
    `clusters` maps an item to its cluster; without it each item is its own. With one cluster alone
    the interval is `UNKNOWN` and the p-value 1.
    """
    common = [item for item in first if first[item] and second.get(item)]
    unpaired = len(first.keys() | second.keys()) - len(common)
    if not common:
        return PairedComparison(math.nan, UNKNOWN, math.nan, 0, 0, 0, unpaired)
    differences = np.array(
        [np.mean(second[item]) - np.mean(first[item]) for item in common]
    )
    names = [clusters[item] for item in common] if clusters else common
    groups = pd.factorize(pd.Series(names))[0]
    alone = len(set(groups)) == len(common)
    interval = (
        paired_difference(differences, groups, confidence)
        if groups.max() > 0
        else UNKNOWN
    )
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    once = alone and all(len(first[item]) == len(second[item]) == 1 for item in common)
    if better + worse == 0 or (groups.max() == 0 and not once):
        p_value = 1.0  # nothing differs, or a single item, whose sign says nothing
    elif once:
        p_value = min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5)))
    else:
        from scipy.stats import (
            permutation_test,
        )  # here: a second that most can do without

        sums = pd.Series(differences).groupby(groups).sum().to_numpy()
        test = permutation_test(
            (sums,),
            np.mean,
            permutation_type="samples",
            n_resamples=resamples,
            vectorized=True,
            rng=rng,
        )
        p_value = float(test.pvalue)
    value = float(differences.mean())
    return PairedComparison(
        value, interval, p_value, len(common), worse, better, unpaired
    )


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
    """Compares, for each model, every later value of the column named by `condition` with its first
    value, on the same items (column `problem`). Returns a table with a row for each comparison.

    Scores are in the column `value_strict`, or that of another `rule`. Items with equal values in
    the column named by `clusters` are dependent. Columns: model, condition, first, second (values
    of the condition), difference (second minus first, -1 to 1), low, high, p_value (McNemar's exact
    test when items were asked once), items, only_first, only_second, unpaired.
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
