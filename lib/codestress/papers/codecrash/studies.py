"""CodeCrash's studies: predictions about programs that were rewritten to the same meaning, or that
carry misleading comments and prints.

Every condition asks about the same problems: a problem that does not return its recorded output is
left out of all conditions, and a variant with another meaning than its program is never asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from codestress.errors import DataError, ParameterError, SandboxError
from codestress.functions import file_of
from codestress.mutate.perturbations.checking import Checked, check_problems
from codestress.mutate.perturbations.edits import GlobalNames, Guard
from codestress.mutate.perturbations.inputs import NotJson, json_values
from codestress.mutate.perturbations.messages import Wording
from codestress.mutate.perturbations.own import own_perturbations
from codestress.mutate.perturbations.python import PythonProgram
from codestress.mutate.perturbations.variants import (
    NEUTRAL,
    Perturbation,
    Variant,
    make_variants,
)
from codestress.notes import noted
from codestress.parameters import (
    Experiment,
    Interval,
    Recomputed,
    Seeded,
)
from codestress.paths import ROOT, shown
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import (
    cruxeval,
    known_source,
    livecodebench,
    numbered_lines,
    own_problems,
    parse_row,
)
from codestress.problems.program import Problem, from_stranger
from codestress.prompts import filled, prompt_text
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.scoring.forms import fenced_program, without_thoughts
from codestress.scoring.judging import unread
from codestress.simulated.reading import segments
from codestress.types import (
    LANGUAGE_NAMES,
    Language,
    Message,
    NotRun,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Task,
    Trial,
)

from .assertions import (
    score_assertion,
    score_assertion_as_run,
)
from .contest_programs import (
    contest_files,
    contest_problems,
    positional,
)

SOURCES = ("cruxeval", "livecodebench", "generated", "contest")
Source = Annotated[str, known_source(*SOURCES)]
Mode = Literal["direct", "cot"]
Truth = Annotated[
    Literal["any", "false"],
    BeforeValidator(lambda value: "false" if value is False else value),
]
"""Parameter `truth`: whether messages in a program are all false in the asked call (`false`), or
may be true (`any`). A bare `false`, which YAML reads as a boolean, becomes the text "false"."""
Density = Annotated[float, Field(gt=0, le=1)]
COMMENT = re.compile(r"\s*(?:#|//) .*$")
MESSAGES = ("MCC", "MPS", NEUTRAL)
"""Perturbations that put messages into a program, to which a density applies: misleading comments,
misleading prints, neutral comments."""


class Perturbed(Seeded):
    """Parameters of studies that perturb programs: programs, perturbations, their settings (section
    2). Defaults are the paper's."""

    FILES = {"translations": ("",), "hints": ("generated",)}

    problems: list[Source] = Field(
        ["cruxeval", "livecodebench"],
        min_length=1,
        description="generated and contest are the kit's own, the others data sets",
    )
    n_problems: int = Field(
        0,
        ge=0,
        description="how many of each, from the first on; 0: all (generated: 800)",
    )
    languages: list[Literal["python", "javascript"]] = Field(
        ["python"],
        min_length=1,
        description="of the programs; javascript: contest has twins, others need translations",
    )
    translations: str = Field(
        "", description="JSON Lines of id and code: JavaScript written by a model"
    )
    task: Literal["output", "input"] = Field(
        "output", description="what is predicted; livecodebench: outputs only"
    )
    perturbations: list[Perturbation] = Field(
        ["VAN", "PSC-ALL", "MCC", "MPS", "MHC"],
        min_length=1,
        description="VAN is the program as it is",
    )
    densities: list[Density] = Field(
        [1.0], min_length=1, description="share of the places that get a message (p)"
    )
    hints: str = Field(
        "outputs/data/codecrash.hints.jsonl",
        description="MHC's values: a model's, a file that `codestress write hints` makes; or generated",
    )
    messages: Wording = Field(
        "printed",
        description="of MCC and MPS: the kit's, with the four that Table 3 prints, or without (kit)",
    )
    guard: Guard = Field(
        "tag",
        description="a perturbation that the rules refuse to a program: refuse it, or tag it and count it",
    )
    globals_of: GlobalNames = Field(
        "parameters",
        description="whose names GBC declares as globals: parameters, or both: local variables too",
    )
    truth: Truth = Field(
        "any",
        description="of messages in the asked call: false ones alone, or any, as in the paper",
    )

    def not_run(self) -> tuple[NotRun, ...]:
        """Returns a `NotRun`, which names a gap and its reason, for each language whose programs
        cannot run on this computer."""
        gaps = []
        for language in self.languages:
            if why := missing(language):
                label = LANGUAGE_NAMES[language]
                gaps.append(NotRun("language", language, label, why))
        return tuple(gaps)

    def files(self) -> list[Path]:
        """Returns the paths of the files that are read: the contest programs, the modules of custom
        perturbations, and the files of hints and translations, each where it is named. A
        file need not exist."""
        files = contest_files() if "contest" in self.problems else []
        for name, perturbation in own_perturbations().items():
            if name in self.perturbations:
                files.append(file_of(perturbation.function))
        for name, own in self.FILES.items():
            if (path := getattr(self, name)) not in own:
                files.append(ROOT / path)
        return files


