"""Answers in one setting, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

SETTING: dict[str, Any] = {
    "model": "m",
    "dataset": "cruxeval",
    "language": "python",
    "task": "output",
    "mode": "direct",
    "ignore": False,
    "refactor": False,
    "status": "applied",
}


def answers_to(
    perturbation: str, values: Sequence[float], **columns: Any
) -> pd.DataFrame:
    """Answers that score `values`, one for each problem; `columns` replace others."""
    problems = [f"p{number}" for number in range(len(values))]
    table = pd.DataFrame({"problem": problems, "question": problems})
    table["value_strict"] = table["value_reference"] = [float(one) for one in values]
    density = 0.0 if perturbation == "VAN" else 1.0
    given = {"perturbation": perturbation, "density": density, **SETTING, **columns}
    return table.assign(**given)
