"""The claims ledger: each number that a paper states beside the regenerated one: holds, differs, or not run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import pandas as pd


@dataclass(frozen=True)
class Claim:
    """One number of a paper and what became of it."""

    artefact: str
    statement: str
    published: float
    """In the unit of the statement."""
    unit: str
    regenerated: float = math.nan
    low: float = math.nan
    high: float = math.nan
    basis: str = ""
    """What was run for the regenerated number, or what must be run."""

    @property
    def verdict(self) -> Literal["holds", "differs", "not run"]:
        """`holds` when the interval of the regenerated number, rounded as published, contains the published one."""
        if math.isnan(self.regenerated):
            return "not run"
        slack = 0.05 if self.unit == "%" else 0.0
        return "holds" if self.low - slack <= self.published <= self.high + slack else "differs"


def claims_frame(claims: list[Claim]) -> pd.DataFrame:
    """Columns: artefact, statement, published, unit, regenerated, low, high, verdict, basis."""
    return pd.DataFrame(
        [
            {
                "artefact": claim.artefact,
                "statement": claim.statement,
                "published": claim.published,
                "unit": claim.unit,
                "regenerated": claim.regenerated,
                "low": claim.low,
                "high": claim.high,
                "verdict": claim.verdict,
                "basis": claim.basis,
            }
            for claim in claims
        ],
        columns=["artefact", "statement", "published", "unit", "regenerated", "low", "high", "verdict", "basis"],
    )
