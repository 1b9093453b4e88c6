"""Fault Localizability: a model that found a fault once, does it still find it after changes that do not matter?

Faults are edits of one line, so their labels are exact; a localized task is asked again under mutations that are
proved neutral, in the same run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from string import Template
from typing import Annotated, Any, Literal

from pydantic import Field

from codestress.errors import ParameterError
from codestress.generation.prompts import prompt_text
from codestress.literals import parse_json
from codestress.papers.faultloc import truth
from codestress.papers.faultloc.faults.neutral import (
    CONTROLS,
    SPMS,
    Content,
    Control,
    FaultyProgram,
    Put,
    Said,
    Spm,
    bank,
    mutate,
    quarter_of,
)
from codestress.papers.faultloc.faults.sites import KINDS, FaultSite, Kind, fault_sites, is_silent
from codestress.papers.faultloc.faults.trees import NotNeutral
from codestress.papers.faultloc.programs import (
    CorrectProgram,
    Selection,
    Source,
    first_programs,
    normalised,
    packed_rows,
    parses,
)
from codestress.papers.faultloc.scoring import TOLERANCE, score_location
from codestress.parameters import Asked, Facts, Interval, Recomputed, Seeded, Study, for_each_model, no_questions
from codestress.problems.generated.drawing import Draw
from codestress.seeding import rng
from codestress.types import (
    LANGUAGE_NAMES,
    Language,
    Message,
    Outcome,
    Prompt,
    Response,
    Sampling,
    Scalar,
    Score,
    Trial,
    Trials,
)
from codestress.validation import nearest

Strength = Annotated[int, Field(ge=1, le=8)]
FEW = 30
"""Ids that a message may list."""
ATTEMPTS = 4
"""Draws of a mutation before it is given up."""


class Programs(Seeded):
    """Section IV: the programs, their faults and mutations. Defaults are the paper's, where it says."""

    programs: list[Source] = Field(
        ["alpaca", "codesearchnet"],
        min_length=1,
        description="alpaca, codesearchnet: the paper's; installed, java, queens: its packages', the kit's own",
    )
    ids: list[str] = Field([], description="single programs, by their ids; empty: the first n_programs")
    selection: Selection = Field(
        "kit",
        description="kit: programs that pass the filters; artifact: all of the paper's (section IV-A), with its own "
        "faulty programs and their labels where they are at hand (Python)",
    )
    n_programs: int = Field(0, ge=0, description="how many of each, from the first on; 0: all")
    min_lines: int = Field(50, ge=1, description="shortest program")
    max_lines: int = Field(0, ge=0, description="longest program; 0: no limit")
    faults: list[Kind] = Field(list(KINDS), min_length=1, description="kinds of faults")
    per_quarter: int = Field(1, ge=0, description="faults of a kind in each quarter of a program; 0: all sites")
    spms: list[Spm] = Field(list(SPMS), description="mutations under which localized faults are asked again")
    strengths: list[Strength] = Field([1, 2, 4, 6, 8], min_length=1, description="applications of a mutation")


class ProgramsFigure(Programs):
    """The programs themselves (Figure 5 and Table IV)."""

    show: Literal["sizes", "statistics"] = Field("sizes", description="sizes: how long they are; statistics: the table")


class Mutations(Programs):
    """Section IV-C: what the mutations put in."""

    comments: Put = Field("replace", description="misleading comments replace those that are there, or are put in")
    said: list[Said] = Field(["describes"], min_length=1, description="what misleading comments say")


class Localization(Mutations, Asked):
    """Sections IV and V: what is asked."""

    SINGLE = ("temperature", "max_tokens")

    controls: list[Control] = Field(list(CONTROLS), description="what does nothing, asked again like the mutations")
    content: Literal["bank", "model"] = Field("model", description="bank: the kit's; model: by the model under test")
    numbered: bool = Field(False, description="lines are shown with their numbers")
    temperature: float = Field(0.0, ge=0, le=2, description="the paper does not say")
    max_tokens: int = Field(512, ge=1, description="longest answer")


