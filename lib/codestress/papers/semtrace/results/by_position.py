"""Sense and Sensitivity: scores by the position of the target (Figures 1 to 4 and 7 to 10), and
largest drops over positions as the paper states them, for single models and for groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.fitting.influence import mean, share
from codestress.fitting.position_dip import position_dip, relative_to_best
from codestress.fitting.proportions import (
    cluster_weights,
    normal_quantile,
    paired_difference,
    ratio,
)
from codestress.fitting.significance import LEVEL
from codestress.fitting.summaries import paired_differences, with_accuracy
from codestress.papers.semtrace.results.tables import clear_effect
from codestress.papers.semtrace.studies import Questions
from codestress.report.findings import listed
from codestress.report.marks import with_cells
from codestress.report.published import read_published
from codestress.scoring.summaries import summarize
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN

PANEL = ["dataset", "task", "digits", "qac", "keys", "metric"]
"""Columns that identify a figure's panels, beside the number of distractors."""
CURVE = ["model", *PANEL[:-1], "distractors"]
"""Columns that identify the curves of one metric."""
SHARE, RELATIVE = (
    ["accuracy", "low", "high"],
    ["relative", "relative_low", "relative_high"],
)
DATASETS = {
    "cruxeval": "CRUXEval",
    "semtrace": "SemTrace",
    "generated": "generated problems",
}
METRICS = {"strict": "", "partial": "partial matches"}


