"""Experiments of Sense and Sensitivity on programs with some of their lines removed
(sections 2.4 and 3.4; the interpreter: appendix B)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from codestress.errors import DataError
from codestress.problems.program import Problem
from codestress.scoring.predictions import score_interpreted
from codestress.seeding import rng
from codestress.types import (
    Message,
    NotRun,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Trial,
)

from .prompting import (
    PREDICTIONS,
    Begun,
    Dataset,
    Prediction,
    Resampled,
    predicted,
    problems_of,
)


def removable(code: str) -> int:
    """Return the number of lines of the program `code` that may be removed: all but the
    first (section 3.4), including blank lines.

    CRUXEval's 800 programs have 71,994 versions. In three programs the first line is
    not the `def`, and still stays.
    """
    return code.count("\n")


def without_lines(code: str, removed: int) -> str:
    """Return the program `code` without the lines in the bit mask `removed`: bit i,
    from 0, removes line i + 2, counted from 1. A mask of 0 removes no line; the
    largest, 2 ** `removable(code)` - 1, removes all but the first."""
    first, *others = code.split("\n")
    kept = [first]
    for bit, line in enumerate(others):
        if not removed >> bit & 1:
            kept.append(line)
    return "\n".join(kept)


class Sensitivity(Begun):
    """Parameters of sections 2.4 and 3.4: the requests about programs with lines
    removed, and Equation 5 (its `epsilon` and `complete_wrong`). Defaults are the
    paper's for models."""

    SINGLE = ("n_problems", "subsample", "versions", "shown", "prefill", "max_tokens")
    OPEN = (*Begun.OPEN, "inputs_run_on", "epsilon", "complete_wrong")

    tasks: list[Prediction] = Field(PREDICTIONS, min_length=1)
    """Tasks that are asked."""
    shown: Literal["prompt", "program"] = "prompt"
    """Form of a question: the paper's prompt to a model, or the program to the
    interpreter (outputs only)."""
    problems: Dataset = "cruxeval"
    """Source of the problems: cruxeval (the paper's), semtrace (outputs only),
    generated (the kit's own)."""
    n_problems: int = Field(800, ge=1)
    """Number of problems, from the first on."""
    versions: int = Field(0, ge=0)
    """Most versions of a program, drawn by the seed; 0: all (the paper)."""
    inputs_run_on: Literal["complete", "shown"] = "complete"
    """Program that must return the output for an input: section 3.4 does not say
    which."""
    epsilon: float = Field(1e-9, gt=0)
    """Epsilon of equation 5, which leaves it open."""
    complete_wrong: Literal["left_out", "zero"] = "left_out"
    """Part in equation 5 of programs that are answered wrongly when complete; zero:
    they lose nothing."""

    def trials(self) -> Iterator[Trial]:
        """Yield the trials on every problem with every subset of its lines removed, or
        with `versions` of these subsets. Trials have no distractors. Programs of one
        line are left out.

        Only outputs are asked for if `shown` is "program" or the problems are
        SemTrace's. Raises `DataError` if all programs have one line.
        """
        tasks = self.tasks
        if self.shown == "program" or self.problems == "semtrace":
            tasks = ["output_prediction"]
        table = self.table()
        if len(self.short()) == len(table):
            raise DataError(
                f"problems = {self.problems}: no line can be removed from programs of one line; choose another set"
            )
        for task in tasks:
            for name in self.sampled(table):
                factors: dict[str, Scalar] = {"task": task}
                factors["lines"] = removable(table[name].code)
                for mask in self.masks(table[name]):
                    removed = {"removed": mask.bit_count(), "mask": mask}
                    yield Trial(name, factors | removed, self.seed)

    def not_run(self) -> tuple[NotRun, ...]:
        """Return the part of the problems whose programs have one line, if there are
        any."""
        short = self.short()
        label = f"{len(short):,} of {len(self.table()):,} programs"
        part = NotRun("problem", "", label, "no line can be removed from one")
        return (part,) if short else ()

    def short(self) -> list[str]:
        """Return the ids of the problems whose programs have one line."""
        table = self.table()
        return [name for name in table if not removable(table[name].code)]

    def masks(self, problem: Problem) -> Sequence[int]:
        """Return the bit masks of the lines of `problem` to remove: all masks, or
        `versions` of them, drawn with the seed. The mask 0, the unchanged program, is
        always among them. A program of one line has no masks."""
        lines = removable(problem.code)
        if not lines:
            return ()
        count = 2**lines
        if not self.versions or self.versions >= count:
            return range(count)
        order = rng(self.seed, "versions", problem.id).permutation(count - 1)
        masks = 1 + order[: self.versions - 1]
        return [0, *sorted(masks.tolist())]

    def table(self) -> dict[str, Problem]:
        """Return the problems, as a dict from id to problem."""
        return problems_of(self.problems, self.n_problems, self.seed)

    def incomplete(self, trial: Trial) -> Problem:
        """Return the problem of `trial` without the removed lines."""
        problem = self.table()[trial.problem]
        mask = int(trial.factors["mask"] or 0)
        return replace(problem, code=without_lines(problem.code, mask))

    def render(self, trial: Trial) -> Prompt:
        """Return the prompt of `trial`. With `shown` "program" it is the program
        itself, for the interpreter."""
        problem = self.incomplete(trial)
        if self.shown == "program":
            message = Message("user", problem.code)
            sampling = Sampling(max_tokens=1)
            return Prompt((message,), sampling, problem.call, problem.source)
        values = predicted(problem)
        values["code_block"] = problem.code
        return self.prompt(str(trial.factors["task"]), values, problem.source)

    def score(self, trial: Trial, response: Response, rule: str) -> Score:  # noqa: ARG002
        """Return the score of `response`. An input is correct if the complete program
        returns the output for it: the model should infer the effect of the missing
        lines. With `inputs_run_on` "shown", the program that was shown must return the
        output instead."""
        problem = self.table()[trial.problem]
        if self.shown == "program":
            return score_interpreted(problem, response.text)
        if self.inputs_run_on == "shown":
            problem = self.incomplete(trial)
        return self.judged(problem, str(trial.factors["task"]), response)


class LineRemoval(Sensitivity, Resampled):
    """Parameters of section 3.4 and appendix B: those of `Sensitivity`, and of the
    curves fitted for Figures 5 and 6."""

    OPEN = (*Sensitivity.OPEN, "trend", "weighted")

    trend: Literal["exponential", "exponential_with_floor"] = "exponential"
    """Curve that is fitted; the paper does not say whether its curves have a floor."""
    weighted: bool = False
    """Whether a fit weights each share of lines removed by its number of programs."""
