"""The perfect localizer, an instrument in place of a model that names the line that really
changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from codestress.papers.faultloc.results.localization import ORACLE
from codestress.papers.faultloc.studies import Localization
from codestress.types import Response, Trial


def perfect_answers(given: Localization, trials: Iterable[Trial]) -> pd.DataFrame:
    """Returns the answers of the perfect localizer to the unmutated trials in `trials` (made from
    `given`), a row each: model, problem, the trial's factors, and the column value_RULE (0 or 1)
    for each scoring rule.

    The perfect localizer names the first line that differs from the correct program. The scoring
    rules compare that line with the label in use, as for any model, so a wrong answer means a label
    that is not the changed line (or that no line changed).
    """
    rows = []
    for trial in trials:
        if trial.factors["spm"] != "none":
            continue
        changed = given.task(trial).changed
        response = Response(json.dumps({"line_number": changed}), "stop")
        row: dict[str, Any] = {
            "model": ORACLE,
            "problem": trial.problem,
            **trial.factors,
        }
        for rule in given.rules:
            row[f"value_{rule}"] = given.score(trial, response, rule).value
        rows.append(row)
    return pd.DataFrame(rows)
