"""CodeCrash's figures: names of rows, titles, and the size with all of the paper's models."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from codestress.fitting.proportions import wilson
from codestress.papers.codecrash.charts import difference_dots, share_dots, token_dots
from codestress.papers.codecrash.results import (
    conditions,
    differences,
    leaderboard,
    reasoning,
    sweep,
    verdicts,
)
from codestress.papers.codecrash.studies import Predictions
from codestress.report.publish import publish
from drawn import faults
from told import names

MODELS = list(dict.fromkeys(sweep.swept_models()["model"]))[:17]


def table_of(
    models: list[str], modes: list[str], perturbations: list[str]
) -> pd.DataFrame:
    """Rows like those of `differences`, with the columns that figures need: each loss is 10 % more than the one of
    the perturbation before, and half as large step by step."""
    datasets = ["generated", "contest", "merge"]
    rows = product(models, datasets, modes, enumerate(perturbations, start=1))
    table = pd.DataFrame(rows, columns=["model", "dataset", "mode", "place"])
    losses = [
        -10.0 * number / (1 + (mode == "cot"))
        for (number, _), mode in zip(table["place"], table["mode"], strict=True)
    ]
    names = [name for _, name in table["place"]]
    table = table.drop(columns="place").assign(perturbation=names, relative_pct=losses)
    ends = {
        "relative_low": table["relative_pct"] - 5,
        "relative_high": table["relative_pct"] + 5,
    }
    setting = {
        "language": "python",
        "task": "output",
        "ignore": False,
        "refactor": False,
    }
    return table.assign(density=1.0, **setting, **ends)


def test_codes_stand_beside_their_names_once() -> None:
    rows = ["MCC", "MCC, told to ignore", "MHC", "asked again", "mine", "MPS, true"]
    comments, ignored, hints, *own, prints = conditions.row_names(rows)
    names(f"{comments}, {hints}", "comments (MCC)", "hints (MHC)")
    assert ("told to ignore" in ignored, "MCC" in ignored) == (True, False)
    assert own == ["asked again", "mine"]
    names(prints, "MPS", "true")


def test_titles_say_what_costs_most() -> None:
    headline = differences.headline
    table = table_of(MODELS[:2], ["direct"], ["PSC-ALL", "MHC"])
    said = headline(table, relative=True)
    names(said, "Pass@1", "hints (20 %")
    assert "10 %" not in said
    alone = headline(table[table["perturbation"] == "MHC"], relative=True)
    names(alone, "Pass@1", "hints (20 %")
    assert "10 %" not in alone
    modes = table_of(MODELS[:2], ["direct", "cot"], ["PSC-ALL", "MHC"])
    names(headline(modes, relative=True), "hints (20 % direct, 10 % chain of thought)")
    told = table.assign(ignore=True, relative_pct=-30.0)
    both = headline(pd.concat([table, told]), relative=True)
    names(both, "changes (10 %, 30 % told to ignore)")
    names(headline(told, relative=True), "(30 % told to ignore on average)")
    unknown = headline(table.assign(relative_pct=float("nan")), relative=True)
    names(unknown, "not known")
    assert "%" not in unknown
    for change in (0.0, 0.3):  # nothing is lost, or Pass@1 rises
        none = headline(table.assign(relative_pct=change), relative=True)
        names(none, "Pass@1 falls", "no condition")
        assert "%" not in none


@pytest.mark.parametrize(
    ("last", "words"), [(-44.4, "falls by 44 %"), (3, "rises by 3 %")]
)
def test_a_title_by_density_says_which_way_it_goes(last: float, words: str) -> None:
    curves = pd.DataFrame({"density": [0.0, 1.0], "value": [0.0, last]})
    names(sweep.density_headline(curves, "%"), "100 % of the places", words)


@pytest.mark.slow
def test_figures_fit_a_page_with_all_of_the_paper_s_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_STAGING", str(tmp_path))
    perturbations = ["VAN", *("REN", "RTF", "GBC"), *leaderboard.HEADLINE]
    table = table_of(MODELS, ["direct", "cot"], perturbations[1:])
    published = leaderboard.published_differences()
    theirs = leaderboard.published_points(published, table, relative=True)
    points = differences.difference_points(
        table.assign(points=0.0, points_low=0.0, points_high=0.0), relative=True
    )
    plain = table[(table["mode"] == "direct") & (table["dataset"] != "merge")]
    tokens = plain.assign(
        average_tokens=9.0, tokens_low=8.0, tokens_high=10.0, most_tokens=99
    )
    shares = plain.assign(share=0.5, low=0.4, high=0.6, other=70.0)
    figures = [
        difference_dots(points, theirs, xlabel="x", name="published"),
        share_dots(conditions.share_points(shares, "share", "other"), xlabel="x"),
        token_dots(*reasoning.token_points(tokens, reasoning.published_reasoning())),
    ]
    given = Predictions(artefact="codecrash/tab01", models=["sim-careful"])
    for figure in figures:
        publish(
            given,
            figure=figure,
            title="title",
            table=table[:1],
            data=table[:1],
        )
        assert figure.get_figheight() < 8
        assert faults(tmp_path / "figure.svg", "page") == []


@pytest.mark.parametrize(("average", "most"), [(420, 640), (2100, 8300)])
def test_tokens_within_a_power_of_ten_have_an_axis_with_numbers(
    average: float, most: float
) -> None:
    row = {"model": "sim-thinking", "panel": "contest", "condition": "VAN", "cell": {}}
    row |= {"value": average, "low": average, "high": average, "hollow": most}
    points = pd.DataFrame([row])
    figure = token_dots(points, points[:0].assign(beside=""))
    figure.draw_without_rendering()
    [ax] = figure.axes
    low, high = ax.get_xlim()
    named = [
        label
        for label in ax.get_xticklabels(which="both")
        if low <= label.get_position()[0] <= high and label.get_text()
    ]
    assert len(named) >= 2


def answers_to(rows: list[tuple[str, str, str, int, float]]) -> pd.DataFrame:
    """Answers by perturbation, problem, question, sample and value, in one setting."""
    columns = ["perturbation", "problem", "question", "sample", "value_strict"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.assign(
        value_reference=table["value_strict"], density=1.0, status="applied"
    )
    table.loc[table["perturbation"] == "VAN", "density"] = 0.0
    return table.assign(
        model="m",
        dataset="livecodebench",
        language="python",
        task="output",
        mode="direct",
        ignore=False,
        refactor=False,
        reasoning_tokens=100.0,
        collapsed=False,
    )


def test_shares_of_problems_count_questions_as_clusters() -> None:
    """100 problems of 10 questions, whose answers are alike within a question: intervals are those of 10 answers."""
    rows = []
    for number, name, sample in product(range(100), ("VAN", "MCC"), range(2)):
        right = name == "VAN" or (number < 50 and sample == 0)
        rows.append((name, f"p{number}", f"q{number // 10}", sample, float(right)))
    answers = answers_to(rows)
    [broken] = verdicts.changed_verdicts(
        answers, rule="strict", confidence=0.95
    ).itertuples()
    assert (broken.broken, broken.right_before, broken.share) == (50, 100, 0.5)
    assert (broken.low, broken.high) == pytest.approx(tuple(wilson(5, 10)))
    table = verdicts.stability(answers, rule="strict", confidence=0.95).set_index(
        "perturbation"
    )
    assert table.loc["MCC", "same_verdict"] == 0.5
    assert tuple(table.loc["MCC", ["low", "high"]]) == pytest.approx(
        tuple(wilson(5, 10))
    )
    assert tuple(table.loc["VAN", ["low", "high"]]) == pytest.approx(
        tuple(wilson(10, 10))
    )


def test_a_difference_without_a_common_problem_is_not_known() -> None:
    """As after a stop: the vanilla programs of other problems were asked."""
    rows = [("MCC", f"p{n}", f"p{n}", 0, n % 2) for n in range(4)]
    plain = [("VAN", f"p{n}", f"p{n}", 0, 1.0) for n in range(4, 8)]
    printed = [("MPS", f"p{n}", f"p{n}", 0, 0.0) for n in range(4, 8)]
    for others, known in ((printed, {"VAN": 0.0, "MPS": -100.0}), ([], {"VAN": 0.0})):
        answers = answers_to([*rows, *plain, *others])
        table = reasoning.reasoning_table(answers, rule="strict", confidence=0.95)
        points = table.set_index("perturbation")["points"]
        assert points.dropna().to_dict() == known
        assert pd.isna(points["MCC"])
