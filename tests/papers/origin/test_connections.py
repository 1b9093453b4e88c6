"""Lists of connections: the authors' own, to the line, and properties of the kit's at every parameter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from codestress.errors import DataError
from codestress.papers.origin.connections import (
    LINES,
    TARGET,
    Link,
    lay_out,
    make_links,
    shuffle_around_target,
    target_chain,
    window,
)
from told import refused

WORDS = [f"word{number}" for number in range(8400)]

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
    words = set[str]()
    for start in range(0, len(links), hops):
        chain = links[start : start + hops]
        words |= {link.origin for link in chain} | {chain[-1].destination}
        assert all(a.destination == b.origin for a, b in pairwise(chain))
    assert len(words) == LINES // hops * (hops + 1)
    target = target_chain(links, hops)
    assert (target[0].origin, target[-1].destination) == (TARGET[0], TARGET[-1])
    assert abs(links.index(target[0]) - len(links) / 2) <= hops
    if hops == 2:
        assert target == [Link("workbench", "dad"), Link("dad", "admire")]


@given(d=distances, hops=st.sampled_from([2, 3, 4]))
@settings(deadline=None)
def test_every_whole_chain_keeps_the_distance(d: int, hops: int) -> None:
    laid_out = lay_out(links_of[hops], d=d, hops=hops)
    assert sorted(laid_out) == sorted(links_of[hops])
    place = {link: i for i, link in enumerate(laid_out)}
    # The last block may be shorter.
    full = len(links_of[hops]) // hops // abs(d) * abs(d) * hops
    for one, other in pairwise(links_of[hops][:full]):
        if one.destination == other.origin:
            assert place[other] - place[one] == d


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
