"""Studies of Sense and Sensitivity: what models recall of code, and what they understand, in long
contexts (semtrace).

A target function stands among unrelated functions, at one of several positions. A model predicts an
input or an output of the target, or retrieves the target (sections 3.1-3.3), or predicts with some
of the target's lines removed (section 3.4; the interpreter: appendix B).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import product
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
from pydantic import Field

from codestress.errors import ParameterError
from codestress.papers.semtrace import recall
from codestress.papers.semtrace.contexts import (
    MOST_FRAGMENTS,
    SEPARATORS,
    Distractors,
    Mixture,
    Separator,
    Shown,
    Sized,
    distractors,
    line_keys,
    mix,
    removable,
    trace_problems,
    with_keys,
    without_lines,
)
from codestress.papers.semtrace.parameters import Registry
from codestress.parameters import (
    Alike,
    Interval,
    Parameters,
    RecomputedByDraws,
    Seeded,
    Study,
    for_each_model,
    no_questions,
)
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import cruxeval, known_source, own_problems
from codestress.problems.program import Problem
from codestress.prompts import filled
from codestress.scoring.begun import ReadingRule
from codestress.scoring.predictions import score_interpreted
from codestress.seeding import rng
from codestress.types import (
    CHARACTERS_PER_TOKEN,
    Message,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Trial,
    Trials,
)
from codestress.types import Source as ProgramSource

Source = Annotated[str, known_source("generated", "cruxeval")]
Dataset = Annotated[str, known_source("generated", "cruxeval", "semtrace")]
Prediction = Literal["input_prediction", "output_prediction"]
Task = Literal[
    "input_prediction", "output_prediction", "function_retrieval", "line_retrieval"
]
Digits = Annotated[int, Field(ge=1, le=9)]
Count = Annotated[int, Field(ge=0, le=1000)]
Counts = Annotated[
    list[Count],
    Field(min_length=1, description="unrelated functions around the target"),
]
Matched = Literal["count", "tokens"]
Subsample = Annotated[
    float, Field(gt=0, le=1, description="share of them, drawn by the seed")
]
Prefill = Annotated[
    Literal["assistant", "user"],
    Field(
        description="where the answer's beginning stands; user: for models that cannot continue one"
    ),
]
Reading = Annotated[
    ReadingRule,
    Field(
        description="the part of a completion that is scored: up to its first_fence, after its last_assertion, "
        "or its first_line"
    ),
]
RETRIEVAL = ("function_retrieval", "line_retrieval")


class Sensitivity(Interval):
    """Parameters of sections 2.4 and 3.4: the requests about programs with lines removed, and
    Equation 5 (its `epsilon` and `complete_wrong`). The defaults are the paper's for models."""

    SINGLE = ("n_problems", "subsample", "versions", "shown", "prefill", "max_tokens")
    OPEN: ClassVar[tuple[str, ...]] = (
        "max_tokens",
        "reading",
        "inputs_run_on",
        "epsilon",
        "complete_wrong",
    )

    tasks: list[Prediction] = Field(
        ["input_prediction", "output_prediction"],
        min_length=1,
        description="what is asked",
    )
    shown: Literal["prompt", "program"] = Field(
        "prompt",
        description="prompt: the paper's, to a model; program: as it is, to the interpreter (outputs only)",
    )
    problems: Dataset = Field(
        "cruxeval",
        description="cruxeval: the paper's, a data set; semtrace (outputs only); generated: the kit's own",
    )
    n_problems: int = Field(800, ge=1, description="how many, from the first on")
    subsample: Subsample = 1.0
    versions: int = Field(
        0,
        ge=0,
        description="most versions of a program, drawn by the seed; 0: all (the paper)",
    )
    prefill: Prefill = "assistant"
    reading: Reading = "first_fence"
    max_tokens: int = Field(256, ge=1, description="longest answer")
    inputs_run_on: Literal["complete", "shown"] = Field(
        "complete",
        description="the program that must return the output for an input: section 3.4 does not say which",
    )
    epsilon: float = Field(
        1e-9, gt=0, description="of equation 5, which leaves it open"
    )
    complete_wrong: Literal["left_out", "zero"] = Field(
        "left_out",
        description="programs answered wrongly when complete, in equation 5; zero: nothing is lost of them",
    )
    rule: Literal["strict"] = Field("strict", description="values are compared by type")


