"""Sense and Sensitivity: tables of its figures, the paper's own numbers beside the regenerated ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.bootstrap import cluster_bootstrap_mean, cluster_weights, percentile_interval
from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.position_dip import position_dip
from codestress.fitting.proportions import wilson
from codestress.fitting.summaries import paired_differences, summarize
from codestress.generation.mixing import mix
from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.problems.distractors import Source
from codestress.problems.program import Problem
from codestress.report.claims import Claim
from codestress.report.published import published_numbers
from codestress.seeding import rng
from codestress.studies.semtrace import CHARACTERS_PER_TOKEN, surroundings
from codestress.types import Prompt

# --- Figures 1 to 4 and 7 to 10: the place of the target ------------------------------------------------------------

PANEL = ["dataset", "task", "digits", "qac", "keys", "metric"]
"""What tells the panels of a figure apart, beside the number of distractors."""
DATASETS = {"cruxeval": "CRUXEval", "semtrace": "SemTrace", "generated": "generated problems"}
METRICS = {"strict": "", "partial": "partial matches"}


def accuracy_by_place(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """One row for each model, panel, number of distractors and place, as `summarize` makes them, with `metric`.

    `relative`, `relative_low` and `relative_high` are shares of the curve's own maximum (nan where it is 0); the
    interval does not know that the maximum is an estimate too. `unresolved` counts answers with arithmetic left in.
    """
    by = ["model", *PANEL[:-1], "distractors", "position", "place"]
    parts = [
        summarize(answers, by=by, rule=metric, confidence=confidence, resamples=resamples, seed=seed).assign(
            metric=metric
        )
        for metric in metrics
    ]
    table = pd.concat(parts, ignore_index=True)
    unresolved = answers.groupby(by, sort=False)["unresolved_strict"].sum().rename("unresolved").reset_index()
    table = table.merge(unresolved, on=by, how="left")
    top = table.groupby(["model", *PANEL, "distractors"])["share"].transform("max").replace(0, np.nan)
    scaled = {
        "relative": table["share"] / top,
        "relative_low": table["low"] / top,
        "relative_high": table["high"] / top,
    }
    return table.assign(**scaled)


def place_points(table: pd.DataFrame, *, show: str, relative: bool, confidence: float) -> pd.DataFrame:
    """The points to draw: model, row, column, place, share, low, high.

    Rows are named by what differs between panels. Columns are numbers of distractors, or of digits where those differ.
    `show`: `accuracy`, or `unresolved` for the share of answers with arithmetic left in.
    """
    columns = ["relative", "relative_low", "relative_high"] if relative else ["share", "low", "high"]
    by_digits = table["digits"].nunique() > 1
    varying = [name for name in PANEL if table[name].nunique() > 1 and not (name == "digits" and by_digits)]
    if by_digits:
        column = table["digits"].map(lambda n: f"{n} digits")
    else:
        column = table["distractors"].map(lambda n: f"{n} distractors" if n else "no distractors")
    rows = [_panel_name(row, varying) for row in table.to_dict("records")]
    points = table.assign(row=rows, column=column)
    drawn = ["model", "row", "column", "place", "share", "low", "high"]
    if show == "unresolved":
        counts = zip(points["unresolved"], points["asked"], strict=True)
        intervals = [wilson(int(n), int(asked), confidence) for n, asked in counts]
        low, high = ([interval[side] for interval in intervals] for side in (0, 1))
        return points.assign(share=points["unresolved"] / points["asked"], low=low, high=high)[drawn]
    return points[["model", "row", "column", "place", *columns]].set_axis(drawn, axis=1)


def _panel_name(row: dict[Hashable, Any], varying: Sequence[str]) -> str:
    words = [str(row["task"]).replace("_", " ")] if "task" in varying or not varying else []
    if "dataset" in varying:
        words.append(DATASETS[str(row["dataset"])])
    if "metric" in varying:
        words.append(METRICS[str(row["metric"])] or "exact matches")
    if "qac" in varying:
        words.append("query on both sides" if row["qac"] else "query after the code")
    if "keys" in varying:
        words.append("with keys" if row["keys"] else "without keys")
    return ", ".join(words)


def dips(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """For each model, panel and number of distractors: the dip in the middle and the largest drop, in points (0 to 100)
    and relative to the maximum (%), with intervals, and the p-value of a U-shape, on the same problems."""
    rows = []
    for metric in metrics:
        for group, part in answers.groupby(["model", *PANEL[:-1], "distractors"], sort=False):
            cells = part.pivot_table(index="problem", columns="position", values=f"value_{metric}").dropna()
            found = position_dip(
                cells.to_numpy(),
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "dip", metric, *map(str, group)),
            )
            rows.append(
                dict(zip(["model", *PANEL[:-1], "distractors"], group, strict=True))
                | {
                    "metric": metric,
                    "dip_points": 100 * found.dip,
                    "dip_low": 100 * found.dip_interval.low,
                    "dip_high": 100 * found.dip_interval.high,
                    "dip_relative_pct": 100 * found.relative_dip,
                    "drop_points": 100 * found.drop,
                    "drop_low": 100 * found.drop_interval.low,
                    "drop_high": 100 * found.drop_interval.high,
                    "drop_relative_pct": 100 * found.relative_drop,
                    "drop_relative_low": 100 * found.relative_drop_interval.low,
                    "drop_relative_high": 100 * found.relative_drop_interval.high,
                    "p_value": found.p_value,
                    "problems": found.items,
                }
            )
    return pd.DataFrame(rows)


def place_claims(artefact: str, drops: pd.DataFrame) -> list[Claim]:
    """The paper's numbers on drops: of single models the largest over its numbers of distractors, of groups the mean.

    Decided only on the paper's problems and models.
    """
    numbers = published_numbers(artefact) or {}
    claims = []
    for stated in numbers.get("drops", []):
        unit = "% of the maximum" if stated["relative"] else "points"
        value, low, high = (
            ("drop_relative_pct", "drop_relative_low", "drop_relative_high")
            if stated["relative"]
            else ("drop_points", "drop_low", "drop_high")
        )
        chosen = drops[drops["model"].isin(stated["models"]) & drops["dataset"].isin(["cruxeval", "semtrace"])]
        for name in ("task", "digits", "distractors", "metric"):
            if name in stated:
                chosen = chosen[chosen[name] == stated[name]]
        if set(chosen["model"]) != set(stated["models"]):
            told = f"needs the answers of {', '.join(stated['models'])}"
            claims.append(Claim(artefact, stated["statement"], stated["value"], unit, basis=told))
            continue
        largest = chosen.loc[chosen.groupby("model")[value].idxmax()]
        told = f"largest drop over numbers of distractors, {len(largest)} models, {largest['problems'].min()} problems"
        claims.append(
            Claim(
                artefact,
                stated["statement"],
                stated["value"],
                unit,
                float(largest[value].mean()),
                float(largest[low].mean()),
                float(largest[high].mean()),
                told,
            )
        )
    return claims


def task_claims(artefact: str, answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int) -> list[Claim]:
    """The paper's comparisons of SemTrace with CRUXEval's outputs: by how much per cent some models' mean is higher.

    Decided where both data sets were asked of these models with so many distractors; problems are resampled.
    """
    claims = []
    for stated in (published_numbers(artefact) or {}).get("gains", []):
        told = f"needs problems = ['semtrace', 'cruxeval'] and the answers of {', '.join(stated['models'])}"
        rows = answers[
            answers["model"].isin(stated["models"])
            & (answers["task"] == "output_prediction")
            & (answers["distractors"] == stated["distractors"])
        ]
        draws, means = {}, {}
        for dataset in ("semtrace", "cruxeval"):
            part = rows[rows["dataset"] == dataset]
            if set(part["model"]) == set(stated["models"]):
                by_problem = part.groupby("problem")["value_strict"].mean().to_numpy()
                means[dataset] = by_problem.mean()
                weights = cluster_weights(len(by_problem), resamples, rng(seed, "gain", dataset))
                draws[dataset] = weights @ by_problem / len(by_problem)
        if len(means) < 2 or not means["cruxeval"]:
            claims.append(Claim(artefact, stated["statement"], stated["value"], "%", basis=told))
            continue
        gain = 100 * (means["semtrace"] / means["cruxeval"] - 1)
        low, high = percentile_interval(100 * (draws["semtrace"] / draws["cruxeval"] - 1), confidence)
        basis = f"{len(stated['models'])} models, problems resampled"
        claims.append(Claim(artefact, stated["statement"], stated["value"], "%", gain, low, high, basis))
    return claims


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
    keys = ["dataset", "digits", "problem", "distractors", "position", "place"]
    rows = []
    for dataset, digits, problem, count, position, place in answers[keys].drop_duplicates().itertuples(index=False):
        others = surroundings(problem, int(count), source, tokens, seed)
        code = problems_of(dataset, int(digits))[problem].code
        mixed = mix(code, others, position=int(position), positions=positions, fragments=fragments)
        rows.append(
            {
                "distractors": count,
                "place": place,
                "granularity": mixed.granularity,
                "concentration": mixed.concentration,
                "depth_tokens": mixed.depth / CHARACTERS_PER_TOKEN,
                "context_tokens": len(mixed.text) / CHARACTERS_PER_TOKEN,
            }
        )
    return pd.DataFrame(rows).groupby(["distractors", "place"], as_index=False).mean()


def prompt_files(tasks: Sequence[str], qac: Sequence[bool]) -> list[str]:
    """The files that prompts were made from, whose hashes go into the manifest."""
    return [name for task in tasks for name in ([f"{task}.before"] if any(qac) else []) + [task, f"{task}.prefill"]]


def describe_places(points: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for (row, column, model), part in points.groupby(["row", "column", "model"], sort=False):
        curve = part.sort_values("place")["share"]
        parts.append(
            f"{row}, {column}, {model}: {curve.iloc[0]:.0%} at the beginning, {curve.min():.0%} at the worst place, "
            f"{curve.iloc[-1]:.0%} at the end"
        )
    return "Accuracy against the place of the target. " + "; ".join(parts) + "."


# --- Figures 5 and 6: line removal ----------------------------------------------------------------------------------


Curve = tuple[str, str]
"""Model and task."""


def with_share_removed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `share_removed`: lines removed of those that may be, 0 to 1, equal where the fractions are."""
    return answers.assign(share_removed=(answers["removed"] / answers["lines"]).round(9))


