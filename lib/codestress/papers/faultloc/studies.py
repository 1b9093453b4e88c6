"""Studies of Fault Localizability: does a model that localized a fault still localize it after
neutral mutations?

Faults are edits of one line, so their labels (the faulty lines' numbers) are exact. The same run
asks about each localized task again, under mutations that are proved to leave the meaning as it is.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from codestress.mutate.draw import Draw
from codestress.mutate.faults.fault_site import KINDS, FaultSite, Kind
from codestress.mutate.faults.neutral import (
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
from codestress.mutate.faults.sites import fault_sites
from codestress.mutate.faults.trees import NotNeutral
from codestress.parameters import (
    Facts,
    Interval,
    Recomputed,
    Seeded,
)
from codestress.paths import ROOT
from codestress.prompts import filled, prompt_text
from codestress.scoring.forms import text_lists, without_thoughts
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
)

from .artifact import Audit, packed_rows
from .printed import Naming, Printed
from .programs import (
    CorrectProgram,
    Selection,
    Source,
    first_programs,
    is_silent,
    normalised,
    parses,
)
from .scoring import TOLERANCES, score_location

Strength = Annotated[int, Field(ge=1, le=8)]
ATTEMPTS = 4
"""Number of draws of a mutation's place before the mutation is given up."""


class Programs(Seeded):
    """Parameters of the programs, faults and mutations (section IV of Fault Localizability).
    Defaults are the paper's where the paper states them."""

    programs: list[Source] = Field(
        ["alpaca", "codesearchnet"],
        min_length=1,
        description="alpaca, codesearchnet: the paper's; installed, java: its packages', the kit's own",
    )
    selection: Selection = Field(
        "kit",
        description="kit: programs that pass the filters; artifact: all of the paper's (section IV-A), with its own "
        "faulty programs and their labels where they are at hand (Python); drifted: the kit's, made as the artifact's "
        "(Python, formatted anew after the label was taken)",
    )
    n_programs: int = Field(
        0, ge=0, description="how many of each, from the first on; 0: all"
    )
    min_lines: int = Field(50, ge=1, description="shortest program")
    max_lines: int = Field(0, ge=0, description="longest program; 0: no limit")
    faults: list[Kind] = Field(list(KINDS), min_length=1, description="kinds of faults")
    per_quarter: int = Field(
        1,
        ge=0,
        description="faults of a kind in each quarter of a program; 0: all sites",
    )
    per_quarter_of: dict[Source, Annotated[int, Field(ge=0)]] = Field(
        {},
        description="the same for single sources: Java's tasks are not public, its sites are over twice the paper's",
    )
    spms: list[Spm] = Field(
        list(SPMS), description="mutations under which localized faults are asked again"
    )
    strengths: list[Strength] = Field(
        [1, 2, 4, 6, 8], min_length=1, description="applications of a mutation"
    )


def mutations_of(given: Programs, language: Language) -> list[Spm]:
    """Returns those names of mutations in `given.spms` that apply to programs in `language`: all,
    but function shuffling (`functions`) only for Java (Table I)."""
    return [spm for spm in given.spms if spm != "functions" or language == "java"]


class ProgramsFigure(Programs):
    """Parameters of the figure of the programs themselves: lengths (the paper's Figure 5) or
    statistics (Table IV)."""

    show: Literal["sizes", "statistics"] = Field(
        "sizes", description="sizes: how long they are; statistics: the table"
    )


class Mutations(Programs):
    """Parameters of the misleading comments that mutations insert: what they say, and where they go
    (section IV-C of Fault Localizability)."""

    comments: Put = Field(
        "replace",
        description="misleading comments replace those that are there, or are put in",
    )
    said: list[Said] = Field(
        ["describes"], min_length=1, description="what misleading comments say"
    )


def conditions(given: Mutations, language: Language) -> Iterator[dict[str, Scalar]]:
    """Yields the factors spm, strength and said (what comments say) of every mutation of a task
    in `language` at every strength."""
    for spm in mutations_of(given, language):
        for said in given.said if "comments" in spm else [""]:
            for strength in given.strengths:
                yield {"spm": spm, "strength": strength, "said": said}


