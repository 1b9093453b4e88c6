"""Tables of Fault Localizability's programs, faults and mutations, before any model
sees them."""

import re
from difflib import unified_diff

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.mutate.faults.neutral import FaultyProgram
from codestress.types import LANGUAGE_NAMES

from ..programs import ProgramSet, Source, program_set
from ..studies import Mutations, conditions, mutated
from ..tasks import Programs, Task, Tasks, mutations_of, tasks_of
from .localization import Panels, by_panel, spoken
from .paper import BINS, SIZES

JAVA = ("java", "codesearchnet")
"""Sources of Java programs; all other sources have Python programs."""


def seed_tables(given: Programs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables with numbers of programs (column programs): kept programs by
    length, and all programs by fate.

    The first has the columns source and lines (range of lengths). The second has the
    columns source and what: kept, or the reason why the filters reject the programs.
    """
    kept = []
    dropped = []
    for source, programs in program_sets(given).items():
        chosen = programs.programs[: given.n_programs or None]
        lengths = [program.lines for program in chosen]
        counts, _ = np.histogram(lengths, [1, *BINS, np.inf])
        if counts[0]:
            kept.append((source, "1 to 49", counts[0]))
        for size, count in zip(SIZES, counts[1:], strict=True):
            kept.append((source, size, count))
        dropped.append((source, "kept", len(chosen)))
        refused = any(program.refused for program in programs.programs)
        though = "kept, though: " if refused else ""
        for why, count in programs.dropped.most_common():
            dropped.append((source, though + why, count))
    sizes = pd.DataFrame(kept, columns=["source", "lines", "programs"])
    return sizes, pd.DataFrame(dropped, columns=["source", "what", "programs"])


def program_sets(given: Programs) -> dict[Source, ProgramSet]:
    """Return a dict from each source in `given.programs` to its `ProgramSet`.

    The set has the programs that pass the filters of `given` (`min_lines`, `max_lines`,
    `selection`), and the numbers of rejected programs.
    """
    filters = (given.min_lines, given.max_lines, given.selection)
    return {source: program_set(source, *filters) for source in given.programs}


def seed_counts(given: Programs) -> pd.DataFrame:
    """Return numbers of programs, a row for each source in `given.programs`.

    Columns: source, published (all programs of the source), passed (those that pass the
    kit's filters).
    """
    rows = []
    for source, programs in program_sets(given).items():
        passed = programs.published - programs.dropped.total()
        rows.append((source, programs.published, passed))
    return pd.DataFrame(rows, columns=["source", "published", "passed"])


def size_panels(kept: pd.DataFrame, published: pd.DataFrame) -> Panels:
    """Return a dict from language to dots for `share_dots`: the share of programs in
    each range of lengths.

    `kept` is the first table of `seed_tables`, and `published` the paper's own
    (`published_sizes`). Columns: label (range of lengths in lines), condition (the
    source and its number of programs), n (programs; nan for the paper's), accuracy
    (share of the source's programs), low, high (0 to 1; Wilson).
    """
    language = np.where(kept["source"].isin(JAVA), "Java", "Python")
    own = kept.assign(language=language, n=kept["programs"])
    both = pd.concat([own, published], ignore_index=True)
    both = both.rename(columns={"lines": "label"})
    both["of"] = both.groupby(["language", "source"])["programs"].transform("sum")
    both["condition"] = both["source"] + both["of"].map(" ({:,})".format)
    dots = with_accuracy(both, "programs", "of")
    return by_panel(dots, "language")


def task_statistics(given: Programs) -> pd.DataFrame:
    """Return the paper's Table IV for the programs, faults and mutations in `given`, as
    if one model localized everything.

    There is a row for each source. Columns: source, programs, faulty (programs), tasks
    (faulty programs and their mutations), mean_lines (of a faulty program; nan without
    a task), total_lines, tokens (both over all tasks; four characters a token).
    """
    rows = []
    for source in given.programs:
        tasks = tasks_of(given, source)
        programs = {task.correct.id for task in tasks.values()}
        lines = pd.Series([task.program.lines for task in tasks.values()], dtype=int)
        characters = sum(len(task.program.code) for task in tasks.values())
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
    theirs = {"tasks": published["total_fl_tasks"]}
    theirs["mean_lines"] = published["average_loc"]
    theirs["total_lines"] = published["total_loc"]
    theirs["tokens"] = published["total_tokens"]
    rows.loc["published (Table IV)"] = theirs
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


def applied_cells(refused: pd.DataFrame) -> Panels:
    """Return the cells of a heat map from `refused`, the table of `refusals`, in a dict
    under an empty title.

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
    return {"": cells.sort_values(order, ascending=[False, True, False])}


def catalogue_headline(table: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Return a sentence on how many labels are right and how many tasks can be mutated.

    The labels are from `table` (made by `labels_checked`), the tasks from `cells` (the
    cells of `applied_cells`).
    """
    right = table["label_is_right"].sum()
    labels = table["tasks"].sum()
    return (
        f"{right} of {labels} labels are the line that differs, and at least "
        f"{100 * cells['accuracy'].min():.0f} % of the tasks can be mutated"
    )


def headline(
    lines: pd.Series, table: pd.DataFrame, published: dict[str, int], show: str
) -> str:
    """Return a sentence on the programs whose numbers of lines are `lines`.

    With `show` = `statistics`, the sentence is on the numbers of tasks in `table` (made
    by `task_statistics`) and in `published`.
    """
    if show == "statistics":
        tasks = table["tasks"].sum()
        theirs = published["total_fl_tasks"]
        return (
            f"{table['programs'].sum()} programs make {tasks:,} tasks; the paper "
            f"has {theirs:,}"
        )
    if lines.empty:
        return "No program was kept"
    return f"Half of the {len(lines)} programs have at most {lines.median():.0f} lines"


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
