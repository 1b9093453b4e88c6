"""Orders and signs that the paper states in words: numbers by pandas alone, on answers made for the test."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.exponential import fit_exponential
from codestress.papers.semtrace.results import largest_drops, losses, orders, published
from codestress.paths import PUBLISHED

SMALL, LARGE = PAIR = ("gemma-3-12b", "gemma-3-27b")
NUMBERS = json.loads((PUBLISHED / "semtrace.json").read_text(encoding="utf-8"))
GIVEN: Any = SimpleNamespace(metrics=["strict"], confidence=0.95, resamples=100, seed=0)
DEPTHS = np.linspace(0, 1, 11)


def made(
    dip: float, tasks: tuple[str, ...] = ("output_prediction",), **factors: object
) -> pd.DataFrame:
    """Answers of a family's two models, right so much less often in the middle third; the larger one 20 points better,
    and both 20 points worse with 80 distractors."""
    random = np.random.default_rng(3)
    names = ["model", "task", "distractors", "problem", "position"]
    values = [PAIR, tasks, (20, 80), map(str, range(200)), range(11)]
    table = pd.MultiIndex.from_product(values, names=names).to_frame(index=False)
    factors = {"dataset": "cruxeval", "digits": 2, "qac": True, "keys": False} | factors
    depth = DEPTHS[table["position"]]
    middle = (depth >= 1 / 3) & (depth <= 2 / 3)
    chance = 0.6 + 0.2 * (table["model"] == LARGE) - dip * middle
    chance -= 0.2 * (table["distractors"] == 80)
    right = (random.random(len(table)) < chance) * 1.0
    table = table.assign(depth=depth, value_strict=right, **factors)
    return table.assign(unresolved_strict=middle * 1.0)


def drops_of(*parts: pd.DataFrame) -> pd.DataFrame:
    return largest_drops.largest_drops(pd.concat(parts), GIVEN)


@pytest.mark.parametrize(("dip", "sign"), [(0.3, -1), (-0.15, 1)])
def test_a_dip_and_its_opposite_lie_on_their_sides(dip: float, sign: int) -> None:
    answers = made(dip)
    found = orders.by_order(answers, 0.95).set_index(["number", "model", "distractors"])
    row = found.loc[(orders.MIDDLE, SMALL, "80")]
    own = answers[(answers["model"] == SMALL) & (answers["distractors"] == 80)]
    means = own.groupby(own["depth"].isin([0, 1]) * 2 + own["unresolved_strict"])
    means = means["value_strict"].mean()
    assert row["value"] == pytest.approx(means[1] - means[2])
    assert min(sign * row["low"], sign * row["high"]) > 0
    assert found.loc[("unresolved, middle - ends", SMALL, "any"), "value"] == 1
    share = answers.groupby(["model", "distractors"])["value_strict"].mean().unstack()
    fall = found.loc[(orders.COUNT, LARGE, "any")]
    assert fall["value"] == pytest.approx(share.loc[LARGE, 80] - share.loc[LARGE, 20])
    assert fall["high"] < 0
    family = found.loc[("larger - smaller", "Gemma 3", "any")]
    apart = share.loc[LARGE].mean() - share.loc[SMALL].mean()
    assert family["value"] == pytest.approx(apart)
    assert family["low"] > 0


def test_dips_with_the_most_and_the_fewest_digits_are_compared() -> None:
    answers = pd.concat(
        [made(dip, digits=n) for n, dip in [(2, 0.1), (4, 0), (6, 0.4)]]
    )
    found = orders.by_order(answers, 0.95).set_index(["number", "model"])
    row = found.loc[("middle - ends, most digits - fewest", LARGE)]
    dips = found.loc[(orders.MIDDLE, LARGE)].query("distractors == 'any'")
    dips = dips.set_index("digits")["value"]
    assert row["value"] == pytest.approx(dips[6] - dips[2])
    assert row["high"] < 0
    assert "most digits" not in str(orders.by_order(made(0.1), 0.95)["number"].unique())


@pytest.mark.slow
def test_tasks_and_ways_to_ask_are_compared_on_the_same_problems() -> None:
    tasks = ("function_retrieval", "line_retrieval")
    answers = made(0.2, tasks, keys=True)
    lines = answers["task"] == "line_retrieval"
    answers["value_strict"] *= ~lines | (answers["problem"].astype(int) < 100)
    odd = answers["value_strict"] * (answers["position"] % 2)
    both = pd.concat([answers, answers.assign(qac=False, value_strict=odd)])
    found = orders.by_order(both, 0.95).set_index(["number", "model", "task"])
    own = both[both["model"] == SMALL]
    plain = own.groupby("task")["value_strict"].mean()
    apart = found.loc[("share", SMALL, "function - line"), "value"]
    assert apart.item() == pytest.approx(plain[tasks[0]] - plain[tasks[1]])
    means = own[own["task"] == "line_retrieval"].groupby("qac")["value_strict"].mean()
    gained = found.loc[("share, with - without", SMALL, "line_retrieval")].squeeze()
    assert gained["value"] == pytest.approx(means[True] - means[False])
    assert gained["low"] > 0
    # Predictions with keys are another matter.
    assert orders.by_order(made(0.2, keys=True), 0.95).empty


def test_drops_of_a_family_are_compared_in_points_and_per_cent() -> None:
    drops = drops_of(made(0.3))
    found = orders.drop_orders(drops, 0.95).set_index("number")
    own = drops[drops["context"] == "any"].set_index("model")
    for unit in ("points", "relative"):
        row = found.loc[f"larger - smaller, {unit}"]
        assert row["value"] == pytest.approx(
            own.loc[LARGE, unit] - own.loc[SMALL, unit]
        )
        assert row["low"] < row["value"] < row["high"]
    assert found.loc["larger - smaller, relative", "value"] < 0
    assert orders.drop_orders(drops_of(made(0.3)[:0]), 0.95).empty


def test_drops_are_compared_by_digits_and_never_of_predictions_with_keys() -> None:
    keyed = made(0.6, keys=True, digits=4)
    drops = drops_of(made(0.3), made(0.1, digits=4), keyed)
    found = orders.drop_orders(drops, 0.95).query(
        "number == 'larger - smaller, points'"
    )
    own = drops.query("context == 'any' and not keys")
    apart = own.pivot(index="digits", columns="model", values="points")
    assert found["digits"].tolist() == [2, 4]
    assert found["value"].tolist() == pytest.approx([*(apart[LARGE] - apart[SMALL])])


def test_drops_without_the_query_are_compared_with_those_of_the_same_model() -> None:
    drops = drops_of(made(0.1), made(0.4, qac=False))
    found = orders.drop_orders(drops, 0.95).query("number == 'without - with, points'")
    own = drops[drops["context"] == "any"].set_index(["model", "qac"])["points"]
    assert list(found["model"]) == [*PAIR]
    assert set(found["qac"]) == {"any"}
    for row in found.itertuples():
        assert row.value == pytest.approx(own[row.model, False] - own[row.model, True])
        assert 0 < row.low < row.value < row.high


def test_losses_without_half_of_the_lines_are_compared_over_all_models() -> None:
    larger, every = (NUMBERS["groups"][name] for name in ("larger", "all"))
    x, asked = np.linspace(0, 1, 6), np.full((60, 6), 40.0)
    fits = {}
    for model in every:
        rates = {
            "input_prediction": 1.0,
            "output_prediction": 1.5 + 1.5 * (model in larger),
        }
        for task, rate in rates.items():
            draws = np.random.default_rng(len(model))
            right = draws.binomial(40, 0.8 * np.exp(-rate * x), asked.shape)
            fits[model, task] = fit_exponential(
                x, right, asked, resamples=100, rng=np.random.default_rng(0)
            )
    found = losses.removal_orders(fits, 0.95).set_index("number")
    truth = (1 - np.exp(-1.5)) - (1 - np.exp(-0.75))
    assert found.loc["larger - smaller, output", "value"] == pytest.approx(
        truth, abs=0.03
    )
    assert (found["low"] > 0).all()
    curve = (larger[0], "input_prediction")
    assert losses.removal_orders({curve: fits[curve]}, 0.95).empty


def test_what_the_text_says_of_its_tables_is_counted_in_them() -> None:
    content = NUMBERS["tab01"]
    table = pd.DataFrame(content["values"], content["columns"]).T
    scores = published.scores(0.95)
    keys = published.with_keys(scores, 0.95)
    means = published.over_models(keys, 0.95)
    found = published.printed(scores, keys, means).fillna({"task": ""})
    found = found.set_index(["number", "reading", "model", "task"])
    value = found["value"]
    more = (table["CRUXEval-O"] > table["CRUXEval-I"]).sum()
    assert value["more on output than on input", "", "all", ""] == more == 7
    best = table.drop(index="gpt-4.1-2025-04-14").idxmax()
    qwen = value["tasks of Qwen 32B", "best but for GPT 4.1", "all", ""]
    assert qwen == (best == "qwen2.5-coder-32b").sum()
    gemma = (table.loc[LARGE] - table.loc[SMALL])["SemTrace"]
    own = found.loc[("larger - smaller", "", "Gemma 3", "SemTrace")]
    # Printed to hundredths of a per cent.
    assert 100 * own["value"] == pytest.approx(gemma, abs=0.13)
    assert own["high"] < 0
    assert value["chance of a guess", "", "all", ""] == pytest.approx(6.25)
