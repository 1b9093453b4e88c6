"""CodeCrash: the paper's own differences, and what is claimed of them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from codestress.fitting.influence import combined, share
from codestress.papers.codecrash.results.conditions import MERGE, MODES, NAMES, SETTING, own_panel, panel_name
from codestress.papers.codecrash.results.differences import compared
from codestress.report.published import published_cells, published_models, published_numbers

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
    artefact = f"codecrash/{'input' if task == 'input' else 'pass_at_1'}"
    if task == "input":
        cells = published_cells(artefact, "label", "column").assign(dataset="cruxeval")
        cells[["perturbation", "mode"]] = cells["column"].str.rsplit(" ", n=1, expand=True)
    else:
        cells = published_cells(artefact, "label", "mode", "dataset", "perturbation")
        counts = cells["dataset"].map(published_numbers("codecrash/problems") or {})
        weighted = cells.assign(value=counts * cells["value"], count=counts, dataset=MERGE)
        merged = weighted.groupby(["label", "mode", "dataset", "perturbation"], sort=False, as_index=False).sum()
        cells = pd.concat([cells, merged.assign(value=merged["value"] / merged["count"])], ignore_index=True)
        cells = cells.iloc[np.argsort(cells.groupby(["label", "mode"], sort=False).ngroup(), kind="stable")]
    key = ["label", "dataset", "mode"]
    vanilla = cells[cells["perturbation"] == "VAN"].set_index(key)["value"].rename("vanilla_pct")
    frame = cells[cells["perturbation"] != "VAN"].join(vanilla, on=key)
    # Who was asked in one mode alone is a reasoning model.
    frame = frame[frame.groupby("label")["mode"].transform("nunique") > 1].reset_index(drop=True)
    before = frame["vanilla_pct"]
    after = before * (1 + frame["value"] / 100) if task == "input" else frame["value"]
    return frame[[*key, "perturbation", "vanilla_pct"]].assign(
        pass_at_1_pct=after,
        provenance=PROVENANCES.get((published_numbers(artefact) or {}).get("provenance", ""), ""),
        model=frame["label"].map(published_models("codecrash")),
        task=task,
        points=after - before,
        relative_pct=100 * (after / before - 1),
    )


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
