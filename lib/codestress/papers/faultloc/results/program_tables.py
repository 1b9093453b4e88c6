"""Tables of Fault Localizability's programs, faults and mutations, before any model
sees them."""

import re
from collections import Counter
from difflib import unified_diff

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.mutate.faults.neutral import FaultyProgram
from codestress.types import LANGUAGE_NAMES

from ..programs import judged_programs, takes_all
from ..studies import Mutations, conditions, mutated
from ..tasks import Programs, Task, Tasks, mutations_of, tasks_of
from .localization import spoken
from .paper import BINS, SIZES

JAVA = ("java", "codesearchnet")
"""Sources of Java programs; all other sources have Python programs."""


def seed_programs(given: Programs) -> pd.DataFrame:
    """Return a table with a row for each program of the sources in `given.programs`.

    Columns: source, lines (the program's number of lines), refused (the reason why the
    filters of `given` reject the program; empty if they keep it).
    """
    rows = []
    for source in given.programs:
        for program in judged_programs(source, given.min_lines, given.max_lines):
            rows.append((source, program.lines, program.refused))
    return pd.DataFrame(rows, columns=["source", "lines", "refused"])


def seed_tables(
    seeds: pd.DataFrame, given: Programs
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables with numbers of `seeds`, made by `seed_programs` (column
    programs): kept programs by length, and all programs by fate.

    The first has the columns source and lines (range of lengths). The second has the
    columns source and what: kept, or the reason why the filters reject the programs.
    """
    kept = []
    dropped = []
    for source, programs in seeds.groupby("source", sort=False):
        whole = takes_all(source, given.selection)
        refused = programs["refused"] != ""
        chosen = programs[~refused | whole].head(given.n_programs or None)
        counts, _ = np.histogram(chosen["lines"], [1, *BINS, np.inf])
        if counts[0]:
            kept.append((source, "1 to 49", counts[0]))
        for size, count in zip(SIZES, counts[1:], strict=True):
            kept.append((source, size, count))
        dropped.append((source, "kept", len(chosen)))
        though = "kept, though: " if whole else ""
        for why, count in Counter(programs["refused"][refused]).most_common():
            dropped.append((source, though + why, count))
    sizes = pd.DataFrame(kept, columns=["source", "lines", "programs"])
    return sizes, pd.DataFrame(dropped, columns=["source", "what", "programs"])


def seed_counts(seeds: pd.DataFrame) -> pd.DataFrame:
    """Return numbers of `seeds` (made by `seed_programs`), a row for each source.

    Columns: source, published (all programs of the source), passed (those that pass the
    kit's filters).
    """
    seeds = seeds.assign(passed=seeds["refused"] == "")
    sources = seeds.groupby("source", as_index=False, sort=False)["passed"]
    return sources.agg(published="size", passed="sum")


def size_dots(kept: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return dots for `share_dots`, with a panel for each language: the share of
    programs in each range of lengths.

    `kept` is the first table of `seed_tables`, and `published` the paper's own
    (`published_sizes`). Columns: label (range of lengths in lines), condition (the
    source and its number of programs), n (programs; nan for the paper's), accuracy
    (share of the source's programs), low, high (0 to 1; Wilson).
    """
    language = np.where(kept["source"].isin(JAVA), "Java", "Python")
    own = kept.assign(language=language, n=kept["programs"])
    both = pd.concat([own, published], ignore_index=True)
    both = both.rename(columns={"lines": "label", "language": "panel"})
    both["of"] = both.groupby(["panel", "source"])["programs"].transform("sum")
    both["condition"] = both["source"] + both["of"].map(" ({:,})".format)
    return with_accuracy(both, "programs", "of")


def task_statistics(given: Programs) -> pd.DataFrame:
    """Return the paper's Table IV for the programs, faults and mutations in `given`, as
    if one model localized everything.

    There is a row for each source. Columns: source, programs, faulty (programs), tasks
    (faulty programs and their mutations), mean_lines (of a faulty program; nan without
    a task), total_lines, tokens (both over all tasks; four characters a token).
    """
    rows = []
    for source in given.programs:
        tasks = tasks_of(given, source).values()
        programs = {task.correct.id for task in tasks}
        lines = pd.Series([task.program.lines for task in tasks], dtype=int)
        characters = sum(len(task.program.code) for task in tasks)
        spms = mutations_of(given, "java" if source in JAVA else "python")
        times = 1 + len(spms) * len(given.strengths)
        faulty = len(tasks)
        row = (source, len(programs), faulty, faulty * times, lines.mean())
        rows.append((*row, lines.sum() * times, characters * times // 4))
    columns = ["source", "programs", "faulty", "tasks", "mean_lines", "total_lines"]
    return pd.DataFrame(rows, columns=[*columns, "tokens"])


def statistics_shown(table: pd.DataFrame, published: dict[str, int]) -> pd.DataFrame:
    """Return Table IV as text: the rows of `table`, made by `task_statistics`, then the
    paper's own row.

    The latter comes from `published` (`published_statistics`). Missing numbers are
    empty cells. The column source becomes programs_of.
    """
    rows = table.rename(columns={"source": "programs_of"}).set_index("programs_of")
    rows.loc["published (Table IV)"] = {
        "tasks": published["total_fl_tasks"],
        "mean_lines": published["average_loc"],
        "total_lines": published["total_loc"],
        "tokens": published["total_tokens"],
    }
    return rows.map("{:,.0f}".format, na_action="ignore").fillna("").reset_index()


def labels_checked(tasks: Tasks) -> pd.DataFrame:
    """Return a check of the labels (the faulty lines' numbers) of `tasks`, a dict by
    id; all of the kit's own tasks pass.

    There is a row for each language and kind of fault: language, fault, tasks,
    label_is_right. The latter is the number of tasks whose labelled line is the first
    that differs from the correct program.
    """
    rows = []
    for task in tasks.values():
        rows.append((task.correct.language, task.kind, task.label_is_right))
    table = pd.DataFrame(rows, columns=["language", "fault", "right"])
    counts = table.groupby(["language", "fault"], as_index=False, sort=False)["right"]
    return counts.agg(tasks="size", label_is_right="sum")


def refusals(tasks: Tasks, given: Mutations) -> pd.DataFrame:
    """Return counts of the results of all mutations in `given` of all `tasks` (a dict
    by id), with the kit's texts to insert.

    Columns: language, spm (mutation), strength, said (what comments say), why (the
    reason if the mutation is refused, empty if it is applied), tasks. Numbers in
    reasons are left out, so that equal reasons add up.
    """
    rows = []
    for task in tasks.values():
        language = task.correct.language
        for condition in conditions(given, language):
            program = mutated(given, task, condition)
            why = "" if isinstance(program, FaultyProgram) else program
            why = re.sub(r"\d+", "…", why.removeprefix("no neutral mutation: "))
            rows.append({**condition, "language": language, "why": why})
    columns = ["language", "spm", "strength", "said", "why"]
    groups = pd.DataFrame(rows, columns=columns).groupby(columns)
    return groups.size().reset_index(name="tasks")


def applied_cells(refused: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a heat map from `refused`, the table of `refusals`.

    Columns: row (mutation, in words), column (language and strength), accuracy (share
    of tasks to which a neutral mutation can be made, 0 to 1), tasks.
    """
    counts = refused.assign(made=refused["tasks"].where(refused["why"] == "", 0))
    groups = counts.groupby(["language", "spm", "strength"], as_index=False)
    cells = groups[["made", "tasks"]].sum()
    cells["row"] = cells["spm"].map(spoken).str.replace("names + ", "names\n+ ")
    language = cells["language"].map(LANGUAGE_NAMES)
    cells["column"] = language + cells["strength"].map(",\nstrength {}".format)
    cells["accuracy"] = cells["made"] / cells["tasks"]
    order = ["language", "strength", "accuracy"]
    return cells.sort_values(order, ascending=[False, True, False])


def example(task: Task, given: Mutations) -> str:
    """Return a text for readers: what the fault of `task` changes, then what each
    mutation in `given` changes.

    Each mutation has the first strength in `given`. If a mutation cannot be made, the
    text has the reason.
    """
    faulty = task.program.code
    strength = given.strengths[0]
    parts = [f"=== {task.id}: {task.kind}", _changes(task.correct.code, faulty)]
    for spm in mutations_of(given, task.correct.language):
        change = mutated(given, task, {"spm": spm, "strength": strength, "said": ""})
        if isinstance(change, FaultyProgram):
            change = _changes(faulty, change.code)
        parts += [f"--- {spm}, strength {strength}", change]
    return "\n".join([*parts, ""])


def _changes(before: str, after: str) -> str:
    """Return the difference of two programs, with one line of context around each
    change."""
    lines = unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm="")
    return "\n".join([*lines][2:])
