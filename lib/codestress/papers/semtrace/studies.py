"""Sense and Sensitivity: what models recall of code, and what they understand, in long contexts (semtrace).

A target function stands among unrelated ones, at one of several places; a model predicts an input or an output of it,
or retrieves it (sections 3.1-3.3), or predicts with some of its lines removed (section 3.4; the interpreter: appendix
B).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from string import Template
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field

from codestress.errors import ParameterError
from codestress.generation.prompts import prompt_text
from codestress.papers.semtrace import reading, recall
from codestress.papers.semtrace.contexts import (
    MOST_FRAGMENTS,
    Distractors,
    Mixture,
    distractors,
    line_keys,
    mix,
    removable,
    trace_problems,
    with_keys,
    without_lines,
)
from codestress.parameters import Facts, Parameters, RecomputedByDraws, Seeded, Study, for_each_model, no_questions
from codestress.problems.generated import generated_problems
from codestress.problems.problem_files import cruxeval, known_source, own_problems
from codestress.problems.program import Problem
from codestress.scoring.predictions import score_interpreted
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Message, Prompt, Response, Sampling, Score, Trial, Trials
from codestress.types import Source as ProgramSource

Source = Annotated[str, known_source("generated", "cruxeval")]
Dataset = Annotated[str, known_source("generated", "cruxeval", "semtrace")]
Prediction = Literal["input_prediction", "output_prediction"]
Task = Literal["input_prediction", "output_prediction", "function_retrieval", "line_retrieval"]
Digits = Annotated[int, Field(ge=1, le=9)]
Count = Annotated[int, Field(ge=0, le=1000)]
RETRIEVAL = ("function_retrieval", "line_retrieval")


class LineRemoval(Parameters):
    """Section 3.4 and appendix B. Defaults are the paper's for models."""

    SINGLE = ("n_problems", "subsample", "versions", "prefill", "max_tokens")

    tasks: list[Prediction] = Field(
        ["input_prediction", "output_prediction"], min_length=1, description="what is asked"
    )
    shown: Literal["prompt", "program"] = Field(
        "prompt", description="prompt: the paper's, to a model; program: as it is, to the interpreter (outputs only)"
    )
    problems: Source = Field("cruxeval", description="cruxeval: the paper's, a data set; generated: the kit's own")
    n_problems: int = Field(800, ge=1, description="how many, from the first on")
    subsample: float = Field(1.0, gt=0, le=1, description="share of them, drawn by the seed")
    versions: int = Field(0, ge=0, description="most versions of a program, drawn by the seed; 0: all (the paper)")
    prefill: Literal["assistant", "user"] = Field(
        "assistant", description="where the answer's beginning stands; user: for models that cannot continue one"
    )
    max_tokens: int = Field(256, ge=1, description="longest answer")
    trend: Literal["exponential", "exponential_with_floor"] = Field(
        "exponential", description="the curve that is fitted; the paper does not say whether its curves have a floor"
    )
    weighted: bool = Field(False, description="weight each share of lines removed by its number of programs")
    epsilon: float = Field(1e-9, gt=0, description="of equation 5, which leaves it open")
    rule: Literal["strict"] = Field("strict", description="values are compared by type")
    resamples: int = Field(1000, ge=100, description="of the bootstrap over problems")