def mutated(
    given: Mutations, task: Task, factors: Mapping[str, Any], text: str | None = None
) -> FaultyProgram | str:
    """Returns the program of `task` under the mutation or control that `factors` name, with the
    texts to insert that the model's response `text` has, or without one the kit's; or, as text,
    why no mutation is possible."""
    language = task.correct.language
    said: Said = factors["said"] or "describes"
    content = bank(language, said, given.comments)
    if text is not None:
        content = read_content(text, said, given.comments)
    how = (factors["spm"], factors["strength"] or 1, content, given.seed)
    return drawn_mutation(task.program, language, task.id, *how)


@dataclass(frozen=True)
class Task:
    """A program with one fault and its label (the faulty line's number): made by the kit, or taken
    from the paper's public artifact."""

    id: str
    correct: CorrectProgram
    kind: Kind
    program: FaultyProgram
    refused: str
    """Reason for which the kit's filters reject the task; empty if the filters keep the task."""
    changed: int | None
    """First line that differs from the correct program; None if no line differs."""
    site: FaultSite | None = None
    """Edit that made the fault; None for a task of the artifact or with a drifted label."""

    @property
    def quarter(self) -> int:
        """Quarter of the faulty program, 0 to 3, in which the label (the faulty line's number)
        stands; a label behind the last line counts as 3."""
        return self.program.quarter

    @property
    def label_is_right(self) -> bool:
        """Whether the label is the first line that differs from the correct program. For a task
        that has the edit that made the fault (its `site`), undoing the edit must restore the correct
        program, byte for byte."""
        correct, code = self.correct.code, self.program.code
        undone = self.site is None or self.site.undo(code) == correct
        return undone and self.changed == self.program.line


def tasks_of(given: Programs, source: Source) -> Mapping[str, Task]:
    """Returns the tasks (programs with one fault) of `source` by id: for each program, kind of
    fault and quarter of the program, up to `given.per_quarter` tasks (0: all; for a source named in
    `given.per_quarter_of`, the number there), drawn by the seed.

    Left out are faulty programs that do not parse, and faults in the kit's own programs that no
    test run shows. With `given.selection` = `artifact`, Alpaca's tasks are drawn from the paper's
    public ones; with `drifted`, Python labels are off as the artifact's are. Raises `DataError` if
    a data set is not at hand.
    """
    size = (given.min_lines, given.max_lines, given.n_programs)
    per_quarter = given.per_quarter_of.get(source, given.per_quarter)
    published = given.selection == "artifact" and source == "alpaca"
    make = _published_tasks if published else _tasks
    which = (source, *size, given.selection)
    return make(which, tuple(given.faults), per_quarter or None, given.seed)


def all_tasks(given: Programs) -> dict[Source, Mapping[str, Task]]:
    """Returns the tasks of all sources in `given.programs`, by source and then by id."""
    return {source: tasks_of(given, source) for source in given.programs}


Which = tuple[Source, int, int, int, Selection]
"""Arguments of `first_programs`: source, min_lines, max_lines, count, selection."""


@cache
def _tasks(
    which: Which, kinds: tuple[Kind, ...], per_quarter: int | None, seed: int
) -> dict[str, Task]:
    tasks: dict[str, Task] = {}
    for program in first_programs(*which):
        places: dict[tuple[Kind, int], list[FaultSite]] = defaultdict(list)
        for site in fault_sites(program.code, program.language):
            total = program.lines + (site.kind == "MisplacedReturn")
            places[site.kind, quarter_of(site.line, total)].append(site)
        for kind, quarter in itertools.product(kinds, range(4)):
            sites = places[kind, quarter]
            order = rng(seed, "sites", program.id, kind, quarter).permutation(
                len(sites)
            )
            made = (_task(program, sites[index]) for index in order)
            found = itertools.islice(filter(None, made), per_quarter)
            for number, task in enumerate(found, start=1):
                name = f"{program.id}/{kind}/{quarter + 1}.{number}"
                if which[-1] == "drifted" and program.language == "python":
                    task = _drifted(task)
                tasks[name] = replace(task, id=name)
    return tasks


def _task(program: CorrectProgram, site: FaultSite) -> Task | None:
    """Returns the task, still without an id, that `site` makes of `program`; None if the faulty
    program does not parse or no test run shows the fault."""
    code = site.apply(program.code)
    if not parses(code, program.language) or is_silent(program, site):
        return None
    faulty, changed = FaultyProgram(code, site.line), first_change(program.code, code)
    return Task("", program, site.kind, faulty, program.refused, changed, site)


