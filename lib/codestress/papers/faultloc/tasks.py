"""Tasks of Fault Localizability: programs with one fault each, and its label.

The label is the number of the faulty line. Faults are edits of one line, so their
labels are exact. The paper's public artifact has tasks and labels of its own.
"""

import ast
import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated, Any

from pydantic import Field

from codestress.mutate.faults.fault_site import FaultSite
from codestress.mutate.faults.kinds import KINDS, SPMS, Kind, Spm
from codestress.mutate.faults.neutral import FaultyProgram, quarter_of
from codestress.mutate.faults.sites import fault_sites
from codestress.parameters import Seeded
from codestress.seeding import rng
from codestress.types import Language

from .programs import (
    CorrectProgram,
    Selection,
    Source,
    first_programs,
    is_silent,
    normalised,
    packed_rows,
    parses,
)

Strength = Annotated[int, Field(ge=1, le=8)]
"""Number of applications of a mutation; the paper goes to 8."""


class Programs(Seeded):
    """Parameters of the programs, faults and mutations (section IV of Fault
    Localizability).

    Defaults are the paper's values if the paper states them.
    """

    programs: list[Source] = Field(["alpaca", "codesearchnet"], min_length=1)
    """Sources of the programs: alpaca and codesearchnet (the paper's), installed
    packages, and java (the kit's own)."""
    selection: Selection = "kit"
    """Selection of programs: the kit's filters, all of the artifact's (section IV-A)
    with its faulty programs and labels where they are at hand (Python), or drifted: the
    kit's, made as the artifact's (Python, formatted anew after the label was taken)."""
    n_programs: int = Field(0, ge=0)
    """Number of programs of each source, from the first on; 0: all."""
    min_lines: int = Field(50, ge=1)
    """Lines of the shortest program."""
    max_lines: int = Field(0, ge=0)
    """Lines of the longest program; 0: no limit."""
    faults: list[Kind] = Field(list(KINDS), min_length=1)
    """Kinds of faults."""
    per_quarter: int = Field(1, ge=0)
    """Faults of a kind in each quarter of a program; 0: all sites."""
    per_quarter_of: dict[Source, Annotated[int, Field(ge=0)]] = {}
    """Exceptions from per_quarter by source: Java's tasks are not public, its sites are
    over twice the paper's."""
    spms: list[Spm] = list(SPMS)
    """Mutations under which localized faults are asked again."""
    strengths: list[Strength] = Field([1, 2, 4, 6, 8], min_length=1)
    """Number of times that a mutation is applied."""


def mutations_of(given: Programs, language: Language) -> list[Spm]:
    """Return the names of mutations in `given.spms` that apply to programs in
    `language`.

    All of them do, except that function shuffling (`functions`) is for Java only (Table
    I).
    """
    return [spm for spm in given.spms if spm != "functions" or language == "java"]


@dataclass(frozen=True)
class Task:
    """Program with one fault and its label (the faulty line's number), made by the kit
    or taken from the paper's public artifact."""

    id: str
    correct: CorrectProgram
    kind: Kind
    program: FaultyProgram
    refused: str
    """Reason why the kit's filters reject the task; empty if the filters keep the task.
    """
    changed: int | None
    """First line that differs from the correct program; None if no line differs."""
    site: FaultSite | None = None
    """Edit that made the fault; None for a task of the artifact or with a drifted
    label."""

    @property
    def label_is_right(self) -> bool:
        """Whether the label is the first line that differs from the correct program.

        If the task has the edit that made the fault (`site`), undoing the edit must
        also restore the correct program, byte for byte.
        """
        if self.site and self.site.undo(self.program.code) != self.correct.code:
            return False
        return self.changed == self.program.line


Tasks = dict[str, Task]
"""Dict from a task's id to the task."""


def tasks_of(given: Programs, source: Source) -> Tasks:
    """Return the tasks (programs with one fault) of `source`, in a dict by id.

    For each program, kind of fault and quarter of the program, up to
    `given.per_quarter` tasks (0: all) are drawn with the seed. For a source named in
    `given.per_quarter_of`, the number there applies. Left out are faulty programs that
    do not parse, and faults in the kit's own programs that no test run shows.

    With `given.selection` = `artifact`, Alpaca's tasks are drawn from the paper's
    public ones. With `drifted`, Python labels are off as the artifact's are. Raises
    `DataError` if a data set is not at hand.
    """
    size = (given.min_lines, given.max_lines, given.n_programs)
    which = (source, *size, given.selection)
    per_quarter = given.per_quarter_of.get(source, given.per_quarter)
    return _tasks(which, tuple(given.faults), per_quarter or None, given.seed)


Which = tuple[Source, int, int, int, Selection]
"""Arguments of `first_programs`: source, min_lines, max_lines, count, selection."""
Places = dict[tuple[Kind, int], list[Callable[[], Task | None]]]
"""Dict from a kind of fault and a quarter of the program, 0 to 3, to functions that
each make a task there; a function returns None if it can make none."""


