"""Lists of links: chains of words laid out at a distance, and the window of lines that
a prompt shows.

The source is section 4 of Find the Origin; layout and window follow the published token
counts.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from codestress.errors import DataError
from codestress.problems.datasets import data_file
from codestress.problems.words import word_list
from codestress.seeding import rng

TARGET = ("workbench", "dad", "admire")
"""The paper's own chain: workbench -> dad -> admire."""
LINK = re.compile(r'"([^"]+)" is connected to "([^"]+)"')
"""Pattern of a line, with both words."""
LINES = 4002
"""Number of lines in the whole list, as in the authors' list. A prompt shows a window
of the list."""


class Link(NamedTuple):
    """Record of one line of the list: its `origin` is connected to its `destination`."""

    origin: str
    """Word from which the link leads."""
    destination: str
    """Word to which the link leads, the origin of the chain's next link."""

    def __str__(self) -> str:
        return f'"{self.origin}" is connected to "{self.destination}"'


@lru_cache(maxsize=128)
def all_links(
    words: str, hops: int, seed: int, number: int, d: int
) -> tuple[Sequence[Link], Sequence[Link]]:
    """Pair: the whole list of links laid out at distance `d`, and the target's chain. `words` is
    `authors` for the authors' list, else list number `number` is drawn from the kit's words by
    `seed`. `hops` is the number of links in a chain."""
    if words == "authors":
        path = data_file("find-the-origin", "findtheorigin/vertices.txt")
        # The data set is checked by its hash; all else in it is skipped.
        links = [Link(*ends) for ends in LINK.findall(path.read_text("utf-8"))]
    else:
        links = make_links(word_list(), hops=hops, seed=seed, index=number)
    return lay_out(links, d=d, hops=hops), target_chain(links, hops)


def make_links(words: Sequence[str], *, hops: int, seed: int, index: int) -> list[Link]:
    """Return all links of list number `index`, chain after chain, with the target chain
    in the middle. The target chain has the paper's own words at both ends.

    Each chain has `hops` links and its own `hops + 1` words, drawn from `words` with
    `seed`. Raises `StopIteration` unless `words` has about `LINES // hops * (hops + 1)`
    distinct words.
    """
    chains = LINES // hops
    pool = [word for word in words if word not in TARGET]
    drawn = iter(rng(seed, "words", hops, index).permutation(pool).tolist())
    between = [next(drawn) for _ in range(hops - 2)]
    links = []
    for chain in range(chains):
        if chain == chains // 2:
            vertices = [*TARGET[:-1], *between, TARGET[-1]]
        else:
            vertices = [next(drawn) for _ in range(hops + 1)]
        links += [Link(*pair) for pair in pairwise(vertices)]
    return links


def lay_out(links: Sequence[Link], *, d: int, hops: int) -> list[Link]:
    """Return `links` laid out so that each chain's next link stands `d` lines below the
    previous link (above, if d < 0). `links` go chain after chain, `hops` to a chain.

    Blocks of |d| first links are followed by |d| second links, and so on; if d < 0, the
    last links come first. Raises `ValueError` if d = 0.
    """
    ranks = [links[rank::hops] for rank in range(hops)]
    if d < 0:
        ranks.reverse()
    block = abs(d)
    laid_out = list[Link]()
    for start in range(0, len(ranks[0]), block):
        for rank in ranks:
            laid_out += rank[start : start + block]
    return laid_out


def window(
    laid_out: Sequence[Link], *, lines: int, d: int, hops: int, depth: float = 0.5
) -> list[Link]:
    """Return the `lines` consecutive links that a prompt shows, with the target chain
    at `depth` (0 first, 1 last). `laid_out` is the result of `lay_out` for the same `d`
    and `hops`.

    The lines outside the target chain's span are split above and below this span. Other
    chains may be cut at the window's edges. Raises `DataError` if the window passes the
    list's end.
    """
    span = abs(d) * (hops - 1)
    origin = _target(laid_out)
    top = origin if d > 0 else origin - span
    others = lines - span
    above = min(int(others * depth), others - 1)
    start = max(0, top - above)
    end = start + lines
    if end > len(laid_out):
        raise DataError(
            f"a window of {lines} lines from line {start} passes the list's end ({len(laid_out)} lines)"
        )
    return list(laid_out[start:end])


def shuffle_around_target(
    shown: Sequence[Link], chain: Sequence[Link], *names: str | int, seed: int
) -> list[Link]:
    """Return a shuffled copy of the window `shown`. The target's links (`chain`) stay
    in their places, and all other links are permuted among the remaining places.
    `names` and `seed` determine the order."""
    free = [i for i, link in enumerate(shown) if link not in chain]
    shuffled = list(shown)
    drawn = rng(seed, "shuffle", *names).permutation(free)
    for place, source in zip(free, drawn, strict=True):
        shuffled[place] = shown[source]
    return shuffled


def target_chain(links: Sequence[Link], hops: int) -> Sequence[Link]:
    """Return the `hops` links of the target chain (the paper's own, workbench to
    admire) in `links`, which go chain after chain. Raises `ValueError` if the target is
    missing."""
    start = _target(links)
    return links[start : start + hops]


def _target(links: Sequence[Link]) -> int:
    """Return the index in `links` of the target chain's first link, the one with the
    target's origin. Raises `ValueError` if there is none."""
    return [link.origin for link in links].index(TARGET[0])
