"""Accuracies with their intervals, and the number of answers by outcome."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from codestress.fitting.proportions import clustered_share
from codestress.types import Outcome


def summarize(
    answers: pd.DataFrame,
    by: Sequence[str],
    *,
    rule: str = "strict",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Returns a table of `answers` (as from `answers_frame`) with one row for each combination of
    values in the columns named in `by`, in order of appearance.

    Columns: those in `by`, n, items (different problems), accuracy (0 to 1, under the scoring rule
    `rule`), low, high, interval (its method), one count for each outcome under `rule` (they add up
    to n), `accuracy_RULE` under every scoring rule, and rules_differ, the number of answers that
    the rules score differently.

    The interval is Wilson's with the effective number of items, because answers to one item are not
    independent. Where one item alone was asked several times, the interval speaks of that item and
    counts its answers.
    """
    rules = [
        name.removeprefix("value_") for name in answers if name.startswith("value_")
    ]
    rows = []
    for group, part in answers.groupby(list(by), sort=False):
        values, items = part[f"value_{rule}"].to_numpy(float), part["problem"]
        alone = items.nunique() == 1
        clusters = np.arange(len(part)) if alone else items.to_numpy()
        share = clustered_share(values, clusters, confidence)
        by_rule = part[[f"value_{name}" for name in rules]]
        rows.append(
            {
                **dict(zip(by, group, strict=True)),
                "n": len(part),
                "items": items.nunique(),
                "accuracy": values.mean(),
                **share.interval._asdict(),
                "interval": f"Wilson, {'one item' if alone else f'{items.nunique()} items'}",
                **count_outcomes(part[f"outcome_{rule}"]),
                **{f"accuracy_{name}": part[f"value_{name}"].mean() for name in rules},
                "rules_differ": int((by_rule.nunique(axis=1) > 1).sum()),
            }
        )
    return pd.DataFrame(rows)


def count_outcomes(outcomes: pd.Series) -> dict[str, int]:
    """Returns how often each outcome occurs in the series `outcomes`, by its value, zeros included;
    raises `AssertionError` for a value that is not an `Outcome`."""
    counts = outcomes.value_counts()
    table = {outcome.value: int(counts.get(outcome.value, 0)) for outcome in Outcome}
    if sum(table.values()) != len(outcomes):
        raise AssertionError(f"{len(outcomes)} answers, but outcomes {dict(counts)}")
    return table
