"""What `nano` learns from: right answers, seeds that give the same bytes, and nothing of what it is evaluated on."""

from __future__ import annotations

import re
from itertools import compress
from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st

from chats import Size, Task, chat, split_of, words_of
from chats_semtrace import functions_of, worked
from codestress.literals import parse_literal, same_value
from codestress.nano.configuration import WEIGHTS
from codestress.nano.model import Nano
from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.scoring import score_strict
from codestress.papers.semtrace.recall import score_retrieval
from codestress.sandbox.executor import Executor, Limits, Outcome as Ending, Program
from codestress.types import Outcome, Response
from conftest import THOROUGH
from vocabulary import encode

SEEDS = st.integers(0, 2**40)
SIZES = st.builds(Size, lines=st.integers(2, 30), turns=st.integers(1, 6))
TASKS = get_args(Task)
LISTS: list[Task] = ["copy", "line_retrieval", "function_retrieval", "find_the_origin"]
CONNECTED = re.compile(r'"(\w+)" is connected to "(\w+)"')


@pytest.mark.slow
@given(st.sampled_from(TASKS), SIZES, SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_same_seed_gives_the_same_chat(task: Task, size: Size, number: int) -> None:
    one = chat(task, size, "train", 3, number)
    assert one == chat(task, size, "train", 3, number)
    assert 1 <= len(one.turns) <= size.turns
    assert all(turn.question and turn.answer for turn in one.turns)


@given(st.sampled_from(LISTS), SIZES, SEEDS)
@settings(deadline=None, max_examples=60 if THOROUGH else 20)
def test_training_never_shows_what_is_held_out(
    task: Task, size: Size, number: int
) -> None:
    for split in ("train", "evaluate"):
        question = chat(task, size, split, 3, number).turns[0].question
        keys = re.findall(r"(?m)^([0-9a-f]{6})(?: |$)", question)
        assert all(split_of(key) == split for key in keys)
        words = [word for pair in CONNECTED.findall(question) for word in pair]
        # "X" and "Y" are the template's.
        assert all(split_of(word) == split for word in words if len(word) > 1)
    assert not set(TARGET) & set(words_of("train"))


def test_splits_are_disjoint_and_whole() -> None:
    for of in (words_of, functions_of):
        train, held = set(of("train")), set(of("evaluate"))
        assert not train & held
        assert len(held) > 100
        assert 0.1 < len(held) / len(train | held) < 0.3


@given(SIZES, SEEDS)
@settings(deadline=None, max_examples=40)
def test_answers_are_right_by_the_studies_own_rules(size: Size, number: int) -> None:
    turn = chat("line_retrieval", size, "train", 5, number).turns[0]
    keyed = turn.answer.strip("\n`")
    response = Response(turn.answer, "stop")
    score = score_retrieval([keyed[7:]], [keyed], response, turn.begun)
    assert score.outcome is Outcome.CORRECT, turn
    for turn in chat("find_the_origin", size, "train", 5, number).turns:
        listed = dict(map(reversed, CONNECTED.findall(turn.answer)))
        asked = re.findall(r'origin of "(\w+)"', turn.question)[-1]
        response = Response(turn.answer, "stop")
        assert score_strict(response, listed[listed[asked]]).value == 1


@given(SEEDS, st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_semtrace_answers_are_what_the_function_returns(number: int, most: int) -> None:
    one = chat("semtrace", Size(most, 4), "train", 7, number)
    assigned = re.findall(r"arr\[(\d+)\] = x ([+-]) (\d+)", one.turns[0].question)
    assert 1 <= len(assigned) <= most
    for turn in one.turns:
        x = int(re.findall(r"assert f\((-?\d+)\) ==", turn.begun)[0])
        values = parse_literal(turn.answer.removesuffix("\n```")).value
        assert len(values) == len(assigned)
        for index, sign, added in assigned:
            assert values[int(index)] == x + int(sign + added)


def test_every_step_of_every_sum_is_right() -> None:
    for x in range(10, 100):
        for change in [f"{sign} {size}" for sign in "+-" for size in range(101)]:
            comment, element = worked(x, "arr[0]", change).split("\n")
            sums, *steps = comment.split(": ", 1)[1].split(", ")
            expected = x + int(change.replace(" ", ""))
            assert int(element.removesuffix(",")) == expected == _summed(sums)
            for step in steps:
                left, right = step.split("=")
                assert _summed(left) == int(right)


def _summed(text: str) -> int:
    """Of a sum like `12-5+1` or `-(5-3)`."""
    if text.startswith("-("):
        return -_summed(text[2:-1])
    return sum(int(term) for term in re.findall(r"[+-]?\d+", text))


@pytest.mark.slow
@pytest.mark.isolation
def test_programs_return_what_is_taught_perturbed_or_not() -> None:
    how = ("output_prediction", Size(turns=6), "train", 7)
    turns = [turn for number in range(12) for turn in chat(*how, number).turns]
    programs = []
    for turn in turns:
        code = turn.question.split("[FUNCTIONS]\n", 1)[1].split("\n[/FUNCTIONS]", 1)[0]
        call = turn.begun.split("assert ", 1)[1].removesuffix(" ==")
        code += f"\n\ndef __asked__():\n    return {call}"
        programs.append(Program(code, "__asked__", (), {}))
    with Executor(workers=1, limits=Limits(steps=100_000)) as executor:
        for turn, done in zip(turns, executor.run(programs), strict=True):
            expected = parse_literal(turn.answer.strip().removesuffix("\n```")).value
            assert done.outcome is Ending.RETURNED
            assert same_value(done.value, expected), turn.question
    assert any("#" in turn.question or "Var_" in turn.question for turn in turns)


@pytest.mark.parametrize("task", TASKS)
def test_tokens_give_the_text_back_and_what_is_learnt_is_the_answer(task: Task) -> None:
    tokenizer = Nano(WEIGHTS).tokenizer
    one = chat(task, Size(12, 3), "evaluate", 0, 0)
    tokens, learnt = encode(tokenizer, one)
    said = tokenizer.decode(tokens, skip_special_tokens=False)
    for turn in one.turns:
        answer = f"<|im_start|>assistant\n{turn.begun}{turn.answer}<|im_end|>"
        assert f"{turn.question}<|im_end|>\n{answer}" in said
    told = tokenizer.decode([*compress(tokens, learnt)])
    assert told == "".join(turn.answer for turn in one.turns)
