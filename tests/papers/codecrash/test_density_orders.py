"""CodeCrash: what sections 4.1 to 4.3 compare, of answers that are made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from made_answers import answers_to

from codestress.papers.codecrash.results import differences, sweep


def condition(
    perturbation: str, right: int, tokens: float = 10.0, **other: Any
) -> pd.DataFrame:
    """100 problems, the first of which are right."""
    values = [number < right for number in range(100)]
    return answers_to(
        perturbation, values, completion_tokens=tokens + np.arange(100) % 3, **other
    )


def test_tokens_and_sizes_at_the_largest_density() -> None:
    parts = []
    for model in [*sweep.SMALL["7 to 14 billion"], *sweep.LARGER]:
        right = 40 if model in sweep.SMALL["7 and 8 billion"] else 60
        parts.append(condition("VAN", 80, model=model))
        parts.append(condition("MCC", right, tokens=14.0, model=model))

    def orders(answers: pd.DataFrame) -> pd.DataFrame:
        return sweep.density_orders(answers, rule="strict", confidence=0.95)

    found = orders(pd.concat(parts))
    tokens = found[found["number"] == "tokens"]
    assert tokens["value"].eq(4).all()
    lost = found[found["number"] == "small - larger"].set_index("reading")
    # Of what was right 50 %, and 25 %.
    assert lost["value"].round(4).to_dict() == {
        "7 and 8 billion": 25,
        "7 to 14 billion": 16.6667,
    }
    assert (tokens["low"] > 0).all()
    assert (lost["low"] > 0).all()
    without = orders(pd.concat(parts[2:]))
    assert "small - larger" not in set(without["number"])
    # The statements are about messages at all places, whatever was asked.
    sparse = pd.concat(parts).replace({"density": {1.0: 0.2}})
    assert orders(sparse).empty


def test_settings_are_compared_beside_their_own_vanilla_programs() -> None:
    script = {"language": "javascript"}
    plain = condition("VAN", 80)
    answers = [plain, condition("MPS", 40), condition("MPS", 60, ignore=True)]
    answers += [condition("VAN", 50, **script), condition("MPS", 40, **script)]
    found = differences.setting_effects(
        pd.concat(answers), rule="strict", confidence=0.95
    )
    values = found.set_index(["setting", "reading"])["value"].round(6)
    assert values.to_dict() == {
        ("language", "points"): -30,
        ("language", "% of vanilla"): -30,
        ("ignore", "points"): 20,
        ("ignore", "% of vanilla"): 25,
    }
    assert differences.setting_effects(plain, rule="strict", confidence=0.95).empty
