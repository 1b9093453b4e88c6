"""CodeCrash: tables of its figures, the paper's own numbers beside the regenerated ones."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from codestress.fitting.bootstrap import cluster_bootstrap_mean
from codestress.fitting.growth import Growth, fit_growth
from codestress.fitting.proportions import wilson
from codestress.fitting.relative import relative_difference
from codestress.generation.perturbations.variants import Perturbation, Task, Variant, called
from codestress.inference.run import stored_responses
from codestress.literals import parse_literal, same_value
from codestress.problems.program import Problem
from codestress.report.claims import Claim
from codestress.report.published import published_models, published_numbers
from codestress.sandbox.executor import Executor, Outcome
from codestress.scoring.reasoning import collapse_start, doubts, reasoning_tokens, thinking
from codestress.seeding import rng
from codestress.studies.codecrash import MESSAGES, checked_problems, fenced_program, variants
from codestress.types import Language, Response, Trials

CELL = ["model", "dataset", "language", "task", "mode", "ignore", "refactor", "perturbation", "density"]
"""What tells conditions apart."""
SETTING = ["language", "task", "mode", "ignore", "refactor"]
MERGE = "merge"
"""All data sets together, every problem with the same weight (the paper's Merge)."""
NAMES = {
    **{"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench", "generated": "generated problems"},
    **{"contest": "contest programs", MERGE: "all problems"},
}
MODES = {"direct": "direct", "cot": "chain of thought"}
LANGUAGE_NAMES = {"python": "Python", "javascript": "JavaScript"}


# --- Pass@1 and differences to vanilla ------------------------------------------------------------------------------


def scores_by_problem(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """One row for each condition and problem: `score` (the share of its candidates that are right), `status`."""
    merged = answers.assign(dataset=MERGE, problem=answers["dataset"] + "/" + answers["problem"])
    both = pd.concat([answers, merged]) if answers["dataset"].nunique() > 1 else answers
    grouped = both.groupby([*CELL, "problem"], sort=False)
    return grouped.agg(score=(f"value_{rule}", "mean"), status=("status", "first")).reset_index()


def differences(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """One row for each condition but the plain vanilla one, paired with it on the problems that both have.

    Columns: `CELL`, problems, vanilla_pct and pass_at_1_pct (0 to 100), points, points_low, points_high, relative_pct,
    relative_low, relative_high; the same three of each for the problems that the perturbation was `applied` to, with
    how many; pass_at_1_other_rule_pct. Bootstrap over problems, the same resamples for both conditions.
    """
    other = "reference" if rule == "strict" else "strict"
    scores = scores_by_problem(answers, rule)
    others = scores_by_problem(answers, other).groupby(CELL, sort=False)["score"].mean()
    keys = ["model", "dataset", "language", "task", "mode"]
    plain = scores[(scores["perturbation"] == "VAN") & ~scores["ignore"] & ~scores["refactor"]]
    baselines = {group: part.set_index("problem")["score"] for group, part in plain.groupby(keys, sort=False)}
    rows = []
    for group, part in scores.groupby(CELL, sort=False):
        cell = dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
        baseline = baselines.get(tuple(cell[key] for key in keys))
        if baseline is None or (cell["perturbation"] == "VAN" and not cell["ignore"] and not cell["refactor"]):
            continue
        mine = part.set_index("problem")
        common = mine.index.intersection(baseline.index)
        applied = common[(mine.loc[common, "status"] == "applied").to_numpy()]
        row: dict[str, Any] = cell | {"problems": len(common)}
        for prefix, chosen in (("", common), ("applied_", applied)):
            found = relative_difference(
                baseline[chosen],
                mine.loc[chosen, "score"],
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "relative", prefix, *map(str, cell.values())),
            )
            if not prefix:
                row |= {
                    "vanilla_pct": 100 * baseline[common].mean(),
                    "pass_at_1_pct": 100 * mine.loc[common, "score"].mean(),
                }
            row |= {
                f"{prefix}points": 100 * found.absolute,
                f"{prefix}points_low": 100 * found.absolute_interval.low,
                f"{prefix}points_high": 100 * found.absolute_interval.high,
                f"{prefix}relative_pct": 100 * found.relative,
                f"{prefix}relative_low": 100 * found.relative_interval.low,
                f"{prefix}relative_high": 100 * found.relative_interval.high,
            }
        rows.append(row | {"applied_problems": len(applied), f"pass_at_1_{other}_pct": 100 * others[group]})
    return pd.DataFrame(rows)


def difference_points(table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, condition, value, low, high (in % of vanilla or in points)."""
    columns = ["relative_pct", "relative_low", "relative_high"] if relative else ["points", "points_low", "points_high"]
    shown, varying = _shown(table)
    panels = [panel_name(row, varying) for row in shown.to_dict("records")]
    drawn = shown.assign(panel=panels, condition=[_condition(row) for row in shown.to_dict("records")])
    return drawn[["model", "panel", "condition", *columns]].set_axis(
        ["model", "panel", "condition", "value", "low", "high"], axis=1
    )


def _shown(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows that are drawn, data set by data set, and what differs between their panels."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    order = {name: place for place, name in enumerate(dict.fromkeys(table["dataset"]))}
    placed = table.assign(place=table["dataset"].map(order))
    return placed.sort_values(["place", "ignore", "refactor"], kind="stable").drop(columns="place"), varying


def panel_name(row: Mapping[Any, Any], varying: Sequence[str]) -> str:
    """What a panel shows, by what differs between panels."""
    words = [NAMES[row["dataset"]]] if "dataset" in varying or not varying else []
    if "language" in varying:
        words.append(LANGUAGE_NAMES[row["language"]])
    if "task" in varying:
        words.append(f"{row['task']} prediction")
    if "mode" in varying:
        words.append(MODES[row["mode"]])
    if "ignore" in varying:
        words.append("told to ignore comments" if row["ignore"] else "not told")
    if "refactor" in varying:
        words.append("cleaned up first" if row["refactor"] else "as it is")
    return ", ".join(words)


def _condition(row: Mapping[Any, Any]) -> str:
    if row["perturbation"] in MESSAGES and row["density"] < 1:
        return f"{row['perturbation']} (p = {row['density']:g})"
    return str(row["perturbation"])


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Means over models for each data set, setting and perturbation, as the last row of the paper's tables."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    columns = ["points", "relative_pct", "applied_points", "applied_relative_pct"]
    return table.groupby(by, sort=False, as_index=False).agg(
        models=("model", "nunique"), **{column: (column, "mean") for column in columns}
    )


def describe_differences(points: pd.DataFrame, *, relative: bool) -> str:
    """The figure in words."""
    unit = "%" if relative else "points"
    parts = [
        f"{panel}, {condition}: "
        + ", ".join(f"{row.model} {row.value:+.1f} {unit}" for row in part.itertuples() if row.value == row.value)
        for (panel, condition), part in points.groupby(["panel", "condition"], sort=False)
    ]
    return "Difference of Pass@1 to the vanilla programs. " + "; ".join(parts) + "."


# --- the paper's numbers --------------------------------------------------------------------------------------------


def published_differences(task: str = "output") -> pd.DataFrame:
    """The paper's tables of 17 models, from its published Pass@1 (outputs) or as read from its picture (inputs).

    Columns: label, model (the registry's name), dataset, mode, perturbation, vanilla_pct, pass_at_1_pct, points,
    relative_pct. The Merge score weighs 800 problems of CRUXEval and 479 of LiveCodeBench.
    """
    names = published_models("codecrash")
    rows = list(_published_inputs() if task == "input" else _published_outputs())
    frame = pd.DataFrame(rows, columns=["label", "dataset", "mode", "perturbation", "vanilla_pct", "pass_at_1_pct"])
    frame = frame[frame["label"].isin(_with_both_modes(frame))].reset_index(drop=True)
    return frame.assign(
        model=frame["label"].map(names),
        task=task,
        points=frame["pass_at_1_pct"] - frame["vanilla_pct"],
        relative_pct=100 * (frame["pass_at_1_pct"] / frame["vanilla_pct"] - 1),
    )


def _published_outputs() -> Iterator[tuple[str, str, str, str, float, float]]:
    counts = published_numbers("codecrash/problems") or {}
    for label, modes in (published_numbers("codecrash/pass_at_1") or {"values": {}})["values"].items():
        for mode, datasets in modes.items():
            merged: dict[str, float] = {
                name: sum(counts[one] * values[name] for one, values in datasets.items()) / sum(counts.values())
                for name in datasets["cruxeval"]
            }
            for dataset, values in {**datasets, MERGE: merged}.items():
                for name, value in values.items():
                    if name != "VAN":
                        yield label, dataset, mode, name, values["VAN"], value


def _published_inputs() -> Iterator[tuple[str, str, str, str, float, float]]:
    numbers = published_numbers("codecrash/input")
    if numbers is None:
        return
    for label, values in numbers["values"].items():
        row = dict(zip(numbers["columns"], values, strict=True))
        for column, value in row.items():
            name, mode = column.rsplit(" ", 1)
            if name != "VAN":
                vanilla = row[f"VAN {mode}"]
                yield label, "cruxeval", mode, name, vanilla, vanilla * (1 + value / 100)


def headline(published: pd.DataFrame, mode: str) -> float:
    """The abstract's average degradation, in %: over 17 models and four perturbations, data sets weighted by their
    numbers of problems (version 3; version 2 weighted the perturbations)."""
    counts = published_numbers("codecrash/problems") or {}
    chosen = published[
        published["perturbation"].isin(["PSC-ALL", "MCC", "MPS", "MHC"])
        & (published["mode"] == mode)
        & published["dataset"].isin(list(counts))
    ]
    wide = chosen.pivot_table(index=["label", "perturbation"], columns="dataset", values="relative_pct")
    return float(-np.average(wide[list(counts)].mean(), weights=list(counts.values())))


def _with_both_modes(published: pd.DataFrame) -> list[str]:
    """The 17 models that are no reasoning models: those that were asked step by step too."""
    modes = published.groupby("label")["mode"].nunique()
    return list(modes[modes > 1].index)


def difference_claims(artefact: str, table: pd.DataFrame, published: pd.DataFrame, *, relative: bool) -> list[Claim]:
    """Every published cell of the table beside the regenerated one, for the paper's data sets and models."""
    column, low, high, unit = (
        ("relative_pct", "relative_low", "relative_high", "%")
        if relative
        else ("points", "points_low", "points_high", "points")
    )
    asked = table[~table["ignore"] & ~table["refactor"] & (table["language"] == "python")]
    paper = set(published_numbers("codecrash/problems") or {})
    if set(asked["dataset"]) - {MERGE} != paper:
        asked = asked[asked["dataset"] != MERGE]  # of other problems, or of one data set alone
    asked_for = published["mode"].isin(table["mode"]) & published["perturbation"].isin(table["perturbation"])
    wanted = published[asked_for]
    index = asked.set_index(["model", "dataset", "mode", "perturbation"])
    claims = []
    for row in wanted.itertuples():
        statement = f"{row.label}, {NAMES[row.dataset]}, {MODES[row.mode]}, {row.perturbation}: difference to vanilla"
        key = (row.model, row.dataset, row.mode, row.perturbation)
        if key not in index.index:
            basis = f"needs the answers of {row.model} on {NAMES[row.dataset]}"
            claims.append(Claim(artefact, statement, round(getattr(row, column), 2), unit, basis=basis))
            continue
        found = index.loc[key]
        claims.append(
            Claim(
                artefact,
                statement,
                round(getattr(row, column), 2),
                unit,
                float(found[column]),
                float(found[low]),
                float(found[high]),
                f"{found['problems']} problems",
            )
        )
    return claims


def headline_claims(artefact: str, published: pd.DataFrame, modes: Sequence[str]) -> list[Claim]:
    """The abstract's two numbers beside what the published Pass@1 values give."""
    stated = published_numbers("codecrash/headline")
    if stated is None or artefact not in ("codecrash/tab01", "codecrash/tab02"):
        return []
    return [
        Claim(
            artefact,
            f"abstract: average degradation of output prediction, {MODES[mode]}",
            stated[f"{mode}_pct"],
            "%",
            value,
            value,
            value,
            "computed from the published Pass@1 of 17 models, four perturbations, both data sets",
        )
        for mode in modes
        for value in [headline(published, mode)]
    ]


def published_points(published: pd.DataFrame, table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The paper's models for the grey dots: panel, condition, value, of each panel's own mode.

    Of its data set where that is one of the paper's, else of all the paper's problems, because other problems only
    allow a look. Panels on what the paper's numbers are not known for have none.
    """
    shown, varying = _shown(table)
    parts = []
    for row in shown.drop_duplicates(["dataset", *SETTING]).to_dict("records"):
        if row["language"] != "python" or row["ignore"] or row["refactor"]:
            continue
        datasets = set(published["dataset"])
        dataset = row["dataset"] if row["dataset"] in datasets else MERGE if MERGE in datasets else "cruxeval"
        chosen = published[(published["mode"] == row["mode"]) & (published["dataset"] == dataset)]
        values = chosen["relative_pct" if relative else "points"]
        parts.append(
            pd.DataFrame({"panel": panel_name(row, varying), "condition": chosen["perturbation"], "value": values})
        )
    return pd.concat(parts) if parts else pd.DataFrame(columns=["panel", "condition", "value"])


# --- what became of the perturbations -------------------------------------------------------------------------------


def variant_counts(
    *,
    problems: Sequence[str],
    n_problems: int,
    languages: Sequence[Language],
    translations: str,
    task: Task,
    perturbations: Sequence[Perturbation],
    densities: Sequence[float],
    hints: str,
    seed: int,
) -> pd.DataFrame:
    """Applied, unchanged and rejected variants for each data set and perturbation, and problems left out of all.

    Columns: dataset, language, perturbation, density, problems, applied, unchanged, rejected, drawn_again, sites,
    left_out, why. The three add up to problems (checked).
    """
    rows = []
    for source in problems:
        for language in languages:
            usable, faults = checked_problems(source, language, n_problems, translations, seed)
            for perturbation in perturbations:
                for density in densities if perturbation in MESSAGES else [1.0]:
                    found = variants(
                        source, language, n_problems, translations, seed, perturbation, density, task, hints
                    )
                    counts = Counter(one.status for one in found.values())
                    if sum(counts.values()) != len(usable):
                        raise AssertionError(f"{perturbation}: {dict(counts)} of {len(usable)} problems")
                    rejected = [f"{name}: {one.why}" for name, one in found.items() if one.status == "rejected"]
                    rows.append(
                        {
                            "dataset": source,
                            "language": language,
                            "perturbation": perturbation,
                            "density": density,
                            "problems": len(usable),
                            "applied": counts["applied"],
                            "unchanged": counts["unchanged"],
                            "rejected": counts["rejected"],
                            "drawn_again": sum(one.attempts > 1 for one in found.values()),
                            "sites": float(np.mean([len(one.sites) for one in found.values()])) if found else 0.0,
                            "left_out": len(faults),
                            "why": "; ".join([*(f"{name}: {why}" for name, why in faults.items()), *rejected])[:500],
                        }
                    )
    return pd.DataFrame(rows)


def describe_variants(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{NAMES[row.dataset]}, {LANGUAGE_NAMES[row.language]}, {row.perturbation}: {row.applied} applied, "
        f"{row.unchanged} unchanged, {row.rejected} rejected"
        for row in table.itertuples()
    ]
    return "What became of each perturbation. " + "; ".join(parts) + "."


def variant_claims(artefact: str, table: pd.DataFrame) -> list[Claim]:
    """The share of CRUXEval's programs that RTF leaves as they are: in the published perturbed set, 46 %."""
    chosen = table[(table["dataset"] == "cruxeval") & (table["perturbation"] == "RTF")]
    statement = "published RTF set: programs of CRUXEval that are byte-identical to vanilla"
    if chosen.empty or chosen["problems"].iloc[0] < 800:
        return [Claim(artefact, statement, 46.0, "%", basis="needs problems = ['cruxeval'], all of them")]
    count, total = int(chosen["unchanged"].iloc[0]), int(chosen["problems"].iloc[0])
    low, high = wilson(count, total, 0.95)
    basis = f"{total} programs"
    return [Claim(artefact, statement, 46.0, "%", 100 * count / total, 100 * low, 100 * high, basis)]


def status_points(table: pd.DataFrame) -> pd.DataFrame:
    """Bars of `status_bars`: panel, label, applied, unchanged, rejected."""
    varying = [name for name in ("dataset", "language") if table[name].nunique() > 1]
    rows = table.to_dict("records")
    return table.assign(panel=[panel_name(row, varying) for row in rows], label=[_condition(row) for row in rows])


def told_variant(perturbation: str, variant: Variant) -> str:
    """A variant for people."""
    head = f"=== {perturbation}: {variant.status}, {len(variant.sites)} sites {variant.why}".rstrip()
    return "\n".join([head, variant.problem.code, f">>> {variant.problem.call}", ""])


def unified_diff(before: str, after: str) -> str:
    """The lines that a perturbation changed, with those around them."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), "vanilla", "perturbed", lineterm="", n=2)
    return "\n".join(lines)


# --- stability over candidates --------------------------------------------------------------------------------------


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: the standard deviation of Pass@1 over candidates (in points, n - 1), and the share of
    problems whose candidates are all right or all wrong, with Wilson's interval.

    The paper does not say which standard deviation it takes (appendix C).
    """
    rows = []
    for group, part in answers.groupby(CELL, sort=False):
        cells = part.pivot_table(index="problem", columns="sample", values=f"value_{rule}").dropna()
        means = 100 * cells.mean()
        same = int((cells.nunique(axis=1) == 1).sum())
        low, high = wilson(same, len(cells), confidence)
        rows.append(
            dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
            | {
                "problems": len(cells),
                "candidates": cells.shape[1],
                "pass_at_1_pct": float(means.mean()),
                "deviation_points": float(means.std(ddof=1)) if cells.shape[1] > 1 else float("nan"),
                "same_verdict": same / len(cells) if len(cells) else float("nan"),
                "same_low": low,
                "same_high": high,
            }
        )
    return pd.DataFrame(rows)


def stability_bars(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Bars of the share of problems with one verdict: a panel for each data set and mode."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    panels: dict[str, pd.DataFrame] = {}
    named = table.assign(panel=[panel_name(row, varying) for row in table.to_dict("records")])
    for panel, part in named.groupby("panel", sort=False):
        panels[str(panel)] = part.rename(
            columns={
                "perturbation": "label",
                "model": "condition",
                "same_verdict": "share",
                "same_low": "low",
                "same_high": "high",
            }
        )[["label", "condition", "share", "low", "high"]]
    return panels


def describe_stability(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{row.model}, {NAMES[row.dataset]}, {MODES[row.mode]}, {row.perturbation}: {row.same_verdict:.1%}, standard "
        f"deviation {row.deviation_points:.2f} points"
        for row in table.itertuples()
    ]
    return "Problems whose candidates are all right or all wrong. " + "; ".join(parts) + "."


# --- density --------------------------------------------------------------------------------------------------------


def by_density(
    answers: pd.DataFrame, texts: Mapping[str, Response], *, rule: str, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """For each model, setting, perturbation and density (0: vanilla): Pass@1, difference to vanilla and tokens.

    Columns of `differences`, and tokens, tokens_low, tokens_high: the mean length of the whole answer as its server
    counts it (with what was thought before it), bootstrap over problems.
    """
    table = differences(answers, rule=rule, confidence=confidence, resamples=resamples, seed=seed)
    vanilla = answers[answers["perturbation"] == "VAN"]
    starts = []
    for perturbation in [name for name in MESSAGES if name in set(answers["perturbation"])]:
        starts.append(vanilla.assign(perturbation=perturbation))
    lengths = pd.concat([answers[answers["perturbation"] != "VAN"], *starts])
    lengths = lengths.assign(tokens=[_length(row.key, row.completion_tokens, texts) for row in lengths.itertuples()])
    rows = []
    for group, part in lengths.groupby(CELL, sort=False):
        estimate = cluster_bootstrap_mean(
            part["tokens"],
            part["problem"],
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "tokens", *map(str, cast(tuple[Any, ...], group))),
        )
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        rows.append(
            dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
            | {"tokens": estimate.value, "tokens_low": estimate.interval.low, "tokens_high": estimate.interval.high}
            | {"pass_at_1_pct": 100 * float(scores.mean())}
        )
    merged = pd.DataFrame(rows).merge(table.drop(columns="pass_at_1_pct"), on=CELL, how="left")
    zero = merged["density"] == 0
    for column in ("points", "points_low", "points_high", "relative_pct", "relative_low", "relative_high"):
        merged.loc[zero, column] = 0.0
    return merged.sort_values(CELL, kind="stable", ignore_index=True)


def _length(key: str, tokens: float | None, texts: Mapping[str, Response]) -> float:
    if tokens is not None and tokens == tokens:
        return float(tokens)
    return len(texts[key].text) / 4 if key in texts else float("nan")


def density_points(table: pd.DataFrame, *, show: str, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, density, value, low, high."""
    names = ("relative_pct", "relative_low", "relative_high") if relative else ("points", "points_low", "points_high")
    columns = ["tokens", "tokens_low", "tokens_high"] if show == "tokens" else list(names)
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    panels = [
        ", ".join(filter(None, [row["perturbation"], panel_name(row, varying) if varying else ""]))
        for row in table.to_dict("records")
    ]
    return table.assign(panel=panels)[["model", "panel", "density", *columns]].set_axis(
        ["model", "panel", "density", "value", "low", "high"], axis=1
    )


def describe_density(points: pd.DataFrame, unit: str) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(
            f"{panel}, {model}: {ordered['value'].iloc[0]:.1f} {unit} without messages, "
            f"{ordered['value'].iloc[-1]:.1f} at p = {ordered['density'].iloc[-1]:g}"
        )
    return "Against the density of misleading messages. " + "; ".join(parts) + "."


# --- reasoning ------------------------------------------------------------------------------------------------------


def with_reasoning(answers: pd.DataFrame, texts: Mapping[str, Response]) -> pd.DataFrame:
    """The answers with `reasoning_tokens`, `collapsed` (whether the response ends in endless repetition)."""
    responses = [texts[key] for key in answers["key"]]
    return answers.assign(
        reasoning_tokens=[reasoning_tokens(one) for one in responses],
        collapsed=[collapse_start(one.text) is not None for one in responses],
    )


def reasoning_table(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """Table 4: for each model, data set and perturbation Pass@1, the difference to vanilla in points with interval,
    reasoning tokens (mean with interval, maximum) and collapses."""
    table = differences(answers, rule=rule, confidence=confidence, resamples=resamples, seed=seed)
    points = table.set_index(CELL)[["points", "points_low", "points_high"]]
    rows = []
    for group, part in answers.groupby(CELL, sort=False):
        estimate = cluster_bootstrap_mean(
            part["reasoning_tokens"],
            part["problem"],
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "reasoning", *map(str, cast(tuple[Any, ...], group))),
        )
        found = points.loc[group] if group in points.index else pd.Series({name: 0.0 for name in points.columns})
        rows.append(
            dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
            | {"asked": len(part), "pass_at_1_pct": 100 * part[f"value_{rule}"].mean(), **found}
            | {"average_tokens": estimate.value, "tokens_low": estimate.interval.low}
            | {"tokens_high": estimate.interval.high, "most_tokens": int(part["reasoning_tokens"].max())}
            | {"collapses": int(part["collapsed"].sum())}
        )
    return pd.DataFrame(rows)


def published_reasoning() -> pd.DataFrame:
    """The paper's Table 4, read from a picture of it. Columns: label, dataset, perturbation, pass_at_1_pct, points,
    average_tokens, most_tokens."""
    numbers = published_numbers("codecrash/tab04")
    rows = []
    for label, datasets in (numbers or {"values": {}})["values"].items():
        for dataset, values in datasets.items():
            rows.append((label, dataset, "VAN", values[0], 0.0, *values[1:3]))
            for number, name in enumerate(("PSC-ALL", "MCC", "MPS", "MHC")):
                points, average, most = values[3 + 3 * number : 6 + 3 * number]
                rows.append((label, dataset, name, values[0] + points, points, average, most))
    columns = ["label", "dataset", "perturbation", "pass_at_1_pct", "points", "average_tokens", "most_tokens"]
    return pd.DataFrame(rows, columns=columns)


def reasoning_claims(artefact: str, table: pd.DataFrame, published: pd.DataFrame) -> list[Claim]:
    """Average reasoning tokens and differences of the paper's Table 4, beside the regenerated ones."""
    names = published_models("codecrash")
    index = table.set_index(["model", "dataset", "perturbation"])
    claims = []
    for row in published.itertuples():
        model = names[row.label]
        key = (model, row.dataset, row.perturbation)
        head = f"Table 4: {row.label}, {NAMES[row.dataset]}, {row.perturbation}"
        basis = f"needs the answers of {model} on {NAMES[row.dataset]}"
        found = index.loc[key] if key in index.index else None
        token_claim = Claim(artefact, f"{head}: average reasoning tokens", row.average_tokens, "tokens", basis=basis)
        point_claim = Claim(artefact, f"{head}: difference to vanilla", row.points, "points", basis=basis)
        if found is not None:
            asked = f"{found['asked']} answers"
            token_claim = Claim(
                artefact,
                token_claim.statement,
                row.average_tokens,
                "tokens",
                float(found["average_tokens"]),
                float(found["tokens_low"]),
                float(found["tokens_high"]),
                asked,
            )
            point_claim = Claim(
                artefact,
                point_claim.statement,
                row.points,
                "points",
                float(found["points"]),
                float(found["points_low"]),
                float(found["points_high"]),
                asked,
            )
        claims += [token_claim] if row.perturbation == "VAN" else [token_claim, point_claim]
    return claims


def token_points(table: pd.DataFrame, published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What `token_dots` draws: the regenerated points and the paper's."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    rows = table.to_dict("records")
    points = table.assign(panel=[panel_name(row, varying) for row in rows], condition=[_condition(row) for row in rows])
    names = {"average_tokens": "average", "tokens_low": "low", "tokens_high": "high", "most_tokens": "most"}
    points = points.rename(columns=names)[["model", "panel", "condition", *names.values()]]
    theirs = published.rename(columns={**names, "perturbation": "condition"})[["condition", "average", "most"]]
    return points, theirs


def describe_collapse(collapse: Collapse) -> str:
    """The figure in words."""
    fate = "it does not collapse"
    if collapse.collapse_at is not None:
        fate = f"from token {collapse.collapse_at:,} on it repeats one unit to its end"
    return (
        f"{collapse.model} on {collapse.problem} under {collapse.perturbation}: {collapse.tokens:,} tokens, "
        f"{int(collapse.curve['doubts'].max())} words of doubt; {fate}. R² of the quadratic "
        f"{collapse.growth.r2_quadratic:.3f}, of a line {collapse.growth.r2_linear:.3f}."
    )


def describe_reasoning(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{row.model}, {NAMES[row.dataset]}, {row.perturbation}: {row.average_tokens:,.0f} tokens on average, "
        f"at most {row.most_tokens:,}, {row.collapses} collapses"
        for row in table.itertuples()
    ]
    return "Reasoning tokens. " + "; ".join(parts) + "."


@dataclass(frozen=True)
class Collapse:
    """The response whose words of doubt are drawn."""

    model: str
    problem: str
    perturbation: str
    tokens: int
    """Of the whole response, at four characters each."""
    collapse_at: int | None
    """Token at which it begins to repeat one unit until its end; None where it does not."""
    curve: pd.DataFrame
    """Columns: tokens, doubts (how many words of doubt stand up to there)."""
    growth: Growth


def doubt_curve(answers: pd.DataFrame, texts: Mapping[str, Response]) -> Collapse:
    """The longest response that collapses; where none does, the one with most words of doubt."""
    best: tuple[tuple[bool, int], Any] | None = None
    for row in answers.itertuples():
        text = texts[row.key].text
        start = collapse_start(text)
        rank = (start is not None, len(text) if start is not None else len(doubts(text)))
        if best is None or rank > best[0]:
            best = (rank, row)
    if best is None:
        raise ValueError("no answers")
    row = best[1]
    text = texts[row.key].text
    start = collapse_start(text)
    thought = text[:start] if start is not None else (thinking(text) or text)
    places = [place / 4 for place in doubts(thought)]
    curve = pd.DataFrame({"tokens": [0.0, *places], "doubts": range(len(places) + 1)})
    return Collapse(
        row.model,
        row.problem,
        row.perturbation,
        -(-len(text) // 4),
        None if start is None else start // 4,
        curve,
        fit_growth(curve["tokens"], curve["doubts"]),
    )


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """The fit of `doubts` over tokens in one row."""
    c0, c1, c2 = collapse.growth.quadratic
    return pd.DataFrame(
        [
            {
                "model": collapse.model,
                "problem": collapse.problem,
                "perturbation": collapse.perturbation,
                "tokens": collapse.tokens,
                "collapse_at": collapse.collapse_at,
                "doubts": int(collapse.curve["doubts"].max()),
                "c0": c0,
                "c1": c1,
                "c2": c2,
                "c2_error": collapse.growth.curvature_error,
                "r2_quadratic": collapse.growth.r2_quadratic,
                "r2_linear": collapse.growth.r2_linear,
            }
        ]
    )


# --- cases and refactoring ------------------------------------------------------------------------------------------


def changed_verdicts(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: of the problems that all vanilla candidates get right, those that all perturbed candidates
    get wrong, and the other way round. Columns: CELL, broken, right_before, share, low, high, mended, wrong_before."""
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    rows = []
    for group, part in _paired(scores):
        before_right, before_wrong = part["before"] == 1, part["before"] == 0
        broken = int((before_right & (part["score"] == 0)).sum())
        total = int(before_right.sum())
        low, high = wilson(broken, total, confidence)
        rows.append(
            group
            | {"broken": broken, "right_before": total, "share": broken / total if total else float("nan")}
            | {"low": low, "high": high, "mended": int((before_wrong & (part["score"] == 1)).sum())}
            | {"wrong_before": int(before_wrong.sum())}
        )
    return pd.DataFrame(rows)


def _paired(scores: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each perturbed condition with the vanilla score of the same problem in `before`."""
    keys = [name for name in CELL if name not in ("perturbation", "density")]
    plain = scores[scores["perturbation"] == "VAN"].rename(columns={"score": "before"})
    for group, part in scores[scores["perturbation"] != "VAN"].groupby(CELL, sort=False):
        cell = dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
        yield cell, part.merge(plain[[*keys, "problem", "before"]], on=[*keys, "problem"])


def cases(answers: pd.DataFrame, *, rule: str, per_condition: int, seed: int) -> pd.DataFrame:
    """Some problems that were right before and wrong after, drawn for each model, mode and perturbation.

    Columns: CELL, problem, key_before, key_after (of the first candidates), answer_before, answer_after.
    """
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    first = answers[answers["sample"] == answers["sample"].min()].set_index([*CELL, "problem"])
    rows = []
    for cell, part in _paired(scores):
        broken = list(part.loc[(part["before"] == 1) & (part["score"] == 0), "problem"])
        order = rng(seed, "cases", *map(str, cell.values())).permutation(len(broken))[:per_condition]
        for problem in (broken[int(i)] for i in sorted(order)):
            before = first.loc[(*(cell | {"perturbation": "VAN", "density": 0.0}).values(), problem)]
            after = first.loc[(*cell.values(), problem)]
            rows.append(
                cell
                | {"problem": problem, "key_before": before["key"], "key_after": after["key"]}
                | {"answer_before": before[f"detail_{rule}"], "answer_after": after[f"detail_{rule}"]}
            )
    columns = [*CELL, "problem", "key_before", "key_after", "answer_before", "answer_after"]
    return pd.DataFrame(rows, columns=columns)


def verdict_bars(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Bars of broken verdicts: a panel for each data set and mode."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    named = table.assign(panel=[panel_name(row, varying) for row in table.to_dict("records")])
    return {
        str(panel): part.rename(columns={"perturbation": "label", "model": "condition"})[
            ["label", "condition", "share", "low", "high"]
        ]
        for panel, part in named.groupby("panel", sort=False)
    }


def refactored(
    answers: pd.DataFrame, *, n_problems: int, translations: str, task: Task, hints: str, seed: int
) -> pd.DataFrame:
    """Whether the programs that models cleaned up still return the recorded output (section 4.3).

    Columns: model, dataset, language, perturbation, programs (distinct answers), same, different, failed (raised or
    stopped), none (no program in the answer); the last four add up to programs. They run apart, as programs of
    strangers.
    """
    by = ["model", "dataset", "language", "perturbation"]
    rows = answers[answers["refactor"]]
    rows = rows.assign(cleaned=[(*earlier, key)[0] for earlier, key in zip(rows["earlier"], rows["key"], strict=True)])
    rows = rows.drop_duplicates([*by, "cleaned"])
    texts = stored_responses(rows["cleaned"]) if len(rows) else {}
    counts: dict[tuple[str, ...], Counter[str]] = {}
    programs: dict[Language, list[tuple[tuple[str, ...], Problem]]] = {"python": [], "javascript": []}
    for row in rows.itertuples():
        group = tuple(getattr(row, name) for name in by)
        found = variants(
            row.dataset, row.language, n_problems, translations, seed, row.perturbation, row.density or 1.0, task, hints
        )
        code = fenced_program(texts[row.cleaned].text)
        counts.setdefault(group, Counter())["programs"] += 1
        if code:
            programs[row.language].append((group, replace(found[row.problem].problem, code=code)))
        else:
            counts[group]["none"] += 1
    with Executor() as executor:
        for language, waiting in programs.items():
            calls = [called(problem, problem.arguments) for _, problem in waiting]
            executions = executor.run(calls, language=language) if calls else ()
            for (group, problem), execution in zip(waiting, executions, strict=True):
                kind = "failed"
                if execution.outcome is Outcome.RETURNED:
                    same = same_value(execution.value, parse_literal(problem.output).value)
                    kind = "same" if same else "different"
                counts[group][kind] += 1
    kinds = ["programs", "same", "different", "failed", "none"]
    table = [
        dict(zip(by, group, strict=True)) | {kind: found[kind] for kind in kinds} for group, found in counts.items()
    ]
    return pd.DataFrame(table, columns=[*by, *kinds])


def told_case(case: Any, trials: Trials, texts: Mapping[str, Response]) -> str:
    """A row of `cases` for people: what was changed in the program, and both answers."""
    shown: dict[str, str] = {}
    for trial in trials.items:
        of = trial.factors
        if trial.problem == case.problem and all(
            of[name] == getattr(case, name) for name in CELL if name not in ("model", "perturbation", "density")
        ):
            if of["perturbation"] == "VAN":
                shown["vanilla"] = fenced_program(trials.render(trial).messages[-1].content)
            if of["perturbation"] == case.perturbation and of["density"] == case.density:
                shown["perturbed"] = fenced_program(trials.render(trial).messages[-1].content)
    return "\n".join(
        [
            f"=== {case.model}, {case.dataset} {case.problem}, {MODES[case.mode]}, {case.perturbation}",
            unified_diff(shown["vanilla"], shown["perturbed"]),
            "--- answer to the vanilla program",
            texts[case.key_before].text[-1500:],
            "--- answer to the perturbed program",
            texts[case.key_after].text[-1500:],
            "",
        ]
    )


def describe_verdicts(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{row.model}, {NAMES[row.dataset]}, {MODES[row.mode]}, {row.perturbation}: {row.broken} of {row.right_before}"
        for row in table.itertuples()
    ]
    return "Right before and wrong after the perturbation. " + "; ".join(parts) + "."


def prompt_files(task: str, modes: Sequence[str], languages: Sequence[str], ignore: bool, refactor: bool) -> list[str]:
    """The files that prompts were made from, whose hashes go into the manifest."""
    names = ["codecrash.system", "codecrash.question"]
    for mode in modes:
        names += [f"codecrash.{task}.{mode}", *(f"codecrash.examples.{task}.{mode}.{name}" for name in languages)]
    return names + (["codecrash.ignore"] if ignore else []) + (["codecrash.refactor"] if refactor else [])
