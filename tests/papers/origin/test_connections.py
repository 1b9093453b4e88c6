"""Lists of connections: properties at every parameter."""

from __future__ import annotations

from itertools import pairwise

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
HOPS = st.sampled_from([2, 3, 4])
DISTANCES = st.integers(-15, 15).filter(bool)
LINKS = {hops: make_links(WORDS, hops=hops, seed=0, index=0) for hops in (2, 3, 4)}


@given(hops=HOPS, seed=st.integers(0, 5))
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


@given(d=DISTANCES, hops=HOPS)
@settings(deadline=None)
def test_every_chain_of_a_whole_block_keeps_the_distance(d: int, hops: int) -> None:
    links = LINKS[hops]
    layout = lay_out(links, d=d, hops=hops)
    assert sorted(layout) == sorted(links)
    place = {link: number for number, link in enumerate(layout)}
    whole = len(links) // hops // abs(d) * abs(d) * hops
    for link, following in pairwise(links[:whole]):
        if link.destination == following.origin:
            assert place[following] - place[link] == d


@given(
    d=DISTANCES,
    hops=st.sampled_from([2, 3]),
    extra=st.integers(1, 900),
    depth=st.floats(0, 1),
    seed=st.integers(0, 3),
)
@settings(deadline=None)
def test_a_window_has_the_target_at_its_distance_shuffled_or_not(
    d: int, hops: int, extra: int, depth: float, seed: int
) -> None:
    links = LINKS[hops]
    chain = target_chain(links, hops)
    lines = abs(d) * (hops - 1) + extra
    layout = lay_out(links, d=d, hops=hops)
    ordered = window(layout, lines=lines, d=d, hops=hops, depth=depth)
    shuffled = shuffle_around_target(ordered, chain, 0, d, lines, seed=seed)
    assert shuffled == shuffle_around_target(ordered, chain, 0, d, lines, seed=seed)
    assert sorted(shuffled) == sorted(ordered)
    assert len(ordered) == lines
    for block in (ordered, shuffled):
        places = [block.index(link) for link in chain]
        assert [b - a for a, b in pairwise(places)] == [d] * (hops - 1)


@given(d=DISTANCES, extra=st.integers(1, 900))
def test_the_target_stays_in_the_middle(d: int, extra: int) -> None:
    lines = abs(d) + extra
    block = window(lay_out(LINKS[2], d=d, hops=2), lines=lines, d=d, hops=2)
    places = [block.index(link) for link in target_chain(LINKS[2], 2)]
    assert abs(min(places) - (lines - 1 - max(places))) <= 1


def test_a_window_beyond_the_list_is_refused() -> None:
    with refused(DataError, "4001", "4002"):
        window(lay_out(LINKS[2], d=1, hops=2), lines=4001, d=1, hops=2, depth=0.1)
