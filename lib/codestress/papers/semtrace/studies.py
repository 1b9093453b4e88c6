"""Studies of Sense and Sensitivity: what models recall of code, and what they understand, in long
contexts (semtrace).

A target function stands among unrelated functions, at one of several positions. A model predicts an
input or an output of the target, or retrieves the target (sections 3.1-3.3), or predicts with some
of the target's lines removed (section 3.4; the interpreter: appendix B).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import Field

from codestress.errors import ParameterError
from codestress.parameters import (
    Alike,
    Experiment,
    Facts,
    Interval,
    Parameters,
    RecomputedByDraws,
    Seeded,
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
    Source as ProgramSource,
    Trial,
)

from . import recall
from .contexts import (
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

Source = Annotated[str, known_source("generated", "cruxeval")]
Dataset = Annotated[str, known_source("generated", "cruxeval", "semtrace")]
Prediction = Literal["input_prediction", "output_prediction"]
Task = Literal[
    "input_prediction", "output_prediction", "function_retrieval", "line_retrieval"
]
Digits = Annotated[int, Field(ge=1, le=9)]
Counts = Annotated[
    list[Annotated[int, Field(ge=0, le=1000)]],
    Field(min_length=1, description="unrelated functions around the target"),
]
Matched = Literal["count", "tokens"]
PREDICTIONS = [*get_args(Prediction)]
RETRIEVAL = ("function_retrieval", "line_retrieval")


class Begun(Interval, Experiment):
    """Parameters of requests whose answer is begun for the model (appendix J), and their prompts."""

    subsample: float = Field(
        1.0, gt=0, le=1, description="share of the problems, drawn by the seed"
    )
    prefill: Literal["assistant", "user"] = Field(
        "assistant",
        description="where the answer's beginning stands; user: for models that cannot continue one",
    )
    reading: ReadingRule = Field(
        "first_fence",
        description="the part of a completion that is scored: up to its first_fence, after its last_assertion, "
        "or its first_line",
    )
    max_tokens: int = Field(
        256, ge=1, description="longest answer; whole functions may be twice as long"
    )
    rule: Literal["strict"] = Field(
        "strict", description="values are compared by type, lines to the character"
    )

    def sampled(self, problems: Mapping[str, Problem]) -> list[str]:
        """Returns the ids of the share `subsample` of the dict `problems`, at least one, in their
        order, drawn by the seed."""
        names = list(problems)
        count = max(1, round(self.subsample * len(names)))
        chosen = rng(self.seed, "subsample").permutation(len(names))[:count]
        return [names[i] for i in sorted(chosen)]

    def begun(self, task: str, values: Mapping[str, str]) -> str:
        """Returns the beginning of the assistant's turn for `task`, filled in by `values` (text by
        placeholder); empty where the model writes the beginning (`prefill` is "user")."""
        return filled(f"{task}.prefill", values) if self.prefill == "assistant" else ""

    def prompt(
        self,
        task: str,
        values: Mapping[str, str],
        source: ProgramSource,
        *,
        qac: bool = True,
    ) -> Prompt:
        """Returns the prompt from the templates of `task` in appendix J, filled in by `values`
        (text by placeholder); without `qac` the query stands only after the code, else also before.

        With `prefill` "user" the user's turn states how the answer begins; else the assistant's
        turn begins so. `source` is the program's origin.
        """
        names = [f"{task}.before", task] if qac else [task]
        if self.prefill == "user":
            names.append("begin_with")
            values = {**values, "begun": filled(f"{task}.prefill", values)}
        text = "\n\n".join(filled(name, values) for name in names)
        # A function that is repeated whole needs more room than one line.
        room = 2 if task == "function_retrieval" else 1
        sampling = Sampling(max_tokens=room * self.max_tokens)
        begun = self.begun(task, values)
        return Prompt((Message("user", text),), sampling, begun, source)


class Sensitivity(Begun):
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
        PREDICTIONS,
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
    versions: int = Field(
        0,
        ge=0,
        description="most versions of a program, drawn by the seed; 0: all (the paper)",
    )
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

    def trials(self) -> Iterator[Trial]:
        """Yields the trials on every problem with every subset of its lines removed, or `versions`
        of them, without distractors. Programs of one line are left out.

        With `shown` "program", and for SemTrace, only outputs are asked for.
        """
        both = self.shown == "prompt" and self.problems != "semtrace"
        table = self.table()
        for task in self.tasks if both else ["output_prediction"]:
            for name in self.sampled(table):
                factors: dict[str, Scalar] = {"task": task}
                factors["lines"] = removable(table[name].code)
                for mask in self.masks(table[name]):
                    removed = {"removed": mask.bit_count(), "mask": mask}
                    yield Trial(name, factors | removed, self.seed)

    def masks(self, problem: Problem) -> Sequence[int]:
        """Returns the bit masks of the lines of `problem` to remove: all masks, or `versions` of
        them drawn by the seed, among them always 0, the unchanged program; none for a program of
        one line."""
        lines = removable(problem.code)
        count = 2**lines if lines else 0
        if not self.versions or self.versions >= count:
            return range(count)
        order = rng(self.seed, "versions", problem.id).permutation(count - 1)
        return [0, *sorted(int(i) + 1 for i in order[: self.versions - 1])]

    def table(self) -> dict[str, Problem]:
        """Returns the problems by id."""
        return problems_of(self.problems, self.n_problems, self.seed)

    def incomplete(self, trial: Trial) -> Problem:
        """Returns the problem of `trial` without the removed lines."""
        problem = self.table()[trial.problem]
        mask = int(trial.factors["mask"] or 0)
        return replace(problem, code=without_lines(problem.code, mask))

    def render(self, trial: Trial) -> Prompt:
        """Returns the prompt; with `shown` "program" it is the program, for the interpreter."""
        problem = self.incomplete(trial)
        if self.shown == "program":
            message = Message("user", problem.code)
            sampling = Sampling(max_tokens=1)
            return Prompt((message,), sampling, problem.call, problem.source)
        values = _predicted(problem) | {"code_block": problem.code}
        return self.prompt(str(trial.factors["task"]), values, problem.source)

    def score(self, trial: Trial, response: Response, rule: str) -> Score:  # noqa: ARG002
        """Returns the score. An input is correct when the complete program returns the output for
        it: the model should infer the effect of the missing lines. With `inputs_run_on` "shown" the
        program that was shown must return the output."""
        problem = self.table()[trial.problem]
        if self.shown == "program":
            return score_interpreted(problem, response.text)
        task = str(trial.factors["task"])
        begun = self.begun(task, _predicted(problem))
        if task == "input_prediction" and self.inputs_run_on == "shown":
            problem = self.incomplete(trial)
        return recall.score_completion(problem, task, response, begun, self.reading)


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


class Contexts(Begun):
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
        PREDICTIONS,
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
    wrong_length: Literal["zero", "by_position"] = Field(
        "zero",
        description="what a list of another length is worth in part; by_position: right elements of the longer",
    )

    @property
    def rules(self) -> tuple[str, ...]:
        """`strict`, and for SemTrace `partial`: a list's share of right elements."""
        return ("strict", "partial") if "semtrace" in self.problems else ("strict",)

    def trials(self) -> Iterator[Trial]:
        """Yields the trials of every task on every problem, at every position in every context;
        SemTrace is asked for outputs alone.

        A problem has the same distractors in the same order in all trials (unless `redrawn`: others
        at each position), and its 20 distractors are the first of its 40. Without distractors there
        is one position.
        """
        for dataset in self.problems:
            traced = dataset == "semtrace"
            tasks = ["output_prediction"] if traced else self.tasks
            for digits in self.digits if traced else self.digits[:1]:
                conditions: list[dict[str, Scalar]] = []
                for task, qac in product(tasks, self.qac):
                    asked: dict[str, Scalar] = {"dataset": dataset, "digits": digits}
                    asked |= {"task": task, "qac": qac}
                    conditions += [asked | place for place in self.places_of(task)]
                names = self.sampled(self.table(dataset, digits))
                for name, factors in product(names, conditions):
                    yield Trial(name, factors, self.seed)

    def places_of(self, task: str) -> list[dict[str, Scalar]]:
        """Returns the factors of the target's positions for `task`: keys (whether lines have keys;
        always for a retrieval), distractors (number), position (index from 0), depth (0 to 1)."""
        last = max(self.positions - 1, 1)
        places: list[dict[str, Scalar]] = []
        # A line of a function is found by its key, so these tasks have keys in any case.
        keys = [True] if task in RETRIEVAL else self.keys
        for keyed, count in product(keys, self.distractors):
            for position in range(self.positions if count else 1):
                place = {"position": position, "depth": position / last}
                places.append({"keys": keyed, "distractors": count, **place})
        return places

    def table(self, dataset: str, digits: int) -> dict[str, Problem]:
        """Returns the problems of one data set (`dataset`) by id; `digits` are those of SemTrace's
        numbers."""
        return problems_of(dataset, self.n_problems, self.seed, digits, self.digits_of)

    def asked(self, trial: Trial) -> tuple[Problem, str]:
        """Returns the problem and the name of the task that `trial` asks for."""
        dataset, digits = trial.factors["dataset"], int(trial.factors["digits"] or 2)
        problem = self.table(str(dataset), digits)[trial.problem]
        return problem, str(trial.factors["task"])

    def render(self, trial: Trial) -> Prompt:
        problem, task = self.asked(trial)
        factors: Mapping[str, Any] = trial.factors
        count, keyed = factors["distractors"], factors["keys"]
        mixed = self.in_context(problem, count, factors["position"], keyed=keyed)
        values = self.query(problem, task) | {"code_block": mixed.text}
        # A reader may take a distractor's line for the target's, so the program is a stranger's
        # when they are.
        foreign = count and self.distractor_source != "installed"
        source = ProgramSource.STRANGER if foreign else problem.source
        return self.prompt(task, values, source, qac=factors["qac"])

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        problem, task = self.asked(trial)
        begun = self.begun(task, self.query(problem, task))
        if task in RETRIEVAL:
            lines, keys = self.wanted(problem, task)
            separator = SEPARATORS[self.key_separator]
            return recall.score_retrieval(lines, keys, response, begun, separator)
        if rule == "partial" and trial.factors["dataset"] == "semtrace":
            any_length = self.wrong_length == "by_position"
            return recall.score_partial_trace(
                problem, response, begun, self.reading, any_length=any_length
            )
        return recall.score_completion(problem, task, response, begun, self.reading)

    def in_context(
        self, problem: Problem, count: int, position: int, *, keyed: bool = False
    ) -> Mixture:
        """Returns the program of `problem` at the index `position` (0 first) among its distractors,
        of which `count` are asked for; each line after its key if `keyed`."""
        tokens = self.distractor_tokens if self.matched == "tokens" else None
        drawn_for = problem.id
        if self.redrawn:
            drawn_for = f"{problem.id}, position {position}"
        source = self.distractor_source
        others = distractor_context(drawn_for, count, source, tokens, self.seed)
        codes = problem.code, *others
        functions = [Shown(code) for code in codes]
        if keyed:
            keys = _keys(problem, others, self.seed)
            functions = with_keys(codes, keys, self.key_separator, self.keyed_blank)
        return mix(
            functions,
            position=position,
            positions=self.positions,
            fragments=self.fragments,
            blank_between=self.blank_between,
        )

    def wanted(self, problem: Problem, task: str) -> tuple[list[str], list[str]]:
        """Returns the lines to retrieve for `task` (all of the function of `problem`, or for
        `line_retrieval` one drawn by the seed), and their keys; the key of a blank line is empty
        unless `keyed_blank`."""
        lines = problem.code.split("\n")
        keys = _keys(problem, (), self.seed)[0][: len(lines)]
        shown = [number for number, line in enumerate(lines) if line.strip()]
        if not self.keyed_blank:
            keys = [key if n in shown else "" for n, key in enumerate(keys)]
        if task == "function_retrieval":
            return lines, keys
        if self.line_asked == "body" and len(shown) > 1:
            shown = shown[1:]
        asked = shown[rng(self.seed, "line", problem.id).integers(len(shown))]
        return [lines[asked]], [keys[asked]]

    def query(self, problem: Problem, task: str) -> dict[str, str]:
        """Returns the values by which the templates of `task` are filled in for `problem`, by
        placeholder: input and output for a prediction, the keys start, end and key for a
        retrieval."""
        if task not in RETRIEVAL:
            return _predicted(problem)
        keys = [key for key in self.wanted(problem, task)[1] if key]
        return {"start": keys[0], "end": keys[-1], "key": keys[0]}


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
def _keys(problem: Problem, others: tuple[str, ...], seed: int) -> list[list[str]]:
    random = rng(seed, "keys", problem.id, problem.code)
    return line_keys(random, [problem.code, *others])