class LineRemoval(Sensitivity, Parameters):
    """Parameters of section 3.4 and appendix B: those of `Sensitivity`, and of the curves fitted
    for Figures 5 and 6."""

    OPEN = (*Sensitivity.OPEN, "trend", "weighted")

    trend: Literal["exponential", "exponential_with_floor"] = Field(
        "exponential",
        description="the curve that is fitted; the paper does not say whether its curves have a floor",
    )
    weighted: bool = Field(
        False,
        description="weight each share of lines removed by its number of programs",
    )
    resamples: int = Field(1000, ge=100, description="of the bootstrap over problems")


class Contexts(Interval):
    """Parameters of the requests in sections 3.1 to 3.3 and appendices A, C, D. The defaults are
    the paper's."""

    SINGLE = ("n_problems", "subsample", "prefill", "max_tokens")
    OPEN: ClassVar[tuple[str, ...]] = (
        "digits_of",
        "redrawn",
        "blank_between",
        "key_separator",
        "keyed_blank",
        "line_asked",
        "wrong_length",
        "max_tokens",
        "reading",
    )
    ALIKE = (
        Alike(
            "functions of CodeSearchNet, of about 200 tokens",
            (
                {
                    "distractor_source": "cosqa",
                    "matched": "tokens",
                    "distractor_tokens": 200,
                },
                {
                    "distractor_source": "codesearchnet",
                    "matched": "tokens",
                    "distractor_tokens": 200,
                },
                {"distractor_source": "codesearchnet", "matched": "count"},
            ),
        ),
    )

    tasks: list[Task] = Field(
        ["input_prediction", "output_prediction"],
        min_length=1,
        description="what is asked",
    )
    problems: list[Dataset] = Field(
        ["cruxeval"],
        min_length=1,
        description="cruxeval, semtrace (outputs only), or generated: the kit's own",
    )
    n_problems: int = Field(
        800, ge=1, description="how many of each, from the first on"
    )
    subsample: Subsample = 1.0
    digits: list[Digits] = Field(
        [2], min_length=1, description="of the numbers in SemTrace"
    )
    digits_of: Sized = Field(
        "both", description="which numbers have them: x, y (the other has two), or both"
    )
    distractors: Counts = [20, 40, 60, 80]
    distractor_source: Distractors = Field(
        "cosqa",
        description="codesearchnet, cosqa (its short functions): data sets; installed: functions of the kit's packages",
    )
    matched: Matched = Field(
        "tokens",
        description="tokens: as many functions as make up distractor_tokens for each that is asked for",
    )
    distractor_tokens: int = Field(
        200, ge=10, description="length of the paper's average distractor"
    )
    redrawn: bool = Field(
        False,
        description="other distractors at each position; off: a problem has the same ones",
    )
    blank_between: bool = Field(True, description="a blank line between functions")
    positions: int = Field(
        11, ge=1, description="positions of the target, equally spaced"
    )
    fragments: int = Field(
        1,
        ge=1,
        le=MOST_FRAGMENTS,
        description="parts the target is cut into (the paper: 1)",
    )
    qac: list[bool] = Field(
        [True],
        min_length=1,
        description="the query stands before the code as well as after it",
    )
    keys: list[bool] = Field(
        [False],
        min_length=1,
        description="hexadecimal keys before all lines, in predictions too",
    )
    key_separator: Separator = Field("space", description="between a key and its line")
    keyed_blank: bool = Field(True, description="blank lines have keys too")
    line_asked: Literal["any", "body"] = Field(
        "any",
        description="any: a line of the target that is not blank; body: nor its first",
    )
    prefill: Prefill = "assistant"
    reading: Reading = "first_fence"
    max_tokens: int = Field(
        256, ge=1, description="longest answer; functions may be twice as long"
    )
    wrong_length: Literal["zero", "by_position"] = Field(
        "zero",
        description="what a list of another length is worth in part; by_position: right elements of the longer",
    )
    rule: Literal["strict"] = Field(
        "strict", description="values are compared by type, lines to the character"
    )


