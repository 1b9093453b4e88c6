"""Problems that no model has seen: a pool of 2,000 CRUXEval-like functions.

`python bench/problems/write_pool.py` wrote them. They have CRUXEval's families of methods on str,
list, dict and int, 2 to 12 lines, and pass its filters: deterministic, no imports, no floats,
within the limit of steps. In addition, every variable affects the result, the result depends on the
arguments, and no line could be left out without a difference.
"""

import gzip
import json
from functools import cache
from importlib.resources import files

from codestress.errors import ParameterError
from codestress.seeding import rng
from codestress.types import Source

from .program import Problem

POOL = 2000
"""Number of problems in the pool."""


def generated_problems(count: int, *, seed: int = 0) -> list[Problem]:
    """Returns the first `count` problems of the pool: in the order of its file for `seed` 0, in a
    random order for any other seed. A problem has the same id in every order. `ParameterError` for
    more problems than the pool has."""
    if count > POOL:
        raise ParameterError(
            f"n_problems = {count}: there are {POOL} generated problems; ask for at most as many"
        )
    pool = _pool()
    if not seed:
        return pool[:count]
    order = rng(seed, "generated").permutation(POOL)
    return [pool[number] for number in order[:count]]


@cache
def _pool() -> list[Problem]:
    packed = (files(__package__) / "pool.jsonl.gz").read_bytes()
    rows = map(json.loads, gzip.decompress(packed).splitlines())
    return [
        Problem(f"generated_{number}", function="f", source=Source.KIT, **row)
        for number, row in enumerate(rows)
    ]
