"""Tables, claims and figures with what real runs put into them."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from matplotlib.figure import Figure

from codestress import paths
from codestress.artefact_files import artefact_names, read_artefact
from codestress.errors import DataError, ParameterError
from codestress.fitting.exponential import ExponentialFit
from codestress.fitting.proportions import Interval, newcombe, wilson
from codestress.inference.results import Results
from codestress.inference.run import run
from codestress.papers.origin.charts import distance_curve, outcome_map, share_rows
from codestress.papers.origin.needle_charts import length_curve
from codestress.papers.origin.studies import FindTheOrigin
from codestress.parameters import Facts
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.builder import standing
from codestress.report.caption import (
    LONGEST_ALT,
    NOTE_CHARACTERS,
    REST,
    SIMULATED_NOTE,
    description,
    one_line,
    table_in_words,
    write_title,
)
from codestress.report.cards import all_claims, folded, judged
from codestress.report.checked import sha256_of_files
from codestress.report.claims import COLUMNS, judge_table, ledger
from codestress.report.protocol import stamp
from codestress.report.publish import publish
from codestress.report.published import (
    published_models,
    published_numbers,
    without_numbers,
)
from codestress.report.statements import Evidence, half_unit, statements
from codestress.report.style import WIDTHS
from codestress.report.tables import latex_table, markdown_table
from codestress.types import Outcome
from conftest import artefact_of
from told import names, refused


def test_tables_escape_what_would_break_them() -> None:
    frame = pd.DataFrame(
        {"a|b": ["x|y", "50 % & more_"], "n": [0.12345, float("nan")], "k": [3, 4]}
    )
    assert markdown_table(frame).splitlines()[2:] == [
        r"| x\|y | 0.123 | 3 |",
        "| 50 % & more_ |  | 4 |",
    ]
    odd = pd.DataFrame({"a": [pd.NA, None, pd.NaT, [1], {"b": 2}, True]}, dtype=object)
    shown = ["|  |"] * 3 + ["| [1] |", "| {'b': 2} |", "| True |"]
    assert markdown_table(odd).splitlines()[2:] == shown
    latex = latex_table(frame)
    assert r"50 \% \& more\_" in latex
    assert r"\begin{tabular}{lrr}" in latex


UNJUDGED = ["no verdict"] * 2
AGREES = ["reproduced", "reproduced", "consistent", "follows", *UNJUDGED]
DIFFERS = ["differs", "differs", "inconsistent", "does not follow", *UNJUDGED]


@pytest.mark.parametrize(
    ("regenerated", "low", "high", "words"),
    [
        (30.0, 25.0, 35.0, AGREES),
        (40.0, 35.0, 45.0, DIFFERS),
        (50.0, 27.44, 60.0, AGREES),  # as it is printed
        (math.nan, math.nan, math.nan, ["not run"] * 6),
    ],
)
def test_every_class_of_evidence_has_its_words(
    regenerated: float, low: float, high: float, words: list[str]
) -> None:
    for evidence, word in zip(get_args(Evidence), words, strict=True):
        row = {"evidence": evidence, "regenerated": regenerated}
        row |= {"low": low, "high": high}
        assert verdict_on(**row) == word
        if not math.isnan(regenerated) and evidence in ("re-run", "recomputed"):
            # The other number's error is not known.
            assert verdict_on(**row, clusters=800.0) == "inconclusive"
            assert verdict_on(**row, deviates="d 1 (paper: 15)") == "not comparable"


UNKNOWN = """regenerated low high clusters deviation without_effect
n their_low their_high pair_low pair_high"""
COMPARED: dict[str, Any] = {
    **{"reading": "", "artefact": "origin/fig04", "statement": "share"},
    **{"evidence": "re-run", "relation": "equal", "published": 27.4, "unit": "%"},
    **{"effect": False, "student": False, "basis": "", "deviates": ""},
    **dict.fromkeys(UNKNOWN.split(), math.nan),
}
"""A row of a comparison table with a published number alone."""


def verdict_on(**columns: Any) -> str:
    slack = half_unit(columns.get("published", COMPARED["published"]))
    compared = COMPARED | columns | {"slack": slack}
    [row] = judge_table([[compared]]).to_dict("records")
    return str(row["verdict"])


def test_a_picture_s_description_is_short_and_says_where_the_rest_is() -> None:
    assert description(["A title", "b nan %."]) == "A title. b (not known)."
    parts = [f"model-{number}, a task: {number / 7:.1f} %" for number in range(60)]
    readers = "sim-a: simulated readers (not models)"
    cut = description([readers, "A title", "; ".join(parts)])
    assert cut.startswith(f"{readers}. A title. model-0")
    assert LONGEST_ALT - 80 < len(cut) <= LONGEST_ALT
    assert cut.endswith(REST)
    words = description(["word " * 200])
    assert len(words) <= LONGEST_ALT
    assert words.endswith("word" + REST)
    assert len(description(["x" * LONGEST_ALT])) <= LONGEST_ALT


def test_a_footnote_has_all_that_a_figure_lacks() -> None:
    """At the width of each figure of which numbers of the paper are missing."""
    for name in artefact_names():
        most = round(NOTE_CHARACTERS * WIDTHS[read_artefact(name).width])
        if missing := without_numbers(name):
            line = one_line([f"sim-…: {SIMULATED_NOTE}", missing], most)
            names(line, "simulated readers", missing)
            assert len(line) <= most, name
    assert one_line(["a note", "x" * 60], 60) == "a note; …"
    assert one_line(["changed: " + "x" * 90], 60).startswith("changed: xxx")


@pytest.mark.parametrize("words", range(3, 9))
def test_a_number_of_a_title_stays_beside_its_unit(words: int) -> None:
    figure = Figure(figsize=(3.3, 2))
    title = "word " * words + "41 %, 15 points and 3 of 5 models"
    write_title(figure, title)
    lines = figure.texts[-1].get_text().split("\n")
    assert len(lines) > 1
    assert not [line for line in lines if re.search(r"\d$|^%", line)]


@pytest.mark.parametrize("evidence", ["re-run", "internal"])
@pytest.mark.parametrize(
    ("numbers", "items", "more", "less"),
    [
        ((5, 2, 8), 800, "reproduced", "differs"),
        ((-5, -8, -2), 800, "differs", "reproduced"),
        ((5, -1, 11), 800, "inconclusive", "inconclusive"),
        ((5, 2, 8), 24, "inconclusive", "differs"),  # fewer than 25 never reproduce
        # By Student's quantile it reaches over the bound.
        ((5, 0.1, 9.9), 26, "inconclusive", "inconclusive"),
        ((5,), 0, "reproduced", "differs"),
        ((-5,), 0, "differs", "reproduced"),
        ((0,), 0, "differs", "differs"),  # neither more nor less
    ],
)
def test_an_order_is_judged_by_the_side_of_its_bound(
    publishing: Publishing,
    evidence: str,
    numbers: tuple[float, ...],
    items: float,
    more: str,
    less: str,
) -> None:
    columns = ["slope", "low", "high"][: len(numbers)]
    number = [*columns, "items"] if len(columns) == 3 else columns
    stated = STATED | {"value": 0, "number": number, "evidence": evidence}
    rises = {"statement": "it rises", "relation": "more than"}
    falls = {"statement": "it falls", "relation": "less than"}
    given = publishing(stated | rises, stated | falls)
    table = pd.DataFrame([dict(zip(columns, numbers, strict=True)) | {"items": items}])
    found = ledger(given, {"drops": table})
    words = {"reproduced": "consistent", "differs": "inconsistent"}
    words = words if evidence == "internal" else {}
    assert list(found["verdict"]) == [words.get(word, word) for word in (more, less)]
    assert found["undecided"].str.contains("would decide").tolist() == [
        len(numbers) == 3 and word == "inconclusive" for word in (more, less)
    ]
    assert judged(found.assign(artefact="any/fig01")) == []


def test_a_finding_names_its_command_and_is_no_paper_s_statement() -> None:
    for paper in ("origin", "semtrace", "faultloc", "codecrash"):
        for stated in statements(paper):
            own = tuple(
                f"make {paper}/{name} PROFILE=paper" for name in stated.artefacts
            )
            told = stated.needs.startswith(own) or stated.basis.startswith(own)
            assert told == (stated.evidence == "finding"), stated.statement


def test_an_empty_ledger_has_its_columns() -> None:
    assert "verdict" in ledger(protocol_of("origin/wording"), {}).columns


@pytest.mark.parametrize(
    ("ours", "n", "theirs", "their_n", "verdict"),
    [
        (0.50, 6400, 0.51, 6400, "reproduced"),
        (0.50, 800, 0.51, 800, "inconclusive"),  # half-width 4.9 points, margin 5
        (0.50, 800, 0.62, 800, "differs"),
        (0.50, 6400, 0.56, 6400, "differs"),
        (1.00, 20, 1.00, 6400, "inconclusive"),  # fewer than 25 are never enough
        (0.40, 5, 0.51, 800, "inconclusive"),
    ],
)
def test_a_share_is_judged_by_the_errors_of_both(
    publishing: Publishing,
    ours: float,
    n: int,
    theirs: float,
    their_n: int,
    verdict: str,
) -> None:
    stated = STATED | {
        **CELL,
        "table": "own",
        "unit": "%",
        "number": ["accuracy", "low", "high", "items"],
        "per_cent": True,
    }
    given = publishing(stated)
    sides = [
        {"accuracy": share, "items": of, **wilson(share * of, of)._asdict()}
        for share, of in ((ours, n), (theirs, their_n))
    ]
    cells = pd.DataFrame([sides[1] | {"label": "A", "value": round(100 * theirs, 1)}])
    found = ledger(given, {"own": pd.DataFrame(sides[:1]), "cells": cells}).squeeze()
    low, high = (100 * end for end in newcombe(theirs, their_n, ours, n))
    # It is printed to 0.1 %.
    between = Interval(found["difference_low"] + 0.05, found["difference_high"] - 0.05)
    assert between.low <= low + 1e-9 < high <= between.high + 1e-9
    if n == their_n == 6400:  # of few items Student's quantile is wider
        assert between == pytest.approx((low, high))
    assert found["margin"] == 5
    assert found["verdict"] == verdict
    assert bool(found["undecided"]) == (verdict == "inconclusive")


def test_another_protocol_is_not_comparable(publishing: Publishing) -> None:
    given = publishing(SINGLE, SINGLE | {"independent": ["d"]})
    other = given.model_copy(update={"d": [1]})
    found = ledger(other, {"drops": DROPS})
    assert found["verdict"].tolist() == ["not comparable", "inconclusive"]
    deviates, same = found["deviates"]
    names(deviates, "d 1", "15")
    assert same == ""
    assert set(ledger(given, {"drops": DROPS})["verdict"]) == {"inconclusive"}
    narrow = ledger(given.model_copy(update={"confidence": 0.5}), {"drops": DROPS})
    assert narrow["deviates"].tolist() == ["confidence 0.5 (verdicts: 0.95)"] * 2


@pytest.mark.parametrize("name", artefact_names())
def test_the_paper_profile_is_the_papers_protocol(name: str) -> None:
    """What no paper has says so: it is as nobody's paper."""
    beyond = read_artefact(name).title.startswith("Beyond the paper")
    assert stamp(protocol_of(name)) == (
        "beyond the paper" if beyond else "as the paper"
    )


