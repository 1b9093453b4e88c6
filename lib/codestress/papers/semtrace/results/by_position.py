"""Sense and Sensitivity: answers by the position of the target (Figures 1 to 4 and 7 to 10)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from codestress.fitting.influence import mean, share
from codestress.fitting.position_dip import position_dip, relative_to_best
from codestress.fitting.proportions import cluster_weights, paired_difference, ratio
from codestress.fitting.summaries import paired_differences, summarize, with_accuracy
from codestress.papers.semtrace.distractors import Source
from codestress.papers.semtrace.mixing import mix
from codestress.papers.semtrace.studies import distractor_context
from codestress.problems.program import Problem
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
    parts = [
        summarize(answers, by=by, rule=metric, confidence=confidence)
        .assign(metric=metric)
        .merge(_relative_curves(answers, metric, confidence, resamples, seed), on=[*CURVE, "position"], how="left")
        for metric in metrics
    ]
    table = pd.concat(parts, ignore_index=True)
    if "true" in table:
        best = table.groupby([*CURVE, "metric"])["true"].transform("max")
        table = table.assign(true_relative=table["true"] / best.where(best > 0))
    unresolved = answers.groupby(by, sort=False)["unresolved_strict"].sum().rename("unresolved").reset_index()
    return table.merge(unresolved, on=by, how="left")


def _relative_curves(answers: pd.DataFrame, metric: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """`RELATIVE` for each curve and position, on the problems that were asked at all of them."""
    rows = []
    for group, cells in _cells(answers, metric, "position"):
        weights = cluster_weights(len(cells), resamples, rng(seed, "relative", metric, *map(str, group))) / len(cells)
        means = cells.mean()
        best = means.max() or np.nan
        intervals = relative_to_best(cells.to_numpy(float), weights, confidence)
        rows += [
            (*group, position, mean / best, *(interval if best == best else (np.nan, np.nan)))
            for (position, mean), interval in zip(means.items(), intervals, strict=True)
        ]
    return pd.DataFrame(rows, columns=[*CURVE, "position", *RELATIVE])


def _cells(answers: pd.DataFrame, metric: str, columns: str) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The scores of each curve, problems by places (a column), of the problems that were asked at all of them."""
    for group, part in answers.groupby(CURVE, sort=False):
        yield group, part.pivot_table(index="problem", columns=columns, values=f"value_{metric}").dropna()


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
        return with_accuracy(points, "unresolved", "n", confidence)[[*axes, *SHARE]].rename(
            columns={"accuracy": "shown"}
        )
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
    for metric in metrics:
        for group, cells in _cells(answers, metric, "position"):
            random = rng(seed, "dip", metric, *map(str, group))
            found = position_dip(cells.to_numpy(), confidence=confidence, resamples=resamples, rng=random)
            named = dict(zip(CURVE, group, strict=True)) | {"metric": metric}
            percent = dict(zip(DIP, 100 * np.hstack(found[:-2]), strict=True))
            rows.append(named | percent | {"p_value": found.p_value, "problems": found.items})
    return pd.DataFrame(rows)


def troughs(answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float) -> pd.DataFrame:
    """In which fifth of the context each curve is lowest: the paper says "the context's fourth quintile" (4.1, 4.2).

    `fifth_1` to `fifth_5` are shares (0 to 1), `lowest` counts from 1, and `may_be_lowest` names every fifth that the
    answers cannot rule out.
    """
    rows = []
    fifth = (5 * answers["depth"] + 1e-9).astype(int).clip(upper=4) + 1
    for metric in metrics:
        for group, cells in _cells(answers.assign(fifth=fifth), metric, "fifth"):
            if cells.shape[1] < 2:
                continue
            found, names = lowest_place(cells.to_numpy(float), confidence), list(cells.columns)
            rows.append(
                dict(zip(CURVE, group, strict=True))
                | {"metric": metric, "problems": len(cells)}
                | {f"fifth_{name}": value for name, value in cells.mean().items()}
                | {"lowest": names[found.place], "may_be_lowest": ", ".join(str(names[n]) for n in found.candidates)}
            )
    return pd.DataFrame(rows)


