"""Lists of connections: the authors' own, to the line, and properties of the kit's at every parameter."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from codestress.errors import DataError
from codestress.papers.origin.connections import (
    LINES,
    TARGET,
    Link,
    lay_out,
    make_links,
    parse_links,
    shuffle_around_target,
    target_chain,
    window,
)
from conftest import some
from told import refused

WORDS = [
    f"{a}{b}{c}"
    for a in "bcdfghjklmnpqrstvwxz"
    for b in "aeiou"
    for c in "bcdfghjklmnpqrstvwxyz" * 4
]
WORDS = [f"{word}{i}" for i, word in enumerate(WORDS)]

distances = st.integers(-15, 15).filter(bool)
links_of = {hops: make_links(WORDS, hops=hops, seed=0, index=0) for hops in (2, 3, 4)}


@given(hops=st.sampled_from([2, 3, 4]), seed=st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_chains_have_their_own_words_and_the_target_stands_in_the_middle(
    hops: int, seed: int
) -> None:
    links = make_links(WORDS, hops=hops, seed=seed, index=0)
    assert links == make_links(WORDS, hops=hops, seed=seed, index=0)
    assert len(links) == LINES // hops * hops
    chains = [links[i : i + hops] for i in range(0, len(links), hops)]
    words = [
        word
        for chain in chains
        for word in (chain[0].origin, *(link.destination for link in chain))
    ]
    assert len(words) == len(set(words)) == len(chains) * (hops + 1)
    assert all(
        a.destination == b.origin for chain in chains for a, b in pairwise(chain)
    )
    middle = chains[len(chains) // 2]
    assert (middle[0].origin, middle[-1].destination) == (TARGET[0], TARGET[-1])
    if hops == 2:
        assert middle == [Link("workbench", "dad"), Link("dad", "admire")]
        assert links.index(middle[0]) == 2000 or links.index(middle[0]) == 1998


@given(d=distances, hops=st.sampled_from([2, 3, 4]))
@settings(deadline=None)
def test_every_whole_chain_keeps_the_distance(d: int, hops: int) -> None:
    laid_out = lay_out(links_of[hops], d=d, hops=hops)
    assert sorted(laid_out) == sorted(links_of[hops])
    place = {link: i for i, link in enumerate(laid_out)}
    full = (
        len(links_of[hops]) // hops // abs(d) * abs(d)
    )  # the last block may be shorter
    for chain in range(full):
        first, *others = links_of[hops][chain * hops : (chain + 1) * hops]
        for step, link in enumerate(others, start=1):
            assert place[link] - place[first] == step * d


@given(
    d=distances,
    hops=st.sampled_from([2, 3]),
    extra=st.integers(1, 900),
    place=st.floats(0, 1),
    shuffled=st.booleans(),
    seed=st.integers(0, 3),
)
@settings(deadline=None)
def test_a_window_shows_the_target_at_its_distance(
    d: int, hops: int, extra: int, place: float, shuffled: bool, seed: int
) -> None:
    links = links_of[hops]
    laid_out = lay_out(links, d=d, hops=hops)
    chain = target_chain(links, hops)
    lines = abs(d) * (hops - 1) + extra
    shown = window(laid_out, lines=lines, d=d, hops=hops, depth=place)
    before = list(shown)
    if shuffled:
        shown = shuffle_around_target(shown, chain, 0, d, lines, seed=seed)
        assert shown == shuffle_around_target(before, chain, 0, d, lines, seed=seed)
    assert len(shown) == lines
    assert sorted(shown) == sorted(before)
    places = [shown.index(link) for link in chain]
    assert [b - a for a, b in pairwise(places)] == [d] * (hops - 1)


@pytest.mark.parametrize("d", [d for d in range(-15, 16) if d])
def test_the_target_stays_in_the_middle(d: int) -> None:
    laid_out = lay_out(links_of[2], d=d, hops=2)
    chain = target_chain(links_of[2], 2)
    for lines in range(abs(d) + 1, 950, 8):
        shown = window(laid_out, lines=lines, d=d, hops=2)
        places = [i for i, link in enumerate(shown) if link in chain]
        above, below = min(places), lines - 1 - max(places)
        assert abs(above - below) <= 1


def test_a_window_beyond_the_list_is_a_clear_error() -> None:
    with refused(DataError, "4001", "4002"):
        window(lay_out(links_of[2], d=1, hops=2), lines=4001, d=1, hops=2, depth=0.1)


def authors_order(lines: list[str], d: int) -> list[str]:
    """An independent reading of how the authors' harness orders the lines."""
    first, second = (
        [line for i, line in enumerate(lines) if i % 2 == parity] for parity in (0, 1)
    )
    size, order = abs(d), []
    blocks = (first, second) if d > 0 else (second, first)
    while blocks[0] or blocks[1]:
        for block in blocks:
            order += block[:size]
            del block[:size]
    return order


def authors_window(order: list[str], d: int, n: int) -> list[str]:
    """And of which lines it shows."""
    size = abs(d)
    start = next(
        i for i, line in enumerate(order) if line.startswith('"workbench"')
    ) - int((n - size) / 2)
    start = max(0, start - (size if d < 0 else 0))
    return order[start : start + n]


@pytest.mark.parametrize("d", some([d for d in range(-15, 16) if d], 5))
def test_the_authors_list_gives_the_authors_lines(shared_data: Path, d: int) -> None:
    text = (shared_data / "findtheorigin" / "vertices.txt").read_text(encoding="utf-8")
    links = parse_links(text)
    assert [str(link) for link in links] == text.split("\n")[: len(links)]
    assert len(links) == LINES
    chain = target_chain(links, 2)
    assert [links.index(link) for link in chain] == [1998, 1999]
    assert chain[-1].destination == "admire"
    laid_out = lay_out(links, d=d, hops=2)
    order = authors_order([str(link) for link in links], d)
    for n in range(abs(d) + 1, 950, 8):
        shown = [str(link) for link in window(laid_out, lines=n, d=d, hops=2)]
        assert shown == authors_window(order, d, n)