def test_a_stamp_names_what_deviates() -> None:
    demo = artefact_of("semtrace/fig01", "demo")
    told = stamp(demo.parameters)
    names(told, "deviates", "n_problems 40", "800", "problems generated", "cruxeval")
    assert "models" not in told
    kept = artefact_of("faultloc/tab02", "paper", "selection=kit")
    told = stamp(kept.parameters)
    names(told, "deviates", "selection kit", "artifact")
    assert "637" not in told, "Figure 5 counts all 637 and 670"
    again = demo.parameters.model_copy(update={"subsample": 1})
    assert "subsample" not in stamp(again)  # 1 and 1.0 are one value
    for name, changes, told in (
        ("origin/sec62", {"samples": 4}, "deviates: samples 4 (paper: 10)"),
        ("origin/sec63", {"samples": 4}, "deviates: samples 4 (left open by"),
        ("faultloc/fig06", {"controls": []}, "as the paper"),
        ("faultloc/fig06", {"spms": []}, "deviates: spms none (paper: "),
        ("faultloc/relabel", {"answers": "mine.jsonl"}, "beyond the paper"),
    ):
        changed = protocol_of(name).model_copy(update=changes)
        assert stamp(changed).startswith(told)


def test_each_number_stands_once_and_chance_is_counted() -> None:
    def rows_on(statements: list[str], artefact: str, *ends: float) -> pd.DataFrame:
        low, high = ends or (math.nan, math.nan)
        rows = pd.DataFrame({"statement": statements}).reindex(columns=COLUMNS)
        rows = rows.assign(artefact=artefact, relation="equal", unit="%")
        rows = rows.assign(published=10.0, difference_low=low, difference_high=high)
        return rows.assign(verdict="differs" if ends else "not run")

    ledgers = [
        rows_on(["x", "y", "z"], "p/a"),
        rows_on(["x"], "p/b", 4.0, 20.0),
        rows_on(["s0", "s1", "s2"], "p/b", 0.1, 12.0),
    ]
    claims = all_claims(ledgers)
    assert len(claims) == 6
    (first,) = claims[claims["statement"] == "x"].to_dict("records")
    assert (first["verdict"], first["artefacts"]) == ("differs", ["p/b", "p/a"])
    ((artefact, waiting),) = folded(claims).items()
    assert artefact == "p/a"
    assert [row["statement"] for row in waiting] == ["y", "z"]
    assert judged(claims) == [
        {"paper": "p", "judged": 4, "expected": 0.2, "differ": 4, "after_holm": 1}
    ]
    # What command lines changed counts by its changes.
    mine = [
        ledger.assign(artefact=ledger["artefact"] + f"@seed={n}")
        for n in (1, 2)
        for ledger in ledgers
    ]
    assert len(all_claims(mine)) == 2 * len(claims)
    assert judged(all_claims(ledgers[:1])) == judged(all_claims([])) == []


