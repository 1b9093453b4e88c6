"""Completions are read as the prompts begin them; retrieval is exact; a trace may be partly right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codestress.papers.semtrace.recall import (
    completed_arguments,
    completed_block,
    completed_output,
    score_input_completion,
    score_output_completion,
    score_partial_trace,
    score_retrieval,
)
from codestress.problems.program import Problem
from codestress.types import Outcome, Response
from test_literals import VALUES

TRACE = Problem("t", "def f(x):\n    return [x, x + 1, x - 43]", "f", "81", "[81, 82, 38]")


def said(text: str, cut: bool = False) -> Response:
    return Response(text, "length" if cut else "stop")


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_arguments_end_where_their_parenthesis_closes(values: list[object]) -> None:
    written = ", ".join(map(repr, values))
    if "\n" in written:
        return
    for text in (f"{written})\n```", f"{written})\n```\nbecause (of) this.", f"{written}) # so\n"):
        assert completed_arguments(text) == written
    assert completed_arguments(f"```python\nassert 3 == f({written})\n```") == written


def test_completions_that_never_end_are_incomplete() -> None:
    for text in ("[1, 2", "'abc", "(1, 2", "1, 2", "1]", ""):
        assert completed_arguments(text) is None
    assert completed_block("\nline") is None


def test_outputs_and_blocks() -> None:
    assert completed_output(" [1, 2]\n```") == "[1, 2]"
    assert completed_output("Sure!\n```python\nassert f(3) == {'a': 1}\n```\nDone.") == "{'a': 1}"
    assert completed_block("\n    return x\n```") == "    return x"
    assert completed_block("```python\nabc\n```") == "abc"
    assert completed_block("\nabc```") == "abc"


@pytest.mark.parametrize(
    ("text", "cut", "exact", "partial", "reason"),
    [
        (" [81, 82, 38]\n```", False, 1, 1, Outcome.CORRECT),
        (" [81, 82, 81 - 43]\n```", False, 1, 1, Outcome.CORRECT),
        (" [81, 80, 38]\n```", False, 0, 2 / 3, Outcome.INCORRECT),
        (" [81, 82]\n```", False, 0, 0, Outcome.INCORRECT),
        (" [81.0, 82, 38]\n```", False, 0, 2 / 3, Outcome.INCORRECT),
        (" 81\n```", False, 0, 0, Outcome.INCORRECT),
        (" [81, 8", True, 0, 0, Outcome.TRUNCATED),
        (" f(81)\n```", False, 0, 0, Outcome.UNPARSABLE),
        ("", False, 0, 0, Outcome.REFUSED),
    ],
)
def test_traces(text: str, cut: bool, exact: float, partial: float, reason: Outcome) -> None:
    whole, part = score_output_completion(TRACE, said(text, cut)), score_partial_trace(TRACE, said(text, cut))
    assert (whole.value, whole.outcome) == (exact, reason)
    assert (part.value, part.outcome) == (pytest.approx(partial), reason)
    assert whole.unresolved == part.unresolved == ("-" in text and "43" in text)


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("text", "cut", "reason"),
    [
        ("81)\n```", False, Outcome.CORRECT),
        ("80 + 1)\n```", False, Outcome.CORRECT),
        ("82)\n```", False, Outcome.INCORRECT),
        ("'81')\n```", False, Outcome.RAISED),
        ("81", True, Outcome.TRUNCATED),
        ("__import__('os').getpid())\n```", False, Outcome.UNPARSABLE),
        ("(lambda g: g)(81)\n```", False, Outcome.UNPARSABLE),
        ("", False, Outcome.REFUSED),
    ],
)
def test_inputs(text: str, cut: bool, reason: Outcome) -> None:
    assert score_input_completion(TRACE, said(text, cut)).outcome is reason


def test_retrieval_is_exact_to_the_character() -> None:
    lines, keys = ["def f(x):", "    y = 1", "", "    return x"], ["a00001", "a00002", "a00003", "a00004"]
    plain = "\n".join(lines)
    keyed = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    for text in (f"\n{plain}\n```", f"\n{keyed}\n```", f"{plain}\n```\nThat is it.", f"```python\n{plain}\n```"):
        assert score_retrieval(lines, keys, said(text)).outcome is Outcome.CORRECT
    for text in (plain.replace("    y", "  y"), plain.replace("\n\n", "\n"), plain + " ", keyed[7:], plain[:-1]):
        assert score_retrieval(lines, keys, said(f"\n{text}\n```")).outcome is Outcome.INCORRECT
    assert score_retrieval(lines, keys, said(plain, cut=True)).outcome is Outcome.TRUNCATED
    assert score_retrieval(lines, keys, said(plain)).outcome is Outcome.UNPARSABLE