def accuracy_by_share(
    answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int, rule: str = "strict"
) -> pd.DataFrame:
    """One row for each model, task and exact share of lines removed, smallest first, as `summarize` makes them."""
    ordered = with_share_removed(answers).sort_values("share_removed", kind="stable")
    return summarize(
        ordered, by=["model", "task", "share_removed"], rule=rule, confidence=confidence, resamples=resamples, seed=seed
    )


def fit_removal(
    answers: pd.DataFrame,
    *,
    trend: str,
    weighted: bool,
    confidence: float,
    resamples: int,
    seed: int,
    rule: str = "strict",
) -> dict[Curve, ExponentialFit]:
    """For each model and task, the exponential through its accuracies; programs are resampled, not their versions."""
    fits = {}
    for (model, task), part in with_share_removed(answers).groupby(["model", "task"], sort=False):
        cells = part.groupby(["problem", "share_removed"])[f"value_{rule}"].agg(["sum", "count"])
        right, asked = (cells[column].unstack(fill_value=0).sort_index(axis=1) for column in ("sum", "count"))
        fits[str(model), str(task)] = fit_exponential(
            right.columns.to_numpy(float),
            right.to_numpy(float),
            asked.to_numpy(float),
            floor=trend == "exponential_with_floor",
            weighted=weighted,
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "removal", str(model), str(task)),
        )
    return fits


