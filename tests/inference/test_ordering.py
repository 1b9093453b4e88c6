"""The order of shared prefixes: each computed once, leaders first, with a cache smaller than the study."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import OrderedDict
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from codestress.inference.requests import BLOCK, Schedule, chain, prefix_order, shared_blocks
from codestress.types import Message, Prompt, Sampling

TREE = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40)


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
    return sum(shared_blocks(one, other) for one, other in pairwise(chains))


@settings(deadline=None)
@given(TREE)
def test_each_prefix_is_computed_once(paths: list[list[int]]) -> None:
    chains = [chain(prompt(path)) for path in paths]
    order = prefix_order(chains)
    assert sorted(order.requests) == list(range(len(paths)))
    total = sum(len(one) // 4 for one in chains)
    assert saved([chains[index] for index in order.requests]) == total - nodes(paths)


@settings(deadline=None)
@given(TREE)
def test_a_leader_is_the_first_that_has_what_is_shared(paths: list[list[int]]) -> None:
    chains = [chain(prompt(path)) for path in paths]
    order = prefix_order(chains)
    sorted_chains = [chains[index] for index in order.requests]
    for position, leader in enumerate(order.leaders):
        shared = (
            shared_blocks(sorted_chains[position - 1], sorted_chains[position]) if position else 0
        )
        expected = next(
            (
                n
                for n in range(position)
                if shared and shared_blocks(sorted_chains[n], sorted_chains[position]) >= shared
            ),
            -1,
        )
        assert leader == expected


@settings(deadline=None, max_examples=50)
@given(TREE, st.integers(1, 8), st.integers(1, 30), st.randoms(use_true_random=False))
def test_every_position_is_taken_once_after_its_leader(
    paths: list[list[int]], workers: int, window: int, randomly: random.Random
) -> None:
    order = prefix_order([chain(prompt(path)) for path in paths])
    done: list[int] = []

    async def worker(schedule: Schedule[int]) -> None:
        while (taken := await schedule.take()) is not None:
            position, work = taken
            assert work == position
            assert order.leaders[position] < 0 or order.leaders[position] in done
            for _ in range(randomly.randrange(5)):
                await asyncio.sleep(0)
            done.append(position)
            schedule.done(position)

    async def all_workers() -> None:
        schedule = Schedule(zip(order.leaders, itertools.count()), window)
        await asyncio.wait_for(asyncio.gather(*(worker(schedule) for _ in range(workers))), 60)

    asyncio.run(all_workers())
    assert sorted(done) == list(range(len(paths)))


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
    order = prefix_order(chains)
    total = sum(len(one) // 4 for one in chains)
    in_order = [chains[index] for index in order.requests]
    ordered = computed(in_order, 2 * max(len(one) // 4 for one in chains))
    shuffled = computed(chains, 2 * max(len(one) // 4 for one in chains))
    assert total - ordered >= 0.95 * saved(in_order)
    assert total - shuffled < 0.2 * saved(in_order)
