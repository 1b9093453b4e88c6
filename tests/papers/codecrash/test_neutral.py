"""NCC: where MCC lies it puts comments as long, which say nothing; what they cost is taken from what lies cost."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from made_answers import answers_to

from codestress.mutate.perturbations.edits import Site
from codestress.mutate.perturbations.kinds import NEUTRAL, PAPERS
from codestress.mutate.perturbations.messages import (
    Trace,
    Truth,
    insert_messages,
    messages,
)
from codestress.mutate.perturbations.neutral import (
    HEADS,
    KEYWORDS,
    TAILS,
    is_neutral,
    neutral_text,
)
from codestress.mutate.perturbations.programs import program_of, vanilla
from codestress.mutate.perturbations.variants import make_variants
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.results.differences import averages, differences
from codestress.papers.codecrash.results.leaderboard import HEADLINE
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Language
from conftest import some
from mutate.perturbing import LANGUAGES, draw, usable

GRAMMAR = "an are as by for here in is of so the these this to way with without"
"""Words of the neutral sentences that any English sentence may have."""


def words_of(*texts: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w+", " ".join(texts))}


def places(sites: Iterable[Site]) -> list[tuple[int, str, int]]:
    return [(site.line, site.kind, len(site.text)) for site in sites]


@given(st.integers(1, 400), st.integers(0, 1000), st.text(max_size=40))
def test_a_text_has_exactly_its_length_and_no_word_of_the_program(
    length: int, seed: int, program: str
) -> None:
    text = neutral_text(length, draw(seed), program)
    assert len(text) == length
    assert is_neutral(text)
    assert text == neutral_text(length, draw(seed), program)
    assert not (words_of(program) - {*KEYWORDS["javascript"]}) & words_of(text)


def test_sentences_are_drawn_and_say_nothing_of_programs() -> None:
    for length in some(range(40, 120), 4):
        assert len({neutral_text(length, draw(seed), "") for seed in range(8)}) > 1
    said = [text for texts in messages().values() for _, text in texts]
    assert words_of(*HEADS, *TAILS) & words_of(*said) <= words_of(GRAMMAR)
    assert not any(map(is_neutral, said))
    # where all words are names of the program, nothing is said at all
    assert neutral_text(50, draw(1), " ".join([*HEADS, *TAILS])) == "." * 50


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("truth", "density"), [("any", 0.6), ("false", 1.0)])
def test_comments_stand_where_mcc_has_them_and_are_as_long(
    language: Language, truth: Truth, density: float
) -> None:
    for seed, raw in enumerate(some(contest_problems(language), 4)):
        problem = vanilla(raw)
        how = {"density": density, "trace": Trace(), "truth": truth}
        lies = insert_messages(problem, draw(seed), style="comment", **how)
        neutral = insert_messages(problem, draw(seed), style="neutral", **how)
        assert places(neutral.sites) == places(lies.sites)
        sign = program_of(problem).comment.format("")
        lines = lies.problem.code.split("\n"), neutral.problem.code.split("\n")
        for lie, said in zip(*lines, strict=True):
            assert len(lie) == len(said)
            code, _, text = said.rpartition(sign)
            assert lie == said or lie.startswith(code + sign)
            assert lie == said or is_neutral(text)
        names = words_of(problem.code, problem.call) - {*KEYWORDS["javascript"]}
        assert not names & words_of(*(site.text for site in neutral.sites))
        assert all(site.truth for site in neutral.sites)


def test_it_has_the_draws_of_mcc_and_is_run_as_mcc_is(executor: Executor) -> None:
    checked = usable([*generated_problems(8), *contest_problems()[:8]], executor)
    how = {"executor": executor, "seed": 3, "truth": "false"}
    lies = make_variants(checked, "MCC", **how)
    neutral = make_variants(checked, NEUTRAL, **how)
    assert neutral == make_variants(checked[::-1], NEUTRAL, **how)
    for name, lie in lies.items():
        said = neutral[name]
        assert (said.status, places(said.sites)) == (lie.status, places(lie.sites))
    code = "import inspect\ndef f(x):\n    return len(inspect.stack())"
    asks = usable([Problem("p", code, "f", "1", "")], executor)
    assert make_variants(asks, NEUTRAL, **how)["p"].status == "refused"


def test_it_stands_in_no_average_of_the_papers() -> None:
    assert NEUTRAL not in (*PAPERS, *HEADLINE)
    papers = [answers_to("VAN", [1.0] * 8), answers_to("MCC", [1.0, 0.0] * 4)]
    points = []
    for answers in (papers, [*papers, answers_to(NEUTRAL, [0.0] * 8)]):
        table = differences(pd.concat(answers), rule="strict", confidence=0.95)
        points.append(averages(table).set_index("perturbation").loc["MCC", "points"])
    assert points[0] == points[1]
