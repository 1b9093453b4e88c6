"""Random numbers from a seed and a name, so that results do not depend on the order of
work or on parallelism (law 3 of docs/architecture.md)."""

import json

import numpy as np

from .types import hash_of


def rng(seed: int, *names: str | int | float | bool) -> np.random.Generator:
    """Return a random generator for one purpose, such as `rng(seed, "shuffle",
    problem.id)`. The same `seed` and `names` always give the same numbers."""
    digest = hash_of(json.dumps([seed, *names]))
    return np.random.Generator(np.random.PCG64(int(digest, 16)))
