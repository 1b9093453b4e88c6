"""CodeCrash: predictions on programs that were rewritten to the same meaning, or carry comments and prints that lie.

Every condition asks about the same problems: a problem that does not return its recorded output is left out of all of
them, a variant that does not mean the same as its program is never asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from codestress.errors import DataError, ParameterError, SandboxError
from codestress.functions import file_of
from codestress.generation.prompts import prompt_text
from codestress.literals import parse_json
from codestress.notes import noted
from codestress.papers.codecrash import further_readings
from codestress.papers.codecrash.assertions import score_assertion, score_assertion_as_run
from codestress.papers.codecrash.contest_programs import contest_problems, positional
from codestress.papers.codecrash.perturbations.edits import Guard
from codestress.papers.codecrash.perturbations.own import own_perturbations
from codestress.papers.codecrash.perturbations.python import PythonProgram
from codestress.papers.codecrash.perturbations.variants import (
    Checked,
    Perturbation,
    Variant,
    check_problems,
    make_variants,
)
from codestress.parameters import Asked, Interval, RecomputedByDraws, Seeded, Study, for_each_model, no_questions
from codestress.paths import shown
from codestress.problems.generated import generated_problems
from codestress.problems.problem_files import cruxeval, known_source, livecodebench, own_problems, read_text
from codestress.problems.program import Problem, from_stranger
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.scoring.judging import unread
from codestress.scoring.predictions import Task
from codestress.simulated.reading import segments
from codestress.types import LANGUAGE_NAMES, Language, Message, NotRun, Prompt, Response, Sampling, Score, Trial, Trials

SOURCES = ("cruxeval", "livecodebench", "generated", "contest")
Source = Annotated[str, known_source(*SOURCES)]
Mode = Literal["direct", "cot"]
Truth = Annotated[Literal["any", "false"], BeforeValidator(lambda value: "false" if value is False else value)]
"""YAML reads a bare `false` as no text."""
Density = Annotated[float, Field(gt=0, le=1)]
COMMENT = re.compile(r"\s*(?:#|//) .*$")
MESSAGES = ("MCC", "MPS")
"""What a density applies to."""


class Perturbed(Seeded):
    """Section 2: programs and perturbations. Defaults are the paper's."""

    problems: list[Source] = Field(
        ["cruxeval", "livecodebench"],
        min_length=1,
        description="generated and contest are the kit's own, the others data sets",
    )
    n_problems: int = Field(0, ge=0, description="how many of each, from the first on; 0: all (generated: 800)")
    languages: list[Literal["python", "javascript"]] = Field(
        ["python"], min_length=1, description="of the programs; javascript: contest has twins, others need translations"
    )
    translations: str = Field("", description="JSON Lines of id and code: JavaScript written by a model")
    task: Literal["output", "input"] = Field("output", description="what is predicted; livecodebench: outputs only")
    perturbations: list[Perturbation] = Field(
        ["VAN", "PSC-ALL", "MCC", "MPS", "MHC"], min_length=1, description="VAN is the program as it is"
    )
    densities: list[Density] = Field([1.0], min_length=1, description="share of the places that get a message (p)")
    hints: str = Field("generated", description="MHC's values: generated, or a JSON Lines file of id, task and value")
    guard: Guard = Field(
        "tag", description="what the text does not prove to mean the same: refuse it, or tag it and count it"
    )
    truth: Truth = Field("any", description="of messages in the asked call: false ones alone, or any, as in the paper")


class Questions(Perturbed, Asked):
    """Sections 2 and 3: what is asked."""

    SINGLE = (
        *("n_problems", "modes", "samples_direct", "samples_cot", "temperature", "top_p"),
        *("max_tokens_direct", "max_tokens_cot"),
    )

    modes: list[Mode] = Field(["direct"], min_length=1, description="direct: 2 examples; cot: step by step, 1 example")
    ignore: list[bool] = Field([False], min_length=1, description="the model is told to ignore comments")
    refactor: list[bool] = Field([False], min_length=1, description="the model first cleans the program up")
    samples_direct: int = Field(3, ge=1, description="candidates, direct")
    samples_cot: int = Field(1, ge=1, description="candidates, step by step")
    temperature: float = Field(0.2, ge=0, le=2, description="of all requests")
    top_p: float = Field(0.95, gt=0, le=1, description="of all requests")
    max_tokens_direct: int = Field(200, ge=1, description="longest direct answer")
    max_tokens_cot: int = Field(2000, ge=1, description="longest answer step by step, and longest clean program")