STATED = {
    "artefacts": ["fig01"],
    "unit": "points",
    "needs": "the answers of {models}",
    "table": "drops",
}
SINGLE = STATED | {
    "statement": "one model's drop",
    "value": 20,
    "number": ["drop", "low", "high", "n"],
    "where": {"model": "a"},
}
DROPS = pd.DataFrame({"model": ["a"], "drop": 20, "low": 15, "high": 25, "n": 0})


CELL = {"each": "cells", "statement": "{label}", "value": "value"}


def test_what_is_stated_is_looked_up_by_one_rule(publishing: Publishing) -> None:
    two = {"statement": "two models' drop", "value": 30}
    stated = [
        SINGLE | {"where": {"task": "x", "model": "a"}, "basis": "{n} problems"},
        two | {"artefacts": ["fig01"], "rules": ["mean"], "where": {"model": "both"}},
        SINGLE | {"artefacts": ["fig02"]},
        STATED | CELL | {"number": ["drop"], "match": ["model"]},
    ]
    mean = {"where": {"task": "x"}, "basis": "{models}, {n} problems"}
    rules = {"mean": STATED | mean | {"number": ["drop"]}}
    given = publishing(*stated, rules=rules, groups={"both": ["a", "b"]})
    drops = pd.DataFrame(
        [
            ("a", "x", 24, 19, 29, 90),
            ("both", "x", 32, 35, 45, 80),
            ("a", "y", 90, 85, 95, 9),
            ("c", "x", 3, 3, 3, 1),
        ],
        columns=["model", "task", "drop", "low", "high", "n"],
    )
    cells = pd.DataFrame({"label": list("ABCD"), "model": list("abcd")})
    cells["value"] = [10, math.nan, 3, 3]
    found = ledger(given, {"drops": drops, "cells": cells})
    stated_of = ["one model's drop", "two models' drop", "A", "C", "D"]
    assert found["statement"].tolist() == stated_of
    assert found["regenerated"].tolist()[:4] == [24, 32, 24, 3]
    others = ["differs", "reproduced", "not run"]
    assert found["verdict"].tolist() == ["inconclusive", "differs", *others]
    assert found["basis"].tolist()[:2] == ["90 problems", "a, b, 80 problems"]
    lacking = ledger(given, {"drops": drops[drops["model"] != "both"], "cells": cells})
    names(lacking["basis"][1], "the answers of a, b")
    assert lacking["verdict"].tolist() == ["inconclusive", "not run", *others]


