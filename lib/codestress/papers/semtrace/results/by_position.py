"""Sense and Sensitivity: answers by the position of the target (Figures 1 to 4 and 7 to 10), and largest drops over
positions as the paper states them, of single models and of several."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.fitting.influence import mean, share
from codestress.fitting.position_dip import position_dip, relative_to_best
from codestress.fitting.proportions import cluster_weights, normal_quantile, paired_difference, ratio
from codestress.fitting.summaries import paired_differences, summarize, with_accuracy
from codestress.papers.semtrace.studies import Questions, in_context, problems_of
from codestress.report.findings import told
from codestress.report.published import read_published
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN

PANEL = ["dataset", "task", "digits", "qac", "keys", "metric"]
"""What tells the panels of a figure apart, beside the number of distractors."""
CURVE = ["model", *PANEL[:-1], "distractors"]
"""What tells the curves of a metric apart."""
SHARE, RELATIVE = ["accuracy", "low", "high"], ["relative", "relative_low", "relative_high"]
DATASETS = {"cruxeval": "CRUXEval", "semtrace": "SemTrace", "generated": "generated problems"}
METRICS = {"strict": "", "partial": "partial matches"}


def accuracy_by_position(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """One row for each model, panel, number of distractors and place, as `summarize` makes them, with `metric`.

    `relative`, `relative_low` and `relative_high` are shares of the curve's own maximum (nan where it is 0), with
    joint intervals, since the maximum is an estimate too. `unresolved` counts answers with arithmetic left in. What is
    true of instruments (`true`, of exact matches) has its `true_relative`.
    """
    by = [*CURVE, "position", "depth"]
    parts = [summarize(answers, by=by, rule=metric, confidence=confidence).assign(metric=metric) for metric in metrics]
    relative = _relative_curves(answers, metrics, confidence, resamples, seed)
    table = pd.concat(parts).merge(relative, on=[*CURVE, "metric", "position"], how="left")
    if "true" in table:
        best = table.groupby([*CURVE, "metric"])["true"].transform("max")
        table = table.assign(true_relative=table["true"] / best.where(best > 0))
    unresolved = answers.groupby(by, sort=False)["unresolved_strict"].sum().rename("unresolved").reset_index()
    return table.merge(unresolved, on=by, how="left")


def _relative_curves(
    answers: pd.DataFrame, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """`RELATIVE` for each curve and position, on the problems that were asked at all of them."""
    rows: list[tuple[Any, ...]] = []
    for curve, cells in _cells(answers, metrics, "position"):
        weights = cluster_weights(len(cells), resamples, _draws(seed, "relative", curve)) / len(cells)
        shares = cells.mean() / (cells.mean().max() or np.nan)
        intervals = relative_to_best(cells.to_numpy(float), weights, confidence)
        rows += [(*curve, *one, *ends) for one, ends in zip(shares.items(), intervals, strict=True)]
    return pd.DataFrame(rows, columns=[*CURVE, "metric", "position", *RELATIVE])


def _cells(
    answers: pd.DataFrame, metrics: Sequence[str], columns: str
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """`CURVE` and metric with the scores, problems by places (a column), of the problems that were asked at all of
    them."""
    for metric in metrics:
        for group, part in answers.groupby(CURVE, sort=False):
            yield (*group, metric), part.pivot_table(f"value_{metric}", "problem", columns).dropna()


def _draws(seed: int, name: str, curve: tuple[Any, ...]) -> np.random.Generator:
    return rng(seed, name, curve[-1], *map(str, curve[:-1]))


def position_points(table: pd.DataFrame, *, show: str, relative: bool, confidence: float) -> pd.DataFrame:
    """The points to draw: model, row, column, depth, shown, low, high, and what is true where that is known.

    Rows are named by what differs between panels. Columns are numbers of distractors, or of digits where those differ.
    `show`: `accuracy`, or `unresolved` for the share of answers with arithmetic left in.
    """
    by_digits = table["digits"].nunique() > 1
    varying = [name for name in PANEL if table[name].nunique() > 1 and not (name == "digits" and by_digits)]
    if by_digits:
        column = table["digits"].map(lambda n: f"{n} digits")
    else:
        column = table["distractors"].map(lambda n: f"{n} distractors" if n else "no distractors")
    rows = [_panel_name(row, varying) for row in table.to_dict("records")]
    points = table.assign(row=rows, column=column)
    axes = ["model", "row", "column", "depth"]
    if show == "unresolved":
        points, relative = with_accuracy(points.drop(columns="true", errors="ignore"), show, "n", confidence), False
    drawn = points[[*axes, *(RELATIVE if relative else SHARE)]].set_axis([*axes, "shown", "low", "high"], axis=1)
    return drawn.assign(true=points["true_relative" if relative else "true"]) if "true" in points else drawn


SPOKEN: dict[str, dict[Any, str]] = {
    "qac": {True: "query on both sides", False: "query after the code"},
    "keys": {True: "with keys", False: "without keys"},
}
"""What figures call the values of these factors."""


def _panel_name(row: dict[Hashable, Any], varying: Sequence[str]) -> str:
    words = [str(row["task"]).replace("_", " ")] if "task" in varying or not varying else []
    if "dataset" in varying:
        words.append(DATASETS[str(row["dataset"])])
    if "metric" in varying:
        words.append(METRICS[str(row["metric"])] or "exact matches")
    words += [SPOKEN[name][row[name]] for name in SPOKEN if name in varying]
    return ", ".join(words)


DIP = [
    *("dip_points", "dip_low", "dip_high", "dip_relative_pct", "drop_points", "drop_low", "drop_high"),
    *("drop_without_effect", "drop_relative_pct", "drop_relative_low", "drop_relative_high"),
]
"""Of `PositionDip`, in its order, in points or %."""


def dips(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """For each model, panel and number of distractors: the dip in the middle and the largest drop, in points (0 to 100)
    and relative to the maximum (%), with intervals, and the p-value of a U-shape, on the same problems."""
    rows = []
    for curve, cells in _cells(answers, metrics, "position"):
        random = _draws(seed, "dip", curve)
        found = position_dip(cells.to_numpy(), confidence=confidence, resamples=resamples, rng=random)
        rows.append((*curve, *(100 * np.hstack(found[:-2])), found.p_value, found.items))
    return pd.DataFrame(rows, columns=[*CURVE, "metric", *DIP, "p_value", "problems"])


def troughs(answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float) -> pd.DataFrame:
    """In which fifth of the context each curve is lowest: the paper says "the context's fourth quintile" (4.1, 4.2).

    `fifth_1` to `fifth_5` are shares (0 to 1), `lowest` counts from 1, and `may_be_lowest` names every fifth that the
    answers cannot rule out.
    """
    rows = []
    fifth = (5 * answers["depth"] + 1e-9).astype(int).clip(upper=4) + 1
    for curve, cells in _cells(answers.assign(fifth=fifth), metrics, "fifth"):
        if cells.shape[1] > 1:
            means, names = cells.mean(), ", ".join(map(str, lowest_places(cells, confidence)))
            lowest = {"lowest": means.fillna(0).idxmin(), "may_be_lowest": names}
            named = dict(zip([*CURVE, "metric"], curve, strict=True))
            rows.append(named | {"problems": len(cells)} | means.add_prefix("fifth_").to_dict() | lowest)
    return pd.DataFrame(rows)


def lowest_places(scores: pd.DataFrame, confidence: float = 0.95) -> list[Any]:
    """The places (columns) that may have the lowest mean, from scores by item, 0 to 1, none missing: a confidence set
    that misses the one whose true mean is lowest with at most 1 - confidence. With fewer than two items all of them.

    A place leaves the set where another is lower by a one-sided paired test. To lose the true one takes a wrong
    rejection in one of places - 1 tests, so that each is at that part of the level (Bonferroni).
    """
    if len(scores) < 2:
        return list(scores)
    two_sided = 1 - 2 * (1 - confidence) / (len(scores.columns) - 1)

    def lower(other: Any, place: Any) -> bool:
        return paired_difference(scores[place] - scores[other], confidence=two_sided).low > 0

    return [place for place in scores if not any(lower(other, place) for other in scores if other != place)]


def factor_differences(
    answers: pd.DataFrame, factor: str, by: Sequence[str], *, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """A factor that is True against where it is False, on the same problems at the same places: the query on both
    sides or not (appendix C), with keys and without (appendix D).

    A row for each model and combination of `by`, as `paired_differences` makes them; the places of a problem hang
    together. Empty where the answers have one value alone.
    """
    parts = []
    for group, part in answers.groupby(list(by), sort=False):
        part = part.sort_values(factor, kind="stable")
        names = part["problem"] + " at " + part["position"].astype(str)
        some = part.assign(target=part["problem"], problem=names)
        how: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
        found = paired_differences(some, factor, clusters="target", **how)
        parts.append(found.assign(**dict(zip(by, group, strict=True))))
    return pd.concat(parts, ignore_index=True)


def task_gains(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """By how much groups of models do better on SemTrace than on CRUXEval's outputs, in %: of the mean over models,
    which may have had other problems.

    Columns: group, distractors, gain, low, high, problems (of the smaller set); a group has a row where all of it were
    asked both. The interval is a ratio's (MOVER), over the problems of both sets, the same for all models.
    """
    rows = []
    asked = answers[(answers["task"] == "output_prediction") & answers["dataset"].isin(["semtrace", "cruxeval"])]
    for group, models in read_published("semtrace")["groups"].items():
        for distractors, some in asked[asked["model"].isin(models)].groupby("distractors"):
            sets = dict(list(some.groupby("dataset")))
            if len(sets) < 2 or any(set(part["model"]) != set(models) for part in sets.values()):
                continue
            means, ends = {}, {}
            for dataset, part in sets.items():
                shares = [share(one.set_index("problem")["value_strict"]) for _, one in part.groupby("model")]
                means[dataset] = mean(shares).value
                ends[dataset] = mean(shares).interval(part["problem"].nunique(), confidence)
            if means["cruxeval"]:
                first, second = ((means[name], ends[name]) for name in ("cruxeval", "semtrace"))
                low, high = ratio(first, second)
                gain = means["semtrace"] / means["cruxeval"]
                problems = min(part["problem"].nunique() for part in sets.values())
                rows.append((group, distractors, 100 * (gain - 1), 100 * (low - 1), 100 * (high - 1), problems))
    return pd.DataFrame(rows, columns=["group", "distractors", "gain", "low", "high", "problems"])


def contexts(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """How targets stand in their contexts (Equation 2), means over problems, a row for each number of distractors and
    place: granularity, concentration, and depth and length of the context in tokens (at four characters each)."""
    keys = ["distractors", "depth", "dataset", "digits", "problem", "position"]
    rows = []
    for count, place, dataset, digits, name, position in answers[keys].drop_duplicates().itertuples(index=False):
        problem = problems_of(dataset, given.n_problems, given.seed, int(digits))[name]
        mixed, _ = in_context(given, problem, int(count), int(position))
        tokens = mixed.depth / CHARACTERS_PER_TOKEN, len(mixed.text) / CHARACTERS_PER_TOKEN
        rows.append((count, place, mixed.granularity, mixed.concentration, *tokens))
    columns = [*keys[:2], "granularity", "concentration", "depth_tokens", "context_tokens"]
    return pd.DataFrame(rows, columns=columns).groupby(keys[:2], as_index=False).mean()


def describe_positions(points: pd.DataFrame) -> str:
    """The figure in words."""
    curves = points.sort_values("depth", kind="stable").groupby(["row", "column", "model"], sort=False)["shown"]
    form = "{row}, {column}, {model}: {first:.0%} at the beginning, {min:.0%} at the worst place, {last:.0%} at the end"
    return told(
        "Accuracy against the position of the target.", curves.agg(["first", "min", "last"]).reset_index(), form
    )


Array = NDArray[np.float64]
_Curves = dict[tuple[str, int], tuple[Array, Array]]
"""By model and number of distractors, the accuracies at each position: as they are, and in each resample."""

ANY = "any"
"""The largest drop over all numbers of distractors."""
OWN, MEAN = "mean of the models' largest drops", "largest drop of the models' mean curve"


def largest_drops(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Best minus worst position in points, and in % of the best, for each model and each of the paper's groups that was
    asked as a whole; problems are resampled once for all models.

    Columns: model (or group), the panel, metric, context (number of distractors, or `any`), reading (of "on average":
    two for a group), and for `points` and `relative`: the number, _low, _high (what noise alone makes of it is taken
    off the lower end), _deviation, _without_effect; problems.
    """
    rows = []
    for metric in metrics:
        for panel, part in answers.groupby(PANEL[:-1], sort=False):
            names = {"metric": metric, **dict(zip(PANEL[:-1], panel, strict=True))}
            problems = sorted(set(part["problem"]))
            random = rng(seed, "largest drops", metric, *map(str, panel))
            curves = _curves(part, f"value_{metric}", problems, resamples, random)
            rows += [names | row | {"problems": len(problems)} for row in _panel(curves, confidence)]
    columns = ["model", *PANEL, "context", "reading", "problems"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def _curves(
    part: pd.DataFrame, value: str, problems: Sequence[str], resamples: int, random: np.random.Generator
) -> _Curves:
    """On the problems that were asked at all positions.

    As much noise as two problems that are right at one position alone is added to the resamples, so that positions
    where all answers are alike are not certain.
    """
    places = {problem: place for place, problem in enumerate(problems)}
    weights = cluster_weights(len(problems), resamples, random)
    found: _Curves = {}
    for (model, distractors), one in part.groupby(["model", "distractors"], sort=False):
        cells = one.pivot_table(index="problem", columns="position", values=value).dropna()
        drawn = weights[:, [places[problem] for problem in cells.index]]
        kept = drawn.sum(axis=1, keepdims=True)
        if len(cells) > 1 and kept.all():
            draws = drawn @ cells.to_numpy(float) / kept
            draws += random.normal(0, 1 / math.sqrt(len(cells) * (len(cells) + 2)), draws.shape)
            found[str(model), int(distractors)] = cells.mean().to_numpy(float), np.clip(draws, 0, 1)
    return found


def _panel(curves: _Curves, confidence: float) -> Iterator[dict[str, Any]]:
    asked = list(dict.fromkeys(model for model, _ in curves))
    groups = {name: models for name, models in read_published("semtrace")["groups"].items() if set(models) <= {*asked}}
    for name, models in {**{model: [model] for model in asked}, **groups}.items():
        counts = [n for n in sorted({n for _, n in curves}) if all((model, n) in curves for model in models)]
        if not counts or len({len(curves[model, n][0]) for model in models for n in counts}) > 1:
            continue
        means, draws = (np.stack([[curves[model, n][kind] for n in counts] for model in models]) for kind in (0, 1))
        # (models, counts, positions), (models, counts, resamples, positions)
        for context, chosen in [(ANY, slice(None)), *((str(n), slice(i, i + 1)) for i, n in enumerate(counts))]:
            for reading in (OWN, MEAN) if len(models) > 1 else (OWN,):
                row = {"model": name, "context": context, "reading": reading}
                for unit in ("points", "relative"):
                    row |= numbers_of(means[:, chosen, None], draws[:, chosen], unit, reading, confidence)
                yield row


def numbers_of(means: Array, draws: Array, unit: str, reading: str, confidence: float) -> dict[str, float]:
    """From means (models, numbers of distractors, 1, positions) and resamples of them in the third place: the columns
    of one unit, `points` or `relative`."""
    value = float(_largest(means, unit, reading)[0])
    flat = np.clip(draws - means + means.max(axis=-1, keepdims=True), 0, 1)
    deviation = float(np.nanstd(_largest(draws, unit, reading)))
    noise = float(np.nanmean(_largest(flat, unit, reading)))
    half = normal_quantile(confidence) * deviation
    numbers = {"": value, "_low": max(0.0, value - half - noise), "_high": min(100.0, value + half)}
    numbers |= {"_deviation": deviation, "_without_effect": noise}
    return {unit + name: number for name, number in numbers.items()}


def _largest(curves: Array, unit: str, reading: str) -> Array:
    """From (models, numbers of distractors, resamples, positions), one number for each resample."""
    shown = curves.mean(axis=0, keepdims=True) if reading == MEAN else curves
    best, worst = shown.max(axis=-1), shown.min(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drops = best - worst if unit == "points" else np.where(best > 0, 1 - worst / best, np.nan)
    return np.asarray(100 * drops.max(axis=1).mean(axis=0))
