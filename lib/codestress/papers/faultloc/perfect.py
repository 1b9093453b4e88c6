"""Answers that no model of the run gave, judged by a study's rules: a file's, and those of the
perfect localizer, an instrument that names the line that really changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from codestress.papers.faultloc.results.localization import ORACLE
from codestress.papers.faultloc.studies import Localization
from codestress.types import Response, Trial

Named = tuple[str, Trial, int | None]
"""Model, trial (about an unmutated task), and the line that the model names there."""


def judged(given: Localization, answers: Iterable[Named]) -> pd.DataFrame:
    """Returns a table of `answers`, scored by every rule of `given`, a row each: model, problem,
    the trial's factors, and for each scoring rule the columns value_RULE and outcome_RULE."""
    rows = []
    for model, trial, line in answers:
        row: dict[str, Any] = {"model": model, "problem": trial.problem}
        row |= trial.factors
        response = Response(json.dumps({"line_number": line}), "stop")
        for rule in given.rules:
            score = given.score(trial, response, rule)
            row[f"value_{rule}"] = score.value
            row[f"outcome_{rule}"] = score.outcome.value
        rows.append(row)
    return pd.DataFrame(rows)


def perfect_answers(given: Localization, trials: Iterable[Trial]) -> pd.DataFrame:
    """Returns the answers of the perfect localizer to the unmutated trials in `trials` (made from
    `given`), a table as by `judged`.

    The perfect localizer names the first line that differs from the correct program. The scoring
    rules compare that line with the label in use, as for any model, so a wrong answer means a label
    that is not the changed line (or that no line changed).
    """
    plain = [trial for trial in trials if trial.factors["spm"] == "none"]
    return judged(given, [(ORACLE, one, given.task(one).changed) for one in plain])
