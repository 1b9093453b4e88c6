"""The exponential fit recovers known curves, agrees with scipy on every resample, and its
intervals cover."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import curve_fit
from scipy.stats import norm

from codestress.fitting.exponential import (
    ExponentialFit,
    by_answers,
    equally,
    fit_curves,
    fit_exponential,
)
from codestress.fitting.proportions import DOUBTED, cluster_weights
from conftest import some

X = np.linspace(0, 1, 11)


def decay(x: ArrayLike, height: float, rate: float, floor: float = 0.0) -> np.ndarray:
    return floor + height * np.exp(-rate * np.asarray(x))


def simulated(
    rng: np.random.Generator, means: np.ndarray, problems: int, spread: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return sums of scores and numbers of answers, four a cell; every problem has a
    level of its own."""
    level = np.clip(rng.normal(1, spread, (problems, 1)), 0.2, 1.8)
    chance = np.clip(level * means, 0, 1)
    return rng.binomial(4, chance) * 1.0, np.full(chance.shape, 4.0)


def fitted(right: np.ndarray, x: ArrayLike = X, **how: Any) -> ExponentialFit:
    """Return the fit to scores, each of one answer."""
    how = {"resamples": 100, "rng": np.random.default_rng(0), **how}
    return fit_exponential(x, right, np.ones_like(right), **how)


@pytest.mark.parametrize(
    ("height", "rate", "floor"), [(1.0, 14.5, 0.0), (0.6, 2.0, 0.0), (0.5, 6.0, 0.2)]
)
def test_an_exact_curve_is_recovered(height: float, rate: float, floor: float) -> None:
    y = decay(X, height, rate, floor)
    fit = fitted(np.tile(y, (40, 1)), floor=floor > 0)
    parameters = pytest.approx((height, rate, floor), rel=1e-5, abs=1e-6)
    assert (fit.height, fit.rate, fit.floor) == parameters
    assert fit.half_life == pytest.approx(math.log(2) / rate, rel=1e-5)
    assert fit.at(X) == pytest.approx(y, rel=1e-5)
    assert fit.r_squared == pytest.approx(1)
    assert (fit.failed, fit.items) == (0, 40)
    low, high = fit.band(X)  # problems that are all alike are not certain
    assert (low < y).all()
    assert (y < high).all()


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("weigh", [equally, by_answers])
def test_every_resample_is_fitted_as_scipy_fits_it(
    floor: bool, weigh: Callable[..., np.ndarray]
) -> None:
    rng = np.random.default_rng(1)
    level = 0.1 * floor
    right, answered = simulated(rng, decay(X, 0.7, 4.0, level), 60, 0.3)
    answered[:, 5:] *= 2
    right[:, 5:] *= 2
    drawn = cluster_weights(60, 40, rng)
    means = (drawn @ right) / (drawn @ answered)
    weights = weigh(means, drawn @ answered)
    start = [0.7, 4.0, level][: 2 + floor]
    bounds = ([0] * len(start), [2, 1e4, 1][: len(start)])
    tight = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-12)
    fits = fit_curves(X, means, weights, floor=floor)
    for y, weight, parameters in zip(means, weights, fits, strict=True):
        sigma = 1 / np.sqrt(weight)
        expected, _ = curve_fit(decay, X, y, start, sigma, bounds=bounds, **tight)
        own = parameters[: len(start)]
        assert own == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_intervals_of_a_curve_with_a_floor_cover_as_often_as_they_say() -> None:
    """500 simulated studies; the binomial error of 95 % is 1 point, and a percentile
    interval is slightly short."""
    rng = np.random.default_rng(2)
    means = decay(X, 0.6, 3.0, 0.15)
    level = np.clip(rng.normal(1, 0.25, (200_000, 1)), 0.2, 1.8)
    truth = fitted(np.clip(level * means, 0, 1).mean(0)[None], floor=True).rate
    covered = 0
    for _ in range(500):
        right, answered = simulated(rng, means, 150, 0.25)
        fit = fit_exponential(X, right, answered, floor=True, resamples=300, rng=rng)
        covered += fit.interval("rate").low <= truth <= fit.interval("rate").high
    assert 0.925 <= covered / 500 <= 0.975


