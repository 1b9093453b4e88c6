"""Random numbers from a seed and a name, so that results depend on neither order nor parallelism
(law 3 of docs/architecture.md)."""

import json

import numpy as np

from .types import hash_of


def rng(seed: int, *names: str | int | float | bool) -> np.random.Generator:
    """Random generator for one purpose, such as `rng(seed, "shuffle", problem.id)`: the same `seed`
    and `names` always give the same numbers."""
    digest = hash_of(json.dumps([seed, *names]))
    return np.random.Generator(np.random.PCG64(int(digest, 16)))
