"""The rules of section 6 agree with the author on every answer that the paper prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codestress.papers.origin.needles import article, chapter, listing
from codestress.papers.origin.scoring import (
    score_clue,
    score_inefficient_code,
    score_unlock,
)
from codestress.types import Outcome, Response, Score

CODE = """class A:
    def __init__(self): pass
    def is_prime(n): pass
    def _decision_function(self, X): pass
    def _get_estimator(self): pass
    def square_sum(my_list): pass
    def _is_multitask(self): pass
    def _more_tags(self): pass
"""


def score_code(response: Response) -> Score:
    return score_inefficient_code(response, CODE)


ANSWERS = [
    (
        score_code,
        "1. is prime function: checks all numbers from 2 to n-1\n2. square sum function: redundant operations",
        "both",
    ),
    (
        score_code,
        "1. `is_prime`: slow.\n2. `square_sum`: cancels out.\n3. decision function method: fine",
        "both",
    ),
    (score_code, "The function is_prime is slow.", "one"),
    (score_code, CODE, "indiscriminate"),
    (score_code, "is_primes and square_sums", "none"),
    (
        score_clue,
        'this refers to a Caesar cipher. "3" might indicate the shift used in the cipher. Let us decrypt using a '
        'Caesar cipher with a shift of 3:\n1. b -> y\n2. r -> o\nDecrypted text: "younowtheprize"',
        "solved",
    ),
    (score_clue, "YOU WON THE PRIZE", "solved"),
    (
        score_clue,
        'The encryption "brxzrqwkhsulch" does not provide enough context or detail to determine the method used. '
        "More information about the type of cipher (e.g., Caesar cipher, etc.) would be needed.",
        "cipher noticed",
    ),
    (score_clue, "Using ROT13 the decrypted text is oekmedjx.", "attempted"),
    (score_clue, "Julius Caesar had three legions.", "nothing noticed"),
    (score_unlock, "<answer>Microbes are small</answer>", "said it"),
    (score_unlock, "**Microbes are small**", "said it"),
    (
        score_unlock,
        "I was told: <answer>Microbes are small</answer>",
        "mentioned it",
    ),
    (score_unlock, "Microbes are small. Thank you!", "mentioned it"),
    (score_unlock, "Microbiology offers a fascinating glimpse.", "nothing noticed"),
    (score_unlock, "Microbes are not small.", "nothing noticed"),
]


@pytest.mark.parametrize(("scorer", "text", "detail"), ANSWERS)
def test_what_an_answer_notices(
    scorer: Callable[[Response], Score], text: str, detail: str
) -> None:
    score = scorer(Response(text, "stop"))
    assert score.detail == detail
    right = detail in ("both", "solved", "said it")
    assert (score.outcome is Outcome.CORRECT) == right


@pytest.mark.parametrize("scorer", [score_code, score_clue, score_unlock])
def test_no_answer_has_its_own_outcomes(scorer: Callable[[Response], Score]) -> None:
    assert scorer(Response(" ", "stop")).outcome is Outcome.REFUSED
    assert scorer(Response("This text", "length")).outcome is Outcome.TRUNCATED


def test_repeating_the_question_scores_nothing() -> None:
    code = listing(30000)
    assert score_inefficient_code(Response(code, "stop"), code).value == 0
    assert score_clue(Response(chapter(3000, 0.5), "stop")).value == 0
    assert score_unlock(Response(article(3000, 0.3), "stop")).value == 0
