"""A small study of target positions, on the kit's own problems and distractors."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any, get_args

import pandas as pd

from codestress.papers.semtrace.positions import Questions, Task
from codestress.parameters import questions
from codestress.types import Trials

TASKS = get_args(Task)
SMALL: dict[str, Any] = {
    "artefact": "semtrace/fig02",
    "models": ["sim-wide"],
    "tasks": [*TASKS],
    "problems": ["generated"],
    "n_problems": 3,
    "distractors": [4, 8],
    "distractor_source": "installed",
    "matched": "count",
    "positions": 3,
}


def study(**changes: object) -> Questions:
    return Questions.model_validate(SMALL | changes)


def trials_of(**changes: object) -> Trials:
    return questions(study(**changes))


def crossed(**values: Any) -> pd.DataFrame:
    """Return all combinations of the values, a column for each name."""
    return pd.DataFrame([*product(*values.values())], columns=[*values])


def settings(**changes: object) -> Any:
    """Return the parameters that statistics read."""
    values = {"metrics": ["strict"], "confidence": 0.95, "resamples": 100, "seed": 0}
    values |= {"trend": "exponential", "weighted": False}
    values |= {"epsilon": 1e-9, "complete_wrong": "left_out"}
    return SimpleNamespace(**values | changes)