class Questions(Contexts, Parameters):
    """Parameters of the requests (as in `Contexts`), and of the summary of their scores: its
    `metrics` and the number of bootstrap `resamples`."""

    metrics: list[Literal["strict", "partial"]] = Field(
        ["strict"],
        min_length=1,
        description="partial: the share of right elements (SemTrace)",
    )
    resamples: int = Field(1000, ge=100, description="of the bootstrap over problems")


class Positions(Questions):
    """Parameters of figures by the position of the target: those of `Questions`, and what is
    drawn."""

    show: Literal["accuracy", "unresolved"] = Field(
        "accuracy",
        description="unresolved: the share of answers with arithmetic left in",
    )
    relative: bool = Field(
        False, description="accuracies relative to each curve's maximum"
    )


class Recall(Contexts):
    """Parameters of lexical against semantic recall, by model (section 3.3): those of `Contexts`,
    and its `places`, the positions that count."""

    OPEN = (*Contexts.OPEN, "places")

    places: Literal["all", "middle"] = Field(
        "all",
        description="positions that a model's recall is the mean of; middle: of the middle third",
    )


@cache
def problems_of(
    source: str, count: int, seed: int, digits: int = 2, digits_of: Sized = "both"
) -> dict[str, Problem]:
    """Dict by id of the first `count` problems of `source`: cruxeval, semtrace, generated, or the
    name of a custom set.

    `seed` matters for semtrace and generated, `digits` and `digits_of` (see `trace_problems`) for
    semtrace alone. `DataError` when the set is not at hand or faulty.
    """
    if source == "cruxeval":
        chosen = cruxeval()[:count]
    elif source == "semtrace":
        chosen = trace_problems(count, digits=digits, seed=seed, digits_of=digits_of)
    elif source == "generated":
        chosen = generated_problems(count, seed=seed)
    else:
        chosen = own_problems(source)[:count]
    return {problem.id: problem for problem in chosen}


@for_each_model
def target_positions(given: Contexts) -> Trials:
    """Trials of every task in `given` on every problem, at every position in every context, with
    scorers `strict` and, for SemTrace, `partial`. SemTrace is asked for outputs alone.

    A problem has the same distractors in the same order in all trials (unless `given.redrawn`:
    others at each position), and its 20 distractors are the first of its 40. Without distractors
    there is one position.
    """
    judges = {"strict": partial(_score_target, given)}
    if "semtrace" in given.problems:
        judges["partial"] = partial(_score_target, given, in_part=True)
    return Trials(
        list(_trials_by_position(given)), partial(_target_prompt, given), judges
    )


def _trials_by_position(given: Contexts) -> Iterator[Trial]:
    for dataset in given.problems:
        tasks = ("output_prediction",) if dataset == "semtrace" else given.tasks
        digits = given.digits if dataset == "semtrace" else given.digits[:1]
        for size in digits:
            names = _drawn(
                target_problems(given, dataset, size), given.subsample, given.seed
            )
            conditions = [
                {"dataset": dataset, "digits": size, "task": task, "qac": qac, **place}
                for task, qac in product(tasks, given.qac)
                for place in _places(given, task)
            ]
            for name, factors in product(names, conditions):
                yield Trial(name, factors, given.seed)


def _places(given: Contexts, task: str) -> Iterator[dict[str, Scalar]]:
    """Yield the factors of the target's position for `task` as dicts: keys (whether lines have
    keys; always for a retrieval), distractors (number), position (index from 0), depth (0 to 1)."""
    last = given.positions - 1
    # A line of a function is found by its key, so these tasks have keys in any case.
    for keyed in (True,) if task in RETRIEVAL else given.keys:
        for count in given.distractors:
            for position in range(given.positions) if count else (0,):
                depth = position / last if last else 0.0
                yield {
                    "keys": keyed,
                    "distractors": count,
                    "position": position,
                    "depth": depth,
                }


def _asked(given: Contexts, trial: Trial) -> tuple[Problem, str]:
    """Pair of the problem and the name of the task that `trial` asks for, found by its factors."""
    dataset, digits = str(trial.factors["dataset"]), int(trial.factors["digits"] or 2)
    problem = target_problems(given, dataset, digits)[trial.problem]
    return problem, str(trial.factors["task"])


