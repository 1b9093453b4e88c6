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
from scipy.stats import norm, pearsonr, permutation_test, spearmanr, ttest_rel

from codestress.fitting.proportions import effective_number
from codestress.papers.codecrash.results import published
from codestress.papers.codecrash.results.differences import INDEPENDENT
from codestress.paths import PUBLISHED
from told import names

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
    return published.scores()


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
    found = published.rankings(scores)
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


def test_which_perturbations_order_models_alike(scores: pd.DataFrame) -> None:
    found = published.agreement(scores, 0.95, 0)
    assert len(found) == 42
    for row in found.itertuples():
        plain = spearmanr(lost(row.dataset, row.first), lost(row.dataset, row.second))
        assert row.correlation == pytest.approx(plain.statistic)
        assert row.p == pytest.approx(plain.pvalue, abs=0.02)
    sure = found[found["decided"]]
    strongest = found.sort_values("p").iloc[:2]  # by another test the same two lead
    assert set(zip(sure["dataset"], sure["first"], sure["second"], strict=True)) <= set(
        zip(strongest["dataset"], strongest["first"], strongest["second"], strict=True)
    )


def test_what_goes_with_the_vanilla_score(scores: pd.DataFrame) -> None:
    found = published.by_vanilla(scores, 0.95, 0)
    draws = np.random.default_rng(5)
    for row in found.itertuples():
        plain = pearsonr(
            pass_at_1(row.dataset, "VAN"), lost(row.dataset, row.perturbation)
        )
        interval = plain.confidence_interval(0.95)
        assert (row.correlation, row.low, row.high) == pytest.approx(
            (plain.statistic, interval.low, interval.high)
        )
        assert row.explained == pytest.approx(plain.statistic**2)
        assert row.p >= plain.pvalue - 0.02
    row = found[
        (found["dataset"] == "livecodebench") & (found["perturbation"] == "MCC")
    ].iloc[0]
    vanilla, n = pass_at_1("livecodebench", "VAN"), 84
    kept = 1 - lost("livecodebench", "MCC").mean()
    binomials = [
        np.corrcoef(before, 1 - draws.binomial(n, vanilla * kept) / n / before)[0, 1]
        for before in draws.binomial(n, vanilla, (3000, 17)) / n
    ]
    assert row["alike"] == pytest.approx(np.mean(binomials), abs=0.03)


def test_the_data_sets_are_paired_by_model(scores: pd.DataFrame) -> None:
    found = published.between_datasets(scores, 0.95, 0).set_index("perturbation")
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
        assert row["more"] == (other > one).sum()
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


def test_unchanged_programs_dilute(scores: pd.DataFrame) -> None:
    """Of simulated programs of which 46 % cannot lose anything, the bound gives back what the others lose."""
    found = published.diluted(scores, 0.95).set_index(["dataset", "perturbation"])
    row = found.loc[("cruxeval", "RTF")]
    unchanged, vanilla = 0.46, 0.6
    draws = np.random.default_rng(0)
    changes = draws.random(400_000) >= unchanged
    correct = draws.random(400_000) < vanilla
    after = correct & ~(changes & (draws.random(400_000) < row["applied"]))
    assert 1 - after.sum() / correct.sum() == pytest.approx(row["lost"], abs=0.002)
    assert found["unchanged"].notna().sum() == 1
    assert found["lost"].to_numpy() == pytest.approx(
        [lost(*cell).mean() for cell in found.index]
    )


def test_findings_come_with_test_interval_and_caveat(scores: pd.DataFrame) -> None:
    found = published.findings(
        published.rankings(scores),
        published.agreement(scores, 0.95, 0),
        published.by_vanilla(scores, 0.95, 0),
        published.between_datasets(scores, 0.95, 0),
        published.diluted(scores, 0.95),
    )
    assert all(all(one) for one in found)
    names(found[3].finding, "17 of 17 models")
    names(found[5].finding, "46 %", "CRUXEval", "800")