def fit_table(fits: Mapping[Curve, ExponentialFit], confidence: float) -> pd.DataFrame:
    """A row for each model and task: height, rate, floor and half-life (share of lines removed) with intervals,
    loss_at_half (what share of the curve's value at 0 is lost when half of the lines are), r_squared, failed resamples.
    """
    return pd.DataFrame(
        [
            {
                "model": model,
                "task": task,
                "height": fit.height,
                "height_low": fit.height_interval.low,
                "height_high": fit.height_interval.high,
                "rate": fit.rate,
                "rate_low": fit.rate_interval.low,
                "rate_high": fit.rate_interval.high,
                "floor": fit.floor,
                "floor_low": fit.floor_interval.low,
                "floor_high": fit.floor_interval.high,
                "half_life": fit.half_life,
                "half_life_low": fit.half_life_interval.low,
                "half_life_high": fit.half_life_interval.high,
                **dict(zip(("loss_at_half", "loss_low", "loss_high"), fit.loss_at(0.5, confidence), strict=True)),
                "r_squared": fit.r_squared,
                "failed_resamples": fit.failed,
            }
            for (model, task), fit in fits.items()
        ]
    )


def fitted_curves(fits: Mapping[Curve, ExponentialFit], confidence: float) -> pd.DataFrame:
    """The curves to draw: model, task, share_removed (0 to 1 in 101 steps), share, low, high (pointwise band)."""
    x = np.linspace(0, 1, 101)
    parts = []
    for (model, task), fit in fits.items():
        low, high = fit.band(x, confidence)
        named = {"model": model, "task": task, "share_removed": x}
        parts.append(pd.DataFrame(named | {"share": fit.at(x), "low": low, "high": high}))
    return pd.concat(parts, ignore_index=True)


