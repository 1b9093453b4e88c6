"""Fault Localizability: the programs, their faults and rewritings, before any model sees them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from codestress.inference.registry import ModelEntry
from codestress.papers.faultloc.faults.neutral import FaultyProgram, Spm, bank
from codestress.papers.faultloc.programs import program_set
from codestress.papers.faultloc.studies import Mutations, Programs, Task, mutated_program, tasks_of
from codestress.types import LANGUAGE_NAMES

BINS = (50, 100, 200, 300, 400, 500)
"""Lower ends of Figure 5's bins, in lines."""


def seed_tables(given: Programs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How many programs have how many lines (panel, label, programs), and how many were dropped for which reason."""
    kept, dropped = [], []
    for source in given.programs:
        found = program_set(source, given.min_lines, given.max_lines, given.selection)
        named = [one for one in found.programs if one.id in given.ids]
        chosen = named if given.ids else found.programs[: given.n_programs or None]
        sizes = [program.lines for program in chosen]
        for low, high in zip((1, *BINS), (*BINS, math.inf), strict=True):
            count = sum(low <= size < high for size in sizes)
            if count or low >= BINS[0]:
                kept.append((source, f"{low} to {high - 1}" if high < math.inf else f"{low} and more", count))
        dropped.append((source, "kept", len(chosen)))
        told = "kept, though: " if any(one.refused for one in found.programs) else ""
        dropped += [(source, told + why, count) for why, count in found.dropped.most_common()]
    return (
        pd.DataFrame(kept, columns=["source", "lines", "programs"]),
        pd.DataFrame(dropped, columns=["source", "what", "programs"]),
    )


def seed_counts(given: Programs) -> pd.DataFrame:
    """How many programs each source has as its authors published them, and how many of them pass the kit's
    filters: source, published, passed."""
    found = {one: program_set(one, given.min_lines, given.max_lines, given.selection) for one in given.programs}
    rows = [(name, one.published, sum(not program.refused for program in one.programs)) for name, one in found.items()]
    return pd.DataFrame(rows, columns=["source", "published", "passed"])


def size_panels(kept: pd.DataFrame, published: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What `count_bars` draws: the regenerated sizes, then the paper's."""
    both = pd.concat([kept, published]).rename(columns={"lines": "label", "programs": "count"})
    return {str(source): part for source, part in both.groupby("source", sort=False)}


def task_statistics(given: Programs) -> pd.DataFrame:
    """Table IV for these parameters, for one model that localizes everything: programs, tasks (faulty programs and
    their mutants), lines and characters of the faulty programs. Columns: source, programs, faulty, tasks, mean_lines,
    total_lines, tokens (at four characters each)."""
    rows = []
    for source in given.programs:
        tasks = tasks_of(given, source)
        programs = [task.program.code for task in tasks.values()]
        lines = [code.count("\n") + 1 for code in programs]
        times = 1 + len(given.spms) * len(given.strengths)
        rows.append(
            {
                "source": source,
                "programs": len({task.correct.id for task in tasks.values()}),
                "faulty": len(tasks),
                "tasks": len(tasks) * times,
                "mean_lines": float(np.mean(lines)) if lines else 0.0,
                "total_lines": sum(lines) * times,
                "tokens": sum(map(len, programs)) * times // 4,
            }
        )
    return pd.DataFrame(rows)


def statistics_shown(table: pd.DataFrame, published: Mapping[str, int]) -> pd.DataFrame:
    """Table IV as it is shown: `task_statistics` and the paper's own row, in words."""
    theirs = {"source": "published (Table IV)", "tasks": published["total_fl_tasks"]}
    theirs |= {"mean_lines": published["average_loc"], "total_lines": published["total_loc"]}
    both = pd.concat([table, pd.DataFrame([theirs | {"tokens": published["total_tokens"]}])])
    numbers = both.drop(columns="source").map(lambda value: "" if pd.isna(value) else f"{value:,.0f}")
    return numbers.assign(programs_of=both["source"])[["programs_of", *numbers]]


def labels_checked(tasks: Mapping[str, Task]) -> pd.DataFrame:
    """For each language and kind of fault how many tasks there are, and of how many undoing the edit gives the seed
    back and the labelled line is the one that differs: all of the kit's own."""
    right = [task.label_is_right for task in tasks.values()]
    kinds = [(task.correct.language, task.kind) for task in tasks.values()]
    table = pd.DataFrame(kinds, columns=["language", "fault"]).assign(right=right)
    counts = table.groupby(["language", "fault"], as_index=False, sort=False)["right"]
    return counts.agg(tasks="size", label_is_right="sum")


def selected(given: Programs) -> pd.DataFrame:
    """Where the artifact's programs are selected, what the kit's filters would have refused of its tasks: source,
    fault, refused (why; empty: nothing), tasks. Empty otherwise."""
    tasks = [(source, task) for source in given.programs for task in tasks_of(given, source).values()]
    rows = [(source, task.kind, task.refused) for source, task in tasks] if given.selection == "artifact" else []
    columns = ["source", "fault", "refused"]
    counts = pd.DataFrame(rows, columns=columns).groupby(columns, as_index=False, sort=False).size()
    return counts.rename(columns={"size": "tasks"})


def refusals(tasks: Mapping[str, Task], given: Mutations) -> pd.DataFrame:
    """What becomes of all mutations of all tasks with the kit's content: language, spm, strength, said, state (applied
    or refused), why, tasks. Numbers are left out of reasons, so that
    they add up."""
    rows = []
    for task in tasks.values():
        for spm, strength in product(given.spms, given.strengths):
            for said in given.said if "comments" in spm else [""]:
                content = bank(task.correct.language, said or "describes", given.comments)
                made = mutated_program(task, spm, strength, content, given.seed)
                why = re.sub(r"\d+", "…", made.removeprefix("no neutral mutation: ")) if isinstance(made, str) else ""
                rows.append((task.correct.language, spm, strength, said, "refused" if why else "applied", why))
    columns = ["language", "spm", "strength", "said", "state", "why"]
    return pd.DataFrame(rows, columns=columns).groupby(columns, as_index=False).size().rename(columns={"size": "tasks"})


def applied_cells(table: pd.DataFrame, refused: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Cells of a heat map, whose title tells the proof of the labels: row (mutation), column (language and strength),
    accuracy (the share of the tasks to which a neutral mutation can be made)."""
    counts = refused.assign(made=refused["tasks"].where(refused["state"] == "applied", 0))
    sums = counts.groupby(["language", "spm", "strength"], as_index=False)[["made", "tasks"]].sum()
    column = sums["language"].map(LANGUAGE_NAMES) + ", strength " + sums["strength"].astype(str)
    cells = sums.assign(row=sums["spm"].str.replace("_", " "), column=column, accuracy=sums["made"] / sums["tasks"])
    right, all_of_them = table["label_is_right"].sum(), table["tasks"].sum()
    title = f"{right} of {all_of_them} labels are the line that differs; what can be mutated"
    return {title: cells.sort_values(["language", "strength", "accuracy"], ascending=[False, True, False])}


def example(task: Task, spms: Sequence[Spm], strength: int, seed: int) -> str:
    """A fault and mutations of the program around it, for people."""
    program = task.program
    parts = [f"=== {task.id}: {task.kind} in line {program.line}", _around(program)]
    for spm in spms:
        mutated = mutated_program(task, spm, strength, bank(task.correct.language), seed)
        parts.append(f"--- {spm}, strength {strength}")
        parts.append(mutated if isinstance(mutated, str) else f"fault in line {mutated.line}\n{_around(mutated)}")
    return "\n".join([*parts, ""])


def _around(program: FaultyProgram, lines: int = 4) -> str:
    numbered = list(enumerate(program.code.split("\n"), start=1))
    shown = numbered[max(0, program.line - 1 - lines) : program.line + lines]
    return "\n".join(f"{'>' if number == program.line else ' '} {number:4} {line}" for number, line in shown)


def model_facts(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Table III: name, size, category, licence."""
    rows = []
    for entry in models:
        undisclosed = "undisclosed" if entry.licence == "proprietary" else "not in the registry"
        size = str(entry.architecture.get("size", "simulated" if entry.simulated else undisclosed))
        rows.append((entry.name, size, str(entry.architecture.get("category", "")), entry.licence))
    return pd.DataFrame(rows, columns=["name", "size", "category", "licence"])
