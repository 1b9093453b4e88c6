"""Sense and Sensitivity: accuracy without distractors (Tables 1 and 2)."""

from __future__ import annotations

import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.fitting.summaries import paired_differences
from codestress.report.claims import Claim
from codestress.report.published import published_numbers

COLUMNS = {
    ("cruxeval", "input_prediction"): "CRUXEval-I",
    ("cruxeval", "output_prediction"): "CRUXEval-O",
    ("semtrace", "output_prediction"): "SemTrace",
    ("generated", "input_prediction"): "generated-I",
    ("generated", "output_prediction"): "generated-O",
}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Columns label, condition, share, low, high, for `share_bars`; a condition is a data set with a task."""
    keyed = table["keys"].nunique() > 1
    conditions = [
        COLUMNS[str(row.dataset), str(row.task)] + (f", with{'' if row.keys else 'out'} keys" if keyed else "")
        for row in table.itertuples()
    ]
    return table.assign(label=table["model"], condition=conditions)[["label", "condition", "share", "low", "high"]]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's table in the same columns; Wilson's intervals from its 800 problems, of which GPT 4.1 had 100."""
    numbers = published_numbers(artefact)
    if not numbers:
        return pd.DataFrame(columns=["label", "condition", "share", "low", "high"])
    rows = []
    for model, values in numbers["values"].items():
        asked = 100 if model.startswith("gpt") else 800
        for condition, value in zip(numbers["columns"], values, strict=True):
            rows.append((model, condition, value / 100, *wilson(round(value * asked / 100), asked, confidence)))
    return pd.DataFrame(rows, columns=["label", "condition", "share", "low", "high"])


def baseline_claims(artefact: str, regenerated: pd.DataFrame, published: pd.DataFrame) -> list[Claim]:
    """Every cell of the published table."""
    known = {(row.label, row.condition): row for row in regenerated.itertuples()}
    claims = []
    for cell in published.itertuples():
        statement = f"{cell.condition}: {cell.label}"
        found = known.get((cell.label, cell.condition))
        if found is None:
            claims.append(Claim(artefact, statement, 100 * cell.share, "%", basis=f"needs the answers of {cell.label}"))
        else:
            values = (100 * found.share, 100 * found.low, 100 * found.high)
            claims.append(Claim(artefact, statement, 100 * cell.share, "%", *values, basis="the same problems"))
    return claims


def key_differences(answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """With keys against without, for each model and task on the same problems (appendix D); empty without both."""
    parts = [
        paired_differences(part, "keys", confidence=confidence, resamples=resamples, seed=seed).assign(task=task)
        for task, part in answers.groupby("task", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)