class LowestPlace(NamedTuple):
    """Places count from 0."""

    place: int
    """With the lowest mean, the first of several."""
    candidates: tuple[int, ...]
    """A confidence set: it misses the place whose true mean is lowest with at most 1 - confidence."""


def lowest_place(scores: ArrayLike, confidence: float = 0.95) -> LowestPlace:
    """From scores (items, places), 0 to 1, none missing; with fewer than two items every place is a candidate.

    A place leaves the set where another is lower by a one-sided paired test. To lose the true one takes a wrong
    rejection in one of places - 1 tests, so that each is at that part of the level (Bonferroni).
    """
    table = np.asarray(scores, dtype=float)
    items, places = table.shape
    means = table.mean(axis=0) if items else np.zeros(places)
    if items < 2 or places < 2:
        return LowestPlace(int(means.argmin()), tuple(range(places)))
    two_sided = 1 - 2 * (1 - confidence) / (places - 1)
    kept = [
        place
        for place in range(places)
        if not any(
            paired_difference(table[:, place] - table[:, other], confidence=two_sided).low > 0
            for other in range(places)
            if other != place
        )
    ]
    return LowestPlace(int(means.argmin()), tuple(kept))


def query_differences(answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """The query on both sides against after the code alone, on the same problems at the same places (appendix C).

    A row for each model, data set, task and number of distractors, as `paired_differences` makes them; the places of
    a problem hang together. Empty where the answers have one of both alone.
    """
    parts = []
    for (dataset, task, count), part in answers.groupby(["dataset", "task", "distractors"], sort=False):
        some = part.sort_values("qac", kind="stable").assign(target=part["problem"])
        some["problem"] = some["target"] + " at " + some["position"].astype(str)
        found = paired_differences(
            some, "qac", clusters="target", confidence=confidence, resamples=resamples, seed=seed
        )
        parts.append(found.assign(dataset=dataset, task=task, distractors=count))
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


def contexts(
    answers: pd.DataFrame,
    *,
    problems_of: Callable[[str, int], Mapping[str, Problem]],
    source: Source,
    tokens: int | None,
    positions: int,
    fragments: int,
    seed: int,
) -> pd.DataFrame:
    """How targets stand in their contexts (Equation 2), means over problems, a row for each number of distractors and
    place: granularity, concentration, and depth and length of the context in tokens (at four characters each)."""
    keys = ["dataset", "digits", "problem", "distractors", "position", "depth"]
    rows = []
    for dataset, digits, problem, count, position, place in answers[keys].drop_duplicates().itertuples(index=False):
        others = distractor_context(problem, int(count), source, tokens, seed)
        code = problems_of(dataset, int(digits))[problem].code
        mixed = mix(code, others, position=int(position), positions=positions, fragments=fragments)
        rows.append(
            {
                "distractors": count,
                "depth": place,
                "granularity": mixed.granularity,
                "concentration": mixed.concentration,
                "depth_tokens": mixed.depth / CHARACTERS_PER_TOKEN,
                "context_tokens": len(mixed.text) / CHARACTERS_PER_TOKEN,
            }
        )
    return pd.DataFrame(rows).groupby(["distractors", "depth"], as_index=False).mean()


def describe_positions(points: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for (row, column, model), part in points.groupby(["row", "column", "model"], sort=False):
        curve = part.sort_values("depth")["shown"]
        parts.append(
            f"{row}, {column}, {model}: {curve.iloc[0]:.0%} at the beginning, {curve.min():.0%} at the worst place, "
            f"{curve.iloc[-1]:.0%} at the end"
        )
    return "Accuracy against the position of the target. " + "; ".join(parts) + "."
