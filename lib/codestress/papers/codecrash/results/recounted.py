"""CodeCrash: numbers that the paper's text states about its own tables, recomputed from
the published Pass@1 and token counts."""

from collections.abc import Iterator

import pandas as pd

from codestress.report.published import published_cells, published_numbers

from .conditions import MERGE, MODES, NAMES
from .leaderboard import (
    HEADLINE,
    average_losses,
    mean_losses,
    problem_counts,
    published_differences,
    published_scores,
    registry_names,
)
from .reasoning import published_reasoning
from .sweep import SMALL

Number = tuple[str, str, float]
"""A recomputed number that the paper states: its name, the reading (one interpretation
of the paper's words; empty if only one exists), and its value."""
SINGLE = ["REN", "RTF", "GBC"]
"""Perturbations that PSC-ALL combines: new names, rewritten conditions, unused code."""
CAPABLE = ["GPT-4o", "Claude-3.5-Sonnet-20241022"]
"""Models that section 3.3 gives as examples of high capacity."""


def tables() -> dict[str, pd.DataFrame]:
    """Return the tables that the ledger compares with the paper's statements, as a dict
    from name to table. Three are the results of `recounted`, `by_size` and `averages`;
    `sizes` has the pairs of models in `by_size` (columns less, more)."""
    sizes = by_size()
    return {
        "recounted": recounted(),
        "by_size": sizes,
        "sizes": sizes[["less", "more"]].drop_duplicates(),
        "averages": averages(),
    }


def recounted() -> pd.DataFrame:
    """Return the numbers that the paper's text states, recomputed from its tables, a
    row for each number and each reading (interpretation) of its words. Columns: number
    (its name), reading (empty if only one exists), value (percentage points, % or a
    count)."""
    scores = published_scores()
    key = ["mode", "dataset", "perturbation"]
    loss = -scores.pivot(index="label", columns=key, values="relative_pct")
    thinking = loss.loc[scores.query("reasoning")["label"].unique(), "direct"]
    loss = loss.drop(thinking.index)
    vanilla = scores.pivot_table("vanilla_pct", "label", ["mode", "dataset"])
    easier = (vanilla["cot"] - vanilla["direct"]).mean()
    rows = list(_averages())
    rows += _datasets(loss["direct"])
    rows.append(("vanilla, step by step - direct", "", easier[MERGE]))
    rows += _step_by_step(loss["cot"][MERGE])
    rows += _thinking(loss["cot"], thinking)
    rows += _inputs(loss, easier["cruxeval"])
    rows += _counts(len(loss))
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def by_size() -> pd.DataFrame:
    """Return how much more one model loses on average than a second model that should
    be more robust (section 3.2), in direct mode. There is a row for each pair of models
    and each reading of "average".

    Columns: less, more (labels of the models; `more` is the robust one), reading, value
    (loss of `less` minus loss of `more`, both in % of vanilla).
    """
    direct = published_differences().query("mode == 'direct'")
    means = mean_losses(direct, "label")
    table = published_cells("codecrash/scaling", "more")
    table = table.rename(columns={"value": "less"})
    for reading, loss in means.items():
        table[reading] = table["less"].map(loss) - table["more"].map(loss)
    return table.melt(["less", "more"], var_name="reading")


def averages() -> pd.DataFrame:
    """Return the averages over models in the last rows of the paper's Tables 5, 13 and
    16, each beside the recomputed average of the cells above it.

    Columns: table, mode, dataset, perturbation, mode_name, dataset_name (in words),
    published (as printed), value (recomputed). The two numbers are in percentage points
    for Tables 13 and 16, and in % of vanilla for Table 5.
    """
    rows = published_cells(
        "codecrash/averages_direct_points", "perturbation", "dataset"
    )
    rows = rows.assign(mode="direct", table="Tables 13 and 16")
    numbers = published_numbers("codecrash/input")
    for name, value in zip(numbers["columns"][2:], numbers["averages"], strict=True):
        perturbation, mode = name.split()
        rows.loc[len(rows)] = [perturbation, "cruxeval", value, mode, "Table 5"]
    key = ["mode", "dataset", "perturbation"]
    means = {
        "Tables 13 and 16": published_differences().groupby(key)["points"].mean(),
        "Table 5": published_differences("input").groupby(key)["relative_pct"].mean(),
    }
    together = pd.concat(means, names=["table"])
    rows = rows.rename(columns={"value": "published"})
    rows["dataset_name"] = rows["dataset"].map(NAMES)
    rows["mode_name"] = rows["mode"].map(MODES)
    return rows.join(together.rename("value"), on=["table", *key])


def _ahead(values: pd.Series, others: list[str], first: str) -> float:
    """Return by how much the value of `first` exceeds the largest value of `others`;
    `first` itself does not count among `others`."""
    rest = values[others].drop(first, errors="ignore")
    return float(values[first] - rest.max())


def _above_others(values: pd.Series, labels: list[str]) -> float:
    """Return by how much the mean value of `labels` exceeds the mean value of all other
    labels."""
    rest = values.drop(labels)
    return float(values[labels].mean() - rest.mean())