@pytest.mark.parametrize(
    ("relation", "published", "same", "other"),
    [
        ("equal", 76.14, 76.1364, 76.1451),  # as printed
        ("equal", 78, 78.4, 78.6),
        ("equal", 5.0, 5, 6),
        ("equal", 71994, 71994, 71995),
        ("equal", 0, 0, 1),
        ("at most", 5, 5.0, 6.0),
        ("at most", 5, 4.0, 6.0),
    ],
)
def test_numbers_without_sampling_agree_as_they_are_printed(
    relation: str, published: float, same: float, other: float
) -> None:
    for number, word in ((same, "reproduced"), (other, "differs")):
        ends = dict.fromkeys(["regenerated", "low", "high"], number)
        assert verdict_on(published=published, relation=relation, **ends) == word


ERROR = STATED | {
    "statement": "a share",
    "value": 50,
    "number": ["share", "low", "high", "items"],
    "unit": "%",
    "where": {"model": "a"},
}


@pytest.mark.parametrize(
    ("n", "items", "ours", "verdict", "undecided"),
    [
        (0, 900, (50, 47, 53), "inconclusive", "too few"),
        (0, 900, (70, 67, 73), "inconclusive", "21 or more"),
        (900, 900, (70, 67, 73), "differs", ""),
        (900, 900, (50, 47, 53), "reproduced", ""),
        (900, 900, (54, 51, 57), "inconclusive", "would decide"),
        (900, 1, (100, 50, 100), "inconclusive", ""),
        (900, 0, (100, 100, 100), "inconclusive", ""),
        (900, 24, (50, 49.9, 50.1), "inconclusive", ""),
        (20, 900, (50, 47, 53), "inconclusive", "no run"),
    ],
)
def test_a_published_number_is_as_uncertain_as_ours_would_be_at_its_n(
    publishing: Publishing, n: int, items: int, ours: Any, verdict: str, undecided: str
) -> None:
    given = publishing(ERROR | {"n": n})
    row = {"model": "a", "items": items}
    row |= dict(zip(["share", "low", "high"], ours, strict=True))
    found = ledger(given, {"drops": pd.DataFrame([row])}).squeeze()
    assert (found["verdict"], found["margin"]) == (verdict, 5)
    names(found["undecided"], undecided)
    none = ledger(given, {"drops": pd.DataFrame([row | {"share": math.nan}])}).squeeze()
    assert none["verdict"] == "not run"


