"""The half-length beside scipy's maximum of the same likelihood, and how often its interval covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom, chi2, norm

from codestress.fitting.proportions import Interval
from codestress.papers.origin.curves import HalfLength, fit_half_length, misfit

LINES = np.arange(16, 945, 32)
ASKED = np.full(len(LINES), 4)


def likelihood(half: float, steepness: float, right: NDArray[np.int64]) -> float:
    return float(
        binom.logpmf(
            right, ASKED, np.exp(-math.log(2) * (LINES / half) ** steepness)
        ).sum()
    )


def drawn(half: float, steepness: float, seed: int) -> NDArray[np.int64]:
    share = np.exp(-math.log(2) * (LINES / half) ** steepness)
    return np.random.default_rng(seed).binomial(ASKED, share)


@pytest.mark.parametrize("seed", range(4))
def test_best_curve_and_ends_are_those_of_scipy(seed: int) -> None:
    right = drawn(250, 1.3, seed)
    fit = fit_half_length(LINES, right, ASKED)
    best = minimize(
        lambda at: -likelihood(*np.exp(at), right),
        np.log([200.0, 1.0]),
        method="Nelder-Mead",
    )
    assert fit.half == pytest.approx(math.exp(best.x[0]), rel=0.04)
    assert likelihood(fit.half, fit.steepness, right) == pytest.approx(
        -best.fun, abs=0.02
    )
    for end in fit.interval:
        on_it = minimize_scalar(
            lambda at, end=end: -likelihood(end, math.exp(at), right),
            bounds=(-1.6, 3),
            method="bounded",
        )
        assert 2 * (on_it.fun - best.fun) == pytest.approx(chi2.ppf(0.95, 1), abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("half", "steepness"), [(250, 1.0), (150, 2.5), (600, 1.0)])
def test_its_interval_covers(half: float, steepness: float) -> None:
    fits = [
        fit_half_length(LINES, drawn(half, steepness, seed), ASKED)
        for seed in range(300)
    ]
    covered = np.mean([fit.interval.low <= half <= fit.interval.high for fit in fits])
    assert 0.91 <= covered <= 0.985  # 95 %, and three deviations of 300 draws


@pytest.mark.slow
def test_its_interval_covers_less_where_neighbours_hang_together() -> None:
    """Answers of 117 sizes by a latent chain, whose neighbours correlate by about 0.45 given the curve."""
    lines, ones = np.arange(16, 945, 8), np.ones(117)
    share = np.exp(-math.log(2) * (lines / 150) ** 2.5)
    random, covered, correlations = np.random.default_rng(0), [], []
    for _ in range(80):
        latent, noise = [random.normal()], random.normal(size=116)
        for step in noise:
            latent.append(0.7 * latent[-1] + math.sqrt(1 - 0.7**2) * step)
        right = (norm.cdf(latent) < share).astype(float)
        rest, spread = right - share, np.sqrt(share * (1 - share))
        correlations.append(
            (rest[1:] * rest[:-1]).sum() / (spread[1:] * spread[:-1]).sum()
        )
        fit = fit_half_length(lines, right, ones)
        covered.append(fit.interval.low <= 150 <= fit.interval.high)
    assert np.mean(correlations) == pytest.approx(0.45, abs=0.06)
    assert np.mean(covered) == pytest.approx(0.6, abs=0.12)


def test_answers_that_are_all_alike_bound_one_side() -> None:
    nothing, everything = (
        fit_half_length(LINES, right, ASKED) for right in (0 * ASKED, ASKED)
    )
    assert (nothing.half, nothing.interval.low) == (0.0, 0.0)
    assert 0 < nothing.interval.high < 64
    assert (everything.half, everything.interval.high) == (math.inf, math.inf)
    assert everything.interval.low > 800
    assert math.isnan(
        misfit(nothing, LINES, 0 * ASKED, ASKED, np.random.default_rng(0))
    )


def test_a_curve_that_does_not_describe_its_points_is_told() -> None:
    told = [
        misfit(
            fit_half_length(LINES, right, ASKED),
            LINES,
            right,
            ASKED,
            np.random.default_rng(seed),
        )
        < 0.05
        for seed in range(60)
        for right in [drawn(250, 1.3, seed)]
    ]
    assert np.mean(told) <= 0.1
    floor = np.where(LINES < 60, 4, 1)
    assert (
        misfit(
            HalfLength(80, 2.0, Interval(60, 100)),
            LINES,
            floor,
            ASKED,
            np.random.default_rng(0),
        )
        < 0.01
    )