def recall_sensitivity(
    answers: pd.DataFrame, *, epsilon: float, confidence: float, resamples: int, seed: int, rule: str = "strict"
) -> pd.DataFrame:
    """Equation 5 for each model and task: the mean of (R(C) - R(C_inc)) / (R(C) + epsilon) over incomplete versions.

    Where the complete program is answered wrongly the quotient is 0 or about -1/epsilon, which says nothing of recall;
    those programs are counted in `complete_wrong` and left out of the mean. Columns: model, task, sensitivity, low,
    high, programs, complete_wrong.
    """
    value = f"value_{rule}"
    rows = []
    for (model, task), part in answers.groupby(["model", "task"], sort=False):
        complete = part[part["removed"] == 0].groupby("problem")[value].mean()
        incomplete = part[part["removed"] > 0].groupby("problem")[value].mean()
        loss = (complete - incomplete) / (complete + epsilon)
        known = loss[complete > 0].dropna()
        estimate = cluster_bootstrap_mean(
            known.to_numpy(),
            known.index.to_numpy(),
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "sensitivity", str(model), str(task)),
        )
        rows.append(
            {
                "model": model,
                "task": task,
                "sensitivity": estimate.value,
                "low": estimate.interval.low,
                "high": estimate.interval.high,
                "programs": len(known),
                "complete_wrong": int((complete == 0).sum()),
            }
        )
    return pd.DataFrame(rows)


def published_drop(artefact: str) -> tuple[float, float] | None:
    """Share of lines removed and accuracy of the one point that the paper states, both 0 to 1."""
    numbers = published_numbers(artefact)
    if not numbers or "drop_points" not in numbers:
        return None
    return numbers["smallest_share_removed_pct"] / 100, 1 - numbers["drop_points"] / 100


def removal_claims(
    artefact: str, table: pd.DataFrame, fitted: pd.DataFrame, answers: pd.DataFrame, paper_data: bool
) -> list[Claim]:
    """The statements of section 3.4 and appendix B, decided only on the paper's own programs and models."""
    numbers = published_numbers(artefact) or {}
    if "drop_points" in numbers:
        return _interpreter_claims(artefact, numbers, table, answers, paper_data)
    claims = []
    for stated in numbers.get("losses", []):
        chosen = fitted[fitted["model"].isin(stated["models"]) & (fitted["task"] == stated["task"])]
        if not paper_data or len(chosen) < len(stated["models"]):
            told = f"needs CRUXEval and the answers of {', '.join(stated['models'])}"
            claims.append(Claim(artefact, stated["statement"], stated["value"], "% of all lines' accuracy", basis=told))
            continue
        loss, low, high = (100 * float(chosen[name].mean()) for name in ("loss_at_half", "loss_low", "loss_high"))
        told = f"mean of {len(chosen)} fitted curves"
        claims.append(
            Claim(artefact, stated["statement"], stated["value"], "% of all lines' accuracy", loss, low, high, told)
        )
    return claims