class Shares(Questions, Interval):
    """What needs intervals of shares."""


class Predictions(Shares):
    """Differences to vanilla."""

    relative: bool = Field(True, description="differences to vanilla in % of it; false: in points")


class DensitySweep(Predictions):
    """Section 4.1: Figure 4 and Table 6."""

    show: Literal["accuracy", "tokens"] = Field("accuracy", description="what is drawn against the density")


@cache
@noted
def checked_problems(
    source: str, language: Language, n_problems: int, translations: str, seed: int
) -> tuple[list[Checked], dict[str, str]]:
    """The problems of a source that can be used, and the others with what is wrong, by id."""
    if source == "generated":
        problems = generated_problems(n_problems or 800, seed=seed)
    elif source == "contest":
        problems = contest_problems(language)
    elif source in SOURCES:
        problems = cruxeval() if source == "cruxeval" else livecodebench()
    else:
        problems = own_problems(source)
    problems = problems[: n_problems or None]
    if language == "javascript" and source != "contest":
        problems = translated(problems, translations, source)
    with Executor() as executor:
        return check_problems(problems, executor, seed)


def translated(problems: list[Problem], path: str, source: str) -> list[Problem]:
    """JavaScript versions of problems, from a file that `codestress write translations` made."""
    if not path:
        raise ParameterError(
            f"languages = ['javascript']: {source} has no JavaScript programs; make them with "
            "`codestress write translations` and name the file in translations, or take problems = ['contest']"
        )
    codes = {row["id"]: row["code"] for row in read_rows(path, ("id", "code"))}
    found = []
    for problem in problems:
        if problem.id in codes:
            arguments = javascript_arguments(problem)
            found.append(from_stranger(problem, code=codes[problem.id], arguments=arguments, language="javascript"))
    return found