def test_an_unknown_n_of_a_cell_is_no_verdict(publishing: Publishing) -> None:
    given = publishing(ERROR | {"each": "cells", "value": "value"})
    ours = {"share": [70], "low": 67, "high": 73, "items": 900, "model": "a"}
    # The last: no claim.
    cells = {"value": [50.0] * 4 + [math.nan], "n": [900, math.nan, None, 0, 900]}
    found = ledger(given, {"drops": pd.DataFrame(ours), "cells": pd.DataFrame(cells)})
    assert found["verdict"].tolist() == ["differs", *["inconclusive"] * 3]


def test_readings_must_agree(publishing: Publishing) -> None:
    ways: dict[str, Any] = {"first": {}, "second": {}}
    given = publishing(ERROR | {"n": 900, "readings": ways})

    def claim(**shares: float) -> pd.Series:
        rows = pd.DataFrame({"reading": [*shares], "share": [*shares.values()]})
        rows = rows.assign(low=rows["share"] - 3, high=rows["share"] + 3)
        return ledger(given, {"drops": rows.assign(model="a", items=900)}).squeeze()

    both = claim(first=50, second=50.2)
    assert both["verdict"] == "reproduced"
    names(both["readings"], "first: 50 % (reproduced)", "second: 50.20 % (reproduced)")
    assert both["undecided"] == ""
    assert claim(first=70, second=75)["verdict"] == "differs"
    apart = claim(first=50, second=70)
    assert (apart["verdict"], apart["regenerated"]) == ("inconclusive", 50)
    names(apart["undecided"], "2", "not agree")
    between = claim(first=30, second=70)
    assert between["verdict"] == "inconclusive"
    names(between["undecided"], "between 2")
    one = claim(first=50)  # the other was not worked out
    assert one["verdict"] == "inconclusive"
    names(one["undecided"], "2 ways, of which 1 gave a number")
    assert claim(second=70)["readings"] == "first; second: 70 % (differs)"
    assert claim(third=50)[["verdict", "readings"]].tolist() == [
        "not run",
        "first; second",
    ]


