"""Fault Localizability: where faults are found (Figures 2 to 5), by what a model is, and one program of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from codestress.fitting.proportions import clustered_share, ratio
from codestress.fitting.summaries import paired_differences
from codestress.inference.registry import ModelEntry
from codestress.papers.faultloc.faults.sites import KINDS
from codestress.types import LANGUAGE_NAMES

QUARTERS = ("0-25 %", "25-50 %", "50-75 %", "75-100 %")
ORACLE = "perfect localizer"


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `seed_program`: tasks made from one program are not independent."""
    return answers.assign(seed_program=answers["source"] + "/" + answers["problem"].str.split("/").str[0])


def with_places(cells: pd.DataFrame, rows: Sequence[str]) -> pd.DataFrame:
    """Cells of a heat map over quarters in the order of its rows, with `column`, the quarter in words."""
    order = {row: place for place, row in enumerate(rows)}
    cells = cells.assign(place=cells["row"].map(order)).sort_values(["place", "quarter"], ignore_index=True)
    return cells.assign(column=[QUARTERS[int(quarter) - 1] for quarter in cells["quarter"]])


def localized(answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """Tasks as they are: one row for each model and combination of `by`, and for the perfect localizer.

    Columns: model, `by`, tasks, found, share, low, high (Wilson, programs counted); kept (tasks that at least one model
    finds: the paper's filter), programs_kept, accuracy_kept, kept_low, kept_high; found_reference, accuracy_reference
    (within two lines); of instruments `true` and `true_kept`, what both shares are in truth. Intervals of shares among
    kept tasks do not know that the filter is drawn too.
    """
    plain = with_seed(answers[answers["spm"] == "none"])
    value = f"value_{rule}"
    found_by_any = plain.groupby(["source", "problem"])[value].transform("max") > 0
    plain = plain.assign(kept=found_by_any)
    known = "chance" in plain and rule == "strict"
    if known:  # that anybody finds it; readers know nothing of one another
        missed = (1 - plain["chance"]).groupby([plain["source"], plain["problem"]]).transform("prod", min_count=1)
        plain = plain.assign(chance_kept=plain["chance"] / (1 - missed))
    rows = []
    for group, part in plain.groupby(["model", *by], sort=False):
        found = [clustered_share(one[value], one["seed_program"], confidence) for one in (part, part[part["kept"]])]
        every, kept = ((one.value, *one.interval) for one in found)
        counts = (len(part), int(part[value].sum()), *every, found[1].n, found[1].clusters, *kept)
        reference = (int(part["value_reference"].sum()), float(part["value_reference"].mean()))
        chances = (part["chance"], part.loc[part["kept"], "chance_kept"]) if known else ()
        true = [one.mean(skipna=False) for one in chances]
        rows.append((*cast(tuple[Any, ...], group), *counts, *reference, *true))
    shares, kept_shares = ["accuracy", "low", "high"], ["accuracy_kept", "kept_low", "kept_high"]
    columns = ["model", *by, "tasks", "found", *shares, "kept", "programs_kept", *kept_shares]
    columns += ["found_reference", "accuracy_reference", *(["true", "true_kept"] if known else [])]
    table = pd.DataFrame(rows, columns=columns)
    ceiling = table.groupby(list(by), sort=False, as_index=False)[["tasks", "kept", "programs_kept"]].max()
    ones = dict.fromkeys([*shares, *kept_shares, "accuracy_reference"], 1.0)
    oracle = ceiling.assign(model=ORACLE, found=ceiling["tasks"], found_reference=ceiling["tasks"], **ones)
    return pd.concat([table, oracle], ignore_index=True)[list(table.columns)]


def by_factor(answers: pd.DataFrame, factor: str, *, rule: str, confidence: float) -> pd.DataFrame:
    """As `localized`, by language and a factor of tasks that have one, empty where none has: `relevance`, how well
    people judged specification and program to fit, or `refused`, why the kit's filters would have refused a task of the
    artifact (an empty text: they would not)."""
    known = answers[answers[factor].notna()] if factor in answers else answers[:0]
    if known.empty:
        return pd.DataFrame(columns=["model", "language", factor])
    return localized(known, ["language", factor], rule=rule, confidence=confidence)


def place_effect(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each model and language: of all faults found, the share that stands in each quarter, and accuracy in the
    last quarter relative to the first (a perfect localizer: 1), a ratio of shares with programs counted."""
    plain = with_seed(answers[answers["spm"] == "none"])
    value = f"value_{rule}"
    rows = []
    for (model, language), part in plain.groupby(["model", "language"], sort=False):
        quarters = part.groupby("quarter")[value].agg(["sum", "mean"]).reindex(range(1, 5))
        ends = [part[part["quarter"] == quarter] for quarter in (1, 4)]
        first, last = (clustered_share(one[value], one["seed_program"], confidence) for one in ends)
        low, high = ratio((first.value, first.interval), (last.value, last.interval))
        total = float(quarters["sum"].sum())
        rows.append(
            {"model": model, "language": language, "found": int(total)}
            | {f"of_found_{n}": float(quarters["sum"].iloc[n - 1]) / total if total else np.nan for n in range(1, 5)}
            | {"last_to_first": last.value / first.value if first.value else np.nan, "low": low, "high": high}
        )
    return pd.DataFrame(rows)


def heat_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Cells of the heat map: row, column, share, tasks, of instruments what is true; means over models, and the perfect
    localizer's row."""
    true = {"true": ("true", lambda shares: shares.mean(skipna=False))} if "true" in table else {}
    models = table[table["model"] != ORACLE]
    cells = models.groupby(["fault", "quarter"], as_index=False, sort=False)
    ceiling = table[table["model"] == ORACLE].groupby("quarter", as_index=False)
    both = pd.concat(
        [
            cells.agg(accuracy=("accuracy", "mean"), tasks=("tasks", "max"), **true),
            ceiling.agg(accuracy=("accuracy", "mean"), tasks=("tasks", "sum")).assign(fault=ORACLE),
        ],
        ignore_index=True,
    )
    return with_places(both.assign(row=both["fault"]), (*KINDS, ORACLE))


def share_panels(table: pd.DataFrame, label: str, value: str = "accuracy") -> dict[str, pd.DataFrame]:
    """Bars: a panel for each language, the models side by side (`share_bars`)."""
    names = ("accuracy", "low", "high", "true")
    columns = ("accuracy_kept", "kept_low", "kept_high", "true_kept") if value == "accuracy_kept" else names
    conditions = table["model"] if label != "model" else table.get("change", "")
    bars = pd.DataFrame({"label": table[label].astype(str), "condition": conditions})
    bars = bars.assign(**{name: table[one] for name, one in zip(names, columns, strict=True) if one in table})
    return {LANGUAGE_NAMES[str(one)]: part for one, part in bars.groupby(table["language"], sort=False)}


def categories(models: Sequence[ModelEntry]) -> dict[str, str]:
    """Each model's category (the registry's `architecture.category`, else what it is simulated as)."""
    return {
        entry.name: str(entry.architecture.get("category", "simulated" if entry.simulated else "uncategorised"))
        for entry in models
    }


def version_differences(answers: pd.DataFrame, *, rule: str, confidence: float, seed: int) -> pd.DataFrame:
    """Each later model against the first one on the same tasks as they are, for each language (Figure 11)."""
    plain = with_seed(answers[answers["spm"] == "none"])
    parts = [
        paired_differences(
            part.assign(version=part["model"], model=LANGUAGE_NAMES[str(language)]),
            "version",
            clusters="seed_program",
            rule=rule,
            confidence=confidence,
            seed=seed,
        )
        for language, part in plain.groupby("language", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


def best_known(answers: pd.DataFrame, rule: str) -> list[str]:
    """In each language the one task that most models localize as it is."""
    plain = answers[answers["spm"] == "none"]
    found = plain.groupby(["language", "problem"], sort=False)[f"value_{rule}"].mean()
    return [found[language].idxmax() for language in dict.fromkeys(plain["language"])]


def describe_shares(
    panels: Mapping[str, pd.DataFrame], what: str, form: str = "{row.condition}, {row.label}: {row.accuracy:.1%}"
) -> str:
    """The figure in words: each row of a panel in the words of a form."""
    parts = [f"{panel}, {form.format(row=row)}" for panel, frame in panels.items() for row in frame.itertuples()]
    return f"{what}. " + "; ".join(parts) + "."


def describe_heat(panels: Mapping[str, pd.DataFrame], what: str) -> str:
    """The figure in words."""
    return describe_shares(panels, what, "{row.row}, {row.column}: {row.accuracy:.0%}")
