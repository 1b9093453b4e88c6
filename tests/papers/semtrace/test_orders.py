"""Orders and signs that the paper states in words: numbers by pandas alone, on answers made for the test."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.exponential import fit_exponential
from codestress.papers.semtrace.results import largest_drops, losses, orders, published
from codestress.paths import PUBLISHED

PAIR = ("gemma-3-12b", "gemma-3-27b")
DEPTHS = np.linspace(0, 1, 11)


def made(
    dip: float, tasks: tuple[str, ...] = ("output_prediction",), **factors: object
) -> pd.DataFrame:
    """Answers of a family's two models, right so much less often in the middle third; the larger one 20 points better,
    and both 20 points worse with 80 distractors."""
    random = np.random.default_rng(3)
    cells = pd.MultiIndex.from_product(
        [PAIR, tasks, (20, 80), [str(n) for n in range(200)], range(11)],
        names=["model", "task", "distractors", "problem", "position"],
    )
    table = cells.to_frame(index=False).assign(
        dataset="cruxeval", digits=2, qac=True, **({"keys": False} | factors)
    )
    depth = DEPTHS[table["position"]]
    middle = (depth >= 1 / 3) & (depth <= 2 / 3)
    chance = (
        0.6
        + 0.2 * (table["model"] == PAIR[1])
        - 0.2 * (table["distractors"] == 80)
        - dip * middle
    )
    right = (random.random(len(table)) < chance) * 1.0
    return table.assign(depth=depth, value_strict=right, unresolved_strict=middle * 1.0)


@pytest.mark.parametrize(("dip", "sign"), [(0.3, -1), (-0.15, 1)])
def test_a_dip_and_its_opposite_lie_on_their_sides(dip: float, sign: int) -> None:
    answers = made(dip)
    found = orders.by_order(answers, 0.95).set_index(["number", "model", "distractors"])
    row = found.loc[(orders.MIDDLE, PAIR[0], "80")]
    own = answers[(answers["model"] == PAIR[0]) & (answers["distractors"] == 80)]
    ends = own[own["depth"].isin([0, 1])]["value_strict"].mean()
    assert row["value"] == pytest.approx(
        own[own["unresolved_strict"] == 1]["value_strict"].mean() - ends
    )
    assert min(sign * row["low"], sign * row["high"]) > 0
    assert found.loc[("unresolved, middle - ends", PAIR[0], "any"), "value"] == 1
    share = answers.groupby(["model", "distractors"])["value_strict"].mean()
    fall = found.loc[(orders.COUNT, PAIR[1], "any")]
    assert fall["value"] == pytest.approx(share[PAIR[1], 80] - share[PAIR[1], 20])
    assert fall["high"] < 0
    family = found.loc[("larger - smaller", "Gemma 3", "any")]
    assert family["value"] == pytest.approx(
        share[PAIR[1]].mean() - share[PAIR[0]].mean()
    )
    assert family["low"] > 0


@pytest.mark.slow
def test_tasks_and_ways_to_ask_are_compared_on_the_same_problems() -> None:
    answers = made(0.2, ("function_retrieval", "line_retrieval"), keys=True)
    lines = answers["task"] == "line_retrieval"
    answers["value_strict"] *= ~lines | (answers["problem"].astype(int) < 100)
    without = answers.assign(
        qac=False, value_strict=answers["value_strict"] * (answers["position"] % 2)
    )
    both = pd.concat([answers, without])
    found = orders.by_order(both, 0.95).set_index(["number", "model", "task"])
    means = both.groupby(["model", "task", "qac"])["value_strict"].mean()
    apart = found.loc[("share", PAIR[0], "function - line")]
    plain = both.groupby(["model", "task"])["value_strict"].mean()
    assert apart["value"].item() == pytest.approx(
        plain[PAIR[0], "function_retrieval"] - plain[PAIR[0], "line_retrieval"]
    )
    gained = found.loc[("share, with - without", PAIR[0], "line_retrieval")].squeeze()
    assert gained["value"] == pytest.approx(
        means[PAIR[0], "line_retrieval", True] - means[PAIR[0], "line_retrieval", False]
    )
    assert gained["low"] > 0
    assert orders.by_order(made(0.2, keys=True), 0.95).empty, (
        "predictions with keys are another matter"
    )


def test_drops_of_a_family_are_compared_in_points_and_per_cent() -> None:
    given = SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=100, seed=0)
    drops = largest_drops.largest_drops(made(0.3), given)
    found = orders.drop_orders(drops, 0.95).set_index("number")
    own = drops[drops["context"] == "any"].set_index("model")
    for unit in ("points", "relative"):
        row = found.loc[f"larger - smaller, {unit}"]
        assert row["value"] == pytest.approx(
            own.loc[PAIR[1], unit] - own.loc[PAIR[0], unit]
        )
        assert row["low"] < row["value"] < row["high"]
    assert found.loc["larger - smaller, relative", "value"] < 0
    nothing = largest_drops.largest_drops(made(0.3)[:0], given)
    assert orders.drop_orders(nothing, 0.95).empty


def test_drops_are_compared_by_digits_and_never_of_predictions_with_keys() -> None:
    answers = pd.concat(
        [made(0.3), made(0.1).assign(digits=4), made(0.6).assign(keys=True, digits=4)]
    )
    drops = largest_drops.largest_drops(
        answers,
        SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=100, seed=0),
    )
    found = orders.drop_orders(drops, 0.95).set_index(["number", "digits"])["value"]
    own = drops[(drops["context"] == "any") & ~drops["keys"]].set_index(
        ["digits", "model"]
    )
    assert found.index.to_frame()["digits"].value_counts().to_dict() == {2: 2, 4: 2}
    for digits in (2, 4):
        apart = own.loc[digits, "points"]
        assert found["larger - smaller, points", digits] == pytest.approx(
            apart[PAIR[1]] - apart[PAIR[0]]
        )


def test_drops_without_the_query_are_compared_with_those_of_the_same_model() -> None:
    answers = pd.concat([made(0.1), made(0.4).assign(qac=False)])
    drops = largest_drops.largest_drops(
        answers,
        SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=100, seed=0),
    )
    found = orders.drop_orders(drops, 0.95).query("number == 'without - with, points'")
    own = drops[drops["context"] == "any"].set_index(["model", "qac"])["points"]
    assert list(found["model"]) == [*PAIR]
    assert set(found["qac"]) == {"any"}
    for row in found.itertuples():
        assert row.value == pytest.approx(own[row.model, False] - own[row.model, True])
        assert 0 < row.low < row.value < row.high


def test_losses_without_half_of_the_lines_are_compared_over_all_models() -> None:
    content = json.loads((PUBLISHED / "semtrace.json").read_text(encoding="utf-8"))
    larger, every = (content["groups"][name] for name in ("larger", "all"))
    x = np.linspace(0, 1, 6)
    fits = {}
    for model in every:
        for task, rate in (
            ("input_prediction", 1.0),
            ("output_prediction", 3.0 if model in larger else 1.5),
        ):
            asked = np.full((60, 6), 40.0)
            right = (
                np.random.default_rng(len(model)).binomial(
                    40, 0.8 * np.exp(-rate * x), asked.shape
                )
                * 1.0
            )
            how = {
                "floor": False,
                "confidence": 0.95,
                "resamples": 100,
                "check": False,
            }
            fits[model, task] = fit_exponential(
                x, right, asked, **how, rng=np.random.default_rng(0)
            )
    found = losses.removal_orders(fits, 0.95).set_index("number")
    truth = (1 - np.exp(-1.5)) - (1 - np.exp(-0.75))
    row = found.loc["larger - smaller, output"]
    assert row["value"] == pytest.approx(truth, abs=0.03)
    assert (found["low"] > 0).all()
    assert losses.removal_orders(
        {(larger[0], "input_prediction"): fits[larger[0], "input_prediction"]}, 0.95
    ).empty


def test_what_the_text_says_of_its_tables_is_counted_in_them() -> None:
    content = json.loads((PUBLISHED / "semtrace.json").read_text(encoding="utf-8"))[
        "tab01"
    ]
    table = pd.DataFrame(content["values"], index=content["columns"]).T
    scores = published.scores(0.95)
    keys = published.with_keys(scores, 0.95)
    found = published.printed(
        scores, keys, published.over_models(keys, 0.95)
    ).set_index(["number", "reading", "model"])
    value = found["value"].droplevel("reading")
    assert (
        value["more on output than on input", "all"]
        == (table["CRUXEval-O"] > table["CRUXEval-I"]).sum()
        == 7
    )
    open_ones = table.drop(index="gpt-4.1-2025-04-14")
    assert (
        found.loc[("tasks of Qwen 32B", "best but for GPT 4.1", "all"), "value"]
        == (open_ones.idxmax() == "qwen2.5-coder-32b").sum()
    )
    gemma = table.loc["gemma-3-27b"] - table.loc["gemma-3-12b"]
    own = found[found["task"] == "SemTrace"].loc[("larger - smaller", "", "Gemma 3")]
    # Printed to hundredths of a per cent.
    assert 100 * own["value"] == pytest.approx(gemma["SemTrace"], abs=0.13)
    assert own["high"] < 0
    assert value["chance of a guess", "all"] == pytest.approx(6.25)