@dataclass(frozen=True)
class Task:
    """A program with one fault: of the kit's own sites, or one of the public artifact with the label that it has."""

    id: str
    correct: CorrectProgram
    kind: Kind
    program: FaultyProgram
    refused: str
    """Why the kit's filters would not have kept it."""
    site: FaultSite | None = None
    """None for one of the artifact."""
    changed: int | None = None
    """The first line of one of the artifact that differs from the program, as it is counted in the data set."""

    @property
    def quarter(self) -> int:
        """Of the label, 0 to 3; of one behind the last line, 3."""
        return self.program.quarter

    @property
    def label_is_right(self) -> bool:
        """Whether the labelled line is the one that differs, and undoing the edit gives the program back."""
        if self.site is None:
            return self.changed == self.program.line
        before, lines, at = self.correct.code.split("\n"), self.program.code.split("\n"), self.program.line - 1
        now = lines.pop(at)
        was = before.pop(at) if len(before) > len(lines) else None
        return now != was and lines == before and self.site.undo(self.program.code) == self.correct.code


def tasks_of(given: Programs, source: Source) -> Mapping[str, Task]:
    """The tasks of a source by id: for each program, kind and quarter as many sites as asked for, drawn by the seed.

    Mutants that do not parse, and those of the kit's own programs that no run shows, are drawn again. Of the artifact's
    tasks, where these are selected and at hand, as many are drawn of each place that their labels name.
    """
    which = (source, given.min_lines, given.max_lines, given.n_programs, tuple(given.ids), given.selection)
    made = _published_tasks if given.selection == "artifact" and source == "alpaca" else _tasks
    return made(which, tuple(given.faults), given.per_quarter, given.seed)


Which = tuple[Source, int, int, int, tuple[str, ...], Selection]
"""What `first_programs` takes."""


@cache
def _tasks(which: Which, kinds: tuple[Kind, ...], per_quarter: int, seed: int) -> dict[str, Task]:
    tasks: dict[str, Task] = {}
    for program in first_programs(*which):
        by_place: dict[tuple[Kind, int], list[FaultSite]] = {}
        for site in sites_of(program):
            total = program.lines + (site.kind == "MisplacedReturn")
            by_place.setdefault((site.kind, quarter_of(site.line, total)), []).append(site)
        for kind, quarter in itertools.product(kinds, range(4)):
            sites = by_place.get((kind, quarter), [])
            order = rng(seed, "sites", program.id, kind, quarter).permutation(len(sites))
            drawn = (sites[index] for index in order)
            made = ((site, FaultyProgram(site.apply(program.code), site.line)) for site in drawn)
            usable = (one for one in made if parses(one[1].code, program.language) and not is_silent(program, one[0]))
            for number, (site, faulty) in enumerate(itertools.islice(usable, per_quarter or None), start=1):
                name = f"{program.id}/{kind}/{quarter + 1}.{number}"
                tasks[name] = Task(name, program, kind, faulty, program.refused, site)
    return tasks


@cache
def _published_tasks(which: Which, kinds: tuple[Kind, ...], per_quarter: int, seed: int) -> dict[str, Task]:
    programs = {one.id: one for one in first_programs(*which)}
    by_place: dict[tuple[str, Kind, int], list[Task]] = {}
    for row in packed_rows("python_buggy_tasks.jsonl.gz"):
        kind, base = PUBLISHED_KINDS[row["sam"]], str(row["base"])
        if kind in kinds and base in programs:
            task = _published_task(programs[base], kind, row)
            by_place.setdefault((base, kind, task.quarter), []).append(task)
    tasks: dict[str, Task] = {}
    for program, kind, quarter in itertools.product(programs, kinds, range(4)):
        found = by_place.get((program, kind, quarter), [])
        order = rng(seed, "published", program, kind, quarter).permutation(len(found))
        tasks |= {found[index].id: found[index] for index in order[: per_quarter or None]}
    return tasks


