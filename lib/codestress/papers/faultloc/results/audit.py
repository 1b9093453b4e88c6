"""Fault Localizability: the labels of the public tasks, checked."""

from __future__ import annotations

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.papers.faultloc.faults.sites import KINDS
from codestress.papers.faultloc.programs import packed_rows
from codestress.papers.faultloc.results.localization import with_places
from codestress.report.published import published_numbers


def audit(tasks: str, tolerance: int) -> pd.DataFrame:
    """How far the public Python tasks' labels are from the line that really changed, by fault and labelled quarter.

    `tasks`: `public` reads the tasks; `counted` takes the counts that this gave (tolerance 2), where they are not at
    hand. Columns: fault, quarter (0: all), tasks, within (labels within the tolerance), share, low, high (Wilson).
    `share` is what a perfect localizer would score; tasks whose program is the seed (39) are left out.
    """
    counts = _counted() if tasks == "counted" else _count_labels(tolerance)
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


def _counted() -> pd.DataFrame:
    counts = (published_numbers("faultloc/audit") or {"counts": {}})["counts"]
    rows = [(fault, n, *cell) for fault, cells in counts.items() for n, cell in enumerate(cells, start=1)]
    return pd.DataFrame(rows, columns=["fault", "quarter", "within", "tasks"])