@pytest.mark.parametrize(
    ("printed", "evidence", "numbers", "word"),
    [
        (23.2, "recomputed", (23.21, 23.18), "reproduced"),
        (23.2, "recomputed", (23.21, 23.02), "inconclusive"),
        # On both sides of what is printed.
        (23.2, "recomputed", (23.02, 24.45), "inconclusive"),
        (23.2, "recomputed", (24.02, 24.45), "differs"),
        (250, "internal", (327.8, 211.3), "inconclusive"),
        (7, "internal", (4, 5), "inconsistent"),
        (0, "more than", (3, 4), "reproduced"),
        (0, "more than", (3, -4), "inconclusive"),
    ],
)
def test_readings_without_sampling_agree_as_printed(
    publishing: Publishing,
    printed: float,
    evidence: str,
    numbers: tuple[float, ...],
    word: str,
) -> None:
    of_order = evidence == "more than"
    manner = {"relation": evidence} if of_order else {"evidence": evidence}
    stated = {"statement": "counted", "value": printed, "number": ["drop"]}
    ways: dict[str, Any] = {"a": {}, "b": {}}
    given = publishing(STATED | stated | manner | {"readings": ways})
    drops = pd.DataFrame({"reading": [*ways], "drop": numbers})
    assert ledger(given, {"drops": drops}).squeeze()["verdict"] == word


def test_a_reading_may_have_another_unit_number_and_group(
    publishing: Publishing, tmp_path: Path
) -> None:
    ways = {
        "in points": {"unit": "points", "number": ["points"]}
        | {"where": {"task": "y", "kind": 1}},
        "of one model": {"where": {"model": "b"}},
        "of all models": {"where": {"model": "all", "reading": "mean"}},
    }
    content = {
        "rules": {"of x": {"where": {"task": "x"}}, "ways": {"readings": ways}},
        "groups": {"all": ["a", "b"]},
    }
    publishing(ERROR | {"rules": ["of x", "ways"]}, **content)
    (stated,) = statements("any")
    points, one, every = stated.readings.values()
    assert (points.unit, points.number) == ("points", ["points"])
    assert points.where == {"task": "y", "kind": 1, "model": "a"}
    assert one.where == {"task": "x", "model": "b"}
    assert every.where == {"task": "x", "model": "all", "reading": "mean"}
    assert (every.unit, every.number) == ("%", ERROR["number"])
    (tmp_path / "any.json").write_text(
        json.dumps(content | {"statements": [ERROR | {"rules": ["way"]}]})
    )
    with refused(ParameterError, "any.json", "'way'", "'ways'"):
        statements("any")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"numbre": ["drop"]}, ("numbre", "'number'")),
        ({"table": "drop"}, ("table", "'drop'", "'drops'")),
        ({"table": ""}, ("table",)),
        ({"number": ["dorp"]}, ("drops", "'dorp'", "'drop'")),
        ({"number": ["drop", "low", "high", "items"]}, ("drops", "'items'")),
        ({"number": ["drop", "low", "high"]}, ("number", "four")),
        ({"match": ["low"]}, ("low", "each", "''")),
        ({"n": "problems"}, ("n", "problems")),
        ({"rules": ["drops"]}, ("rules", "'drops'")),
        ({"statement": "{label}"}, ("{label}", "'label'")),
        ({"value": "many"}, ("many", "each", "''")),
    ],
)
def test_a_statement_that_no_rule_can_evaluate_is_an_error(
    publishing: Publishing, wrong: dict[str, Any], told: tuple[str]
) -> None:
    given = publishing(SINGLE | wrong)
    with refused(ParameterError, "any.json", *told):
        ledger(given, {"drops": DROPS})