class Questions(Perturbed, Experiment):
    """Parameters of the questions about perturbed programs: those of `Perturbed`, prompts and their
    sampling (sections 2 and 3)."""

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

    modes: list[Mode] = Field(
        ["direct"],
        min_length=1,
        description="direct: 2 examples; cot: step by step, 1 example",
    )
    ignore: list[bool] = Field(
        [False], min_length=1, description="the model is told to ignore comments"
    )
    refactor: list[bool] = Field(
        [False], min_length=1, description="the model first cleans the program up"
    )
    samples_direct: int = Field(3, ge=1, description="candidates, direct")
    samples_cot: int = Field(1, ge=1, description="candidates, step by step")
    temperature: float = Field(0.2, ge=0, le=2, description="of all requests")
    top_p: float = Field(0.95, gt=0, le=1, description="of all requests")
    max_tokens_direct: int = Field(200, ge=1, description="longest direct answer")
    max_tokens_cot: int = Field(
        2000, ge=1, description="longest answer step by step, and longest clean program"
    )

    @property
    def rules(self) -> tuple[str, ...]:
        return ("strict", "reference")

    def trials(self) -> Iterator[Trial]:
        """Yields the trials for every prompt about every variant, in each mode and defence.

        Refused and rejected variants are not asked. A variant that a perturbation left unchanged
        has the vanilla prompt, so the request is sent only once. Vanilla programs have no comments
        to ignore, so they are not asked with `ignore` (Table 8). With `refactor`, a trial first
        asks for a clean program, then about it. Raises `ParameterError` where inputs are asked of
        livecodebench or JavaScript, and at the end where too little is left (`check_asked`).
        """
        asked = set[str]()
        others = "livecodebench" in self.problems or "javascript" in self.languages
        if self.task == "input" and others:
            raise ParameterError(
                "task = 'input': not for livecodebench (one input is recorded, section 3.1) or JavaScript"
            )
        for source, language, perturbation, density, by_id in made_variants(self):
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
                    "density": 0.0 if perturbation in ("VAN", "AGAIN") else density,
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
    """Perturbations that must be asked about, beside one more."""

    def check_asked(self, asked: set[str]) -> None:
        """Raises `ParameterError` where too little is left: `asked`, the perturbations that are
        asked about, are no more than those of `NEEDED`."""
        if not asked > self.NEEDED:
            raise ParameterError(
                f"perturbations = {self.perturbations}: too little is left to ask about; name one that is "
                "applied to a program, and VAN where differences are drawn (codecrash/perturbations counts "
                "them, and says why others are not)"
            )

    def _samples(self, problem: str, factors: dict[str, Scalar]) -> Iterator[Trial]:
        direct = factors["mode"] == "direct"
        count = self.samples_direct if direct else self.samples_cot
        # The vanilla question asked again has samples of its own.
        first = count if factors["perturbation"] == "AGAIN" else 0
        for sample in range(first, first + count):
            yield Trial(problem, factors, self.seed, sample=sample)

    def problem(self, trial: Trial) -> Problem:
        """Returns the variant that `trial` asks about."""
        factors: Mapping[str, Any] = trial.factors
        names = ("dataset", "language", "perturbation", "density")
        found = variants(self, *(factors[name] for name in names))
        return found[trial.problem].problem

    def question(self, trial: Trial, problem: Problem) -> Prompt:
        """Returns the prompt of `trial` about `problem`, its variant or the cleaned-up one, in
        appendix D's form: instruction (to ignore comments too, where asked), examples, program,
        assertion to complete. The words are the kit's own, except for two sentences that the paper
        prints: `Ensure the provided expression syntax is correct. Do NOT output any extra
        information.`"""
        mode = trial.factors["mode"]
        longest = self.max_tokens_direct if mode == "direct" else self.max_tokens_cot
        style = f"{self.task}.{mode}"
        names = [style, f"examples.{style}.{problem.language}", "question"]
        if trial.factors["ignore"]:
            names.insert(1, "ignore")
        values = _shown(problem) | {"asked": assertion_to_complete(problem, self.task)}
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
        """Returns the prompt that asks, second, about the program that the model cleaned up in the
        first of `responses`; None where `trial` has no clean-up, that response has no program, or
        the second response is there."""
        if not trial.factors["refactor"] or len(responses) > 1:
            return None
        problem = self.problem(trial)
        code = fenced_program(without_thoughts(responses[0].text), problem.function)
        return self.question(trial, written_by_model(problem, code)) if code else None

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        if trial.factors["refactor"] and not response.earlier:
            return unread(response, "no program in a fenced block")
        scorer = score_assertion if rule == "strict" else score_assertion_as_run
        return scorer(self.problem(trial), self.task, response)


