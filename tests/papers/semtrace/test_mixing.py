"""The mixing function: the target's lines in order, at its place, among all the others."""

import pytest
from hypothesis import given, strategies as st

from codestress.papers.semtrace.contexts import (
    line_keys,
    mix,
    target_index,
    with_blanks,
    with_keys,
)

FUNCTION = st.lists(
    st.sampled_from(["    x = 1", "", "    return x", "    if x:"]), max_size=6
).map(lambda body: "\n".join(["def g():", *body, "    pass"]))


@given(
    FUNCTION,
    st.lists(FUNCTION, max_size=12),
    st.integers(0, 10),
    st.integers(1, 6),
    st.booleans(),
)
def test_every_line_is_there_once_and_the_target_in_order(
    target: str, others: list[str], position: int, fragments: int, blank: bool
) -> None:
    shown = with_blanks([target, *others])
    how = {"position": position, "positions": 11, "fragments": fragments}
    mixed = mix(shown, **how, blank_between=blank)
    parts = [mixed.pieces[i] for i in mixed.target]
    assert "\n".join(parts) == target
    assert len(parts) <= fragments
    assert mixed.target == sorted(mixed.target)
    rest = [piece for i, piece in enumerate(mixed.pieces) if i not in mixed.target]
    assert [piece for piece in rest if piece] == others
    # Nothing stands at the end, and one line behind each other piece, or none.
    between = "\n\n" if blank else "\n"
    order = [
        piece for i, piece in enumerate(mixed.pieces) if piece or i in mixed.target
    ]
    assert mixed.text == between.join(order)
    assert 0 <= mixed.granularity < 1
    assert 0 < mixed.concentration <= 1
    if fragments == 1:
        assert mixed.concentration == pytest.approx(1)


@pytest.mark.parametrize("count", [20, 40, 60, 80])
def test_places_are_the_papers(count: int) -> None:
    shown = with_blanks(["def f(): ...", *["def g(): ..."] * count])
    for position in range(11):
        mixed = mix(shown, position=position, positions=11)
        before = [piece for piece in mixed.pieces[: mixed.target[0]] if piece]
        assert len(before) == position * count // 10
    assert target_index(0, 1, 20) == 0


def test_equation_2() -> None:
    """Twenty characters of target in a hundred; cut in two halves at the ends, a tenth of the span is target."""
    # 10 characters a line with its break; 39 and an empty line of 1.
    target, *others = with_blanks(["\n".join(["a" * 9] * 2), "b" * 38, "c" * 38])
    whole = mix([target, *others], position=0, positions=3)
    assert whole.granularity == pytest.approx(1 - 20 / (len(whole.text) + 1))
    halves = mix([target, *others, *others], position=1, positions=3, fragments=2)
    first, last = halves.target
    # The blank after the first half, and two functions with theirs, stand between.
    assert last - first == 6
    between = sum(len(piece) + 1 for piece in halves.pieces[first : last + 1])
    assert halves.concentration == pytest.approx(20 / between)


def test_keys_are_unique_and_those_of_the_smaller_context_stay() -> None:
    functions = [f"def g{i}():\n    return {i}\n" for i in range(80)]
    few = functions[:21]
    small, large = (line_keys("p", tuple(codes), 0) for codes in (few, functions))
    every = [key for own in large for key in own]
    assert len(set(every)) == len(every)
    assert all(len(key) == 6 and int(key, 16) >= 0 for key in every)
    assert small == large[:21]
    blank = with_blanks(few)
    own = [with_keys(*pair, "space") for pair in zip(small, blank, strict=True)]
    plain, keyed = (
        mix(shown, position=5, positions=11, fragments=2).text.split("\n")
        for shown in (blank, own)
    )
    assert [line[7:] for line in keyed] == plain
    assert len({line[:6] for line in keyed}) == len(plain)
