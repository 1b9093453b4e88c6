"""Numbers behind the claims of section 5 of Find the Origin about orders and signs,
computed from the published outcomes.

Neighbouring sizes of a list share most of their lines, so they are not independent.
Every interval is therefore the widest of three, which take one, three or six
neighbouring sizes as one item. The number of items is the number of blocks of three
sizes.
"""

import importlib.util
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import normal_quantile
from codestress.inference.registry import load_registry
from codestress.parameters import Experiment
from codestress.report.published import read_published

from .published import BLOCKS, LISTS
from .results import published_shares

COLUMNS = ["number", "list", "model", "value", "low", "high", "items"]
"""Columns of the table of numbers."""
ADJACENT, DOWN, UP, SHUFFLED = LISTS
"""Names of the four lists whose outcomes are published."""
FAMILY = ("Llama3.1-8b", "Llama3.1-70b", "Llama3.1-405b")
"""Models whose numbers of parameters are published, smallest first."""
GEMINI = ["Gemini-Pro", "Gemini-Flash"]
"""Models that the paper compares with all others in how they bear a longer distance."""
GPT4O = "GPT4o"
"""Model that the paper compares with all others in its share of right answers."""
SHORT = 12
"""Number of sizes that count as the shortest of a list: about a tenth, up to some 1,300
tokens."""


def stated_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers behind the claims of section 5, computed from `table`, the
    result of `outcomes()`, a row for each number, list and model.

    Columns: number (its name), list, model, value, low, high, items. Values are
    differences of shares (-1 to 1) with 95 % intervals, or counts and shares without an
    interval (low and high nan, items 0).
    """
    rows = []
    for (number, name), estimates in _estimates(table).items():
        for model, estimate in estimates.items():
            sizes = len(estimate.moved)
            ends = list[float]()
            for block in BLOCKS.values():
                blocks = estimate.moved.groupby(estimate.moved.index // block).sum()
                own = replace(estimate, moved=blocks)
                ends += own.interval(math.ceil(sizes / block))
            low, high = min(ends), max(ends)
            items = sizes // BLOCKS["p_3"]
            rows.append((number, name, model, estimate.value, low, high, items))
    numbers = pd.DataFrame(rows, columns=COLUMNS)
    counts = pd.DataFrame(_counts(table, numbers), columns=COLUMNS[:4])
    return pd.concat([numbers, counts.assign(items=0)], ignore_index=True)


def _by_model(part: pd.DataFrame) -> pd.Series:
    """Return the mean of the outcomes `part` for each model, as a series of estimates
    indexed by model; sizes are the clusters."""
    right = part["right"].astype(float).set_axis(part["size"])
    return right.groupby(part["model"].to_numpy(), sort=False).apply(share)


def _estimates(table: pd.DataFrame) -> dict[tuple[str, str], pd.Series]:
    """Return the differences of shares in `table`, with each size as one item, as a
    dict from the number's name and the list to a series of estimates by model."""
    own = dict(list(table.groupby("list")))
    shares = {name: _by_model(own[name]) for name in LISTS}
    numbers = {}
    for name, every in shares.items():
        part = own[name]
        longer = part["size"] >= part["size"].median()
        halves = _by_model(part[longer]) - _by_model(part[~longer])
        numbers["longer half - shorter half", name] = halves
        larger = every[[*FAMILY[1:]]]
        smaller = every[[*FAMILY[:-1]]]
        numbers["larger - smaller", name] = larger - smaller.to_numpy()
        others = mean(list(every.drop(GPT4O)))
        numbers["share - mean of the others", name] = every[[GPT4O]] - others
    # Adjacent links at the sizes that the other lists have too.
    common = own[ADJACENT]["size"].isin(own[DOWN]["size"])
    adjacent = _by_model(own[ADJACENT][common])
    for name in (DOWN, UP):
        loss = shares[name] - adjacent
        numbers["15 lines - adjacent", name] = loss
        beside = loss[GEMINI] - mean(list(loss.drop(GEMINI)))
        numbers["15 lines - adjacent, beside the others", name] = beside
    numbers["shuffled - in order", SHUFFLED] = shares[SHUFFLED] - shares[DOWN]
    numbers["up - down", UP] = shares[UP] - shares[DOWN]
    both = own[SHUFFLED].merge(own[DOWN], on=["model", "size"])
    both["right"] = both["right_x"] - both["right_y"]
    short = both["size"] < both["size"].min() + SHORT
    beyond = _by_model(both[~short]) - _by_model(both[short])
    over_models = pd.Series({"mean": mean(list(beyond))})
    numbers["shuffling, beyond the shortest - shortest", SHUFFLED] = over_models
    return numbers