class Shares(Questions, Interval):
    """Parameters of studies that give shares of correct answers: those of `Questions`, and the
    confidence of intervals."""


class Compared(Shares):
    """Parameters of studies that compare perturbed with vanilla (unperturbed) programs."""

    NEEDED = {"VAN"}


class Predictions(Compared):
    """Parameters of studies that show differences to vanilla programs: those of `Compared`, and the
    unit of the differences."""

    relative: bool = Field(
        True, description="differences to vanilla in % of it; false: in points"
    )


class DensitySweep(Predictions):
    """Parameters of the sweep over densities of messages (section 4.1: Figure 4 and Table 6)."""

    show: Literal["accuracy", "tokens"] = Field(
        "accuracy", description="what is drawn against the density"
    )


@cache
@noted
def checked_problems(
    source: str, language: Language, n_problems: int, translations: str, seed: int
) -> tuple[list[Checked], dict[str, str]]:
    """Returns the usable problems of a source in `language` as `Checked`, with their executions,
    and a dict of each other problem's fault in words by its id (it does not parse, does not return
    its recorded output, or varies).

    `source` is one of `SOURCES` or a custom set (params/problems.yaml); `n_problems` takes only the
    first ones (0: all, or 800 generated). `translations` is the file for `translated`; `seed` draws
    generated problems and the inputs of the check. Raises `DataError` for a missing or faulty file, and
    `ParameterError` where `translations` is empty but needed (JavaScript, all but `contest`).
    """
    match source:
        case "generated":
            problems = generated_problems(n_problems or 800, seed=seed)
        case "contest":
            problems = contest_problems(language)
        case "cruxeval":
            problems = cruxeval()
        case "livecodebench":
            problems = livecodebench()
        case _:
            problems = own_problems(source)
    problems = problems[: n_problems or None]
    if language == "javascript" and source != "contest":
        problems = translated(problems, translations, source)
    with Executor() as executor:
        return check_problems(problems, executor, seed)


def translated(problems: list[Problem], path: str, source: str) -> list[Problem]:
    """Returns JavaScript versions of `problems`, which come from `source` (named in errors), by the
    file `path` that `codestress write translations` made.

    Problems without a row in the file are left out. Raises `ParameterError` where `path` is empty,
    and `DataError` where the file is faulty or a problem's arguments have no JSON form.
    """
    if not path:
        raise ParameterError(
            f"languages = ['javascript']: {source} has no JavaScript programs; make them with "
            "`codestress write translations` and name the file in translations, or take problems = ['contest']"
        )
    codes = {row["id"]: row["code"] for row in read_rows(ROOT / path, ("id", "code"))}
    versions = []
    for problem in problems:
        if problem.id not in codes:
            continue
        changes: dict[str, Any] = {"code": codes[problem.id], "language": "javascript"}
        try:
            changes["arguments"] = javascript_arguments(problem)
        except NotJson as error:
            raise DataError(
                f"{path}, {problem.id}: {error}; or take the row out: "
                "`codestress write translations` writes none of such a problem"
            ) from None
        versions.append(from_stranger(problem, **changes))
    return versions