def _interpreter_claims(
    artefact: str, numbers: Mapping[str, Any], table: pd.DataFrame, answers: pd.DataFrame, paper_data: bool
) -> list[Claim]:
    interpreter = table[(table["model"] == "python") & (table["share_removed"] > 0)]
    if not (paper_data and len(interpreter)):
        told = "needs CRUXEval and the interpreter: problems = cruxeval, models = python"
        return [
            Claim(artefact, _DROP, numbers["drop_points"], "points", basis=told),
            Claim(artefact, _VERSIONS, numbers["versions"], "programs", basis=told),
            Claim(artefact, _BEYOND, numbers["near_zero_pct"], "%", basis=told, relation="at most"),
        ]
    first = interpreter.iloc[0]
    drop, low, high = (100 * (1 - first[column]) for column in ("share", "high", "low"))
    python = with_share_removed(answers[answers["model"] == "python"])
    single = python[python["removed"] == 1]
    beyond = python[python["share_removed"] > 0.2]
    by_program = beyond.groupby("problem")["value_strict"]
    far = cluster_bootstrap_mean(
        beyond["value_strict"].to_numpy(), beyond["problem"].to_numpy(), rng=rng(0, "beyond a fifth")
    )
    of_smallest = (
        f"{first['asked']} versions without {first['share_removed']:.2%} of their lines, the smallest share; all "
        f"{len(single):,} versions without one line: {100 - 100 * single['value_strict'].mean():.2f} points"
    )
    return [
        Claim(artefact, _DROP, numbers["drop_points"], "points", drop, low, high, of_smallest),
        Claim(artefact, _VERSIONS, numbers["versions"], "programs", len(python), len(python), len(python), "counted"),
        Claim(
            artefact,
            _BEYOND,
            numbers["near_zero_pct"],
            "%",
            100 * far.value,
            100 * far.interval.low,
            100 * far.interval.high,
            f"{len(beyond):,} versions of {by_program.ngroups} programs",
            "at most",
        ),
    ]


_DROP = "appendix B: the interpreter's accuracy falls when one line is removed"
_VERSIONS = "section 3.4: versions of CRUXEval's functions, all combinations of lines"
_BEYOND = (
    "appendix B: the interpreter's accuracy with more than 20 % of lines removed approaches zero (read as at most 5 %)"
)


def describe_removal(table: pd.DataFrame, fits: Mapping[Curve, ExponentialFit]) -> str:
    """The figure in words."""
    parts = []
    for (model, task), part in table.groupby(["model", "task"], sort=False):
        fit = fits[str(model), str(task)]
        first = part[part["share_removed"] > 0].iloc[0]
        half = "never" if math.isinf(fit.half_life) else f"at {fit.half_life:.1%}"
        parts.append(
            f"{model}, {str(task).replace('_', ' ')}: {part['share'].iloc[0]:.1%} right with all lines, "
            f"{first['share']:.1%} without {first['share_removed']:.1%} of them; "
            f"the fitted exponential has fallen to half {half}"
        )
    return "Accuracy against the share of lines removed. " + ". ".join(parts) + "."


# --- Tables 1 and 2: baselines ---------------------------------------------------------------------------------------

