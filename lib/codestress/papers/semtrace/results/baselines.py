"""Sense and Sensitivity: accuracy without distractors (Tables 1 and 2)."""

from __future__ import annotations

import pandas as pd

from codestress.fitting.summaries import paired_differences, with_accuracy
from codestress.report.published import published_cells

COLUMNS = {
    ("cruxeval", "input_prediction"): "CRUXEval-I",
    ("cruxeval", "output_prediction"): "CRUXEval-O",
    ("semtrace", "output_prediction"): "SemTrace",
    ("generated", "input_prediction"): "generated-I",
    ("generated", "output_prediction"): "generated-O",
}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Columns label, condition, accuracy, low, high, items and what is `true` where that is known, for `share_bars`; a
    condition is a data set with a task."""
    keyed = table["keys"].nunique() > 1
    conditions = [
        COLUMNS[str(row.dataset), str(row.task)] + (f", with{'' if row.keys else 'out'} keys" if keyed else "")
        for row in table.itertuples()
    ]
    shown = ["label", "condition", "accuracy", "low", "high", "items"]
    return table.assign(label=table["model"], condition=conditions)[[*shown, *table.columns.intersection(["true"])]]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's table in the same columns, and `percent`, as printed; Wilson's intervals from its 800 problems, of
    which GPT 4.1 had 100."""
    cells = published_cells(artefact, "label", "condition").rename(columns={"value": "percent"})
    asked = cells["label"].str.startswith("gpt").map({True: 100, False: 800})
    counted = cells.assign(n=asked, correct=(cells["percent"] * asked / 100).round())
    return with_accuracy(counted, "correct", "n", confidence).assign(accuracy=cells["percent"] / 100)


def beside_published(shares: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Tables 1 and 2 as printed, the regenerated shares behind them: label, condition, from, accuracy, low, high."""
    parts = {"the paper": published, "here": shares}
    columns = ["label", "condition", "from", "accuracy", "low", "high"]
    return pd.concat([part.assign(**{"from": name}) for name, part in parts.items()], ignore_index=True)[columns]


def key_differences(answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """With keys against without, for each model and task on the same problems (appendix D); empty without both."""
    parts = [
        paired_differences(part, "keys", confidence=confidence, resamples=resamples, seed=seed).assign(task=task)
        for task, part in answers.groupby("task", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)
