"""Calibration of estimators on simulated readers with known parameters: how often intervals contain
the true value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from codestress.errors import ParameterError
from codestress.fitting.proportions import clustered_share
from codestress.fitting.summaries import with_accuracy
from codestress.inference.results import Results
from codestress.report.curves import forest, legend_above
from codestress.report.style import styled_figure
from codestress.simulated.reading import Settings
from codestress.types import Prompt, Trial

Chance = Callable[[Trial, Prompt, Settings], float]
"""Function from a trial, its prompt and a reader's settings to the probability of a correct
answer."""
Estimate = Callable[[pd.DataFrame], pd.DataFrame]
"""Function from answers (problem, value_strict, factors) to a table with value, low and high,
indexed by the name of the estimate."""
STEP = 0.5
TIMES = np.exp(np.arange(-20.0, 8.0, STEP))
"""Values of s at which the integral in `share_drawn` is evaluated, equally spaced in log s; the
trapezium rule is then accurate to 1e-6."""


def share_drawn(mine: int, kept: np.ndarray, weights: np.ndarray) -> float:
    """Probability that the piece with index `mine` is kept and then drawn, in proportion to weight,
    from the pieces that were kept.

    The arrays have one number for each piece: `kept` its probability to be kept, independently of
    others, `weights` its weight above 0. The share w / W of a weight w in the kept pieces' total W
    is the integral of w exp(-s W) over s from 0 on, whose expectation is a product over the pieces.
    """
    kept_at = kept[:, None] * np.exp(-TIMES * weights[:, None])
    factors = 1 - kept[:, None] + kept_at
    others = np.delete(factors, mine, axis=0).prod(axis=0)
    return float((TIMES * weights[mine] * kept_at[mine] * others).sum() * STEP)


def known_chances(results: Results, chance: Chance) -> list[float]:
    """Probability of a correct answer for each answer in `results`, in order. The function `chance`
    computes it from the trial, its prompt and the reader's settings. `ParameterError` for a model
    that is no simulated reader."""
    settings: dict[str, Settings] = {}
    for entry in results.models:
        if not entry.simulated:
            raise ParameterError(
                f"models: {entry.name}: calibration needs simulated readers, with known parameters"
            )
        settings[entry.name] = Settings.model_validate(entry.settings)
    assert results.questions is not None
    prompts: dict[int, Prompt] = {}
    chances = []
    for answer in results.answers:
        trial = answer.trial
        if id(trial) not in prompts:
            prompts[id(trial)] = results.questions.render(trial)
        chances.append(chance(trial, prompts[id(trial)], settings[answer.model]))
    return chances


def estimates(
    table: pd.DataFrame, columns: Sequence[str], names: Sequence[str]
) -> pd.DataFrame:
    """Table with the columns value, low and high, taken from the three `columns` of `table` in this
    order, and with `names` as index."""
    ends = table[list(columns)].set_axis(["value", "low", "high"], axis=1)
    return ends.set_axis(pd.Index(names))


def shares(
    answers: pd.DataFrame, name: str, by: str, confidence: float
) -> pd.DataFrame:
    """Table of the accuracy of each model at each value of the factor `by`, in %, with the interval
    of `clustered_share` at the level `confidence`.

    Columns: value, low, high. The index has names made by the format `name`, with `{model}` and
    `{by}`. `answers` is a table with the columns model, problem, value_strict and the factor.
    """
    rows = {}
    for (model, value), part in answers.groupby(["model", by], sort=False):
        share = clustered_share(part["value_strict"], part["problem"], confidence)
        rows[name.format(model=model, by=value)] = (share.value, *share.interval)
    table = pd.DataFrame.from_dict(
        rows, orient="index", columns=["value", "low", "high"]
    )
    return 100 * table


def count_coverage(
    answers: pd.DataFrame,
    estimate: Estimate,
    *,
    studies: int,
    random: np.random.Generator,
) -> pd.DataFrame:
    """Table with a row for each estimate that the function `estimate` makes from answers: the
    estimate, its true value, and how many simulated studies have intervals that contain the true
    value.

    `answers` have a column `chance`, the probability of a correct answer: the true value is the
    estimate from answers that score exactly this probability. Each of the `studies` draws as many
    problems with replacement, by `random`, and answers each question with its probability. Columns:
    value, low, high, true, contained, studies (with an interval), coverage, coverage_low,
    coverage_high (Wilson, 95 %).
    """
    table = estimate(answers)
    true = estimate(answers.assign(value_strict=answers["chance"]))["value"]
    rows_of = list(answers.groupby("problem").indices.values())
    counts = pd.DataFrame(0, table.index, ["contained", "studies"])
    for _ in range(studies):
        drawn = estimate(_study(answers, rows_of, random)).reindex(table.index)
        counts["contained"] += contains(drawn, true)
        counts["studies"] += drawn["low"].notna()
    coverage = with_accuracy(counts, "contained", "studies")
    names = {"accuracy": "coverage", "low": "coverage_low", "high": "coverage_high"}
    return table.assign(true=true).join(coverage.rename(columns=names))


def contains(table: pd.DataFrame, true: pd.Series) -> pd.Series:
    """Series of booleans: whether the interval in each row of `table` (columns low and high)
    contains the row's true value in `true`, up to rounding; False without an interval."""
    return table["low"].le(true + 1e-9) & table["high"].ge(true - 1e-9)


