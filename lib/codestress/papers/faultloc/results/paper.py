"""Published numbers of Fault Localizability, readings of the paper's claims about them,
and the labels of its public tasks."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.problems.datasets import data_rows
from codestress.report.published import (
    published_cells,
    published_models,
    read_published,
)
from codestress.types import LANGUAGE_NAMES

from .localization import ALL_FAULTS, ALL_MUTATIONS, in_quarters


def published_heat() -> pd.DataFrame:
    """Return the paper's Figure 9, a row for each cell.

    Columns: row (kind of fault), column (quarter of the program), accuracy (0 to 1).
    """
    cells = published_cells("faultloc/fig09", "row", "column")
    return cells.rename(columns={"value": "accuracy"})


A_PROGRAM = 4
"""Number of tasks of one kind of fault that count as one.

Section IV-B of Fault Localizability draws from four quarters of a program, though some
programs have more public tasks.
"""


def published_localization(confidence: float = 0.95) -> pd.DataFrame:
    """Return the cells of the paper's Table II, a row for each cell.

    Columns: language, fault, label (the paper's name of the model), value (accuracy in
    %), name (the language's), model (the registry's name), of (number of tasks), n
    (programs: a quarter of the tasks), accuracy, low, high (0 to 1), flag (a note on a
    cell that the paper's own Figure 7 contradicts or lacks, else empty).

    Intervals are Wilson's at level `confidence` with `A_PROGRAM` tasks counting as one,
    since tasks of a program are not independent.
    """
    numbers = read_published("faultloc")["tab02"]
    flags = {}
    for cell in numbers["flagged"]:
        note = f" (Figure 7 implies {cell['implied_by_fig7']:.2f})"
        flags[cell["language"], cell["fault"], cell["model"]] = note
    for row in published_counts().dropna(subset="lacks").itertuples():
        flags[row.language, row.lacks, row.label] = " (missing in Figure 7)"
    cells = published_cells("faultloc/tab02", "language", "fault", "label")
    cells["name"] = cells["language"].map(LANGUAGE_NAMES)
    cells["model"] = cells["label"].map(published_models("faultloc"))
    places = cells.set_index(["language", "fault", "label"]).index
    cells["flag"] = places.map(flags).fillna("")
    tasks = pd.DataFrame(numbers["denominators"]).unstack()
    cells["of"] = tasks[places.droplevel("label")].array
    cells["n"] = cells["of"] / A_PROGRAM
    cells["right"] = cells["value"] / 100 * cells["n"]
    return with_accuracy(cells, "right", "n", confidence)


def best_on_misplaced_return(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the number of models that are best on misplaced returns, a row for each
    reading of the paper's words.

    Columns: reading (both languages' tasks together, their mean, or one language
    alone), models. `cells` are the cells of Table II (`published_localization`).
    """
    parts = {"tasks of both languages together": cells}
    parts["mean of both languages"] = cells.assign(of=1)
    for name, part in cells.groupby("name", sort=False):
        parts[f"{name} alone"] = part
    rows = []
    for reading, part in parts.items():
        best = accuracy(part, ["label", "fault"]).unstack().idxmax(axis=1)
        rows.append((reading, (best == "MisplacedReturn").sum()))
    return pd.DataFrame(rows, columns=["reading", "models"])


def accuracy(cells: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """Return the accuracy, in %, on all tasks together for each combination of values
    of the columns `by`.

    `cells` are cells of Table II.
    """
    sums = cells.eval("right = value * of").groupby(by)[["right", "of"]].sum()
    return sums["right"] / sums["of"]


def published_statistics() -> dict[str, int]:
    """Return a dict from a name in the paper's Table IV, such as total_loc, to its
    value."""
    return dict(read_published("faultloc")["tab04"]["values"])


def lines_of_a_program() -> pd.DataFrame:
    """Return the average length of a program, in lines, for each reading of the paper's
    Table IV.

    Columns: reading, lines. The readings are all lines divided by the number of tasks,
    all lines divided by the number of prompts, and the mean of the programs that the
    authors published.
    """
    values = published_statistics()
    seeds = read_published("faultloc")["tab04"]["seed_lines"]
    count, lines = pd.DataFrame(seeds).sum(axis=1)
    readings = {
        "all lines by its tasks": values["total_loc"] / values["total_fl_tasks"],
        "all lines by its prompts": values["total_loc"] / values["total_prompts"],
        "lines of the public seed programs": lines / count,
    }
    return pd.DataFrame(readings.items(), columns=["reading", "lines"])


UNSAID = "published, before or\nafter mutations unsaid"
"""Title of the panel of the paper's Figures 10 and 11."""


def beside_published(dots: pd.DataFrame, show: str) -> pd.DataFrame:
    """Return `dots` (for `share_dots`, with a panel for each language) and the paper's
    own shares.

    `show` is what the figure compares. With `faults`, the means over models of Table
    II's cells of the language are added. With `spms` or `models`, the means of Figure
    6's bars by mutation or by model are added, both languages together. With
    `categories` or `versions`, Figure 10 or 11 has a panel of its own, since the paper
    does not say whether that figure counts the same answers.
    """
    figure = {"categories": "fig10", "versions": "fig11"}.get(show)
    if figure:
        cells = published_cells(f"faultloc/{figure}", "label")
        return pd.concat([dots, _strokes(cells, "published", UNSAID)])
    names = ("model", "label") if show == "spms" else ("label", "spm")
    cells = published_cells("faultloc/fig06", *names)
    condition = "published (Figure 6)"
    table = published_localization()
    parts = [dots]
    for panel in dots["panel"].unique():
        if show == "faults":
            own = table.query("name == @panel")
            cells = own.assign(label=own["fault"])
            condition = "published (Table II)"
        parts.append(_strokes(cells, condition, panel))
    return pd.concat(parts, ignore_index=True)


def _strokes(cells: pd.DataFrame, condition: str, panel: str) -> pd.DataFrame:
    """Return the mean of the column value (%) of `cells` for each label, as rows for
    `share_dots` in the panel `panel`, under the name `condition`.

    Columns: panel, label (models as the registry names them), condition, accuracy (0 to 1),
    low, high (nan).
    """
    labels = registry_names(cells["label"])
    means = cells["value"].groupby(labels, sort=False).mean()
    strokes = means.reset_index(name="accuracy")
    strokes["accuracy"] /= 100
    return strokes.assign(panel=panel, condition=condition, low=np.nan, high=np.nan)


def registry_names(labels: pd.Series) -> pd.Series:
    """Return the registry's names of the models that `labels` name; other labels are
    unchanged.

    The paper's tables and figures spell a model's name in several ways, which differ in
    hyphens and capitals.
    """
    models = pd.Series(published_models("faultloc"))
    models.index = models.index.str.replace("-", " ").str.lower()
    spelled = labels.str.replace("-", " ").str.lower()
    return spelled.map(models).fillna(labels)


def published_counts() -> pd.DataFrame:
    """Return the counts of the paper's Figure 7, a row for each language and model.

    Columns: language, label (model), total (tasks), pf_localized (before mutations),
    pf_spm_localized (after mutations), lacks (the kind of fault that is missing in a
    model's bars, else None).

    The paper does not say what the third bar counts. The third bar is not a part of the
    second: Claude 3.7's bars would be 2.0 and 14.4 %, but Figure 6 has 38.9 % as the
    mean over its mutations.
    """
    figure = read_published("faultloc")["fig07"]
    rows = []
    for language, models in figure["values"].items():
        for label, bars in models.items():
            lacks = figure["lacks"].get(language, {}).get(label)
            rows.append({"language": language, "label": label, **bars, "lacks": lacks})
    return pd.DataFrame(rows)


def published_strengths() -> pd.DataFrame:
    """Return the paper's Figure 8, means over models and mutations, as points for
    `strength_curves`.

    Columns: language, strength, value (%), model (`published`), mutation (all), low,
    high (equal to value, since no intervals are published).
    """
    cells = published_cells("faultloc/fig08", "language", "strength")
    cells["low"] = cells["high"] = cells["value"]
    return cells.assign(model="published", mutation=ALL_MUTATIONS)


BINS = (50, 100, 200, 300, 400, 500)
"""Lower ends of the bins of program lengths in the paper's Figure 5, in lines."""
SIZES = [f"{low} to {high - 1}" for low, high in pairwise(BINS)] + ["500 and more"]
"""The bins in words."""


def published_sizes() -> pd.DataFrame:
    """Return the paper's Figure 5, a row for each bar.

    Columns: language, source, lines (range of lengths), programs (how many).
    """
    cells = published_cells("faultloc/fig05", "language", "lines")
    cells = cells.rename(columns={"value": "programs"})
    cells["language"] = cells["language"].map(LANGUAGE_NAMES)
    cells["lines"] = SIZES * cells["language"].nunique()
    cells.insert(1, "source", "published " + cells["language"])
    return cells


def audit(tasks: str, tolerance: int) -> pd.DataFrame:
    """Return an audit of the labels (numbers of faulty lines) of the paper's public
    Python tasks.

    There is a row for each fault and labelled quarter, and for all of them. Columns:
    fault, quarter (0: all), tasks, within (labels within `tolerance` lines of the line
    that really changed), accuracy (0 to 1), low, high (Wilson, each `A_PROGRAM` tasks
    counting as one). The column `accuracy` is the score of a perfect localizer; 39
    tasks in which no line changed are left out.

    With `tasks` = `counted`, the counts are those stored with the kit, always at
    tolerance 2. Otherwise the tasks are read; raises `DataError` if they are not at
    hand.
    """
    counts = counted() if tasks == "counted" else _count_labels(tolerance)
    sums = [counts, counts.assign(quarter=0), counts.assign(fault=ALL_FAULTS)]
    sums.append(sums[-1].assign(quarter=0))
    every = pd.concat(sums).sort_index(kind="stable")
    groups = every.groupby(["fault", "quarter"], as_index=False, sort=False)
    table = groups[["tasks", "within"]].sum()
    return with_accuracy(table, "within", "tasks", alike=A_PROGRAM)


def audit_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the audit's heat map from `table`, which `audit` made.

    They are the rows of single quarters, with the added columns row (the fault), column
    (the quarter in words) and place (the row's index).
    """
    shown = table.query("quarter > 0")
    row = shown["fault"].replace("BooleanLogic", "IncorrectBooleanLogic")
    return in_quarters(shown.assign(row=row))


def _count_labels(tolerance: int) -> pd.DataFrame:
    """Return the numbers of the public Python tasks and of labels within `tolerance`
    lines of the changed line.

    There is a row for each fault and labelled quarter: fault, quarter (1 to 4), tasks,
    within.
    """
    index = data_rows("llmcodeimpact", "llmcodeimpact/python_buggy_index.jsonl.gz")
    rows = pd.DataFrame(index)
    rows = rows.dropna(subset="changed_line").rename(columns={"sam": "fault"})
    percent = rows["line_no_percent"].str.rstrip("%").astype(int)
    rows["quarter"] = 1 + (percent // 25).clip(upper=3)
    apart = rows["line_no"] - rows["changed_line"]
    rows["within"] = apart.abs() <= tolerance
    groups = rows.groupby(["fault", "quarter"], as_index=False)["within"]
    return groups.agg(tasks="size", within="sum")


def counted() -> pd.DataFrame:
    """Return the stored counts of the audit (tolerance 2): fault, quarter (1 to 4),
    within (labels within the tolerance), tasks."""
    rows = []
    for fault, cells in read_published("faultloc")["audit"]["counts"].items():
        for quarter, cell in enumerate(cells, start=1):
            rows.append((fault, quarter, *cell))
    return pd.DataFrame(rows, columns=["fault", "quarter", "within", "tasks"])
