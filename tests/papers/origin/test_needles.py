"""The rules of section 6 agree with the author on every answer that the paper prints."""

from __future__ import annotations

import pandas as pd
import pytest
from pydantic import ValidationError

from codestress.inference.registry import load_registry
from codestress.papers.origin import results as origin_results
from codestress.papers.origin.needles import article, chapter, listing
from codestress.papers.origin.scoring import score_clue, score_inefficient_code, score_unlock
from codestress.papers.origin.studies import NeedleInHaystack, needle_in_haystack
from codestress.pipeline.artefacts import Overrides, resolve
from codestress.report.claims import ledger
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


HALF_A_SENTENCE = 250
"""Characters, of the chapter's longest."""


@pytest.mark.parametrize("characters", [861, 1478, 6000, 27306])
@pytest.mark.parametrize("variant", [0, 3])
def test_a_chapter_has_its_length_and_its_clue_its_depth_to_a_sentence(characters: int, variant: int) -> None:
    for depth in (0.017, 0.32, 0.54, 0.9):
        text = chapter(characters, depth, variant)
        assert len(text) == pytest.approx(characters, rel=0.03)
        assert text.index("Curious?") / len(text) == pytest.approx(depth, abs=HALF_A_SENTENCE / characters)
        assert text.count("\n\nCurious? Leader of the apes 3.\n\n") == 1
        assert text.endswith(" Ciphertext: brxzrqwkhsulch")
        assert "  " not in text
        assert "\n\n\n" not in text


def paper(name: str) -> NeedleInHaystack:
    (artefact,) = resolve([name], "paper", Overrides(), load_registry())
    assert isinstance(artefact.parameters, NeedleInHaystack)
    return artefact.parameters


def test_the_papers_three_cells_stand_in_a_grid_that_takes_length_and_depth_apart() -> None:
    given = paper("origin/sec62")
    trials = needle_in_haystack(given)
    cells = origin_results.realized(trials, given.test)
    assert len(cells) == 9
    assert len(trials.items) == 90
    published = origin_results.published_shares("origin/sec62", 0.95)
    own = cells[cells["paired"]]
    assert own[["characters", "depth"]].values.tolist() == published[["characters", "depth"]].values.tolist()
    assert (own["length"] / own["characters"]).tolist() == pytest.approx([1, 1, 1], abs=0.01)
    assert (own["planted_at"] - own["depth"]).abs().max() < 0.07
    alone = needle_in_haystack(given.model_copy(update={"grid": False}))
    assert alone.items == [trial for trial in trials.items if trial.factors["paired"]]
    with pytest.raises(ValidationError, match="each of characters needs its own depth"):
        NeedleInHaystack.model_validate(given.model_dump() | {"grid": False, "depth": [0.5]})


def test_of_6_1_and_6_3_the_paper_prints_no_rate() -> None:
    nothing = pd.DataFrame(columns=["model", "depth", "characters", "accuracy", "low", "high", "items", "n"])
    for name in ("origin/sec61", "origin/sec63"):
        published = origin_results.published_shares(name, 0.95)
        assert published.empty
        assert ledger(paper(name), {"published": published, "summary": nothing}).empty
        assert origin_results.published_outcomes(name).empty
        assert "one answer" in origin_results.single_answers(name)
    assert origin_results.single_answers("origin/sec62") == ""
    counted = origin_results.published_outcomes("origin/sec62")
    assert counted.groupby("characters")["count"].sum().tolist() == [10, 10, 10]
    assert counted.set_index(["characters", "outcome"])["count"].to_dict() == {
        (861, "solved"): 7,
        (861, "not told"): 3,
        (1478, "not attempted"): 10,
        (27306, "nothing noticed"): 6,
        (27306, "cipher noticed"): 4,
    }
    published = origin_results.published_shares("origin/sec62", 0.95)
    stated = ledger(paper("origin/sec62"), {"published": published, "summary": nothing})
    assert stated["published"].tolist() == [70, 0, 0]
    assert set(stated["verdict"]) == {"not run"}
