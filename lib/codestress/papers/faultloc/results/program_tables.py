"""Tables of Fault Localizability's programs, faults and mutations, before any model sees them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from codestress.mutate.faults.neutral import FaultyProgram, Spm, bank
from codestress.papers.faultloc.programs import ProgramSet, Source, program_set
from codestress.papers.faultloc.studies import (
    Mutations,
    Programs,
    Task,
    all_tasks,
    mutated_program,
    mutations_of,
)
from codestress.papers.faultloc.words import spoken
from codestress.types import LANGUAGE_NAMES

BINS = (50, 100, 200, 300, 400, 500)
"""Lower ends of the bins of program lengths in the paper's Figure 5, in lines."""


def seed_tables(given: Programs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns two tables of numbers of programs (column programs): kept programs by source and
    range of lengths (columns source, lines), and all by source and fate (columns source, what:
    kept, or the reason for which the filters reject them)."""
    kept, dropped = [], []
    for source, programs in program_sets(given).items():
        chosen = programs.programs[: given.n_programs or None]
        for low, high in zip((1, *BINS), (*BINS, math.inf), strict=True):
            count = sum(low <= program.lines < high for program in chosen)
            if count or low >= BINS[0]:
                size = f"{low} to {high - 1}" if high < math.inf else f"{low} and more"
                kept.append((source, size, count))
        dropped.append((source, "kept", len(chosen)))
        though = (
            "kept, though: " if any(one.refused for one in programs.programs) else ""
        )
        dropped += [
            (source, though + why, count)
            for why, count in programs.dropped.most_common()
        ]
    return (
        pd.DataFrame(kept, columns=["source", "lines", "programs"]),
        pd.DataFrame(dropped, columns=["source", "what", "programs"]),
    )


def program_sets(given: Programs) -> dict[Source, ProgramSet]:
    """Returns a `ProgramSet` for each source in `given.programs`: the programs that pass the
    filters of `given` (`min_lines`, `max_lines`, `selection`), and the numbers of those dropped."""
    filters = (given.min_lines, given.max_lines, given.selection)
    return {source: program_set(source, *filters) for source in given.programs}


def seed_counts(given: Programs) -> pd.DataFrame:
    """Returns numbers of programs, a row for each source in `given.programs`: source, published
    (all of the source's), passed (by the kit's filters)."""
    rows = [
        (
            source,
            programs.published,
            sum(not program.refused for program in programs.programs),
        )
        for source, programs in program_sets(given).items()
    ]
    return pd.DataFrame(rows, columns=["source", "published", "passed"])


def size_panels(kept: pd.DataFrame, published: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Returns the tables for `length_bars` by language, from `kept` (the first table of
    `seed_tables`) and `published`, the paper's own (`published_sizes`). Columns: source, label
    (range of lengths in lines), count (programs)."""
    java = kept["source"].isin(["java", "codesearchnet"])
    own = kept.assign(language=java.map({True: "Java", False: "Python"}))
    both = pd.concat([own, published]).rename(
        columns={"lines": "label", "programs": "count"}
    )
    return {
        str(language): part for language, part in both.groupby("language", sort=False)
    }


def task_statistics(given: Programs) -> pd.DataFrame:
    """Returns the paper's Table IV for the programs, faults and mutations in `given`, as if one
    model localized everything, a row for each source: source, programs, faulty (programs), tasks
    (faulty programs and their mutations), mean_lines (of a faulty program), total_lines, tokens
    (both over all tasks; four characters a token). The mean is nan without a task."""
    rows = []
    for source, tasks in all_tasks(given).items():
        lines = [task.program.lines for task in tasks.values()]
        mutations = [
            mutations_of(given, task.correct.language) for task in tasks.values()
        ]
        times = 1 + len(given.strengths) * max(map(len, mutations), default=0)
        row: dict[str, object] = {"source": source}
        row["programs"] = len({task.correct.id for task in tasks.values()})
        row["faulty"] = len(tasks)
        row["tasks"] = len(tasks) * times
        row["mean_lines"] = float(np.mean(lines)) if lines else math.nan
        row["total_lines"] = sum(lines) * times
        characters = sum(len(task.program.code) for task in tasks.values())
        row["tokens"] = characters * times // 4
        rows.append(row)
    return pd.DataFrame(rows)


def statistics_shown(table: pd.DataFrame, published: Mapping[str, int]) -> pd.DataFrame:
    """Returns Table IV as text: the rows of `table` (made by `task_statistics`), then the paper's
    own from `published` (`published_statistics`), with empty cells for missing numbers. The column
    source becomes programs_of."""
    row = {
        "programs_of": "published (Table IV)",
        "tasks": published["total_fl_tasks"],
        "mean_lines": published["average_loc"],
        "total_lines": published["total_loc"],
        "tokens": published["total_tokens"],
    }
    rows = pd.concat(
        [table.rename(columns={"source": "programs_of"}), pd.DataFrame([row])]
    )
    shown = rows.set_index("programs_of").map(
        lambda n: "" if pd.isna(n) else f"{n:,.0f}"
    )
    return shown.reset_index()


def labels_checked(tasks: Mapping[str, Task]) -> pd.DataFrame:
    """Returns a check of the labels (the faulty lines' numbers) of `tasks` (by id), a row for each
    language and kind of fault: language, fault, tasks, label_is_right (number of tasks whose
    labelled line is the one that differs from the correct program). All of the kit's own pass."""
    rows = [
        (task.correct.language, task.kind, task.label_is_right)
        for task in tasks.values()
    ]
    table = pd.DataFrame(rows, columns=["language", "fault", "right"])
    counts = table.groupby(["language", "fault"], as_index=False, sort=False)["right"]
    return counts.agg(tasks="size", label_is_right="sum")


def refusals(tasks: Mapping[str, Task], given: Mutations) -> pd.DataFrame:
    """Returns the results of the mutations in `given` of all `tasks` (by id), with the texts to
    insert from the kit, as counts: language, spm (mutation), strength, said (what comments say),
    why (the reason if the mutation is refused, empty if it is applied), tasks. Reasons lose their
    numbers, so that equal reasons add up."""
    rows = []
    for task in tasks.values():
        spms = mutations_of(given, task.correct.language)
        for spm, strength in product(spms, given.strengths):
            for said in given.said if "comments" in spm else [""]:
                content = bank(
                    task.correct.language, said or "describes", given.comments
                )
                mutated = mutated_program(task, spm, strength, content, given.seed)
                why = ""
                if isinstance(mutated, str):
                    why = re.sub(
                        r"\d+", "…", mutated.removeprefix("no neutral mutation: ")
                    )
                rows.append((task.correct.language, spm, strength, said, why))
    columns = ["language", "spm", "strength", "said", "why"]
    groups = pd.DataFrame(rows, columns=columns).groupby(columns, as_index=False)
    return groups.size().rename(columns={"size": "tasks"})


def applied_cells(refused: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Returns the cells of a heat map from `refused`, the table of `refusals`, under an empty
    title: row (mutation, in words and as its code), column (language and strength), accuracy (share
    of tasks to which a neutral mutation can be made), tasks."""
    counts = refused.assign(made=refused["tasks"].where(refused["why"] == "", 0))
    sums = counts.groupby(["language", "spm", "strength"], as_index=False)[
        ["made", "tasks"]
    ].sum()
    column = (
        sums["language"].map(LANGUAGE_NAMES)
        + ",\nstrength "
        + sums["strength"].astype(str)
    )
    row = [
        spoken(spm).replace("names + ", "names\n+ ")
        if "+" in spm
        else f"{spoken(spm)}\n({spm})"
        for spm in sums["spm"]
    ]
    cells = sums.assign(row=row, column=column, accuracy=sums["made"] / sums["tasks"])
    order = ["language", "strength", "accuracy"]
    return {"": cells.sort_values(order, ascending=[False, True, False])}


def catalogue_headline(table: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Returns a sentence: how many labels are right, from `table` (made by `labels_checked`), and
    how many tasks can be mutated, from `cells` (made by `applied_cells`)."""
    right, labels = table["label_is_right"].sum(), table["tasks"].sum()
    return (
        f"{right} of {labels} labels are the line that differs, and at least "
        f"{100 * cells['accuracy'].min():.0f} % of the tasks can be mutated"
    )


def headline(
    lines: pd.Series, table: pd.DataFrame, published: Mapping[str, int], show: str
) -> str:
    """Returns a sentence on the programs whose numbers of lines are `lines`; with `show` =
    `statistics`, on the tasks in `table` (made by `task_statistics`) and in `published`."""
    if show == "statistics":
        return (
            f"{table['programs'].sum()} programs make {table['tasks'].sum():,} tasks; the paper "
            f"has {published['total_fl_tasks']:,}"
        )
    if lines.empty:
        return "No program was kept"
    return f"Half of the {len(lines)} programs have at most {lines.median():.0f} lines"


def example(task: Task, spms: Sequence[Spm], strength: int, seed: int) -> str:
    """Returns a text for readers: the lines around the fault of `task`, then the lines around it
    under each mutation in `spms` at `strength`, or why the mutation cannot be made."""
    program = task.program
    parts = [f"=== {task.id}: {task.kind} in line {program.line}", _around(program)]
    for spm in spms:
        mutated = mutated_program(
            task, spm, strength, bank(task.correct.language), seed
        )
        parts.append(f"--- {spm}, strength {strength}")
        if isinstance(mutated, FaultyProgram):
            mutated = f"fault in line {mutated.line}\n{_around(mutated)}"
        parts.append(mutated)
    return "\n".join([*parts, ""])


def _around(program: FaultyProgram) -> str:
    """Returns the faulty line of `program` and four lines before and after it as text, with their
    numbers and > before the faulty line."""
    shown = []
    for number, line in enumerate(program.code.split("\n"), start=1):
        if abs(number - program.line) <= 4:
            shown.append(f"{'>' if number == program.line else ' '} {number:4} {line}")
    return "\n".join(shown)
