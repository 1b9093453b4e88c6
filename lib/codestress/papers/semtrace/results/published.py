"""Sense and Sensitivity's Tables 1 and 2 as printed: ten models without distractors,
with and without keys before all lines, and the numbers behind the text's statements.

The paper publishes accuracies, not single answers. Intervals are therefore marginal,
and the pairing by problem is lost.
"""

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
from codestress.seeding import rng

from .orders import FAMILIES
from .tables import GPT, published_baselines, published_groups

TESTED = "SemTrace"
"""Task whose accuracies the text compares between groups of models."""
Share = tuple[float, int]
"""A printed share (0 to 1) and its number of problems."""


def scores(confidence: float) -> pd.DataFrame:
    """Return the accuracies printed in Tables 1 and 2. Columns: model, task
    (CRUXEval-I, CRUXEval-O or SemTrace), keys (whether lines have keys), n, share, low,
    high (0 to 1, Wilson's interval at `confidence`)."""
    plain = published_baselines("semtrace/tab01", confidence)
    keyed = published_baselines("semtrace/tab02", confidence)
    parts = [plain.assign(keys=False), keyed.assign(keys=True)]
    table = pd.concat(parts, ignore_index=True).rename(columns={"label": "model"})
    table["task"] = table["condition"].str.removesuffix(", with keys")
    table["share"] = table["correct"] / table["n"]
    return table[["model", "task", "keys", "n", "share", "low", "high"]]


def with_keys(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the effect of keys before lines, a row for each model and task asked with
    and without keys. `table` is the result of `scores()`.

    Columns: model, task; plain, keyed (shares without and with keys, 0 to 1);
    difference, low, high (keyed - plain; Newcombe's interval at `confidence`,
    marginal); p (pooled z test), p_holm (Holm's correction over all rows), decided
    (bool).
    """
    rows = []
    both = table.query("not keys").merge(table.query("keys"), on=["model", "task"])
    for pair in both.itertuples():
        sides = pair.share_x, pair.n_x, pair.share_y, pair.n_y
        row = {"model": pair.model, "task": pair.task}
        row["plain"] = pair.share_x
        row["keyed"] = pair.share_y
        row["difference"] = pair.share_y - pair.share_x
        row |= newcombe(*sides, confidence)._asdict()
        row["p"] = two_shares_p(*sides)
        rows.append(row)
    return with_holm(pd.DataFrame(rows))


def over_models(keys: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the mean effect of keys over models, paired by model, a row for each task.
    `keys` is the result of `with_keys()`.

    Columns: task, difference (with keys minus without, -1 to 1), low, high (Student's
    interval at `confidence`), p (exact sign flips), models (their number), p_holm,
    decided (bool).
    """
    rows = []
    for task, part in keys.groupby("task", sort=False):
        mean = mean_difference(part["difference"], confidence)
        row = {"task": task}
        row["difference"] = mean.value
        row |= mean.interval._asdict()
        row["p"] = mean.p_value
        row["models"] = mean.models
        rows.append(row)
    return with_holm(pd.DataFrame(rows))


def orders(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Return rank correlations of the ten models between two benchmarks, a row for each
    pair of benchmarks. The shares are those without keys in `table`, the result of
    `scores()`.

    Columns: first, second (the benchmarks), correlation (Kendall's tau), low, high
    (interval at `confidence`), p (permutations of models), p_holm, decided (bool).
    """
    plain = table[~table["keys"]]
    wide = plain.pivot_table("share", "model", "task", sort=False)
    rows = []
    for first, second in combinations(wide.columns, 2):
        draws = rng(seed, "orders", first, second)
        tau = kendall(wide[first], wide[second], confidence, draws)
        row = {"first": first, "second": second}
        row["correlation"] = tau.value
        row |= tau.interval._asdict()
        row["p"] = tau.p_value
        rows.append(row)
    return with_holm(pd.DataFrame(rows))


def orders_title(order: pd.DataFrame) -> str:
    """Return the title of the figure of published accuracies: the pairs of benchmarks
    that clearly order the models alike. `order` is the result of `orders()`."""
    alike = order.query("decided and correlation > 0")
    pairs = alike["first"] + " and " + alike["second"]
    names = " or ".join(pairs) or "No two benchmarks"
    return f"{names} clearly order the models alike"


def printed(
    table: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> pd.DataFrame:
    """Return the numbers behind the text's statements on Tables 1 and 2. `table`,
    `keys` and `means` are the results of `scores()`, `with_keys()` and `over_models()`.

    Columns: number, reading (interpretation of the paper's words), model, task, value
    (difference of shares, or a count), low, high (Newcombe's 95 % interval; nan for a
    count), problems.
    """
    plain = table[~table["keys"]]
    rows = []
    row: dict[str, object]
    for number, model, task, first, second in _differences(plain):
        row = {"number": number, "reading": "", "model": model, "task": task}
        row["value"] = first[0] - second[0]
        row |= newcombe(*second, *first)._asdict()
        row["problems"] = min(first[1], second[1])
        rows.append(row)
    for number, reading, count in _counts(plain, keys, means):
        row = {"number": number, "reading": reading, "model": "all", "task": ""}
        rows.append(row | {"value": count, "problems": 0})
    return pd.DataFrame(rows)


def _differences(plain: pd.DataFrame) -> Iterator[tuple[str, str, str, Share, Share]]:
    """Yield the differences that the text states as (number, model or family, task,
    first share, second share). The shares come from `plain`; the second is subtracted
    from the first."""
    own = {}
    for row in plain.itertuples():
        own[row.model, row.task] = row.share, row.n
    for task in plain["task"].unique():
        for name, (small, large) in FAMILIES.items():
            yield "larger - smaller", name, task, own[large, task], own[small, task]
    for model in FAMILIES["Gemma 3"]:
        inputs = own[model, "CRUXEval-I"]
        outputs = own[model, "CRUXEval-O"]
        yield "input - output", model, "", inputs, outputs
    groups = published_groups()
    larger = groups["larger"]
    low = min(own[model, TESTED] for model in larger)
    high = max(own[model, TESTED] for model in groups["all"] if model not in larger)
    yield "least of the larger - most of the smaller", "all", TESTED, low, high
    gemma = "gemma-3-27b"
    least = min(own[model, TESTED] for model in groups["larger but GPT 4.1"])
    yield "Gemma 3 27B - the larger", gemma, TESTED, own[gemma, TESTED], least


def _counts(
    plain: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> Iterator[tuple[str, str, float]]:
    """Yield the counts that the text states as (number, reading, count)."""
    wide = plain.pivot_table("share", "model", "task", sort=False)
    yield "models", "", len(wide)
    outputs = wide["CRUXEval-O"] > wide["CRUXEval-I"]
    yield "more on output than on input", "", outputs.sum()
    qwen = wide.loc["qwen2.5-coder-32b"]
    best = qwen == wide.drop(index=GPT).max()
    yield "tasks of Qwen 32B", "best but for GPT 4.1", best.sum()
    better = qwen > wide.loc[["deepseek-coder-v2", "llama-3.3-70b"]].max()
    yield "tasks of Qwen 32B", "better than two larger models", better.sum()
    lite = wide.rank(method="min").loc["deepseek-coder-v2-lite"]
    yield "tasks of DeepSeek Lite", "", (lite <= 3).sum()
    yield "keys matter", "models and tasks, corrected", keys["decided"].sum()
    yield "keys matter", "tasks, mean over models", means["decided"].sum()
    # A guess is right for one of 200 addends, at least four in a program (section 2.3).
    yield "chance of a guess", "", (1 / 200) ** 4 * 1e10
