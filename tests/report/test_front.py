"""The first screen says what was asked and what was not, and the ledger's words, no others."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from codestress.report.cards import fronts
from codestress.report.claims import COLUMNS
from codestress.report.published import read_published
from codestress.report.summary import did
from conftest import codestress
from told import names

READERS = [
    {"name": "sim-near", "engine": "simulated", "answered_by": ["simulated"]},
    {"name": "python", "engine": "interpreter", "answered_by": ["Python 3"]},
]
MODEL = {"name": "my-model", "engine": "openai", "answered_by": ["my-model-1"]}


def test_it_is_said_whether_a_large_language_model_was_asked() -> None:
    readers, none = "simulated readers (not models)", "no large language model"
    told = did(71, 4, 8090, [*READERS, MODEL | {"answered_by": []}])
    names(told, "8,090 answers", readers, none)
    assert "my-model" not in told
    told = did(1, 1, 5, [*READERS, MODEL])
    names(told, "5 answers", readers, "my-model")
    assert none not in told


def ledger(*rows: tuple[str, str, float, float, str, str]) -> pd.DataFrame:
    columns = ["artefact", "statement", "published", "regenerated", "verdict"]
    table = pd.DataFrame(rows, columns=[*columns, "evidence"]).reindex(columns=COLUMNS)
    artefacts = [[name] for name in table["artefact"]]
    return table.assign(artefacts=artefacts, unit="%", readings="", undecided="")


def test_a_card_says_the_published_number_and_the_verdict_with_its_evidence() -> None:
    stated = read_published("codecrash")["headline"]["stated"]
    rows = ledger(
        ("codecrash/tab01", stated, 23.2, 23.21, "reproduced", "recomputed"),
        ("codecrash/tab13", f"{stated}, again", 23.2, math.nan, "not run", "re-run"),
        ("codecrash/tab01", "something else", 5.0, 9.0, "differs", "re-run"),
    )
    (card,) = fronts(["codecrash"], ["codecrash/tab01", "origin/fig02"], rows)
    assert card["number"] == "23.2 %"
    names(card["says"], "reproduced", "recomputed", "23.21 %")
    few = rows.assign(undecided="too few items", verdict="inconclusive")
    (other,) = fronts(["codecrash"], ["codecrash/tab01"], few)
    names(other["says"], "inconclusive", "recomputed", "23.21 %", "too few items")
    read = few.assign(readings="one: 23.21 % (reproduced); two: 24.45 % (differs)")
    (other,) = fronts(["codecrash"], ["codecrash/tab01"], read)
    names(other["says"], "inconclusive", "recomputed", read["readings"][0])
    assert "too few items" not in other["says"]
    (first, _, reproduced), (second, _, differs) = card["all"]
    assert (first, reproduced) == ("recomputed", {"reproduced": 1})
    assert (second, differs) == ("re-run", {"differs": 1})
    assert [row["statement"] for row in card["contrary"]] == ["something else"]
    assert card["figure"] == "codecrash/tab01"
    assert card["query"] == {"paper": "codecrash", "search": stated}
    assert card["rerun"].startswith("codecrash/tab01 PROFILE=paper MODELS=gpt-")


def test_several_numbers_are_a_span_and_what_no_figure_states_is_no_number() -> None:
    words = "share of right answers"
    waiting = (math.nan, "not run", "re-run")
    rows = ledger(
        ("origin/fig02", f"a: {words}", 0.0, *waiting),
        ("origin/fig02", f"b: {words}", 27.35, *waiting),
        ("origin/fig05", f"c: {words}", 90.0, *waiting),
    )
    (card,) = fronts(["origin"], ["origin/fig02"], rows)
    assert card["number"] == "0 to 27.35 %"
    names(card["says"], "not re-run")
    order = ("origin/fig02", f"d: {words}", 100.0, 5.0, "reproduced", "recomputed")
    orders = ledger(order).assign(relation="less than")
    (same,) = fronts(["origin"], ["origin/fig02"], pd.concat([rows, orders]))
    assert (same["number"], same["says"]) == (card["number"], card["says"])
    (card,) = fronts(["origin"], ["origin/nano"], rows[:0])
    assert (card["number"], card["figure"]) == ("", "origin/nano")
    span = "31.63 to 79.55 % of the maximum"
    for paper, number in (("faultloc", "78 %"), ("semtrace", span)):
        (card,) = fronts([paper], [f"{paper}/tab04"], rows[:0])
        assert (card["number"], card["query"]) == (number, {})


COUNTED = {"codecrash": ["hints=generated", "problems=[cruxeval]"]}
"""Settings without which a card's command cannot be counted from data that is at hand."""


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.isolation
@pytest.mark.parametrize("paper", ["codecrash", "faultloc", "origin", "semtrace"])
def test_the_prices_of_a_card_and_of_folds_are_what_their_commands_would_ask(
    paper: str, tmp_path: Path, shared_data: Path
) -> None:
    def planned(artefact: str, *options: str) -> pd.DataFrame:
        command = ("plan", artefact, "--json", "--profile", "paper", *options)
        data = {"CODESTRESS_DATA": str(shared_data)}
        done = codestress(*command, outputs=tmp_path, **data)
        return pd.DataFrame(json.loads(done.stdout))

    (card,) = fronts([paper], [f"{paper}/any"], ledger())
    artefact, _, models = card["rerun"].split()
    options = ["--models", models.split("=")[1]]
    for setting in COUNTED.get(paper, []):
        options += ["--set", setting]
    plan = planned(artefact, *options).squeeze()
    price = card["price"]
    assert price["requests"] == pytest.approx(plan["missing"], rel=0.01)
    dollars = [plan["dollars_low"], plan["dollars_high"]]
    assert price["dollars"] == pytest.approx(dollars, rel=0.03)
    prices = read_published(paper)["headline"]["prices"]
    for name, price in prices.items() if paper not in COUNTED else ():
        rows = planned(f"{paper}/{name}")
        assert price["requests"] == rows["missing"].sum(), name
        dollars = [rows["dollars_low"].sum(), rows["dollars_high"].sum()]
        assert price.get("dollars", [0, 0]) == pytest.approx(dollars, rel=0.01), name
        asked = rows.query("model != 'python'")
        assert price.get("unpriced", 0) == asked["dollars_low"].isna().sum(), name
