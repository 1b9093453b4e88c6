"""CodeCrash: numbers that the paper's text states about its own tables, recomputed from published
Pass@1 and tokens."""

from collections.abc import Iterator

import pandas as pd

from codestress.report.published import (
    published_cells,
    published_models,
    published_numbers,
)

from .conditions import MERGE, MODES, NAMES
from .leaderboard import (
    HEADLINE,
    average_losses,
    mean_losses,
    pass_at_1,
    problem_counts,
    published_differences,
)
from .reasoning import published_reasoning
from .sweep import SMALL

Number = tuple[str, str, float]
"""Number that the paper states, recomputed: its name, the reading of the paper's words (empty where
only one reading exists), and its value."""
SINGLE = ["REN", "RTF", "GBC"]
"""Perturbations that PSC-ALL combines: new names, rewritten conditions, unused code."""
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
    key = ["mode", "dataset", "perturbation"]
    lost = -outputs.pivot(index="label", columns=key, values="relative_pct")
    vanilla = outputs.groupby(["mode", "label", "dataset"])["vanilla_pct"].first()
    rows = [
        *_averages(average_losses(outputs)),
        *_datasets(lost["direct"]),
        *_step_by_step(lost["cot"], vanilla),
        *_thinking(lost["cot"]),
        *_inputs(lost, vanilla),
        *_counts(),
    ]
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def by_size() -> pd.DataFrame:
    """Returns how much more a model loses on average than the model that should be more robust
    (section 3.2), in direct mode, for each pair of models and reading of an average. Columns: less,
    more (labels; `more` is the robust one), reading, value (difference of losses, each in %)."""
    losses = average_losses(published_differences())
    direct = losses[losses["mode"] == "direct"]
    means = mean_losses(direct, ["label", "reading"])
    pairs = published_cells("codecrash/scaling", "more")
    rows = []
    for pair in pairs.itertuples():
        for reading, lost in (means[pair.value] - means[pair.more]).items():
            rows.append((pair.value, pair.more, reading, lost))
    return pd.DataFrame(rows, columns=["less", "more", "reading", "value"])


def averages() -> pd.DataFrame:
    """Returns the averages over models at the end of the paper's tables (5, 13 and 16), each beside
    the average of the cells above it.

    Columns: table, mode, dataset, perturbation, mode_name, dataset_name (in words), published (as
    printed), value (recomputed), both in points for Tables 13 and 16, in % for Table 5.
    """
    axes = ("perturbation", "dataset")
    points = published_cells("codecrash/averages_direct_points", *axes)
    numbers = published_numbers("codecrash/input") or {}
    names = [name.split() for name in numbers["columns"][2:]]
    inputs = pd.DataFrame(names, columns=["perturbation", "mode"])
    inputs["value"] = numbers["averages"]
    key = ["mode", "dataset", "perturbation"]
    parts = []
    for table, rows, task, unit in (
        ("Tables 13 and 16", points.assign(mode="direct"), "output", "points"),
        ("Table 5", inputs.assign(dataset="cruxeval"), "input", "relative_pct"),
    ):
        means = published_differences(task).groupby(key)[unit].mean().rename("mean")
        parts.append(rows.join(means, on=key).assign(table=table))
    rows = pd.concat(parts, ignore_index=True)
    return rows.rename(columns={"value": "published", "mean": "value"}).assign(
        dataset_name=rows["dataset"].map(NAMES),
        mode_name=rows["mode"].map(MODES),
    )


def _ahead(values: pd.Series, others: list[str], first: str) -> float:
    return float(values[first] - values[others].drop(first, errors="ignore").max())


def _above_others(values: pd.Series, labels: list[str]) -> float:
    return float(values[labels].mean() - values.drop(labels).mean())


def _averages(losses: pd.DataFrame) -> Iterator[Number]:
    """Yields (name, reading, value) of the numbers about averages over both data sets, for each
    reading of an average, from `losses`, the result of `average_losses`."""
    means = losses.groupby(["reading", "mode", "perturbation"])["lost"].mean()
    models = mean_losses(losses, ["reading", "mode", "label"])
    for reading in losses["reading"].unique():
        direct = means[reading]["direct"]
        cot = means[reading]["cot"]
        yield "PSC-ALL ahead", reading, _ahead(direct, HEADLINE, "PSC-ALL")
        yield "PSC-ALL ahead of its parts", reading, _ahead(direct, SINGLE, "PSC-ALL")
        saved = 100 * (1 - cot / direct)
        yield "MHC ahead in what is saved", reading, _ahead(saved, HEADLINE, "MHC")
        saved = 100 * (1 - models[reading]["cot"] / models[reading]["direct"])
        yield "saved by capable models", reading, _above_others(saved, CAPABLE)