def accuracy_by_position(
    answers: pd.DataFrame,
    *,
    metrics: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Accuracy table of `answers` with one row for each model, panel (dataset, task, digits, qac,
    keys, metric), number of distractors and position, with depth and the columns of `summarize`.
    `metrics` names the scores: `strict`, `partial` or both.

    The columns `relative`, `relative_low` and `relative_high` are shares of the curve's own maximum
    (nan where the maximum is 0, or no problem was asked at all positions), with joint intervals by
    `resamples` of problems, since the maximum is an estimate too. The column `unresolved` counts
    answers with arithmetic left in.
    """
    by = [*CURVE, "position", "depth"]
    parts = [
        summarize(answers, by=by, rule=metric, confidence=confidence).assign(
            metric=metric
        )
        for metric in metrics
    ]
    relative = _relative_curves(answers, metrics, confidence, resamples, seed)
    table = pd.concat(parts).merge(
        relative, on=[*CURVE, "metric", "position"], how="left"
    )
    unresolved = answers.groupby(by, sort=False)["unresolved_strict"].sum()
    return table.join(unresolved.rename("unresolved"), on=by)


def _relative_curves(
    answers: pd.DataFrame,
    metrics: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Table of accuracies in `answers` as shares of their curve's maximum, on the problems that
    were asked at all positions: the columns `CURVE`, metric, position, relative, relative_low,
    relative_high. The share is nan where the maximum is 0."""
    rows: list[tuple[Any, ...]] = []
    for curve, cells in _cells(answers, metrics, "position"):
        random, count = _draws(seed, "relative", curve), len(cells)
        weights = cluster_weights(count, resamples, random) / count
        shares = cells.mean() / (cells.mean().max() or np.nan)
        intervals = relative_to_best(cells.to_numpy(float), weights, confidence)
        rows += [
            (*curve, *one, *ends)
            for one, ends in zip(shares.items(), intervals, strict=True)
        ]
    return pd.DataFrame(rows, columns=[*CURVE, "metric", "position", *RELATIVE])


def _cells(
    answers: pd.DataFrame, metrics: Sequence[str], columns: str
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yields a pair for each curve in `answers` and each of `metrics`: the values of the columns
    `CURVE` with the metric, and a table of scores, problems by the values of the column that
    `columns` names. Problems without a score at every value are left out."""
    for metric in metrics:
        for group, part in answers.groupby(CURVE, sort=False):
            yield (
                (*group, metric),
                part.pivot_table(f"value_{metric}", "problem", columns).dropna(),
            )


def _draws(seed: int, name: str, curve: tuple[Any, ...]) -> np.random.Generator:
    return rng(seed, name, curve[-1], *map(str, curve[:-1]))


def position_points(
    table: pd.DataFrame, *, show: str, relative: bool, confidence: float
) -> pd.DataFrame:
    """Table of the figure's points: model, row, column (labels of the panel), depth, cell (column
    values that select the point's answers), shown, low, high (0 to 1).

    `table` is that of `accuracy_by_position`. `show`: `accuracy`, or `unresolved` for the share of
    answers with arithmetic left in; `relative` takes accuracy relative to the curve's maximum. Rows
    are named by the factors that differ between panels. Columns are numbers of distractors, or
    numbers of digits when these differ. `confidence` is used for `unresolved` only.
    """
    by_digits = table["digits"].nunique() > 1
    varying = [name for name in PANEL if name != "digits" and table[name].nunique() > 1]
    if by_digits:
        column = table["digits"].map(lambda n: f"{n} digits")
    else:
        column = table["distractors"].map(
            lambda n: f"{n} distractors" if n else "no distractors"
        )
    rows = [_panel_name(row, varying) for row in table.to_dict("records")]
    points = with_cells(table, [*CURVE, "depth"]).assign(row=rows, column=column)
    axes = ["model", "row", "column", "depth", "cell"]
    if show == "unresolved":
        points, relative = with_accuracy(points, show, "n", confidence), False
    return points[[*axes, *(RELATIVE if relative else SHARE)]].set_axis(
        [*axes, "shown", "low", "high"], axis=1
    )


SPOKEN: dict[str, dict[Any, str]] = {
    "qac": {True: "query on both sides", False: "query after the code"},
    "keys": {True: "with keys", False: "without keys"},
}
"""Words in figures for the values of the factors `qac` (query before the code too) and `keys`."""


def _panel_name(row: dict[Hashable, Any], varying: Sequence[str]) -> str:
    words = (
        [str(row["task"]).replace("_", " ")] if "task" in varying or not varying else []
    )
    if "dataset" in varying:
        words.append(DATASETS.get(str(row["dataset"]), str(row["dataset"])))
    if "metric" in varying:
        words.append(METRICS[str(row["metric"])] or "exact matches")
    words += [SPOKEN[name][row[name]] for name in SPOKEN if name in varying]
    return ", ".join(words)


DIP = [
    "dip_points",
    "dip_low",
    "dip_high",
    "dip_relative_pct",
    "drop_points",
    "drop_low",
    "drop_high",
    "drop_without_effect",
    "drop_relative_pct",
    "drop_relative_low",
    "drop_relative_high",
]
"""Columns of the dip in the middle and the largest drop: the fields of `PositionDip`, in its order,
in points or in % of the best position."""


def dips(
    answers: pd.DataFrame,
    *,
    metrics: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Table of the dip in the middle and the largest drop over positions in `answers`, a row for
    each model, dataset, task, digits, qac, keys, number of distractors and metric of `metrics`.

    Further columns, in points: dip_points, dip_low, dip_high, drop_points, drop_low, drop_high,
    drop_without_effect; in % of the best position: dip_relative_pct, drop_relative_pct,
    drop_relative_low, drop_relative_high; p_value (of a U-shape), problems. Counted are the
    problems that were asked at all positions; nan with fewer than three positions.
    """
    rows = []
    for curve, cells in _cells(answers, metrics, "position"):
        random = _draws(seed, "dip", curve)
        dip = position_dip(
            cells.to_numpy(), confidence=confidence, resamples=resamples, rng=random
        )
        rows.append((*curve, *(100 * np.hstack(dip[:-2])), dip.p_value, dip.items))
    return pd.DataFrame(rows, columns=[*CURVE, "metric", *DIP, "p_value", "problems"])


def headline(dips: pd.DataFrame, queries: pd.DataFrame, *, relative: bool) -> str:
    """Title of the figure by position: which models read the middle less well than both ends, from
    `dips`, the table of `dips()`, in points or, if `relative`, in % of the best position; or, where
    both were asked, what the query before the code changes, from `queries`, the table of
    `factor_differences()`.

    A model's curves are tests of one family: the smallest p-value counts times their number.
    """
    if len(queries):
        return clear_effect("the query before the code", queries)
    sure, curves = {}, dips.groupby("model", sort=False)
    for model, part in curves:
        dipped = part[(part["dip_low"] > 0) & (part["p_value"] * len(part) < LEVEL)]
        if len(dipped):
            sure[str(model)] = dipped[
                "dip_relative_pct" if relative else "dip_points"
            ].max()
    names = list(curves.groups)
    if not sure:
        who = names[0] if len(names) == 1 else f"any of {len(names)}"
        return f"No clear loss in the middle of the context for {who}"
    who = listed([*sure]) if len(sure) < 3 else f"{len(sure)} of {len(names)}"
    verb = "loses" if len(sure) == 1 else "lose"
    unit = "% of the best accuracy" if relative else "points"
    rest = [name for name in names if name not in sure]
    others = f"; {listed(rest)} nothing clear" if rest and len(names) < 4 else ""
    return f"In the middle {who} {verb} up to {max(sure.values()):.0f} {unit}{others}"


def unresolved_headline(points: pd.DataFrame) -> str:
    """Title of the figure of unresolved answers, from the drawn `points` of `position_points`: the
    model with the largest share at any place, and the largest share of the others."""
    most = points.groupby("model", sort=False)["shown"].max()
    first = most.idxmax()
    rest = most.drop(first)
    name = rest.index[0] if len(rest) == 1 else f"the other {len(rest)}"
    share = f"at most {100 * rest.max():.0f} %" if rest.max() else "none"
    others = f", {name} {share}" if len(rest) else ""
    return f"{first} leaves up to {100 * most[first]:.0f} % of its answers unresolved{others}"


def troughs(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Table of the fifth of the context in which each curve of `answers` is lowest: the paper says
    "the context's fourth quintile" (3.1, 3.2). Columns: those that name the curve (`CURVE`: model,
    dataset, task, …), metric (of `metrics`), problems, fifth_1 to fifth_5, lowest, may_be_lowest.

    The columns `fifth_1` to `fifth_5` are accuracies (0 to 1), `lowest` is the fifth's number, from
    1, and `may_be_lowest` names every fifth that the answers cannot rule out (`lowest_places`).
    Curves in one fifth alone have no row.
    """
    rows = []
    fifth = (5 * answers["depth"] + 1e-9).astype(int).clip(upper=4) + 1
    for curve, cells in _cells(answers.assign(fifth=fifth), metrics, "fifth"):
        if cells.shape[1] > 1:
            means, names = cells.mean(), lowest_places(cells, confidence)
            row = dict(zip([*CURVE, "metric"], curve, strict=True)) | {
                "problems": len(cells)
            }
            row |= means.add_prefix("fifth_")
            row["lowest"] = means.idxmin() if len(cells) else math.nan
            rows.append(row | {"may_be_lowest": ", ".join(map(str, names))})
    return pd.DataFrame(rows)


def lowest_places(scores: pd.DataFrame, confidence: float = 0.95) -> list[Any]:
    """List of the columns of the table `scores` (items by positions, 0 to 1, none missing) that may
    have the lowest mean. This confidence set misses the position with the lowest true mean with a
    probability of at most 1 - `confidence`. With fewer than two items it holds all positions.

    A position leaves the set when another is lower by a one-sided paired test. The true one is lost
    only by a wrong rejection in one of positions - 1 tests, so each test has that part of the level
    (Bonferroni).
    """
    if len(scores) < 2:
        return list(scores)
    two_sided = 1 - 2 * (1 - confidence) / (len(scores.columns) - 1)

    def lower(other: Any, place: Any) -> bool:
        return (
            paired_difference(scores[place] - scores[other], confidence=two_sided).low
            > 0
        )

    return [
        place for place in scores if not any(lower(other, place) for other in scores)
    ]


def factor_differences(
    answers: pd.DataFrame,
    factor: str,
    by: Sequence[str],
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Comparison of the answers with the two values of the column that `factor` names, True minus
    False, on the same problems at the same positions: the query on both sides or not (`qac`,
    appendix C), with keys or without (`keys`, appendix D).

    A row for each model and combination of the columns `by`, with these columns and those of
    `paired_differences`; positions of one problem are dependent. Empty when `answers` have only one
    value of the factor.
    """
    parts = []
    for group, part in answers.groupby(list(by), sort=False):
        part = part.sort_values(factor, kind="stable")
        names = part["problem"] + " at " + part["position"].astype(str)
        differences = paired_differences(
            part.assign(target=part["problem"], problem=names),
            factor,
            clusters="target",
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        parts.append(differences.assign(**dict(zip(by, group, strict=True))))
    return pd.concat(parts, ignore_index=True)


def task_gains(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Table of the gains in accuracy on SemTrace over CRUXEval's outputs in `answers`, for each of
    the paper's groups of models and each of three readings of "higher average accuracy".

    Columns: group, distractors, reading (in words), gain (% of CRUXEval's accuracy, or points),
    low, high, problems (of the smaller set); a group has rows when all of its models were asked
    both sets. The two sets have different problems, the same for all models. The interval of the
    ratio of means is MOVER's, the interval of the mean ratio is linearized.
    """
    rows = []
    asked = answers[
        (answers["task"] == "output_prediction")
        & answers["dataset"].isin(["semtrace", "cruxeval"])
    ]
    for group, models in read_published("semtrace")["groups"].items():
        for distractors, part in asked[asked["model"].isin(models)].groupby(
            "distractors"
        ):
            counts = part.groupby("dataset")[["model", "problem"]].nunique()
            if len(counts) == 2 and (counts["model"] == len(models)).all():
                rows += [
                    (group, distractors, *gain, counts["problem"].min())
                    for gain in _gains(part, counts["problem"], confidence)
                ]
    return pd.DataFrame(
        rows,
        columns=["group", "distractors", "reading", "gain", "low", "high", "problems"],
    )


def _gains(
    answers: pd.DataFrame, counts: pd.Series, confidence: float
) -> Iterator[tuple[str, float, float, float]]:
    """Yields each reading of "higher average accuracy" with its gain, low and high, from the
    `answers` of one group; nothing when a model has no correct answer on CRUXEval. `counts`: number
    of problems by data set. `confidence`: level of the intervals."""
    # Problems of two data sets are different even if their ids are the same.
    names = answers["dataset"] + "/" + answers["problem"].astype(str)
    shares = (
        answers.set_index(names)
        .groupby(["dataset", "model"])["value_strict"]
        .apply(share)
    )
    cruxeval, semtrace = shares["cruxeval"], shares["semtrace"]
    if not all(model.value for model in cruxeval):
        return
    means = mean(list(cruxeval)), mean(list(semtrace))
    sizes = counts["cruxeval"], counts["semtrace"]
    first, second = (
        (side.value, side.interval(size, confidence))
        for side, size in zip(means, sizes, strict=True)
    )
    gain = np.array([means[1].value / means[0].value, *ratio(first, second)])
    yield "gain of the models' mean", *(100 * (gain - 1))
    own = mean([new / old for old, new in zip(cruxeval, semtrace, strict=True)])
    gain = np.array([own.value, *own.interval(sum(sizes), confidence)])
    yield "mean of the models' gains", *(100 * (gain - 1))
    apart = (means[1] - means[0]) * 100
    points = apart.interval(sum(sizes), confidence)
    yield "gain of the models' mean, in points", apart.value, *points


def contexts(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Table of the targets' place in the contexts of `answers` (Equation 2), as means over
    problems, with a row for each number of distractors and depth: granularity, concentration
    (shares), depth_tokens and context_tokens (length before the target and of all, at four
    characters a token).

    `given` are the parameters by which the contexts were made; the contexts are built anew.
    """
    keys = ["distractors", "depth", "dataset", "digits", "problem", "position"]
    rows = []
    for count, place, dataset, digits, name, position in (
        answers[keys].drop_duplicates().itertuples(index=False)
    ):
        problem = given.table(dataset, int(digits))[name]
        mixed = given.in_context(problem, int(count), int(position))
        tokens = (
            mixed.depth / CHARACTERS_PER_TOKEN,
            len(mixed.text) / CHARACTERS_PER_TOKEN,
        )
        rows.append((count, place, mixed.granularity, mixed.concentration, *tokens))
    columns = [
        *keys[:2],
        "granularity",
        "concentration",
        "depth_tokens",
        "context_tokens",
    ]
    return pd.DataFrame(rows, columns=columns).groupby(keys[:2], as_index=False).mean()


Array = NDArray[np.float64]
_Curves = dict[tuple[str, int], tuple[Array, Array]]
"""Accuracies at each position by model and number of distractors: from all problems (positions,),
and in each resample (resamples, positions)."""

ANY = "any"
"""Context name of the largest drop over all numbers of distractors."""
OWN, MEAN, MOST = (
    "mean of the models' largest drops",
    "largest drop of the models' mean curve",
    "largest drop of any model",
)


def largest_drops(
    answers: pd.DataFrame,
    *,
    metrics: Sequence[str],
    confidence: float,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Table of the largest drop (best minus worst position) in `answers`, in points and in % of the
    best, for each model and for each of the paper's groups whose models were all asked. `metrics`
    names the scores. Problems are resampled once for all models. Empty without answers.

    Columns: model (or group), dataset, task, digits, qac, keys, metric, context (number of
    distractors, or `any`: the largest over all), reading (of "on average" and "up to": three for a
    group, one for a model), problems, and for `points` and `relative`: the number, _low, _high (the
    lower end is reduced by the drop that noise alone makes), _deviation (of the resamples),
    _without_effect (that noise).
    """
    rows = []
    for metric in metrics:
        for panel, part in answers.groupby(PANEL[:-1], sort=False):
            names = {"metric": metric, **dict(zip(PANEL[:-1], panel, strict=True))}
            problems = sorted(set(part["problem"]))
            random = rng(seed, "largest drops", metric, *map(str, panel))
            curves = _curves(part, f"value_{metric}", problems, resamples, random)
            rows += [
                names | row | {"problems": len(problems)}
                for row in _panel(curves, confidence)
            ]
    columns = ["model", *PANEL, "context", "reading", "problems"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def median_drops(drops: pd.DataFrame) -> pd.DataFrame:
    """Table of the median, over the paper's models, of their largest drops in % of the maximum, by
    exact matches over all tasks of a data set. Version 3 of the paper may mean this by its medians.

    `drops` is the table of `largest_drops`. Columns: dataset, relative (the median), problems (the
    fewest); a data set has a row when all of the models were asked.
    """
    models = read_published("semtrace")["groups"]["all"]
    chosen = drops[
        drops["model"].isin(models)
        & (drops["context"] == ANY)
        & (drops["metric"] == "strict")
    ]
    rows = [
        (dataset, part["relative"].median(), part["problems"].min())
        for dataset, part in chosen.groupby("dataset", sort=False)
        if set(part["model"]) == {*models}
    ]
    return pd.DataFrame(rows, columns=["dataset", "relative", "problems"])


def _curves(
    part: pd.DataFrame,
    value: str,
    problems: Sequence[str],
    resamples: int,
    random: np.random.Generator,
) -> _Curves:
    """Accuracies by position and their `resamples`, as a dict by model and number of distractors,
    from the answers `part`. They count the problems asked at all positions; a model with fewer than
    two has no curve. `value` names the column of scores, `problems` all that are drawn.

    The resamples get as much noise as two problems make that are correct at only one position, so
    that positions with identical answers keep some uncertainty.
    """
    places = {problem: place for place, problem in enumerate(problems)}
    weights = cluster_weights(len(problems), resamples, random)
    found: _Curves = {}
    for (model, distractors), one in part.groupby(["model", "distractors"], sort=False):
        cells = one.pivot_table(
            index="problem", columns="position", values=value
        ).dropna()
        drawn = weights[:, [places[problem] for problem in cells.index]]
        kept = drawn.sum(axis=1, keepdims=True)
        if len(cells) > 1 and kept.all():
            draws = drawn @ cells.to_numpy(float) / kept
            draws += random.normal(
                0, 1 / math.sqrt(len(cells) * (len(cells) + 2)), draws.shape
            )
            found[str(model), int(distractors)] = (
                cells.mean().to_numpy(float),
                np.clip(draws, 0, 1),
            )
    return found


def _panel(curves: _Curves, confidence: float) -> Iterator[dict[str, Any]]:
    asked = list(dict.fromkeys(model for model, _ in curves))
    groups = {
        name: models
        for name, models in read_published("semtrace")["groups"].items()
        if set(models) <= {*asked}
    }
    for name, models in {**{model: [model] for model in asked}, **groups}.items():
        counts = [
            n
            for n in sorted({n for _, n in curves})
            if all((model, n) in curves for model in models)
        ]
        if (
            not counts
            or len({len(curves[model, n][0]) for model in models for n in counts}) > 1
        ):
            continue
        means, draws = (
            np.stack([[curves[model, n][kind] for n in counts] for model in models])
            for kind in (0, 1)
        )
        # (models, counts, positions), (models, counts, resamples, positions)
        for context, chosen in [
            (ANY, slice(None)),
            *((str(n), slice(i, i + 1)) for i, n in enumerate(counts)),
        ]:
            for reading in (OWN, MEAN, MOST) if len(models) > 1 else (OWN,):
                row = {"model": name, "context": context, "reading": reading}
                for unit in ("points", "relative"):
                    row |= numbers_of(
                        means[:, chosen, None],
                        draws[:, chosen],
                        unit,
                        reading,
                        confidence,
                    )
                yield row


def numbers_of(
    means: Array, draws: Array, unit: str, reading: str, confidence: float
) -> dict[str, float]:
    """Largest drop in one `unit` (`points` or `relative`, both 0 to 100), as a dict with the keys
    UNIT, UNIT_low, UNIT_high, UNIT_deviation, UNIT_without_effect (see `largest_drops`).

    `means`: accuracies (models, numbers of distractors, 1, positions); `draws`: resamples (models,
    numbers of distractors, resamples, positions); `reading`: `OWN`, `MEAN` or `MOST`.
    """
    value = float(_largest(means, unit, reading)[0])
    flat = np.clip(draws - means + means.max(axis=-1, keepdims=True), 0, 1)
    deviation = float(np.nanstd(_largest(draws, unit, reading)))
    noise = float(np.nanmean(_largest(flat, unit, reading)))
    half = normal_quantile(confidence) * deviation
    # In this order, nan stays nan: of nothing right nothing is lost.
    numbers = {
        "": value,
        "_low": max(value - half - noise, 0.0),
        "_high": min(value + half, 100.0),
    }
    numbers |= {"_deviation": deviation, "_without_effect": noise}
    return {unit + name: number for name, number in numbers.items()}


def _largest(curves: Array, unit: str, reading: str) -> Array:
    """Largest drop in each resample, an array (resamples,), in points if `unit` is `points`, else
    in % of the best, from `curves` (models, numbers of distractors, resamples, positions).
    `reading` says whether drops are averaged over models (`OWN`), of the mean curve (`MEAN`) or the
    largest (`MOST`)."""
    shown = curves.mean(axis=0, keepdims=True) if reading == MEAN else curves
    best, worst = shown.max(axis=-1), shown.min(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drops = (
            best - worst
            if unit == "points"
            else np.where(best > 0, 1 - worst / best, np.nan)
        )
    largest = drops.max(axis=1)
    return np.asarray(
        100 * (largest.max(axis=0) if reading == MOST else largest.mean(axis=0))
    )
