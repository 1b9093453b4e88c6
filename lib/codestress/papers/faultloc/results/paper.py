"""Fault Localizability: the paper's own numbers, what is claimed of them, and the labels of its public tasks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.fitting.summaries import with_accuracy
from codestress.papers.faultloc.faults.sites import KINDS
from codestress.papers.faultloc.programs import packed_rows
from codestress.papers.faultloc.results.localization import with_places
from codestress.report.published import published_cells, published_models, published_numbers
from codestress.types import LANGUAGE_NAMES


def published_heat() -> pd.DataFrame:
    """The paper's Figure 9: row, column, share."""
    return published_cells("faultloc/fig09", "row", "column").rename(columns={"value": "accuracy"})


A_PROGRAM = 4
"""Tasks of one kind of fault that the paper's protocol makes of a program at most, one a quarter."""


def published_localization(confidence: float = 0.95) -> pd.DataFrame:
    """Table II's cells: language, name (its), fault, label, model (the registry's name), value (%), of (tasks),
    programs (a quarter of them), flag (what is said of a cell that disagrees with the paper's own Figure 7), low, high
    (Wilson's, 0 to 1: tasks of a program hang together, and each `A_PROGRAM` count once).
    """
    numbers = published_numbers("faultloc/tab02") or {}
    flags = {
        (one["language"], one["fault"], one["model"]): f" (Figure 7 implies {one['implied_by_fig7']:.2f})"
        for one in numbers["flagged"]
    }
    cells = published_cells("faultloc/tab02", "language", "fault", "label")
    of = [numbers["denominators"][row.language][row.fault] for row in cells.itertuples()]
    programs = [n / A_PROGRAM for n in of]
    intervals = [wilson(one / 100 * n, n, confidence) for one, n in zip(cells["value"], programs, strict=True)]
    return cells.assign(
        name=cells["language"].map(LANGUAGE_NAMES),
        model=cells["label"].map(published_models("faultloc")),
        of=of,
        programs=programs,
        low=[one.low for one in intervals],
        high=[one.high for one in intervals],
        flag=[flags.get((row.language, row.fault, row.label), "") for row in cells.itertuples()],
    )


def best_on_misplaced_return(cells: pd.DataFrame) -> pd.DataFrame:
    """How many models have their largest share in Table II on MisplacedReturn: models (all tasks together), told (by
    language); nothing is run."""

    def best(part: pd.DataFrame) -> int:
        counts = part.assign(right=part["value"] * part["of"]).groupby(["label", "fault"])[["right", "of"]].sum()
        return int(((counts["right"] / counts["of"]).unstack().idxmax(axis=1) == "MisplacedReturn").sum())

    told = ", ".join(f"{name} {best(part)}" for name, part in cells.groupby("name", sort=False))
    return pd.DataFrame([{"models": best(cells), "told": told}])


def published_statistics() -> dict[str, int]:
    """The paper's Table IV."""
    return dict((published_numbers("faultloc/tab04") or {})["values"])


def lines_of_a_task() -> pd.DataFrame:
    """Table IV against itself: of (tasks, prompts), lines: all its lines by how many it counts of them."""
    values = published_statistics()
    counts = {"tasks": values["total_fl_tasks"], "prompts": values["total_prompts"]}
    return pd.DataFrame(
        [(name, values["total_loc"] / count) for name, count in counts.items()], columns=["of", "lines"]
    )


def published_spm_bars() -> pd.DataFrame:
    """The paper's Figure 6: label (mutation), condition (model), share."""
    cells = published_cells("faultloc/fig06", "condition", "label")
    return cells.assign(accuracy=cells["value"] / 100)[["label", "condition", "accuracy"]]


UNSAID = "published (whether before or after mutations is not said)"
BARS = {
    "spms": ("fig06", ["condition", "label"], "label", "published (Figure 6), mean over models"),
    "models": ("fig06", ["condition", "label"], "condition", "published (Figure 6), mean over mutations"),
    "categories": ("fig10", ["label"], "label", UNSAID),
    "versions": ("fig11", ["label"], "label", UNSAID),
}
"""By what a figure tells apart: the paper's figure, what its cells are told apart by, the bars' labels, the title."""


