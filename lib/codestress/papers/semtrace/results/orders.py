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

from .largest_drops import ANY
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
MIDDLE = "middle - ends"
"""Number: accuracy in the middle third of the positions minus that at both ends."""
COUNT = "most distractors - fewest"
"""Number: accuracy with the most distractors minus that with the fewest."""
CELL = [*PANEL, "metric"]
"""Columns that identify a cell: largest drops are compared within a cell."""

Numbers = Iterator[tuple[str, pd.Series]]
"""Pairs of a number's name and its estimates (`Moved`), a series indexed by model."""


def by_order(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the numbers on which the paper's statements on orders depend, from
    `answers` at several positions. The numbers are shares or differences of shares (-1
    to 1), for each model and for each of the paper's groups whose models were all
    asked.

    Columns: number (its name, such as `middle - ends`), model; dataset, task (`function
    - line` for a comparison of these two retrieval tasks), digits, qac, distractors
    (their number as text), each `any` for a comparison over all of its values; value,
    low, high (interval at `confidence`), problems. A problem's influence is counted
    once for all sides of a number.
    """
    rows = []
    answers = _unkeyed(answers)
    answers = answers.assign(context=answers["distractors"].astype(str))
    # A comparison is over all values of each factor that does not group its answers.
    over = {"task": "function - line", "digits": ANY, "qac": ANY, "context": ANY}
    for by, numbers in COMPARED:
        for group, part in answers.groupby(by, sort=False):
            cell = over | dict(zip(by, group, strict=True))
            problems = part["problem"].nunique()
            for number, by_model in numbers(part):
                known = dict(by_model)
                for name, models in groups_of(known).items():
                    known[name] = mean(list(by_model[models]))
                for model, estimate in known.items():
                    row = {"number": number, "model": model, **cell}
                    row["value"] = estimate.value
                    row |= estimate.interval(problems, confidence)._asdict()
                    rows.append(row | {"problems": problems})
    columns = ["number", "model", *PANEL, "context", "value", "low", "high", "problems"]
    table = pd.DataFrame(rows, columns=columns).dropna(subset="value")
    return table.rename(columns={"context": "distractors"})


def _unkeyed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `table` that the statements are about: all except predictions
    from lines with keys."""
    keyed = table["keys"].astype(bool) & table["task"].str.endswith("_prediction")
    return table[~keyed]


def asked() -> dict[str, pd.DataFrame]:
    """Return the models that the paper's statements are about, as a dict from name to
    table. `models` and `open` have the column model (`open` without GPT 4.1);
    `families` has the columns model (the family's name), smaller, larger."""
    families = pd.DataFrame(FAMILIES, ["smaller", "larger"]).T
    families = families.reset_index(names="model")
    models = pd.DataFrame({"model": published_groups()["all"]})
    open_models = models[models["model"] != GPT]
    return {"models": models, "open": open_models, "families": families}


def _shares(part: pd.DataFrame, value: str = "value_strict") -> pd.Series:
    """Return the mean of the column `value` over the answers `part` of each model, as a
    series of estimates indexed by model."""
    scores = part.set_index("problem")[value].astype(float)
    return scores.groupby(part["model"].to_numpy(), sort=False).apply(share)


def _dips(part: pd.DataFrame, value: str = "value_strict") -> pd.Series:
    """Return, for each model, the mean of the column `value` in the middle third of the
    positions minus its mean at both ends, as a series of estimates."""
    depth = part["depth"]
    middle = part[depth.between(1 / 3, 2 / 3)]
    ends = part[depth.isin([depth.min(), depth.max()])]
    return _shares(middle, value) - _shares(ends, value)


def _in_panel(part: pd.DataFrame) -> Numbers:
    """Yield the numbers of one panel's answers `part`: shares, and differences between
    positions, between numbers of distractors, and between models of a family."""
    depth = part["depth"]
    fourth = (5 * depth + 1e-9).astype(int) == 3
    first = part[depth == depth.min()]
    last = part[depth == depth.max()]
    own = _shares(part)
    yield "share", own
    yield "fourth fifth - the rest", _shares(part[fourth]) - _shares(part[~fourth])
    yield "beginning - end", _shares(first) - _shares(last)
    yield "unresolved, middle - ends", _dips(part, "unresolved_strict")
    dips = _dips(part)
    yield MIDDLE, dips
    beside = {}
    if len(dips) > 1:
        for model, dip in dips.items():
            beside[model] = dip - mean(list(dips.drop(model)))
    yield f"{MIDDLE}, beside the others", pd.Series(beside)
    larger = {}
    for family, (small, large) in FAMILIES.items():
        if {small, large} <= {*own.index}:
            larger[family] = own[large] - own[small]
    yield "larger - smaller", pd.Series(larger)
    least, most = _extremes(part, "distractors")
    yield COUNT, _shares(most) - _shares(least)


def _extremes(part: pd.DataFrame, factor: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers in `part` with the smallest and those with the largest value of
    the column `factor`; both are empty if there is only one value."""
    values = part[factor]
    several = values.nunique() > 1
    least = part[several & (values == values.min())]
    return least, part[several & (values == values.max())]


def _by_digits(part: pd.DataFrame) -> Numbers:
    """Yield how much lower one task's answers `part` are in the middle with the most
    digits than with the fewest."""
    fewest, most = _extremes(part, "digits")
    yield f"{MIDDLE}, most digits - fewest", _dips(most) - _dips(fewest)


def _by_query(part: pd.DataFrame) -> Numbers:
    """Yield the differences between one task's answers `part` with and without the
    query before the code."""
    without, leading = _extremes(part, "qac")
    yield "share, with - without", _shares(leading) - _shares(without)
    yield f"{MIDDLE}, with - without", _dips(leading) - _dips(without)


def _by_task(part: pd.DataFrame) -> Numbers:
    """Yield the difference between the answers `part` about functions and lines."""
    tasks = part["task"]
    function = part[tasks == "function_retrieval"]
    yield "share", _shares(function) - _shares(part[tasks == "line_retrieval"])


COMPARED = (
    (PANEL, _in_panel),
    ([*PANEL, "context"], _in_panel),
    (["dataset", "task", "qac"], _by_digits),
    (["dataset", "task", "digits"], _by_query),
    (["dataset", "digits"], _by_task),
)
"""Pairs of the columns within whose values answers are compared, and the function that
yields the numbers of one such group."""


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
