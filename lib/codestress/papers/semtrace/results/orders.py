"""Numbers behind the statements on orders and signs in section 3 and appendices C, G and H of Sense
and Sensitivity.

Every number is a share of answers by position, or a difference for which the paper states the sign.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import normal_quantile
from codestress.report.published import read_published

from ..studies import PREDICTIONS, RETRIEVAL
from .tables import groups_of

FAMILIES = {
    "DeepSeek Coder V2": ("deepseek-coder-v2-lite", "deepseek-coder-v2"),
    "Gemma 3": ("gemma-3-12b", "gemma-3-27b"),
    "Llama 3": ("llama-3.1-8b", "llama-3.3-70b"),
    "Qwen 2.5 Coder": ("qwen2.5-coder-7b", "qwen2.5-coder-32b"),
}
"""Smaller and larger model of each family."""
PANEL = ["dataset", "task", "digits", "qac"]
COLUMNS = ["number", "model", *PANEL, "distractors", "value", "low", "high", "problems"]
MIDDLE, FOURTH, COUNT = (
    "middle - ends",
    "fourth fifth - the rest",
    "most distractors - fewest",
)
ANY = "any"

Numbers = dict[str, pd.Series]
"""Estimates (`Moved`), a series by model for each number's name."""


def by_order(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the numbers that the paper's statements on orders depend on, from `answers` at
    several positions: shares or differences of shares (-1 to 1), for each model and for each of the
    paper's groups whose models were all asked.

    Columns: number (its name, such as `middle - ends`), model, dataset, task (`function - line` for
    a comparison of these two retrieval tasks), digits, qac, distractors (their number, or `any`),
    value, low, high, problems. Problems are counted once for all sides of a number (`influence`).
    """
    predicted = answers["task"].isin(PREDICTIONS)
    answers = answers[~(answers["keys"].astype(bool) & predicted)]
    rows: list[tuple[object, ...]] = []

    def add(numbers: Numbers, problems: int, *cell: object) -> None:
        for number, by_model in numbers.items():
            known = dict(by_model)
            for group, models in groups_of(known).items():
                known[group] = mean([known[model] for model in models])
            for name, estimate in known.items():
                if not math.isnan(estimate.value):
                    ends = estimate.interval(problems, confidence)
                    rows.append((number, name, *cell, estimate.value, *ends, problems))

    for panel, part in answers.groupby(PANEL, sort=False):
        problems = part["problem"].nunique()
        numbers = _by_place(part) | _by_count(part) | _families(part)
        add(numbers, problems, *panel, ANY)
        for count, some in part.groupby("distractors"):
            add(_by_place(some), problems, *panel, str(count))
    for (dataset, digits), part in answers.groupby(["dataset", "digits"], sort=False):
        problems = part["problem"].nunique()
        function, line = (part["task"] == task for task in RETRIEVAL)
        apart = {"share": _shares(part, function) - _shares(part, line)}
        add(apart, problems, dataset, "function - line", digits, ANY, ANY)
        for task, some in part.groupby("task", sort=False):
            add(_by_query(some), problems, dataset, task, digits, ANY, ANY)
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


def _shares(
    part: pd.DataFrame, mask: pd.Series | None = None, value: str = "value_strict"
) -> pd.Series:
    """Series by model of the mean of the column `value` over its answers under `mask`, or all."""
    scores = part[value].astype(float)
    if mask is not None:
        scores = scores.where(mask)
    models = part["model"].to_numpy()
    return scores.set_axis(part["problem"]).groupby(models, sort=False).apply(share)


def _middle_and_ends(part: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    depth = part["depth"]
    return depth.between(1 / 3, 2 / 3), depth.isin([depth.min(), depth.max()])


def _by_place(part: pd.DataFrame) -> Numbers:
    """Numbers of one panel's answers `part`: shares, and differences between places."""
    depth = part["depth"]
    middle, ends = _middle_and_ends(part)
    fourth, first = (5 * depth + 1e-9).astype(int) == 3, depth == depth.min()
    dips = _shares(part, middle) - _shares(part, ends)
    numbers = {
        "share": _shares(part),
        MIDDLE: dips,
        FOURTH: _shares(part, fourth) - _shares(part, ~fourth),
        "beginning - end": _shares(part, first) - _shares(part, depth == depth.max()),
    }
    left = [_shares(part, place, "unresolved_strict") for place in (middle, ends)]
    numbers["unresolved, middle - ends"] = left[0] - left[1]
    if len(dips) > 1:
        beside = {name: dip - mean(list(dips.drop(name))) for name, dip in dips.items()}
        numbers[f"{MIDDLE}, beside the others"] = pd.Series(beside)
    return numbers


def _by_count(part: pd.DataFrame) -> Numbers:
    counts = part["distractors"]
    if counts.nunique() < 2:
        return {}
    most, fewest = counts == counts.max(), counts == counts.min()
    return {COUNT: _shares(part, most) - _shares(part, fewest)}


def _families(part: pd.DataFrame) -> Numbers:
    own = _shares(part)
    larger = {}
    for name, (small, large) in FAMILIES.items():
        if {small, large} <= {*own.index}:
            larger[name] = own[large] - own[small]
    return {"larger - smaller": pd.Series(larger, dtype=object)}


def _by_query(part: pd.DataFrame) -> Numbers:
    """Differences between one task's answers `part` with and without the leading query."""
    leading = part["qac"].astype(bool)
    if leading.nunique() < 2:
        return {}
    middle, ends = _middle_and_ends(part)
    dip, other = (
        _shares(part, way & middle) - _shares(part, way & ends)
        for way in (leading, ~leading)
    )
    return {
        "share, with - without": _shares(part, leading) - _shares(part, ~leading),
        f"{MIDDLE}, with - without": dip - other,
    }


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
    rows: list[tuple[object, ...]] = []
    if not drops.empty:
        keyed = drops["keys"].astype(bool) & drops["task"].isin(PREDICTIONS)
        group = drops["model"].isin(read_published("semtrace")["groups"])
        drops = drops[(drops["context"] == ANY) & ~group & ~keyed]
        for cell, part in drops.groupby(cells, sort=False):
            own = part.set_index("model")
            for number, name, unit, models in _sides([*own.index]):
                apart = _drops_apart(own.loc[models], unit, confidence)
                rows.append((number, name, *cell, *apart))
        by = ["dataset", "task", "digits", "metric", "model"]
        for (*cell, metric, model), part in drops.groupby(by, sort=False):
            if len(part) == 2:
                both = part.sort_values("qac", ascending=False)
                apart = _drops_apart(both, "points", confidence)
                rows.append(
                    ("without - with, points", model, *cell, ANY, metric, *apart)
                )
    columns = ["number", "model", *cells, "value", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)


def _sides(asked: list[str]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yields the comparisons that the models `asked` allow: number, model (or family), unit, and
    the models, of which the last is compared with the others."""
    for name, pair in FAMILIES.items():
        if {*pair} <= {*asked}:
            for unit in ("points", "relative"):
                yield f"larger - smaller, {unit}", name, unit, [*pair]
    for model in FAMILIES["Llama 3"]:
        others = [other for other in asked if other != model]
        if model in asked and others:
            models = [*others, model]
            yield "beside the others, relative", model, "relative", models


def _drops_apart(
    drops: pd.DataFrame, unit: str, confidence: float
) -> tuple[float, ...]:
    """Last of several `drops` (rows of `largest_drops()`) minus the mean of the others, both ends
    of the difference's interval, and the number of problems. `unit`: `points` or `relative`."""
    *rest, last = drops[unit]
    errors = drops[f"{unit}_deviation"].to_numpy()
    half = normal_quantile(confidence) * math.hypot(
        errors[-1], *(errors[:-1] / len(rest))
    )
    value = last - float(np.mean(rest))
    return value, value - half, value + half, drops["problems"].iloc[0]
