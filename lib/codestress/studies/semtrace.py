"""Sense and Sensitivity: what models recall of code, and what they understand, in long contexts (semtrace).

Here: line removal by the Python interpreter (appendix B, Figure 6), which needs no model.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field

from codestress.generation.line_removal import removable, subsets, without_lines
from codestress.parameters import Parameters, Study
from codestress.problems.generated import generated_problems
from codestress.problems.problem_files import cruxeval
from codestress.problems.program import Problem
from codestress.scoring.predictions import score_interpreted
from codestress.types import Message, Prompt, Response, Sampling, Score, Trial, Trials

Source = Literal["generated", "cruxeval"]


class LineRemoval(Parameters):
    """Section 3.4 and appendix B. Defaults are the paper's."""

    problems: Source = Field("cruxeval", description="cruxeval: the paper's, a data set; generated: the kit's own")
    n_problems: int = Field(800, ge=1, description="how many, from the first on")
    trend: Literal["exponential", "exponential_with_floor"] = Field(
        "exponential", description="the curve that is fitted; the paper does not say whether its curves have a floor"
    )
    weighted: bool = Field(False, description="weight each share of lines removed by its number of programs")
    epsilon: float = Field(1e-9, gt=0, description="of equation 5, which leaves it open")
    rule: Literal["strict"] = Field("strict", description="values are compared by type")
    resamples: int = Field(1000, ge=100, description="of the bootstrap over problems")


@cache
def problems_of(source: Source, count: int, seed: int) -> dict[str, Problem]:
    """The first problems of a source, by id."""
    chosen = cruxeval()[:count] if source == "cruxeval" else generated_problems(count, seed=seed)
    return {problem.id: problem for problem in chosen}


def interpreter_line_removal(*, problems: Source, n_problems: int, seed: int) -> Trials:
    """Every problem with every subset of its lines removed, to be run as it is; no prompt, no distractors."""
    table = problems_of(problems, n_problems, seed)
    trials = [
        Trial(
            problem=problem.id,
            factors={"lines": lines, "removed": mask.bit_count(), "mask": mask},
            seed=seed,
        )
        for problem in table.values()
        if (lines := removable(problem.code)) > 0
        for mask in subsets(lines)
    ]
    sampling = Sampling(max_tokens=1)

    def render(trial: Trial) -> Prompt:
        problem = table[trial.problem]
        code = without_lines(problem.code, int(trial.factors["mask"] or 0))
        return Prompt((Message("user", code),), sampling, prefill=problem.call)

    def strict(trial: Trial, response: Response) -> Score:
        return score_interpreted(table[trial.problem], response.text)

    return Trials(trials, render, {"strict": strict})


STUDIES = {"interpreter_line_removal": Study(LineRemoval, interpreter_line_removal)}
"""What params/semtrace/*.yaml may name as `study: semtrace.NAME`."""
