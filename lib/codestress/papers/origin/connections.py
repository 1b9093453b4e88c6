"""Lists of connections: chains of words, laid out at a distance, and the window of them that a prompt shows.

Find the Origin, section 4; layout and window as the published token counts show them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from codestress.errors import DataError
from codestress.seeding import rng

TARGET = ("workbench", "dad", "admire")
"""The paper's own chain: workbench -> dad -> admire."""
LINES = 4002
"""Lines in the whole list, as in the authors'; a prompt shows a window of it."""


class Link(NamedTuple):
    """One line of the list: `origin` is connected to `destination`."""

    origin: str
    destination: str

    def __str__(self) -> str:
        return f'"{self.origin}" is connected to "{self.destination}"'


def make_links(words: Sequence[str], *, hops: int, seed: int, index: int) -> list[Link]:
    """All links of list number `index`, chain after chain, the target chain in the middle.

    Each chain has `hops` links and its own `hops + 1` words. Needs `LINES // hops * (hops + 1)` distinct words.
    """
    chains = LINES // hops
    pool = [word for word in words if word not in TARGET]
    drawn = iter(rng(seed, "words", hops, index).permutation(pool).tolist())
    target = [*TARGET[:-1], *(next(drawn) for _ in range(hops - 2)), TARGET[-1]]
    links = []
    for chain in range(chains):
        vertices = target if chain == chains // 2 else [next(drawn) for _ in range(hops + 1)]
        links += [Link(*pair) for pair in pairwise(vertices)]
    return links


def parse_links(text: str) -> list[Link]:
    """Links from lines of the form `"A" is connected to "B"`, as in the authors' list, which is known by its hash."""
    return [Link(*pair) for pair in re.findall(r'"([^"]+)" is connected to "([^"]+)"', text)]


def lay_out(links: Sequence[Link], *, d: int, hops: int) -> list[Link]:
    """The same links with each chain's next link `d` lines below its previous one (above, for d < 0).

    Blocks of |d| first links are followed by |d| second links, and so on; for d < 0 the last links come first.
    """
    ranks = [links[rank::hops] for rank in range(hops)]
    if d < 0:
        ranks.reverse()
    block = abs(d)
    return [link for start in range(0, len(ranks[0]), block) for rank in ranks for link in rank[start : start + block]]


def window(laid_out: Sequence[Link], *, lines: int, d: int, hops: int, depth: float = 0.5) -> list[Link]:
    """The `lines` consecutive links that a prompt shows, the target chain at `depth` (0 first, 1 last).

    The lines that are not part of the target's span are split above and below it; chains are cut at the edges.
    """
    span = abs(d) * (hops - 1)
    origin = next(i for i, link in enumerate(laid_out) if link.origin == TARGET[0])
    top = origin if d > 0 else origin - span
    start = max(0, top - min(int((lines - span) * depth), lines - span - 1))
    if start + lines > len(laid_out):
        raise DataError(f"a window of {lines} lines from line {start} passes the list's end ({len(laid_out)} lines)")
    return list(laid_out[start : start + lines])


def shuffle_around_target(shown: Sequence[Link], chain: Sequence[Link], *names: str | int, seed: int) -> list[Link]:
    """The target's links stay in their places, all others are permuted among the remaining ones."""
    free = [i for i, link in enumerate(shown) if link not in chain]
    shuffled = list(shown)
    for place, source in zip(free, rng(seed, "shuffle", *names).permutation(len(free)), strict=True):
        shuffled[place] = shown[free[source]]
    return shuffled


def lone_links(shown: Sequence[Link], *, hops: int) -> int:
    """Links whose chain is not wholly in the window: what its edges cut off."""
    following = {link.origin: link.destination for link in shown}
    starts = set(following) - {link.destination for link in shown}
    whole = 0
    for word in starts:
        length = 0
        while word in following:
            word = following[word]
            length += 1
        whole += length if length == hops else 0
    return len(shown) - whole


def target_chain(links: Sequence[Link], hops: int) -> Sequence[Link]:
    """The links from the target's origin to its destination, in a list of chain after chain."""
    start = next(i for i, link in enumerate(links) if link.origin == TARGET[0])
    return links[start : start + hops]
