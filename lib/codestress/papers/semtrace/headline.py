"""Sense and Sensitivity's main experiment: outputs of SemTrace programs, alone (Table 1) and among other functions."""

from __future__ import annotations

from typing import Any

import pandas as pd

from codestress.report.headline import Headline, Reach
from codestress.report.published import published_cells

FUNCTIONS = 20
"""The fewest that the paper puts around the target."""
TOKENS_OF_A_FUNCTION = 300
"""The paper's average is 200; its longest contexts are longer than that says."""
TOKENS_BESIDE = 1000
"""Of the question, the target and the answer."""
PLACES = ("before", "in the middle", "after")
"""The target before, in the middle of and after the others."""


def functions(reach: Reach) -> int:
    """How many stand around the target: as many as the context holds, at most the paper's smallest number."""
    if reach.context is None:
        return FUNCTIONS
    return max(1, min(FUNCTIONS, (reach.context - TOKENS_BESIDE) // TOKENS_OF_A_FUNCTION))


def _parameters(reach: Reach) -> dict[str, Any]:
    return {
        "tasks": ["output_prediction"],
        "problems": ["semtrace"],
        "n_problems": 200,
        "distractors": [0, functions(reach)],
        "distractor_source": "installed",
        "positions": len(PLACES),
        "prefill": "assistant" if reach.prefill else "user",
    }


def _deviates(reach: Reach) -> tuple[str, ...]:
    found = ["functions of installed packages around the target, not CodeSearchNet's", "3 places, not 11"]
    if functions(reach) < FUNCTIONS:
        found.append(f"{functions(reach)} functions around it, not 20: its context has no room for more")
    if not reach.prefill:
        found.append("the answer is begun in the question: this server does not continue one (as GPT 4.1 in the paper)")
    return tuple(found)


def _published() -> pd.DataFrame:
    table = published_cells("semtrace/tab01", "model", "task")
    asked = table["model"].str.startswith("gpt-4.1").map({True: 100, False: 800})
    return table.assign(cell="alone", share=table["value"] / 100, n=asked)[table["task"] == "SemTrace"]


HEADLINE = Headline(
    title="Sense and Sensitivity",
    question="Does it still work out what a function returns when the function stands among others?",
    study="baselines",
    parameters=_parameters,
    deviates=_deviates,
    cell=lambda trial: PLACES[int(trial.factors["position"] or 0)] if trial.factors["distractors"] else "alone",
    cells=("alone", *PLACES),
    axis="place of the function among the others",
    published=_published,
    source="Table 1, without other functions; the curves by place are not published as numbers",
    figure="semtrace/fig01",
    stated="section 3.1:",
    told="are lost where the function stands at its worst place, by model and task",
)
