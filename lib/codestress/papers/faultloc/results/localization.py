"""Tables of Fault Localizability: accuracy by kind of fault, quarter and model (Table II, Figures 9
to 11)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from codestress.fitting.proportions import clustered_share
from codestress.mutate.faults.fault_site import KINDS
from codestress.papers.faultloc.words import spoken
from codestress.report.marks import with_cells
from codestress.report.published import read_published
from codestress.types import LANGUAGE_NAMES

ALL_FAULTS = "all faults"
QUARTERS = ("0-25 %", "25-50 %", "50-75 %", "75-100 %")
ORACLE = "perfect localizer"
"""Name, in the column model, of the instrument that names the changed line."""
READINGS = {"strict": "the line itself", "reference": "within two lines"}
"""Two readings of the word "compared", by which the paper scores answers (section IV-B of Fault
Localizability), by scoring rule."""


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """Returns the table `answers` with the column `seed_program` (source and id of a task's
    program), since tasks made from one program are not independent; unchanged if it has that
    column."""
    if "seed_program" in answers:
        return answers
    program = answers["problem"].map(lambda name: name.partition("/")[0])
    return answers.assign(seed_program=answers["source"] + "/" + program)


def unmutated(answers: pd.DataFrame) -> pd.DataFrame:
    """Returns those of `answers`, a table of answers, that are about unmutated tasks, with the
    column `seed_program` (source and id of the task's program)."""
    return with_seed(answers[answers["spm"] == "none"])


def with_places(cells: pd.DataFrame, rows: Sequence[str]) -> pd.DataFrame:
    """Returns `cells`, the cells of a heat map over quarters (columns row, quarter 1 to 4, and
    others), in the order of `rows`, the names of all rows. Added columns: column (the quarter in
    words) and place (the row's index in `rows`)."""
    cells = cells.assign(place=cells["row"].map(list(rows).index))
    cells = cells.sort_values(["place", "quarter"], ignore_index=True)
    return cells.assign(
        column=[QUARTERS[int(quarter) - 1] for quarter in cells["quarter"]]
    )


def localized(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns accuracy on unmutated tasks from `answers`, a table of answers (`answers_frame`): a
    row for each model, the perfect localizer included, and combination of values of the columns
    `by`.

    Columns: model, those of `by`, tasks (different ones), answers, found (right answers), accuracy
    (found / answers by the scoring rule `rule`), low, high (Wilson at `confidence`, programs as
    clusters); kept (tasks that at least one model finds: the paper's filter, which ignores the
    perfect localizer), programs_kept, accuracy_kept, kept_low, kept_high; cell (selects
    these answers). Intervals of shares among kept tasks ignore that the filter is drawn too.
    """
    plain = unmutated(answers)
    value, task = f"value_{rule}", ["source", "problem"]
    models = plain[plain["model"] != ORACLE]
    kept = models.groupby(task)[value].max().gt(0).rename("kept")
    plain = plain.join(kept, on=task)
    plain = plain.assign(
        kept=plain["kept"].eq(True)
    )  # of what no model was asked, nothing is kept
    rows = []
    for group, part in plain.groupby(["model", *by], sort=False):
        every = clustered_share(part[value], part["seed_program"], confidence)
        filter_passed = part[part["kept"]]
        filtered = clustered_share(
            filter_passed[value], filter_passed["seed_program"], confidence
        )
        tasks, kept_tasks = (
            len(one[task].drop_duplicates()) for one in (part, filter_passed)
        )
        row = [*group, tasks, len(part), int(part[value].sum())]
        row += [every.value, *every.interval, kept_tasks]
        row += [filtered.clusters, filtered.value, *filtered.interval]
        rows.append(row)
    columns = ["model", *by, "tasks", "answers", "found", "accuracy", "low", "high"]
    columns += ["kept", "programs_kept", "accuracy_kept", "kept_low", "kept_high"]
    return with_cells(pd.DataFrame(rows, columns=columns), ["model", *by])


def compared(
    answers: pd.DataFrame, programs: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Returns the rows of the paper's Table II from `answers`: the table of `localized` by language
    and kind of fault, under both scoring rules in `READINGS`. Further columns: reading (the rule in
    words), programs (the names in `programs`, the programs' sources), and asked: `all ten` if
    exactly the paper's models answered, else `others`."""
    models = set(read_published("faultloc")["groups"]["all"])
    asked = "all ten" if set(answers["model"]) - {ORACLE} == models else "others"
    tables = []
    for rule, reading in READINGS.items():
        table = localized(
            answers, ["language", "fault"], rule=rule, confidence=confidence
        )
        tables.append(table.assign(reading=reading))
    return pd.concat(tables).assign(programs=" ".join(sorted(programs)), asked=asked)


def heat_cells(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns the cells of the heat map of faults and quarters, from `answers`, a table of answers
    with those of the perfect localizer: row (a fault, all faults, or the perfect localizer),
    quarter, column (quarter in words), tasks (different ones), answers, found, accuracy (found /
    answers by the scoring rule `rule`), cell (selects the models' answers).

    A cell pools all models' answers to the tasks of a fault and quarter, languages together.
    """
    plain = unmutated(answers)
    models, perfect = plain[plain["model"] != ORACLE], plain[plain["model"] == ORACLE]
    all_faults = models.assign(fault=ALL_FAULTS)
    pooled = pd.concat([models, all_faults, perfect.assign(fault=ORACLE)])
    pooled = pooled.assign(task=pooled["source"] + "/" + pooled["problem"])
    groups = pooled.groupby(["fault", "quarter"], as_index=False, sort=False)
    value = f"value_{rule}"
    cells = groups.agg(
        tasks=("task", "nunique"),
        answers=(value, "size"),
        found=(value, "sum"),
        accuracy=(value, "mean"),
    )
    of_a_fault = with_cells(cells, ["fault", "quarter"])["cell"]
    of_all = with_cells(cells, ["quarter"])["cell"]
    of_a_fault = of_a_fault.where(cells["fault"] != ALL_FAULTS, of_all)
    cells = cells.assign(
        row=cells["fault"], cell=of_a_fault.where(cells["fault"] != ORACLE)
    )
    return with_places(cells, (*KINDS, ALL_FAULTS, ORACLE))


def share_panels(
    table: pd.DataFrame, label: str, value: str = "accuracy"
) -> dict[str, pd.DataFrame]:
    """Returns dots for `share_dots` from `table`, made by `localized` or `robustness`: a table for
    each language's name, with the columns label (values of the column `label`), condition (the
    model), n (answers), cell, accuracy, low, high. If `table` has the
    column change, a control has a row of its own, named MODEL, CONTROL. With `value` =
    `accuracy_kept`, shares are of the tasks that any model finds, else of all tasks."""
    columns, n = ["accuracy", "low", "high"], "asked_again"
    if value == "accuracy_kept":
        columns, n = ["accuracy_kept", "kept_low", "kept_high"], "kept"
    dots = pd.DataFrame(
        {"label": table[label].astype(str), "condition": table["model"]}
    )
    if "change" in table:
        control = ", " + table["change"].map(spoken)
        dots["label"] += control.where(table["change"] != "mutated", "")
    dots = dots.assign(n=table[n], cell=table["cell"])
    dots[["accuracy", "low", "high"]] = table[columns]
    languages = dots.groupby(table["language"], sort=False)
    return {LANGUAGE_NAMES[str(language)]: part for language, part in languages}


FEWEST = 10
"""Smallest number of tasks of a share that a title names."""


def headline(table: pd.DataFrame, show: str) -> str:
    """Returns the finding of a figure that compares what `show` says, in a sentence, from `table`
    (made by `localized`). Shares of fewer than `FEWEST` tasks are not named."""
    models = table[table["model"] != ORACLE]
    if show == "quarters":
        sums = models.groupby("quarter")[["found", "answers"]].sum().reindex([1, 4])
        first, last = 100 * sums["found"] / sums["answers"]
        return (
            f"{first:.0f} % of the faults in the first quarter of a program are localized, "
            f"{last:.0f} % of those in the last"
        )
    by = "fault" if show == "faults" else "model"
    large = models[models["kept"] >= FEWEST]
    large = large.assign(found=large["accuracy_kept"] * large["kept"])
    sums = large.groupby(["language", by])[["found", "kept"]].sum()
    shares = sums["found"] / sums["kept"]
    if shares.empty:
        return f"No row has {FEWEST} tasks that a model localizes"
    most, least = (
        f"{spoken(name)} in {LANGUAGE_NAMES[language]} ({100 * shares[language, name]:.0f} %)"
        for language, name in (shares.idxmax(), shares.idxmin())
    )
    return f"Localized most often: {most}; least often: {least}"