def first_change(before: str, after: str) -> int | None:
    """Returns the number, from 1, of the first line in which the texts `before` and `after` differ
    (or that one of them lacks); None if the texts are the same."""
    pairs = itertools.zip_longest(before.split("\n"), after.split("\n"))
    for number, (was, now) in enumerate(pairs, start=1):
        if was != now:
            return number
    return None


def _drifted(task: Task) -> Task:
    """Returns `task`, in Python, with a label that drifts as the artifact's do: it belongs to the
    text before `ast.unparse` formats the program anew. Labels of misplaced returns stay right,
    since such a fault is inserted as text."""
    if task.kind == "MisplacedReturn":
        return task
    before, after = (
        ast.unparse(ast.parse(code)) for code in (task.correct.code, task.program.code)
    )
    faulty, changed = replace(task.program, code=after), first_change(before, after)
    return replace(task, program=faulty, changed=changed, site=None)


@cache
def _published_tasks(
    which: Which, kinds: tuple[Kind, ...], per_quarter: int | None, seed: int
) -> dict[str, Task]:
    programs = {one.id: one for one in first_programs(*which)}
    places: dict[tuple[str, Kind, int], list[Task]] = defaultdict(list)
    for row in packed_rows("python_buggy_tasks.jsonl.gz"):
        kind, base = PUBLISHED_KINDS[row["sam"]], str(row["base"])
        if kind in kinds and base in programs:
            task = _published_task(programs[base], kind, row)
            places[base, kind, task.quarter].append(task)
    tasks: dict[str, Task] = {}
    for place in itertools.product(programs, kinds, range(4)):
        found = places[place]
        order = rng(seed, "published", *place).permutation(len(found))
        tasks |= {found[index].id: found[index] for index in order[:per_quarter]}
    return tasks


PUBLISHED_KINDS: dict[str, Kind] = {
    **{kind: kind for kind in KINDS},
    "BooleanLogic": "IncorrectBooleanLogic",
}
"""The kit's name of each kind of fault, by the artifact's name."""


def _published_task(
    program: CorrectProgram, kind: Kind, row: Mapping[str, Any]
) -> Task:
    """Returns the task in `row`, a row of the artifact about `program`, with the fault `kind`. The
    task's `id` is the artifact's BASE/SAM/VARIANT (program, kind of fault, number); its `refused`
    is the first reason for which the kit's filters would reject the task, empty without one."""
    faulty = FaultyProgram(normalised(row["buggy_code"]), int(row["line_no"]))
    changed, why = row["changed_line"], program.refused
    if why:
        pass
    elif not parses(faulty.code, "python"):
        why = "the faulty program does not parse"
    elif changed is None:
        why = "the faulty program is the correct one"
    elif faulty.line > faulty.lines:
        why = "the label is no line of the program"
    elif changed != faulty.line:
        why = "the label is another line than the changed one"
    name = f"{program.id}/{row['sam']}/{row['variant']}"
    return Task(name, program, kind, faulty, why, changed)


