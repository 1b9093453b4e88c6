"""Answers as a table with one row for each trial and model."""

from typing import Any

import pandas as pd

from codestress.inference.results import Results


def answers_frame(results: Results) -> pd.DataFrame:
    """Return the answers in `results` as a table with one row for each trial and model, in their
    order.

    Columns: model, simulated (bool), problem, sample, one for each of the trials' factors, for each
    scoring rule (RULE, such as `strict`) `outcome_RULE`, `value_RULE`, `detail_RULE` and
    `unresolved_RULE`, finish_reason, prompt_tokens, completion_tokens, seconds, attempts, key,
    earlier (keys of the trial's earlier requests).
    """
    simulated = {entry.name: entry.simulated for entry in results.models}
    rows = []
    for answer in results.answers:
        row: dict[str, Any] = {"model": answer.model}
        row["simulated"] = simulated[answer.model]
        row["problem"] = answer.trial.problem
        row["sample"] = answer.trial.sample
        row.update(answer.trial.factors)
        for field in ("outcome", "value", "detail", "unresolved"):
            for rule, score in answer.scores.items():
                row[f"{field}_{rule}"] = getattr(score, field)
        row["finish_reason"] = answer.finish_reason
        row["prompt_tokens"] = answer.usage.prompt_tokens
        row["completion_tokens"] = answer.usage.completion_tokens
        for field in ("seconds", "attempts", "key", "earlier"):
            row[field] = getattr(answer, field)
        rows.append(row)
    return pd.DataFrame(rows)


def counted(results: Results, rule: str = "strict") -> pd.DataFrame:
    """Return the number of answers in `results` by outcome: a row for each model, a column for each
    outcome that occurred under the scoring rule `rule`."""
    table = pd.DataFrame(results.counts(rule)).T
    return table.loc[:, table.any()]
