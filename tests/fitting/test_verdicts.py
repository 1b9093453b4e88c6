"""The ledger's verdicts keep their levels, and intervals cover: the benches with few
simulations and a fixed seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import bench_coverage
import bench_verdicts
from codestress.fitting.proportions import UNKNOWN, Interval, wilson
from codestress.fitting.verdicts import (
    Measured,
    Verdict,
    clusters_to_decide,
    difference,
    judge,
    margin_of,
    of_noise,
    p_value,
)
from conftest import some


@pytest.mark.parametrize(
    ("interval", "clusters", "verdict"),
    [
        (Interval(0.01, 0.04), 25, Verdict.REPRODUCED),
        (Interval(-0.04, 0.04), 24, Verdict.INCONCLUSIVE),
        (Interval(-0.04, 0.06), 800, Verdict.INCONCLUSIVE),
        (Interval(0.01, 0.06), 800, Verdict.DIFFERS),
        (UNKNOWN, 800, Verdict.INCONCLUSIVE),
    ],
)
def test_an_interval_has_its_verdict(
    interval: Interval, clusters: int, verdict: Verdict
) -> None:
    assert judge(interval, 0.05, clusters) == verdict


def test_a_margin_is_half_of_a_small_effect_within_bounds() -> None:
    margins = [margin_of(effect) for effect in (None, -0.06, 0.8)]
    assert margins == [0.05, 0.03, 0.1]


def test_a_drop_as_small_as_noise_decides_nothing() -> None:
    ours, theirs = of_noise(0.05, 0.01, 0.04, 800, 0.06)
    assert judge(difference(ours, theirs), 0.03, 800) == Verdict.INCONCLUSIVE
    ours, theirs = of_noise(0.50, 0.01, 0.04, 800, 0.51)
    assert judge(difference(ours, theirs), 0.10, 800) == Verdict.REPRODUCED


def test_an_interval_by_students_quantile_is_stretched_once() -> None:
    normal = Measured(0.5, 0.4, 0.6, 25)
    student = normal._replace(student=True)
    assert student.up == pytest.approx(0.1)
    assert normal.up == pytest.approx(0.1 * 2.0639 / 1.96, rel=1e-4)
    # At 800 items Student's quantile is hardly larger than the normal one.
    theirs = student.at(0.5, 800)
    shrunk = 0.1 * (25 / 800) ** 0.5 * 1.9629 / 2.0639
    assert theirs.up == pytest.approx(shrunk, rel=1e-4)
    assert theirs.down < normal.at(0.5, 800).down


def measured_shares(items: int) -> np.ndarray:
    """Return value, lower and upper half-width (3, items + 1) of every count of right
    answers."""
    rows = []
    for right in range(items + 1):
        share = Measured(right / items, *wilson(right, items), items)
        rows.append((share.value, share.down, share.up))
    return np.array(rows).T


@pytest.mark.parametrize("ours", [1, 5, 24, 25, 100])
@pytest.mark.parametrize("theirs", [10, 800])
def test_exact_replications_of_any_size_differ_in_one_of_twenty(
    ours: int, theirs: int
) -> None:
    """Every outcome of both studies is weighed with its probability; none is drawn."""
    value, down, up = measured_shares(ours)[:, :, None]
    other, other_down, other_up = measured_shares(theirs)
    between = value - other
    above = between > np.hypot(down, other_up)
    below = -between > np.hypot(up, other_down)
    for share in (0.01, 0.03, 0.1, 0.3, 0.5):
        mine, yours = (binom.pmf(range(n + 1), n, share) for n in (ours, theirs))
        assert mine @ (above | below) @ yours <= 0.055


def test_the_number_of_clusters_that_would_decide() -> None:
    # The half-width of a share of one half, of 100.
    ours = 1.959964 * 0.5 / math.sqrt(100)
    assert math.isinf(clusters_to_decide(0.0, 0.05, ours, 100, theirs=0.05))
    needed = clusters_to_decide(0.0, 0.05, ours, 100, theirs=0.0)
    assert needed == math.ceil(1.959964**2 * 0.25 / 0.05**2)
    assert clusters_to_decide(0.5, 0.05, ours, 100, theirs=0.1) == 25
    assert math.isinf(clusters_to_decide(0.5, 0.05, ours, 100, theirs=0.5))


def test_the_p_value_of_an_interval() -> None:
    assert p_value(Interval(0.0, 0.2)) == pytest.approx(0.05)
    assert p_value(Interval(-0.1, 0.1)) == 1


@pytest.mark.slow
def test_verdicts_keep_their_levels() -> None:
    """As bench_verdicts, 400 pairs of studies a row: three standard errors of 5 % are 3.3 points."""
    designs = {"fresh", "own error", "paired", "tokens"}
    for row in bench_verdicts.rows(400, designs=[*designs]):
        assert row.differs_exact <= 0.083, row
        assert row.reproduced_m <= 0.083, row
        assert row.reproduced_2m < 0.005, row
        assert row.ours >= 25 or row.reproduced_exact == 0, row
        assert not row.sharp or min(row.reproduced_exact, row.differs_2m) >= 0.8, row


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    ["largest drop", "relative drop", "drops of models", "fitted loss", "ratio"],
)
def test_verdicts_keep_their_levels_with_less_simple_numbers(design: str) -> None:
    """40 pairs a row: three standard errors of 5 % are 10 points."""
    rows = {}
    for row in bench_verdicts.rows(40, designs=(design,)):
        assert row.differs_exact <= 0.15, row
        assert row.reproduced_2m == 0, row
        rows[row.effect, row.ours, row.theirs] = row
    if design == "largest drop":
        assert rows["strong", 800, 800].reproduced_exact >= 0.8
        assert rows["strong", 100, 800].differs_2m == 0, "fewer items than the paper"


def coverage(check: bench_coverage.Check, seed: int, studies: int) -> float:
    random = np.random.default_rng(seed)
    return sum(check(random) for _ in range(studies)) / studies


SLOW = {"max-t", "dip:", "fitted", "ledger:"}
"""Words of estimators that take long; the tests below cover them."""


@pytest.mark.slow
@pytest.mark.parametrize("items", some(bench_coverage.SIZES, 3))
def test_intervals_cover(items: int) -> None:
    """200 studies a cell: three standard errors of 95 % are 4.6 points."""
    for name, size, checks in bench_coverage.scenarios():
        if size != items:
            continue
        for estimator, check in checks.items():
            if not estimator.startswith("(") and SLOW.isdisjoint(estimator.split()):
                assert coverage(check, 1, 200) >= 0.9, (estimator, name, size)


@pytest.mark.slow
@pytest.mark.parametrize("shape", some([*bench_coverage.SHAPES], 2))
def test_intervals_of_the_largest_drop_cover(shape: str) -> None:
    """The bootstrap beside which they are measured, in parentheses, does not."""
    checks = bench_coverage.shapes(bench_coverage.SHAPES[shape], 100)
    for estimator, check in checks.items():
        share = coverage(check, 2, 100)
        if estimator.startswith("("):
            assert share < 0.9, (estimator, share)
        else:
            assert share >= 0.88, (estimator, share)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", bench_coverage.DECAYS)
def test_intervals_of_fitted_curves_cover(scenario: str) -> None:
    checks = bench_coverage.decays(*bench_coverage.DECAYS[scenario], 100)
    for estimator, check in checks.items():
        assert coverage(check, 3, 40) >= 0.84, estimator
