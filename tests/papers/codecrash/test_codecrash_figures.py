"""CodeCrash's figures: names of rows, titles, and the size with all of the paper's models."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_answers import answers_to

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
RULE = {"rule": "strict", "confidence": 0.95}


def table_of(
    models: list[str], modes: list[str], perturbations: list[str]
) -> pd.DataFrame:
    """Rows like those of `differences`, with the columns that figures need: each loss is 10 % more than the one of
    the perturbation before, and half as large step by step."""
    datasets = ["generated", "contest", "merge"]
    rows = product(models, datasets, modes, perturbations)
    table = pd.DataFrame(rows, columns=["model", "dataset", "mode", "perturbation"])
    number = 1 + table["perturbation"].map(perturbations.index)
    loss = -10.0 * number / (1 + (table["mode"] == "cot"))
    table = table.assign(language="python", task="output", ignore=False, refactor=False)
    return table.assign(
        density=1.0, relative_pct=loss, relative_low=loss - 5, relative_high=loss + 5
    )


def test_codes_stand_beside_their_names_once() -> None:
    rows = ["MCC", "MCC, told to ignore", "MHC", "asked again", "mine", "MPS, true"]
    comments, ignored, hints, *own, prints = conditions.row_names(rows)
    names(f"{comments}, {hints}", "comments (MCC)", "hints (MHC)")
    assert ("told to ignore" in ignored, "MCC" in ignored) == (True, False)
    assert own == ["asked again", "mine"]
    names(prints, "MPS", "true")


BOTH = table_of(MODELS[:2], ["direct"], ["PSC-ALL", "MHC"])
TOLD = BOTH.assign(ignore=True, relative_pct=-30.0)
STEPS = table_of(MODELS[:2], ["cot"], ["MHC", "PSC-ALL"])
COSTS = {
    "the largest of two": (BOTH, "Pass@1", "hints (20 %"),
    "modes": (
        table_of(MODELS[:2], ["direct", "cot"], ["PSC-ALL", "MHC"]),
        "hints (direct: 20 %; chain of thought: 10 %)",
    ),
    "a largest in each mode": (
        pd.concat([BOTH, STEPS]),
        "hints (direct: 20 %) and structural changes (chain of thought: 10 %)",
    ),
    "with and without a defence": (
        pd.concat([TOLD, BOTH]),
        "changes (told to ignore: 30 %) and misleading hints (20 %)",
    ),
    "with a defence": (TOLD, "(told to ignore: 30 % on average)"),
    "unknown": (BOTH.assign(relative_pct=float("nan")), "not known"),
    "nothing lost": (BOTH.assign(relative_pct=0.0), "Pass@1 falls", "no condition"),
    "Pass@1 rises": (BOTH.assign(relative_pct=0.3), "Pass@1 falls", "no condition"),
}


@pytest.mark.parametrize("case", COSTS)
def test_a_title_says_what_costs_most(case: str) -> None:
    table, *words = COSTS[case]
    title = differences.headline(table, relative=True)
    names(title, *words)
    numbers = sum(word.count("%") for word in words)
    assert title.count("%") == numbers


@pytest.mark.slow
def test_figures_fit_a_page_with_all_of_the_paper_s_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_STAGING", str(tmp_path))
    perturbations = ["REN", "RTF", "GBC", *leaderboard.HEADLINE]
    table = table_of(MODELS, ["direct", "cot"], perturbations)
    table = table.assign(points=0.0, points_low=0.0, points_high=0.0)
    points = differences.difference_points(table, differences.RELATIVE)
    published = leaderboard.published_differences()
    theirs = leaderboard.published_points(published, table)
    plain = table.query("mode == 'direct' and dataset != 'merge'")
    tokens = plain.assign(
        average_tokens=9.0, tokens_low=8.0, tokens_high=10.0, most_tokens=99
    )
    shares = plain.assign(share=0.5, low=0.4, high=0.6, other=70.0)
    figures = [
        difference_dots(points, theirs, "relative_pct", xlabel="x", name="published"),
        share_dots(shares, "share", "other", xlabel="x"),
        token_dots(
            conditions.drawn_points(tokens, differences.TOKENS),
            leaderboard.published_points(reasoning.published_reasoning(), tokens),
        ),
    ]
    given = Predictions(artefact="codecrash/tab01", models=["sim-careful"])
    for figure in figures:
        publish(given, figure=figure, title="title", table=table[:1], data=table[:1])
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
    labels = ax.get_xticklabels(which="both")
    places = [label.get_position()[0] for label in labels if label.get_text()]
    assert sum(low <= place <= high for place in places) >= 2


def test_shares_of_problems_count_questions_as_clusters() -> None:
    """100 problems of 10 questions, whose answers are alike within a question: intervals are those of 10 answers."""
    asked = {
        "problem": [f"p{number // 2}" for number in range(200)],
        "question": [f"q{number // 20}" for number in range(200)],
        "sample": np.arange(200) % 2,
    }
    vanilla = answers_to("VAN", [1.0] * 200, **asked)
    one_of_two = answers_to("MCC", [1.0, 0.0] * 50 + [0.0] * 100, **asked)
    answers = pd.concat([vanilla, one_of_two])
    [broken] = verdicts.changed_verdicts(answers, **RULE).itertuples()
    assert (broken.broken, broken.right_before, broken.share) == (50, 100, 0.5)
    assert (broken.low, broken.high) == pytest.approx(tuple(wilson(5, 10)))
    table = verdicts.stability(answers, **RULE).set_index("perturbation")
    assert table.loc["MCC", "same_verdict"] == 0.5
    for name, alike in (("MCC", 5), ("VAN", 10)):
        ends = tuple(table.loc[name, ["low", "high"]])
        assert ends == pytest.approx(tuple(wilson(alike, 10)))


def test_a_difference_without_a_common_problem_is_not_known() -> None:
    """As after a stop: the vanilla programs of other problems were asked."""
    others = [f"p{number}" for number in range(4, 8)]
    comments = answers_to("MCC", [0.0, 1.0] * 2)
    plain = answers_to("VAN", [1.0] * 4, problem=others, question=others)
    printed = answers_to("MPS", [0.0] * 4, problem=others, question=others)
    answers = pd.concat([comments, plain, printed])
    answers = answers.assign(reasoning_tokens=100.0, collapsed=False)
    table = reasoning.reasoning_table(answers, **RULE)
    points = table.set_index("perturbation")["points"]
    assert points.dropna().to_dict() == {"VAN": 0.0, "MPS": -100.0}
    assert pd.isna(points["MCC"])
