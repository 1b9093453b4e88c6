"""CodeCrash's studies: predictions about programs that are rewritten to the same
meaning, or that carry misleading comments and prints.

All conditions ask about the same problems, those of `programs.py`. A variant (a program
after a perturbation) that changes the program's meaning is never asked about.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar, Literal

from pydantic import Field

from codestress.errors import ParameterError
from codestress.parameters import Experiment, Interval, Recomputed
from codestress.problems.program import Problem, from_stranger
from codestress.prompts import filled, prompt_text
from codestress.scoring.forms import fenced_program, without_thoughts
from codestress.scoring.judging import unread
from codestress.simulated.reading import segments
from codestress.types import (
    LANGUAGE_NAMES,
    Message,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Task,
    Trial,
)

from .assertions import score_assertion, score_assertion_as_run
from .programs import CONDITION, Perturbed, made_variants, variants

Mode = Literal["direct", "cot"]
COMMENT = re.compile(r"\s*(?:#|//) .*$")
"""Pattern of a comment at the end of a line, with the blanks before the comment."""


class Questions(Perturbed, Experiment):
    """Parameters of the questions about perturbed programs: those of `Perturbed`,
    prompts and their sampling (sections 2 and 3)."""

    SINGLE = (
        "n_problems",
        "modes",
        "samples_direct",
        "samples_cot",
        "temperature",
        "top_p",
        "max_tokens_direct",
        "max_tokens_cot",
    )
    OPEN = ("densities", "globals_of")

    modes: list[Mode] = Field(["direct"], min_length=1)
    """Modes of asking: direct (2 examples), or cot (step by step, 1 example)."""
    ignore: list[bool] = Field([False], min_length=1)
    """Whether the model is told to ignore comments."""
    refactor: list[bool] = Field([False], min_length=1)
    """Whether the model first cleans the program up."""
    samples_direct: int = Field(3, ge=1)
    """Number of candidates, asked directly."""
    samples_cot: int = Field(1, ge=1)
    """Number of candidates, step by step."""
    temperature: float = Field(0.2, ge=0, le=2)
    """Temperature of all requests."""
    top_p: float = Field(0.95, gt=0, le=1)
    """Top p of all requests."""
    max_tokens_direct: int = Field(200, ge=1)
    """Tokens of the longest direct answer."""
    max_tokens_cot: int = Field(2000, ge=1)
    """Tokens of the longest answer step by step, and of the longest clean program."""

    def trials(self) -> Iterator[Trial]:
        """Yield the trials about every variant of every problem, in each mode and with each defence (a request to
        ignore comments, or a clean-up of the program).

        Refused and rejected variants are not asked about. A variant that a perturbation left unchanged has the
        vanilla prompt, so its request is sent only once. Vanilla programs have no comments to ignore, so they are not
        asked with `ignore` (Table 8). With `refactor`, a trial first asks for a clean program, then about this
        program. Raises `ParameterError` if inputs are asked of livecodebench or JavaScript, and, after the last
        trial, if too little was asked (`check_asked`).
        """
        asked = set[str]()
        others = "livecodebench" in self.problems or "javascript" in self.languages
        if self.task == "input" and others:
            raise ParameterError(
                "task = 'input': not for livecodebench (one input is recorded, section 3.1) or JavaScript"
            )
        for source, language, perturbation, density, by_id in made_variants(self):
            if perturbation in ("VAN", "AGAIN"):
                density = 0.0
            settings = product(self.modes, self.ignore, self.refactor)
            for mode, ignore, refactor in settings:
                if ignore and perturbation == "VAN":
                    continue
                factors: dict[str, Scalar] = {
                    "dataset": source,
                    "language": language,
                    "task": self.task,
                    "mode": mode,
                    "perturbation": perturbation,
                    "density": density,
                    "ignore": ignore,
                    "refactor": refactor,
                }
                for name, variant in by_id.items():
                    if variant.status in ("applied", "unchanged"):
                        factors["status"] = variant.status
                        factors["question"] = variant.problem.question or name
                        asked.add(perturbation)
                        yield from self._samples(name, factors.copy())
        self.check_asked(asked)

    NEEDED: ClassVar[set[str]] = set()
    """Perturbations that a study must ask about, in addition to at least one other."""

    def check_asked(self, asked: set[str]) -> None:
        """Raise `ParameterError` unless `asked`, the perturbations that are asked
        about, contains all of `NEEDED` and at least one other."""
        if not asked > self.NEEDED:
            raise ParameterError(
                f"perturbations = {self.perturbations}: too little is left to ask about; name one that is "
                "applied to a program, and VAN where differences are drawn (codecrash/perturbations counts "
                "them, and says why others are not)"
            )

    def _samples(self, problem: str, factors: dict[str, Scalar]) -> Iterator[Trial]:
        """Yield a trial for each candidate (repeated sample) of a question."""
        count = self.samples_cot
        if factors["mode"] == "direct":
            count = self.samples_direct
        # AGAIN has the vanilla prompt; other sample numbers make new requests of it.
        first = count if factors["perturbation"] == "AGAIN" else 0
        for sample in range(first, first + count):
            yield Trial(problem, factors, self.seed, sample)

    def problem(self, trial: Trial) -> Problem:
        """Return the variant that `trial` asks about."""
        factors: Mapping[str, Any] = trial.factors
        condition = [factors[name] for name in CONDITION]
        return variants(self, *condition)[trial.problem].problem

    def question(self, trial: Trial, problem: Problem) -> Prompt:
        """Return the prompt of `trial` about `problem`: its variant, or the program
        after the model's clean-up. The prompt has the form of appendix D: instruction
        (if asked, also to ignore comments), examples, program, assertion to complete.

        The words are the kit's own, except for two sentences that the paper prints:
        `Ensure the provided expression syntax is correct. Do NOT output any extra
        information.`
        """
        mode = trial.factors["mode"]
        longest = self.max_tokens_cot
        if mode == "direct":
            longest = self.max_tokens_direct
        style = f"{self.task}.{mode}"
        names = [style]
        if trial.factors["ignore"]:
            names.append("ignore")
        names += [f"examples.{style}.{problem.language}", "question"]
        values = _shown(problem)
        values["asked"] = assertion_to_complete(problem, self.task)
        parts = [filled(f"codecrash.{name}", values) for name in names]
        system = Message("system", prompt_text("codecrash.system"))
        user = Message("user", "\n\n".join(parts))
        sampling = Sampling(self.temperature, self.top_p, longest)
        return Prompt((system, user), sampling, source=problem.source)

    def render(self, trial: Trial) -> Prompt:
        problem = self.problem(trial)
        if not trial.factors["refactor"]:
            return self.question(trial, problem)
        sampling = Sampling(self.temperature, self.top_p, self.max_tokens_cot)
        text = filled("codecrash.refactor", _shown(problem))
        return Prompt((Message("user", text),), sampling)

    def steps(self, trial: Trial) -> int:
        return 2 if trial.factors["refactor"] else 1

    def follow_up(self, trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        """Return the second prompt of `trial`, about the program that the model cleaned
        up in the first of `responses`.

        Return None if the trial has no clean-up, if the first response contains no
        program, or if the second response is already there.
        """
        if not trial.factors["refactor"] or len(responses) > 1:
            return None
        problem = self.problem(trial)
        text = without_thoughts(responses[0].text)
        code = fenced_program(text, problem.function)
        if not code:
            return None
        return self.question(trial, written_by_model(problem, code))

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        if trial.factors["refactor"] and not response.earlier:
            return unread(response, "no program in a fenced block")
        scorer = score_assertion if rule == "strict" else score_assertion_as_run
        return scorer(self.problem(trial), self.task, response)


class Shares(Questions, Interval):
    """Parameters of studies that give shares of correct answers: those of `Questions`,
    and the confidence of intervals."""


class Compared(Shares):
    """Parameters of studies that compare perturbed with vanilla (unperturbed) programs."""

    NEEDED = {"VAN"}


class Predictions(Compared):
    """Parameters of studies that show differences to vanilla programs: those of
    `Compared`, and the unit of the differences."""

    relative: bool = True
    """Whether differences to vanilla are in % of it; false: in points."""


class DensitySweep(Predictions):
    """Parameters of the sweep over densities of messages (section 4.1: Figure 4 and
    Table 6)."""

    show: Literal["accuracy", "tokens"] = "accuracy"
    """Quantity that is drawn against the density."""


def _shown(problem: Problem) -> dict[str, str]:
    """Return the texts about `problem` that prompts show, as a dict from placeholder to
    text."""
    return {
        "language": LANGUAGE_NAMES[problem.language],
        "fence": problem.language,
        "function": problem.function,
        "code": problem.code,
    }


def assertion_to_complete(problem: Problem, task: Task) -> str:
    """Return the assertion about `problem` that the model completes: `f(1) == ??` for
    the `task` `output` (`===` in JavaScript), or `f(??) == 2` for `input`."""
    if task == "input":
        return f"{problem.function}(??) == {problem.output}"
    equal = "===" if problem.language == "javascript" else "=="
    return f"{problem.call} {equal} ??"


def written_by_model(problem: Problem, code: str) -> Problem:
    """Return `problem` with `code` as its program. A model wrote `code` when it cleaned
    up the problem's program.

    The result is untrusted (its origin is `Source.STRANGER`) unless `code` consists of
    pieces of the problem's program in order, each with or without its comment. A piece
    is a line, or a sentence of a long line. Simulated readers write only such programs.
    """
    shown = iter(segments(problem.code))
    for line in segments(code):
        if not any(line in (piece, COMMENT.sub("", piece)) for piece in shown):
            return from_stranger(problem, code=code)
    return replace(problem, code=code)


STUDIES = {
    "answers": Questions,
    "shares": Shares,
    "compared": Compared,
    "predictions": Predictions,
    "density": DensitySweep,
    "published": Recomputed,
    "variants": Perturbed,
}
"""Dict from name to schema of parameters. A file params/codecrash/*.yaml may name a
study as `study: codecrash.NAME`."""
