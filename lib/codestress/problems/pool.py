"""Problems that no model has seen: a pool of 2,000 generated functions like those of
CRUXEval.

`python bench/problems/write_pool.py` generated the functions. The functions have
CRUXEval's families of methods on str, list, dict and int, 2 to 12 lines, and pass
CRUXEval's filters: deterministic, no imports, no floats, within the limit on steps. In
addition, every variable affects the result, the result depends on the arguments, and
leaving out any line makes a difference.
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
    """Return `count` problems of the pool: the first ones in file order for `seed` 0,
    else the first ones in a random order.

    A problem has the same id in every order. Raises `ParameterError` if `count` is more
    than `POOL`.
    """
    if count > POOL:
        raise ParameterError(
            f"n_problems = {count}: there are {POOL} generated problems; ask for fewer"
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
    problems = []
    for number, row in enumerate(rows):
        name = f"generated_{number}"
        problems.append(Problem(name, function="f", source=Source.KIT, **row))
    return problems
