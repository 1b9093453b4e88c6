"""Input and output answers: gold right, corrupted wrong, exploits never; the published scores to the digit."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from codestress.literals import same_value
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor, Limits
from codestress.scoring.input_answers import Arguments, NotArguments, parse_arguments
from codestress.scoring.predictions import (
    Answer,
    Rule,
    score_answers,
    score_interpreted,
)
from codestress.types import Outcome, Score, Task
from conftest import SCRIPT, some
from scoring.selftest import EXPLOITED, another, selftest, selftest_programs
from test_literals import VALUES

DOUBLE = EXPLOITED[0]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=2, limits=Limits(cpu_s=5, wall_s=60)) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty() -> Iterator[Executor]:
    """For attacks on each of many problems, some of which use up their time."""
    with Executor(workers=2, limits=Limits(cpu_s=1, wall_s=60)) as opened:
        yield opened


def score(
    text: str,
    problem: Problem,
    task: Task,
    executor: Executor | None,
    rule: Rule = "strict",
) -> Score:
    return score_answers([Answer(problem, text)], task, rule, executor)[0]


def unpacked(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


@given(VALUES)
def test_any_value_scores_as_itself_and_not_as_another(value: object) -> None:
    problem = Problem("p", "", "f", "", repr(value))
    assert score(repr(value), problem, "output", None).outcome is Outcome.CORRECT
    other = another(value)
    assert not same_value(value, other)
    assert score(repr(other), problem, "output", None).outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("answer", "output", "reason", "unresolved"),
    [
        ("1", "True", Outcome.INCORRECT, False),
        ("1.0", "1", Outcome.INCORRECT, False),
        ("[38]", "[38]", Outcome.CORRECT, False),
        ("[81 - 43]", "[38]", Outcome.CORRECT, True),
        ("[81 - 42]", "[38]", Outcome.INCORRECT, True),
        ("(1, 2)", "[1, 2]", Outcome.INCORRECT, False),
        ("{'b': 1, 'a': 2}", "{'a': 2, 'b': 1}", Outcome.CORRECT, False),
        ("f(3)", "6", Outcome.UNPARSABLE, False),
        ("", "''", Outcome.UNPARSABLE, False),
    ],
)
def test_output_answers(
    answer: str, output: str, reason: Outcome, unresolved: bool
) -> None:
    found = score(answer, Problem("p", "", "f", "", output), "output", None)
    assert (found.outcome, found.unresolved) == (reason, unresolved)


CODE = (
    "LIMIT = [2, 3]\n\ndef f(a, b=1, *, key=None):\n    return sorted(a, key=key)[:b]"
)
WHENCE = Problem("w", CODE, "f", "", "[1]")


READ = {
    Outcome.CORRECT: [
        "f([2, 1])",
        " f( [2, 1],\n  b = 1 ) # as sorted",
        "[2, 1]",
        "[2, 1], 1",
        "a=[2, 1], b=1",
        "f([3 - 2])",
        "f([x for x in range(1, 5)])",
        "f('21'.replace('2', '') and [1], key=lambda x: -x)",
        "f([1] + LIMIT)",
        "f(list(map(int, '321')), key=lambda x: x)",
        "f([2, 1]) == [1]",
        "assert f([2, 1]) == [1]",
        "assert f(a=[2, 1]) == [3 - 2]",
        "[1] == f([2, 1])",
        "list((1,)) == f([2, 1])",
    ],
    Outcome.UNPARSABLE: [
        "f((lambda y: y)(y=[3, 2, 1]), key=lambda x: x)",
        "f([1], b=1, b=1)",
        "f",
        "g([1])",
        "f(*[[2, 1]])",
        "f(**dict(a=[2, 1], b=1))",
        "f([2, 1]) == [2]",
        "f([2, 1]) == f([1])",
        "list((2,)) == f([2, 1])",
        "f(*{1})",
        "f(*[[1]], key=lambda x: x)",
        "f(a=[1], **{'a': [1]})",
        "f(**{1: [1]})",
        "f(*range(10 ** 9))",
    ],
    Outcome.INCORRECT: ["f([True])", "f([2, 1], 2)", "f([True]) == [1]"],
    Outcome.RAISED: ["f(3)", "f([1], c=3)"],
}


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("answer", "reason"),
    [(text, reason) for reason, texts in READ.items() for text in texts],
)
def test_input_answers(executor: Executor, answer: str, reason: Outcome) -> None:
    found = score(answer, WHENCE, "input", executor)
    assert found.outcome is reason, found


@given(
    st.lists(VALUES, max_size=3),
    st.dictionaries(st.sampled_from("abc"), VALUES, max_size=2),
)
def test_calls_are_taken_apart_exactly(
    positional: list[object], keywords: dict[str, object]
) -> None:
    named = [f"{name}={value!r}" for name, value in keywords.items()]
    inside = ", ".join([*map(repr, positional), *named])
    for text in (f"f({inside})", inside) if inside else ("f()",):
        found = parse_arguments(text, DOUBLE)
        assert isinstance(found, Arguments)
        assert same_value(list(found.positional), positional)
        assert same_value(found.keywords, keywords)


@given(st.text("f()[]{}'#,*=:+x1 \n\\.lambdifor_", max_size=30))
def test_any_text_is_arguments_or_an_error(text: str) -> None:
    try:
        found = parse_arguments(text, DOUBLE)
    except NotArguments:
        return
    assert isinstance(found, Arguments | str)


@pytest.mark.slow
@pytest.mark.isolation
def test_the_self_test_passes_under_strict_and_shows_what_reference_lets_through(
    hasty: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.selftest.EXPLOITED", some(EXPLOITED, 2))
    rows = list(selftest(some(generated_problems(60), 12), hasty))
    assert [row for row in rows if not row.ok] == []
    for row in rows:
        if row.rule == "strict":
            assert row.right == (row.asked if row.kind == "gold" else 0)
    reference = {}
    for row in rows:
        if row.rule == "reference" and row.kind == "exploits":
            reference[row.task] = set(row.passed)
    common = {"chained comparison"}
    outputs = common | {"or True", "equal to everything", "mock"}
    assert outputs <= reference["output"]
    inputs = common | {"the output, commented", "short circuit"}
    assert inputs <= reference["input"]
    assert all(row.asked > 100 for row in rows if row.kind == "exploits")


@pytest.mark.slow
@pytest.mark.isolation
def test_the_self_test_of_programs(hasty: Executor) -> None:
    gold, corrupted, *attacks = selftest_programs(generated_problems(60), hasty)
    assert (gold.right, gold.asked, corrupted.right, corrupted.asked) == (60, 60, 0, 60)
    for row in attacks:
        assert (row.right, row.passed) == (0, ())
        assert row.asked > 80


@pytest.mark.slow
@pytest.mark.isolation
def test_gold_of_the_real_problems(shared_data: Path, executor: Executor) -> None:
    problems = read_problems(shared_data / "cruxeval/cruxeval.jsonl").problems
    assert len(problems) == 800
    rows = [row for row in selftest(problems, executor) if row.kind != "exploits"]
    assert len(rows) == 8
    for row in rows:
        assert row.right == (800 if row.kind == "gold" else 0), row


INPUTS = {"right": 2876, "wrong": 4483, "did not end": 478}
PUBLISHED = {
    ("output", "strict"): {"right": 2737, "wrong": 5093, "unparsable": 170},
    ("output", "reference"): {"right": 2737, "wrong": 5098, "syntax error": 165},
    ("input", "strict"): INPUTS | {"unparsable": 163},
    ("input", "reference"): INPUTS | {"syntax error": 163},
}
"""Code Llama's 16,000 answers by what became of them (docs/scoring.md); 478 raise, or run into a limit."""


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.parametrize("task", ["input", "output"])
def test_published_scores_of_real_answers(shared_data: Path, task: Task) -> None:
    """Code Llama 7B on CRUXEval: no problem differs from the scores that its authors published, under either rule."""
    folder = shared_data / "cruxeval-samples"
    scored = unpacked(folder / f"sample_scored_codellama-7b_temp0.2_{task}.json.gz")
    answers = folder / f"sample_codellama-7b_temp0.2_{task}_generations.json.gz"
    command = [SCRIPT, "score", "--json", "--task", task, "--answers", str(answers)]
    command += ["--problems", str(shared_data / "cruxeval/cruxeval.jsonl")]
    for rule in ("reference", "strict"):
        done = subprocess.run(
            [*command, "--rule", rule], capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        counts = Counter[str]()
        for kind, count in report["counts"].items():
            ended = kind not in ("raised", "step limit", "timed out")
            counts[kind if ended else "did not end"] += count
        assert +counts == PUBLISHED[task, rule]
        assert report["pass@1"] == pytest.approx(scored["pass_at_1"] / 100)
        assert report["pass@5"] == pytest.approx(scored["pass_at_5"] / 100)
        verdicts = {}
        for name, found in report["problems"].items():
            verdicts[name] = [answer["right"] for answer in found]
        assert verdicts == scored["raw_scored_generations"]
    share = {"input": 0.3595, "output": 0.342125}[task]
    assert report["pass@1"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("returned 6", Outcome.CORRECT),
        ("returned 6.0", Outcome.INCORRECT),
        ("returned <object object at 0x7f>", Outcome.INCORRECT),
        ("raised KeyError: 'a'", Outcome.RAISED),
        ("syntax error invalid syntax", Outcome.SYNTAX_ERROR),
        ("step limit more than 100,000 steps", Outcome.STEP_LIMIT),
        ("CPU time", Outcome.TIMEOUT),
        ("not data generator", Outcome.INCORRECT),
        ("6", Outcome.UNPARSABLE),
    ],
)
def test_what_the_interpreter_says(text: str, reason: Outcome) -> None:
    assert score_interpreted(DOUBLE, text).outcome is reason


@pytest.mark.slow
@pytest.mark.isolation
def test_verdicts_are_the_same_on_a_loaded_machine(
    shared_data: Path, executor: Executor
) -> None:
    """Steps decide, not time: three busy processes beside the workers change nothing."""
    problems = read_problems(shared_data / "cruxeval/cruxeval.jsonl").problems
    name = "sample_codellama-7b_temp0.2_input_generations.json.gz"
    rows = unpacked(shared_data / "cruxeval-samples" / name)
    answers = [Answer(problem, rows[problem.id][0]) for problem in problems]
    quiet = score_answers(answers, "input", "strict", executor)
    endless = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(endless) for _ in range(3)]
    try:
        loaded = score_answers(answers, "input", "strict", executor)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert [s.outcome for s in loaded] == [s.outcome for s in quiet]
