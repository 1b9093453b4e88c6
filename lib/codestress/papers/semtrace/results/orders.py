"""Numbers behind the statements on orders and signs in section 3 and appendices C, G and H of Sense
and Sensitivity.

From answers by position (`by_order`), and from Tables 1 and 2 as printed (`printed`). Every number
is a share of answers, or a difference for which the paper states the sign.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from codestress.fitting.influence import Moved, mean, share
from codestress.fitting.proportions import newcombe, normal_quantile
from codestress.report.published import read_published

FAMILIES = {
    "DeepSeek Coder V2": ("deepseek-coder-v2-lite", "deepseek-coder-v2"),
    "Gemma 3": ("gemma-3-12b", "gemma-3-27b"),
    "Llama 3": ("llama-3.1-8b", "llama-3.3-70b"),
    "Qwen 2.5 Coder": ("qwen2.5-coder-7b", "qwen2.5-coder-32b"),
}
"""Smaller and larger model of each family."""
COLUMNS = [
    "number",
    "model",
    "dataset",
    "task",
    "digits",
    "qac",
    "distractors",
    "value",
    "low",
    "high",
    "problems",
]
PANEL = ["dataset", "task", "digits", "qac"]
PREDICTIONS = ("input_prediction", "output_prediction")
MIDDLE, FOURTH, COUNT = (
    "middle - ends",
    "fourth fifth - the rest",
    "most distractors - fewest",
)
ANY = "any"

Numbers = dict[str, dict[str, Moved]]
"""Estimates by number (its name) and model."""


def by_order(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the numbers that the paper's statements on orders depend on, from `answers` at
    several positions: shares or differences of shares (-1 to 1), for each model and for each of the
    paper's groups whose models were all asked.

    Columns: number (its name, such as `middle - ends`), model, dataset, task (`function - line` for
    a comparison of these two retrieval tasks), digits, qac, distractors (their number, or `any`),
    value, low, high, problems. Problems are counted once for all sides of a number (`influence`).
    """
    rows: list[tuple[object, ...]] = []
    predicted = answers["task"].isin(PREDICTIONS)
    answers = answers[~(answers["keys"].astype(bool) & predicted)].reset_index(
        drop=True
    )
    for panel, part in answers.groupby(PANEL, sort=False):
        for count, some in [(ANY, part), *part.groupby("distractors")]:
            numbers = _numbers(some)
            if count == ANY:
                numbers |= _by_count(part) | _families(part)
            rows += _rows(
                numbers, (*panel, str(count)), part["problem"].nunique(), confidence
            )
    for (dataset, digits), part in answers.groupby(["dataset", "digits"], sort=False):
        problems = part["problem"].nunique()
        for task, numbers in _across(part).items():
            rows += _rows(
                numbers, (dataset, task, digits, ANY, ANY), problems, confidence
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def asked() -> dict[str, pd.DataFrame]:
    """Dict of tables by name, of the models that the paper's statements are about: `models` and
    `open` have the column model (`open` without GPT 4.1), `families` has the columns model (the
    family's name), smaller, larger."""
    pairs = [(name, *pair) for name, pair in FAMILIES.items()]
    families = pd.DataFrame(pairs, columns=["model", "smaller", "larger"])
    models = pd.DataFrame({"model": read_published("semtrace")["groups"]["all"]})
    open_models = models[models["model"] != "gpt-4.1-2025-04-14"]
    return {"models": models, "open": open_models, "families": families}


def _rows(
    numbers: Numbers, cell: tuple[object, ...], problems: int, confidence: float
) -> Iterator[tuple[object, ...]]:
    groups = read_published("semtrace")["groups"]
    for number, by_model in numbers.items():
        means = {
            group: mean([by_model[model] for model in models])
            for group, models in groups.items()
            if {*models} <= {*by_model}
        }
        for name, estimate in {**by_model, **means}.items():
            if not math.isnan(estimate.value):
                ends = estimate.interval(problems, confidence)
                yield (number, name, *cell, estimate.value, *ends, problems)


def _share(part: pd.DataFrame, value: str = "value_strict") -> Moved:
    return share(part.set_index("problem")[value].astype(float))


def _minus(first: Moved, second: Moved) -> Moved:
    return first - second


def _numbers(part: pd.DataFrame) -> Numbers:
    """Estimates (`Moved`) of one panel as a dict by number's name and model, from `part`, answers
    with any numbers of distractors."""
    depth = part["depth"]
    ends, middle = depth.isin([depth.min(), depth.max()]), depth.between(1 / 3, 2 / 3)
    fourth, first = (5 * depth + 1e-9).astype(int) == 3, depth == depth.min()
    sides = {
        MIDDLE: (middle, ends),
        FOURTH: (fourth, ~fourth),
        "beginning - end": (first, depth == depth.max()),
    }
    estimates: Numbers = defaultdict(dict)
    for name, own in part.groupby("model", sort=False):
        model = str(name)
        estimates["share"][model] = _share(own)
        for number, masks in sides.items():
            estimates[number][model] = _apart_by(own, masks, "value_strict")
        estimates["unresolved, middle - ends"][model] = _apart_by(
            own, sides[MIDDLE], "unresolved_strict"
        )
    dips = estimates[MIDDLE]
    estimates[f"{MIDDLE}, beside the others"] = {
        model: _minus(own, mean([dip for other, dip in dips.items() if other != model]))
        for model, own in dips.items()
        if len(dips) > 1
    }
    return estimates


def _apart_by(part: pd.DataFrame, masks: Iterable[pd.Series], value: str) -> Moved:
    """Mean of the column that `value` names over the answers in `part` under the first of two
    `masks` minus the mean under the second, as an estimate (`Moved`)."""
    return _minus(*(_share(part[mask[part.index]], value) for mask in masks))


def _shares(part: pd.DataFrame) -> dict[str, Moved]:
    return {str(model): _share(own) for model, own in part.groupby("model", sort=False)}


def _by_count(part: pd.DataFrame) -> Numbers:
    counts = part["distractors"]
    if counts.nunique() < 2:
        return {}
    most, fewest = (
        _shares(part[counts == count]) for count in (counts.max(), counts.min())
    )
    return {
        COUNT: {
            model: _minus(most[model], fewest[model])
            for model in most
            if model in fewest
        }
    }


def _families(part: pd.DataFrame) -> Numbers:
    own = _shares(part)
    larger = {
        name: _minus(own[large], own[small])
        for name, (small, large) in FAMILIES.items()
        if {small, large} <= {*own}
    }
    return {"larger - smaller": larger}


def _across(part: pd.DataFrame) -> dict[str, Numbers]:
    """Estimates, as dicts by task, that compare two retrieval tasks, or prompts with and without
    the leading query, on the same problems in the answers `part`. Nothing where one side was not
    asked."""
    by_question: dict[str, Numbers] = defaultdict(lambda: defaultdict(dict))
    for name, own in part.groupby("model", sort=False):
        model = str(name)
        by_task = {str(task): some for task, some in own.groupby("task")}
        if {"function_retrieval", "line_retrieval"} <= {*by_task}:
            sides = (
                _share(by_task["function_retrieval"]),
                _share(by_task["line_retrieval"]),
            )
            by_question["function - line"]["share"][model] = _minus(*sides)
        for task, some in by_task.items():
            ways = [_numbers(way) for _, way in some.groupby("qac")]
            if len(ways) == 2:
                for number in ("share", MIDDLE):
                    without, leading = (way[number][model] for way in ways)
                    by_question[task][f"{number}, with - without"][model] = _minus(
                        leading, without
                    )
    return by_question


def drop_orders(drops: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of comparisons between the drops over any number of distractors in `drops`, the table
    of `largest_drops()`. Columns: number, model (or family), dataset, task, digits, qac, metric,
    value, low, high (both sides independent), problems. Empty if `drops` is.

    The numbers: for a family, the larger model's drop minus the smaller's, in points and in %; for
    a Llama, its drop minus the mean of the others in %; for each model, the drop without the
    leading query minus the drop with it, in points. A comparison without one of its models has no
    row.
    """
    cells = ["dataset", "task", "digits", "qac", "metric"]
    columns = ["number", "model", *cells, "value", "low", "high", "problems"]
    if drops.empty:
        return pd.DataFrame(columns=columns)
    predicted = drops["task"].isin(PREDICTIONS)
    single = drops[
        (drops["context"] == ANY)
        & ~drops["model"].isin(read_published("semtrace")["groups"])
        & ~(drops["keys"].astype(bool) & predicted)
    ]
    rows = []
    for cell, part in single.groupby(cells, sort=False):
        own = part.set_index("model")
        sides = [
            (f"larger - smaller, {unit}", name, unit, [*pair])
            for name, pair in FAMILIES.items()
            for unit in ("points", "relative")
        ]
        for model in FAMILIES["Llama 3"]:
            if model in own.index:
                models = [*own.index.drop(model), model]
                sides.append(("beside the others, relative", model, "relative", models))
        for number, name, unit, models in sides:
            if len(models) > 1 and {*models} <= {*own.index}:
                apart = _drops_apart(own.loc[models], unit, confidence)
                rows.append((number, name, *cell, *apart))
    for (dataset, task, digits, metric, model), part in single.groupby(
        ["dataset", "task", "digits", "metric", "model"], sort=False
    ):
        if len(part) == 2:
            apart = _drops_apart(
                part.sort_values("qac", ascending=False), "points", confidence
            )
            cell = (dataset, task, digits, ANY, metric)
            rows.append(("without - with, points", model, *cell, *apart))
    return pd.DataFrame(rows, columns=columns)


def _drops_apart(
    drops: pd.DataFrame, unit: str, confidence: float
) -> tuple[float, ...]:
    """Last of several `drops` (rows of `largest_drops()`) minus the mean of the others, both ends
    of the difference's interval, and the number of problems. `unit`: `points` or `relative`."""
    *rest, last = drops[unit]
    *errors, error = drops[f"{unit}_deviation"]
    half = normal_quantile(confidence) * math.hypot(
        error, *(one / len(rest) for one in errors)
    )
    value = last - float(np.mean(rest))
    return value, value - half, value + half, drops["problems"].iloc[-1]


# --- Tables 1 and 2 as printed ------------------------------------------------------------------------------------


def printed(
    table: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> pd.DataFrame:
    """Table of the numbers behind the text's statements on Tables 1 and 2, from the tables `table`
    of `scores()`, `keys` of `with_keys()` and `means` of `over_models()`. Columns: number, reading,
    model, task, value (differences of shares, or counts), low, high (Newcombe; nan for a count),
    problems."""
    plain = table[~table["keys"]]
    own = {(row.model, row.task): (row.share, row.n) for row in plain.itertuples()}
    groups = read_published("semtrace")["groups"]
    sides = [
        ("larger - smaller", name, task, own[large, task], own[small, task])
        for task in dict.fromkeys(plain["task"])
        for name, (small, large) in FAMILIES.items()
    ]
    sides += [
        (
            "input - output",
            model,
            "",
            own[model, "CRUXEval-I"],
            own[model, "CRUXEval-O"],
        )
        for model in FAMILIES["Gemma 3"]
    ]
    tested = {
        model: found for (model, task), found in own.items() if task == "SemTrace"
    }
    low = min(tested[model] for model in groups["larger"])
    high = max(
        found for model, found in tested.items() if model not in groups["larger"]
    )
    sides.append(
        ("least of the larger - most of the smaller", "all", "SemTrace", low, high)
    )
    gemma = "gemma-3-27b"
    better = min(tested[model] for model in groups["larger but GPT 4.1"])
    sides.append(("Gemma 3 27B - the larger", gemma, "SemTrace", tested[gemma], better))
    rows = [
        (number, "", model, task, *_apart(first, second))
        for number, model, task, first, second in sides
    ]
    columns = ["number", "reading", "model", "task", "value", "low", "high", "problems"]
    return pd.DataFrame([*rows, *_counts(plain, keys, means)], columns=columns)


def _apart(
    first: tuple[float, int], second: tuple[float, int]
) -> tuple[float, float, float, int]:
    interval = newcombe(*second, *first)
    return first[0] - second[0], *interval, min(first[1], second[1])


def _counts(
    plain: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame
) -> Iterator[tuple[object, ...]]:
    wide = plain.pivot_table(index="model", columns="task", values="share", sort=False)
    qwen = wide.loc["qwen2.5-coder-32b"]
    best = qwen == wide.drop(index="gpt-4.1-2025-04-14").max()
    better = qwen > wide.loc[["deepseek-coder-v2", "llama-3.3-70b"]].max()
    lite = wide.rank(method="min").loc["deepseek-coder-v2-lite"]
    counts = [
        ("models", "", len(wide)),
        (
            "more on output than on input",
            "",
            (wide["CRUXEval-O"] > wide["CRUXEval-I"]).sum(),
        ),
        ("tasks of Qwen 32B", "best but for GPT 4.1", best.sum()),
        ("tasks of Qwen 32B", "better than two larger models", better.sum()),
        ("tasks of DeepSeek Lite", "", (lite <= 3).sum()),
        ("keys matter", "models and tasks, corrected", int(keys["decided"].sum())),
        ("keys matter", "tasks, mean over models", int(means["decided"].sum())),
        ("chance of a guess", "", GUESSES**FEWEST * 1e10),
    ]
    for number, reading, value in counts:
        yield (number, reading, "all", "", float(value), math.nan, math.nan, 0)


GUESSES, FEWEST = 1 / len(range(-100, 100)), 4
"""Probability of guessing one of SemTrace's addends, and the fewest addends of a function (section
2.3)."""
