"""Claims of section 5 of Find the Origin about orders and signs, as numbers from the published
outcomes.

Neighbouring sizes of a list share most of their lines. So every interval is the widest of three,
which take one, three or six neighbouring sizes as one item. The number of items is the number of
blocks of three sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from codestress.fitting.influence import share, total
from codestress.fitting.proportions import normal_quantile
from codestress.inference.registry import load_registry
from codestress.papers.origin.published import BLOCKS, LISTS, by_distance
from codestress.report.published import read_published

COLUMNS = ["number", "list", "model", "value", "low", "high", "items"]
ADJACENT, DOWN, UP, SHUFFLED = LISTS
FAMILY = ("Llama3.1-8b", "Llama3.1-70b", "Llama3.1-405b")
"""Models whose numbers of parameters are published, smallest first."""
GEMINI = ("Gemini-Pro", "Gemini-Flash")
SHORT = 12
"""Number of sizes that count as the shortest of a list: about a tenth, up to some 1,300 tokens."""

Outcomes = Mapping[tuple[str, str], pd.Series]
"""Outcomes by list and model: right (1) or wrong (0), by size."""
Terms = Sequence[tuple[float, pd.Series]]
Key = tuple[str, str, str]
"""Name of a number, list and model."""


def stated_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Table of the numbers behind the claims of section 5, from `table`, that of `outcomes()`:
    number (its name), list, model, value, low, high, items. Values are differences of shares (-1 to
    1), and counts and shares without an interval (nan)."""
    models = list(table["model"].unique())
    known = {
        names: part.set_index("size")["right"]
        for names, part in table.groupby(["list", "model"])
    }
    terms: dict[Key, Terms] = {}
    for model in models:
        terms |= _of_model(known, model)
    for name in LISTS:
        terms |= _of_list(known, models, name)
    rows: list[tuple[object, ...]] = [(*key, *_of(part)) for key, part in terms.items()]
    rows += _of_counts(known, models)
    factor, ends = 1 / len(models), []
    for model in models:
        change = known[SHUFFLED, model] - known[DOWN, model]
        ends += [(factor, change.iloc[SHORT:]), (-factor, change.iloc[:SHORT])]
    rows.append(
        ("shuffling, beyond the shortest - shortest", SHUFFLED, "mean", *_of(ends))
    )
    return pd.DataFrame(rows, columns=COLUMNS)


def _of(terms: Terms) -> tuple[float, float, float, int]:
    """Sum over `terms`, pairs of a factor and outcomes (1 or 0 by size), of each mean times its
    factor, with the widest of its intervals: value, low, high, items (blocks of three sizes)."""
    sizes = len(set().union(*(outcomes.index for _, outcomes in terms)))
    intervals = []
    for block in (1, *BLOCKS):
        shares = [
            share(outcomes.set_axis(outcomes.index // block).astype(float)) * factor
            for factor, outcomes in terms
        ]
        moved = total(shares)
        intervals.append(moved.interval(math.ceil(sizes / block)))
    low, high = (
        min(ends.low for ends in intervals),
        max(ends.high for ends in intervals),
    )
    return moved.value, low, high, sizes // BLOCKS[0]


def _apart(known: Outcomes, model: str, first: str, second: str) -> Terms:
    """Terms (pairs of factor and outcomes) of the outcomes of `model` in the list `second` minus
    those in the list `first`, at the sizes that both have; `known` holds outcomes by list and
    model."""
    one, other = (known[name, model] for name in (first, second))
    same = one.index.intersection(other.index)
    return [(1.0, other[same]), (-1.0, one[same])]


def _of_model(known: Outcomes, model: str) -> dict[Key, Terms]:
    terms: dict[Key, Terms] = {}
    for name in LISTS:
        outcomes = known[name, model]
        longer = outcomes.index >= outcomes.index[len(outcomes) // 2]
        halves = [(1.0, outcomes[longer]), (-1.0, outcomes[~longer])]
        terms["longer half - shorter half", name, model] = halves
    for name in (DOWN, UP):
        terms["15 lines - adjacent", name, model] = _apart(known, model, ADJACENT, name)
    terms["shuffled - in order", SHUFFLED, model] = _apart(known, model, DOWN, SHUFFLED)
    terms["up - down", UP, model] = _apart(known, model, DOWN, UP)
    return terms


def _of_list(known: Outcomes, models: Sequence[str], name: str) -> dict[Key, Terms]:
    terms: dict[Key, Terms] = {}
    for smaller, larger in pairwise(FAMILY):
        sides = [(1.0, known[name, larger]), (-1.0, known[name, smaller])]
        terms["larger - smaller", name, larger] = sides
    others = [model for model in models if model != "GPT4o"]
    mean = [(-1 / len(others), known[name, model]) for model in others]
    terms["share - mean of the others", name, "GPT4o"] = [
        (1.0, known[name, "GPT4o"]),
        *mean,
    ]
    others = [model for model in models if model not in GEMINI]
    for model in GEMINI if name in (DOWN, UP) else ():
        changes = [*_apart(known, model, ADJACENT, name)]
        for other in others:
            apart = _apart(known, other, ADJACENT, name)
            changes += [(-factor / len(others), part) for factor, part in apart]
        terms["15 lines - adjacent, beside the others", name, model] = changes
    return terms


def _of_counts(known: Outcomes, models: Sequence[str]) -> list[tuple[object, ...]]:
    nothing = (math.nan, math.nan, 0)
    rows: list[tuple[object, ...]] = [("models", "", "all", len(models), *nothing)]
    for name in (DOWN, UP):
        falls = sum(
            _of(_apart(known, model, ADJACENT, name))[0] < 0 for model in models
        )
        rows.append(("models that lose", name, "all", falls, *nothing))
    wrong = sum(
        known[DOWN, model].min() == known[UP, model].min() == 0 for model in models
    )
    rows.append(("models that fail", "", "all", wrong, *nothing))
    longest = read_published("origin")["sec62"]["rows"][-1]["tokens"]
    context = load_registry()["gpt-4-turbo-2024-04-09"].context or math.nan
    rows.append(("share of the context", "", "GPT4-turbo", longest / context, *nothing))
    return rows


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