class Questions(Parameters):
    """Sections 3.1 to 3.3 and appendices A, C, D. Defaults are the paper's."""

    SINGLE = ("n_problems", "subsample", "prefill", "max_tokens")

    recheck: int = Field(
        0, ge=0, description="questions that each model is asked once more, to see whether it says the same here"
    )
    tasks: list[Task] = Field(["input_prediction", "output_prediction"], min_length=1, description="what is asked")
    problems: list[Dataset] = Field(
        ["cruxeval"], min_length=1, description="cruxeval, semtrace (outputs only), or generated: the kit's own"
    )
    n_problems: int = Field(800, ge=1, description="how many of each, from the first on")
    subsample: float = Field(1.0, gt=0, le=1, description="share of them, drawn by the seed")
    digits: list[Digits] = Field([2], min_length=1, description="of the numbers in SemTrace")
    distractors: list[Count] = Field(
        [20, 40, 60, 80], min_length=1, description="unrelated functions around the target"
    )
    distractor_source: Distractors = Field(
        "codesearchnet", description="codesearchnet: a data set; installed: functions of the kit's own packages"
    )
    matched: Literal["count", "tokens"] = Field(
        "count", description="tokens: as many functions as make up distractor_tokens for each that is asked for"
    )
    distractor_tokens: int = Field(200, ge=10, description="length of the paper's average distractor")
    positions: int = Field(11, ge=1, description="positions of the target, equally spaced")
    fragments: int = Field(1, ge=1, le=MOST_FRAGMENTS, description="parts the target is cut into (the paper: 1)")
    qac: list[bool] = Field([True], min_length=1, description="the query stands before the code as well as after it")
    keys: list[bool] = Field([False], min_length=1, description="hexadecimal keys before all lines, in predictions too")
    prefill: Literal["assistant", "user"] = Field(
        "assistant", description="where the answer's beginning stands; user: for models that cannot continue one"
    )
    max_tokens: int = Field(256, ge=1, description="longest answer; functions may be twice as long")
    metrics: list[Literal["strict", "partial"]] = Field(
        ["strict"], min_length=1, description="partial: the share of right elements (SemTrace)"
    )
    rule: Literal["strict"] = Field("strict", description="values are compared by type, lines to the character")
    resamples: int = Field(1000, ge=100, description="of the bootstrap over problems")


class Positions(Questions):
    """Figures by the position of the target."""

    show: Literal["accuracy", "unresolved"] = Field(
        "accuracy", description="unresolved: the share of answers with arithmetic left in"
    )
    relative: bool = Field(False, description="accuracies relative to each curve's maximum")


@cache
def problems_of(source: str, count: int, seed: int, digits: int = 2) -> dict[str, Problem]:
    """The first problems of a source, by id."""
    if source == "cruxeval":
        chosen = cruxeval()[:count]
    elif source == "semtrace":
        chosen = trace_problems(count, digits=digits, seed=seed)
    elif source == "generated":
        chosen = generated_problems(count, seed=seed)
    else:
        chosen = own_problems(source)[:count]
    return {problem.id: problem for problem in chosen}


@for_each_model
def target_positions(given: Questions) -> Trials:
    """Every task on every problem at every place in every context.

    A problem has the same distractors in the same order for all of them, and the 20 are the first of the 40. Without
    distractors there is one place.
    """
    trials = [
        Trial(
            problem=name,
            factors={
                "dataset": dataset,
                "digits": size,
                "task": task,
                "qac": both_sides,
                "keys": keyed,
                "distractors": count,
                "position": position,
                "depth": position / (given.positions - 1) if given.positions > 1 else 0.0,
            },
            seed=given.seed,
        )
        for dataset in given.problems
        for size in (given.digits if dataset == "semtrace" else given.digits[:1])
        for name in _drawn(problems_of(dataset, given.n_problems, given.seed, size), given.subsample, given.seed)
        for task in (("output_prediction",) if dataset == "semtrace" else given.tasks)
        for both_sides in given.qac
        for keyed in ((True,) if task in RETRIEVAL else given.keys)
        for count in given.distractors
        for position in (range(given.positions) if count else (0,))
    ]

    def problem_of(trial: Trial) -> Problem:
        dataset = str(trial.factors["dataset"])
        return problems_of(dataset, given.n_problems, given.seed, int(trial.factors["digits"] or 2))[trial.problem]

    def render(trial: Trial) -> Prompt:
        problem, task = problem_of(trial), str(trial.factors["task"])
        count = int(trial.factors["distractors"] or 0)
        mixed, others = in_context(given, problem, count, int(trial.factors["position"] or 0))
        if trial.factors["keys"]:
            mixed = with_keys(mixed, _keys(problem, others, trial.seed))
        shown = _query(problem, task, trial.seed) | {"code_block": mixed.text}
        sampling = Sampling(max_tokens=2 * given.max_tokens if task == "function_retrieval" else given.max_tokens)
        # A reader may take a distractor's line for the target's, so the program is a stranger's when they are.
        foreign = count and given.distractor_source == "codesearchnet"
        source = ProgramSource.STRANGER if foreign else problem.source
        return _prompt(task, shown, sampling, source=source, qac=bool(trial.factors["qac"]), prefill=given.prefill)

    def strict(trial: Trial, response: Response) -> Score:
        problem, task = problem_of(trial), str(trial.factors["task"])
        if task in RETRIEVAL:
            return recall.score_retrieval(*_wanted(problem, task, trial.seed), response)
        return recall.score_completion(problem, task, response)

    def partial(trial: Trial, response: Response) -> Score:
        if trial.factors["dataset"] != "semtrace":
            return strict(trial, response)
        return recall.score_partial_trace(problem_of(trial), response)

    def chance(trial: Trial, prompt: Prompt, settings: Mapping[str, Any]) -> float | None:
        problem, task = problem_of(trial), str(trial.factors["task"])
        if task in RETRIEVAL:
            return reading.retrieved(prompt, settings, *_wanted(problem, task, trial.seed))
        return reading.predicted(problem, prompt, settings, task)

    judges = {"strict": strict} | ({"partial": partial} if "semtrace" in given.problems else {})
    return Trials(trials, render, judges, chance=chance)


