"""Sense and Sensitivity's Tables 1 and 2 as printed: ten models without distractors, with and
without keys before all lines, and the numbers behind the text's statements.

The paper publishes accuracies, not single answers: intervals are marginal, and pairing by problem
is lost.
"""

import math
from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from codestress.fitting.proportions import newcombe
from codestress.fitting.significance import (
    kendall,
    mean_difference,
    two_shares_p,
    with_holm,
)
from codestress.report.published import read_published
from codestress.seeding import rng

from .orders import FAMILIES
from .tables import published_baselines


def scores(confidence: float) -> pd.DataFrame:
    """Table of the accuracies printed in Tables 1 and 2: model, task (CRUXEval-I, CRUXEval-O or
    SemTrace), keys (whether lines have keys), n, share, low, high (0 to 1, Wilson, at the level
    `confidence`)."""
    plain = published_baselines("semtrace/tab01", confidence)
    keyed = published_baselines("semtrace/tab02", confidence)
    parts = [plain.assign(keys=False), keyed.assign(keys=True)]
    table = pd.concat(parts, ignore_index=True).rename(columns={"label": "model"})
    table["task"] = table["condition"].str.removesuffix(", with keys")
    table["share"] = table["correct"] / table["n"]
    return table[["model", "task", "keys", "n", "share", "low", "high"]]


def with_keys(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the effect of keys before lines, from `table`, that of `scores()`, a row for each
    model and task asked with and without keys: model, task, plain, keyed (shares), difference, low,
    high (keyed - plain; Newcombe, marginal), p (pooled z test), p_holm (over all), decided
    (bool)."""
    rows = []
    both = table[~table["keys"]].merge(table[table["keys"]], on=["model", "task"])
    for row in both.itertuples():
        before = row.share_x
        after = row.share_y
        sides = before, row.n_x, after, row.n_y
        ends = newcombe(*sides, confidence)
        p_value = two_shares_p(*sides)
        change = after - before
        rows.append((row.model, row.task, before, after, change, *ends, p_value))
    columns = ["model", "task", "plain", "keyed", "difference", "low", "high", "p"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def over_models(keys: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the mean effect of keys over models, paired by model, from `keys`, the table of
    `with_keys()`, a row for each task: task, difference (with keys minus without), low, high
    (Student), p (exact sign flips), models (their number), p_holm, decided (bool)."""
    rows = []
    for task, part in keys.groupby("task", sort=False):
        found = mean_difference(part["difference"], confidence)
        rows.append((task, found.value, *found.interval, found.p_value, found.models))
    frame = pd.DataFrame(
        rows, columns=["task", "difference", "low", "high", "p", "models"]
    )
    return with_holm(frame)


def orders(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Table of rank correlations of the ten models between two benchmarks, from the rows without
    keys of `table`, that of `scores()`, a row for each pair of benchmarks.

    Columns: first, second (the benchmarks), correlation (Kendall's tau), low, high, p (permutations of
    models), p_holm, decided (bool).
    """
    plain = table[~table["keys"]]
    wide = plain.pivot_table("share", "model", "task", sort=False)
    rows = []
    for first, second in combinations(wide.columns, 2):
        draws = rng(seed, "orders", first, second)
        found = kendall(wide[first], wide[second], confidence, draws)
        rows.append((first, second, found.value, *found.interval, found.p_value))
    columns = ["first", "second", "correlation", "low", "high", "p"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def orders_title(order: pd.DataFrame) -> str:
    """Title of the figure of published accuracies, from `order`, the table of `orders()`: the pairs
    of benchmarks that are decided to order the models alike."""
    alike = order[order["decided"] & (order["correlation"] > 0)]
    pairs = [f"{row.first} and {row.second}" for row in alike.itertuples()]
    return f"{' or '.join(pairs) or 'No two benchmarks'} clearly order the models alike"


def printed(
    table: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> pd.DataFrame:
    """Table of the numbers behind the text's statements on Tables 1 and 2, from the tables `table`
    of `scores()`, `keys` of `with_keys()` and `means` of `over_models()`. Columns: number, reading,
    model, task, value (differences of shares, or counts), low, high (Newcombe; nan for a count),
    problems."""
    plain = table[~table["keys"]]
    rows = [*_differences(plain), *_counts(plain, keys, means)]
    columns = ["number", "reading", "model", "task", "value", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)


def _differences(plain: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    known = plain.set_index(["model", "task"])[["share", "n"]]
    own = {name: (share, n) for name, share, n in known.itertuples()}
    for task in plain["task"].unique():
        for name, (small, large) in FAMILIES.items():
            apart = _apart(own[large, task], own[small, task])
            yield ("larger - smaller", "", name, task, *apart)
    for model in FAMILIES["Gemma 3"]:
        apart = _apart(own[model, "CRUXEval-I"], own[model, "CRUXEval-O"])
        yield ("input - output", "", model, "", *apart)
    groups = read_published("semtrace")["groups"]
    smaller = [model for model in groups["all"] if model not in groups["larger"]]
    low = min(own[model, TESTED] for model in groups["larger"])
    high = max(own[model, TESTED] for model in smaller)
    number = "least of the larger - most of the smaller"
    yield (number, "", "all", TESTED, *_apart(low, high))
    gemma = "gemma-3-27b"
    better = min(own[model, TESTED] for model in groups["larger but GPT 4.1"])
    apart = _apart(own[gemma, TESTED], better)
    yield ("Gemma 3 27B - the larger", "", gemma, TESTED, *apart)


def _apart(
    first: tuple[float, int], second: tuple[float, int]
) -> tuple[float, float, float, int]:
    interval = newcombe(*second, *first)
    return first[0] - second[0], *interval, min(first[1], second[1])


def _counts(
    plain: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> Iterator[tuple[object, ...]]:
    wide = plain.pivot_table("share", "model", "task", sort=False)
    qwen = wide.loc["qwen2.5-coder-32b"]
    best = qwen == wide.drop(index="gpt-4.1-2025-04-14").max()
    better = qwen > wide.loc[["deepseek-coder-v2", "llama-3.3-70b"]].max()
    lite = wide.rank(method="min").loc["deepseek-coder-v2-lite"]
    outputs = wide["CRUXEval-O"] > wide["CRUXEval-I"]
    counts = [
        ("models", "", len(wide)),
        ("more on output than on input", "", outputs.sum()),
        ("tasks of Qwen 32B", "best but for GPT 4.1", best.sum()),
        ("tasks of Qwen 32B", "better than two larger models", better.sum()),
        ("tasks of DeepSeek Lite", "", (lite <= 3).sum()),
        ("keys matter", "models and tasks, corrected", keys["decided"].sum()),
        ("keys matter", "tasks, mean over models", means["decided"].sum()),
        ("chance of a guess", "", GUESSES**FEWEST * 1e10),
    ]
    for number, reading, value in counts:
        yield (number, reading, "all", "", float(value), math.nan, math.nan, 0)


TESTED = "SemTrace"
GUESSES, FEWEST = 1 / 200, 4
"""Probability of guessing one of SemTrace's 200 addends, and the fewest addends of a function (section
2.3)."""
