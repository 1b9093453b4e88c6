"""The claims ledger: each number that a paper states beside the regenerated one, and what to say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
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
    relation: Literal["equal", "at most"] = "equal"
    """How the regenerated number must stand to the published one."""
    cannot: str = ""
    """Why no run could tell: what is known of how the published number came about."""

    @property
    def verdict(self) -> Literal["holds", "differs", "cannot hold", "not run"]:
        """`holds` when the interval of the regenerated number, rounded as published, contains the published one."""
        if self.cannot:
            return "cannot hold"
        if math.isnan(self.regenerated):
            return "not run"
        slack = 0.05 if self.unit == "%" else 0.0
        if self.relation == "at most":
            return "holds" if self.high <= self.published + slack else "differs"
        return "holds" if self.low - slack <= self.published <= self.high + slack else "differs"


def read_claims(path: Path) -> list[str]:
    """The decided rows of a ledger (claims.csv), each as a line; empty where there is none."""
    if not path.is_file():
        return []
    frame = pd.read_csv(path)
    return [
        f"{row.verdict}: {row.statement}: {row.regenerated:,.2f} {row.unit} [{row.low:,.2f}, {row.high:,.2f}], "
        f"published {row.relation.replace('equal', '')} {row.published:,.2f}".replace("  ", " ")
        for row in frame[frame["verdict"].isin(["holds", "differs"])].itertuples()
    ]


def claims_frame(claims: list[Claim]) -> pd.DataFrame:
    """Columns: artefact, statement, relation, published, unit, regenerated, low, high, verdict, basis."""
    return pd.DataFrame(
        [
            {
                "artefact": claim.artefact,
                "statement": claim.statement,
                "relation": claim.relation,
                "published": claim.published,
                "unit": claim.unit,
                "regenerated": claim.regenerated,
                "low": claim.low,
                "high": claim.high,
                "verdict": claim.verdict,
                "basis": claim.cannot or claim.basis,
            }
            for claim in claims
        ],
        columns=[
            "artefact",
            "statement",
            "relation",
            "published",
            "unit",
            "regenerated",
            "low",
            "high",
            "verdict",
            "basis",
        ],
    )