def _predicted(problem: Problem) -> dict[str, str]:
    return {"input": problem.arguments, "output": problem.output}


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
    contexts = Contexts.model_validate(values)
    trials = list(contexts.trials())
    prompts = []
    for trial in trials:
        count = int(trial.factors["distractors"] or 0)
        middle = trial.factors["position"] == 1 or not count
        if trial.problem == trials[-1].problem and middle:
            prompts.append((str(trial.factors["task"]), count, contexts.render(trial)))
    return prompts


class Registry(Facts):
    """Parameters of appendices F and G, tables from the model registry without requests: its `show`
    names the table (licences or architecture), its `longest_context` a context in tokens."""

    show: Literal["licences", "architecture"] = Field(
        "licences", description="which table"
    )
    longest_context: int = Field(
        30_810, ge=1000, description="tokens; the paper: approximately 31k"
    )
    rule: Literal["strict"] = Field("strict", description="nothing is judged")


STUDIES = {
    "line_removal": LineRemoval,
    "sensitivity": Sensitivity,
    "published": RecomputedByDraws,
    "templates": Templates,
    "registry": Registry,
    "target_positions": Positions,
    "baselines": Questions,
    "recall": Recall,
}
"""Studies by name: params/semtrace/*.yaml may name `study: semtrace.NAME`."""
