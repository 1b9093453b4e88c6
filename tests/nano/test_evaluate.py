"""Judging in bench/nano/evaluate.py: right answers of all tasks count, others do not, whatever they say beside it."""

from __future__ import annotations

from itertools import product
from operator import ne
from typing import get_args

import pytest

from chats import Size, Task, chat
from evaluate import right


@pytest.mark.parametrize("task", get_args(Task))
def test_gold_counts_and_another_s_gold_does_not(task: Task) -> None:
    chats = [chat(task, Size(12, 1), "evaluate", 1, number) for number in range(20)]
    answers = [one.turns[0].answer for one in chats]
    assert all(right(task, answer, answer) for answer in answers)
    pairs = product(answers, answers)
    others = [pair for pair in pairs if ne(*(one.split("\n")[-3:] for one in pair))]
    assert others
    wrong = [right(task, one, other) for one, other in others]
    # Some outputs are common.
    assert sum(wrong) <= len(wrong) * (0.05 if task == "output_prediction" else 0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (" [\n# 1+1, 1+1=2\n2,\n]\n```", True),
        ("[2]", True),
        (" ([2])\n```", True),
        (" [2.0]\n```", False),
        (" [True + 1]\n```", False),
        (" [2] or 3\n```", False),
        (" [3]  # [2]\n```", False),
        (" f(1)\n```", False),
        (" [2]\n```\nand [3]", False),
        ("", False),
        ("[" * 5000, False),
    ],
)
def test_values_are_read_and_never_run(said: str, expected: bool) -> None:
    gold = " [\n# arr[0] = x + 1: 1+1, 1+1=2\n2,\n]\n```"
    assert right("semtrace", said, gold) is expected


def test_an_origin_is_the_last_line_and_no_other() -> None:
    gold = 'To "c":\n"b" is connected to "c"\nTo "b":\n"a" is connected to "b"\nFINAL ANSWER: "a"'
    assert right("find_the_origin", 'FINAL ANSWER: "a"', gold)
    for said in (
        'FINAL ANSWER: "b"',
        'FINAL ANSWER: "a" or "b"',
        'FINAL ANSWER: "a"\nNo: FINAL ANSWER: "b"',
        "",
    ):
        assert not right("find_the_origin", said, gold)
