"""The order of shared prefixes: each is computed once."""

from __future__ import annotations

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
