"""Completions are read as the prompts begin them; retrieval is exact; a trace may be partly right."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from codestress.papers.semtrace.recall import (
    score_input_completion,
    score_output_completion,
    score_partial_trace,
    score_retrieval,
)
from codestress.problems.program import Problem
from codestress.scoring.begun import begun_arguments, begun_block, begun_value
from codestress.types import Outcome, Response
from test_literals import VALUES

TRACE = Problem(
    "t", "def f(x):\n    return [x, x + 1, x - 43]", "f", "81", "[81, 82, 38]"
)
OUTPUT = "Sure! Here is the corresponding output:\n\n```python\nassert f(81) =="
INPUT = "Sure! Here is the corresponding input:\n\n```python\nassert [81, 82, 38] == f("
BLOCK = "Sure! Here is the line with key a1b2c3:\n\n```python"


def said(text: str, cut: bool = False) -> Response:
    return Response(text, "length" if cut else "stop")


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_arguments_end_where_their_parenthesis_closes(values: list[object]) -> None:
    written = ", ".join(map(repr, values))
    if "\n" in written:
        return
    for text in (
        f"{written})\n```",
        f"{written})\n```\nbecause (of) this.",
        f"{written}) # so\n",
    ):
        assert begun_arguments(text, INPUT, "f") == written
        assert begun_arguments(f"{INPUT}{text}", INPUT, "f") == written
        assert begun_arguments(f"{INPUT}{text}", "", "f") == written


def test_completions_that_never_end_are_incomplete() -> None:
    for text in ("[1, 2", "'abc", "(1, 2", "1, 2", "1]", ""):
        assert begun_arguments(text, INPUT, "f") is None
    assert begun_block("\nline", BLOCK) is None


def test_outputs_and_blocks() -> None:
    assert begun_value(" [1, 2]\n```", OUTPUT).text == "[1, 2]"
    # The value stands left, and may be a call as well.
    for value in ("5", "set()", "dict(a=1)", "[]"):
        for call in ("f(7)", "(f(7))", "list(f(7))"):
            assert begun_value(f"assert {value} == {call}", OUTPUT).text == value
        assert begun_value(f"assert f(7) == {value}", OUTPUT).text == value
    for text in (
        "`assert f(3) == 'a;'`",
        "It is **assert f(3) == 'a;'**",
        "assert f(3) == 'a;';",
    ):
        assert begun_value(text, "").text == "'a;'"
    assert begun_block("\n    return x\n```", BLOCK) == "    return x"
    assert begun_block("\nabc```", BLOCK) == "abc"
    assert begun_block("\nx = '```'\n```", BLOCK) == "x = '```'"
    assert begun_block("\n    ```\n```", BLOCK) == "    ```"
    for begun in (OUTPUT, ""):
        assert (
            begun_value(
                "Sure!\n```python\nassert f(3) == {'a': 1}\n```\nDone.", begun
            ).text
            == "{'a': 1}"
        )
    for begun in (BLOCK, ""):
        assert begun_block("```python\nabc\n```", begun) == "abc"


@pytest.mark.parametrize(
    ("text", "cut", "exact", "partial", "reason"),
    [
        (" [81, 82, 38]\n```", False, 1, 1, Outcome.CORRECT),
        (" [81, 82, 81 - 43]\n```", False, 1, 1, Outcome.CORRECT),
        (" [81, 82, 38];\n```", False, 1, 1, Outcome.CORRECT),
        (" == [81, 82, 38]\n```", False, 1, 1, Outcome.CORRECT),
        (" == [81, 80, 38]\n```", False, 0, 2 / 3, Outcome.INCORRECT),
        (" == == [81, 82, 38]\n```", False, 0, 0, Outcome.UNPARSABLE),
        (" [81, 80, 38]\n```", False, 0, 2 / 3, Outcome.INCORRECT),
        (" [81, 82]\n```", False, 0, 0, Outcome.INCORRECT),
        (" [81.0, 82, 38]\n```", False, 0, 2 / 3, Outcome.INCORRECT),
        (" 81\n```", False, 0, 0, Outcome.INCORRECT),
        (" [81, 8", True, 0, 0, Outcome.TRUNCATED),
        (" [81, 82, 38]", True, 1, 1, Outcome.CORRECT),
        (" [81, 80, 38]", True, 0, 0, Outcome.TRUNCATED),
        (" f(81)\n```", False, 0, 0, Outcome.UNPARSABLE),
        ("", False, 0, 0, Outcome.REFUSED),
    ],
)
def test_traces(
    text: str, cut: bool, exact: float, partial: float, reason: Outcome
) -> None:
    whole = score_output_completion(TRACE, said(text, cut), OUTPUT)
    part = score_partial_trace(TRACE, said(text, cut), OUTPUT)
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
    assert score_input_completion(TRACE, said(text, cut), INPUT).outcome is reason


def test_retrieval_is_exact_to_the_character() -> None:
    lines, keys = (
        ["def f(x):", "    y = 1", "", "    return x"],
        ["a00001", "a00002", "a00003", "a00004"],
    )
    plain = "\n".join(lines)
    keyed = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    for text in (
        f"\n{plain}\n```",
        f"\n{keyed}\n```",
        f"{plain}\n```\nThat is it.",
        f"```python\n{plain}\n```",
        f"\n{plain}\n```".replace("\n", "\r\n"),
    ):
        ended = [f"{line}\r" for line in lines]
        for source in (lines, ended):
            score = score_retrieval(source, keys, said(text), BLOCK)
            assert score.outcome is Outcome.CORRECT
        assert (
            score_retrieval(lines, keys, said(text), BLOCK).outcome is Outcome.CORRECT
        )
    for text in (
        plain.replace("    y", "  y"),
        plain.replace("\n\n", "\n"),
        plain + " ",
        keyed[7:],
        plain[:-1],
    ):
        assert (
            score_retrieval(lines, keys, said(f"\n{text}\n```"), BLOCK).outcome
            is Outcome.INCORRECT
        )
    assert (
        score_retrieval(lines, keys, said(plain, cut=True), BLOCK).outcome
        is Outcome.TRUNCATED
    )
    assert (
        score_retrieval(lines, keys, said(plain), BLOCK).outcome is Outcome.UNPARSABLE
    )
