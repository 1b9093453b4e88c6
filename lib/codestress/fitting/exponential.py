"""Exponential decay of an accuracy, fitted by least squares: y = floor + height *
exp(-rate * x).

For a fixed rate the curve is a straight line in exp(-rate * x), so height and floor
follow from linear regression (variable projection, Golub and Pereyra 1973). Only the
rate is searched: first on a grid, then by bisection around the grid's best rate, for
the rate at which the squared error stops falling. All resamples of a bootstrap are
fitted at once.

In array shapes, k is the number of values of x, and m the number of curves.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .proportions import (
    Array,
    Interval,
    cluster_weights,
    floats,
    percentile_interval,
    stretched,
)

HIGHEST = np.array([2.0, 1e4, 1.0])
"""Upper bounds of height, rate and floor; the lower bounds are 0. A height above 1
would mean an accuracy above 100 %, but only at an x without answers."""
NAMES = ("height", "rate", "floor")
"""Names of a curve's parameters, in the order of the columns of `ExponentialFit.draws`.
"""
GRID = np.geomspace(1e-3, 1e4, 71)
"""Products of the rates that are tried first and the largest absolute x."""
HALVINGS = 30
"""Number of bisection steps between two neighbouring rates of the grid."""
LACK_RESAMPLES = 400
"""Number of resamples behind a p-value of `lack_of_fit`. In simulations, a true curve
is rejected in about 5 of 100 studies."""
Line = Callable[[Array], tuple[Array, Array, Array, Array]]
"""Function from rates (m, 1) to the four arrays that `fit_line` returns."""
Weigh = Callable[[Array, Array], Array]
"""Function from mean accuracies and numbers of answers to the weights of the squared
errors, all (m, k). A weight is 0 if nothing was asked."""


def equally(_means: Array, asked: Array) -> Array:
    """Return a weight of 1 for every value of x with answers, and 0 for any other."""
    return np.sign(asked)


def by_answers(_means: Array, asked: Array) -> Array:
    """Return the numbers of answers as weights."""
    return asked


@dataclass(frozen=True)
class ExponentialFit:
    """A fitted curve, y = floor + height * exp(-rate * x), with intervals of its
    parameters.

    If the fit failed, the numbers are nan, the intervals `UNKNOWN`, `items` is 0, and
    all resamples count as `failed`.
    """

    draws: Array
    """Height, rate and floor of every resample, shape (resamples, 3), stretched away
    from the estimate to correct for few problems (`stretched`). nan for a failed fit.
    """
    confidence: float
    """Confidence level of the parameters' intervals."""
    height: float = math.nan
    """Accuracy at x = 0 minus the floor."""
    rate: float = math.nan
    """Decay rate per unit of x."""
    floor: float = math.nan
    """Accuracy that remains at a large x."""
    r_squared: float = math.nan
    """R² of the mean accuracies over the values of x, unweighted."""
    items: int = 0
    """Number of problems behind the fit."""
    lack: float = math.nan
    """p-value of the test that the curve does not describe its points (`lack_of_fit`);
    nan if the test was not requested."""

    @property
    def best(self) -> Array:
        """Height, rate and floor of the curve, shape (1, 3)."""
        return np.array([[self.height, self.rate, self.floor]])

    @property
    def half_life(self) -> float:
        """Value of x at which half of the height is lost: ln 2 / rate; inf if the curve
        does not decay."""
        return half_life(self.rate)

    @property
    def failed(self) -> int:
        """Number of resamples without a fit. The intervals leave such resamples out."""
        return int(np.isnan(self.draws[:, 0]).sum())

    def interval(self, name: str) -> Interval:
        """Return the interval of the parameter `name`: `height`, `rate`, `floor` or
        `half_life`."""
        if name == "half_life":
            low, high = self.interval("rate")
            return Interval(half_life(high), half_life(low))
        draws = self.draws[:, NAMES.index(name)]
        return percentile_interval(draws, self.confidence, getattr(self, name))

    def at(self, x: ArrayLike) -> Array:
        """Return the curve's accuracies (k,) at the values `x` (k,); nan if the fit
        failed."""
        return floats(curve(floats(x), self.best)[0])

    def loss_at(self, x: float) -> tuple[float, Interval]:
        """Return the share of the accuracy at x = 0 that is lost at `x` (a number), and
        its interval from the resamples. The result is nan if the accuracy at 0 is 0."""
        loss = lost_shares(x, self.best)[0]
        draws = lost_shares(x, self.draws)
        return loss, percentile_interval(draws, self.confidence, loss)

    def band(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return the lower and the upper edge, each (k,), of the curve's interval at
        each of the values `x` (k,). The interval comes from the resamples and contains
        the curve. nan if no resample has a fit."""
        draws = curve(floats(x), self.draws).T
        ends = []
        for each, value in zip(draws, self.at(x), strict=True):
            ends.append(percentile_interval(each, self.confidence, value))
        low, high = np.reshape(ends, (-1, 2)).T
        return low, high


def half_life(rate: float) -> float:
    """Return ln 2 / `rate`; inf if the rate is (almost) 0, nan for nan."""
    if rate <= 1e-9:
        return math.inf
    return math.log(2) / rate


def curve(x: Array, parameters: Array) -> Array:
    """Return the values (m, k) of m curves at `x` (k,): floor + height * exp(-rate *
    x). The rows of `parameters` (m, 3) are height, rate and floor."""
    # Each of the three is a column (m, 1), so that it broadcasts over the values `x`.
    height, rate, floor = parameters.T[:, :, None]
    return floats(floor + height * np.exp(-rate * x))


def lost_shares(x: float, parameters: Array) -> Array:
    """Return the shares (m,) of the value at 0 that m curves lose at the one value `x`.
    nan if the value at 0 is 0. `parameters` is as in `curve`."""
    start, end = curve(np.array([0.0, x]), parameters).T
    start[start <= 0] = np.nan
    return floats(1 - end / start)


def fit_exponential(
    x: ArrayLike,
    right: ArrayLike,
    asked: ArrayLike,
    *,
    floor: bool = False,
    weigh: Weigh = equally,
    highest: Array = HIGHEST,
    confidence: float = 0.95,
    resamples: int = 1000,
    check: bool = False,
    rng: np.random.Generator,
) -> ExponentialFit:
    """Return the fit of an exponential decay to mean accuracies at `x` (k,). `right` has the sums of scores and `asked`
    the numbers of answers, both (problems, k). With `floor`, the floor is fitted too. `weigh` weighs the squared
    errors; `highest` bounds the parameters; with `check`, `lack_of_fit` is computed. The intervals are of a bootstrap
    of problems, with `smoothed` means and `stretched` parameters."""
    places, scores, numbers = map(floats, (x, right, asked))
    items = len(scores)
    fitted = partial(fit_curves, places, floor=floor, highest=highest)
    means, totals = resampled(scores, numbers, np.ones((1, items)))
    weights = weigh(means, totals)
    best = fitted(means, weights)[0]
    if np.isnan(best[0]):
        return ExponentialFit(np.full((resamples, 3), math.nan), confidence)
    copies = cluster_weights(items, resamples, rng)
    drawn, counted = resampled(scores, numbers, copies)
    noisy = smoothed(drawn, numbers, rng)
    # A resample without a correct answer must not be fitted to noise alone.
    noisy[~drawn.any(axis=1)] = 0
    fits = fitted(noisy, weigh(noisy, counted), start=best[1])
    draws = stretched(fits, best, items, confidence)
    draws = np.clip(draws, 0, highest)
    lack = math.nan
    if check:
        lack = lack_of_fit(places, scores, numbers, best, weights[0], rng, floor=floor)
    used = totals[0] > 0
    r2 = explained(means[0, used], curve(places[used], best[None])[0])
    height, rate, level = best.tolist()
    return ExponentialFit(draws, confidence, height, rate, level, r2, items, lack)


def explained(values: Array, fitted: Array) -> float:
    """Return R², the share of the variance of `values` (k,) that the `fitted` values
    (k,) explain. nan if all values are equal."""
    spread = values.var()
    if not spread > 0:
        return math.nan
    residual = ((values - fitted) ** 2).mean()
    return float(1 - residual / spread)


def resampled(right: Array, asked: Array, copies: Array) -> tuple[Array, Array]:
    """Return the mean accuracies of resamples (0 if nothing was asked) and their
    numbers of answers, each (resamples, k).

    `right` and `asked` (problems, k) have each problem's sums of scores and numbers of
    answers. `copies` (resamples, problems) says how often each resample contains the
    problem.
    """
    sums = copies @ right
    counted = copies @ asked
    return np.divide(sums, counted, out=0 * sums, where=counted > 0), counted


def smoothed(means: Array, asked: Array, rng: np.random.Generator) -> Array:
    """Return the resampled `means` (resamples, k) with added noise, clipped to 0 to 1.

    At a value of x with n problems, the noise has the variance 1 / (n * (n + 2)). Two
    more problems that are correct at this x alone would add as much. So identical
    answers still leave uncertainty. `asked` has the numbers of answers, shape
    (problems, k).
    """
    problems = np.maximum((asked > 0).sum(axis=0), 1)
    deviation = 1 / np.sqrt(problems * (problems + 2))
    noise = rng.normal(0, deviation, means.shape)
    return np.clip(means + noise, 0, 1)


def lack_of_fit(
    x: Array,
    right: Array,
    asked: Array,
    best: Array,
    weights: Array,
    rng: np.random.Generator,
    *,
    floor: bool,
) -> float:
    """Return the p-value of a fitted curve's lack of fit: small if the curve does not describe its points.

    `right` and `asked` are (problems, k); `best` (3,) is the curve that was fitted with `weights` (k,). The statistic
    is that of `distances`. The reference distribution is a bootstrap under the hypothesis (Davison and Hinkley 1997,
    4.4): problems are shifted so that their means lie on the curve, then resampled and fitted again. The result is nan
    for fewer than two problems, or if there are not more values of x than fitted parameters.
    """
    used = weights > 0
    problems = len(right)
    if used.sum() <= 2 + floor or problems < 2:
        return math.nan
    x = x[used]
    right = right[:, used]
    asked = asked[:, used]
    behind = (asked > 0).sum(axis=0)
    means = right.sum(axis=0) / asked.sum(axis=0)
    copies = cluster_weights(problems, LACK_RESAMPLES, rng)
    drawn, counted = resampled(right, asked, copies)
    change = np.where(counted > 0, drawn - means, 0)
    change *= math.sqrt(problems / (problems - 1))
    expected = curve(x, best[None])
    moved = np.clip(expected + change, 0, 1)
    same = np.broadcast_to(weights[used], moved.shape)
    fits = fit_curves(x, moved, same, floor=floor)
    fitted = ~np.isnan(fits[:, 0])
    reference = distances(moved, curve(x, fits), behind)[fitted]
    # Without the tolerance, rounding could reject a curve through correct answers.
    observed = distances(means, expected, behind) - 1e-6
    as_far = (reference >= observed).sum()
    return float((1 + as_far) / (1 + len(reference)))


def distances(means: Array, expected: Array, problems: Array) -> Array:
    """Return, for m curves, the sums (m,) of standardised squared distances between
    points and curve.

    `means` and `expected`, both (m, k), are the points and the curve's values. Each
    squared difference is divided by the variance that is expected for the number of
    `problems` (k,) at this x.
    """
    expected = np.clip(expected, 0, 1)
    variance = expected * (1 - expected) / problems
    variance += 1 / (problems * (problems + 2))
    squares = (means - expected) ** 2 / variance
    return floats(squares.sum(axis=1))


def fit_curves(
    x: Array,
    y: Array,
    weights: Array,
    *,
    floor: bool,
    highest: Array = HIGHEST,
    start: float | None = None,
) -> Array:
    """Return height, rate and floor, shape (m, 3), of the curve fitted to each row of
    `y` (m, k) at `x` (k,).

    `weights` (m, k) weigh the squared errors. The parameters lie between 0 and
    `highest` (3,); the floor is 0 unless `floor`. With `start`, the search goes from
    this rate downhill to the nearest minimum of the error. A row is nan if fewer values
    of x than parameters have a weight, or if all means with a weight are 0.
    """
    parameters = np.full((len(y), 3), math.nan)
    fitted = (weights * y > 0).any(axis=1)
    fitted &= (weights > 0).sum(axis=1) >= 2 + floor
    if not fitted.any():
        return parameters
    y = y[fitted]
    weights = weights[fitted]
    line = partial(fit_line, x, y, weights, floor, highest[0])
    rates = rate_grid(x, highest[1])
    errors = np.hstack([line(rate)[2] for rate in rates[:, None, None]])
    # Take the smallest of equally good rates: after a steep fall all larger rates fit
    # as well.
    errors = np.round(errors / total(weights * y**2), 12)
    best = errors.argmin(axis=1)
    if start is not None:
        nearest = np.abs(rates - start).argmin()
        best = valley(errors, int(nearest))
    rate = stationary(line, rates, best)
    height, level, *_ = line(rate)
    parameters[fitted] = np.hstack([height, rate, level])
    return parameters


def stationary(line: Line, rates: Array, best: NDArray[np.intp]) -> Array:
    """Return the rates (m, 1) at which the errors of the lines stop falling.

    The rates are found by bisection between the neighbours of each row's `best` column
    (m,) in the grid `rates` (g,).
    """
    edges = np.pad(rates, 1, mode="edge")[:, None]
    low = edges[best]
    high = edges[best + 2]
    for _ in range(HALVINGS):
        rate = (low + high) / 2
        rises = line(rate)[3] >= 0
        low = np.where(rises, low, rate)
        high = np.where(rises, rate, high)
    return low


def rate_grid(x: Array, highest: float) -> Array:
    """Return the rates (g,) that are tried first for curves at `x` (k,); none is above
    `highest`."""
    # At a negative x a higher rate would overflow. Rates above 7 / step fall by 99.9 %
    # (exp(-7)) from one x to the next, so data cannot tell them apart.
    step = np.diff(np.unique(x)).min(initial=math.inf)
    highest = min(highest, 300 / max(-x.min(), 1e-9), 7 / step)
    grid = GRID / (np.abs(x).max() or 1)
    return np.unique(np.minimum([0, *grid, highest], highest))


def fit_line(
    x: Array, y: Array, weights: Array, floor: bool, highest: float, rate: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the least-squares line in exp(-rate * x) through each row of `y` (m, k) at
    `x` (k,).

    The result is a tuple of four arrays (m, 1): height, floor, squared error, and the
    error's derivative with respect to the rate, halved. `weights` (m, k) weigh the
    squared errors; `rate` is (m, 1) or (1, 1). The height is at most `highest`, neither
    height nor floor is below 0, and the floor is 0 unless `floor`.
    """
    falling = np.exp(-rate * x)
    height = slope(falling, y, weights, highest)
    level = 0 * height
    if floor:
        shares = weights / total(weights)
        mean = total(shares * y)
        middle = total(shares * falling)
        free = slope(falling - middle, y - mean, weights, highest)
        level = mean - free * middle
        # If the best floor is below 0, 0 is the best allowed floor: the error is convex.
        height = np.where(level < 0, height, free)
        level = np.maximum(level, 0)
    residual = y - level - height * falling
    weighted = weights * residual
    rise = height * total(weighted * falling * x)
    return height, level, total(weighted * residual), rise


def total(values: Array) -> Array:
    """Return the sum (m, 1) of each row of `values` (m, k)."""
    return floats(values.sum(axis=1, keepdims=True))


def slope(x: Array, y: Array, weights: Array, highest: float) -> Array:
    """Return the least-squares slopes (m, 1) of lines through 0, clipped to 0 to
    `highest`. `x`, `y` and `weights` are (m, k)."""
    products = total(weights * x * y)
    squares = total(weights * x**2)
    free = np.divide(products, squares, out=0 * products, where=squares > 1e-15)
    return np.clip(free, 0, highest)


def valley(errors: Array, start: int) -> NDArray[np.intp]:
    """Return, for each row of `errors` (m, g), the column of the local minimum that is
    reached from the column `start`, to its left or right."""
    before = np.diff(errors, axis=1, prepend=np.inf)
    after = np.diff(errors, axis=1, append=np.inf)
    falls = before[:, start::-1] < 0
    rises = after[:, start:] >= 0
    left = start - falls.argmax(axis=1)
    right = start + rises.argmax(axis=1)
    rows = np.arange(len(errors))
    lower = errors[rows, right] < errors[rows, left]
    column: NDArray[np.intp] = np.where(lower, right, left)
    return column
