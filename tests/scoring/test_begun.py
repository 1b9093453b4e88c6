"""Completions are read as the prompts begin them."""

import pytest
from hypothesis import assume, given, strategies as st

from codestress.scoring.begun import (
    ReadingRule,
    begun_arguments,
    begun_block,
    begun_value,
)
from test_literals import VALUES

OUTPUT = "Sure! Here is the corresponding output:\n\n```python\nassert f(81) =="
INPUT = "Sure! Here is the corresponding input:\n\n```python\nassert [81, 82, 38] == f("
BLOCK = "Sure! Here is the line with key a1b2c3:\n\n```python"


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_arguments_end_where_their_parenthesis_closes(values: list[object]) -> None:
    arguments = ", ".join(map(repr, values))
    assume("\n" not in arguments)
    for behind in ("\n```", "\n```\nbecause (of) this.", " # so\n"):
        completion = f"{arguments}){behind}"
        for text, begun in (
            (completion, INPUT),
            (INPUT + completion, INPUT),
            (INPUT + completion, ""),
        ):
            assert begun_arguments(text, begun, "f") == arguments


def test_completions_that_never_end_are_incomplete() -> None:
    for text in ("[1, 2", "'abc", "1, 2", "1]", ""):
        assert begun_arguments(text, INPUT, "f") is None
    assert begun_block("\nline", BLOCK) is None


def test_the_value_may_stand_on_either_side_and_be_a_call() -> None:
    assert begun_value(" [1, 2]\n```", OUTPUT).text == "[1, 2]"
    for value in ("5", "dict(a=1)"):
        for call in ("f(7)", "(f(7))", "list(f(7))"):
            assert begun_value(f"assert {value} == {call}", OUTPUT).text == value
        assert begun_value(f"assert f(7) == {value}", OUTPUT).text == value


@pytest.mark.parametrize("form", ["`{}`", "It is **{}**", "{};"])
def test_an_assertion_may_be_dressed(form: str) -> None:
    text = form.format("assert f(3) == 'a;'")
    assert begun_value(text, "").text == "'a;'"


def test_an_answer_may_begin_anew() -> None:
    whole = "Sure!\n```python\nassert f(3) == {'a': 1}\n```\nDone."
    for begun in (OUTPUT, ""):
        assert begun_value(whole, begun).text == "{'a': 1}"
    assert begun_block("```python\nabc\n```", "") == "abc"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("\n    return x\n```", "    return x"),
        ("\nabc```", "abc"),
        ("\nx = '```'\n```", "x = '```'"),
        ("\n    ```\n```", "    ```"),
        ("```python\nabc\n```", "abc"),
    ],
)
def test_a_block_ends_with_its_closing_fence(text: str, block: str) -> None:
    assert begun_block(text, BLOCK) == block


@pytest.mark.parametrize(
    ("rule", "value"),
    [("first_fence", "5"), ("first_line", "5"), ("last_assertion", "0")],
)
def test_a_rule_of_reading_names_the_part_that_counts(
    rule: ReadingRule, value: str
) -> None:
    text = " 5\n```\nIt is true.\n```python\nassert f(0) == 0\n```"
    assert begun_value(text, OUTPUT, rule).text == value
