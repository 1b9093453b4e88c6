"""Fault Localizability: names of what tells conditions apart."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

QUARTERS = ("0-25 %", "25-50 %", "50-75 %", "75-100 %")
ORACLE = "perfect localizer"


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `seed_program`: tasks made from one program are not independent."""
    return answers.assign(seed_program=answers["source"] + "/" + answers["problem"].str.split("/").str[0])


def with_places(cells: pd.DataFrame, rows: Sequence[str]) -> pd.DataFrame:
    """Cells of a heat map over quarters in the order of its rows, with `column`, the quarter in words."""
    order = {row: place for place, row in enumerate(rows)}
    cells = cells.assign(place=cells["row"].map(order)).sort_values(["place", "quarter"], ignore_index=True)
    return cells.assign(column=[QUARTERS[int(quarter) - 1] for quarter in cells["quarter"]])
