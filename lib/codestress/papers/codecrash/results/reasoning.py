"""CodeCrash: reasoning models: accuracy and the tokens that they think (Table 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from codestress.fitting.influence import share
from codestress.fitting.proportions import clustered_mean
from codestress.papers.codecrash.reasoning import collapse_start, reasoning_tokens
from codestress.papers.codecrash.results.conditions import CELL, NAMES, cells, named, own_panel, told
from codestress.papers.codecrash.results.differences import POINTS, differences
from codestress.papers.codecrash.results.paper import QUESTIONS
from codestress.report.published import published_models, published_numbers
from codestress.types import Response


def with_reasoning(answers: pd.DataFrame, texts: Mapping[str, Response]) -> pd.DataFrame:
    """The answers with `reasoning_tokens` (nan where the request failed), `collapsed` (whether the response ends in
    endless repetition)."""
    responses = [texts.get(key) for key in answers["key"]]
    return answers.assign(
        reasoning_tokens=[reasoning_tokens(one) if one else math.nan for one in responses],
        collapsed=[one is not None and collapse_start(one.text) is not None for one in responses],
    )


def reasoning_table(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Table 4: for each model, data set and perturbation Pass@1, the difference to vanilla in points with interval,
    reasoning tokens (mean with interval, maximum; `true_tokens`: their mean in truth) and collapses. `answers` as
    `with_reasoning` makes them, with `true_lengths`."""
    table = differences(answers, rule=rule, confidence=confidence)
    points = table.set_index(CELL)[[*POINTS]]
    rows = []
    for cell, part in cells(answers):
        group = tuple(cell.values())
        known = part[part["reasoning_tokens"].notna()]
        most = int(known["reasoning_tokens"].max()) if len(known) else math.nan
        mean, (low, high), *_ = clustered_mean(known["reasoning_tokens"], known["question"], confidence=confidence)
        found = points.loc[group] if group in points.index else dict.fromkeys(POINTS, 0.0)
        rows.append(
            cell
            | {
                "n": len(part),
                "problems": part["problem"].nunique(),
                "questions": part["question"].nunique(),
                "pass_at_1_pct": 100 * part[f"value_{rule}"].mean(),
                **found,
            }
            | {"average_tokens": mean, "tokens_low": low, "tokens_high": high}
            | {"true_tokens": known["true_thought"].mean(skipna=False) if "true_thought" in known else math.nan}
            | {
                "most_tokens": most,
                "collapses": int(part["collapsed"].sum()),
            }
        )
    return pd.DataFrame(rows)


def token_growth(answers: pd.DataFrame, published: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """How many times as many tokens a perturbation makes a model think as vanilla programs do (section 3.4 (i)): the
    ratio of sums over the same problems, questions counted once; then the paper's, from Table 4.

    Columns: source (regenerated, published), model, dataset, perturbation, problems, questions, times, low, high.
    """
    rows: list[tuple[object, ...]] = []
    for (model, dataset), part in answers.groupby(["model", "dataset"], sort=False):
        spent = (
            part.dropna(subset="reasoning_tokens")
            .groupby(["perturbation", "problem", "question"], sort=False)["reasoning_tokens"]
            .mean()
        )
        vanilla = spent[spent.index.get_level_values("perturbation") == "VAN"].droplevel("perturbation")
        for perturbation in dict.fromkeys(spent.index.get_level_values("perturbation")):
            both = pd.concat({"own": spent.loc[perturbation], "vanilla": vanilla}, axis=1, join="inner")
            both = both.droplevel("problem")
            if perturbation == "VAN" or both.empty:
                continue
            found, questions = share(both["own"], both["vanilla"]), both.index.nunique()
            numbers = (found.value, *found.interval(questions, confidence))
            rows.append(("regenerated", model, dataset, perturbation, len(both), questions, *numbers))
    theirs = published.set_index(["label", "dataset", "perturbation"])["average_tokens"]
    for (label, dataset, perturbation), tokens in theirs.items():
        if perturbation != "VAN":
            times = tokens / theirs[label, dataset, "VAN"]
            rows.append(("published", label, dataset, perturbation, None, None, times, math.nan, math.nan))
    columns = ["source", "model", "dataset", "perturbation", "problems", "questions", "times", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


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


def published_claims(published: pd.DataFrame) -> pd.DataFrame:
    """The paper's cells for the ledger: vanilla is no difference."""
    return published.assign(
        model=published["label"].map(published_models("codecrash")),
        questions=published["dataset"].map(QUESTIONS),
        dataset_name=published["dataset"].map(NAMES),
        points=published["points"].where(published["perturbation"] != "VAN"),
    )


def token_points(table: pd.DataFrame, published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What `token_dots` draws: the regenerated points and the paper's, in panels of their own data sets."""
    names = {"average_tokens": "average", "tokens_low": "low", "tokens_high": "high", "most_tokens": "most"}
    renamed = named(table).rename(columns={**names, "true_tokens": "true"})
    points = renamed[["model", "panel", "condition", *names.values(), "true"]]
    panels = named(table).drop_duplicates("dataset").set_index("dataset")["panel"].to_dict()
    theirs = published.rename(columns={**names, "perturbation": "condition"})
    theirs["panel"] = [panels.get(dataset, own_panel(dataset)) for dataset in theirs["dataset"]]
    return points, theirs[["panel", "condition", "average", "most"]]


def describe_reasoning(table: pd.DataFrame) -> str:
    """The figure in words."""
    form = (
        "{model}, {dataset}, {perturbation}: {average_tokens:,.0f} tokens on average, at most {most_tokens:,}, "
        "{collapses} collapses"
    )
    return told("Reasoning tokens.", table, form)