def read_rows(path: Path, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Returns the rows of the JSON Lines file `path` as dicts, in each of which all of `fields` are
    texts. Raises `DataError` with the number of the first line that is no such object, and where
    the file cannot be read."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            row = parse_row(line)
            if not all(isinstance(row[field], str) for field in fields):
                raise TypeError
        except (ValueError, TypeError, KeyError):
            raise DataError(
                f"{shown(path)}, line {number}: not an object with {', '.join(fields)}"
            ) from None
        rows.append(row)
    return rows


def variants(
    given: Perturbed,
    source: str,
    language: Language,
    perturbation: Perturbation,
    density: float,
) -> dict[str, Variant]:
    """Returns the `Variant` of each usable problem of a `source` in `language` under a
    `perturbation`, as a dict by problem id: the perturbed problem, or the vanilla one where the
    status is not `applied`.

    `density` is the share of the places for messages that get one (without effect on perturbations
    that insert none); `given` has all other settings.
    Raises `DataError` for a missing or faulty file of problems, hints or translations.
    """
    problems = source, language, given.n_problems, given.translations, given.seed
    return _variants(
        problems,
        perturbation,
        given.hints,
        density=density if perturbation in MESSAGES else 1.0,
        task=given.task,
        guard=given.guard,
        truth=given.truth,
        globals_of=given.globals_of,
        wording=given.messages,
    )


@cache
@noted
def _variants(
    of: tuple[str, Language, int, str, int],
    perturbation: Perturbation,
    hints: str,
    **how: Any,
) -> dict[str, Variant]:
    source, *_, seed = of
    problems, _ = checked_problems(*of)
    written = None
    if perturbation == "MHC" and hints != "generated":
        written = written_hints(
            hints, source, how["task"], {one.problem.id for one in problems}
        )
    with Executor() as executor:
        return make_variants(
            problems, perturbation, executor, seed=seed, written_hints=written, **how
        )


def written_hints(
    path: str, source: str, task: Task, problems: set[str]
) -> dict[str, str]:
    """Returns wrong values that a model wrote for MHC, the misleading hint, as a dict by problem
    id: from the rows of the file `path` about this `task` and the ids `problems`. Raises
    `DataError` where there are none or the file is missing (not where `problems` is empty);
    the message names the command that writes them for `source`."""
    file = ROOT / path
    values = {}
    for row in read_rows(file, ("id", "task", "value")) if file.is_file() else []:
        if row["task"] == task and row["id"] in problems:
            values[row["id"]] = row["value"]
    if problems and not values:
        ask = f"codestress write hints --problems {source} --task {task} --model gpt-4o-2024-05-13 -o {path}"
        raise DataError(
            f"hints = {path}: no {task} of {source}: `{ask}`, or hints = generated, which deviates"
        )
    return values


def made_variants(
    given: Perturbed,
) -> Iterator[tuple[str, Language, Perturbation, float, dict[str, Variant]]]:
    """Yields (source, language, perturbation, density, variants by problem id) for each combination
    of these parameters in `given`; the density is 1 for perturbations that insert no messages.
    Languages that cannot run here are left out; raises `SandboxError` where none can."""
    for condition in product(
        given.problems, runnable(given.languages), given.perturbations
    ):
        for density in given.densities if condition[-1] in MESSAGES else [1.0]:
            yield *condition, density, variants(given, *condition, density)


def _shown(problem: Problem) -> dict[str, str]:
    """Returns the texts about a `problem` that prompts show, by placeholder."""
    return {
        "language": LANGUAGE_NAMES[problem.language],
        "fence": problem.language,
        "function": problem.function,
        "code": problem.code,
    }


def assertion_to_complete(problem: Problem, task: Task) -> str:
    """Returns the assertion about a `problem`, as text, that the model completes: `f(1) == ??` for
    the `task` `output` (`===` in JavaScript), `f(??) == 2` for `input`."""
    if task == "input":
        return f"{problem.function}(??) == {problem.output}"
    return f"{problem.call} {'===' if problem.language == 'javascript' else '=='} ??"


def written_by_model(problem: Problem, code: str) -> Problem:
    """Returns the problem with `code` as its program, which a model wrote from the problem's
    program.

    The result's origin is untrusted (`Source.STRANGER`) unless `code` consists of pieces of the
    problem's program (lines, sentences of long lines) in order, with or without comments: simulated
    readers do no more than that.
    """
    shown = iter(segments(problem.code))
    known = all(
        any(line in (one, COMMENT.sub("", one)) for one in shown)
        for line in segments(code)
    )
    return replace(problem, code=code) if known else from_stranger(problem, code=code)


def javascript_arguments(problem: Problem) -> str:
    """Returns the arguments of a Python `problem` as JSON values separated by commas, in the order
    of the parameters; raises `NotJson` where the arguments have no JSON form."""
    try:
        parameters = PythonProgram(problem).parameters()
        arguments = positional(problem.arguments, parameters)
        json_values(arguments)
    except (TypeError, ValueError, KeyError, SyntaxError, RecursionError):
        raise NotJson(problem.arguments) from None
    return arguments


def runnable(languages: Sequence[Language]) -> list[Language]:
    """Returns those of `languages` whose programs can run on this computer, in the given order;
    raises `SandboxError` with the reasons where none can."""
    left = [language for language in languages if not missing(language)]
    if not left:
        why = "; ".join(map(missing, languages))
        raise SandboxError(f"languages = {languages}: {why}")
    return left


STUDIES = {
    "answers": Questions,
    "shares": Shares,
    "compared": Compared,
    "predictions": Predictions,
    "density": DensitySweep,
    "published": Recomputed,
    "variants": Perturbed,
}
"""Studies by name; params/codecrash/*.yaml may name them as `study: codecrash.NAME`."""
