"""Problems of all experiments of Sense and Sensitivity, and prompts that begin the
model's answer (appendix J)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from codestress.errors import DataError
from codestress.parameters import Experiment, Interval, Parameters
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import cruxeval, known_source, own_problems
from codestress.problems.program import Problem
from codestress.prompts import filled
from codestress.scoring.begun import ReadingRule
from codestress.seeding import rng
from codestress.types import Message, Prompt, Response, Sampling, Score, Source

from .contexts import Sized, trace_problems
from .recall import SCORERS

Dataset = Annotated[str, known_source("generated", "cruxeval", "semtrace")]
"""Source of problems: a data set, the kit's own, or the name of a custom set."""
Prediction = Literal["input_prediction", "output_prediction"]
"""Task that asks for the input or the output of a call."""
PREDICTIONS = [*get_args(Prediction)]
"""All `Prediction` tasks."""


class Begun(Interval, Experiment):
    """Parameters of requests whose prompt begins the model's answer (appendix J), and
    these prompts."""

    OPEN: ClassVar[tuple[str, ...]] = ("max_tokens", "reading")

    subsample: float = Field(1.0, gt=0, le=1)
    """Share of the problems that is asked, drawn by the seed."""
    prefill: Literal["assistant", "user"] = "assistant"
    """Place of the answer's beginning; user: for models that cannot continue an
    answer."""
    reading: ReadingRule = "first_fence"
    """Part of a completion that is scored: up to its first_fence, after its
    last_assertion, or its first_line."""
    max_tokens: int = Field(256, ge=1)
    """Tokens of the longest answer; whole functions may be twice as long."""
    rule: Literal["strict"] = "strict"
    """Rule of judgement: values are compared by type, lines to the character."""

    def sampled(self, problems: Mapping[str, Problem]) -> list[str]:
        """Return the ids of a share `subsample` of the dict `problems`, at least one,
        in their order, drawn with the seed."""
        names = list(problems)
        count = max(1, round(self.subsample * len(names)))
        chosen = rng(self.seed, "subsample").permutation(len(names))[:count]
        return [names[i] for i in sorted(chosen)]

    def begun(self, task: str, values: Mapping[str, str]) -> str:
        """Return the beginning of the assistant's turn for `task`, filled in with
        `values` (a dict from placeholder to text). The result is empty if the model
        writes the beginning (`prefill` is "user")."""
        if self.prefill == "user":
            return ""
        return filled(f"{task}.prefill", values)

    def prompt(
        self,
        task: str,
        values: Mapping[str, str],
        source: Source,
        *,
        qac: bool = True,
    ) -> Prompt:
        """Return the prompt from the templates of `task` in appendix J, filled in with
        `values` (a dict from placeholder to text). The query stands after the code, and
        with `qac` also before it.

        With `prefill` "user", the user's turn states how the answer begins; otherwise
        the assistant's turn begins so. `source` is the program's origin.
        """
        names = [task]
        if qac:
            names.insert(0, f"{task}.before")
        if self.prefill == "user":
            names.append("begin_with")
            values = {**values, "begun": filled(f"{task}.prefill", values)}
        text = "\n\n".join(filled(name, values) for name in names)
        tokens = self.max_tokens
        if task == "function_retrieval":
            # A function that is repeated whole needs more room than one line.
            tokens *= 2
        sampling = Sampling(max_tokens=tokens)
        begun = self.begun(task, values)
        return Prompt((Message("user", text),), sampling, begun, source)

    def judged(self, problem: Problem, task: str, response: Response) -> Score:
        """Return the score of the `response` to the prediction `task` on `problem`."""
        begun = self.begun(task, predicted(problem))
        return SCORERS[task](problem, response, begun, self.reading)


class Resampled(Parameters):
    """Parameters of intervals from a bootstrap, with this paper's number of resamples."""

    resamples: int = Field(1000, ge=100)
    """Number of bootstrap resamples, drawn over problems."""


@cache
def problems_of(
    source: str, count: int, seed: int, digits: int = 2, digits_of: Sized = "both"
) -> dict[str, Problem]:
    """Return the first `count` problems of `source` (cruxeval, semtrace, generated, or
    the name of a custom set), as a dict from id to problem.

    `seed` matters for semtrace and generated; `digits` and `digits_of` (see
    `trace_problems`) only for semtrace. Raises `DataError` if the set is missing or
    faulty, or calls another function than f.
    """
    if source == "cruxeval":
        chosen = cruxeval()[:count]
    elif source == "semtrace":
        chosen = trace_problems(count, digits=digits, seed=seed, digits_of=digits_of)
    elif source == "generated":
        chosen = generated_problems(count, seed=seed)
    else:
        chosen = []
        for problem in own_problems(source)[:count]:
            if problem.function != "f":
                raise DataError(
                    f"problems = {source}: {problem.id} calls {problem.function}, and "
                    "the prompts of appendix J ask about f: rename it"
                )
            # A line break after the last line does not begin another line of the program.
            chosen.append(replace(problem, code=problem.code.rstrip()))
    return {problem.id: problem for problem in chosen}


def predicted(problem: Problem) -> dict[str, str]:
    """Return the values that fill in the templates of predictions for `problem`, as a
    dict from placeholder to text."""
    return {"input": problem.arguments, "output": problem.output}
