"""The order of shared prefixes: each computed once, with a cache smaller than the study."""

from __future__ import annotations

import random
from collections import OrderedDict
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from codestress.inference.requests import BLOCK, chain
from served import prompt

TREE = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40
)


def chain_of(path: list[int]) -> bytes:
    """Chain of a prompt with one block for each number."""
    return chain(prompt("".join(str(number) * BLOCK for number in path)))


def prefixes(chain: bytes) -> set[bytes]:
    return {chain[:end] for end in range(4, len(chain) + 1, 4)}


def saved(chains: list[bytes]) -> int:
    """Blocks that each shares with the one before it: what a cache that forgets nothing saves."""
    shared = [prefixes(one) & prefixes(other) for one, other in pairwise(chains)]
    return sum(map(len, shared))


@settings(deadline=None)
@given(TREE)
def test_each_prefix_is_computed_once(paths: list[list[int]]) -> None:
    chains = [*map(chain_of, paths)]
    total = sum(len(one) // 4 for one in chains)
    # What must be computed at the least: the blocks of the tree of prefixes.
    least = len(set().union(*map(prefixes, chains)))
    assert saved(sorted(chains)) == total - least


def computed(sequence: list[bytes], capacity: int) -> int:
    """Blocks that a server computes, one request after the other, with a least-recently-used cache of blocks."""
    cache: OrderedDict[bytes, None] = OrderedDict()
    misses = 0
    for one in sequence:
        for end in range(4, len(one) + 1, 4):
            if one[:end] in cache:
                cache.move_to_end(one[:end])
            else:
                misses += 1
                cache[one[:end]] = None
                while len(cache) > capacity:
                    cache.popitem(last=False)
    return misses


def test_a_small_cache_saves_what_the_tree_allows() -> None:
    """Positions of a target among distractors, 20 problems: order against a shuffle, cache of two prompts."""
    paths = []
    for problem in range(20):
        distractors = [100 + problem * 20 + n for n in range(10)]
        paths += [
            [problem, *distractors[:place], 1000 + problem, *distractors[place:]]
            for place in range(11)
        ]
    randomly = random.Random(0)
    randomly.shuffle(paths)
    chains = [*map(chain_of, paths)]
    blocks = [len(one) // 4 for one in chains]
    total, capacity = sum(blocks), 2 * max(blocks)
    in_order = sorted(chains)
    ordered, shuffled = (computed(one, capacity) for one in (in_order, chains))
    assert total - ordered >= 0.95 * saved(in_order)
    assert total - shuffled < 0.2 * saved(in_order)
