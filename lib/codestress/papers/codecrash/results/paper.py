"""CodeCrash: the paper's own differences, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from codestress.papers.codecrash.results.conditions import MERGE, MODES, NAMES, SETTING, panel_name
from codestress.papers.codecrash.results.differences import compared
from codestress.report.claims import Claim
from codestress.report.published import published_models, published_numbers


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
    shown, varying = compared(table)
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
