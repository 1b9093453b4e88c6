"""Tables of shares with intervals, and of paired differences, from a table of answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from codestress.fitting.paired import compare
from codestress.fitting.proportions import clustered_share, wilson
from codestress.scoring.frames import count_outcomes
from codestress.seeding import rng


def with_accuracy(table: pd.DataFrame, correct: str, n: str, confidence: float = 0.95) -> pd.DataFrame:
    """The table with `accuracy`, what part `correct` is of `n` (columns with counts), and Wilson's `low` and `high`."""
    intervals = [wilson(int(found), int(of), confidence) for found, of in zip(table[correct], table[n], strict=True)]
    low, high = [one.low for one in intervals], [one.high for one in intervals]
    return table.assign(accuracy=table[correct] / table[n], low=low, high=high)


def summarize(
    answers: pd.DataFrame,
    by: Sequence[str],
    *,
    rule: str = "strict",
    confidence: float = 0.95,
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
        values = part[f"value_{rule}"].to_numpy(float)
        items = part["problem"]
        alone = items.nunique() == 1
        clusters = np.arange(len(part)) if alone else items.to_numpy()
        low, high = clustered_share(values, clusters, confidence).interval
        method = "Wilson, one item" if alone else f"Wilson, {items.nunique()} items"
        rows.append(
            dict(zip(by, group, strict=True))
            | {
                "n": len(part),
                "items": items.nunique(),
                "accuracy": values.mean(),
                "low": low,
                "high": high,
                "interval": method,
            }
            | count_outcomes(part[f"outcome_{rule}"])
            | {f"accuracy_{name}": part[f"value_{name}"].mean() for name in rules}
            | ({"true": part["chance"].mean(skipna=False)} if rule == "strict" and "chance" in part else {})
            | {"rules_differ": int((part[[f"value_{name}" for name in rules]].nunique(axis=1) > 1).sum())}
        )
    return pd.DataFrame(rows)


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