def read_rows(path: str, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Rows of a JSON Lines file that all have these fields as texts; `DataError` names the line that does not."""
    rows = []
    for number, line in enumerate(read_text(Path(path)).splitlines(), start=1):
        try:
            row = parse_json(line, unique=True)
            if not all(isinstance(row[field], str) for field in fields):
                raise TypeError
        except (ValueError, TypeError, KeyError):
            raise DataError(f"{shown(Path(path))}, line {number}: not an object with {', '.join(fields)}") from None
        rows.append(row)
    return rows


def variants(
    given: Perturbed, source: str, language: Language, perturbation: Perturbation, density: float
) -> dict[str, Variant]:
    """What became of each problem of a source under a perturbation, by id."""
    how = {"seed": given.seed, "task": given.task, "guard": given.guard, "truth": given.truth}
    return _variants(source, language, given.n_problems, given.translations, perturbation, density, given.hints, **how)


@cache
@noted
def _variants(
    source: str,
    language: Language,
    n_problems: int,
    translations: str,
    perturbation: Perturbation,
    density: float,
    hints: str,
    **how: Any,
) -> dict[str, Variant]:
    problems, _ = checked_problems(source, language, n_problems, translations, how["seed"])
    written = None
    if perturbation == "MHC" and hints != "generated":
        rows = read_rows(hints, ("id", "task", "value"))
        written = {row["id"]: row["value"] for row in rows if row["task"] == how["task"]}
    with Executor() as executor:
        return make_variants(problems, perturbation, executor, density=density, written_hints=written, **how)


def made_variants(
    given: Perturbed,
) -> Iterator[tuple[str, Language, Perturbation, float, dict[str, Variant]]]:
    """Each source, language, perturbation and density (1 where none applies), and what became of its problems."""
    for source, language, perturbation in product(given.problems, runnable(given.languages), given.perturbations):
        for density in given.densities if perturbation in MESSAGES else [1.0]:
            yield source, language, perturbation, density, variants(given, source, language, perturbation, density)


@for_each_model
def predictions(given: Questions) -> Trials:
    """Every question about every variant. What was refused or rejected is not asked; what a perturbation left
    unchanged is the vanilla question again, so it is asked once. Vanilla programs have no comments to be ignored
    (Table 8)."""
    if given.task == "input" and ("livecodebench" in given.problems or "javascript" in given.languages):
        raise ParameterError("task = 'input': not for livecodebench (one input is recorded, section 3.1) or JavaScript")
    table: dict[tuple[Any, ...], dict[str, Variant]] = {tuple(key): found for *key, found in made_variants(given)}
    samples = {"direct": given.samples_direct, "cot": given.samples_cot}
    trials = [
        Trial(
            problem=name,
            factors={
                "dataset": source,
                "language": language,
                "task": given.task,
                "mode": mode,
                "perturbation": perturbation,
                "density": density if perturbation in MESSAGES else 0.0 if perturbation in ("VAN", "AGAIN") else 1.0,
                "ignore": told,
                "refactor": cleaned,
                "status": variant.status,
                "question": variant.problem.question or name,
            },
            seed=given.seed,
            sample=sample + (samples[mode] if perturbation == "AGAIN" else 0),
        )
        for (source, language, perturbation, density), found in table.items()
        for mode in given.modes
        for told in given.ignore
        if not (told and perturbation == "VAN")
        for cleaned in given.refactor
        for name, variant in found.items()
        if variant.status in ("applied", "unchanged")
        for sample in range(samples[mode])
    ]

    def problem_of(trial: Trial) -> Problem:
        of = trial.factors
        density = of["density"] if of["perturbation"] in MESSAGES else 1.0
        return table[of["dataset"], of["language"], of["perturbation"], density][trial.problem].problem

    def asked(trial: Trial, problem: Problem) -> Prompt:
        mode: Mode = "cot" if trial.factors["mode"] == "cot" else "direct"
        sampling = Sampling(
            given.temperature, given.top_p, given.max_tokens_cot if mode == "cot" else given.max_tokens_direct
        )
        return question(problem, given.task, mode, bool(trial.factors["ignore"]), sampling)

    def render(trial: Trial) -> Prompt:
        problem = problem_of(trial)
        if trial.factors["refactor"]:
            return cleaning(problem, Sampling(given.temperature, given.top_p, given.max_tokens_cot))
        return asked(trial, problem)

    def follow_up(trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        if not trial.factors["refactor"] or len(responses) > 1:
            return None
        code = fenced_program(responses[0].text)
        return asked(trial, written_by_model(problem_of(trial), code)) if code else None

    def judge(rule: Callable[[Problem, Task, Response], Score], trial: Trial, response: Response) -> Score:
        if trial.factors["refactor"] and not response.earlier:
            return unread(response, "no program in a fenced block")
        return rule(problem_of(trial), given.task, response)

    def chance(trial: Trial, prompt: Prompt, settings: Mapping[str, Any]) -> float | None:
        after = (asked(trial, problem_of(trial)),) if trial.factors["refactor"] else ()
        known = further_readings.readings(settings, prompt, *after)
        return known.right if known else None

    return Trials(
        trials,
        render,
        {"strict": partial(judge, score_assertion), "reference": partial(judge, score_assertion_as_run)},
        follow_up=follow_up if any(given.refactor) else None,
        steps=lambda trial: 2 if trial.factors["refactor"] else 1,
        chance=chance,
        known=f"estimated from {further_readings.FURTHER} further readings of each question",
        not_run=not_run(given.languages),
    )


def question(problem: Problem, task: Task, mode: Mode, ignore: bool, sampling: Sampling) -> Prompt:
    """The prompt of appendix D's form: instruction, examples, program, assertion to complete. The kit's own words but
    for the two sentences that the paper prints."""
    language = problem.language
    parts = [prompt_text(f"codecrash.{task}.{mode}")]
    parts += [prompt_text("codecrash.ignore")] if ignore else []
    parts += [prompt_text(f"codecrash.examples.{task}.{mode}.{language}"), prompt_text("codecrash.question")]
    text = Template("\n\n".join(parts)).substitute(
        language=LANGUAGE_NAMES[language], fence=language, code=problem.code, asked=assertion_to_complete(problem, task)
    )
    messages = (Message("system", prompt_text("codecrash.system")), Message("user", text))
    return Prompt(messages, sampling, source=problem.source)


def assertion_to_complete(problem: Problem, task: Task) -> str:
    """`f(1) == ??`, or `f(??) == 2`."""
    if task == "input":
        return f"{problem.function}(??) == {problem.output}"
    return f"{problem.call} {'===' if problem.language == 'javascript' else '=='} ??"


def cleaning(problem: Problem, sampling: Sampling) -> Prompt:
    """The first request of the refactoring pipeline (section 4.3)."""
    text = Template(prompt_text("codecrash.refactor")).substitute(
        language=LANGUAGE_NAMES[problem.language], function=problem.function, fence=problem.language, code=problem.code
    )
    return Prompt((Message("user", text),), sampling)


def fenced_program(text: str) -> str:
    """The content of the last fenced block; empty where there is none."""
    blocks = re.findall(r"```[\w]*\n(.*?)\n```", text, re.S)
    return str(blocks[-1]) if blocks else ""


def written_by_model(problem: Problem, code: str) -> Problem:
    """The problem with a program that a model wrote from it.

    It stays the kit's own only where it is made of pieces of the shown program (lines, sentences of long ones), in
    their order, comments taken away: that is all that a reader does.
    """
    shown = iter(segments(problem.code))
    known = all(any(line in (one, COMMENT.sub("", one)) for one in shown) for line in segments(code))
    return replace(problem, code=code) if known else from_stranger(problem, code=code)


def javascript_arguments(problem: Problem) -> str:
    """Arguments of a Python problem as JSON, in the order of the parameters."""
    return positional(problem.arguments, PythonProgram(problem).parameters(), "javascript")


def not_run(languages: Sequence[Language]) -> tuple[NotRun, ...]:
    """The languages whose programs cannot be run here, and why not."""
    why = {language: missing(language) for language in languages}
    return tuple(NotRun("language", name, LANGUAGE_NAMES[name], reason) for name, reason in why.items() if reason)


def runnable(languages: Sequence[Language]) -> list[Language]:
    """The languages whose programs can be run here; `SandboxError` where none of them can."""
    left = not_run(languages)
    if len(left) == len(languages):
        raise SandboxError("; ".join(f"{one.label}: {one.why}" for one in left))
    return [language for language in languages if language not in {one.value for one in left}]


def nothing_asked(given: Perturbed) -> Trials:
    """For tables of what was made, not of what was answered."""
    return replace(no_questions(given), not_run=not_run(given.languages))


def custom_files(given: Perturbed) -> list[Path]:
    """Files of the custom perturbations that are named."""
    return [file_of(own.function) for name, own in own_perturbations().items() if name in given.perturbations]


def files_of_answers(given: Perturbed) -> list[Path]:
    """These, and what is known of simulated readers."""
    return [further_readings.READINGS, *custom_files(given)]


STUDIES = {
    "answers": Study(Questions, predictions, files_of_answers),
    "shares": Study(Shares, predictions, files_of_answers),
    "means": Study(Shares, predictions, files_of_answers),
    "predictions": Study(Predictions, predictions, files_of_answers),
    "density": Study(DensitySweep, predictions, files_of_answers),
    "published": Study(RecomputedByDraws, no_questions),
    "variants": Study(Perturbed, nothing_asked, custom_files),
}
"""What params/codecrash/*.yaml may name as `study: codecrash.NAME`."""