PUBLISHED_KINDS: dict[str, Kind] = {**{kind: kind for kind in KINDS}, "BooleanLogic": "IncorrectBooleanLogic"}
"""What the artifact calls the faults."""


def _published_task(program: CorrectProgram, kind: Kind, row: Mapping[str, Any]) -> Task:
    """A row of the artifact, with the first reason for which the kit's filters would have refused it."""
    faulty = FaultyProgram(normalised(row["buggy_code"]), int(row["line_no"]))
    reasons = (
        (program.refused, program.refused),
        (not parses(faulty.code, "python"), "the faulty program does not parse"),
        (row["changed_line"] is None, "the faulty program is the correct one"),
        (faulty.line > faulty.lines, "the label is no line of the program"),
        (row["changed_line"] != faulty.line, "the label is another line than the changed one"),
    )
    why = next((told for holds, told in reasons if holds), "")
    name = f"{program.id}/{kind}/{faulty.quarter + 1}.{row['variant']}"
    return Task(name, program, kind, faulty, why, changed=row["changed_line"])


@lru_cache(maxsize=4096)
def sites_of(program: CorrectProgram) -> list[FaultSite]:
    """All sites of a program; of the kind of fault that it is to have, only those that make its faulty line."""
    sites = fault_sites(program.code, program.language)
    if not program.faulty:
        return sites
    meant = [site for site in sites if site.apply(program.code).split("\n")[site.line - 1].strip() == program.faulty]
    kinds = {site.kind for site in meant}
    return [site for site in sites if site.kind not in kinds or site in meant]


