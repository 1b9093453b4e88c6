"""Outcomes of section 6 beside the paper's, and what a claim about them needs."""

from __future__ import annotations

import pandas as pd
import pytest

from codestress.papers.origin import needle_results, results
from codestress.papers.origin.studies import NeedleInHaystack
from codestress.parameters import questions
from codestress.report.claims import ledger
from codestress.report.protocol import stamp
from codestress.scoring.summaries import summarize
from conftest import artefact_of
from told import names


def paper(name: str, *settings: str) -> NeedleInHaystack:
    parameters = artefact_of(name, "paper", *settings).parameters
    assert isinstance(parameters, NeedleInHaystack)
    return parameters


def claims_of(
    parameters: NeedleInHaystack, words: str, **tables: pd.DataFrame
) -> pd.DataFrame:
    """Return the ledger's rows whose statement has `words`; other tables are empty."""
    every = dict.fromkeys(("summary", "tokens", "falls", "noticed"), pd.DataFrame())
    every["published"] = results.published_shares(parameters.artefact, 0.95)
    claims = ledger(parameters, {**every, **tables})
    return claims[claims["statement"].str.contains(words)]


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("[printed, authors]", ["inconclusive", "differs", "differs"]),
        ("[printed]", ["inconclusive", "differs", "not run"]),
        ("[own]", ["not run", "not run", "not run"]),
    ],
)
def test_only_the_papers_texts_are_held_against_its_numbers(
    text: str, verdicts: list[str]
) -> None:
    """Seven of ten answers are right on every text, the kit's own too."""
    parameters = paper("origin/sec62", f"text={text}")
    rows = []
    for trial in questions(parameters).items:
        row = {"problem": trial.problem, "sample": trial.sample, **trial.factors}
        rows.append(row)
    answers = pd.DataFrame(rows).assign(
        model=parameters.models[0], outcome_strict="correct"
    )
    answers["value_strict"] = (answers["sample"] < 7) * 1.0
    summary = summarize(answers, by=["model", *needle_results.CELL])
    summary["independent"] = summary["n"]
    claims = claims_of(parameters, "share of right answers", summary=summary)
    assert claims["published"].tolist() == [70, 0, 0]
    assert claims["verdict"].tolist() == verdicts
    not_run = [verdict == "not run" for verdict in verdicts]
    assert claims["regenerated"].isna().tolist() == not_run
    words = "deviates: text" if text == "[own]" else "as the paper"
    assert stamp(parameters).startswith(words)


def test_noticing_the_cipher_or_nothing_is_no_attempt_at_it() -> None:
    """Section 6.2, 354 tokens: none of ten answers attempts the cipher."""
    parameters = paper("origin/sec62")
    details = ["cipher noticed"] * 9 + ["nothing noticed"]
    answers = pd.DataFrame({"detail_strict": details, "model": parameters.models[0]})
    cell = dict(zip(needle_results.CELL, ("printed", 1478, 0.316, True), strict=True))
    answers = answers.assign(**cell, outcome_strict="incorrect", finish_reason="stop")
    answers = pd.concat([answers, answers.assign(text="own")])
    table = needle_results.noticed(needle_results.outcome_shares(answers), 0.95)
    counts = table.set_index("outcome")["count"].to_dict()
    noticed = {"cipher noticed": 9, "nothing noticed": 1}
    assert counts == {"not attempted": 10, **noticed}
    row = claims_of(parameters, "no attempt at the cipher", noticed=table).iloc[0]
    assert (row["published"], row["regenerated"]) == (100, 100)
    assert row["verdict"] == "inconclusive"


def test_the_fall_is_from_the_papers_shortest_to_its_longest_text() -> None:
    rows = [
        ("m", "printed", 861, 0.7, 10),
        ("m", "authors", 27306, 0.0, 10),
        ("m", "own", 99000, 1.0, 10),
    ]
    columns = ["model", "text", "characters", "accuracy", "independent"]
    table = pd.DataFrame(rows, columns=columns)
    fall = needle_results.falls(table, 0.95).squeeze()
    assert (fall["short"], fall["long"], fall["n"]) == (861, 27306, 10)
    assert fall["difference"] == pytest.approx(-0.7)
    assert fall["high"] < 0


@pytest.mark.parametrize(
    ("longest", "verdict"), [(1478, "not run"), (27306, "inconclusive")]
)
def test_a_claim_about_the_long_prompt_needs_it(longest: int, verdict: str) -> None:
    parameters = paper("origin/sec62")
    rows = [(parameters.models[0], 861, longest, -0.7, -0.9, -0.3, 10)]
    columns = ["model", "short", "long", "difference", "low", "high", "n"]
    falls = pd.DataFrame(rows, columns=columns)
    claims = claims_of(parameters, "solved less often", falls=falls)
    assert claims["verdict"].iloc[0] == verdict


@pytest.mark.parametrize("name", ["origin/sec61", "origin/sec63"])
def test_sections_without_a_published_rate_have_no_claim_about_it(name: str) -> None:
    columns = ["model", *needle_results.CELL, "accuracy", "low", "high", "items", "n"]
    claims = claims_of(paper(name), "", summary=pd.DataFrame(columns=columns))
    assert set(claims["verdict"]) == {"not run"}
    assert not claims["statement"].str.contains("share of right answers").any()
    assert needle_results.published_outcomes(name).empty


def test_a_title_compares_the_shortest_text_with_the_longest() -> None:
    columns = ["label", "published", "characters", "accuracy"]
    rows = [("a", False, 861, 1.0), ("a", False, 1478, 0.0), ("b", False, 861, 0.5)]
    points = pd.DataFrame(rows, columns=columns)
    names(needle_results.headline(points), "1 of 1", "1,478", "861")
    short = points[points["characters"] == 861]
    assert "less often" not in needle_results.headline(short)


def test_published_outcomes_are_counts_of_ten_answers() -> None:
    table = needle_results.published_outcomes("origin/sec62")
    counts = table.set_index(["characters", "outcome"])["count"]
    assert counts[861, "solved"] == 7
    assert counts.groupby("characters").sum().tolist() == [10, 10, 10]
