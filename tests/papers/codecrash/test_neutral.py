"""NCC: where MCC lies it puts comments as long, which say nothing; what they cost is taken from what lies cost."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import check_problems
from codestress.mutate.perturbations.messages import (
    Trace,
    Truth,
    insert_messages,
    messages,
)
from codestress.mutate.perturbations.neutral import (
    HEADS,
    RESERVED,
    TAILS,
    is_neutral,
    neutral_text,
)
from codestress.mutate.perturbations.programs import program_of, vanilla
from codestress.mutate.perturbations.variants import (
    NEUTRAL,
    PAPERS,
    Variant,
    make_variants,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.results.differences import averages, differences
from codestress.papers.codecrash.results.leaderboard import HEADLINE
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.seeding import rng
from conftest import some

WORDS = re.compile(r"\w+")
GRAMMAR = frozenset(
    [
        "an",
        "are",
        "as",
        "by",
        "for",
        "here",
        "in",
        "is",
        "of",
        "so",
        "the",
        "these",
        "this",
        "to",
        "way",
        "with",
        "without",
    ]
)
"""Words of the neutral sentences that any English sentence may have."""


def draw(*names: str | int) -> Draw:
    return Draw(rng(0, *names))


@given(st.integers(1, 400), st.integers(0, 1000), st.text(max_size=40))
def test_a_text_has_exactly_its_length_and_no_word_of_the_program(
    length: int, seed: int, program: str
) -> None:
    text = neutral_text(length, draw(seed), program)
    assert len(text) == length
    assert is_neutral(text)
    assert text == neutral_text(length, draw(seed), program)
    own = {word.casefold() for word in WORDS.findall(program)} - RESERVED
    assert not own & {word.casefold() for word in WORDS.findall(text)}


def test_sentences_are_drawn_and_say_nothing_of_programs() -> None:
    assert all(
        len({neutral_text(length, draw(seed), "") for seed in range(8)}) > 1
        for length in some(range(40, 120), 4)
    )
    said = {
        word.casefold()
        for texts in messages().values()
        for _, text in texts
        for word in WORDS.findall(text)
    }
    own = {word.casefold() for part in (*HEADS, *TAILS) for word in WORDS.findall(part)}
    assert own & said <= GRAMMAR
    assert not any(
        is_neutral(text) for texts in messages().values() for _, text in texts
    )
    # where all words are names of the program, nothing is said at all
    assert neutral_text(50, draw(1), " ".join([*HEADS, *TAILS])) == "." * 50


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["any", "false"])
@pytest.mark.parametrize("language", ["python", "javascript"])
@given(st.integers(0, 10_000), st.integers(0, 47), st.sampled_from([0.2, 0.6, 1.0]))
def test_comments_stand_where_mcc_has_them_and_are_as_long(
    language: str, truth: Truth, seed: int, number: int, density: float
) -> None:
    problem = vanilla(contest_problems(language)[number])  # type: ignore[arg-type]
    lies, neutral = (
        insert_messages(
            problem,
            draw(seed),
            style=style,
            density=density,
            trace=Trace(),
            truth=truth,
        )  # type: ignore[arg-type]
        for style in ("comment", "neutral")
    )
    assert [(one.line, one.kind, len(one.text)) for one in neutral.sites] == [
        (one.line, one.kind, len(one.text)) for one in lies.sites
    ]
    rows = lies.problem.code.split("\n"), neutral.problem.code.split("\n")
    assert [len(row) for row in rows[0]] == [len(row) for row in rows[1]]
    sign = program_of(problem).comment.format("")
    for lie, said in zip(*rows, strict=True):
        if lie != said:
            code, _, text = said.rpartition(sign)
            assert lie.startswith(code + sign)
            assert is_neutral(text)
    names = {
        word.casefold() for word in WORDS.findall(f"{problem.code} {problem.call}")
    } - RESERVED
    assert not names & {
        word.casefold() for one in neutral.sites for word in WORDS.findall(one.text)
    }
    assert all(one.truth for one in neutral.sites)


def test_it_has_the_draws_of_mcc_and_is_run_as_mcc_is() -> None:
    with Executor() as executor:
        checked, _ = check_problems(
            [*generated_problems(8), *contest_problems()[:8]], executor, 0
        )
        made: dict[str, dict[str, Variant]] = {}
        for name in ("MCC", NEUTRAL):
            made[name] = make_variants(checked, name, executor, seed=3, truth="false")
        assert made[NEUTRAL] == make_variants(
            checked[::-1], NEUTRAL, executor, seed=3, truth="false"
        )
        asks = Problem(
            "p",
            "import inspect\ndef f(x):\n    return len(inspect.stack())",
            "f",
            "1",
            "",
        )
        refused = make_variants(
            [replace(checked[0], problem=asks)], NEUTRAL, executor, seed=0
        )["p"]
    assert refused.status == "refused"
    for name, lies in made["MCC"].items():
        said = made[NEUTRAL][name]
        assert (said.status, len(said.problem.code)) == (
            lies.status,
            len(lies.problem.code),
        )
        assert [(one.line, len(one.text)) for one in said.sites] == [
            (one.line, len(one.text)) for one in lies.sites
        ]


def answers_of(scores: dict[str, list[float]]) -> pd.DataFrame:
    """Answers with these scores, one for each problem."""
    setting = {
        "model": "m",
        "dataset": "contest",
        "language": "python",
        "task": "output",
        "mode": "direct",
    }
    rows = [
        setting
        | {
            "ignore": False,
            "refactor": False,
            "perturbation": name,
            "density": float(name != "VAN"),
        }
        | {
            "problem": str(number),
            "question": str(number),
            "status": "applied",
            "value_strict": value,
        }
        | {"value_reference": value}
        for name, values in scores.items()
        for number, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_it_stands_in_no_average_of_the_papers() -> None:
    assert NEUTRAL not in (*PAPERS, *HEADLINE)
    scores = {"VAN": [1.0] * 8, "MCC": [1.0, 0.0] * 4, "NCC": [0.0] * 8}
    with_it, without = (
        differences(answers_of(chosen), rule="strict", confidence=0.95)
        for chosen in (scores, {name: scores[name] for name in ("VAN", "MCC")})
    )
    means = averages(with_it).set_index("perturbation")
    assert (
        means.loc["MCC", "points"]
        == averages(without).set_index("perturbation").loc["MCC", "points"]
    )
