"""Completions are read as the prompts begin them; retrieval is exact; a trace may be partly right."""

import pytest
from hypothesis import assume, given, strategies as st

from codestress.papers.semtrace.recall import (
    partial_trace,
    score_input_completion,
    score_output_completion,
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
    assume("\n" not in written)
    for behind in ("\n```", "\n```\nbecause (of) this.", " # so\n"):
        text = f"{written}){behind}"
        for said, begun in ((text, INPUT), (INPUT + text, INPUT), (INPUT + text, "")):
            assert begun_arguments(said, begun, "f") == written


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
    for form in ("`{}`", "It is **{}**", "{};"):
        assert begun_value(form.format("assert f(3) == 'a;'"), "").text == "'a;'"
    whole = "Sure!\n```python\nassert f(3) == {'a': 1}\n```\nDone."
    for begun in (OUTPUT, ""):
        assert begun_value(whole, begun).text == "{'a': 1}"
    for text, found in (
        ("\n    return x\n```", "    return x"),
        ("\nabc```", "abc"),
        ("\nx = '```'\n```", "x = '```'"),
        ("\n    ```\n```", "    ```"),
        ("```python\nabc\n```", "abc"),
    ):
        assert begun_block(text, BLOCK) == found
    assert begun_block("```python\nabc\n```", "") == "abc"


@pytest.mark.parametrize(
    ("text", "exact", "zero", "by_position"),
    [
        (" [81, 82, 38]", 1, 1, 1),
        (" [81, 82, 81 - 43]", 1, 1, 1),
        (" [81, 82, 38];", 1, 1, 1),
        (" == [81, 82, 38]", 1, 1, 1),
        (" == [81, 80, 38]", 0, 2 / 3, 2 / 3),
        (" == == [81, 82, 38]", 0, 0, 0),
        (" [81, 80, 38]", 0, 2 / 3, 2 / 3),
        (" [81.0, 82, 38]", 0, 2 / 3, 2 / 3),
        (" [81, 82]", 0, 0, 2 / 3),
        (" [81, 82, 38, 5]", 0, 0, 3 / 4),
        (" [82, 38]", 0, 0, 0),
        (" []", 0, 0, 0),
        (" 81", 0, 0, 0),
        (" f(81)", 0, 0, 0),
    ],
)
def test_traces(text: str, exact: float, zero: float, by_position: float) -> None:
    score = traced(f"{text}\n```")
    reason = Outcome.CORRECT if exact else Outcome.INCORRECT
    if text in (" == == [81, 82, 38]", " f(81)"):
        reason = Outcome.UNPARSABLE
    assert score == (reason, exact, pytest.approx(zero), pytest.approx(by_position))
    whole = score_output_completion(TRACE, said(f"{text}\n```"), OUTPUT)
    assert whole.unresolved == ("-" in text)


def traced(text: str, cut: bool = False) -> tuple[Outcome, float, float, float]:
    """The outcome, and the value of the whole, of its parts and of its parts whatever its length."""
    asked = TRACE, said(text, cut), OUTPUT
    whole = score_output_completion(*asked)
    scores = [whole, partial_trace(TRACE, whole)]
    scores.append(partial_trace(TRACE, whole, any_length=True))
    [outcome] = {score.outcome for score in scores}
    return outcome, *(score.value for score in scores)


def test_traces_that_end_early() -> None:
    assert traced(" [81, 8", cut=True) == (Outcome.TRUNCATED, 0, 0, 0)
    assert traced(" [81, 82, 38]", cut=True) == (Outcome.CORRECT, 1, 1, 1)
    assert traced(" [81, 80, 38]", cut=True) == (Outcome.TRUNCATED, 0, 0, 0)
    assert traced("") == (Outcome.REFUSED, 0, 0, 0)


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
    lines = ["def f(x):", "    y = 1", "", "    return x"]
    plain = "\n".join(lines)
    keyed = "\n".join(f"a0000{n} {line}" for n, line in enumerate(lines))

    def outcome(text: str, source: list[str] = lines, cut: bool = False) -> Outcome:
        shown = [f"a0000{n} {line}" for n, line in enumerate(source)]
        return score_retrieval(source, shown, said(text, cut), BLOCK).outcome

    for text in (
        f"\n{plain}\n```",
        f"\n{keyed}\n```",
        f"{plain}\n```\nThat is it.",
        f"```python\n{plain}\n```",
        f"\n{plain}\n```".replace("\n", "\r\n"),
    ):
        for source in (lines, [f"{line}\r" for line in lines]):
            assert outcome(text, source) is Outcome.CORRECT
    for text in (
        plain.replace("    y", "  y"),
        plain.replace("\n\n", "\n"),
        plain + " ",
        keyed[7:],
        plain[:-1],
    ):
        assert outcome(f"\n{text}\n```") is Outcome.INCORRECT
    assert outcome(plain, cut=True) is Outcome.TRUNCATED
    assert outcome(plain) is Outcome.UNPARSABLE
