"""Fault Localizability: the labels of the public tasks, checked."""

from __future__ import annotations

import numpy as np
import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.papers.faultloc.faults.sites import KINDS
from codestress.papers.faultloc.programs import packed_rows
from codestress.papers.faultloc.results.conditions import with_places
from codestress.report.published import published_numbers


def audit(tasks: str, tolerance: int) -> pd.DataFrame:
    """How far the public Python tasks' labels are from the line that really changed, by fault and labelled quarter.

    `tasks`: `public` reads the tasks; `counted` takes the counts that this gave (tolerance 2), where they are not at
    hand. Columns: fault, quarter (0: all), tasks, within (labels within the tolerance), share, low, high (Wilson).
    `share` is what a perfect localizer would score; tasks whose program is the seed (39) are left out.
    """
    counts = _counted() if tasks == "counted" else _count_labels(tolerance)
    every: dict[tuple[str, int], tuple[int, int]] = {}
    for (fault, quarter), (within, total) in counts.items():
        for key in ((fault, quarter), (fault, 0), ("all faults", quarter), ("all faults", 0)):
            sums = every.get(key, (0, 0))
            every[key] = (sums[0] + within, sums[1] + total)
    rows = [(*key, total, within) for key, (within, total) in every.items()]
    return with_accuracy(pd.DataFrame(rows, columns=["fault", "quarter", "tasks", "within"]), "within", "tasks")


def audit_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the heat map of the audit: row, column, share, tasks."""
    shown = table[table["quarter"] > 0]
    shown = shown.assign(row=shown["fault"].replace({"BooleanLogic": "IncorrectBooleanLogic"}))
    return with_places(shown, (*KINDS, "all faults"))


def _count_labels(tolerance: int) -> dict[tuple[str, int], tuple[int, int]]:
    """Labels within the tolerance, and tasks, by fault and labelled quarter (1 to 4)."""
    rows = pd.DataFrame(packed_rows("python_buggy_index.jsonl.gz")).dropna(subset=["changed_line"])
    percent = rows["line_no_percent"].str.rstrip("%").astype(int)
    quarters = 1 + np.searchsorted([25, 50, 75], percent, side="right")
    rows = rows.assign(quarter=quarters, within=(rows["line_no"] - rows["changed_line"]).abs() <= tolerance)
    table = rows.groupby(["sam", "quarter"])["within"].agg(["sum", "size"])
    return {(str(sam), int(q)): (int(row["sum"]), int(row["size"])) for (sam, q), row in table.iterrows()}


def _counted() -> dict[tuple[str, int], tuple[int, int]]:
    counts = (published_numbers("faultloc/audit") or {"counts": {}})["counts"]
    return {(fault, n + 1): (cell[0], cell[1]) for fault, cells in counts.items() for n, cell in enumerate(cells)}
