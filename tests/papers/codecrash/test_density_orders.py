"""CodeCrash: what sections 4.1 to 4.3 compare, of answers that are made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

from codestress.papers.codecrash.results import differences, sweep

SETTING: dict[str, Any] = {
    "dataset": "cruxeval",
    "language": "python",
    "task": "output",
    "mode": "direct",
}
SETTING |= {"ignore": False, "refactor": False, "status": "applied"}


def condition(
    model: str, perturbation: str, right: int, tokens: float = 10.0, **other: object
) -> pd.DataFrame:
    """100 problems, the first of which are right."""
    density = 0.0 if perturbation == "VAN" else 1.0
    rows = [(str(n), float(n < right), tokens + n % 3) for n in range(100)]
    frame = pd.DataFrame(rows, columns=["problem", "value_strict", "tokens"])
    told = {
        "model": model,
        "perturbation": perturbation,
        "density": density,
        **SETTING,
        **other,
    }
    return frame.assign(question=frame["problem"], **told)


def test_tokens_and_sizes_at_the_largest_density() -> None:
    models = [*sweep.SMALL["7 to 14 billion"], *sweep.LARGER]
    parts = []
    for model in models:
        small = model in sweep.SMALL["7 and 8 billion"]
        parts += [
            condition(model, "VAN", 80),
            condition(model, "MCC", 40 if small else 60, tokens=14.0),
        ]
    found = sweep.density_orders(pd.concat(parts), rule="strict", confidence=0.95)
    tokens = found[found["number"] == "tokens"].set_index("model")
    assert tokens["value"].eq(4).all()
    assert (tokens["low"] > 0).all()
    lost = found[found["number"] == "small - larger"].set_index("reading")
    assert (
        round(lost.loc["7 and 8 billion", "value"], 6) == 25
    )  # of what was right 50 %, and 25 %
    assert round(lost.loc["7 to 14 billion", "value"], 4) == 16.6667
    assert (lost["low"] > 0).all()
    without = pd.concat(parts[2:])
    assert "small - larger" not in set(
        sweep.density_orders(without, rule="strict", confidence=0.95)["number"]
    )
    # The statements are about messages at all places, whatever was asked.
    sparse = pd.concat(parts).replace({"density": {1.0: 0.2}})
    assert sweep.density_orders(sparse, rule="strict", confidence=0.95).empty


def test_settings_are_compared_beside_their_own_vanilla_programs() -> None:
    script: dict[str, Any] = {"language": "javascript"}
    answers = pd.concat(
        [
            *(condition("m", "VAN", 80), condition("m", "MPS", 40)),
            *(condition("m", "VAN", 50, **script), condition("m", "MPS", 40, **script)),
            condition("m", "MPS", 60, ignore=True),
        ]
    )
    found = differences.setting_effects(answers, rule="strict", confidence=0.95)
    values = found.set_index(["setting", "reading"])["value"].round(6)
    assert values["language", "points"] == -30
    assert values["language", "% of vanilla"] == -30
    assert values["ignore", "points"] == 20
    assert values["ignore", "% of vanilla"] == 25
    alone = condition("m", "VAN", 80)
    assert differences.setting_effects(alone, rule="strict", confidence=0.95).empty
