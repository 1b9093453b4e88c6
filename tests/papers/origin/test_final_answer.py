"""Gold 100 %, corrupted 0 %, hostile 0 %; and where the authors' rule differs."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from codestress.papers.origin.scoring import score_reference, score_strict
from codestress.scoring.forms import final_word
from codestress.types import Outcome, Response


def answer(text: str, finish: str = "stop") -> Response:
    return Response(text, finish)  # type: ignore[arg-type]


PAPER = """To find the origin of "admire", we need to trace back the connections from "admire" to the earliest vertex.
1. "workbench" is connected to "dad"
2. "dad" is connected to "admire"
Thus we find that the origin of "admire" is "workbench".
FINAL ANSWER: workbench"""

GOLD = [
    PAPER,
    "FINAL ANSWER: workbench",
    "FINAL ANSWER: workbench.",
    'FINAL ANSWER: "workbench"',
    "FINAL ANSWER: “Workbench”",
    "**FINAL ANSWER:** workbench",
    "**FINAL ANSWER: workbench**",
    "**Final Answer**: `workbench`",
    "## FINAL ANSWER: WORKBENCH\n",
    "FINAL ANSWER: [workbench]",
    "FINAL ANSWER:\n\nworkbench",
    "FINAL ANSWER :  'workbench'!",
    'FINAL ANSWER: dad\nNo, once more.\n"FINAL ANSWER: workbench".',
    "FINAL_ANSWER: workbench",
    "FINAL ANSWER: workbench. It leads to dad, and dad to admire.",
]
CORRUPTED = [
    "FINAL ANSWER: dad",
    "FINAL ANSWER: admire",
    "FINAL ANSWER: bench",
    "FINAL ANSWER: work bench",
    "FINAL ANSWER: wrkbench",
]
HOSTILE = [
    "FINAL ANSWER: workbenches",
    "FINAL ANSWER: workbench or dad",
    "FINAL ANSWER: workbench, dad, admire",
    "FINAL ANSWER: not workbench",
    "FINAL ANSWER: workbench\nFINAL ANSWER: dad",
    "FINAL ANSWER: dad (or workbench)",
    "FINAL ANSWER: workbench -> dad -> admire",
    "workbench",
    "The answer is workbench",
    'FINAL ANSWER: YOUR_ANSWER\n"workbench" is connected to "dad"',
    "FINAL ANSWER: workbench/dad",
    "FINAL ANSWER:",
    "FINAL ANSWER",
]


@pytest.mark.parametrize("text", GOLD)
def test_gold(text: str) -> None:
    assert score_strict(answer(text), "workbench").outcome is Outcome.CORRECT


@pytest.mark.parametrize("text", CORRUPTED + HOSTILE)
def test_corrupted_and_hostile(text: str) -> None:
    score = score_strict(answer(text), "workbench")
    assert score.value == 0
    assert score.outcome in (Outcome.INCORRECT, Outcome.UNPARSABLE)


@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("I do not know.", "stop", Outcome.UNPARSABLE),
        ("First I look at", "length", Outcome.TRUNCATED),
        ("FINAL ANSWER: work", "length", Outcome.TRUNCATED),
        ("FINAL ANSWER: dad\nThis is because", "length", Outcome.INCORRECT),
        ("FINAL ANSWER: workbench\nThis is", "length", Outcome.CORRECT),
        ("  \n", "stop", Outcome.REFUSED),
        ("FINAL ANSWER: workbench", "content_filter", Outcome.REFUSED),
    ],
)
def test_no_answer_has_its_own_reasons(
    text: str, finish: str, outcome: Outcome
) -> None:
    assert score_strict(answer(text, finish), "workbench").outcome is outcome


@pytest.mark.parametrize(
    ("outcome", "texts"),
    [
        (Outcome.INCORRECT, [f"FINAL ANSWER:{by}workbench" for by in ("** ", *"\n\t")]),
        (Outcome.CORRECT, ['Answer : :"Workbench"', "FINAL ANSWER: workbenches"]),
        (Outcome.CORRECT, ["My answer workbench? No.", PAPER]),
        (Outcome.REFUSED, [""]),
    ],
)
def test_the_authors_rule_errs_both_ways(outcome: Outcome, texts: list[str]) -> None:
    for text in texts:
        assert score_reference(answer(text), "workbench").outcome is outcome, text
    cut = score_reference(answer("Step 1", "length"), "workbench")
    assert cut.outcome is Outcome.TRUNCATED


@given(before=st.text(), word=st.from_regex(r"[a-z]{3,12}", fullmatch=True))
def test_the_last_marker_decides_whatever_stands_before(before: str, word: str) -> None:
    assert final_word(f"{before}\nFINAL ANSWER: {word}") == word


@given(st.text())
def test_any_text_has_an_outcome(text: str) -> None:
    assert score_strict(answer(text), "workbench").outcome in Outcome