def published_panels(show: str) -> dict[str, pd.DataFrame]:
    """The paper's own bars for a figure, as panels of `share_bars`: Figure 6 as means over models and by model, or,
    beside Figure 7 by language, as means over mutations; Figures 10 and 11; Table II as means over models."""
    if show in BARS:
        figure, keys, by, title = BARS[show]
        panels = {title: _bars(published_cells(f"faultloc/{figure}", *keys), by)}
    else:
        languages = published_localization().groupby("name", sort=False)
        panels = {f"published (Table II), {name}, mean over models": _bars(part, "fault") for name, part in languages}
    if show == "spms":  # a row for each model, its mutations side by side
        told = published_spm_bars().rename(columns={"condition": "label", "label": "condition"})
        panels["published (Figure 6), by model"] = told
    if show == "models":  # of the tasks that a model localizes, those that it localizes after mutations too
        counts = published_counts().assign(condition=lambda one: one["language"].map(LANGUAGE_NAMES))
        share = counts["pf_spm_localized"] / counts["pf_localized"]
        panels["published (Figure 7), by language"] = counts.assign(accuracy=share)
    return {title: bars.assign(low=np.nan, high=np.nan) for title, bars in panels.items()}


def _bars(cells: pd.DataFrame, by: str) -> pd.DataFrame:
    means = (cells["value"] / 100).groupby(cells[by], sort=False).mean()
    return pd.DataFrame({"label": means.index, "condition": "published", "accuracy": means.to_numpy()})


def published_counts() -> pd.DataFrame:
    """Figure 7, whose bars are counts: language, label (model), total (tasks), pf_localized, pf_spm_localized (after
    mutations too; of how many mutations, the paper does not say)."""
    cells = published_cells("faultloc/fig07", "language", "label", "series")
    counts = cells.pivot_table(index=["language", "label"], columns="series", values="value", sort=False)
    return counts.reset_index()[["language", "label", "total", "pf_localized", "pf_spm_localized"]]


def published_strengths() -> pd.DataFrame:
    """The paper's Figure 8, means over models and mutations: points of `strength_points`' form, in panels of their
    own."""
    cells = published_cells("faultloc/fig08", "language", "density")
    panel = "published, " + cells["language"].map(LANGUAGE_NAMES) + ", all mutations"
    points = cells.assign(model="published", panel=panel, low=cells["value"], high=cells["value"])
    return points[["model", "panel", "density", "value", "low", "high"]]


def published_sizes() -> pd.DataFrame:
    """The paper's Figure 5: source, lines, programs."""
    cells = published_cells("faultloc/fig05", "language", "bin")
    source = "published, " + cells["language"].map(LANGUAGE_NAMES)
    return pd.DataFrame({"source": source, "lines": cells["bin"] + " lines", "programs": cells["value"]})


def audit(tasks: str, tolerance: int) -> pd.DataFrame:
    """How far the public Python tasks' labels are from the line that really changed, by fault and labelled quarter.

    `tasks`: `public` reads the tasks; `counted` takes the counts that this gave (tolerance 2), where they are not at
    hand. Columns: fault, quarter (0: all), tasks, within (labels within the tolerance), share, low, high (Wilson).
    `share` is what a perfect localizer would score; tasks whose program is the seed (39) are left out.
    """
    counts = counted() if tasks == "counted" else _count_labels(tolerance)
    sums = [counts, counts.assign(quarter=0), counts.assign(fault="all faults")]
    every = pd.concat([*sums, sums[2].assign(quarter=0)]).sort_index(kind="stable")
    table = every.groupby(["fault", "quarter"], as_index=False, sort=False)[["tasks", "within"]].sum()
    return with_accuracy(table, "within", "tasks")


def audit_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the heat map of the audit: row, column, share, tasks."""
    shown = table[table["quarter"] > 0]
    shown = shown.assign(row=shown["fault"].replace({"BooleanLogic": "IncorrectBooleanLogic"}))
    return with_places(shown, (*KINDS, "all faults"))


def _count_labels(tolerance: int) -> pd.DataFrame:
    """Labels within the tolerance, and tasks, by fault and labelled quarter (1 to 4)."""
    rows = pd.DataFrame(packed_rows("python_buggy_index.jsonl.gz")).dropna(subset=["changed_line"])
    percent = rows["line_no_percent"].str.rstrip("%").astype(int)
    quarters = 1 + np.searchsorted([25, 50, 75], percent, side="right")
    rows = rows.assign(quarter=quarters, within=(rows["line_no"] - rows["changed_line"]).abs() <= tolerance)
    by = rows.rename(columns={"sam": "fault"}).groupby(["fault", "quarter"], as_index=False)["within"]
    return by.agg(tasks="size", within="sum")


def counted() -> pd.DataFrame:
    """The same, as they were counted."""
    counts = (published_numbers("faultloc/audit") or {"counts": {}})["counts"]
    rows = [(fault, n, *cell) for fault, cells in counts.items() for n, cell in enumerate(cells, start=1)]
    return pd.DataFrame(rows, columns=["fault", "quarter", "within", "tasks"])
