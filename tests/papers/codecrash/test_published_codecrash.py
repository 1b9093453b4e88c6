"""What the published Pass@1 says, computed another way from the same file."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, ttest_rel
from studied import given_of

from codestress.fitting.proportions import effective_number
from codestress.papers.codecrash.results import leaderboard, reasoning
from codestress.papers.codecrash.results.leaderboard import INDEPENDENT
from codestress.paths import PUBLISHED
from codestress.report.claims import ledger
from codestress.report.published import published_numbers
from conftest import artefact_of

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "codecrash.json").read_text())[
    "pass_at_1"
]["values"]
# The others are reasoning models.
MODELS = [model for model, modes in NUMBERS.items() if "cot" in modes]
PERTURBED = ["REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC"]


def pass_at_1(dataset: str, perturbation: str) -> NDArray[np.float64]:
    cells = [NUMBERS[model]["direct"][dataset][perturbation] for model in MODELS]
    return np.array(cells) / 100


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
    both = [*map(str, range(800)), *(f"contest {one}" for one in questions)]
    for name, asked in (("livecodebench", questions), ("merge", both)):
        assert effective_number(asked) == pytest.approx(INDEPENDENT[name])
    assert INDEPENDENT["livecodebench"] == pytest.approx(84.1, abs=0.05)


@pytest.mark.parametrize("dataset", ["cruxeval", "livecodebench"])
def test_ranks_are_what_holm_leaves_open(scores: pd.DataFrame, dataset: str) -> None:
    found = leaderboard.rankings(scores)
    assert found["rank"].between(found["low"], found["high"]).all()
    n = INDEPENDENT[dataset]
    panels = found[found["dataset"] == dataset].groupby("perturbation")
    for perturbation in ["VAN", *PERTURBED]:
        part = panels.get_group(perturbation).set_index("label").loc[MODELS]
        share = pass_at_1(dataset, perturbation)
        first, second = np.triu_indices(17, 1)
        pooled = (share[first] + share[second]) / 2
        error = np.sqrt(2 * pooled * (1 - pooled) / n)
        p = 2 * norm.sf(abs(share[first] - share[second]) / error)
        order = np.argsort(p)
        kept = np.flatnonzero(p[order] > 0.05 / np.arange(len(p), 0, -1))[0]
        apart = np.zeros((17, 17), dtype=bool)
        apart[first[order[:kept]], second[order[:kept]]] = True
        above = (apart | apart.T) & (share > share[:, None])
        below = (apart | apart.T) & (share < share[:, None])
        assert set(part["separated"]) == {kept}
        assert part["low"].tolist() == (1 + above.sum(1)).tolist()
        assert part["high"].tolist() == (17 - below.sum(1)).tolist()


def test_the_data_sets_are_paired_by_model(scores: pd.DataFrame) -> None:
    found = leaderboard.between_datasets(scores, 0.95).set_index("perturbation")
    for name in PERTURBED:
        test = ttest_rel(lost("livecodebench", name), lost("cruxeval", name))
        ends = tuple(found.loc[name, ["low", "high"]])
        assert ends == pytest.approx(tuple(test.confidence_interval(0.95)))
        assert found.loc[name, "p"] == pytest.approx(test.pvalue, abs=0.06)
    assert sorted(found.index[found["decided"]]) == ["GBC", "MCC", "MHC", "REN"]


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    return leaderboard.published_differences()


HEADLINE = {"direct": [23.21, 23.02, 24.45], "cot": [13.78, 13.80, 14.40]}
FOUR = ["PSC-ALL", "MCC", "MPS", "MHC"]


def test_the_headline_comes_out_of_the_published_values(
    published: pd.DataFrame,
) -> None:
    headlines = leaderboard.headlines(published)
    for mode, part in headlines.groupby("mode"):
        assert part["degradation"].round(2).tolist() == HEADLINE[mode]
    tables = {"published": published[:0], "differences": pd.DataFrame()}
    given = artefact_of("codecrash/tab02", "paper").parameters
    claims = ledger(given, tables | {"headline": headlines})
    # The paper prints no formula.
    assert claims["verdict"].tolist() == ["inconclusive", "inconclusive"]
    readings = [
        re.findall(r"([\d.]+) % \((\w+)\)", told) for told in claims["readings"]
    ]
    assert readings == [
        [("23.21", "reproduced"), ("23.02", "differs"), ("24.45", "differs")],
        [("13.78", "reproduced"), ("13.80", "reproduced"), ("14.40", "differs")],
    ]
    assert set(claims["evidence"]) == {"recomputed"}


def test_the_headline_s_readings_come_out_of_the_project_page(
    shared_data: Path, published: pd.DataFrame
) -> None:
    """Another way: from the file of the project page, cell by cell, its own Merge scores among them."""
    file = shared_data / "codecrash-leaderboard" / "summary.json"
    page = json.loads(file.read_text())
    for mode, ending in (("direct", ""), ("cot", " (CoT)")):
        losses: dict[str, list[float]] = {}
        for label, name in product(set(published["label"]), FOUR):
            for dataset, cells in page[f"{label}{ending}"].items():
                loss = 100 * (1 - cells[name] / cells["VAN"])
                losses.setdefault(dataset, []).append(loss)
        crux, contest, merge = (
            np.mean(losses[name]) for name in ("CRUXEval", "LiveCodeBench", "Merge")
        )
        readings = [(800 * crux + 479 * contest) / 1279, merge, (crux + contest) / 2]
        assert [round(one, 2) for one in readings] == HEADLINE[mode]


def test_the_published_tables_come_out_of_the_published_values(
    shared_data: Path, published: pd.DataFrame
) -> None:
    file = shared_data / "published" / "published-results.json"
    known = json.loads(file.read_text())["codecrash"]
    key = ["label", "mode", "dataset", "perturbation"]
    index = published.set_index(key).sort_index()
    relative, points = index["relative_pct"], index["points"]
    cot = known["table15_16_cot"]
    absolute = known["table13_direct_absolute_pp"]
    printed = [
        (relative, "cot", FOUR, cot["relative_pct"], 136),
        (points, "cot", FOUR, cot["absolute_pp"], 136),
        (points, "direct", absolute["columns"], absolute["values"], 238),
    ]
    for name in (
        "table1_direct_relative_pct",
        "table10_direct_structural_relative_pct",
    ):
        table = known[name]
        printed.append((relative, "direct", table["columns"], table["values"], 136))
    for numbers, mode, columns, values, cells in printed:
        compared = 0
        for label, rows in values.items():
            for short, dataset in (("Crux", "cruxeval"), ("LCB", "livecodebench")):
                found = numbers[label, mode, dataset][columns]
                assert list(found) == pytest.approx(rows[short], abs=0.0051)
                compared += len(columns)
        assert compared == cells
    merged = known["table2_direct_vs_cot_merge_relative_pct"]["values"]
    for label, rows in merged.items():
        for mode, title in (("direct", "Direct"), ("cot", "CoT")):
            found = relative[label, mode, "merge"][FOUR]
            assert list(found) == pytest.approx(rows[title], abs=0.0051)
    direct = published[published["mode"] == "direct"]
    means = direct.groupby(["perturbation", "dataset"])["points"].mean()
    for name, row in absolute["website_average_row"].items():
        # Means of rounded ones.
        found = means[name][["cruxeval", "livecodebench", "merge"]]
        assert list(found) == pytest.approx(row, abs=0.0101)


def test_input_prediction_as_published() -> None:
    frame = leaderboard.published_differences("input")
    means = frame.groupby(["perturbation", "mode"])["relative_pct"].mean()
    stated = published_numbers("codecrash/input")
    assert stated is not None
    found = [means[name, mode] for name, mode in product(FOUR, ("direct", "cot"))]
    assert found == pytest.approx(stated["averages"], abs=0.01)


ROW: dict[str, Any] = {
    "language": "python",
    "task": "output",
    "mode": "direct",
    "perturbation": "MCC",
}
ROW |= {"ignore": False, "refactor": False, "density": 1.0, "model": "m"}
ROW["dataset"] = "generated"


@pytest.mark.parametrize(
    ("asked", "panels"),
    [
        (
            ["generated", "contest", "merge"],
            {
                "generated problems": "cruxeval",
                "contest programs": "livecodebench",
                "all problems": "merge",
            },
        ),
        (["mine"], {}),
        (
            ["cruxeval", "generated", "merge"],
            {"CRUXEval": "cruxeval", "generated problems": "cruxeval"},
        ),
    ],
)
def test_published_points_stand_under_their_own_data_set(
    published: pd.DataFrame, asked: list[str], panels: dict[str, str]
) -> None:
    table = pd.DataFrame([ROW | {"dataset": name} for name in asked])
    points = leaderboard.published_points(published, table)
    theirs = published.query("mode == 'direct'")["dataset"].value_counts()
    wanted = {panel: theirs[name] for panel, name in panels.items()}
    assert points["panel"].value_counts().to_dict() == wanted


def test_published_points_of_two_modes_have_a_panel_each(
    published: pd.DataFrame,
) -> None:
    table = pd.DataFrame([ROW, ROW | {"mode": "cot"}])
    points = leaderboard.published_points(published, table)
    assert set(points["panel"]) == {"direct", "chain of thought"}


@pytest.mark.parametrize(
    ("dataset", "panel"),
    [("generated", "generated problems"), ("cruxeval", "CRUXEval")],
)
def test_published_tokens_stand_under_their_own_data_set(
    dataset: str, panel: str
) -> None:
    own = pd.DataFrame([ROW | {"dataset": dataset}])
    points = leaderboard.published_points(reasoning.published_reasoning(), own)
    assert set(points["panel"]) == {panel}
    assert set(points["beside"]) == {"CRUXEval"}


@pytest.mark.slow
def test_only_hints_depend_on_who_wrote_them(published: pd.DataFrame) -> None:
    """With generated hints what MHC costs is not comparable, and what the others cost is."""
    cells = published.query("mode == 'direct' and label == 'GPT-4o'")
    own = {"problems": 1279, "questions": 892, "independent": 463.5}
    own |= {name: ROW[name] for name in ("language", "task", "ignore", "refactor")}
    ours = cells.assign(**own, density=1.0)
    ours["relative_low"] = ours["relative_pct"] - 0.1
    ours["relative_high"] = ours["relative_pct"] + 0.1
    given = given_of(
        artefact="codecrash/tab01",
        models=["gpt-4o-2024-05-13"],
        problems=["cruxeval", "livecodebench"],
        n_problems=0,
        messages="printed",
    )
    tables = leaderboard.compared_tables(ours, published)
    claims = ledger(given, tables | {"own_headline": pd.DataFrame()})
    claims = claims[claims["regenerated"].notna() & (claims["evidence"] == "re-run")]
    hints = claims["statement"].str.contains("MHC")
    assert set(claims.loc[hints, "verdict"]) == {"not comparable"}
    assert set(claims.loc[~hints, "verdict"]) == {"reproduced"}
