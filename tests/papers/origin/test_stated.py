"""Numbers that section 5 states in words, by pandas on the published outcomes alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from codestress.papers.origin.published import outcomes
from codestress.papers.origin.stated import slopes, stated_numbers, token_steps
from codestress.paths import PUBLISHED

CONTENT = json.loads((PUBLISHED / "origin.json").read_text(encoding="utf-8"))


def outcomes_of(figure: str) -> pd.DataFrame:
    """Return 0 or 1 by size (row) and model (column)."""
    content = CONTENT[figure]
    first, last = content["lines"]
    columns = {name: [*map(int, bits)] for name, bits in content["outcomes"].items()}
    return pd.DataFrame(columns, index=range(first, last + 1, 8))


@pytest.fixture(scope="module")
def numbers() -> pd.DataFrame:
    return stated_numbers(outcomes()).set_index(["number", "list", "model"])


@pytest.mark.slow
def test_differences_are_those_of_the_published_cells(numbers: pd.DataFrame) -> None:
    figures = ("fig01", "fig02", "fig03", "fig10")
    adjacent, down, up, shuffled = map(outcomes_of, figures)
    values = numbers["value"]
    gained = values["shuffled - in order"].droplevel("list")
    assert gained.to_dict() == pytest.approx((shuffled - down).mean().to_dict())
    assert numbers.loc[("up - down", "d = -15", "Sonnet-3.5"), "low"] > 0
    common = adjacent.iloc[2:]  # as many steps long: four lines shorter
    lost = values["15 lines - adjacent"]["d = 15"]
    assert lost.to_dict() == pytest.approx((down.mean() - common.mean()).to_dict())
    assert values["models that lose"]["d = 15", "all"] == (lost < 0).sum() == 13
    gpt, gemini, llama = "GPT4o", "Gemini-Pro", "Llama3.1-405b"
    rivals = down.drop(columns=gpt).mean().mean()
    others = lost.drop([gemini, "Gemini-Flash"]).mean()
    smaller = up["Llama3.1-70b"].mean()
    beside = "15 lines - adjacent, beside the others"
    single = {
        ("up - down", "d = -15", "Sonnet-3.5"): (up - down)["Sonnet-3.5"].mean(),
        ("share - mean of the others", "d = 15", gpt): down[gpt].mean() - rivals,
        (beside, "d = 15", gemini): lost[gemini] - others,
        ("larger - smaller", "d = -15", llama): up[llama].mean() - smaller,
    }
    assert values[list(single)].to_dict() == pytest.approx(single)
    late = down["Opus-3"].iloc[58:].mean() - down["Opus-3"].iloc[:58].mean()
    near = values["longer half - shorter half"]["d = 15", "Opus-3"]
    assert near == pytest.approx(late, abs=0.02)


@pytest.mark.slow
def test_intervals_count_neighbours_as_one_where_they_agree(
    numbers: pd.DataFrame,
) -> None:
    """Blocks of sizes that change together know less than as many sizes alone."""
    change = (outcomes_of("fig10") - outcomes_of("fig02"))["Sonnet-3"]
    apart = change - change.mean()
    errors = []
    for block in (1, 3, 6):
        sums = apart.groupby(apart.index // 8 // block).sum()
        errors.append(1.96 * np.sqrt((sums**2).sum()) / len(change))
    row = numbers.loc[("shuffled - in order", "d = 15, shuffled", "Sonnet-3")]
    assert row["high"] - row["value"] > max(errors) > errors[0]
    assert (row["items"], row["low"] > 0) == (39, True)


def test_slopes_and_steps_are_those_of_the_figures() -> None:
    table = slopes(0.95).set_index(["model", "side"])
    rows = pd.DataFrame(CONTENT["fig06"]["rows"])
    down = rows[rows["d"] > 0]
    slope = np.polyfit(down["d"], 100 * down["correct"] / down["n"], 1)[0]
    assert table.loc[("GPT4-turbo", "down"), "value"] == pytest.approx(slope)
    assert len(table) == 8
    assert token_steps()["tokens"].round().tolist() == [84] * 3