class Localization(Mutations, Naming):
    """Parameters of the questions for faulty lines, before and after mutations (sections IV and V
    of Fault Localizability)."""

    controls: list[Control] = Field(
        list(CONTROLS), description="what does nothing, asked again like the mutations"
    )
    content: Literal["bank", "model"] = Field(
        "model", description="bank: the kit's; model: by the model under test"
    )
    numbered: bool = Field(False, description="lines are shown with their numbers")

    def trials(self) -> Iterator[Trial]:
        """Yields the trials that ask for the faulty line of every task: unmutated, under `controls`
        (no change, or a blank line), and under every mutation at every strength.

        A trial with a mutation or control begins with the question about the unmutated task, which
        is asked once for all trials. The next question follows only if the model named exactly the
        faulty line. Otherwise, or if no neutral mutation can be made, the trial is skipped and
        counted.
        """
        plain: list[dict[str, Scalar]] = [{"spm": "none", "strength": 0, "said": ""}]
        for control in self.controls if self.spms else []:
            plain.append({"spm": control, "strength": 1, "said": ""})
        for source, tasks in all_tasks(self).items():
            for name, task in tasks.items():
                language, last = task.correct.language, dict[str, Scalar]()
                about: dict[str, Scalar] = {"source": source, "language": language}
                about |= {"relevance": task.correct.relevance, "fault": task.kind}
                about["quarter"] = task.quarter + 1
                if self.selection == "artifact":
                    last["refused"] = task.refused
                for condition in (*plain, *conditions(self, language)):
                    yield Trial(name, about | condition | last, self.seed)

    def task(self, trial: Trial) -> Task:
        """Returns the task that `trial` is about."""
        return tasks_of(self, trial.factors["source"])[trial.problem]  # type: ignore[arg-type]

    def render(self, trial: Trial) -> Prompt:
        """Returns the question about the unmutated task."""
        task = self.task(trial)
        return self.question(task, task.program.code)

    def question(self, task: Task, code: str) -> Prompt:
        """Returns the prompt that asks for the faulty line of `code`, a faulty version of `task`:
        the question of section II of Fault Localizability, to be answered in JSON."""
        program = task.correct
        values = {"fence": program.language, "specification": program.specification}
        values |= {"code": code, "numbers": ""}
        if self.numbered:
            lines = enumerate(code.split("\n"), start=1)
            values["code"] = "\n".join(f"{number}: {line}" for number, line in lines)
            values["numbers"] = prompt_text("localize.numbers")
        return Prompt((Message("user", filled("localize", values)),), self.sampling)

    def steps(self, trial: Trial) -> int:
        """Returns the number of requests of `trial` if it is not skipped: 1 for an unmutated task,
        else 2, or 3 if the model writes the texts that the mutation inserts."""
        if trial.factors["spm"] == "none":
            return 1
        parts = str(trial.factors["spm"]).split("+")
        return 2 if self.content == "bank" or WANTED.keys().isdisjoint(parts) else 3

    def stage(
        self, trial: Trial, responses: tuple[Response, ...]
    ) -> Prompt | FaultyProgram | str:
        """Returns the next question of `trial` after `responses`: for the texts to insert, if the
        model writes them, then for the faulty line of the mutated program. After the last one, the
        faulty program that it is about; or, as text, why the trial is skipped: the fault was not
        localized before, or no neutral mutation can be made."""
        task, left = self.task(trial), self.steps(trial) - len(responses)
        if trial.factors["spm"] == "none":
            return task.program
        if not _localized(task, responses[0]):
            return "not localized before"
        if left == 2:
            return content_prompt(task, trial, self.sampling)
        text = responses[1].text if self.steps(trial) == 3 else None
        made = mutated(self, task, trial.factors, text)
        if isinstance(made, str) or not left:
            return made
        repetition = int(trial.factors["spm"] == "unchanged")
        return replace(self.question(task, made.code), repetition=repetition)

    def follow_up(self, trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        """Returns the next question of `trial` (see `stage`); None after the last one."""
        stage = self.stage(trial, responses)
        return stage if isinstance(stage, Prompt) else None

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        asked = self.stage(trial, (*response.earlier, response))
        if isinstance(asked, FaultyProgram):
            return score_location(response, asked.line, asked.code, TOLERANCES[rule])
        return Score(Outcome.SKIPPED, math.nan, str(asked))


@lru_cache(maxsize=20_000)
def _localized(task: Task, response: Response) -> bool:
    """Whether `response` names exactly the faulty line of `task`; computed once for each
    response."""
    program = task.program
    return score_location(response, program.line, program.code, 0).value == 1


@lru_cache(maxsize=20_000)
def drawn_mutation(
    program: FaultyProgram,
    language: Language,
    name: str,
    spm: Spm | Control,
    times: int,
    content: Content,
    seed: int,
) -> FaultyProgram | str:
    """Returns `program`, in `language`, under the neutral mutation or control `spm` in a randomly
    drawn quarter, with the new number of its faulty line; or, as text, why `ATTEMPTS` draws made
    none. `times` is the number of applications, `content` has the texts to insert; `seed` and
    `name` decide the draws."""
    for attempt in range(ATTEMPTS):
        draw = Draw(rng(seed, "mutate", name, spm, times, attempt))
        how: dict[str, Any] = {"strength": times, "quarter": draw.integer(0, 3)}
        try:
            return mutate(program, spm, language, draw, content=content, **how)
        except NotNeutral as error:
            why = str(error)
    return f"no neutral mutation: {why}"


def read_content(text: str, said: Said = "describes", put: Put = "replace") -> Content:
    """Returns the `Content` (texts to insert) that a model wrote for mutations: the lists comments,
    names and dead_code in the last JSON object of its response `text`, empty where missing. `said`
    and `put` (what comments say and where they go) are stored with it."""
    names = ("comments", "names", "dead_code")
    lists = text_lists(without_thoughts(text), names)
    comments, words, dead_code = (
        tuple(item.strip("\n") for item in lists.get(name, ())) for name in names
    )
    return Content(comments, words, dead_code, said, put)


WANTED = {
    "comments": "misleading comments of one line each",
    "names": "misleading names for variables",
    "dead_code": "snippets of two or three lines that are never executed, each under a condition of constants "
    "that is false",
}


COMMENTS = {
    "describes": ", coherent descriptions of something that the program has nothing to do with, and of no fault",
    "accuses elsewhere": ", each of which says that the code below it is wrong",
}


def content_prompt(task: Task, trial: Trial, sampling: Sampling) -> Prompt:
    """Returns the prompt that asks the model under test for the texts that the mutation of `trial`
    inserts into the program of `task`: two comments, names or pieces of dead code for each
    application (section IV-C of Fault Localizability)."""
    pieces, wanted = 2 * int(trial.factors["strength"] or 1), []
    parts = [part for part in str(trial.factors["spm"]).split("+") if part in WANTED]
    for part in parts:
        more = COMMENTS[str(trial.factors["said"])] if part == "comments" else ""
        wanted.append(f"{pieces} {WANTED[part]}{more}")
    form = ", ".join(f'"{part}": ["…"]' for part in parts)
    language = task.correct.language
    values = {"language": LANGUAGE_NAMES[language], "fence": language}
    values |= {"wanted": "; ".join(wanted) + ".", "form": "{" + form + "}"}
    values["code"] = task.program.code
    return Prompt((Message("user", filled("localize.content", values)),), sampling)


class LocalizationFigure(Localization, Interval):
    """Parameters of the figures of section V of Fault Localizability, which share their questions;
    its `show` chooses the figure."""

    show: Literal[
        "faults", "quarters", "categories", "versions", "spms", "models", "strengths"
    ] = Field("faults", description="what the figure tells apart")


class Relabel(Localization, Interval):
    """Parameters of the comparison that scores answers about unmutated tasks by their labels and by
    the lines that differ from the correct programs."""

    FILES = {"answers": ("",)}

    answers: str = Field(
        "",
        description="a file of answers: JSON Lines of id and line; empty: asked",
    )
    spms: list[Spm] = Field([], max_length=0, description="none: tasks as they are")

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules by the label, then by the line that differs from the correct program: `changed`
        and, within two lines of it, `changed_reference`."""
        return (*super().rules, "changed", "changed_reference")

    def trials(self) -> Iterator[Trial]:
        """Yields the trials of `every_trial`; none if `answers` names a file, from which the
        answers are read instead."""
        return iter(()) if self.answers else self.every_trial()

    def every_trial(self) -> Iterator[Trial]:
        """Yields the trials that ask about unmutated tasks. The factor `changed_quarter` is the
        quarter, 1 to 4, of the line that differs from the correct program, or None."""
        for trial in super().trials():
            task = self.task(trial)
            lines = task.program.lines
            quarter = task.changed and quarter_of(task.changed, lines) + 1
            yield replace(trial, factors={**trial.factors, "changed_quarter": quarter})

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        """Returns the score by the label or by the changed line (incorrect if no line differs)."""
        task, tolerance = self.task(trial), TOLERANCES[rule]
        line = task.changed if rule.startswith("changed") else task.program.line
        if line is None:
            return Score(Outcome.INCORRECT, 0.0, "no line of the program changed")
        return score_location(response, line, task.program.code, tolerance)

    def files(self) -> list[Path]:
        return [ROOT / self.answers] if self.answers else []


STUDIES = {
    "localization": LocalizationFigure,
    "printed": Printed,
    "models": Facts,
    "programs": ProgramsFigure,
    "mutations": Mutations,
    "published": Recomputed,
    "relabel": Relabel,
    "audit": Audit,
}
"""Studies that params/faultloc/*.yaml may name as `study: faultloc.NAME`."""
