"""The order of shared prefixes: each computed once, with a cache smaller than the study."""

from __future__ import annotations

import random
from collections import OrderedDict
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from codestress.inference.requests import BLOCK, chain
from codestress.types import Message, Prompt, Sampling

TREE = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40
)


def prompt(path: list[int]) -> Prompt:
    """A prompt of one block for each number."""
    text = "".join(str(number) * BLOCK for number in path)
    return Prompt((Message("user", text),), Sampling())


def nodes(paths: list[list[int]]) -> int:
    """Blocks of the tree of prefixes: what must be computed at the least."""
    return len(
        {
            chain(prompt(path))[: 4 * (n + 1)]
            for path in paths
            for n in range(len(chain(prompt(path))) // 4)
        }
    )


def saved(chains: list[bytes]) -> int:
    """Blocks that each shares with the one before it: what a cache that forgets nothing saves."""
    return sum(
        len(
            {one[:end] for end in range(4, len(one) + 1, 4)}
            & {other[:end] for end in range(4, len(other) + 1, 4)}
        )
        for one, other in pairwise(chains)
    )


@settings(deadline=None)
@given(TREE)
def test_each_prefix_is_computed_once(paths: list[list[int]]) -> None:
    chains = [chain(prompt(path)) for path in paths]
    total = sum(len(one) // 4 for one in chains)
    assert saved(sorted(chains)) == total - nodes(paths)


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
    chains = [chain(prompt(path)) for path in paths]
    total = sum(len(one) // 4 for one in chains)
    in_order = sorted(chains)
    ordered = computed(in_order, 2 * max(len(one) // 4 for one in chains))
    shuffled = computed(chains, 2 * max(len(one) // 4 for one in chains))
    assert total - ordered >= 0.95 * saved(in_order)
    assert total - shuffled < 0.2 * saved(in_order)