def _datasets(lost: pd.DataFrame) -> Iterator[Number]:
    """Yields the numbers about the two data sets, from what models lose in direct mode."""
    crux = lost["cruxeval"]
    contest = lost["livecodebench"]
    more = contest["MHC"] - crux["MHC"]
    yield "MHC, LiveCodeBench - CRUXEval", "", more.mean()
    on_crux = crux > contest
    same = on_crux["MCC"] == on_crux["MPS"]
    yield "same data set for both messages", "", same.sum()
    first = crux["MCC"] > crux["MPS"]
    second = contest["MCC"] > contest["MPS"]
    yield "same message on both data sets", "", (first == second).sum()
    flash = lost[MERGE][HEADLINE].mean(axis=1)
    newer = flash["Gemini-2.0-Flash"] - flash["Gemini-1.5-Flash"]
    yield "Gemini, new - old", "", newer


def _step_by_step(lost: pd.DataFrame, vanilla: pd.Series) -> Iterator[Number]:
    """Yields the numbers about chains of thought, from what models lose with them."""
    easier = vanilla["cot"] - vanilla["direct"]
    yield "vanilla, step by step - direct", "", easier.mean()
    misled = lost[MERGE][["MCC", "MPS"]].mean(axis=1)
    yield "misled step by step", "", misled.min()
    names = published_models("codecrash")
    for reading, small in SMALL.items():
        labels = [label for label in misled.index if names[label] in small]
        yield "small models misled", reading, _above_others(misled, labels)


def _thinking(lost: pd.DataFrame) -> Iterator[Number]:
    """Yields (name, reading, value) of the numbers about reasoning models, from Pass@1 of the
    leaderboard, tokens of Table 4, and what other models lose step by step."""
    scores = pass_at_1()
    scores = scores[~scores["label"].isin(lost.index)]
    key = ["dataset", "label"]
    wide = scores.pivot(index=key, columns="perturbation", values="value")
    own = 100 * (1 - wide.div(wide["VAN"], axis=0))
    for dataset in problem_counts():
        others = lost[dataset]["PSC-ALL"].mean()
        more = others - own.loc[dataset, "PSC-ALL"].mean()
        yield "PSC-ALL, step by step - thinking", dataset, more
    yield "prints better than comments", "", (wide["MPS"] > wide["MCC"]).sum()
    hints = own["MHC"].unstack()
    more = hints["o3-Mini-High"] > hints["o3-Mini-Low"]
    yield "more effort loses more", "", more.sum()
    table = published_reasoning()
    tokens = table.pivot(
        index=["label", "dataset"], columns="perturbation", values="average_tokens"
    )
    longer = tokens.gt(tokens["VAN"], axis=0)
    yield "longer under messages", "", longer[["MCC", "MPS"]].to_numpy().sum()
    longer = tokens["MHC"] > tokens["MCC"]
    yield "longer under hints than comments", "", longer.sum()
    yield "longest", "", table["most_tokens"].max()


def _inputs(lost: pd.DataFrame, vanilla: pd.Series) -> Iterator[Number]:
    """Yields the numbers about input prediction beside output prediction on CRUXEval, of which
    `lost` has the losses and `vanilla` Pass@1 on programs as they are."""
    inputs = published_differences("input")
    means = -inputs.groupby(["mode", "perturbation"])["relative_pct"].mean().unstack()
    for mode in means.index:
        yield "MCC helps", mode, -means.loc[mode, "MCC"]
        yield "MPS helps", mode, -means.loc[mode, "MPS"]
    outputs = lost.xs("cruxeval", axis=1, level="dataset").mean()
    saved = outputs["cot"] / outputs["direct"]
    more = 100 * (means.loc["cot"] / means.loc["direct"] - saved)
    for name in ("PSC-ALL", "MHC"):
        yield "saved, outputs - inputs", f"of the loss to {name}", more[name]
    own = inputs.groupby(["mode", "label"])["vanilla_pct"].first()
    theirs = vanilla.xs("cruxeval", level="dataset")
    gains = [(part["cot"] - part["direct"]).mean() for part in (theirs, own)]
    reading = "of the programs as they are"
    yield "saved, outputs - inputs", reading, gains[0] - gains[1]


def _counts() -> Iterator[Number]:
    yield "questions", "", sum(problem_counts().values())
    questions = published_numbers("codecrash/questions") or {}
    yield "contest questions", "", questions["livecodebench"]
    yield "models", "", published_differences()["label"].nunique()
    settings = published_reasoning()["label"]
    yield "reasoning models", "settings of Table 4", settings.nunique()
    models = settings.str.replace(r"-(Low|High)$", "", regex=True)
    yield "reasoning models", "models of Table 4", models.nunique()
