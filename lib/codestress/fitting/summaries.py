"""Tables of shares with intervals, and of two conditions asked on the same items, from a table of answers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from codestress.fitting.proportions import UNKNOWN, Interval, clustered_share, paired_difference, wilson
from codestress.scoring.frames import count_outcomes
from codestress.seeding import rng


def with_accuracy(table: pd.DataFrame, correct: str, n: str, confidence: float = 0.95) -> pd.DataFrame:
    """The table with `accuracy`, what part `correct` is of `n` (columns with counts), and Wilson's `low` and `high`."""
    intervals = [wilson(int(found), int(of), confidence) for found, of in zip(table[correct], table[n], strict=True)]
    ends = pd.DataFrame(intervals, columns=Interval._fields, index=table.index, dtype=float)
    return table.assign(accuracy=table[correct] / table[n], **ends)


def summarize(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str = "strict", confidence: float = 0.95
) -> pd.DataFrame:
    """One row for each combination of `by`, in order of appearance.

    Columns: `by`, n, items, accuracy (0 to 1), low, high, interval (its method), one count for each outcome (they add
    up to n), `accuracy_RULE` under every rule, and rules_differ, the answers that the rules judge differently.

    The interval is Wilson's with the effective number of items, because answers to one item are not independent; where
    one item alone was asked several times it speaks of that item, and counts its answers.
    """
    rules = [column.removeprefix("value_") for column in answers.columns if column.startswith("value_")]
    rows = []
    for group, part in answers.groupby(list(by), sort=False):
        values, items = part[f"value_{rule}"].to_numpy(float), part["problem"]
        alone = items.nunique() == 1
        clusters = np.arange(len(part)) if alone else items.to_numpy()
        share = clustered_share(values, clusters, confidence)
        counted = {"n": len(part), "items": items.nunique(), "accuracy": values.mean(), **share.interval._asdict()}
        rows.append(
            dict(zip(by, group, strict=True))
            | counted
            | {"interval": "Wilson, one item" if alone else f"Wilson, {items.nunique()} items"}
            | count_outcomes(part[f"outcome_{rule}"])
            | {f"accuracy_{name}": part[f"value_{name}"].mean() for name in rules}
            | ({"true": part["chance"].mean(skipna=False)} if rule == "strict" and "chance" in part else {})
            | {"rules_differ": int((part[[f"value_{name}" for name in rules]].nunique(axis=1) > 1).sum())}
        )
    return pd.DataFrame(rows)


class PairedComparison(NamedTuple):
    """The second condition against the first."""

    difference: float
    """Mean of the second minus mean of the first, over the items that both have."""
    interval: Interval
    """Bonett and Price's, over items."""
    p_value: float
    """McNemar's exact test where every item was asked once, else a sign-flip permutation test on clusters."""
    items: int
    only_first: int
    """Items on which the first condition did better."""
    only_second: int
    unpaired: int
    """Items to which only one condition has an answer: they do not enter."""


def compare(
    first: Mapping[Hashable, Sequence[float]],
    second: Mapping[Hashable, Sequence[float]],
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> PairedComparison:
    """Compares scores (0 to 1) by item. `first` and `second` map an item to its answers' scores.

    McNemar 1947, exact: of the items on which the conditions differ, half should favour each. With several answers
    to an item, or several items of one of `clusters` (such as faults of one program), the differences of a cluster
    together are exchangeable in sign instead.
    """
    common = [item for item in first if first[item] and second.get(item)]
    unpaired = len(first.keys() | second.keys()) - len(common)
    if not common:
        return PairedComparison(math.nan, UNKNOWN, math.nan, 0, 0, 0, unpaired)
    differences = np.array([np.mean(second[item]) - np.mean(first[item]) for item in common])
    names = [clusters[item] for item in common] if clusters else common
    groups = pd.factorize(pd.Series(names))[0]
    alone = len(set(groups)) == len(common)
    interval = paired_difference(differences, groups, confidence) if groups.max() > 0 else UNKNOWN
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    once = alone and all(len(first[item]) == len(second[item]) == 1 for item in common)
    if better + worse == 0 or (groups.max() == 0 and not once):
        p_value = 1.0  # nothing differs, or a single item, whose sign says nothing
    elif once:
        p_value = min(1.0, 2 * float(bdtr(min(better, worse), better + worse, 0.5)))
    else:
        from scipy.stats import permutation_test  # here: a second that most can do without

        sums = pd.Series(differences).groupby(groups).sum().to_numpy()
        test = permutation_test(
            (sums,), np.mean, permutation_type="samples", n_resamples=resamples, vectorized=True, rng=rng
        )
        p_value = float(test.pvalue)
    return PairedComparison(float(differences.mean()), interval, p_value, len(common), worse, better, unpaired)


PAIRED_COLUMNS = [
    *("model", "condition", "first", "second", "difference", "low", "high", "p_value"),
    *("items", "only_first", "only_second", "unpaired"),
]


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
    """For each model, every later value of `condition` against the first one, on the same items, of which those with
    the same `clusters` (a column) hang together.

    Columns: model, first, second (values of the condition), difference (second minus first, 0 to 1), low, high,
    p_value (McNemar's exact test where items were asked once), items, only_first, only_second, unpaired.
    """
    rows = []
    for model, part in answers.groupby("model", sort=False):
        first, *others = part[condition].unique()
        items = part.drop_duplicates("problem")
        for second in others:
            sides = [
                part[part[condition] == value].groupby("problem")[f"value_{rule}"].apply(list).to_dict()
                for value in (first, second)
            ]
            result = compare(
                *sides,
                clusters=dict(zip(items["problem"], items[clusters], strict=True)),
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "paired", str(model), str(first), str(second)),
            )
            rows.append((model, condition, str(first), str(second), result.difference, *result.interval, *result[2:]))
    return pd.DataFrame(rows, columns=PAIRED_COLUMNS)
