"""Claims of section 5 of Find the Origin about orders and signs, as numbers from the published
outcomes.

Neighbouring sizes of a list share most of their lines. So every interval is the widest of three,
which take one, three or six neighbouring sizes as one item. The number of items is the number of
blocks of three sizes.
"""

import hashlib
import importlib.util
import math
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from codestress.fitting.influence import Moved, mean, share
from codestress.fitting.proportions import normal_quantile
from codestress.inference.registry import load_registry
from codestress.parameters import Experiment
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

Named = Iterator[tuple[str, str, str, Moved]]
"""Estimates with the number's name, the list and the model."""


def stated_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Table of the numbers behind the claims of section 5, from `table`, that of `outcomes()`:
    number (its name), list, model, value, low, high, items. Values are differences of shares (-1 to
    1), and counts and shares without an interval (nan)."""
    blocks = (1, *BLOCKS)
    found: list[list[tuple[str, str, str, Moved]]] = []
    for block in blocks:
        found.append(list(_estimates(table, block)))
    rows: list[tuple[object, ...]] = []
    for same in zip(*found, strict=True):
        *names, estimate = same[0]
        sizes = len(estimate.moved)
        ends: list[float] = []
        for block, (*_, moved) in zip(blocks, same, strict=True):
            ends += moved.interval(math.ceil(sizes / block))
        items = sizes // BLOCKS[0]
        rows.append((*names, estimate.value, min(ends), max(ends), items))
    numbers = pd.DataFrame(rows, columns=COLUMNS)
    counts = pd.DataFrame(_counts(table, numbers), columns=COLUMNS[:4])
    return pd.concat([numbers, counts.assign(items=0)], ignore_index=True)


def _by_model(part: pd.DataFrame, block: int) -> pd.Series:
    """Series by model of the mean of the outcomes `part`, blocks of so many sizes as clusters."""
    right = part["right"].astype(float).set_axis(part["size"] // block)
    return right.groupby(part["model"].to_numpy(), sort=False).apply(share)


def _estimates(table: pd.DataFrame, block: int) -> Named:
    """Yields the differences of shares, with `block` neighbouring sizes as one item."""
    own = dict(list(table.groupby("list")))
    shares = {name: _by_model(part, block) for name, part in own.items()}
    of_models = []
    for name in LISTS:
        part = own[name]
        longer = part["size"] >= part["size"].median()
        halves = _by_model(part[longer], block) - _by_model(part[~longer], block)
        of_models.append(("longer half - shorter half", name, halves))
    # Adjacent links at the sizes that the other lists have too.
    common = own[ADJACENT]["size"].isin(own[DOWN]["size"])
    adjacent = _by_model(own[ADJACENT][common], block)
    apart = {name: shares[name] - adjacent for name in (DOWN, UP)}
    for name, lost in apart.items():
        of_models.append(("15 lines - adjacent", name, lost))
    gained = shares[SHUFFLED] - shares[DOWN]
    of_models.append(("shuffled - in order", SHUFFLED, gained))
    of_models.append(("up - down", UP, shares[UP] - shares[DOWN]))
    for model in adjacent.index:
        for number, name, estimates in of_models:
            yield number, name, model, estimates[model]
    for name in LISTS:
        every = shares[name]
        for smaller, larger in pairwise(FAMILY):
            yield "larger - smaller", name, larger, every[larger] - every[smaller]
        beside = every[GPT4O] - mean(list(every.drop(GPT4O)))
        yield "share - mean of the others", name, GPT4O, beside
        if name in apart:
            others = mean(list(apart[name].drop([*GEMINI])))
            for model in GEMINI:
                number = "15 lines - adjacent, beside the others"
                yield number, name, model, apart[name][model] - others
    both = own[SHUFFLED].merge(own[DOWN], on=["model", "size"])
    change = both.assign(right=both["right_x"] - both["right_y"])
    short = change["size"] < change["size"].min() + SHORT
    beyond = _by_model(change[~short], block) - _by_model(change[short], block)
    number = "shuffling, beyond the shortest - shortest"
    yield number, SHUFFLED, "mean", mean(list(beyond))


def _counts(table: pd.DataFrame, numbers: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yields counts and shares, from the outcomes `table` and the differences `numbers`: number,
    list, model, value."""
    yield "models", "", "all", table["model"].nunique()
    lost = numbers[
        (numbers["number"] == "15 lines - adjacent") & (numbers["value"] < 0)
    ]
    for name in (DOWN, UP):
        yield "models that lose", name, "all", (lost["list"] == name).sum()
    least = table.pivot_table("right", "model", "list", "min")[[DOWN, UP]]
    yield "models that fail", "", "all", (least == 0).all(axis="columns").sum()
    longest = read_published("origin")["sec62"]["rows"][-1]["tokens"]
    context = load_registry()["gpt-4-turbo-2024-04-09"].context or math.nan
    yield "share of the context", "", "GPT4-turbo", longest / context


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


def token_counts(given: Experiment, size: str = "lines") -> pd.DataFrame:
    """Table of the tokens of each trial's user message, a row for each trial of `given`: the factor
    that `size` names, as a column of that name, and tokens. Empty if the package tiktoken, or its
    vocabulary in the folder TIKTOKEN_CACHE_DIR, is not at hand: nothing is fetched."""
    rows = []
    known = Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")) / VOCABULARY
    if known.is_file() and importlib.util.find_spec("tiktoken"):
        encoding = importlib.import_module("tiktoken").get_encoding("cl100k_base")
        for trial in given.trials():
            text = given.render(trial).messages[-1].content
            rows.append((trial.factors[size], len(encoding.encode(text))))
    return pd.DataFrame(rows, columns=[size, "tokens"])


VOCABULARY = hashlib.sha1(
    b"https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
).hexdigest()
"""File name under which tiktoken keeps the vocabulary: the hash of the vocabulary's address."""
