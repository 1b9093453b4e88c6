"""The exponential fit recovers known curves, agrees with scipy on every resample, and its intervals cover."""

from __future__ import annotations

import math
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
from codestress.papers.origin.curves import fit_decay, reach_of
from conftest import some

X = np.linspace(0, 1, 11)


def table(
    rng: np.random.Generator,
    height: float,
    rate: float,
    floor: float,
    problems: int,
    spread: float,
    n: int = 4,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of scores and numbers of answers: every problem has its own level, so that its answers hang together."""
    level = np.clip(rng.normal(1, spread, problems), 0.2, 1.8)[:, None]
    chance = np.clip(level * (floor + height * np.exp(-rate * X)), 0, 1)
    return rng.binomial(n, chance).astype(float), np.full((problems, len(X)), float(n))


def fitted(right: np.ndarray, x: ArrayLike = X, **how: Any) -> ExponentialFit:
    """The fit to scores, each of one answer."""
    how = {"resamples": 100, "rng": np.random.default_rng(0), **how}
    return fit_exponential(x, right, np.ones_like(right), **how)


CURVES = [(1.0, 14.5, 0.0), (0.6, 2.0, 0.0), (0.5, 6.0, 0.2), (0.8, 0.5, 0.1)]


@pytest.mark.parametrize(("height", "rate", "floor"), CURVES)
def test_an_exact_curve_is_recovered(height: float, rate: float, floor: float) -> None:
    y = floor + height * np.exp(-rate * X)
    fit = fitted(np.tile(y, (40, 1)), floor=floor > 0)
    assert (fit.height, fit.rate, fit.floor) == pytest.approx(
        (height, rate, floor), rel=1e-5, abs=1e-6
    )
    assert fit.half_life == pytest.approx(math.log(2) / rate, rel=1e-5)
    assert fit.at([0.5])[0] == pytest.approx(
        floor + height * math.exp(-rate / 2), rel=1e-5
    )
    assert fit.r_squared == pytest.approx(1)
    assert fit.failed == 0
    low, high = fit.band(X)
    assert (low < y).all()  # problems that are all alike are not certain
    assert (y < high).all()
    assert fit.items == 40


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_resample_is_fitted_as_scipy_fits_it(floor: bool, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    right, asked = table(rng, 0.7, 4.0, 0.1 if floor else 0.0, 60, 0.3)
    asked[:, 5:] *= 2
    right[:, 5:] *= 2
    free = 3 if floor else 2
    weigh = by_answers if weighted else equally
    fit = fit_exponential(
        X, right, asked, floor=floor, weigh=weigh, rng=np.random.default_rng(0)
    )
    best = np.array([fit.height, fit.rate, fit.floor])
    drawn = cluster_weights(60, 40, rng)
    means = (drawn @ right) / (drawn @ asked)
    weights = drawn @ asked if weighted else np.ones_like(means)
    found = fit_curves(X, means, weights, floor=floor)
    assert not np.isnan(found).any()
    for y, w, ours in zip(means, weights, found, strict=True):
        scipys, _ = curve_fit(
            (lambda x, a, b, c: c + a * np.exp(-b * x))
            if floor
            else (lambda x, a, b: a * np.exp(-b * x)),
            X,
            y,
            p0=best[:free],
            sigma=1 / np.sqrt(w),
            bounds=([0] * free, [2, 1e4, 1][:free]),
            ftol=1e-12,
            xtol=1e-12,
            gtol=1e-12,
        )
        assert ours[:free] == pytest.approx(scipys, rel=1e-5, abs=1e-5)


@pytest.mark.slow
def test_intervals_of_a_curve_with_a_floor_cover_as_often_as_they_say() -> None:
    """500 simulated studies; the binomial error of 95 % is 1 point, and a percentile interval is slightly short."""
    rng = np.random.default_rng(2)
    level = np.clip(rng.normal(1, 0.25, 200_000), 0.2, 1.8)[:, None]
    mean = np.clip(level * (0.15 + 0.6 * np.exp(-3.0 * X)), 0, 1).mean(0)
    truth = fitted(mean[None], floor=True).rate
    covered = 0
    for _ in range(500):
        right, asked = table(rng, 0.6, 3.0, 0.15, 150, 0.25)
        fit = fit_exponential(X, right, asked, floor=True, resamples=300, rng=rng)
        covered += fit.interval("rate").low <= truth <= fit.interval("rate").high
    assert 0.925 <= covered / 500 <= 0.975


def test_what_cannot_be_fitted_is_nan_and_counted() -> None:
    rng = np.random.default_rng(0)
    wrong = np.zeros((4, 11))
    one_place = np.eye(1, 11)
    for right, asked in ((wrong, wrong + 1), (wrong, wrong), (one_place, one_place)):
        fit = fit_exponential(X, right, asked, resamples=100, rng=rng)
        assert math.isnan(fit.height)
        assert fit.failed == 100
        assert np.isnan(fit.band(X)[0]).all()


def test_a_resample_without_a_place_leaves_it_out() -> None:
    """Two problems of eight have the first place; resamples without them are fitted to the others."""
    rng = np.random.default_rng(3)
    right, asked = table(rng, 0.9, 3.0, 0.0, 8, 0.1, n=50)
    right[2:, 0] = asked[2:, 0] = 0
    fit = fit_exponential(X, right, asked, resamples=500, rng=rng)
    assert fit.failed == 0
    assert fit.interval("rate").low < 3.2
    assert fit.interval("rate").high > 2.8


@pytest.mark.parametrize("x", [(-3, -1, 1, 3), (-900, -20, 50, 900), (0, 1, 400, 900)])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_x_may_be_negative_and_far_apart(x: tuple[int, ...], floor: float) -> None:
    places = np.array(x, dtype=float)
    rate = 1.5 / np.abs(places).max()
    right = np.tile(floor + 0.1 * np.exp(-rate * places), (10, 1))
    fit = fitted(right, places, floor=floor > 0)
    assert (fit.height, fit.rate) == pytest.approx((0.1, rate), rel=1e-6)
    assert fit.floor == pytest.approx(floor, rel=1e-6)


def test_a_flat_curve_has_no_half_life() -> None:
    fit = fitted(np.ones((5, 11)))
    assert fit.rate == pytest.approx(0, abs=1e-6)
    assert fit.half_life > 1e5
    assert fit.interval("rate").low < 1e-6 < 0.05 < fit.interval("rate").high
    assert fit.loss_at(0.5)[1].high > 0.02  # answers that are all alike leave a doubt


TRUE_CURVES = {
    "mild": (0.9, 0.7, 0.0),
    "strong": (0.9, 5.0, 0.0),
    "flat": (0.97, 0.0, 0.0),
}
SHAPES = {
    "a trough": lambda x: 0.5 + 0.3 * (2 * x - 1) ** 2,
    "a plateau": lambda x: 0.2 + 0.6 * np.exp(-8 * x),
}


def answers_that_hang_together(
    shares: np.ndarray, problems: int, random: np.random.Generator
) -> np.ndarray:
    """Of problems of different difficulty, half of it their own."""
    own = random.normal(size=(problems, 1))
    other = random.normal(size=(problems, len(shares)))
    return (norm.cdf(math.sqrt(0.5) * (own + other)) < shares) * 1.0


def doubted(shares: np.ndarray, problems: int, studies: int) -> float:
    """In how many studies the best exponential is said not to describe the points."""
    found = []
    for study in range(studies):
        random = np.random.default_rng((study, problems))
        right = answers_that_hang_together(shares, problems, random)
        fit = fitted(right, resamples=1, check=True, rng=random)
        found.append(fit.lack < DOUBTED)
    return float(np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize("problems", some([25, 100], 2))
@pytest.mark.parametrize("name", TRUE_CURVES)
def test_a_true_curve_is_seldom_said_not_to_describe_its_points(
    name: str, problems: int
) -> None:
    """200 studies at a level of 5 %: two standard errors are 3 points; cautious is no fault."""
    height, rate, floor = TRUE_CURVES[name]
    shares = floor + height * np.exp(-rate * X)
    assert doubted(shares, problems, 200) <= 0.05 + 0.035


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_false_curve_is_said_not_to_describe_its_points(name: str) -> None:
    shares = SHAPES[name](X)
    assert doubted(shares, 25, 60) > 0.5
    assert doubted(shares, 100, 20) == 1


def test_a_curve_through_as_many_points_as_it_has_parameters_lacks_nothing_that_can_be_seen() -> (
    None
):
    right = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert math.isnan(fitted(right, [0, 1], check=True).lack)


@pytest.mark.parametrize(
    ("x", "right", "problems"),
    [
        ([1, 2, 3, 4], [16, 0, 0, 0], 17),
        ([1, 2], [11, 0], 21),
        ([1, 3, 6], [30, 0, 0], 40),
    ],
)
def test_a_fall_in_one_step_has_a_reach_with_an_end(
    x: list[int], right: list[int], problems: int
) -> None:
    table = np.arange(problems)[:, None] < np.array(right)
    side = fit_decay(x, table, rng=np.random.default_rng(0))
    reach, (low, high) = reach_of(side)
    assert low <= reach <= high < x[1] - x[0]


def test_at_one_place_nothing_decays() -> None:
    right = (np.random.default_rng(0).random((40, 4)) < 0.5) * 1.0
    for place in (0, 1):
        fit = fitted(right, np.full(4, place))
        assert fit.rate == 0
        assert fit.height == pytest.approx(right.mean())
