"""Two conditions asked on the same items."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr

from codestress.fitting.proportions import UNKNOWN, Interval, paired_difference


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