def _target_prompt(given: Contexts, trial: Trial) -> Prompt:
    problem, task = _asked(given, trial)
    count = int(trial.factors["distractors"] or 0)
    position, keyed = int(trial.factors["position"] or 0), bool(trial.factors["keys"])
    mixed = in_context(given, problem, count, position, keyed=keyed)
    query = _query(given, problem, task, trial.seed) | {"code_block": mixed.text}
    # A function that is repeated whole needs more room than one line.
    room = 2 if task == "function_retrieval" else 1
    # A reader may take a distractor's line for the target's, so the program is a stranger's when they are.
    foreign = count and given.distractor_source != "installed"
    return _prompt(
        task,
        query,
        Sampling(max_tokens=room * given.max_tokens),
        ProgramSource.STRANGER if foreign else problem.source,
        given.prefill,
        qac=bool(trial.factors["qac"]),
    )


def _score_target(
    given: Contexts, trial: Trial, response: Response, *, in_part: bool = False
) -> Score:
    """Score of `response`, the answer to a `trial` of `target_positions`; with `in_part` the score
    of a SemTrace list is the share of its correct values, else 1 only for the whole list."""
    problem, task = _asked(given, trial)
    begun = _begun(task, _query(given, problem, task, trial.seed), given.prefill)
    if task in RETRIEVAL:
        wanted = _wanted(given, problem, task, trial.seed)
        return recall.score_retrieval(
            *wanted, response, begun, SEPARATORS[given.key_separator]
        )
    if in_part and trial.factors["dataset"] == "semtrace":
        any_length = given.wrong_length == "by_position"
        return recall.score_partial_trace(
            problem, response, begun, given.reading, any_length=any_length
        )
    return recall.score_completion(problem, task, response, begun, given.reading)


def target_problems(given: Contexts, dataset: str, digits: int) -> dict[str, Problem]:
    """Dict by id of the problems of one data set (`dataset`) that a study with the parameters
    `given` asks about; `digits` are those of SemTrace's numbers."""
    return problems_of(dataset, given.n_problems, given.seed, digits, given.digits_of)


def _drawn(problems: Mapping[str, Problem], share: float, seed: int) -> list[str]:
    """List of the ids of a subsample of the dict `problems`, drawn by `seed`: the share `share` (0
    to 1) of the problems and at least one, in their order."""
    names = list(problems)
    count = max(1, round(share * len(names)))
    chosen = rng(seed, "subsample").permutation(len(names))[:count]
    return [names[i] for i in sorted(chosen)]


def in_context(
    given: Contexts, problem: Problem, count: int, position: int, *, keyed: bool = False
) -> Mixture:
    """`Mixture` with the program of `problem` at index `position` (0 first) among its distractors,
    each line after its key if `keyed`. `count` distractors are asked for; `given` sets how they are
    counted, drawn and mixed."""
    tokens = given.distractor_tokens if given.matched == "tokens" else None
    drawn_for = f"{problem.id}, position {position}" if given.redrawn else problem.id
    others = distractor_context(
        drawn_for, count, given.distractor_source, tokens, given.seed
    )
    return mix(
        _shown(
            problem,
            others,
            given.seed,
            keyed and given.key_separator,
            given.keyed_blank,
        ),
        position=position,
        positions=given.positions,
        fragments=given.fragments,
        blank_between=given.blank_between,
    )


@lru_cache(maxsize=16)  # a problem's positions and tasks show the same functions
def _shown(
    problem: Problem,
    others: tuple[str, ...],
    seed: int,
    separator: Separator | Literal[False],
    blank: bool,
) -> list[Shown]:
    """Functions of a context, the program of `problem` first; with keys drawn by `seed` if
    `separator` is not False, before blank lines too if `blank`."""
    functions = (problem.code, *others)
    if not separator:
        return [*map(Shown, functions)]
    return with_keys(functions, _keys(problem, others, seed), separator, blank)


