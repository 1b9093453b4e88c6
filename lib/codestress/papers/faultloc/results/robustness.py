"""Fault Localizability: what rewriting a program does to its fault's localization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pandas as pd

from codestress.fitting.influence import lack_of_line, mean, share, slope
from codestress.fitting.proportions import UNKNOWN, clustered_share, paired_difference
from codestress.papers.faultloc.faults.neutral import CONTROLS
from codestress.papers.faultloc.results.localization import with_seed
from codestress.report.curves import MEAN
from codestress.types import LANGUAGE_NAMES, Outcome


def robustness(answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """Tasks that a model localized, asked again under mutations and controls: one row for each model and combination of
    `by`; what does nothing is among them where `by` has `change` or `spm`.

    Columns: model, `by`, tasks (all, with their mutations), localized (of those, localized before), asked_again (those
    to which a neutral mutation could be made), found_again, share (of asked again), low, high (Wilson,
    programs counted), accuracy_reference, of instruments `true`. tasks = asked_again + skipped.
    """
    mutated = with_change(answers)
    if not {"spm", "change"} & set(by):
        mutated = mutated[mutated["change"] == MUTATED]
    known = "chance" in mutated and rule == "strict"
    rows = []
    for group, part in mutated.groupby(["model", *by], sort=False):
        names = cast(tuple[Any, ...], group)
        skipped = part[f"outcome_{rule}"] == Outcome.SKIPPED.value
        before = ~(skipped & part[f"detail_{rule}"].eq("not localized before"))
        asked = part[~skipped]
        estimate = clustered_share(asked[f"value_{rule}"], asked["seed_program"], confidence)
        found, reference = int(asked[f"value_{rule}"].sum()), float(asked["value_reference"].mean())
        told = (len(part), int(before.sum()), len(asked), found)
        true = [asked["chance"].mean(skipna=False)] if known else []
        rows.append((*names, *told, estimate.value, *estimate.interval, reference, *true))
    counts = ["tasks", "localized", "asked_again", "found_again", "accuracy", "low", "high", "accuracy_reference"]
    return pd.DataFrame(rows, columns=["model", *by, *counts, *(["true"] if known else [])])


MUTATED = "mutated"


def with_change(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers to what was asked again, with `seed_program` and `change`: `mutated`, or what was done that does
    nothing."""
    again = with_seed(answers[answers["spm"] != "none"])
    return again.assign(change=again["spm"].where(again["spm"].isin(CONTROLS), MUTATED))