def _drawn(problems: Mapping[str, Problem], share: float, seed: int) -> list[str]:
    """The problems of a seeded subsample, in their order."""
    names = list(problems)
    count = max(1, round(share * len(names)))
    chosen = rng(seed, "subsample").permutation(len(names))[:count]
    return [names[int(i)] for i in sorted(chosen)]


def in_context(given: Questions, problem: Problem, count: int, position: int) -> tuple[Mixture, tuple[str, ...]]:
    """A problem's program at a position among so many distractors, and these."""
    tokens = given.distractor_tokens if given.matched == "tokens" else None
    others = distractor_context(problem.id, count, given.distractor_source, tokens, given.seed)
    mixed = mix(problem.code, others, position=position, positions=given.positions, fragments=given.fragments)
    return mixed, others


@lru_cache(maxsize=256)
def distractor_context(problem: str, count: int, source: Distractors, tokens: int | None, seed: int) -> tuple[str, ...]:
    """The first `count` distractors of a problem; with `tokens`, as many as have that many tokens for each of them."""
    if not count:
        return ()
    pool = distractors(source)
    functions = [pool[int(i)] for i in rng(seed, "distractors", source, problem).permutation(len(pool))]
    wanted = count
    if tokens is not None:
        lengths = np.cumsum([len(code) + 2 for code in functions])
        wanted = 1 + int(np.searchsorted(lengths, count * tokens * CHARACTERS_PER_TOKEN))
    if wanted > len(pool):
        raise ParameterError(
            f"distractors = {count}: {source} has only {len(pool)} functions of a fitting length; "
            "ask for fewer, or take another distractor_source"
        )
    return tuple(functions[:wanted])


@lru_cache(maxsize=64)
def _keys(problem: Problem, others: tuple[str, ...], seed: int) -> dict[tuple[int, int], str]:
    return line_keys(rng(seed, "keys", problem.id, problem.code), [problem.code, *others])


def _wanted(problem: Problem, task: str, seed: int) -> tuple[list[str], list[str]]:
    """The lines that are to be retrieved, and their keys: all, or any one that is not blank."""
    keys, every = _keys(problem, (), seed), list(enumerate(problem.code.split("\n")))
    shown = [(number, line) for number, line in every if line.strip()]
    chosen = [shown[int(rng(seed, "line", problem.id).integers(len(shown)))]] if task == "line_retrieval" else every
    return [line for _, line in chosen], [keys[-1, number] for number, _ in chosen]


def _query(problem: Problem, task: str, seed: int) -> dict[str, str]:
    """What the templates of a task ask about."""
    if task not in RETRIEVAL:
        return {"input": problem.arguments, "output": problem.output}
    _, keys = _wanted(problem, task, seed)
    return {"start": keys[0], "end": keys[-1], "key": keys[0]}


def _prompt(
    task: str,
    shown: Mapping[str, str],
    sampling: Sampling,
    *,
    source: ProgramSource = ProgramSource.STRANGER,
    qac: bool = True,
    prefill: str = "assistant",
) -> Prompt:
    """A template of appendix J, filled in; without `qac` the query stands only after the code.

    With `prefill` in the user's turn the model is told how its answer begins, and writes all of it.
    """
    parts = [f"{task}.before", task] if qac else [task]
    text = "\n\n".join(Template(prompt_text(part)).substitute(shown) for part in parts)
    begun = Template(prompt_text(f"{task}.prefill")).substitute(shown)
    if prefill == "user":
        told = Template(prompt_text("begin_with")).substitute(begun=begun)
        return Prompt((Message("user", f"{text}\n\n{told}"),), sampling, source=source)
    return Prompt((Message("user", text),), sampling, begun, source)


