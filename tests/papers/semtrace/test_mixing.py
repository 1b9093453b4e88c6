"""The mixing function: the target's lines in order, at its place, among all the others."""

import itertools

import pytest
from hypothesis import given, strategies as st

from codestress.papers.semtrace.contexts import (
    line_keys,
    mix,
    target_index,
    with_blanks,
    with_keys,
)

LINES = st.lists(st.sampled_from(["    x = 1", "", "    return x"]), max_size=6)
FUNCTION = LINES.map(lambda body: "\n".join(["def g():", *body, "    pass"]))


@given(
    target=FUNCTION,
    others=st.lists(FUNCTION, max_size=12),
    position=st.integers(0, 10),
    fragments=st.integers(1, 6),
    blank=st.booleans(),
)
def test_every_line_is_there_once_and_the_target_in_order(
    target: str, others: list[str], position: int, fragments: int, blank: bool
) -> None:
    functions = with_blanks([target, *others])
    how = {"position": position, "positions": 11, "fragments": fragments}
    mixed = mix(functions, **how, blank_between=blank)
    parts = [mixed.pieces[index] for index in mixed.target]
    assert "\n".join(parts) == target
    assert len(parts) <= fragments
    assert mixed.target == sorted(mixed.target)
    rest, pieces = [], []
    for index, piece in enumerate(mixed.pieces):
        if index in mixed.target:
            pieces.append(piece)
        elif piece:
            rest.append(piece)
            pieces.append(piece)
    assert rest == others
    # One blank line stands behind each piece but the last, or none.
    assert mixed.text == ("\n\n" if blank else "\n").join(pieces)
    assert 0 <= mixed.granularity < 1
    assert 0 < mixed.concentration <= 1


@pytest.mark.parametrize("count", [20, 80])
def test_places_are_the_papers(count: int) -> None:
    functions = with_blanks(["def f(): ...", *["def g(): ..."] * count])
    for position in range(11):
        mixed = mix(functions, position=position, positions=11)
        before = [piece for piece in mixed.pieces[: mixed.target[0]] if piece]
        assert len(before) == position * count // 10
    assert target_index(0, 1, 20) == 0


def test_granularity_and_concentration_are_those_of_equation_2() -> None:
    # The target has two lines of 10 characters with their breaks.
    target, *others = with_blanks(["\n".join(["a" * 9] * 2), "b" * 38, "c" * 38])
    whole = mix([target, *others], position=0, positions=3)
    assert whole.granularity == pytest.approx(1 - 20 / (len(whole.text) + 1))
    assert whole.concentration == pytest.approx(1)
    halves = mix([target, *others, *others], position=1, positions=3, fragments=2)
    first, last = halves.target
    # The blank after the first half, and two functions with theirs, stand between.
    assert last - first == 6
    between = sum(len(piece) + 1 for piece in halves.pieces[first : last + 1])
    assert halves.concentration == pytest.approx(20 / between)


def test_keys_are_unique_and_those_of_the_smaller_context_stay() -> None:
    functions = [f"def g{i}():\n    return {i}\n" for i in range(80)]
    small = line_keys("p", tuple(functions[:21]), 0)
    large = line_keys("p", tuple(functions), 0)
    keys = [*itertools.chain.from_iterable(large)]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 6 and int(key, 16) >= 0 for key in keys)
    assert small == large[:21]
    plain = with_blanks(functions[:21])
    keyed = []
    for own, lines in zip(small, plain, strict=True):
        keyed.append(with_keys(own, lines, "space"))
    texts = []
    for lines in (plain, keyed):
        mixed = mix(lines, position=5, positions=11, fragments=2)
        texts.append(mixed.text.split("\n"))
    assert [line[7:] for line in texts[1]] == texts[0]