def test_what_cannot_be_fitted_is_nan_and_counted() -> None:
    rng = np.random.default_rng(0)
    wrong = np.zeros((4, 11))
    one_place = np.eye(1, 11)
    for right, answered in ((wrong, wrong + 1), (wrong, wrong), (one_place, one_place)):
        fit = fit_exponential(X, right, answered, resamples=100, rng=rng)
        assert math.isnan(fit.height)
        assert fit.failed == 100
        assert np.isnan(fit.band(X)[0]).all()


def test_a_resample_without_a_place_leaves_it_out() -> None:
    rng = np.random.default_rng(3)
    right, answered = simulated(rng, decay(X, 0.9, 3.0), 8, 0.1)
    right[2:, 0] = answered[2:, 0] = 0
    fit = fit_exponential(X, right, answered, resamples=500, rng=rng)
    assert fit.failed == 0
    assert fit.interval("rate").low < 3.2
    assert fit.interval("rate").high > 2.8


@pytest.mark.parametrize("x", [(-3, -1, 1, 3), (-900, -20, 50, 900)])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_x_may_be_negative_and_far_apart(x: tuple[int, ...], floor: float) -> None:
    rate = 1.5 / max(x)
    right = np.tile(decay(x, 0.1, rate, floor), (10, 1))
    fit = fitted(right, x, floor=floor > 0)
    parameters = pytest.approx((0.1, rate, floor), rel=1e-6)
    assert (fit.height, fit.rate, fit.floor) == parameters


def test_a_flat_curve_has_no_half_life() -> None:
    fit = fitted(np.ones((5, 11)))
    assert fit.rate == pytest.approx(0, abs=1e-6)
    assert fit.half_life > 1e5
    assert fit.interval("rate").low < 1e-6 < 0.05 < fit.interval("rate").high
    assert fit.loss_at(0.5)[1].high > 0.02  # answers that are all alike leave a doubt


def test_nothing_decays_at_one_place() -> None:
    right = (np.random.default_rng(0).random((40, 4)) < 0.5) * 1.0
    for place in (0, 1):
        fit = fitted(right, np.full(4, place))
        assert fit.rate == 0
        assert fit.height == pytest.approx(right.mean())


def doubted(shares: np.ndarray, problems: int, studies: int) -> float:
    """Return the share of simulated studies that reject the best exponential.

    Half of an answer's difficulty is its problem's.
    """
    rejected = 0
    for study in range(studies):
        random = np.random.default_rng((study, problems))
        difficulty = random.normal(size=(problems, 1))
        difficulty = difficulty + random.normal(size=(problems, len(shares)))
        right = (norm.cdf(math.sqrt(0.5) * difficulty) < shares) * 1.0
        fit = fitted(right, resamples=1, check=True, rng=random)
        rejected += fit.lack < DOUBTED
    return rejected / studies


@pytest.mark.slow
@pytest.mark.parametrize("problems", some([25, 100], 2))
@pytest.mark.parametrize(("height", "rate"), [(0.9, 0.7), (0.9, 5.0), (0.97, 0.0)])
def test_a_true_curve_is_seldom_rejected(
    height: float, rate: float, problems: int
) -> None:
    """200 studies at a level of 5 %: two standard errors are 3 points."""
    assert doubted(decay(X, height, rate), problems, 200) <= 0.05 + 0.035


@pytest.mark.slow
@pytest.mark.parametrize(
    "shares",
    [0.5 + 0.3 * (2 * X - 1) ** 2, 0.2 + 0.6 * np.exp(-8 * X)],
    ids=["a trough", "a plateau"],
)
def test_a_false_curve_is_rejected(shares: np.ndarray) -> None:
    assert doubted(shares, 25, 60) > 0.5
    assert doubted(shares, 100, 20) == 1


def test_a_curve_through_as_few_points_as_parameters_is_not_tested() -> None:
    right = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert math.isnan(fitted(right, [0, 1], check=True).lack)
