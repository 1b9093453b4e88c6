"""Numbers behind the statements on orders and signs in section 3 and appendices C, G
and H of Sense and Sensitivity.

Every number is a share of correct answers at some positions, or a difference for which
the paper states the sign.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import normal_quantile

from ..prompting import PREDICTIONS
from .tables import GPT, groups_of, published_groups

FAMILIES = {
    "DeepSeek Coder V2": ["deepseek-coder-v2-lite", "deepseek-coder-v2"],
    "Gemma 3": ["gemma-3-12b", "gemma-3-27b"],
    "Llama 3": ["llama-3.1-8b", "llama-3.3-70b"],
    "Qwen 2.5 Coder": ["qwen2.5-coder-7b", "qwen2.5-coder-32b"],
}
"""Dict from family to its smaller and its larger model."""
PANEL = ["dataset", "task", "digits", "qac"]
"""Columns that identify a panel: answers are compared within a panel."""
LENGTHS = ["dataset", "task", "qac"]
"""Columns that identify answers which differ in the number of digits."""
COLUMNS = ["number", "model", *PANEL, "distractors", "value", "low", "high", "problems"]
"""Columns of the table of numbers."""
MIDDLE = "middle - ends"
"""Number: accuracy in the middle third of the positions minus that at both ends."""
COUNT = "most distractors - fewest"
"""Number: accuracy with the most distractors minus that with the fewest."""
ANY = "any"
"""Value of the column distractors, or of another factor, for a comparison over all of
its values."""
CELL = [*PANEL, "metric"]
"""Columns that identify a cell: largest drops are compared within a cell."""

Numbers = dict[str, pd.Series]
"""Dict from a number's name to its estimates (`Moved`), a series indexed by model."""


