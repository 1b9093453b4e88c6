"""What the published Pass@1 says, computed another way from the same file."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, permutation_test, ttest_rel

from codestress.fitting.proportions import effective_number
from codestress.papers.codecrash.results import leaderboard
from codestress.papers.codecrash.results.leaderboard import INDEPENDENT
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "codecrash.json").read_text())[
    "pass_at_1"
]["values"]
# The others are reasoning models.
MODELS = [model for model, modes in NUMBERS.items() if "cot" in modes]
PERTURBED = ["REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC"]


def pass_at_1(dataset: str, perturbation: str) -> NDArray[np.float64]:
    return (
        np.array([NUMBERS[model]["direct"][dataset][perturbation] for model in MODELS])
        / 100
    )


def lost(dataset: str, perturbation: str) -> NDArray[np.float64]:
    return 1 - pass_at_1(dataset, perturbation) / pass_at_1(dataset, "VAN")


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return leaderboard.scores()


def test_all_published_cells_are_there(scores: pd.DataFrame) -> None:
    assert len(MODELS) == 17
    assert len(scores) == 17 * 2 * 8
    for (dataset, perturbation), part in scores.groupby(["dataset", "perturbation"]):
        assert part["share"].to_numpy() == pytest.approx(
            pass_at_1(dataset, perturbation)
        )
        assert part["lost"].to_numpy() == pytest.approx(lost(dataset, perturbation))


def test_samples_of_one_question_count_as_kish_has_it(shared_data: Path) -> None:
    text = (shared_data / "lcb-execution-meta" / "lcb_execution_meta.jsonl").read_text()
    questions = [json.loads(line)["question_id"] for line in text.splitlines()]
    assert (len(questions), len(set(questions))) == (479, 92)
    assert (
        effective_number(questions)
        == pytest.approx(INDEPENDENT["livecodebench"])
        == pytest.approx(84.1, abs=0.05)
    )
    both = [*range(800), *(f"contest {one}" for one in questions)]
    assert effective_number([str(one) for one in both]) == pytest.approx(
        INDEPENDENT["merge"]
    )


@pytest.mark.parametrize(
    ("dataset", "questions"), [("cruxeval", 800), ("livecodebench", 479**2 / 2729)]
)
def test_ranks_are_what_holm_leaves_open(
    scores: pd.DataFrame, dataset: str, questions: int
) -> None:
    found = leaderboard.rankings(scores)
    for perturbation in ["VAN", *PERTURBED]:
        part = found[
            (found["dataset"] == dataset) & (found["perturbation"] == perturbation)
        ].set_index("label")
        share = dict(zip(MODELS, pass_at_1(dataset, perturbation), strict=True))

        def p_value(one: str, other: str, share: dict[str, float] = share) -> float:
            pooled = (share[one] + share[other]) / 2
            error = math.sqrt(2 * pooled * (1 - pooled) / questions)
            return float(2 * norm.sf(abs(share[one] - share[other]) / error))

        ordered = sorted(combinations(MODELS, 2), key=lambda pair: p_value(*pair))
        told = []
        for step, pair in enumerate(ordered):
            if p_value(*pair) > 0.05 / (len(ordered) - step):
                break
            told.append(pair)
        assert set(part["separated"]) == {len(told)}
        for model in MODELS:
            mine = [
                share[a] + share[b] - share[model] for a, b in told if model in (a, b)
            ]
            above = sum(other > share[model] for other in mine)
            assert part.loc[model, "low"] == 1 + above
            assert part.loc[model, "high"] == 17 - (len(mine) - above)
    assert ((found["low"] <= found["rank"]) & (found["rank"] <= found["high"])).all()


def test_the_data_sets_are_paired_by_model(scores: pd.DataFrame) -> None:
    found = leaderboard.between_datasets(scores, 0.95).set_index("perturbation")
    p = {}
    for name in PERTURBED:
        one, other, row = (
            lost("cruxeval", name),
            lost("livecodebench", name),
            found.loc[name],
        )
        test = ttest_rel(other, one)
        assert (row["low"], row["high"]) == pytest.approx(
            tuple(test.confidence_interval(0.95))
        )
        flips = permutation_test(
            (other - one,), np.mean, permutation_type="samples", n_resamples=20_000, vectorized=True,
            rng=np.random.default_rng(2),
        )  # fmt: skip
        assert row["p"] == pytest.approx(float(flips.pvalue), abs=0.01)
        p[name] = test.pvalue
    sure = [
        name
        for step, name in enumerate(sorted(p, key=p.__getitem__))
        if p[name] <= 0.05 / (7 - step)
    ]
    assert (
        sorted(found.index[found["decided"]])
        == sorted(sure)
        == ["GBC", "MCC", "MHC", "REN"]
    )
