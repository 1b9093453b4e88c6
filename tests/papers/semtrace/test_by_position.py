"""Accuracy by the target's position, contexts as Equation 2 describes them, and the
query's effect."""

from pathlib import Path

import pandas as pd
import pytest
from small_study import crossed, settings, study

from codestress.inference.run import run
from codestress.papers.semtrace.results import by_position
from codestress.parameters import questions
from told import names


def test_contexts_are_described_as_equation_2_says(tmp_path: Path) -> None:
    tables = []
    for fragments in (1, 3):
        parameters = study(tasks=["line_retrieval"], fragments=fragments)
        store = tmp_path / "s.sqlite"
        answers = run(questions(parameters), ["sim-wide"], store=store).answers
        tables.append(by_position.contexts(answers, parameters))
        shares = by_position.accuracy_by_position(answers, settings())
        assert (shares["n"].sum(), shares["relative"].max()) == (len(answers), 1)
    whole, parts = tables
    assert list(whole["depth"]) == [0, 0.5, 1] * 2
    assert whole["concentration"].to_numpy() == pytest.approx(1)
    assert (parts["concentration"] < 0.6).all()
    assert whole["granularity"].is_monotonic_increasing
    assert (whole["granularity"] < 1).all()


def test_the_query_on_both_sides_is_compared_on_the_same_problems() -> None:
    """The query before the code helps at 15 of 100 places and hurts at 5."""
    answers = crossed(qac=(True, False), n=range(100))
    n, qac = answers["n"], answers["qac"]
    right = (n < 40 + 15 * qac).where(~n.between(60, 64), ~qac)
    answers = answers.assign(value_strict=right.astype(float), model="m", task="t")
    answers = answers.assign(problem=(n // 2).astype(str), position=n % 2)
    table = by_position.factor_differences(answers, "qac", ["task"], settings())
    row = table.iloc[0]
    assert (row["first"], row["second"], row["items"]) == ("False", "True", 100)
    assert row["difference"] == pytest.approx(0.10)
    assert (row["only_second"], row["only_first"]) == (15, 5)
    assert row["low"] < 0.10 < row["high"]
    one_way = answers[answers["qac"]]
    assert by_position.factor_differences(one_way, "qac", ["task"], settings()).empty


def dip(model: str, points: float, low: float, p_value: float) -> dict[str, object]:
    row = {"model": model, "dip_points": points, "dip_low": low, "p_value": p_value}
    return row | {"dip_relative_pct": 2 * points}


def test_a_title_names_the_models_that_clearly_lose_in_the_middle() -> None:
    none = pd.DataFrame(columns=["low", "high"])

    def title(*rows: dict[str, object], relative: bool = False) -> str:
        return by_position.headline(pd.DataFrame(rows), none, relative=relative)

    clear, unclear = dip("phi-4", 30.4, 12, 0.001), dip("gemma", 9, -2, 0.2)
    names(title(clear, unclear), "middle", "30 points", "for phi-4")
    names(title(clear, unclear, relative=True), "middle", "for phi-4", "61 %")
    several = [clear | {"model": name} for name in "abc"]
    names(title(*several, unclear), "for 3 of 4")
    # One clear curve of many is what noise makes.
    many = [dip("phi-4", 30, 12, 0.02), *[dip("phi-4", 1, -9, 0.5)] * 4]
    names(title(*many), "for none")
    # Holm's correction leaves one of these three.
    queries = pd.DataFrame({"p_value": [0.01, 0.03, 0.04]})
    text = by_position.headline(pd.DataFrame([clear]), queries, relative=False)
    names(text, "clear effect", "query", "1 of 3")
