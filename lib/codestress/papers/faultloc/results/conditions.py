"""Fault Localizability: names of what tells conditions apart."""

from __future__ import annotations

import pandas as pd

QUARTERS = ("0-25 %", "25-50 %", "50-75 %", "75-100 %")
ORACLE = "perfect localizer"


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `seed_program`: tasks made from one program are not independent."""
    return answers.assign(seed_program=answers["source"] + "/" + answers["problem"].str.split("/").str[0])