def _study(
    answers: pd.DataFrame, rows_of: list[np.ndarray], random: np.random.Generator
) -> pd.DataFrame:
    """Table of the answers of a new simulated study, made from `answers` by `random`: problems
    drawn with replacement (a problem drawn twice counts as two), each answer scored 0 or 1 by its
    probability in the column `chance`. `rows_of` has the positions of each problem's rows."""
    chosen = [
        rows_of[number] for number in random.integers(0, len(rows_of), len(rows_of))
    ]
    copies = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
    study = answers.iloc[np.concatenate(chosen)]
    right = random.random(len(study)) < study["chance"].to_numpy()
    return study.assign(problem=copies, value_strict=right * 1.0)


def coverage_chart(panels: Mapping[str, pd.DataFrame], confidence: float) -> Figure:
    """Figure with a row of two panels for each title (the estimate and its unit) in `panels` and
    its table from `count_coverage`: left the estimates of one study with the true values, right the
    coverage over the simulated studies, with a dashed line at `confidence`."""
    rows = [len(table) for table in panels.values()]
    figure = styled_figure(7.0, 0.8 + 0.2 * sum(rows) + 0.55 * len(rows))
    grid = figure.subplots(
        len(rows), 2, squeeze=False, height_ratios=rows, width_ratios=[1.7, 1]
    )
    for (left, right), (title, table) in zip(grid, panels.items(), strict=True):
        names = [str(name) for name in table.index]
        estimated = table.assign(label=names)
        forest(left, estimated, names, _limits(table), xlabel=title)
        shown = {
            "color": "black",
            "mfc": "none",
            "markersize": 6,
            "label": "true value",
        }
        left.plot(table["true"], range(len(table)), "D", **shown)
        counted = estimated.assign(
            low=table["coverage_low"], high=table["coverage_high"]
        )
        lowest = min(70.0, 100 * counted["low"].min() - 2)
        right.axvline(100 * confidence, color="#999999", linestyle="--", linewidth=0.9)
        forest(right, counted, names, (lowest, 101), value="coverage", scale=100)
        right.set_xlabel("studies that contain it (%)")
        right.set_yticklabels([])
    grid[0][0].set_title("one study, with its intervals")
    grid[0][1].set_title(f"coverage (dashed: {confidence:.0%})")
    legend_above(figure, grid[0][0])
    return figure


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    """Pair of the lower and upper end of an axis that shows all values and true values in `table`,
    and their intervals up to three times the largest value."""
    values = table[["value", "true"]].to_numpy(float)
    low = min(0.0, table["low"].min())
    high = min(table["high"].max(), 3 * np.nanmax(np.abs(values)))
    margin = 0.03 * (high - low)
    return low - margin, high + margin


def all_rows(panels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Table with the rows of all tables in `panels` (by title, from `count_coverage`), and two more
    columns: `estimated` (the title) and `row` (the name of the estimate)."""
    return pd.concat(panels, names=["estimated", "row"]).reset_index()


def headline(panels: Mapping[str, pd.DataFrame]) -> str:
    """Sentence with the number of intervals that contain the true value in the study asked, and the
    lowest and highest coverage over simulated studies. `panels` maps titles to tables from
    `count_coverage`."""
    table = all_rows(panels)
    here = int(contains(table, table["true"]).sum())
    low, high = 100 * table["coverage"].min(), 100 * table["coverage"].max()
    return f"{here} of {len(table)} intervals contain the true value; of studies drawn anew {low:.0f} to {high:.0f} %"
