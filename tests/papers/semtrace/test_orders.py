"""Orders and signs that the paper states in words: numbers by pandas alone, on simulated
answers."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_study import crossed, settings

from codestress.papers.semtrace.results import largest_drops, orders, published
from codestress.paths import PUBLISHED

SMALL, LARGE = PAIR = ("gemma-3-12b", "gemma-3-27b")


def simulated(
    dip: float, tasks: tuple[str, ...] = ("output_prediction",), **factors: Any
) -> pd.DataFrame:
    """Return answers of a family's two models, right less often by `dip` in the middle
    third.

    The larger model is 20 points better; both are 20 points worse with 80 distractors.
    """
    random = np.random.default_rng(3)
    problems = map(str, range(200))
    table = crossed(
        model=PAIR,
        task=tasks,
        distractors=(20, 80),
        problem=problems,
        depth=np.linspace(0, 1, 11),
    )
    middle = table["depth"].between(1 / 3, 2 / 3)
    chance = 0.6 + 0.2 * (table["model"] == LARGE) - dip * middle
    chance -= 0.2 * (table["distractors"] == 80)
    table["value_strict"] = (random.random(len(table)) < chance) * 1.0
    table["unresolved_strict"] = middle * 1.0
    table["position"] = (10 * table["depth"]).round().astype(int)
    plain = {"dataset": "cruxeval", "digits": 2, "qac": True, "keys": False}
    return table.assign(**plain | factors)


@pytest.mark.parametrize(("dip", "sign"), [(0.3, -1), (-0.15, 1)])
def test_a_dip_and_its_opposite_lie_on_their_sides(dip: float, sign: int) -> None:
    answers = simulated(dip)
    table = orders.by_order(answers, 0.95)
    table = table.set_index(["number", "model", "distractors"])
    row = table.loc[(orders.MIDDLE, SMALL, "80")]
    own = answers.query("model == @SMALL and distractors == 80")
    middle = own.loc[own["unresolved_strict"] == 1, "value_strict"].mean()
    ends = own.loc[own["depth"].isin([0, 1]), "value_strict"].mean()
    assert row["value"] == pytest.approx(middle - ends)
    assert min(sign * row["low"], sign * row["high"]) > 0
    assert table.loc[("unresolved, middle - ends", SMALL, "any"), "value"] == 1
    share = answers.groupby(["model", "distractors"])["value_strict"].mean().unstack()
    fall = table.loc[(orders.COUNT, LARGE, "any")]
    assert fall["value"] == pytest.approx(share.loc[LARGE, 80] - share.loc[LARGE, 20])
    assert fall["high"] < 0
    family = table.loc[("larger - smaller", "Gemma 3", "any")]
    difference = share.loc[LARGE].mean() - share.loc[SMALL].mean()
    assert family["value"] == pytest.approx(difference)
    assert family["low"] > 0


def test_dips_with_the_most_and_the_fewest_digits_are_compared() -> None:
    parts = [simulated(dip, digits=n) for n, dip in ((2, 0.1), (4, 0), (6, 0.4))]
    table = orders.by_order(pd.concat(parts), 0.95).set_index(["number", "model"])
    row = table.loc[("middle - ends, most digits - fewest", LARGE)]
    dips = table.loc[(orders.MIDDLE, LARGE)].query("distractors == 'any'")
    dips = dips.set_index("digits")["value"]
    assert row["value"] == pytest.approx(dips[6] - dips[2])
    assert row["high"] < 0


@pytest.mark.slow
def test_tasks_and_ways_to_ask_are_compared_on_the_same_problems() -> None:
    function, line = "function_retrieval", "line_retrieval"
    answers = simulated(0.2, (function, line), keys=True)
    hard = (answers["task"] == line) & (answers["problem"].astype(int) >= 100)
    answers.loc[hard, "value_strict"] = 0
    odd = answers["value_strict"] * (answers["position"] % 2)
    both = pd.concat([answers, answers.assign(qac=False, value_strict=odd)])
    table = orders.by_order(both, 0.95).set_index(["number", "model", "task"])
    own = both[both["model"] == SMALL]
    share = own.groupby("task")["value_strict"].mean()
    value = table.loc[("share", SMALL, "function - line"), "value"]
    assert value.item() == pytest.approx(share[function] - share[line])
    means = own[own["task"] == line].groupby("qac")["value_strict"].mean()
    row = table.loc[("share, with - without", SMALL, line)].squeeze()
    assert row["value"] == pytest.approx(means[True] - means[False])
    assert row["low"] > 0
    # Predictions with keys are another matter.
    assert orders.by_order(simulated(0.2, keys=True), 0.95).empty


def drops_of(*parts: pd.DataFrame) -> pd.DataFrame:
    return largest_drops.largest_drops(pd.concat(parts), settings())


def test_drops_of_a_family_are_compared_by_digits_in_points_and_per_cent() -> None:
    """Predictions with keys are never compared."""
    keyed = simulated(0.6, keys=True, digits=4)
    drops = drops_of(simulated(0.3), simulated(0.1, digits=4), keyed)
    table = orders.drop_orders(drops, 0.95).set_index(["number", "digits"])
    own = drops.query("context == 'any' and not keys").set_index(["digits", "model"])
    for unit in ("points", "relative"):
        for digits in (2, 4):
            row = table.loc[(f"larger - smaller, {unit}", digits)]
            drop = own.loc[digits, unit]
            assert row["value"] == pytest.approx(drop[LARGE] - drop[SMALL])
            assert row["low"] < row["value"] < row["high"]
    assert len(table) == 4
    assert orders.drop_orders(drops_of(keyed[:0]), 0.95).empty


def test_drops_without_the_query_are_compared_with_those_of_the_same_model() -> None:
    drops = drops_of(simulated(0.1), simulated(0.4, qac=False))
    table = orders.drop_orders(drops, 0.95).query("number == 'without - with, points'")
    own = drops[drops["context"] == "any"].set_index(["model", "qac"])["points"]
    assert list(table["model"]) == [*PAIR]
    assert set(table["qac"]) == {"any"}
    for row in table.itertuples():
        assert row.value == pytest.approx(own[row.model, False] - own[row.model, True])
        assert 0 < row.low < row.value < row.high


def test_what_the_text_says_of_its_tables_is_counted_in_them() -> None:
    content = json.loads((PUBLISHED / "semtrace.json").read_text())["tab01"]
    printed = pd.DataFrame(content["values"], content["columns"]).T
    scores = published.scores(0.95)
    keys = published.with_keys(scores, 0.95)
    table = published.printed(scores, keys, published.over_models(keys, 0.95))
    table = table.set_index(["number", "reading", "model"])
    value = table["value"]
    more = (printed["CRUXEval-O"] > printed["CRUXEval-I"]).sum()
    assert value["more on output than on input", "", "all"].item() == more == 7
    best = printed.drop(index="gpt-4.1-2025-04-14").idxmax()
    qwen = value["tasks of Qwen 32B", "best but for GPT 4.1", "all"].item()
    assert qwen == (best == "qwen2.5-coder-32b").sum()
    row = table.loc[("larger - smaller", "", "Gemma 3")].query("task == 'SemTrace'")
    gemma = printed.loc[LARGE, "SemTrace"] - printed.loc[SMALL, "SemTrace"]
    # Counts of 800 are printed to hundredths of a per cent.
    assert 100 * row["value"].item() == pytest.approx(gemma, abs=0.13)
    assert row["high"].item() < 0
    assert value["chance of a guess", "", "all"].item() == pytest.approx(6.25)