def test_a_number_of_one_model_is_comparable_whatever_another_was_asked(
    publishing: Publishing, tmp_path: Path
) -> None:
    stated = [
        SINGLE,
        SINGLE | {"where": {"model": "b"}},
        SINGLE | {"where": {"model": "all"}},
        SINGLE | CELL | {"match": ["label"], "where": {}},
    ]
    alone = publishing(*stated, groups={"all": ["a", "b"]})
    models = ["a", "b", "all"]
    drops = pd.DataFrame({"label": models, "model": models, "drop": 24, "n": 0})
    drops = drops.assign(low=19, high=29)
    cells = pd.DataFrame({"label": list("ab"), "value": [10.0, 20.0]})
    own = {"b": {"max_tokens": 7}}
    given = alone.model_copy(update={"models": ["a", "b"], "per_model": own})
    names(stamp(given), "deviates", "max_tokens 7 for b", "1024")
    deviates = ledger(given, {"drops": drops, "cells": cells})["deviates"]
    assert deviates.ne("").tolist() == [False, True, True, False, True]
    names(deviates[1], "max_tokens 7 for b", "1024")
    (tmp_path / "any/fig01.yaml").write_text(
        f"{FILE}parameters: {{models: [b, c], d: [15], per_model: {{b: {{max_tokens: 7}}, c: {{}}}}}}"
    )
    assert stamp(given) == "as the paper"
    assert set(ledger(given, {"drops": drops, "cells": cells})["deviates"]) == {""}


FILE = "title: any\nnotebook: any.ipynb\nstudy: any.any\n"


Publishing = Callable[..., Facts]


@pytest.fixture
def publishing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Publishing:
    """Makes a paper with these statements, and returns the parameters of an artefact of its, as its protocol."""
    places = paths.PUBLISHED, paths.PARAMS
    for name in [name for name in sys.modules if name.startswith("codestress.")]:
        # Whichever modules look there.
        for constant, value in [*vars(sys.modules[name]).items()]:
            if isinstance(value, Path) and value in places:
                monkeypatch.setattr(sys.modules[name], constant, tmp_path)

    def write(*stated: Mapping[str, Any], **content: Any) -> Facts:
        content["statements"] = stated
        (tmp_path / "any.json").write_text(json.dumps(content))
        (tmp_path / "any").mkdir()
        parameters = "{models: [a], d: [15]}"
        (tmp_path / "any/fig01.yaml").write_text(f"{FILE}parameters: {parameters}")
        return FindTheOrigin(artefact="any/fig01", models=["a"], d=[15])

    return write


def test_a_table_without_columns_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_STAGING", str(tmp_path))
    good, none = pd.DataFrame(columns=["share"]), pd.DataFrame()
    for name, tables in (
        ("table", {"table": none}),
        ("audit", {"table": good, "extra_tables": {"audit": none}}),
    ):
        with refused(DataError, f"{name}.csv", "columns"):
            publish(
                protocol_of("semtrace/tab03"),
                figure=Figure(),
                title="",
                data=good,
                results=Results(pd.DataFrame(), []),
                **({"table": good} | tables),  # type: ignore[arg-type]
            )
    assert not list(tmp_path.iterdir())


def protocol_of(name: str) -> Facts:
    return artefact_of(name, "paper").parameters


def test_a_table_is_told_by_its_columns_texts_and_ranges() -> None:
    table = pd.DataFrame(
        {
            "model": ["a_b", "c", "c"],
            "long_text": ["x" * 20 + " " + "y" * 20, "b", "b"],
            "kind": list("wxy"),
            "n": [1200, 1200, 1200],
            "share": [0.04444, -0.2, np.nan],
            "half": [np.nan] * 3,
            "kept": [True, False, True],
        }
    )
    assert table_in_words(table) == (
        "Table of 3 rows: model a_b, c; long text xxxxxxxxxxxxxxxxxxxx …, b; kind w, x, y; "
        "n 1200; share -0.2 to 0.044; half (not known); kept True, False"
    )
    names(table_in_words(pd.DataFrame({"kind": list("vwxyz")})), "v, w, x, 2 more")
    assert table_in_words(table[:1][["n"]]) == "Table of 1 row: n 1200"
    assert table_in_words(table[:0][["n"]]) == "Table of 0 rows: n (not known)"


