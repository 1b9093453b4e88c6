"""Completions are read as the prompts begin them; retrieval is exact; a trace may be partly right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codestress.papers.semtrace.completions import Incomplete, completed_arguments, completed_block, completed_output
from codestress.papers.semtrace.recall import (
    score_input_completion,
    score_output_completion,
    score_partial_trace,
    score_retrieval,
)
from codestress.problems.program import Problem
from codestress.types import Reason, Response
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
        with pytest.raises(Incomplete):
            completed_arguments(text)
    with pytest.raises(Incomplete):
        completed_block("\nline")


def test_outputs_and_blocks() -> None:
    assert completed_output(" [1, 2]\n```") == "[1, 2]"
    assert completed_output("Sure!\n```python\nassert f(3) == {'a': 1}\n```\nDone.") == "{'a': 1}"
    assert completed_block("\n    return x\n```") == "    return x"
    assert completed_block("```python\nabc\n```") == "abc"
    assert completed_block("\nabc```") == "abc"


@pytest.mark.parametrize(
    ("text", "cut", "exact", "partial", "reason"),
    [
        (" [81, 82, 38]\n```", False, 1, 1, Reason.RIGHT),
        (" [81, 82, 81 - 43]\n```", False, 1, 1, Reason.RIGHT),
        (" [81, 80, 38]\n```", False, 0, 2 / 3, Reason.WRONG),
        (" [81, 82]\n```", False, 0, 0, Reason.WRONG),
        (" [81.0, 82, 38]\n```", False, 0, 2 / 3, Reason.WRONG),
        (" 81\n```", False, 0, 0, Reason.WRONG),
        (" [81, 8", True, 0, 0, Reason.TRUNCATED),
        (" f(81)\n```", False, 0, 0, Reason.UNPARSABLE),
        ("", False, 0, 0, Reason.REFUSED),
    ],
)
def test_traces(text: str, cut: bool, exact: float, partial: float, reason: Reason) -> None:
    whole, part = score_output_completion(TRACE, said(text, cut)), score_partial_trace(TRACE, said(text, cut))
    assert (whole.value, whole.reason) == (exact, reason)
    assert (part.value, part.reason) == (pytest.approx(partial), reason)
    assert whole.unresolved == part.unresolved == ("-" in text and "43" in text)


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("text", "cut", "reason"),
    [
        ("81)\n```", False, Reason.RIGHT),
        ("80 + 1)\n```", False, Reason.RIGHT),
        ("82)\n```", False, Reason.WRONG),
        ("'81')\n```", False, Reason.RAISED),
        ("81", True, Reason.TRUNCATED),
        ("__import__('os').getpid())\n```", False, Reason.UNPARSABLE),
        ("(lambda g: g)(81)\n```", False, Reason.UNPARSABLE),
        ("", False, Reason.REFUSED),
    ],
)
def test_inputs(text: str, cut: bool, reason: Reason) -> None:
    assert score_input_completion(TRACE, said(text, cut)).reason is reason


def test_retrieval_is_exact_to_the_character() -> None:
    lines, keys = ["def f(x):", "    y = 1", "", "    return x"], ["a00001", "a00002", "a00003", "a00004"]
    plain = "\n".join(lines)
    keyed = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    for text in (f"\n{plain}\n```", f"\n{keyed}\n```", f"{plain}\n```\nThat is it.", f"```python\n{plain}\n```"):
        assert score_retrieval(lines, keys, said(text)).reason is Reason.RIGHT
    for text in (plain.replace("    y", "  y"), plain.replace("\n\n", "\n"), plain + " ", keyed[7:], plain[:-1]):
        assert score_retrieval(lines, keys, said(f"\n{text}\n```")).reason is Reason.WRONG
    assert score_retrieval(lines, keys, said(plain, cut=True)).reason is Reason.TRUNCATED
    assert score_retrieval(lines, keys, said(plain)).reason is Reason.UNPARSABLE