@lru_cache(maxsize=256)
def distractor_context(
    problem: str, count: int, source: Distractors, tokens: int | None, seed: int
) -> tuple[str, ...]:
    """Source texts, as a tuple, of the first `count` distractors of the problem with the id
    `problem`, drawn from `source` by `seed` and this id; empty for 0.

    With `tokens` not None, the number of functions is chosen so that they have about `count *
    tokens` tokens together. `ParameterError` where the source has too few functions.
    """
    if not count:
        return ()
    pool = distractors(source)
    order = rng(seed, "distractors", source, problem).permutation(len(pool))
    functions = [pool[i] for i in order]
    wanted = count
    if tokens is not None:
        lengths = np.cumsum([len(code) + 2 for code in functions])
        wanted = 1 + int(
            np.searchsorted(lengths, count * tokens * CHARACTERS_PER_TOKEN)
        )
    if wanted > len(pool):
        raise ParameterError(
            f"distractors = {count}: {source} has only {len(pool)} functions of a fitting length; "
            "ask for fewer, or take another distractor_source"
        )
    return tuple(functions[:wanted])


@lru_cache(maxsize=64)
def _keys(
    problem: Problem, others: tuple[str, ...], seed: int
) -> dict[tuple[int, int], str]:
    return line_keys(
        rng(seed, "keys", problem.id, problem.code), [problem.code, *others]
    )


def _wanted(
    given: Contexts, problem: Problem, task: str, seed: int
) -> tuple[list[str], list[str]]:
    """Pair of lists: the lines to retrieve for `task` (all of the function of `problem`, or for
    `line_retrieval` one drawn by `seed`), and their keys; the key of a blank line is empty unless
    `given.keyed_blank`."""
    keys, lines = _keys(problem, (), seed), problem.code.split("\n")
    numbers = list(range(len(lines)))
    if task == "line_retrieval":
        shown = [number for number in numbers if lines[number].strip()]
        if given.line_asked == "body" and len(shown) > 1:
            shown = shown[1:]
        numbers = [shown[rng(seed, "line", problem.id).integers(len(shown))]]
    wanted = [lines[number] for number in numbers]
    keyed = [
        keys[-1, number] if given.keyed_blank or lines[number].strip() else ""
        for number in numbers
    ]
    return wanted, keyed


def _query(given: Contexts, problem: Problem, task: str, seed: int) -> dict[str, str]:
    """Values by which the templates of `task` are filled in for `problem`, as a dict by
    placeholder: input and output for a prediction, the keys start, end and key for a retrieval."""
    if task not in RETRIEVAL:
        return _predicted(problem)
    _, keys = _wanted(given, problem, task, seed)
    given_keys = [key for key in keys if key]
    return {"start": given_keys[0], "end": given_keys[-1], "key": given_keys[0]}


def _predicted(problem: Problem) -> dict[str, str]:
    return {"input": problem.arguments, "output": problem.output}


def _prompt(
    task: str,
    shown: Mapping[str, str],
    sampling: Sampling,
    source: ProgramSource = ProgramSource.STRANGER,
    prefill: str = "assistant",
    *,
    qac: bool = True,
) -> Prompt:
    """Prompt from the templates of `task` in appendix J, filled in by `shown` (text by
    placeholder); without `qac` the query stands only after the code, else also before.

    With `prefill` "user" the user's turn states how the answer begins, and the model writes all of
    it; else the assistant's turn begins so. `source` is the program's origin.
    """
    parts = [f"{task}.before", task] if qac else [task]
    if prefill == "user":
        parts.append("begin_with")
        shown = {**shown, "begun": _begun(task, shown, "assistant")}
    text = "\n\n".join(filled(part, shown) for part in parts)
    return Prompt(
        (Message("user", text),), sampling, _begun(task, shown, prefill), source
    )


def _begun(task: str, shown: Mapping[str, str], prefill: str) -> str:
    """Text of the beginning of the assistant's turn for `task`, filled in by `shown` (text by
    placeholder); empty when `prefill` is "user" and the model writes the beginning."""
    return "" if prefill == "user" else filled(f"{task}.prefill", shown)


