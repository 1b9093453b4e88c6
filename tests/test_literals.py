"""Literals are parsed, never evaluated, and compared by value and type."""

from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given, strategies as st

from codestress.literals import NotLiteral, canonical, parse_literal, same_value

PLAIN = (
    int | float | complex | str | bytes | list | tuple | dict | set | frozenset | range
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(SCALARS, inner, max_size=4)
        | st.sets(SCALARS, max_size=4)
        | st.frozensets(SCALARS, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_repr_writes_is_read_back_the_same(value: object) -> None:
    found, unresolved = parse_literal(repr(value))
    assert same_value(found, value)
    assert not unresolved


def called(value: object) -> str:
    """A value as calls of its types."""
    if isinstance(value, bool) or not isinstance(
        value, bytes | list | tuple | set | frozenset | dict | float | complex
    ):
        return repr(value)
    if isinstance(value, float):
        return f"float({repr(value)!r})"
    if isinstance(value, complex):
        return f"complex({value.real!r}, {value.imag!r})"
    items = value.items() if isinstance(value, dict) else value
    return f"{type(value).__name__}([{', '.join(map(called, items))}])"


@given(VALUES)
def test_values_may_be_written_as_calls_of_their_types(value: object) -> None:
    found, unresolved = parse_literal(called(value))
    assert same_value(found, value)
    assert not unresolved


@given(VALUES, VALUES)
def test_same_is_symmetric_and_never_wider_than_equality(
    one: object, other: object
) -> None:
    assert same_value(one, other) == same_value(other, one)
    if same_value(one, other):
        assert one == other
        assert hash(canonical(one)) == hash(canonical(other))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=5), st.data())
def test_arithmetic_is_evaluated_as_python_does_and_marked(
    numbers: list[int], data: st.DataObject
) -> None:
    text = str(numbers[0])
    for number in numbers[1:]:
        text += f" {data.draw(st.sampled_from(['+', '-', '*']))} {number}"
    assert parse_literal(text) == (eval(text), len(numbers) > 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (True, 1, False),
        (1, 1.0, False),
        (1.0, 1 + 0j, False),
        ([1, True], [1, 1], False),
        ({1: "a"}, {True: "a"}, False),
        ({1}, {True}, False),
        ({"a": [1.0]}, {"a": [1]}, False),
        ((1,), [1], False),
        ({1}, frozenset({1}), False),
        ("a", b"a", False),
        (math.nan, math.nan, True),
        (0.0, -0.0, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([{(1, "x"): {2.5}}], [{(1, "x"): {2.5}}], True),
    ],
)
def test_same_value(one: object, other: object, same: bool) -> None:
    assert same_value(one, other) is same


@pytest.mark.parametrize(
    ("text", "value", "unresolved"),
    [
        (" [1, 'a'] ", [1, "a"], False),
        ("-3", -3, False),
        ("1-2j", 1 - 2j, False),
        ("[81 - 43, 2 ** 10, 7 // 2, -7 % 3]", [38, 1024, 3, 2], True),
        ("'ab' * 2 + 'c'", "ababc", True),
        ("'a' 'b'", "ab", False),
        ("set()", set(), False),
        ("range(0, 3)", range(3), False),
        ("set([1, 2, 3])", {1, 2, 3}, False),
        ("frozenset(set((1, 2)))", frozenset({1, 2}), False),
        (
            "[dict(), list(), tuple(), bytes(), frozenset()]",
            [{}, [], (), b"", frozenset()],
            False,
        ),
        ("dict({'a': 1}, b=2)", {"a": 1, "b": 2}, False),
        ("dict([('a', 1), ['b', dict()]])", {"a": 1, "b": {}}, False),
        ("list(range(1 + 2))", [0, 1, 2], True),
        ("bytes([104, 105])", b"hi", False),
        ('float("inf")', math.inf, False),
        ("[float('1e3'), float(2), complex(1, 2)]", [1000.0, 2.0, 1 + 2j], False),
        ("'\\d'", "\\d", False),
        ("2  # because", 2, False),
    ],
)
def test_forms_of_values(text: str, value: object, unresolved: bool) -> None:
    found = parse_literal(text)
    assert same_value(found.value, value)
    assert found.unresolved is unresolved


OTHERS = """
x
f(1)
1 or 2
1 < 2
not 1
[x for x in []]
lambda: 1
f'1'
(y := 1)
1 if 1 else 2
{**{}}
[*[1]]
a.b
a[0]
frozenset(1, 2)
range()
1 << 2
set(1)
set([[1]])
set(x)
set(*[[1]])
list({1})
dict([1])
dict([{1, 2}])
dict(**{})
dict(a=1, a=2)
dict(a=b)
list(a=1)
bytes(10 ** 9)
bytes([300])
float('x')
float(a='1')
float(10 ** 400)
list(range(10 ** 9))
set(range(10 ** 30))
int('1')
list.copy([1])
open('a')
'a' - 'b'
'a' * 2.5
1 / 0
9 ** 9 ** 9
2 ** 10 ** 9
[0] * 10 ** 9
'%s' % 1
{[]}
1; 2
= 1
~'a'
-'a'
1,*()
""".strip().split("\n")
LONG = {
    "nothing": "",
    "two lines": "1\n2",
    "many ranges": "[" + "list(range(9000)), " * 12 + "]",
    "a surrogate": "'\ud800'",
    "NUL": "'\0'",
    "digits": "1" * 5000,
    "nested": "(" * 300 + ")" * 300,
    "a sum": "+1" * 40_000,
}


@pytest.mark.parametrize("text", [*OTHERS, *LONG.values()], ids=[*OTHERS, *LONG])
def test_anything_else_is_no_literal_and_is_not_evaluated(text: str) -> None:
    with pytest.raises(NotLiteral):
        parse_literal(text)


@given(st.text(max_size=60))
def test_any_text_is_a_literal_or_an_error(text: str) -> None:
    try:
        found = parse_literal(text).value
    except NotLiteral:
        return
    try:
        assert same_value(found, ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError):
        assert isinstance(found, PLAIN)
