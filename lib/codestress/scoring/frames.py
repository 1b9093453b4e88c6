"""Answers as a table with one row for each trial and model."""

from __future__ import annotations

import pandas as pd

from codestress.inference.results import Results


def answers_frame(results: Results) -> pd.DataFrame:
    """Returns the answers in `results` as a table with one row for each trial and model, in their
    order.

    Columns: model, simulated (bool), problem, sample, one for each of the trials' factors, for each
    scoring rule (RULE, such as `strict`) `outcome_RULE`, `value_RULE`, `detail_RULE` and
    `unresolved_RULE`, finish_reason, prompt_tokens, completion_tokens, seconds, attempts, key,
    earlier (keys of the trial's earlier requests).
    """
    simulated = {entry.name: entry.simulated for entry in results.models}
    rows = []
    for answer in results.answers:
        trial, usage, scores = answer.trial, answer.usage, answer.scores.items()
        rows.append(
            {
                "model": answer.model,
                "simulated": simulated[answer.model],
                "problem": trial.problem,
                "sample": trial.sample,
                **trial.factors,
                **{f"outcome_{rule}": score.outcome.value for rule, score in scores},
                **{f"value_{rule}": score.value for rule, score in scores},
                **{f"detail_{rule}": score.detail for rule, score in scores},
                **{f"unresolved_{rule}": score.unresolved for rule, score in scores},
                "finish_reason": answer.finish_reason,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "seconds": answer.seconds,
                "attempts": answer.attempts,
                "key": answer.key,
                "earlier": answer.earlier,
            }
        )
    return pd.DataFrame(rows)


def counted(results: Results, rule: str = "strict") -> pd.DataFrame:
    """Returns the number of answers in `results` by outcome: a row for each model, a column for
    each outcome that occurred under the scoring rule `rule`."""
    table = pd.DataFrame(results.counts(rule)).T
    return table.loc[:, table.any()]