@for_each_model
def localization(given: Localization) -> Trials:
    """Every task as it is, and under every mutation at every strength.

    A mutated task begins with the question about the task as it is, which is asked once for all; only who localizes
    the fault is asked again. Otherwise, or where no neutral mutation can be made, the trial is skipped and counted.
    """
    table = {source: tasks_of(given, source) for source in given.programs}
    known = {task.correct.id for tasks in table.values() for task in tasks.values()}
    if unknown := set(given.ids) - known:
        every = [
            one.id
            for source in given.programs
            for one in first_programs(source, given.min_lines, given.max_lines, 0, (), given.selection)
        ]
        other = nearest(min(unknown), every) if len(every) <= FEW and min(unknown) not in every else ""
        raise ParameterError(
            f"ids = {given.ids}: of {', '.join(given.programs)}, no program in which one of these faults can be made "
            f"has the id {min(unknown)!r}{other}"
        )
    conditions: list[tuple[str, int, str]] = [("none", 0, "")]
    if given.spms:
        conditions += [(control, 1, "") for control in given.controls]
    for spm in given.spms:
        told = given.said if "comments" in spm else [""]
        conditions += [(spm, strength, said) for said in told for strength in given.strengths]
    trials = []
    for source, name, task in ((source, *one) for source, tasks in table.items() for one in tasks.items()):
        correct = task.correct
        about: dict[str, Scalar] = {"source": source, "language": correct.language, "relevance": correct.relevance}
        about |= {"fault": task.kind, "quarter": task.quarter + 1}
        refused: dict[str, Scalar] = {"refused": task.refused} if given.selection == "artifact" else {}
        for change, times, words in conditions:
            asked: dict[str, Scalar] = {"spm": change, "strength": times, "said": words}
            trials.append(Trial(name, about | asked | refused, given.seed))
    sampling = Sampling(temperature=given.temperature, max_tokens=given.max_tokens)

    def task_of(trial: Trial) -> Task:
        return table[trial.factors["source"]][trial.problem]  # type: ignore[index]

    def render(trial: Trial) -> Prompt:
        task = task_of(trial)
        return localize_prompt(task.correct, task.program.code, given.numbered, sampling)

    def follow_up(trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        task = task_of(trial)
        left = _steps(given, trial) - len(responses)
        if not left or not _localized(task, responses[0]):
            return None
        if left == 2:
            return content_prompt(task, trial, sampling)
        mutated = _mutated(given, task, trial, responses)
        if isinstance(mutated, str):
            return None
        prompt = localize_prompt(task.correct, mutated.code, given.numbered, sampling)
        return replace(prompt, repetition=int(trial.factors["spm"] == "unchanged"))

    def judge(trial: Trial, response: Response, tolerance: int) -> Score:
        asked = asked_about(given, task_of(trial), trial, response)
        if isinstance(asked, str):
            return Score(Outcome.SKIPPED, 0.0, asked)
        return score_location(response, asked.line, asked.code, tolerance)

    def chance(trial: Trial, prompt: Prompt, settings: Mapping[str, Any]) -> float | None:
        """Of what is asked again: of a fault that was localized before, by answers that tell nothing of these."""
        task = task_of(trial)
        if trial.factors["spm"] == "none":
            return truth.named(prompt, settings, task.program.line)
        mutated = _mutated(given, task, trial, ())
        if given.content == "model" or isinstance(mutated, str):
            return None
        if mutated.code == task.program.code and not given.temperature:
            return 1.0  # the same question, which is always read the same way
        again = localize_prompt(task.correct, mutated.code, given.numbered, sampling)
        return truth.named(again, settings, mutated.line)

    return Trials(
        trials,
        render,
        {
            "strict": lambda trial, response: judge(trial, response, 0),
            "reference": lambda trial, response: judge(trial, response, TOLERANCE),
        },
        chance=chance,
        follow_up=follow_up if given.spms else None,
        steps=lambda trial: _steps(given, trial),
    )


def _steps(given: Localization, trial: Trial) -> int:
    """Requests of a trial when all goes well."""
    if trial.factors["spm"] == "none":
        return 1
    written = not WANTED.keys().isdisjoint(str(trial.factors["spm"]).split("+"))
    return 3 if given.content == "model" and written else 2


def asked_about(given: Localization, task: Task, trial: Trial, response: Response) -> FaultyProgram | str:
    """The program that a response to a trial speaks of, with its faulty line; else why the trial was skipped."""
    if trial.factors["spm"] == "none":
        return task.program
    responses = (*response.earlier, response)
    if not _localized(task, responses[0]):
        return "not localized before"
    mutated = _mutated(given, task, trial, responses)
    return str(mutated) if len(responses) < _steps(given, trial) else mutated


@lru_cache(maxsize=20_000)
def _localized(task: Task, response: Response) -> bool:
    """Whether the fault was found, exactly: worked out once for each response."""
    program = task.program
    return score_location(response, program.line, program.code, 0).outcome is Outcome.CORRECT


def _mutated(given: Localization, task: Task, trial: Trial, responses: tuple[Response, ...]) -> FaultyProgram | str:
    """The mutated program, with the kit's content or what the second response wrote, or why there is none."""
    said: Said = "accuses elsewhere" if trial.factors["said"] == "accuses elsewhere" else "describes"
    if given.content == "bank" or len(responses) < 2:
        content = bank(task.correct.language, said, given.comments)
    else:
        content = read_content(responses[1].text, said, given.comments)
    return mutated_program(task, trial.factors["spm"], int(trial.factors["strength"] or 1), content, trial.seed)


@lru_cache(maxsize=20_000)
def mutated_program(task: Task, spm: Spm | Control, strength: int, content: Content, seed: int) -> FaultyProgram | str:
    """A neutral mutation of a task, else why there is none."""
    return drawn_mutation(task.program, task.correct.language, task.id, spm, strength, content, seed)


def drawn_mutation(
    program: FaultyProgram, language: Language, name: str, spm: Spm | Control, times: int, content: Content, seed: int
) -> FaultyProgram | str:
    """A neutral mutation in a quarter drawn for it, drawn again a few times; else why there is none."""
    why = ""
    for attempt in range(ATTEMPTS):
        draw = Draw(rng(seed, "mutate", name, spm, times, attempt))
        quarter = draw.integer(0, 3)
        try:
            return mutate(program, spm, language, draw, strength=times, quarter=quarter, content=content)
        except NotNeutral as error:
            why = str(error)
    return f"no neutral mutation: {why}"


def read_content(text: str, said: Said = "describes", put: Put = "replace") -> Content:
    """What a model wrote to put into its program: the lists of the last JSON object; anything else is left out."""
    found = re.search(r"\{.*\}", text, re.S)
    try:
        value = parse_json(found[0], strict=False) if found else {}
    except ValueError:
        value = {}

    def texts(name: str) -> tuple[str, ...]:
        items = value.get(name) if isinstance(value, dict) else None
        return tuple(one.strip("\n") for one in items if isinstance(one, str)) if isinstance(items, list) else ()

    return Content(texts("comments"), texts("names"), texts("dead_code"), said, put)


def localize_prompt(program: CorrectProgram, code: str, numbered: bool, sampling: Sampling) -> Prompt:
    """The question of section II, with a structured answer."""
    shown = "\n".join(f"{n}: {line}" for n, line in enumerate(code.split("\n"), start=1)) if numbered else code
    text = Template(prompt_text("localize")).substitute(
        specification=program.specification,
        numbers=prompt_text("localize.numbers") if numbered else "",
        fence=program.language,
        code=shown,
    )
    return Prompt((Message("user", text),), sampling)


WANTED = {
    "comments": ("misleading comments of one line each", '"comments": ["…"]'),
    "names": ("misleading names for variables", '"names": ["…"]'),
    "dead_code": (
        "snippets of two or three lines that are never executed, each under a condition of constants that is false",
        '"dead_code": ["…"]',
    ),
}


COMMENTS = {
    "describes": ", coherent descriptions of something that the program has nothing to do with, and of no fault",
    "accuses elsewhere": ", each of which says that the code below it is wrong",
}


def content_prompt(task: Task, trial: Trial, sampling: Sampling) -> Prompt:
    """Asks the model under test for what its program is to be mutated with (section IV-C)."""
    strength = int(trial.factors["strength"] or 1)
    parts = [part for part in str(trial.factors["spm"]).split("+") if part in WANTED]
    asked = {part: WANTED[part][0] for part in parts}
    if "comments" in asked:
        asked["comments"] += COMMENTS[str(trial.factors["said"])]
    wanted = "; ".join(f"{2 * strength} {asked[part]}" for part in parts) + "."
    text = Template(prompt_text("localize.content")).substitute(
        language=LANGUAGE_NAMES[task.correct.language],
        wanted=wanted,
        form="{" + ", ".join(WANTED[part][1] for part in parts) + "}",
        fence=task.correct.language,
        code=task.program.code,
    )
    return Prompt((Message("user", text),), sampling)


class LocalizationFigure(Localization, Interval):
    """The figures of section V that share their questions."""

    show: Literal["faults", "quarters", "categories", "versions", "spms", "models", "strengths"] = Field(
        "faults", description="what the figure tells apart"
    )


class Audit(Facts):
    """The public tasks' labels; nothing is asked."""

    tasks: Literal["public", "counted"] = Field(
        "public", description="public: the tasks, a data set; counted: what was counted in them (tolerance 2)"
    )
    tolerance: int = Field(2, ge=0, description="lines by which the artifact lets an answer be off")


STUDIES = {
    "localization": Study(LocalizationFigure, localization),
    "example": Study(Localization, localization),
    "models": Study(Facts, no_questions),
    "programs": Study(ProgramsFigure, no_questions),
    "mutations": Study(Mutations, no_questions),
    "published": Study(Recomputed, no_questions),
    "audit": Study(Audit, no_questions),
}
"""What params/faultloc/*.yaml may name as `study: faultloc.NAME`."""
