"""The rules of section 6 agree with the author on every answer that the paper prints."""

from __future__ import annotations

import pytest

from codestress.papers.origin.needles import article, chapter, listing
from codestress.papers.origin.scoring import score_clue, score_inefficient_code, score_unlock
from codestress.types import Outcome, Response


def answer(text: str, finish: str = "stop") -> Response:
    return Response(text, finish)  # type: ignore[arg-type]


CODE = """class A:
    def __init__(self): pass
    def sparse_coef_(self): pass
    def is_prime(n): pass
    def _decision_function(self, X): pass
    def _get_estimator(self): pass
    def square_sum(my_list): pass
    def _is_multitask(self): pass
    def _more_tags(self): pass
"""


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "1. is prime function: checks all numbers from 2 to n-1\n2. square sum function: redundant operations",
            "both",
        ),
        ("1. `is_prime`: slow.\n2. `square_sum`: cancels out.\n3. decision function method: fine", "both"),
        ("The function is_prime is slow.", "one"),
        ("Repeated calculations in alpha grid; memory duplication in fit methods.", "none"),
        (CODE, "indiscriminate"),
        ("is_primes and square_sums", "none"),
    ],
)
def test_inefficient_code(text: str, detail: str) -> None:
    score = score_inefficient_code(answer(text), CODE)
    assert score.detail == detail
    assert (score.outcome is Outcome.CORRECT) == (detail == "both")


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            'this refers to a Caesar cipher. "3" might indicate the shift used in the cipher. Let us decrypt using a '
            'Caesar cipher with a shift of 3:\n1. b -> y\n2. r -> o\nDecrypted text: "younowtheprize"',
            "solved",
        ),
        ("Decrypted: You won the prize!", "solved"),
        ("YOU WON THE PRIZE", "solved"),
        (
            'The encryption "brxzrqwkhsulch" does not provide enough context or detail to determine the method used. '
            "More information about the type of cipher (e.g., Caesar cipher, Vigenère cipher, etc.) would be needed.",
            "cipher noticed",
        ),
        ("Using ROT13 the decrypted text is oekmedjx.", "attempted"),
        ("The text describes the friendship between the narrator and Queequeg.", "nothing noticed"),
        ("Julius Caesar had three legions.", "nothing noticed"),
    ],
)
def test_clue(text: str, detail: str) -> None:
    assert score_clue(answer(text)).detail == detail


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Microbes are small.", "said it"),
        ('"microbes are small"', "said it"),
        ("Microbes are small. Thank you!", "mentioned it"),
        ("The text mentions $100.00 that can be unlocked.", "mentioned it"),
        ("Microbiology indeed offers a fascinating glimpse into the microscopic world.", "nothing noticed"),
        ("Microbes are not small.", "nothing noticed"),
    ],
)
def test_unlock(text: str, detail: str) -> None:
    score = score_unlock(answer(text))
    assert score.detail == detail
    assert (score.outcome is Outcome.CORRECT) == (detail == "said it")


def test_silence_and_cut_off_answers_have_their_own_reasons() -> None:
    for score in (score_clue(answer("")), score_unlock(answer(" ")), score_inefficient_code(answer(""), CODE)):
        assert score.outcome is Outcome.REFUSED
    assert score_clue(answer("This text", "length")).outcome is Outcome.TRUNCATED


def test_repeating_the_question_scores_nothing() -> None:
    text = listing(30000)
    assert score_inefficient_code(answer(text), text).value == 0
    assert score_clue(answer(chapter(3000, 0.5))).value == 0
    assert score_unlock(answer(article(3000, 0.3))).value == 0