@for_each_model
def line_removal(given: LineRemoval) -> Trials:
    """Every problem with every subset of its lines removed, without distractors.

    An input is right when the complete program returns the output for it: what is asked is what the lines that are
    missing would do too. (The paper does not say on which program an input is run.)
    """
    table = problems_of(given.problems, given.n_problems, given.seed)
    drawn = [table[name] for name in _drawn(table, given.subsample, given.seed)]
    trials = [
        Trial(
            problem=problem.id,
            factors={"task": task, "lines": lines, "removed": mask.bit_count(), "mask": mask},
            seed=given.seed,
        )
        for task in (given.tasks if given.shown == "prompt" else ["output_prediction"])
        for problem in drawn
        if (lines := removable(problem.code)) > 0
        for mask in _masks(problem, given.versions, given.seed)
    ]

    def render(trial: Trial) -> Prompt:
        problem = table[trial.problem]
        code = without_lines(problem.code, int(trial.factors["mask"] or 0))
        if given.shown == "program":
            return Prompt((Message("user", code),), Sampling(max_tokens=1), problem.call, problem.source)
        task, sampling = str(trial.factors["task"]), Sampling(max_tokens=given.max_tokens)
        shown = _query(problem, task, trial.seed) | {"code_block": code}
        return _prompt(task, shown, sampling, source=problem.source, prefill=given.prefill)

    def strict(trial: Trial, response: Response) -> Score:
        problem = table[trial.problem]
        if given.shown == "program":
            return score_interpreted(problem, response.text)
        return recall.score_completion(problem, str(trial.factors["task"]), response)

    def chance(trial: Trial, prompt: Prompt, settings: Mapping[str, Any]) -> float | None:
        task, removed = str(trial.factors["task"]), int(trial.factors["mask"] or 0)
        return reading.predicted(table[trial.problem], prompt, settings, task, removed)

    return Trials(trials, render, {"strict": strict}, chance=chance)


def _masks(problem: Problem, versions: int, seed: int) -> list[int]:
    """The subsets of lines to remove; a drawn part of them keeps the untouched program."""
    masks = range(2 ** removable(problem.code))
    if not versions or versions >= len(masks):
        return [*masks]
    drawn = rng(seed, "versions", problem.id).permutation(len(masks) - 1)[: versions - 1]
    return [0, *sorted(int(i) + 1 for i in drawn)]


class Templates(Seeded):
    """Appendix J: the prompts, rendered on one problem; nothing is asked."""

    problems: Source = Field("cruxeval", description="cruxeval: the paper's, a data set; generated: the kit's own")
    problem: int = Field(0, ge=0, description="number of the problem")
    distractors: list[Count] = Field([0, 20, 80], min_length=1, description="unrelated functions around the target")
    distractor_source: Distractors = Field("codesearchnet", description="as for the figures")
    rule: Literal["strict"] = Field("strict", description="nothing is judged")


class Registry(Facts):
    """Appendices F and G: what the registry says of the models; nothing is asked."""

    show: Literal["licences", "architecture"] = Field("licences", description="which table")
    longest_context: int = Field(30_810, ge=1000, description="tokens; the paper: approximately 31k")
    rule: Literal["strict"] = Field("strict", description="nothing is judged")


def rendered_templates(given: Templates) -> list[tuple[str, int, Prompt]]:
    """Task, number of distractors and prompt, for all four templates on one problem, the target in the middle."""
    asked = {"artefact": given.artefact, "models": given.models, "seed": given.seed, "tasks": [*get_args(Task)]}
    asked |= {"problems": [given.problems], "n_problems": given.problem + 1, "positions": 3}
    asked |= {"distractors": given.distractors, "distractor_source": given.distractor_source}
    trials = target_positions(Questions.model_validate(asked))
    last = trials.items[-1].problem
    return [
        (str(trial.factors["task"]), int(trial.factors["distractors"] or 0), trials.render(trial))
        for trial in trials.items
        if trial.problem == last and (trial.factors["position"] == 1 or not trial.factors["distractors"])
    ]


STUDIES = {
    "line_removal": Study(LineRemoval, line_removal),
    "published": Study(RecomputedByDraws, no_questions),
    "templates": Study(Templates, no_questions),
    "registry": Study(Registry, no_questions),
    "target_positions": Study(Positions, target_positions),
    "baselines": Study(Questions, target_positions),
}
"""What params/semtrace/*.yaml may name as `study: semtrace.NAME`."""
