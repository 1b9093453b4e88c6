"""Random numbers from a seed and a name, so that results depend on neither order nor parallelism
(law 3 of docs/architecture.md)."""

import hashlib
import json

import numpy as np


def rng(seed: int, *names: str | int | float | bool) -> np.random.Generator:
    """Random generator for one purpose, such as `rng(seed, "shuffle", problem.id)`: the same `seed`
    and `names` always give the same numbers."""
    digest = hashlib.blake2b(
        json.dumps([seed, *names]).encode(), digest_size=16
    ).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
