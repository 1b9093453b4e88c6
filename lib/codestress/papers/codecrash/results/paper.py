"""CodeCrash: the paper's own differences, and what is claimed of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.fitting.influence import combined, share
from codestress.papers.codecrash.results.conditions import MERGE, MODES, NAMES, SETTING, own_panel, panel_name
from codestress.papers.codecrash.results.differences import compared
from codestress.report.published import published_models, published_numbers

QUESTIONS = {"cruxeval": 800, "livecodebench": 92, MERGE: 892}
"""Independent problems behind the paper's shares: LiveCodeBench's 479 samples come from 92 questions."""
HEADLINE = ("PSC-ALL", "MCC", "MPS", "MHC")
"""The perturbations behind the abstract's averages."""
PROVENANCES = {"leaderboard": "from the leaderboard alone", "read": "read from a picture"}
"""Where numbers stand that the paper's text does not have (`about` in the file of what it publishes says more)."""


def published_differences(task: str = "output") -> pd.DataFrame:
    """The paper's tables of 17 models, from its published Pass@1 (outputs) or as read from its picture (inputs).

    Columns: label, model (the registry's name), dataset, mode, perturbation, vanilla_pct, pass_at_1_pct, points,
    relative_pct, task, provenance (in words; the tables of the paper's text have lost their numbers).
    The Merge score weighs 800 problems of CRUXEval and 479 of LiveCodeBench.
    """
    names = published_models("codecrash")
    rows = list(_published_inputs() if task == "input" else _published_outputs())
    frame = pd.DataFrame(rows, columns=["label", "dataset", "mode", "perturbation", "vanilla_pct", "pass_at_1_pct"])
    # Who was asked in one mode alone is a reasoning model.
    frame = frame[frame.groupby("label")["mode"].transform("nunique") > 1].reset_index(drop=True)
    numbers = published_numbers(f"codecrash/{'input' if task == 'input' else 'pass_at_1'}") or {}
    return frame.assign(
        provenance=PROVENANCES.get(numbers.get("provenance", ""), ""),
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


def as_the_paper_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Those about Python programs, without a defence."""
    return rows[~rows["ignore"].astype(bool) & ~rows["refactor"].astype(bool) & (rows["language"] == "python")]


def headlines(published: pd.DataFrame) -> pd.DataFrame:
    """The abstract's average degradation, in %: over 17 models and four perturbations, data sets weighted by their
    numbers of problems (version 3; version 2 weighted the perturbations). Columns: mode, degradation."""
    weights = published["dataset"].map(published_numbers("codecrash/problems") or {})
    chosen = published.assign(weight=weights).dropna(subset="weight")
    chosen = chosen[chosen["perturbation"].isin(HEADLINE)]
    rows = [(mode, -np.average(part["relative_pct"], weights=part["weight"])) for mode, part in chosen.groupby("mode")]
    return pd.DataFrame(rows, columns=["mode", "degradation"])


def compared_tables(table: pd.DataFrame, published: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """For the ledger: the published cells of what was asked for, and the regenerated ones that may stand beside them,
    those of the paper's data sets in its setting."""
    asked = as_the_paper_asked(table)
    if set(asked["dataset"]) - {MERGE} != set(published_numbers("codecrash/problems") or {}):
        asked = asked[asked["dataset"] != MERGE]  # of other problems, or of one data set alone
    wanted = published[published["mode"].isin(table["mode"]) & published["perturbation"].isin(table["perturbation"])]
    cells = wanted.assign(
        dataset_name=wanted["dataset"].map(NAMES),
        mode_name=wanted["mode"].map(MODES),
        **{name: [round(value, 2) for value in wanted[name]] for name in ("points", "relative_pct")},
        questions=wanted["dataset"].map(QUESTIONS),
    )
    return {"published": cells, "differences": asked, "headline": headlines(published)}


def own_headlines(answers: pd.DataFrame, published: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """The abstract's average degradation from answers asked here, for each mode in which all of the paper's models were
    asked about both data sets: mode, degradation, low, high (%), questions; over questions, the same for all models.
    """
    columns = ["mode", "degradation", "low", "high", "questions"]
    counts = published_numbers("codecrash/problems") or {}
    asked = as_the_paper_asked(answers)
    asked = asked[asked["model"].isin(published["model"]) & asked["perturbation"].isin(["VAN", *HEADLINE])]
    wanted = set(itertools.product(published["model"], counts, ["VAN", *HEADLINE]))
    rows = []
    for mode, part in asked.groupby("mode"):
        scores = part.groupby(["model", "dataset", "perturbation", "question"])[f"value_{rule}"].agg(["sum", "size"])
        cells = {key: one.droplevel([0, 1, 2]) for key, one in scores.groupby(level=[0, 1, 2])}
        if not wanted <= set(cells):
            continue
        ratios = [
            (counts[dataset] / sum(counts.values()), share(cells[model, dataset, name]["sum"], base["sum"]))
            for model, dataset, name in sorted(wanted)
            if name != "VAN" and (base := cells[model, dataset, "VAN"])["sum"].sum()
        ]
        terms = len(ratios) / len(counts)
        loss = combined([(-100 * weight / terms, one) for weight, one in ratios])
        count = part["question"].nunique()
        rows.append((mode, 100 + loss.value, *(100 + end for end in loss.interval(count, confidence)), count))
    return pd.DataFrame(rows, columns=columns)


def published_points(published: pd.DataFrame, table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The paper's models for the grey dots: panel, condition, value, of each panel's own mode.

    They stand in the panel of their own data set; where none of that mode is the paper's, in a panel of their own. What
    the paper's numbers are not known for has none.
    """
    datasets = set(published["dataset"])
    whole = set(table["dataset"]) - {MERGE} == datasets - {MERGE}
    shown = as_the_paper_asked(compared(table))
    varying = [name for name in SETTING if table[name].nunique() > 1]
    parts = []
    for _, rows in shown.drop_duplicates(["dataset", *SETTING]).groupby(SETTING, sort=False):
        own = rows[rows["dataset"].isin(datasets) & (whole | (rows["dataset"] != MERGE))]
        places = dict(zip(own["dataset"], own["panel"], strict=True))
        row = rows.iloc[0].to_dict()
        if not places:
            dataset = MERGE if MERGE in datasets else "cruxeval"
            setting = [panel_name(row, varying)] if varying else []
            places = {dataset: ", ".join([own_panel(dataset), *setting])}
        chosen = published[(published["mode"] == row["mode"]) & published["dataset"].isin(places)]
        values = {"condition": chosen["perturbation"], "value": chosen["relative_pct" if relative else "points"]}
        parts.append(pd.DataFrame({"panel": chosen["dataset"].map(places), **values}))
    return pd.concat(parts) if parts else pd.DataFrame(columns=["panel", "condition", "value"])
