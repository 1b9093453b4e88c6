"""The perfect localizer, an instrument in place of a model that names the line that really
changed."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from codestress.papers.faultloc.results.localization import ORACLE
from codestress.papers.faultloc.studies import Localization, all_tasks, task_of
from codestress.types import Response, Trials


def perfect_answers(given: Localization, trials: Trials) -> pd.DataFrame:
    """Returns the answers of the perfect localizer to the unmutated trials in `trials` (made from
    `given`), a row each: model, problem, the trial's factors, and the column value_RULE (0 or 1)
    for each scoring rule.

    The perfect localizer names the first line that differs from the correct program. The scoring
    rules compare that line with the label in use, as for any model, so a wrong answer means a label
    that is not the changed line (or that no line changed).
    """
    table = all_tasks(given)
    rows = []
    for trial in trials.items:
        if trial.factors["spm"] != "none":
            continue
        changed = task_of(table, trial).changed
        response = Response(json.dumps({"line_number": changed}), "stop")
        row: dict[str, Any] = {
            "model": ORACLE,
            "problem": trial.problem,
            **trial.factors,
        }
        for rule, judge in trials.judges.items():
            row[f"value_{rule}"] = judge(trial, response).value
        rows.append(row)
    return pd.DataFrame(rows)
