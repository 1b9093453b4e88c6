"""Retrieval is exact; a trace may be partly right; inputs are run."""

import pytest

from codestress.papers.semtrace.recall import (
    partial_trace,
    score_input_completion,
    score_output_completion,
    score_retrieval,
)
from codestress.problems.program import Problem
from codestress.types import Outcome, Response

TRACE = Problem(
    "t", "def f(x):\n    return [x, x + 1, x - 43]", "f", "81", "[81, 82, 38]"
)
OUTPUT = "Sure! Here is the corresponding output:\n\n```python\nassert f(81) =="
INPUT = "Sure! Here is the corresponding input:\n\n```python\nassert [81, 82, 38] == f("
BLOCK = "Sure! Here is the line with key a1b2c3:\n\n```python"


def response(text: str, cut: bool = False) -> Response:
    return Response(text, "length" if cut else "stop")


def trace_scores(text: str, cut: bool = False) -> tuple[Outcome, float, float, float]:
    """Return the outcome, and the value of the whole, of its parts, and of its parts
    whatever its length."""
    whole = score_output_completion(TRACE, response(text, cut), OUTPUT)
    parts = partial_trace(TRACE, whole)
    any_length = partial_trace(TRACE, whole, any_length=True)
    assert whole.outcome == parts.outcome == any_length.outcome
    return whole.outcome, whole.value, parts.value, any_length.value


@pytest.mark.parametrize(
    ("text", "exact", "zero", "by_position"),
    [
        (" [81, 82, 38]", 1, 1, 1),
        (" [81, 82, 81 - 43]", 1, 1, 1),
        (" == [81, 82, 38];", 1, 1, 1),
        (" == [81, 80, 38]", 0, 2 / 3, 2 / 3),
        (" [81.0, 82, 38]", 0, 2 / 3, 2 / 3),
        (" [81, 82]", 0, 0, 2 / 3),
        (" [81, 82, 38, 5]", 0, 0, 3 / 4),
        (" [82, 38]", 0, 0, 0),
        (" []", 0, 0, 0),
        (" 81", 0, 0, 0),
    ],
)
def test_traces(text: str, exact: float, zero: float, by_position: float) -> None:
    outcome = Outcome.CORRECT if exact else Outcome.INCORRECT
    values = (exact, pytest.approx(zero), pytest.approx(by_position))
    assert trace_scores(f"{text}\n```") == (outcome, *values)
    whole = score_output_completion(TRACE, response(f"{text}\n```"), OUTPUT)
    assert whole.unresolved == ("-" in text)


@pytest.mark.parametrize(
    ("text", "cut", "outcome"),
    [
        (" == == [81, 82, 38]\n```", False, Outcome.UNPARSABLE),
        (" f(81)\n```", False, Outcome.UNPARSABLE),
        (" [81, 8", True, Outcome.TRUNCATED),
        (" [81, 80, 38]", True, Outcome.TRUNCATED),
        ("", False, Outcome.REFUSED),
    ],
)
def test_traces_without_a_value(text: str, cut: bool, outcome: Outcome) -> None:
    assert trace_scores(text, cut) == (outcome, 0, 0, 0)


def test_a_right_trace_that_is_cut_off_is_right() -> None:
    assert trace_scores(" [81, 82, 38]", cut=True) == (Outcome.CORRECT, 1, 1, 1)


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("text", "cut", "outcome"),
    [
        ("80 + 1)\n```", False, Outcome.CORRECT),
        ("82)\n```", False, Outcome.INCORRECT),
        ("'81')\n```", False, Outcome.RAISED),
        ("81", True, Outcome.TRUNCATED),
        ("__import__('os').getpid())\n```", False, Outcome.UNPARSABLE),
        ("(lambda g: g)(81)\n```", False, Outcome.UNPARSABLE),
        ("", False, Outcome.REFUSED),
    ],
)
def test_inputs(text: str, cut: bool, outcome: Outcome) -> None:
    score = score_input_completion(TRACE, response(text, cut), INPUT)
    assert score.outcome is outcome


LINES = ["def f(x):", "    y = 1", "", "    return x"]
PLAIN = "\n".join(LINES)
KEYED = "\n".join(f"a0000{number} {line}" for number, line in enumerate(LINES))


def retrieval(text: str, lines: list[str] = LINES, cut: bool = False) -> Outcome:
    keyed = [f"a0000{number} {line}" for number, line in enumerate(lines)]
    return score_retrieval(lines, keyed, response(text, cut), BLOCK).outcome


@pytest.mark.parametrize(
    "text",
    [
        f"\n{KEYED}\n```",
        f"{PLAIN}\n```\nThat is it.",
        f"```python\n{PLAIN}\n```",
        f"\n{PLAIN}\n```".replace("\n", "\r\n"),
    ],
)
def test_the_lines_are_right_with_keys_or_without(text: str) -> None:
    assert retrieval(text) is Outcome.CORRECT
    carriage_returns = [f"{line}\r" for line in LINES]
    assert retrieval(text, carriage_returns) is Outcome.CORRECT


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("    y", "  y"),
        PLAIN.replace("\n\n", "\n"),
        PLAIN + " ",
        KEYED[7:],
        PLAIN[:-1],
    ],
)
def test_retrieval_is_exact_to_the_character(text: str) -> None:
    assert retrieval(f"\n{text}\n```") is Outcome.INCORRECT


def test_a_block_that_does_not_end_is_no_answer() -> None:
    assert retrieval(PLAIN, cut=True) is Outcome.TRUNCATED
    assert retrieval(PLAIN) is Outcome.UNPARSABLE
