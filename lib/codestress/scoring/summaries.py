"""Accuracies with their intervals, and the number of answers with each outcome."""

from collections.abc import Sequence
from typing import Any

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
    """Return a table of `answers` (`Results.answers`) with one row for each combination
    of values in the columns named in `by`, in order of appearance.

    Columns: those in `by`, n, items (number of different problems), accuracy (0 to 1,
    under the scoring rule `rule`), low, high, interval (its method), one count for each
    outcome under `rule` (the counts add up to n), `accuracy_RULE` for every scoring
    rule, and rules_differ, the number of answers that the rules score differently.

    The interval at `confidence` is Wilson's with the effective number of items, because
    answers to one item are not independent. If all answers of a row are to one item, the
    interval is for that item and counts its answers.
    """
    values = [name for name in answers if name.startswith("value_")]
    rows = []
    for group, part in answers.groupby(list(by), sort=False):
        row: dict[str, Any] = dict(zip(by, group, strict=True))
        row["n"] = len(part)
        row["items"] = part["problem"].nunique()
        alone = row["items"] == 1
        clusters = range(len(part)) if alone else part["problem"]
        share = clustered_share(part[f"value_{rule}"], clusters, confidence)
        row["accuracy"] = share.value
        row |= share.interval._asdict()
        items = "one item" if alone else f"{row['items']} items"
        row["interval"] = f"Wilson, {items}"
        counts = part[f"outcome_{rule}"].value_counts()
        row.update((outcome.value, counts.get(outcome, 0)) for outcome in Outcome)
        for name in values:
            row[name.replace("value_", "accuracy_", 1)] = part[name].mean()
        row["rules_differ"] = int((part[values].nunique(axis=1) > 1).sum())
        rows.append(row)
    return pd.DataFrame(rows)
