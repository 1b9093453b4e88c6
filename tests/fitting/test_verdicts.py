"""What the ledger says keeps its levels, and intervals cover: the benches with few simulations and a fixed seed."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

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
        (Interval(-0.04, 0.04), 25, Verdict.REPRODUCED),
        (Interval(0.01, 0.04), 25, Verdict.REPRODUCED),
        (Interval(-0.04, 0.04), 24, Verdict.INCONCLUSIVE),
        (Interval(-0.04, 0.06), 800, Verdict.INCONCLUSIVE),
        (Interval(0.01, 0.06), 800, Verdict.DIFFERS),
        (Interval(-0.30, -0.01), 5, Verdict.DIFFERS),
        (UNKNOWN, 800, Verdict.INCONCLUSIVE),
    ],
)
def test_the_words(interval: Interval, clusters: int, verdict: Verdict) -> None:
    assert judge(interval, 0.05, clusters) == verdict


def test_margins() -> None:
    margins = [margin_of(effect) for effect in (None, 0.06, -0.06, 0.8)]
    assert margins == [0.05, 0.03, 0.03, 0.1]


def test_a_drop_as_small_as_noise_decides_nothing() -> None:
    ours, theirs = of_noise(0.05, 0.01, 0.04, 800, 0.06)
    assert judge(difference(ours, theirs), 0.03, 800) == Verdict.INCONCLUSIVE
    ours, theirs = of_noise(0.50, 0.01, 0.04, 800, 0.51)
    assert judge(difference(ours, theirs), 0.10, 800) == Verdict.REPRODUCED


def test_few_answers_and_none() -> None:
    theirs = Measured(0.5, *wilson(400, 800), 800)
    for items in (0, 1, 2):
        sure = Measured(1.0, *wilson(items, items), items)
        assert judge(difference(sure, theirs), 0.05, items) == Verdict.INCONCLUSIVE
    sure = Measured(1.0, *wilson(20, 20), 20)
    assert judge(difference(sure, theirs), 0.05, 20) == Verdict.DIFFERS


def test_an_interval_by_students_quantile_is_stretched_once() -> None:
    normal = Measured(0.5, 0.4, 0.6, 25)
    student = normal._replace(student=True)
    assert student.up == pytest.approx(0.1)
    assert normal.up == pytest.approx(0.1 * 2.0639 / 1.96, rel=1e-4)
    # Of many items, and so by a quantile that is hardly larger than the normal one.
    theirs = student.at(0.5, 800)
    shrunk = 0.1 * (25 / 800) ** 0.5 * 1.9629 / 2.0639
    assert theirs.up == pytest.approx(shrunk, rel=1e-4)
    assert theirs.down < normal.at(0.5, 800).down


@pytest.mark.parametrize("ours", [1, 3, 5, 10, 24, 25, 40, 100])
@pytest.mark.parametrize("theirs", [10, 117, 800])
def test_exact_replications_of_any_size_differ_in_one_of_twenty(
    ours: int, theirs: int
) -> None:
    """Every outcome of both studies with its probability: nothing is drawn."""
    sides = []
    for items in (ours, theirs):
        counts = range(items + 1)
        found = [Measured(k / items, *wilson(k, items), items) for k in counts]
        sides.append(np.array([(one.value, one.down, one.up) for one in found]).T)
    (value, down, up), (other, lower, upper) = sides
    between = value[:, None] - other
    excluded = (between > np.hypot(down[:, None], upper)) | (
        -between > np.hypot(up[:, None], lower)
    )
    for share in (0.01, 0.03, 0.1, 0.3, 0.5):
        mine, yours = (binom.pmf(range(n + 1), n, share) for n in (ours, theirs))
        assert mine @ excluded @ yours <= 0.055


def test_how_many_more() -> None:
    # The half-width of a share of one half, of 100.
    ours = 1.959964 * 0.5 / math.sqrt(100)
    assert math.isinf(clusters_to_decide(0.0, 0.05, ours, 100, theirs=0.05))
    needed = clusters_to_decide(0.0, 0.05, ours, 100, theirs=0.0)
    assert needed == math.ceil(1.959964**2 * 0.25 / 0.05**2)
    assert clusters_to_decide(0.5, 0.05, ours, 100, theirs=0.0) == 25
    assert clusters_to_decide(0.5, 0.05, ours, 100, theirs=0.1) == 25
    assert math.isinf(clusters_to_decide(0.5, 0.05, ours, 100, theirs=0.5))


def test_the_p_value_of_an_interval() -> None:
    assert p_value(Interval(0.0, 0.2)) == pytest.approx(0.05)
    assert p_value(Interval(-0.1, 0.1)) == 1


@pytest.mark.slow
def test_the_words_keep_their_levels() -> None:
    """As bench_verdicts, 400 pairs of studies a row: three standard errors of 5 % are 3.3 points."""
    designs = {"fresh", "own error", "paired", "tokens"}
    rows = list(bench_verdicts.rows(400, designs=[*designs]))
    assert {row.design for row in rows} == designs
    for row in rows:
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
def test_the_words_keep_their_levels_with_less_simple_numbers(design: str) -> None:
    """40 pairs a row (`SLOW` designs have no fewer): three standard errors of 5 % are 10 points."""
    rows = {
        (row.effect, row.ours, row.theirs): row
        for row in bench_verdicts.rows(40, designs=(design,))
    }
    assert all(
        row.differs_exact <= 0.15 and row.reproduced_2m == 0 for row in rows.values()
    ), rows
    if design == "largest drop":
        assert rows["strong", 800, 800].reproduced_exact >= 0.8
        assert rows["strong", 100, 800].differs_2m == 0, "fewer items than the paper"


SLOW = ("max-t", "dip:", "fitted", "ledger:")


def covered(check: bench_coverage.Check, seed: int, studies: int) -> float:
    random = np.random.default_rng(seed)
    return sum(check(random) for _ in range(studies)) / studies


@pytest.mark.slow
@pytest.mark.parametrize("items", some(bench_coverage.SIZES, 3))
def test_intervals_cover(items: int) -> None:
    """As bench_coverage, 200 studies a cell: three standard errors of 95 % are 4.6 points."""
    for name, size, checks in bench_coverage.scenarios():
        for estimator, check in checks.items():
            slow = estimator.startswith("(") or {*SLOW} & {*estimator.split()}
            if size == items and not slow:
                assert covered(check, 1, 200) >= 0.9, (estimator, name, size)


@pytest.mark.slow
@pytest.mark.parametrize("shape", some([*bench_coverage.SHAPES], 2))
def test_the_largest_drop_is_covered(shape: str) -> None:
    checks = bench_coverage.shapes(bench_coverage.SHAPES[shape], 100)
    for estimator, check in checks.items():
        share = covered(check, 2, 100)
        right = share < 0.9 if estimator.startswith("(") else share >= 0.88
        assert right, (estimator, share)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", bench_coverage.DECAYS)
def test_fitted_curves_are_covered(scenario: str) -> None:
    checks = bench_coverage.decays(*bench_coverage.DECAYS[scenario], 100)
    for estimator, check in checks.items():
        assert covered(check, 3, 40) >= 0.84, estimator