def by_order(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the numbers on which the paper's statements on orders depend, from
    `answers` at several positions. The numbers are shares or differences of shares (-1
    to 1), for each model and for each of the paper's groups whose models were all
    asked.

    Columns: number (its name, such as `middle - ends`), model; dataset, task (`function
    - line` for a comparison of these two retrieval tasks), digits, qac, distractors
    (their number, or `any`); value, low, high (interval at `confidence`), problems. A
    problem's influence is counted once for all sides of a number.
    """
    rows = []
    for cell, numbers, part in _cells(_unkeyed(answers)):
        problems = part["problem"].nunique()
        for number, by_model in numbers.items():
            known = dict(by_model)
            for group, models in groups_of(known).items():
                known[group] = mean(list(by_model[models]))
            for name, estimate in known.items():
                ends = estimate.interval(problems, confidence)
                rows.append((number, name, *cell, estimate.value, *ends, problems))
    return pd.DataFrame(rows, columns=COLUMNS).dropna(subset="value")


def _unkeyed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `table` that the statements are about: all except predictions
    from lines with keys."""
    keyed = table["keys"].astype(bool) & table["task"].isin(PREDICTIONS)
    return table[~keyed]


def _cells(
    answers: pd.DataFrame,
) -> Iterator[tuple[tuple[object, ...], Numbers, pd.DataFrame]]:
    """Yield three values for each comparison of `answers`: the values of `PANEL` and of
    distractors, the numbers, and the answers whose problems are behind them."""
    for panel, part in answers.groupby(PANEL, sort=False):
        for count, some in [(ANY, part), *part.groupby("distractors")]:
            yield (*panel, str(count)), _numbers(some), part
    for (dataset, task, qac), part in answers.groupby(LENGTHS, sort=False):
        yield (dataset, task, ANY, qac, ANY), _by_digits(part), part
    for (dataset, digits), part in answers.groupby(["dataset", "digits"], sort=False):
        function = part["task"] == "function_retrieval"
        line = part["task"] == "line_retrieval"
        apart = {"share": _apart(part, function, line)}
        yield (dataset, "function - line", digits, ANY, ANY), apart, part
        for task, some in part.groupby("task", sort=False):
            yield (dataset, task, digits, ANY, ANY), _by_query(some), part


def asked() -> dict[str, pd.DataFrame]:
    """Return the models that the paper's statements are about, as a dict from name to
    table. `models` and `open` have the column model (`open` without GPT 4.1);
    `families` has the columns model (the family's name), smaller, larger."""
    families = pd.DataFrame(FAMILIES, ["smaller", "larger"]).T
    families = families.reset_index(names="model")
    models = pd.DataFrame({"model": published_groups()["all"]})
    open_models = models[models["model"] != GPT]
    return {"models": models, "open": open_models, "families": families}


def _shares(
    part: pd.DataFrame, mask: pd.Series, value: str = "value_strict"
) -> pd.Series:
    """Return the mean of the column `value` over the answers of each model under
    `mask`, as a series of estimates indexed by model."""
    scores = part[value].astype(float).where(mask)
    models = part["model"].to_numpy()
    return scores.set_axis(part["problem"]).groupby(models, sort=False).apply(share)


def _apart(
    part: pd.DataFrame,
    first: pd.Series,
    second: pd.Series,
    value: str = "value_strict",
) -> pd.Series:
    """Return, for each model, the mean under the mask `first` minus the mean under
    `second`, as a series of estimates."""
    return _shares(part, first, value) - _shares(part, second, value)


def _dips(
    part: pd.DataFrame, among: pd.Series | bool = True, value: str = "value_strict"
) -> pd.Series:
    """Return, for each model, the mean of the column `value` in the middle third of the
    positions minus its mean at both ends. The result is a series of estimates. Only
    answers under the mask `among` count."""
    depth = part["depth"]
    middle = depth.between(1 / 3, 2 / 3)
    ends = depth.isin([depth.min(), depth.max()])
    return _apart(part, among & middle, among & ends, value)


def _numbers(part: pd.DataFrame) -> Numbers:
    """Return the numbers of one panel's answers `part`: shares, and differences between
    positions, between numbers of distractors, and between models of a family."""
    depth = part["depth"]
    counts = part["distractors"]
    fourth = (5 * depth + 1e-9).astype(int) == 3
    first = depth == depth.min()
    last = depth == depth.max()
    own = _shares(part, depth >= 0)
    dips = _dips(part)
    larger = pd.Series(dtype=object)
    for name, (small, large) in FAMILIES.items():
        if {small, large} <= {*own.index}:
            larger[name] = own[large] - own[small]
    numbers = {"share": own, MIDDLE: dips}
    numbers["larger - smaller"] = larger
    numbers["fourth fifth - the rest"] = _apart(part, fourth, ~fourth)
    numbers["beginning - end"] = _apart(part, first, last)
    numbers["unresolved, middle - ends"] = _dips(part, value="unresolved_strict")
    if counts.nunique() > 1:
        most = counts == counts.max()
        fewest = counts == counts.min()
        numbers[COUNT] = _apart(part, most, fewest)
    if len(dips) > 1:
        beside = dips.copy()
        for name in dips.index:
            beside[name] -= mean(list(dips.drop(name)))
        numbers[f"{MIDDLE}, beside the others"] = beside
    return numbers


def _by_digits(part: pd.DataFrame) -> Numbers:
    """Return how much lower one task's answers `part` are in the middle with the most
    digits than with the fewest; nothing for a single number of digits."""
    digits = part["digits"]
    if digits.nunique() == 1:
        return {}
    dips = _dips(part, digits == digits.max()) - _dips(part, digits == digits.min())
    return {f"{MIDDLE}, most digits - fewest": dips}


def _by_query(part: pd.DataFrame) -> Numbers:
    """Return the differences between one task's answers `part` with and without the
    query before the code."""
    leading = part["qac"].astype(bool)
    dips = _dips(part, leading) - _dips(part, ~leading)
    return {
        "share, with - without": _apart(part, leading, ~leading),
        f"{MIDDLE}, with - without": dips,
    }


def drop_orders(drops: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return comparisons between the largest drops over any number of distractors in
    `drops`, the result of `largest_drops()`. Columns: number, model (or family),
    dataset, task, digits, qac, metric, value, low, high (interval at `confidence`, both
    sides taken as independent), problems.

    There are three numbers. For a family: the larger model's drop minus the smaller's,
    in percentage points and in %. For each Llama model: its drop minus the mean of all
    other models, in %. For each model: the drop without the query before the code minus
    the drop with it, in percentage points. A comparison that lacks one of its models
    has no row.
    """
    drops = drops.query("context == @ANY")
    drops = _unkeyed(drops[~drops["model"].isin(published_groups())])
    rows = []
    for number, model, unit, sides in _sides(drops):
        *others, own = sides[unit]
        *errors, error = sides[f"{unit}_deviation"]
        scaled = np.divide(errors, len(others))
        half = normal_quantile(confidence) * math.hypot(error, *scaled)
        value = own - np.mean(others)
        ends = value - half, value + half
        *cell, problems = sides.iloc[0][[*CELL, "problems"]]
        rows.append((f"{number}, {unit}", model, *cell, value, *ends, problems))
    columns = ["number", "model", *CELL, "value", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)


def _sides(drops: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Yield the comparisons that `drops` allow: number, model (or family), unit, and
    the rows of `drops`. The last row is compared with the rows before it."""
    for _, part in drops.groupby(CELL, sort=False):
        own = part.set_index("model")
        for name, pair in FAMILIES.items():
            if {*pair} <= {*own.index}:
                for unit in ("points", "relative"):
                    yield "larger - smaller", name, unit, own.loc[pair]
        for model in FAMILIES["Llama 3"]:
            others = own.index.drop(model, errors="ignore")
            if 0 < len(others) < len(own):
                yield "beside the others", model, "relative", own.loc[[*others, model]]
    by = ["dataset", "task", "digits", "metric", "model"]
    for (*_, model), part in drops.groupby(by, sort=False):
        if len(part) == 2:
            both = part.sort_values("qac", ascending=False)
            yield "without - with", model, "points", both.assign(qac=ANY)