def test_a_figure_has_one_description_of_its_title_and_table_which_names_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_STAGING", str(tmp_path))
    artefact = artefact_of("origin/fig04", "smoke", models=("sim-near",))
    store = tmp_path / "s.sqlite"
    results = run(artefact.trials(), artefact.model_names, store=store)
    table = pd.DataFrame({"model": ["sim-near"] * 90, "share": np.linspace(0, 1, 90)})
    for more in ({}, {f"column {number}": ["<&>"] * 90 for number in range(60)}):
        picture = publish(
            protocol_of("origin/fig04"),
            figure=Figure(figsize=(3, 2)),
            title='Fewer than "half" <b>&',
            table=table.assign(**more),
            data=table,
            results=results,
        )
        drawing = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        root = ElementTree.fromstring(drawing)
        (alt,) = [one.text for one in root.iter("{http://www.w3.org/2000/svg}desc")]
        assert alt is not None
        assert "<b>" not in drawing
        assert len(alt) <= LONGEST_ALT
        names(alt, "sim-near: simulated readers", 'Fewer than "half" <b>&', "90 rows")
        names(alt, "share 0 to 1", *(["<&>", REST] if more else []))
        manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["alt"] == alt == picture.alt
        page = (tmp_path / "answers.html").read_text(encoding="utf-8")
        assert re.findall(r'<img [^>]*alt="([^"]*)"', page) == [str(escape(alt))]


def test_published_numbers_agree_with_each_other() -> None:
    for bars, cells in (("fig04", "fig02"), ("fig05", "fig03"), ("fig11", "fig10")):
        outcomes = published_numbers(f"origin/{cells}")
        numbers = published_numbers(f"origin/{bars}")
        models = outcomes["outcomes"].keys()
        assert models == numbers["correct"].keys() == {*published_models("origin")}
        for model, bits in outcomes["outcomes"].items():
            right = bits.count("1")
            assert len(bits) == numbers["n"] == outcomes["sizes"]
            assert right == numbers["correct"][model]
            share = pytest.approx(100 * right / len(bits), abs=0.1)
            assert numbers["bar_percent"][model] == share
    assert not published_numbers("origin/wording")


def test_figures_can_be_drawn_from_very_little() -> None:
    reasons = [Outcome.TIMEOUT.value, Outcome.CORRECT.value]
    cells = pd.DataFrame({"model": ["m", "n"], "lines": [16, 16], "outcome": reasons})
    one = {"label": ["m"], "accuracy": [0.5], "low": [np.nan], "high": [np.nan]}
    bars = pd.DataFrame({**one, "condition": ["c"], "source": ["regenerated"]})
    points = pd.DataFrame({**one, "d": [1], "published": [False]})
    lengths = pd.DataFrame({**one, "characters": [900], "published": [False]})
    bar = {"label": "m", "text": "own", "characters": 900, "outcome": "solved"}
    outcomes = pd.DataFrame([bar | {"share": 1.0}])
    no_draws = np.empty((0, 3))
    flat = ExponentialFit(no_draws, 0.95, 0.5, 0.0, 0.0)
    fits = {("m", 1): flat, ("m", -1): ExponentialFit(no_draws, 0.95)}
    for figure in (
        outcome_map(cells.assign(source="regenerated")),
        share_rows(bars, xlabel="x"),
        distance_curve(points, fits),
        length_curve(lengths, outcomes),
    ):
        figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["table.csv", "claims.csv", "figure.svg"])
def test_an_edited_file_is_out_of_date(tmp_path: Path, name: str) -> None:
    for file in ("table.csv", "claims.csv", "figure.svg"):
        (tmp_path / file).write_text("1")
    manifest = {"inputs": {"a": "b"}, "sha256": sha256_of_files(tmp_path)}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    artefact = cast(Artefact, SimpleNamespace(folder=tmp_path))
    assert standing(artefact, {"a": "b"})[0] == []
    (tmp_path / name).write_text("2")
    [edited] = standing(artefact, {"a": "b"})[0]
    (tmp_path / name).unlink()
    [gone] = standing(artefact, {"a": "b"})[0]
    names(edited, name)
    names(gone, name, "missing")
    assert edited != gone
    for odd in ("[1]", "{}", '{"sha256": [1]}', "[" * 100_000):
        (tmp_path / "manifest.json").write_text(odd)
        assert standing(artefact, {"a": "b"})[0]
