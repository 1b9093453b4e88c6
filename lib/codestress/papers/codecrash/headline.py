"""CodeCrash's main experiment (Table 1): outputs predicted directly, of programs as they are and perturbed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from codestress.problems.datasets import find_dataset, state
from codestress.report.headline import Headline, Reach
from codestress.report.published import published_cells, published_models, read_published
from codestress.sandbox.executor import Executor

PERTURBATIONS = ("VAN", "PSC-ALL", "MCC", "MPS", "MHC")
N_PROBLEMS = 120


def _cruxeval() -> bool:
    """Whether the paper's programs are here, and may run here."""
    if any(state(file) != "ok" for file in find_dataset("cruxeval").files):
        return False
    with Executor(workers=1) as executor:
        return not executor.exposed()


def _parameters(_: Reach) -> dict[str, Any]:
    return {
        "problems": ["cruxeval" if _cruxeval() else "generated"],
        "n_problems": N_PROBLEMS,
        "perturbations": list(PERTURBATIONS),
        "samples_direct": 1,
    }


def _deviates(_: Reach) -> tuple[str, ...]:
    found = (f"the first {N_PROBLEMS} programs, one answer each, not three; hints by the kit's rules, not a model's",)
    return found if _cruxeval() else ("the kit's own programs, not CRUXEval's, which is not here", *found)


def _published() -> pd.DataFrame:
    table = published_cells("codecrash/pass_at_1", "label", "mode", "dataset", "cell")
    table = table[(table["mode"] == "direct") & (table["dataset"] == "cruxeval") & table["cell"].isin(PERTURBATIONS)]
    models = table["label"].replace(published_models("codecrash"))
    return table.assign(model=models, share=table["value"] / 100, n=read_published("codecrash")["problems"]["cruxeval"])


HEADLINE = Headline(
    title="CodeCrash",
    question="Does it predict what a program returns when unused code, comments, prints or a hint mislead it?",
    study="answers",
    parameters=_parameters,
    deviates=_deviates,
    cell=lambda trial: str(trial.factors["perturbation"]),
    cells=PERTURBATIONS,
    axis="perturbation (VAN: none)",
    published=_published,
    source="Table 1 and the leaderboard: CRUXEval, direct, Pass@1",
    figure="codecrash/tab01",
    stated="abstract: average degradation of output prediction, direct",
    told="is what right predictions fall by on average when programs are perturbed",
)