COLUMNS = {
    ("cruxeval", "input_prediction"): "CRUXEval-I",
    ("cruxeval", "output_prediction"): "CRUXEval-O",
    ("semtrace", "output_prediction"): "SemTrace",
    ("generated", "input_prediction"): "generated-I",
    ("generated", "output_prediction"): "generated-O",
}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Columns label, condition, share, low, high, for `share_bars`; a condition is a data set with a task."""
    keyed = table["keys"].nunique() > 1
    conditions = [
        COLUMNS[str(row.dataset), str(row.task)] + (f", with{'' if row.keys else 'out'} keys" if keyed else "")
        for row in table.itertuples()
    ]
    return table.assign(label=table["model"], condition=conditions)[["label", "condition", "share", "low", "high"]]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's table in the same columns; Wilson's intervals from its 800 problems, of which GPT 4.1 had 100."""
    numbers = published_numbers(artefact)
    if not numbers:
        return pd.DataFrame(columns=["label", "condition", "share", "low", "high"])
    rows = []
    for model, values in numbers["values"].items():
        asked = 100 if model.startswith("gpt") else 800
        for condition, value in zip(numbers["columns"], values, strict=True):
            rows.append((model, condition, value / 100, *wilson(round(value * asked / 100), asked, confidence)))
    return pd.DataFrame(rows, columns=["label", "condition", "share", "low", "high"])


def baseline_claims(artefact: str, regenerated: pd.DataFrame, published: pd.DataFrame) -> list[Claim]:
    """Every cell of the published table."""
    known = {(row.label, row.condition): row for row in regenerated.itertuples()}
    claims = []
    for cell in published.itertuples():
        statement = f"{cell.condition}: {cell.label}"
        found = known.get((cell.label, cell.condition))
        if found is None:
            claims.append(Claim(artefact, statement, 100 * cell.share, "%", basis=f"needs the answers of {cell.label}"))
        else:
            values = (100 * found.share, 100 * found.low, 100 * found.high)
            claims.append(Claim(artefact, statement, 100 * cell.share, "%", *values, basis="the same problems"))
    return claims


def key_differences(answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """With keys against without, for each model and task on the same problems (appendix D); empty without both."""
    parts = [
        paired_differences(part, "keys", confidence=confidence, resamples=resamples, seed=seed).assign(task=task)
        for task, part in answers.groupby("task", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


# --- Tables 3 and 4: the registry, and the prompts ------------------------------------------------------------------


def smallest_rope_base(context: float) -> float:
    """Smallest base of RoPE for a context of that many tokens: the power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G) has 861,000 for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Name, kind and licence of the models and of the data sets."""
    rows = [{"name": entry.name, "kind": "model", "licence": entry.licence} for entry in models]
    sets = [find_dataset("cruxeval"), find_dataset("codesearchnet-python")]
    return pd.DataFrame([*rows, *({"name": d.name, "kind": "data set", "licence": d.licence} for d in sets)])


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """What the registry says of each model, and whether its RoPE base reaches the bound for `context` tokens."""
    bound = smallest_rope_base(context)
    rows = []
    for entry in models:
        base = entry.architecture.get("rope_theta")
        facts = {
            name: entry.architecture.get(name, "not published")
            for name in ("positional", "moe", "sliding_window", "gqa")
        }
        reached = "not published" if base is None else "yes" if float(base) >= bound else "no"
        rows.append(
            {"name": entry.name, **facts, "rope_base": base, "context": entry.context, "reaches_bound": reached}
        )
    return pd.DataFrame(rows).assign(smallest_base=round(bound))


def bound_claims(artefact: str, context: int) -> list[Claim]:
    """The bound that the paper states for its longest context, to its own precision."""
    numbers = published_numbers(artefact)
    if not numbers:
        return []
    bound = smallest_rope_base(context) / 1000
    return [
        Claim(
            artefact,
            f"appendix G: smallest RoPE base for {context:,} tokens (the paper: approximately 31k)",
            numbers["smallest_base"] / 1000,
            "thousand",
            bound,
            bound - 0.5,
            bound + 0.5,
            "computed from the power law; interval: rounding to thousands",
        )
    ]


def template_table(prompts: Sequence[tuple[str, int, Prompt]]) -> pd.DataFrame:
    """Characters of each template's prompt and prefill, and tokens at four characters each (no model's tokenizer)."""
    return pd.DataFrame(
        [
            {
                "task": task.replace("_", " "),
                "distractors": count,
                "characters": sum(len(message.content) for message in prompt.messages),
                "prefill_characters": len(prompt.prefill),
                "tokens_at_4_characters": round(sum(len(m.content) for m in prompt.messages) / 4),
            }
            for task, count, prompt in prompts
        ]
    )
