"""Files of answers: whatever is missing, surplus or broken is named and counted."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codestress.errors import DataError
from codestress.problems.problem_files import ProblemFile, read_problems
from codestress.problems.program import Problem
from codestress.scoring.answer_files import pass_at_k, read_answers, score_file
from codestress.types import Outcome

ROW = {"code": "def f(x):\n    return x + 1", "input": "1", "output": "2", "id": "a"}


def rows(*changes: dict[str, object]) -> str:
    return "\n".join(json.dumps({**ROW, **change}) for change in changes)


@pytest.fixture
def problems(tmp_path: Path) -> ProblemFile:
    path = tmp_path / "problems.jsonl"
    path.write_text(rows({}, {"id": "b"}, {"id": "broken", "code": "def f(x:"}, {"id": "c"}))
    return read_problems(path)


def test_rows_that_are_no_problems_are_named(tmp_path: Path, problems: ProblemFile) -> None:
    assert [problem.id for problem in problems.problems] == ["a", "b", "c"]
    assert list(problems.faults) == ["broken"]
    assert "line 3" in problems.faults["broken"]
    assert "not Python" in problems.faults["broken"]
    path = tmp_path / "more.jsonl"
    path.write_text(rows({}, {"id": "o", "output": "f(1)"}, {"id": "n", "input": 3}) + '\n[1]\n{"id"\n\n')
    faults = read_problems(path).faults
    assert list(faults) == ["o", "n", "line 4", "line 5"]
    assert "output = 'f(1)' is not a literal" in faults["o"]
    assert "input is 3, not a text" in faults["n"]


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.raises(DataError, match=r"x.jsonl: cannot be read"):
        read_problems(path)
    path.write_text("")
    with pytest.raises(DataError, match="no problem in it"):
        read_problems(path)
    path.write_text(rows({}, {}))
    with pytest.raises(DataError, match="line 2: a second row with the id 'a'"):
        read_problems(path)
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(b"not gzip")
    with pytest.raises(DataError, match="cannot be read"):
        read_answers(packed)
    for content, message in (("{", "is not JSON"), ("[1]", "is a JSON list"), ('{"a": "1"}', "a: is not a list")):
        packed.write_bytes(gzip.compress(content.encode()))
        with pytest.raises(DataError, match=message):
            read_answers(packed)


def test_calls_of_named_functions(tmp_path: Path) -> None:
    path = tmp_path / "lcb.jsonl"
    code = "class Solution: ...\ndef minimumCost(s: str) -> int:\n    return len(s)"
    named = {"function_name": "minimumCost", "code": code, "output": "4"}
    path.write_text(rows({**named, "input": "minimumCost(s = '0011')"}, {**named, "id": "b", "input": "other(1)"}))
    found = read_problems(path)
    (problem,) = found.problems
    assert (problem.function, problem.arguments) == ("minimumCost", "s = '0011'")
    assert problem.call == "minimumCost(s = '0011')"
    assert "is not a call of minimumCost" in found.faults["b"]


def test_everything_asked_is_counted_and_everything_odd_is_named(problems: ProblemFile) -> None:
    answers = {"a": ["2", "3", None], "b": ["2"], "broken": ["2", "2", "2"], "stranger": ["2"]}
    report = score_file(problems, answers, task="output", rule="strict", executor=None)
    assert {name: [score.outcome for score in scores] for name, scores in report.scores.items()} == {
        "a": [Outcome.CORRECT, Outcome.INCORRECT, Outcome.MISSING],
        "b": [Outcome.CORRECT],
        "c": [Outcome.MISSING] * 3,
        "broken": [Outcome.HARNESS_ERROR] * 3,
    }
    assert sum(report.counts.values()) == 10
    told = "\n".join(report.warnings)
    for part in (
        "not Python",
        "no answers to: c (1 in all)",
        "stranger",
        "fewer than 3 answers, judged by those: b (1 in all)",
    ):
        assert part in told
    assert report.pass_at(1) == pytest.approx((1 / 3 + 1) / 4)  # c, without answers, and the broken row count
    assert report.pass_at(3) == pytest.approx(1 / 3)  # b has no three
    assert math.isnan(report.pass_at(5))
    short = score_file(problems, answers, task="output", rule="strict", executor=None, samples=1)
    assert sum(short.counts.values()) == 4
    assert "more than 1 answers, not scored: a, broken" in "\n".join(short.warnings)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=7), min_size=1, max_size=4))
def test_a_shorter_row_is_judged_by_the_answers_that_it_has(rows: list[list[bool]]) -> None:
    names = [f"p{number}" for number in range(len(rows))]
    known = ProblemFile([Problem(name, "", "f", "", "1") for name in names], {})
    answers = {name: ["1" if right else "2" for right in row] for name, row in zip(names, rows, strict=True)}
    report = score_file(known, answers, task="output", rule="strict", executor=None)
    assert report.pass_at(1) == pytest.approx(sum(sum(row) / len(row) for row in rows) / len(rows))
    longest = max(map(len, rows))
    told = "\n".join(report.warnings)
    for name, row in zip(names, rows, strict=True):
        assert (name in told) == (len(row) < longest)
    assert report.pass_at(longest) == pytest.approx(
        sum(any(row) for row in rows if len(row) == longest) / sum(len(row) == longest for row in rows)
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(rows({}, {"id": "\xe9", "output": "float('inf')"}), encoding=encoding)
    assert [problem.id for problem in read_problems(path).problems] == ["a", "\xe9"]
    path.write_text('{"a": ["2"]}', encoding=encoding)
    assert read_answers(path) == {"a": ["2"]}


@pytest.mark.parametrize(("n", "right", "k"), [(10, 3, 1), (10, 3, 5), (10, 0, 5), (10, 8, 5), (5, 2, 5)])
def test_pass_at_k_is_the_share_of_subsets_with_a_right_answer(n: int, right: int, k: int) -> None:
    subsets = list(combinations([1] * right + [0] * (n - right), k))
    assert pass_at_k(n, right, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@pytest.mark.isolation
def test_the_command(tmp_path: Path, problems: ProblemFile) -> None:
    assert problems
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"a": ["f(1)"], "b": ["f(2)"], "c": ["f(0 + 1)"]}))
    script = str(Path(sys.executable).with_name("codestress"))
    command = [script, "score", "--task", "input", "--answers", str(answers)]
    command += ["--problems", str(tmp_path / "problems.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pass@1 50.0000%" in done.stdout
    assert "programs ran isolated: " in done.stdout
    assert "warning: " in done.stderr
    assert "not Python" in done.stderr
    report = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True).stdout)
    assert report["pass@5"] is None
    assert report["counts"]["right"] == 2
    assert report["problems"]["c"] == [{"right": True, "reason": "right", "detail": "", "unresolved": True}]
    answers.write_text(json.dumps({"a": ["2 # f("], "b": ["f(1)"], "c": ["f(2)"]}))
    compared = json.loads(subprocess.run([*command, "--json", "--compare"], capture_output=True, text=True).stdout)
    (difference,) = compared["differences"]
    assert (difference["problem"], difference["reason"], difference["other"]) == ("a", "wrong", "right")
    gone = subprocess.run([*command[:-1], str(tmp_path / "gone.jsonl")], capture_output=True, text=True)
    assert gone.returncode == 1
    assert "gone.jsonl: cannot be read" in gone.stderr