def _counts(table: pd.DataFrame, numbers: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield counts and shares as (number, list, model, value), from the outcomes
    `table` and the differences `numbers`."""
    yield "models", "", "all", table["model"].nunique()
    loss = numbers.query("number == '15 lines - adjacent' and value < 0")
    losing = loss["list"]
    for name in (DOWN, UP):
        yield "models that lose", name, "all", (losing == name).sum()
    least = table.pivot_table("right", "model", "list", "min")[[DOWN, UP]]
    yield "models that fail", "", "all", (least == 0).all(axis="columns").sum()
    longest = read_published("origin")["sec62"]["rows"][-1]["tokens"]
    context = load_registry()["gpt-4-turbo-2024-04-09"].context or math.nan
    yield "share of the context", "", "GPT4-turbo", longest / context


class Slope(NamedTuple):
    """Slope of accuracy over the distance |d|, of one model on one side of Figures 6 to
    9."""

    model: str
    side: str
    """`down` (d > 0) or `up` (d < 0)."""
    value: float
    """Change of accuracy, in percentage points per line."""
    low: float
    high: float
    """Ends of the interval of the slope."""
    items: int
    """Smallest number of answers at a distance."""


def slopes(confidence: float) -> pd.DataFrame:
    """Return every `Slope` of Figures 6 to 9, a row for each, with intervals at
    `confidence`. The figures give only totals, so sizes count as independent."""
    rows = []
    figures = [f"origin/fig0{number}" for number in range(6, 10)]
    table = pd.concat([published_shares(figure, confidence) for figure in figures])
    sides = np.sign(table["d"]).map({1: "down", -1: "up"})
    for (model, side), part in table.groupby(["label", sides], sort=False):
        away = part["d"].abs() - part["d"].abs().mean()
        factors = 100 * away / (away**2).sum()
        correct, n = part["correct"], part["n"]
        doubted = (correct + 1) / (n + 2)
        error = math.sqrt((factors**2 * doubted * (1 - doubted) / n).sum())
        value = (factors * correct / n).sum()
        half = normal_quantile(confidence) * error
        rows.append(Slope(model, side, value, value - half, value + half, n.min()))
    return pd.DataFrame(rows)


def token_steps() -> pd.DataFrame:
    """Return the mean number of tokens by which a list is longer than the previous
    list, from the axis labels of Figures 1 to 3. Columns: figure (`fig01`, …), tokens.
    """
    tokens = read_published("origin")["tokens"]
    rows = []
    for figure in ("fig01", "fig02", "fig03"):
        rows.append((figure, np.diff(tokens[figure]).mean() / tokens["every"]))
    return pd.DataFrame(rows, columns=["figure", "tokens"])


def token_counts(given: Experiment, size: str = "lines") -> pd.DataFrame:
    """Return the number of tokens of the user message of each trial of `given`.
    Columns: the factor named by `size`, tokens.

    The table is empty if the package tiktoken, or its vocabulary in the folder
    TIKTOKEN_CACHE_DIR, is missing: nothing is downloaded.
    """
    rows = []
    known = Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")) / VOCABULARY
    if known.is_file() and importlib.util.find_spec("tiktoken"):
        encoding = importlib.import_module("tiktoken").get_encoding("cl100k_base")
        for trial in given.trials():
            text = given.render(trial).messages[-1].content
            rows.append((trial.factors[size], len(encoding.encode(text))))
    return pd.DataFrame(rows, columns=[size, "tokens"])


VOCABULARY = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""File name under which tiktoken keeps the vocabulary: the SHA-1 hash of the
vocabulary's address,
https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken."""
