"""Claims of section 5 of Find the Origin about orders and signs, as numbers from the published
outcomes.

Neighbouring sizes of a list share most of their lines. So every interval is the widest of three,
which take one, three or six neighbouring sizes as one item. The number of items is the number of
blocks of three sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from codestress.fitting.influence import share, total
from codestress.fitting.proportions import normal_quantile
from codestress.inference.registry import load_registry
from codestress.report.published import read_published

from .published import BLOCKS, LISTS, by_distance

COLUMNS = ["number", "list", "model", "value", "low", "high", "items"]
ADJACENT, DOWN, UP, SHUFFLED = LISTS
FAMILY = ("Llama3.1-8b", "Llama3.1-70b", "Llama3.1-405b")
"""Models whose numbers of parameters are published, smallest first."""
GEMINI = ("Gemini-Pro", "Gemini-Flash")
GPT4O = "GPT4o"
SHORT = 12
"""Number of sizes that count as the shortest of a list: about a tenth, up to some 1,300 tokens."""

Outcomes = Mapping[tuple[str, str], pd.Series]
"""Outcomes by list and model: right (1) or wrong (0), by size."""
Terms = Sequence[tuple[float, pd.Series]]
Row = tuple[object, ...]


def stated_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Table of the numbers behind the claims of section 5, from `table`, that of `outcomes()`:
    number (its name), list, model, value, low, high, items. Values are differences of shares (-1 to
    1), and counts and shares without an interval (nan)."""
    models = list(table["model"].unique())
    known = {
        names: part.set_index("size")["right"]
        for names, part in table.groupby(["list", "model"])
    }
    rows: list[Row] = []
    for model in models:
        rows += _of_model(known, model)
    for name in LISTS:
        rows += _of_list(known, models, name)
    rows += _of_counts(known, models)
    factor, ends = 1 / len(models), []
    for model in models:
        change = known[SHUFFLED, model] - known[DOWN, model]
        ends += [(factor, change.iloc[SHORT:]), (-factor, change.iloc[:SHORT])]
    shuffling = "shuffling, beyond the shortest - shortest"
    rows.append((shuffling, SHUFFLED, "mean", *_of(ends)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _of(terms: Terms) -> tuple[float, float, float, int]:
    """Sum over `terms`, pairs of a factor and outcomes (1 or 0 by size), of each mean times its
    factor, with the widest of its intervals: value, low, high, items (blocks of three sizes)."""
    sizes = len(set().union(*(outcomes.index for _, outcomes in terms)))
    ends: list[float] = []
    for block in (1, *BLOCKS):
        shares = [
            share(outcomes.set_axis(outcomes.index // block).astype(float)) * factor
            for factor, outcomes in terms
        ]
        moved = total(shares)
        ends += moved.interval(math.ceil(sizes / block))
    return moved.value, min(ends), max(ends), sizes // BLOCKS[0]


def _less(second: pd.Series, first: pd.Series) -> Terms:
    return [(1.0, second), (-1.0, first)]


def _apart(known: Outcomes, model: str, first: str, second: str) -> Terms:
    """Terms (pairs of factor and outcomes) of the outcomes of `model` in the list `second` minus
    those in the list `first`, at the sizes that both have; `known` holds outcomes by list and
    model."""
    one, other = known[first, model].align(known[second, model], "inner")
    return _less(other, one)


def _of_model(known: Outcomes, model: str) -> Iterator[Row]:
    for name in LISTS:
        outcomes = known[name, model]
        longer = outcomes.index >= outcomes.index[len(outcomes) // 2]
        halves = _of(_less(outcomes[longer], outcomes[~longer]))
        yield ("longer half - shorter half", name, model, *halves)
    for number, first, second in (
        ("15 lines - adjacent", ADJACENT, DOWN),
        ("15 lines - adjacent", ADJACENT, UP),
        ("shuffled - in order", DOWN, SHUFFLED),
        ("up - down", DOWN, UP),
    ):
        yield (number, second, model, *_of(_apart(known, model, first, second)))


def _of_list(known: Outcomes, models: Sequence[str], name: str) -> Iterator[Row]:
    for smaller, larger in pairwise(FAMILY):
        sides = _less(known[name, larger], known[name, smaller])
        yield ("larger - smaller", name, larger, *_of(sides))
    others = [model for model in models if model != GPT4O]
    beside = [(1.0, known[name, GPT4O])]
    beside += [(-1 / len(others), known[name, model]) for model in others]
    yield ("share - mean of the others", name, GPT4O, *_of(beside))
    others = [model for model in models if model not in GEMINI]
    for model in GEMINI if name in (DOWN, UP) else ():
        changes = [*_apart(known, model, ADJACENT, name)]
        for other in others:
            apart = _apart(known, other, ADJACENT, name)
            changes += [(-factor / len(others), part) for factor, part in apart]
        number = "15 lines - adjacent, beside the others"
        yield (number, name, model, *_of(changes))


def _of_counts(known: Outcomes, models: Sequence[str]) -> Iterator[Row]:
    nothing = (math.nan, math.nan, 0)
    yield ("models", "", "all", len(models), *nothing)
    for name in (DOWN, UP):
        changes = [_of(_apart(known, model, ADJACENT, name))[0] for model in models]
        falls = sum(change < 0 for change in changes)
        yield ("models that lose", name, "all", falls, *nothing)
    fail = 0
    for model in models:
        fail += known[DOWN, model].min() == known[UP, model].min() == 0
    yield ("models that fail", "", "all", fail, *nothing)
    longest = read_published("origin")["sec62"]["rows"][-1]["tokens"]
    context = load_registry()["gpt-4-turbo-2024-04-09"].context or math.nan
    yield ("share of the context", "", "GPT4-turbo", longest / context, *nothing)


def slopes(confidence: float) -> pd.DataFrame:
    """Table of the slope of accuracy over the distance |d|, for each model and side of Figures 6 to
    9: model, side (`down` or `up`), value (percentage points a line), low, high (at the level
    `confidence`), items (answers at a distance, the fewest). The figures give totals, so sizes
    count as independent."""
    rows = []
    table = by_distance()
    for (model, sign), part in table.groupby(
        ["model", np.sign(table["d"])], sort=False
    ):
        away = part["d"].abs() - part["d"].abs().mean()
        factors = 100 * away / (away**2).sum()
        doubted = (part["correct"] + 1) / (part["n"] + 2)
        error = math.sqrt((factors**2 * doubted * (1 - doubted) / part["n"]).sum())
        value = (factors * part["correct"] / part["n"]).sum()
        half = normal_quantile(confidence) * error
        side = "down" if sign > 0 else "up"
        rows.append((model, side, value, value - half, value + half, part["n"].min()))
    return pd.DataFrame(
        rows, columns=["model", "side", "value", "low", "high", "items"]
    )


def token_steps() -> pd.DataFrame:
    """Table of the mean number of tokens by which each list is longer than the list before, by the
    labels of Figures 1 to 3: figure (`fig01`, …), tokens."""
    tokens = read_published("origin")["tokens"]
    rows = []
    for figure in ("fig01", "fig02", "fig03"):
        first, *_, last = labels = tokens[figure]
        rows.append((figure, (last - first) / (tokens["every"] * (len(labels) - 1))))
    return pd.DataFrame(rows, columns=["figure", "tokens"])