def asked_again(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """What was asked again under mutations."""
    again = with_change(answers)
    return again[(again["change"] == MUTATED) & (again[f"outcome_{rule}"] != Outcome.SKIPPED.value)]


def losses(answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """What mutations lose of the faults localized before, and what of it asking again loses too: a row for each model,
    combination of `by` and control.

    Columns: model, `by`, asked_again, lost, control, lost_control (of the same tasks, asked again with what does
    nothing), net_lost (the difference), low, high (paired, over programs), published_lost (the abstract's, of all).
    """
    value = f"value_{rule}"
    asked = with_change(answers)
    asked = asked[asked[f"outcome_{rule}"] != Outcome.SKIPPED.value]
    rows = []
    for control in (one for one in CONTROLS if one in set(asked["change"])):
        kept = asked[asked["change"] == control].set_index(["model", "source", "problem"])[value].rename("kept")
        paired = asked[asked["change"] == MUTATED].join(kept, on=["model", "source", "problem"]).dropna(subset=["kept"])
        for group, part in paired.groupby(["model", *by], sort=False):
            names = cast(tuple[Any, ...], group)
            net = part["kept"].to_numpy(float) - part[value].to_numpy(float)
            several = part["seed_program"].nunique() > 1
            interval = paired_difference(net, part["seed_program"], confidence) if several else UNKNOWN
            lost = (len(part), 1 - part[value].mean(), control, 1 - part["kept"].mean(), net.mean(), *interval)
            rows.append((*names, *lost, PUBLISHED_LOST))
    measures = ["asked_again", "lost", "control", "lost_control", "net_lost", "low", "high", "published_lost"]
    return pd.DataFrame(rows, columns=["model", *by, *measures])


PUBLISHED_LOST = 0.78
"""The abstract: of the faults localized before, over all models and mutations."""


def strength_slopes(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Least-squares slope of robust accuracy over strength, in points a step, for each model and language (section
    V-B3), over programs, so that what a program adds to all strengths cancels; lack_of_fit is the p-value of a straight
    line through the shares at each strength."""
    again = asked_again(answers, rule)
    rows = []
    for (model, language), part in again.groupby(["model", "language"], sort=False):
        placed = part.set_index("seed_program")
        found, programs = slope(placed["strength"], placed[f"value_{rule}"]), placed.index.nunique()
        numbers = [100 * one for one in (found.value, *found.interval(programs, confidence))]
        shares = {x: share(one[f"value_{rule}"]) for x, one in placed.groupby("strength")}
        lack = lack_of_line([*shares], [*shares.values()], programs)
        rows.append((model, language, *numbers, programs, len(part), lack))
    columns = ["model", "language", "slope", "low", "high", "programs", "answers", "lack_of_fit"]
    return pd.DataFrame(rows, columns=columns)


def line_lacks(slopes: pd.DataFrame) -> dict[str, float]:
    """The lack of fit of each straight line of `strength_slopes`, by what it is called below the figure."""
    named = "a straight line of " + slopes["model"] + " (" + slopes["language"].map(LANGUAGE_NAMES) + ")"
    return dict(zip(named, slopes["lack_of_fit"], strict=True))


def strength_points(table: pd.DataFrame) -> pd.DataFrame:
    """Curves of `density_curve`'s form: model, panel (language and mutation), density (the strength), value, low,
    high in %."""
    table = named(table[~table["spm"].isin(CONTROLS)])
    panels = [f"{LANGUAGE_NAMES[row.language]}, {row.mutation.replace('_', ' ')}" for row in table.itertuples()]
    points = table[["model"]].assign(panel=panels, density=table["strength"], value=100 * table["accuracy"])
    shares = table[table.columns.intersection(["low", "high", "true"])]
    return points.join(100 * shares)


def mean_points(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Figure 8's line over the models that were asked, of each mutation and of all together, as further points of
    `strength_points`' form: their shares count alike, and programs are the clusters."""
    again = named(asked_again(answers, rule)).assign(all="all mutations")
    known = "chance" in again and rule == "strict"
    rows = []
    for what in ("mutation", "all"):
        for (language, kind, strength), part in again.groupby(["language", what, "strength"], sort=False):
            placed = part.set_index("seed_program")
            found = mean([share(one[f"value_{rule}"]) for _, one in placed.groupby("model")])
            ends = found.interval(placed.index.nunique(), confidence)
            numbers = [100 * min(max(one, 0.0), 1.0) for one in (found.value, *ends)]
            numbers += [100 * part.groupby("model")["chance"].mean().mean(skipna=False)] if known else []
            rows.append((MEAN, f"{LANGUAGE_NAMES[language]}, {kind.replace('_', ' ')}", strength, *numbers))
    columns = ["model", "panel", "density", "value", "low", "high", *(["true"] if known else [])]
    return pd.DataFrame(rows, columns=columns)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """With `mutation`: its name, and that its comments accuse, where the table tells mutations apart."""
    if "spm" not in table:
        return table
    accusing = table["said"].eq("accuses elsewhere").map({True: ", accusing", False: ""})
    return table.assign(mutation=table["spm"] + accusing)


def describe_strengths(points: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(f"{panel}, {model}: {ordered['value'].iloc[0]:.0f} % to {ordered['value'].iloc[-1]:.0f} %")
    return "Localized again, from the lowest strength to the highest. " + "; ".join(parts) + "."


def skipped_reasons(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Why trials were skipped: model, language, spm, why, trials."""
    skipped = answers[answers[f"outcome_{rule}"] == Outcome.SKIPPED.value].rename(columns={f"detail_{rule}": "why"})
    counts = skipped.groupby(["model", "language", "spm", "why"], as_index=False, sort=False).size()
    return counts.rename(columns={"size": "trials"})