def _averages() -> Iterator[Number]:
    """Yield the numbers about averages over both data sets as (name, reading, value),
    for each reading of "average"."""
    outputs = published_differences()
    losses = average_losses(outputs).groupby(["mode", "perturbation"]).mean()
    models = mean_losses(outputs, "mode", "label")
    for reading, loss in losses.items():
        cot, direct = loss["cot"], loss["direct"]
        yield "PSC-ALL ahead", reading, _ahead(direct, HEADLINE, "PSC-ALL")
        yield "PSC-ALL ahead of its parts", reading, _ahead(direct, SINGLE, "PSC-ALL")
        saved = 100 * (1 - cot / direct)
        yield "MHC ahead in what is saved", reading, _ahead(saved, HEADLINE, "MHC")
        own = models[reading]
        saved = 100 * (1 - own["cot"] / own["direct"])
        yield "saved by capable models", reading, _above_others(saved, CAPABLE)


def _datasets(loss: pd.DataFrame) -> Iterator[Number]:
    """Yield the numbers about the two data sets. `loss` holds the losses in direct
    mode, in % of vanilla: a row for each model, a column for each data set and
    perturbation."""
    crux = loss["cruxeval"]
    contest = loss["livecodebench"]
    more = contest["MHC"] - crux["MHC"]
    yield "MHC, LiveCodeBench - CRUXEval", "", more.mean()
    on_crux = crux > contest
    same = on_crux["MCC"] == on_crux["MPS"]
    yield "same data set for both messages", "", same.sum()
    first = crux["MCC"] > crux["MPS"]
    second = contest["MCC"] > contest["MPS"]
    yield "same message on both data sets", "", (first == second).sum()
    flash = loss[MERGE][HEADLINE].mean(axis=1)
    newer = flash["Gemini-2.0-Flash"] - flash["Gemini-1.5-Flash"]
    yield "Gemini, new - old", "", newer


def _step_by_step(loss: pd.DataFrame) -> Iterator[Number]:
    """Yield the numbers about messages and chains of thought. `loss` holds the losses
    with chains of thought over both data sets, in % of vanilla: a row for each model, a
    column for each perturbation."""
    misled = loss[["MCC", "MPS"]].mean(axis=1)
    yield "misled step by step", "", misled.min()
    models = registry_names(misled.index)
    for reading, small in SMALL.items():
        labels = list(misled.index[models.isin(small)])
        yield "small models misled", reading, _above_others(misled, labels)


def _thinking(loss: pd.DataFrame, thinking: pd.DataFrame) -> Iterator[Number]:
    """Yield the numbers about reasoning models as (name, reading, value). The sources
    are the tokens of Table 4, the losses of reasoning models (`thinking`), and those of
    all other models with chains of thought (`loss`)."""
    better = harmed = 0
    for dataset in problem_counts():
        own = thinking[dataset]
        more = loss[dataset]["PSC-ALL"].mean() - own["PSC-ALL"].mean()
        yield "PSC-ALL, step by step - thinking", dataset, more
        better += (own["MPS"] < own["MCC"]).sum()
        hints = own["MHC"]
        harmed += hints["o3-Mini-High"] > hints["o3-Mini-Low"]
    yield "prints better than comments", "", better
    yield "more effort loses more", "", harmed
    table = published_reasoning()
    key = ["dataset", "label"]
    tokens = table.pivot(index=key, columns="perturbation", values="average_tokens")
    longer = tokens[["MCC", "MPS"]].gt(tokens["VAN"], axis=0)
    yield "longer under messages", "", longer.to_numpy().sum()
    longer = tokens["MHC"] > tokens["MCC"]
    yield "longer under hints than comments", "", longer.sum()
    yield "longest", "", table["most_tokens"].max()


def _inputs(loss: pd.DataFrame, easier: float) -> Iterator[Number]:
    """Yield the numbers that compare input prediction with output prediction on
    CRUXEval. `loss` holds the losses in output prediction, `easier` is how much larger
    their Pass@1 on unperturbed programs is with chains of thought."""
    inputs = published_scores("input")
    means = inputs.groupby(["mode", "perturbation"])["relative_pct"].mean()
    for mode in ("cot", "direct"):
        yield "MCC helps", mode, means[mode]["MCC"]
        yield "MPS helps", mode, means[mode]["MPS"]
    outputs = loss.xs("cruxeval", axis=1, level="dataset").mean()
    saved = outputs["cot"] / outputs["direct"]
    more = 100 * (means["cot"] / means["direct"] - saved)
    for name in ("PSC-ALL", "MHC"):
        yield "saved, outputs - inputs", f"of the loss to {name}", more[name]
    own = inputs.groupby("mode")["vanilla_pct"].mean()
    reading = "of the programs as they are"
    yield "saved, outputs - inputs", reading, easier - (own["cot"] - own["direct"])


def _counts(models: int) -> Iterator[Number]:
    """Yield the numbers of questions and models; `models` is the number of models that
    are not reasoning models."""
    yield "questions", "", sum(problem_counts().values())
    questions = published_numbers("codecrash/questions")
    yield "contest questions", "", questions["livecodebench"]
    yield "models", "", models
    settings = published_reasoning()["label"]
    yield "reasoning models", "settings of Table 4", settings.nunique()
    names = settings.str.replace(r"-(Low|High)$", "", regex=True)
    yield "reasoning models", "models of Table 4", names.nunique()