@for_each_model
def line_removal(given: Sensitivity) -> Trials:
    """Trials on every problem with every subset of its lines removed, or `given.versions` of them,
    without distractors. Programs of one line are left out.

    An input is correct when the complete program returns the output for it: the model should infer
    the effect of the missing lines. With `given.inputs_run_on` "shown" the program that was shown
    must return the output. With `given.shown` "program" the prompt is the program, for the
    interpreter; then, and for SemTrace, only outputs are asked for.
    """
    table = problems_of(given.problems, given.n_problems, given.seed)
    versions: list[tuple[str, dict[str, Scalar]]] = []
    for name in _drawn(table, given.subsample, given.seed):
        lines = removable(table[name].code)
        for mask in _masks(table[name], given.versions, given.seed) if lines else ():
            versions.append(
                (name, {"lines": lines, "removed": mask.bit_count(), "mask": mask})
            )
    both = given.shown == "prompt" and given.problems != "semtrace"
    trials = [
        Trial(name, {"task": task, **version}, given.seed)
        for task in (given.tasks if both else ["output_prediction"])
        for name, version in versions
    ]

    def incomplete(trial: Trial) -> Problem:
        problem = table[trial.problem]
        return replace(
            problem, code=without_lines(problem.code, int(trial.factors["mask"] or 0))
        )

    def render(trial: Trial) -> Prompt:
        problem = incomplete(trial)
        if given.shown == "program":
            return Prompt(
                (Message("user", problem.code),),
                Sampling(max_tokens=1),
                problem.call,
                problem.source,
            )
        task, sampling = (
            str(trial.factors["task"]),
            Sampling(max_tokens=given.max_tokens),
        )
        shown = _predicted(problem) | {"code_block": problem.code}
        return _prompt(task, shown, sampling, problem.source, given.prefill)

    def strict(trial: Trial, response: Response) -> Score:
        problem = table[trial.problem]
        if given.shown == "program":
            return score_interpreted(problem, response.text)
        task = str(trial.factors["task"])
        begun = _begun(task, _predicted(problem), given.prefill)
        if task == "input_prediction" and given.inputs_run_on == "shown":
            problem = incomplete(trial)
        return recall.score_completion(problem, task, response, begun, given.reading)

    return Trials(trials, render, {"strict": strict})


def _masks(problem: Problem, versions: int, seed: int) -> list[int]:
    """List of bit masks (ints) of the lines of `problem` to remove: all masks, or `versions` of
    them (0: all) drawn by `seed`, among them always 0, the unchanged program."""
    masks = range(2 ** removable(problem.code))
    if not versions or versions >= len(masks):
        return [*masks]
    drawn = rng(seed, "versions", problem.id).permutation(len(masks) - 1)[
        : versions - 1
    ]
    return [0, *sorted(int(i) + 1 for i in drawn)]


class Templates(Seeded):
    """Parameters of appendix J: the prompts, rendered on the problem with the number `problem`, for
    each number of `distractors` (unrelated functions), without requests."""

    problems: Source = Field(
        "cruxeval",
        description="cruxeval: the paper's, a data set; generated: the kit's own",
    )
    problem: int = Field(0, ge=0, description="number of the problem")
    distractors: Counts = [0, 20, 80]
    distractor_source: Distractors = Field("cosqa", description="as for the figures")
    matched: Matched = Field("tokens", description="as for the figures")
    rule: Literal["strict"] = Field("strict", description="nothing is judged")


def rendered_templates(given: Templates) -> list[tuple[str, int, Prompt]]:
    """List of triples of task, number of distractors and prompt, for all four templates on the
    problem with the number `given.problem`, with the target in the middle of its distractors."""
    values = {
        "artefact": given.artefact,
        "models": given.models,
        "seed": given.seed,
        "tasks": [*get_args(Task)],
        "problems": [given.problems],
        "n_problems": given.problem + 1,
        "positions": 3,
        "distractors": given.distractors,
        "distractor_source": given.distractor_source,
        "matched": given.matched,
    }
    trials = target_positions(Contexts.model_validate(values))
    last = trials.items[-1].problem
    prompts = []
    for trial in trials.items:
        count = int(trial.factors["distractors"] or 0)
        if trial.problem == last and (trial.factors["position"] == 1 or not count):
            prompts.append((str(trial.factors["task"]), count, trials.render(trial)))
    return prompts


STUDIES = {
    "line_removal": Study(LineRemoval, line_removal),
    "sensitivity": Study(Sensitivity, line_removal),
    "published": Study(RecomputedByDraws, no_questions),
    "templates": Study(Templates, no_questions),
    "registry": Study(Registry, no_questions),
    "target_positions": Study(Positions, target_positions),
    "baselines": Study(Questions, target_positions),
    "recall": Study(Recall, target_positions),
}
"""Studies by name: params/semtrace/*.yaml may name `study: semtrace.NAME`."""
