"""The first screen says what was asked and what was not, and the ledger's words, no others."""

from __future__ import annotations

import pandas as pd

from codestress.report.claims import COLUMNS
from codestress.report.summary import did, fronts
from codestress.rooms import offered_by

READERS = [
    {"name": "sim-near", "engine": "simulated", "answered_by": ["simulated"]},
    {"name": "python", "engine": "interpreter", "answered_by": ["Python 3"]},
]
MODEL = {"name": "my-model", "engine": "openai", "answered_by": ["my-model-1"]}


def test_it_is_said_whether_a_large_language_model_was_asked() -> None:
    told = did(71, 4, 8090, [*READERS, MODEL | {"answered_by": []}])
    assert "8,090 answers of simulated readers (not models) and the Python interpreter" in told
    assert "it asked no large language model" in told
    assert "my-model" not in told
    told = did(1, 1, 5, [*READERS, MODEL])
    assert "5 answers of my-model, and of simulated readers (not models)" in told
    assert "asked no" not in told


def ledger(*rows: tuple[str, str, float, float, str, str]) -> pd.DataFrame:
    names = ["artefact", "statement", "published", "regenerated", "verdict", "evidence"]
    table = pd.DataFrame(rows, columns=names).reindex(columns=COLUMNS).assign(unit="%")
    return table.assign(artefacts=[[name] for name in table["artefact"]])


def test_a_card_says_the_published_number_and_the_verdict_with_its_evidence() -> None:
    headline = offered_by("headline", "HEADLINE")["codecrash"]
    rows = ledger(
        ("codecrash/tab01", headline.stated, 23.2, 23.21, "reproduced", "recomputed"),
        (
            "codecrash/tab13",
            f"{headline.stated}, asked again",
            23.2,
            float("nan"),
            "not run",
            "re-run",
        ),
        ("codecrash/tab01", "something else", 5.0, 9.0, "differs", "re-run"),
    )
    (card,) = fronts(["codecrash"], ["codecrash/tab01", "origin/fig02"], rows)
    assert (card["number"], card["says"]) == (
        "23.2 %",
        "reproduced (recomputed from the paper's own data): 23.21 %",
    )
    few = rows.assign(undecided="too few items", verdict="inconclusive")
    (other,) = fronts(["codecrash"], ["codecrash/tab01"], few)
    source = "recomputed from the paper's own data"
    assert other["says"] == f"inconclusive ({source}): 23.21 %; too few items"
    read = few.assign(readings="one: 23.21 % (reproduced); two: 24.45 % (differs)")
    (other,) = fronts(["codecrash"], ["codecrash/tab01"], read)
    told = "by how its words are read: one: 23.21 % (reproduced); two: 24.45 % (differs)"
    assert other["says"] == f"inconclusive ({source}), {told}"
    assert card["all"] == [
        ("recomputed", "recomputed from the paper's own data", {"reproduced": 1}),
        ("re-run", "re-run", {"differs": 1}),
    ]
    assert [row["statement"] for row in card["contrary"]] == ["something else"]
    assert card["figure"] == "codecrash/tab01"
    assert card["query"] == {"paper": "codecrash", "search": headline.stated}
    assert card["rest"]["command"] == "make codecrash/tab01 PROFILE=paper"
    assert all("$" in card["rest"][name] for name in ("price", "all"))
    assert card["commands"][0].startswith("make plan codecrash/tab01 MODELS=gpt-")


def test_several_numbers_are_a_span_and_what_no_figure_states_is_no_number() -> None:
    rows = ledger(
        ("origin/fig02", "a: share of right answers", 0.0, float("nan"), "not run", "re-run"),
        ("origin/fig02", "b: share of right answers", 27.35, float("nan"), "not run", "re-run"),
        ("origin/fig05", "c: share of right answers", 90.0, float("nan"), "not run", "re-run"),
    )
    (card,) = fronts(["origin"], ["origin/fig02"], rows)
    assert (card["number"], card["says"]) == ("0 to 27.35 %", "not re-run on a model")
    order = ("origin/fig02", "d: share of right answers", 100.0, 5.0, "reproduced", "recomputed")
    orders = ledger(order).assign(relation="less than")
    (card,) = fronts(["origin"], ["origin/fig02"], pd.concat([rows, orders]))
    assert (card["number"], card["says"]) == ("0 to 27.35 %", "not re-run on a model")
    (card,) = fronts(["origin"], ["origin/nano"], rows[:0])
    assert (card["number"], card["figure"]) == ("", "origin/nano")
