"""CodeCrash: numbers that the paper's text states about its own tables, recomputed from published
Pass@1 and tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from codestress.papers.codecrash.results.conditions import MERGE, MODES, NAMES
from codestress.papers.codecrash.results.differences import (
    HEADLINE,
    SMALL,
    average_losses,
    problem_counts,
    published_differences,
)
from codestress.papers.codecrash.results.reasoning import published_reasoning
from codestress.report.published import (
    published_cells,
    published_models,
    published_numbers,
)

Number = tuple[str, str, float]
"""Number that the paper states, recomputed: its name, the reading of the paper's words (empty where
only one reading exists), and its value."""
SINGLE = ["REN", "RTF", "GBC"]
"""Perturbations that PSC-ALL combines: new names, rewritten conditions, unused code."""
BOTH = ("cruxeval", "livecodebench")
CAPABLE = ["GPT-4o", "Claude-3.5-Sonnet-20241022"]
"""Models that section 3.3 gives as examples of high capacity."""


def tables() -> dict[str, pd.DataFrame]:
    """Returns the tables with which the ledger compares the paper's statements, by name: the
    results of `recounted`, `by_size` and `averages`, and `sizes`, the pairs of models in `by_size`
    (less, more)."""
    sizes = by_size()
    return {
        "recounted": recounted(),
        "by_size": sizes,
        "sizes": sizes[["less", "more"]].drop_duplicates(),
        "averages": averages(),
    }


def recounted() -> pd.DataFrame:
    """Returns the numbers that the paper's text states, recomputed from its tables, with a row for
    each number and reading of its words: number (its name), reading (empty where the words have a
    single one), value (points, % or a count)."""
    outputs = published_differences()
    losses = average_losses(outputs)
    rows = [
        *_average(losses),
        *_datasets(outputs[outputs["mode"] == "direct"]),
        *_step_by_step(losses, outputs),
        *_thinking(outputs),
        *_inputs(outputs),
        *_counts(),
    ]
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def by_size() -> pd.DataFrame:
    """Returns how much more a model loses on average than the model that should be more robust
    (section 3.2), in direct mode, for each pair of models and reading of an average. Columns: less,
    more (labels; `more` is the robust one), reading, value (difference of losses, each in %)."""
    losses = average_losses(published_differences())
    chosen = losses[
        (losses["mode"] == "direct") & losses["perturbation"].isin(HEADLINE)
    ]
    means = (
        chosen.groupby(["reading", "label"], sort=False)["lost"].mean().unstack("label")
    )
    pairs = published_cells("codecrash/scaling", "more").rename(
        columns={"value": "less"}
    )
    rows = []
    for pair in pairs.itertuples():
        for reading, lost in (means[pair.less] - means[pair.more]).items():
            rows.append((pair.less, pair.more, reading, lost))
    return pd.DataFrame(rows, columns=["less", "more", "reading", "value"])


def averages() -> pd.DataFrame:
    """Returns the averages over models at the end of the paper's tables (5, 13 and 16), each beside
    the average of the cells above it.

    Columns: table, mode, dataset, perturbation, mode_name, dataset_name (in words), published (as
    printed), value (recomputed), both in points for Tables 13 and 16, in % for Table 5.
    """
    points = published_cells(
        "codecrash/averages_direct_points", "perturbation", "dataset"
    )
    points = points.assign(
        table="Tables 13 and 16", mode="direct", task="output", unit="points"
    )
    numbers = published_numbers("codecrash/input") or {}
    inputs = pd.Series(numbers["columns"][2:]).str.split(" ", expand=True)
    inputs = inputs.set_axis(["perturbation", "mode"], axis=1).assign(
        value=numbers["averages"]
    )
    inputs = inputs.assign(
        table="Table 5", dataset="cruxeval", task="input", unit="relative_pct"
    )
    rows = pd.concat([points, inputs], ignore_index=True).rename(
        columns={"value": "published"}
    )
    ours = pd.concat([published_differences(task) for task in ("output", "input")])
    key = ["task", "mode", "dataset", "perturbation"]
    means = (
        ours.groupby(key)[["points", "relative_pct"]].mean().rename_axis("unit", axis=1)
    )
    rows = rows.join(means.stack().rename("value"), on=[*key, "unit"])
    rows["dataset_name"] = rows["dataset"].map(NAMES)
    rows["mode_name"] = rows["mode"].map(MODES)
    names = ["dataset_name", "mode_name", "published", "value"]
    return rows[["table", *key[1:], *names]]


def _ahead(values: pd.Series, first: str) -> float:
    return float(values[first] - values.drop(first).max())


def _average(losses: pd.DataFrame) -> Iterator[Number]:
    """Yields (name, reading, value) of the numbers about averages over both data sets, for each
    reading of an average, from `losses`, the result of `average_losses`."""
    means = losses.groupby(["reading", "mode", "perturbation"])["lost"].mean().unstack()
    for reading in losses["reading"].unique():
        direct, cot = (means.loc[(reading, mode)] for mode in ("direct", "cot"))
        yield "PSC-ALL ahead", reading, _ahead(direct[list(HEADLINE)], "PSC-ALL")
        yield (
            "PSC-ALL ahead of its parts",
            reading,
            _ahead(direct[["PSC-ALL", *SINGLE]], "PSC-ALL"),
        )
        saved = 100 * (1 - cot / direct)[list(HEADLINE)]
        yield "MHC ahead in what is saved", reading, _ahead(saved, "MHC")


def _datasets(direct: pd.DataFrame) -> Iterator[Number]:
    lost = -direct.pivot(
        index="label", columns=["dataset", "perturbation"], values="relative_pct"
    )
    crux, contest = (lost[dataset] for dataset in BOTH)
    yield (
        "MHC, LiveCodeBench - CRUXEval",
        "",
        (contest["MHC"] - crux["MHC"]).mean(),
    )
    more = crux > contest
    yield "same data set for both messages", "", (more["MCC"] == more["MPS"]).sum()
    first, second = (part["MCC"] > part["MPS"] for part in (crux, contest))
    yield "same message on both data sets", "", (first == second).sum()
    flash = lost[MERGE][list(HEADLINE)].mean(axis=1)
    yield (
        "Gemini, new - old",
        "",
        flash["Gemini-2.0-Flash"] - flash["Gemini-1.5-Flash"],
    )


def _step_by_step(losses: pd.DataFrame, outputs: pd.DataFrame) -> Iterator[Number]:
    vanilla = outputs.pivot_table("vanilla_pct", ["label", "dataset"], "mode")
    yield (
        "vanilla, step by step - direct",
        "",
        (vanilla["cot"] - vanilla["direct"]).mean(),
    )
    chosen = losses[losses["perturbation"].isin(HEADLINE)]
    means = (
        chosen.groupby(["reading", "label", "mode"], sort=False)["lost"]
        .mean()
        .unstack()
    )
    saved = (100 * (1 - means["cot"] / means["direct"])).unstack("reading")
    for reading, part in saved.items():
        yield "saved by capable models", str(reading), _above_others(part, CAPABLE)
    merged = outputs[(outputs["dataset"] == MERGE) & (outputs["mode"] == "cot")]
    messages = merged[merged["perturbation"].isin(["MCC", "MPS"])]
    misled = -messages.groupby("label")["relative_pct"].mean()
    yield "misled step by step", "", misled.min()
    names = published_models("codecrash")
    for reading, small in SMALL.items():
        labels = [label for label in misled.index if names[label] in small]
        yield "small models misled", reading, _above_others(misled, labels)


def _above_others(values: pd.Series, labels: list[str]) -> float:
    return float(values[labels].mean() - values.drop(labels).mean())


def _thinking(outputs: pd.DataFrame) -> Iterator[Number]:
    """Yields (name, reading, value) of the numbers about reasoning models, from Pass@1 of the
    leaderboard, tokens of Table 4, and `outputs`, the result of `published_differences`."""
    scores = published_cells(
        "codecrash/pass_at_1", "label", "mode", "dataset", "perturbation"
    )
    scores = scores[~scores["label"].isin(outputs["label"])]
    wide = scores.pivot(
        index=["label", "dataset"], columns="perturbation", values="value"
    )
    lost = 100 * (1 - wide.div(wide["VAN"], axis=0))
    chain = outputs[(outputs["mode"] == "cot") & (outputs["perturbation"] == "PSC-ALL")]
    for dataset in BOTH:
        theirs = lost.xs(dataset, level="dataset")["PSC-ALL"].mean()
        others = -chain.loc[chain["dataset"] == dataset, "relative_pct"].mean()
        yield "PSC-ALL, step by step - thinking", dataset, others - theirs
    yield "prints better than comments", "", (wide["MPS"] > wide["MCC"]).sum()
    hints = lost["MHC"].unstack()
    more = hints.loc["o3-Mini-High"] > hints.loc["o3-Mini-Low"]
    yield "more effort loses more", "", more.sum()
    table = published_reasoning()
    tokens = table.pivot(
        index=["label", "dataset"], columns="perturbation", values="average_tokens"
    )
    longer = tokens[["MCC", "MPS"]].gt(tokens["VAN"], axis=0)
    yield "longer under messages", "", longer.to_numpy().sum()
    yield (
        "longer under hints than comments",
        "",
        (tokens["MHC"] > tokens["MCC"]).sum(),
    )
    yield "longest", "", table["most_tokens"].max()


def _inputs(outputs: pd.DataFrame) -> Iterator[Number]:
    inputs = published_differences("input")
    own = outputs[outputs["dataset"] == "cruxeval"]
    theirs, means = (
        part.groupby(["mode", "perturbation"])["relative_pct"].mean().unstack()
        for part in (own, inputs)
    )
    for mode, part in means.iterrows():
        yield "MCC helps", str(mode), part["MCC"]
        yield "MPS helps", str(mode), part["MPS"]
    saved = [1 - part.loc["cot"] / part.loc["direct"] for part in (theirs, means)]
    for name in ("PSC-ALL", "MHC"):
        more = 100 * (saved[0][name] - saved[1][name])
        yield "saved, outputs - inputs", f"of the loss to {name}", more
    gains = []
    for part in (own, inputs):
        wide = part.pivot_table("vanilla_pct", "label", "mode", aggfunc="first")
        gains.append((wide["cot"] - wide["direct"]).mean())
    yield (
        "saved, outputs - inputs",
        "of the programs as they are",
        gains[0] - gains[1],
    )


def _counts() -> Iterator[Number]:
    yield "questions", "", sum(problem_counts().values())
    yield (
        "contest questions",
        "",
        (published_numbers("codecrash/questions") or {})["livecodebench"],
    )
    yield "models", "", published_differences()["label"].nunique()
    settings = published_reasoning()["label"]
    yield "reasoning models", "settings of Table 4", settings.nunique()
    models = settings.str.replace(r"-(Low|High)$", "", regex=True)
    yield "reasoning models", "models of Table 4", models.nunique()
