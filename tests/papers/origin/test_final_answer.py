"""Final answers: gold 100 %, corrupted 0 %, hostile 0 %; and where the authors' rule differs."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from codestress.papers.origin.scoring import score_reference, score_strict
from codestress.types import FinishReason, Outcome, Response

PAPER = """To find the origin of "admire", we need to trace back the connections from "admire" to the earliest vertex.
1. "workbench" is connected to "dad"
2. "dad" is connected to "admire"
Thus we find that the origin of "admire" is "workbench".
FINAL ANSWER: workbench"""

GOLD = [
    PAPER,
    "FINAL ANSWER: workbench.",
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
    "The answer is workbench",
    'FINAL ANSWER: YOUR_ANSWER\n"workbench" is connected to "dad"',
    "FINAL ANSWER: workbench/dad",
    "FINAL ANSWER:",
]


def outcome(text: str, finish: FinishReason = "stop") -> Outcome:
    return score_strict(Response(text, finish), "workbench").outcome


def reference(text: str, finish: FinishReason = "stop") -> Outcome:
    return score_reference(Response(text, finish), "workbench").outcome


@pytest.mark.parametrize("text", GOLD)
def test_gold(text: str) -> None:
    assert outcome(text) is Outcome.CORRECT


@pytest.mark.parametrize("text", CORRUPTED + HOSTILE)
def test_corrupted_and_hostile(text: str) -> None:
    score = score_strict(Response(text, "stop"), "workbench")
    assert score.value == 0
    assert score.outcome in (Outcome.INCORRECT, Outcome.UNPARSABLE)


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("I do not know.", "stop", Outcome.UNPARSABLE),
        ("FINAL ANSWER: work", "length", Outcome.TRUNCATED),
        ("FINAL ANSWER: dad\nThis is because", "length", Outcome.INCORRECT),
        ("FINAL ANSWER: workbench\nThis is", "length", Outcome.CORRECT),
        ("  \n", "stop", Outcome.REFUSED),
        ("FINAL ANSWER: workbench", "content_filter", Outcome.REFUSED),
    ],
)
def test_no_answer_has_its_own_outcomes(
    text: str, finish: FinishReason, expected: Outcome
) -> None:
    assert outcome(text, finish) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FINAL ANSWER:** workbench", Outcome.INCORRECT),
        ("FINAL ANSWER:\nworkbench", Outcome.INCORRECT),
        ('Answer : :"Workbench"', Outcome.CORRECT),
        ("FINAL ANSWER: workbenches", Outcome.CORRECT),
        ("My answer workbench? No.", Outcome.CORRECT),
        (PAPER, Outcome.CORRECT),
        ("", Outcome.REFUSED),
    ],
)
def test_the_authors_rule_errs_both_ways(text: str, expected: Outcome) -> None:
    assert reference(text) is expected


def test_the_authors_rule_has_truncated_answers_too() -> None:
    assert reference("Step 1", "length") is Outcome.TRUNCATED


@given(before=st.text())
def test_the_last_marker_decides_whatever_stands_before(before: str) -> None:
    assert outcome(f"{before}\nFINAL ANSWER: workbench") is Outcome.CORRECT
    assert outcome(f"{before}\nFINAL ANSWER: dad") is Outcome.INCORRECT
    assert outcome(before) in Outcome
