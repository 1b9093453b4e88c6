"""Answers as a table: one row for each trial and model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from codestress.inference.run import Results
from codestress.types import Outcome


def answers_frame(results: Results) -> pd.DataFrame:
    """Columns: model, simulated, problem, sample, the trials' factors, for each rule `outcome_RULE`, `value_RULE`,
    `detail_RULE` and `unresolved_RULE`, finish_reason, prompt_tokens, completion_tokens, seconds, attempts, key,
    earlier (keys of the trial's earlier requests); `chance`, with which probability an instrument answers it right,
    where that is known of some.

    Rows as in `results`.
    """
    known = any(answer.chance is not None for answer in results.answers)
    simulated = {entry.name: entry.simulated for entry in results.models}
    return pd.DataFrame(
        [
            {
                "model": answer.model,
                "simulated": simulated[answer.model],
                "problem": answer.trial.problem,
                "sample": answer.trial.sample,
                **answer.trial.factors,
                **{f"outcome_{rule}": score.outcome.value for rule, score in answer.scores.items()},
                **{f"value_{rule}": score.value for rule, score in answer.scores.items()},
                **{f"detail_{rule}": score.detail for rule, score in answer.scores.items()},
                **{f"unresolved_{rule}": score.unresolved for rule, score in answer.scores.items()},
                "finish_reason": answer.finish_reason,
                "prompt_tokens": answer.usage.prompt_tokens,
                "completion_tokens": answer.usage.completion_tokens,
                "seconds": answer.seconds,
                "attempts": answer.attempts,
                "key": answer.key,
                "earlier": answer.earlier,
                **({"chance": np.nan if answer.chance is None else answer.chance} if known else {}),
            }
            for answer in results.answers
        ]
    )


def counted(results: Results, rule: str = "strict") -> pd.DataFrame:
    """For each model, how many of its answers have which outcome, of those that occurred; and where some questions were
    asked again, how many, and how many of them got the very same answer."""
    table = pd.DataFrame(results.counts(rule)).T
    table = table.loc[:, table.any()]
    again = pd.DataFrame(
        {model: {"asked again": one.asked, "same answer": one.same} for model, one in results.repeats.items()}
    )
    return table.join(again.T)


def count_outcomes(outcomes: pd.Series) -> dict[str, int]:
    """How often each outcome occurs; zeros included, and the sum is checked."""
    counts = outcomes.value_counts()
    table = {one.value: int(counts.get(one.value, 0)) for one in Outcome}
    if sum(table.values()) != len(outcomes):
        raise AssertionError(f"{len(outcomes)} answers, but outcomes {dict(counts)}")
    return table