@cache
def _tasks(
    which: Which, kinds: tuple[Kind, ...], per_quarter: int | None, seed: int
) -> Tasks:
    """Return the tasks of the programs that `which` selects: see `tasks_of`."""
    source, *_, selection = which
    stream = "sites"
    places_in = _sites
    if selection == "artifact" and source == "alpaca":
        stream = "published"
        places_in = _published
    tasks: Tasks = {}
    for program in first_programs(*which):
        places = places_in(program)
        for kind, quarter in itertools.product(kinds, range(4)):
            makers = places[kind, quarter]
            order = rng(seed, stream, program.id, kind, quarter).permutation(
                len(makers)
            )
            usable = filter(None, (makers[index]() for index in order))
            drawn = itertools.islice(usable, per_quarter)
            for number, task in enumerate(drawn, 1):
                name = task.id or f"{program.id}/{kind}/{quarter + 1}.{number}"
                if selection == "drifted":
                    task = _drifted(task)
                tasks[name] = replace(task, id=name)
    return tasks


def _sites(program: CorrectProgram) -> Places:
    """Return the places of `program` at which the kit can make a fault."""
    places: Places = defaultdict(list)
    for site in fault_sites(program.code, program.language):
        total = program.lines + (site.kind == "MisplacedReturn")
        place = (site.kind, quarter_of(site.line, total))
        places[place].append(partial(_task, program, site))
    return places


def _task(program: CorrectProgram, site: FaultSite) -> Task | None:
    """Return the task, still without an id, that the edit `site` makes of `program`.

    Return None if the faulty program does not parse or no test run shows the fault.
    """
    code = site.apply(program.code)
    if not parses(code, program.language) or is_silent(program, site):
        return None
    faulty = FaultyProgram(code, site.line)
    changed = first_change(program.code, code)
    return Task("", program, site.kind, faulty, program.refused, changed, site)


def first_change(before: str, after: str) -> int | None:
    """Return the number, from 1, of the first line in which the texts `before` and
    `after` differ; None if they are the same.

    A line that only one of the texts has counts as a difference.
    """
    pairs = itertools.zip_longest(before.split("\n"), after.split("\n"))
    for number, (was, now) in enumerate(pairs, start=1):
        if was != now:
            return number
    return None


def _drifted(task: Task) -> Task:
    """Return `task` with a label that drifts as the artifact's do in Python.

    The label belongs to the text before `ast.unparse` formats the program anew. Labels
    of misplaced returns stay right, since such a fault is inserted as text.
    """
    if task.correct.language != "python" or task.kind == "MisplacedReturn":
        return task
    before = ast.unparse(ast.parse(task.correct.code))
    after = ast.unparse(ast.parse(task.program.code))
    faulty = replace(task.program, code=after)
    changed = first_change(before, after)
    return replace(task, program=faulty, changed=changed, site=None)


@cache
def _published_rows() -> dict[str, list[dict[str, Any]]]:
    """Return the artifact's rows about tasks, in a dict by the program's id."""
    rows = defaultdict(list)
    for row in packed_rows("python_buggy_tasks.jsonl.gz"):
        rows[str(row["base"])].append(row)
    return rows


def _published(program: CorrectProgram) -> Places:
    """Return the places of the artifact's faults in `program`."""
    places: Places = defaultdict(list)
    for row in _published_rows()[program.id]:
        kind = RENAMED.get(row["sam"], row["sam"])
        faulty = FaultyProgram(normalised(row["buggy_code"]), int(row["line_no"]))
        make = partial(_published_task, program, kind, faulty, row)
        places[kind, faulty.quarter].append(make)
    return places


RENAMED: dict[str, Kind] = {"BooleanLogic": "IncorrectBooleanLogic"}
"""Dict from the artifact's name of a kind of fault to the kit's name, if the names
differ."""


def _published_task(
    program: CorrectProgram, kind: Kind, faulty: FaultyProgram, row: dict[str, Any]
) -> Task:
    """Return the task in `row`, a row of the artifact about `program`: the program
    `faulty` with the fault `kind`.

    The task's `id` is the artifact's BASE/SAM/VARIANT (program, kind of fault, number).
    Its `refused` is the first reason why the kit's filters would reject the task; empty
    if there is none.
    """
    changed = row["changed_line"]
    why = ""
    if not parses(faulty.code, "python"):
        why = "the faulty program does not parse"
    elif changed is None:
        why = "the faulty program is the correct one"
    elif faulty.line > faulty.lines:
        why = "the label is no line of the program"
    elif changed != faulty.line:
        why = "the label is another line than the changed one"
    name = f"{program.id}/{row['sam']}/{row['variant']}"
    return Task(name, program, kind, faulty, program.refused or why, changed)
