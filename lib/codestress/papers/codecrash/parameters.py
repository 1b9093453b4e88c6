"""Parameters of CodeCrash's notebooks that ask no model, kept apart from `studies` so that these
notebooks import nothing that makes trials."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codestress.parameters import RecomputedByDraws


class DifferenceCalibration(RecomputedByDraws):
    """Parameters of the calibration of CodeCrash's difference to plain programs, on a simulated
    reader with set probabilities of a correct answer; no model is asked."""

    n_problems: int = Field(32, ge=2, description="problems of a study")
    samples: int = Field(2, ge=1, description="answers to each program of a study")
    kept: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        [1.0, 0.8, 0.5],
        min_length=1,
        description="shares of a problem's probability that perturbations leave",
    )
    repetitions: int = Field(
        200,
        ge=10,
        description="drawn anew, to count how many intervals contain the true value",
    )
