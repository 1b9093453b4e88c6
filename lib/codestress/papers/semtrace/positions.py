"""Experiments of Sense and Sensitivity on a target function at one of several positions
among unrelated functions (sections 3.1 to 3.3; appendices A, C, D). A model predicts an
input or an output of the target, or retrieves it or one of its lines."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field

from codestress.parameters import Alike
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import Prompt, Response, Scalar, Score, Source, Trial

from .contexts import (
    MOST_FRAGMENTS,
    Distractors,
    Mixture,
    Separator,
    Sized,
    distractor_context,
    line_keys,
    mix,
    with_blanks,
    with_keys,
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
from .recall import partial_trace, score_retrieval

Task = Literal[Prediction, "function_retrieval", "line_retrieval"]
"""Question about the target."""
RETRIEVAL = ("function_retrieval", "line_retrieval")
"""Tasks that ask for lines of the context by their keys."""
Counts = Annotated[
    list[Annotated[int, Field(ge=0, le=1000)]],
    Field(min_length=1, description="unrelated functions around the target"),
]
Matched = Literal["count", "tokens"]
"""Quantity in which a context equals the paper's: number of functions, or length in
tokens."""
AVERAGE = {"matched": "tokens", "distractor_tokens": 200}
"""Parameters that make contexts as long as functions of the paper's average length do.
"""


class Contexts(Begun):
    """Parameters of the requests in sections 3.1 to 3.3 and appendices A, C, D.
    Defaults are the paper's."""

    SINGLE = ("n_problems", "subsample", "prefill", "max_tokens")
    OPEN = (
        "digits_of",
        "redrawn",
        "blank_between",
        "key_separator",
        "keyed_blank",
        "line_asked",
        "wrong_length",
        *Begun.OPEN,
    )
    ALIKE = (
        Alike(
            "functions of CodeSearchNet, of about 200 tokens",
            (
                {"distractor_source": "cosqa", **AVERAGE},
                {"distractor_source": "codesearchnet", **AVERAGE},
                {"distractor_source": "codesearchnet", "matched": "count"},
            ),
        ),
    )

    tasks: list[Task] = Field(PREDICTIONS, min_length=1)
    """Tasks that are asked."""
    problems: list[Dataset] = Field(["cruxeval"], min_length=1)
    """Sources of the problems: cruxeval, semtrace (outputs only), generated (the kit's
    own)."""
    n_problems: int = Field(800, ge=1)
    """Number of problems of each source, from the first on."""
    digits: list[Annotated[int, Field(ge=1, le=9)]] = Field([2], min_length=1)
    """Digits of the numbers in SemTrace."""
    digits_of: Sized = "both"
    """Numbers that have these digits: x, y (the other has two), or both."""
    distractors: Counts = [20, 40, 60, 80]
    distractor_source: Distractors = "cosqa"
    """Source of the distractors: the data sets codesearchnet and cosqa (its short
    functions), or functions of installed packages."""
    matched: Matched = "tokens"
    """Measure of a context: the number of functions, or tokens, distractor_tokens for
    each function asked for."""
    distractor_tokens: int = Field(200, ge=10)
    """Tokens of the paper's average distractor."""
    redrawn: bool = False
    """Whether each position has distractors of its own; false: a problem has the same
    ones."""
    blank_between: bool = True
    """Whether a blank line stands between functions."""
    positions: int = Field(11, ge=1)
    """Number of positions of the target, equally spaced."""
    fragments: int = Field(1, ge=1, le=MOST_FRAGMENTS)
    """Parts that the target is cut into (the paper: 1)."""
    qac: list[bool] = Field([True], min_length=1)
    """Whether the query stands before the code as well as after it."""
    keys: list[bool] = Field([False], min_length=1)
    """Whether all lines have hexadecimal keys, in predictions too."""
    key_separator: Separator = "space"
    """Separator between a key and its line."""
    keyed_blank: bool = True
    """Whether blank lines have keys too."""
    line_asked: Literal["any", "body"] = "any"
    """Line that is asked for: any line of the target that is not blank, or body: nor
    its first."""
    wrong_length: Literal["zero", "by_position"] = "zero"
    """Worth of a list of another length in part; by_position: right elements of the
    longer list."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the scoring rules: `strict`, and for SemTrace also `partial`, a
        list's share of right elements."""
        if "semtrace" in self.problems:
            return "strict", "partial"
        return ("strict",)

    def trials(self) -> Iterator[Trial]:
        """Yield the trials of every task on every problem, at every position in every
        context. SemTrace is only asked for outputs.

        A problem has the same distractors in the same order in all trials, unless
        `redrawn`, which draws others at each position. A problem's 20 distractors are
        the first of its 40. Without distractors there is only one position.
        """
        for dataset in self.problems:
            tasks = self.tasks
            sizes = self.digits[:1]
            if dataset == "semtrace":
                tasks = ["output_prediction"]
                sizes = self.digits
            for digits in sizes:
                names = self.sampled(self.table(dataset, digits))
                places = self.places_of(tasks, dataset=dataset, digits=digits)
                for name, factors in product(names, places):
                    yield Trial(name, factors, self.seed)

    def places_of(
        self, tasks: Sequence[str], **data: Scalar
    ) -> Iterator[dict[str, Scalar]]:
        """Yield the factors of each place at which the target is asked for, task by
        task: a dict with the keys of `data`, task, qac, keys (whether lines have keys),
        distractors (number), position (index from 0), depth (0 to 1)."""
        last = max(self.positions - 1, 1)
        for task, qac in product(tasks, self.qac):
            keys = self.keys
            if task in RETRIEVAL:
                # Retrieval asks for lines by their keys, so the lines need keys.
                keys = [True]
            for keyed, count in product(keys, self.distractors):
                place = {**data, "task": task, "qac": qac, "keys": keyed}
                place["distractors"] = count
                for position in range(self.positions if count else 1):
                    yield place | {"position": position, "depth": position / last}

    def table(self, dataset: str, digits: int) -> dict[str, Problem]:
        """Return the problems of the data set `dataset`, as a dict from id to problem.
        `digits` is the number of digits in SemTrace's numbers."""
        return problems_of(dataset, self.n_problems, self.seed, digits, self.digits_of)

    def asked(self, trial: Trial) -> tuple[Problem, str]:
        """Return the problem and the name of the task that `trial` asks about."""
        factors: Mapping[str, Any] = trial.factors
        problems = self.table(factors["dataset"], factors["digits"])
        return problems[trial.problem], factors["task"]

    def render(self, trial: Trial) -> Prompt:
        """Return the prompt of `trial`: its task on the target in its context."""
        problem, task = self.asked(trial)
        factors: Mapping[str, Any] = trial.factors
        count = factors["distractors"]
        keyed = factors["keys"]
        mixed = self.in_context(problem, count, factors["position"], keyed=keyed)
        values = self.query(problem, task)
        values["code_block"] = mixed.text
        # A simulated reader may take a distractor's line for the target's, so the program is
        # untrusted if the distractors are.
        source = problem.source
        if count and self.distractor_source != "installed":
            source = Source.STRANGER
        return self.prompt(task, values, source, qac=factors["qac"])

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        """Return the score of `response`: exact, or for a SemTrace list under the rule
        `partial` the share of its right elements."""
        problem, task = self.asked(trial)
        if task in RETRIEVAL:
            begun = self.begun(task, self.query(problem, task))
            lines, keys = self.wanted(problem, task)
            keyed = with_keys(keys, lines, self.key_separator)
            return score_retrieval(lines, keyed, response, begun)
        score = self.judged(problem, task, response)
        if rule == "partial" and trial.factors["dataset"] == "semtrace":
            any_length = self.wrong_length == "by_position"
            return partial_trace(problem, score, any_length=any_length)
        return score

    def in_context(
        self, problem: Problem, count: int, position: int, *, keyed: bool = False
    ) -> Mixture:
        """Return the program of `problem` at the index `position` (from 0) among its
        distractors, each line after its key if `keyed`. `count` is the requested number
        of distractors; with `matched` "tokens", the count is converted to a length."""
        tokens = self.distractor_tokens if self.matched == "tokens" else None
        drawn_for = problem.id
        if self.redrawn:
            drawn_for = f"{problem.id}, position {position}"
        others = distractor_context(
            drawn_for, count, self.distractor_source, tokens, self.seed
        )
        codes = problem.code, *others
        functions = with_blanks(codes)
        if keyed:
            keys = line_keys(problem.id, codes, self.seed, self.keyed_blank)
            for number, own in enumerate(keys):
                functions[number] = with_keys(
                    own, functions[number], self.key_separator
                )
        return mix(
            functions,
            position=position,
            positions=self.positions,
            fragments=self.fragments,
            blank_between=self.blank_between,
        )

    def wanted(self, problem: Problem, task: str) -> tuple[list[str], list[str]]:
        """Return the lines to retrieve for `task`, and their keys: all lines of the
        function of `problem`, or for `line_retrieval` one line, drawn with the seed.
        The key of a blank line is empty unless `keyed_blank`."""
        lines = problem.code.split("\n")
        codes = (problem.code,)
        [drawn] = line_keys(problem.id, codes, self.seed, self.keyed_blank)
        keys = drawn[: len(lines)]
        if task == "function_retrieval":
            return lines, keys
        shown = [number for number, line in enumerate(lines) if line.strip()]
        if self.line_asked == "body":
            shown = shown[1:] or shown
        asked = shown[rng(self.seed, "line", problem.id).integers(len(shown))]
        return [lines[asked]], [keys[asked]]

    def query(self, problem: Problem, task: str) -> dict[str, str]:
        """Return the values that fill in the templates of `task` for `problem`, as a
        dict from placeholder to text. A prediction has input and output; a retrieval
        has the keys start, end and key."""
        if task not in RETRIEVAL:
            return predicted(problem)
        keys = [key for key in self.wanted(problem, task)[1] if key]
        return {"start": keys[0], "end": keys[-1], "key": keys[0]}


class Questions(Contexts, Resampled):
    """Parameters of the requests (as in `Contexts`), and of the summary of their
    scores: its `metrics` and the number of bootstrap `resamples`."""

    metrics: list[Literal["strict", "partial"]] = Field(["strict"], min_length=1)
    """Metrics; partial: the share of right elements (SemTrace)."""


class Positions(Questions):
    """Parameters of figures of scores at each position of the target: those of
    `Questions`, and what is drawn."""

    show: Literal["accuracy", "unresolved"] = "accuracy"
    """Quantity that is drawn; unresolved: the share of answers with arithmetic left
    in."""
    relative: bool = False
    """Whether accuracies are relative to each curve's maximum."""


class Recall(Contexts):
    """Parameters of the comparison of lexical and semantic recall over models (section
    3.3): those of `Contexts`, and its `places`, the positions that count."""

    OPEN = (*Contexts.OPEN, "places")

    places: Literal["all", "middle"] = "all"
    """Positions over which a model's recall is averaged; middle: the middle third."""
