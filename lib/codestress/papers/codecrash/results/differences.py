"""CodeCrash: Pass@1 and its differences to vanilla programs (Tables 2, 3 and 5, Figure 3); results
by the density of misleading messages, and lengths of responses (Figure 4, Table 6); the published
numbers, and the paper's claims about them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.influence import Moved, mean, share, total
from codestress.fitting.proportions import (
    UNKNOWN,
    clustered_mean,
    effective_number,
    paired_difference,
    ratio_of_shares,
)
from codestress.mutate.perturbations.variants import CONTROLS
from codestress.papers.codecrash.results.conditions import (
    CELL,
    MERGE,
    MODES,
    NAMES,
    SETTING,
    cells,
    most_and_least,
    named,
    question_counts,
    require_pairs,
    scores_by_problem,
    undefended,
)
from codestress.papers.codecrash.studies import MESSAGES
from codestress.report.published import (
    published_cells,
    published_models,
    published_numbers,
)
from codestress.types import Response

POINTS = ("points", "points_low", "points_high")
RELATIVE = ("relative_pct", "relative_low", "relative_high")


PAIRED = ["model", "dataset", "language", "task", "mode", "problem"]
"""Columns that pair a score with that of the vanilla (unperturbed) program."""


COUNTS = ["problems", "questions", "independent"]
SHARES = ["vanilla_pct", "lost_pct", "pass_at_1_pct"]
DIFFERENCES = [*CELL, *COUNTS, *SHARES, *POINTS, *RELATIVE, "applied_problems"]
"""Columns of `paired_differences`."""


def differences(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Returns a row for each condition in `answers` except plain vanilla (unperturbed programs, no
    defence), paired with plain vanilla on the problems of both: the result of `paired_differences`.
    `rule` is the scoring rule. Raises `ParameterError` where no answers can be paired."""
    pairs = beside_vanilla(scores_by_problem(answers, rule))
    require_pairs(pairs, answers)
    return paired_differences(pairs, confidence)


def paired_differences(pairs: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns a row for each condition of `pairs`, scores by problem beside the score before
    (`score_before`).

    Columns: `CELL` (the condition), problems, questions (clusters of problems), independent
    (answers, by `effective_number`), vanilla_pct and pass_at_1_pct (before and after, 0 to 100),
    lost_pct (the part of the correct answers before that is no longer correct), points, points_low,
    points_high, relative_pct, relative_low, relative_high, applied_problems (those that the
    perturbation was applied to; the others are asked the same question again and lose nothing).
    Intervals at `confidence` are over questions, paired.
    """
    rows = []
    for row, part in cells(pairs):
        before, after, questions = part["score_before"], part["score"], part["question"]
        row["problems"] = len(part)
        row["applied_problems"] = (part["status"] == "applied").sum()
        row |= question_counts(questions)
        row["vanilla_pct"] = 100 * before.mean()
        row["pass_at_1_pct"] = 100 * after.mean()
        lost = (before * (1 - after)).mean()
        row["lost_pct"] = 100 * lost / before.mean() if before.any() else math.nan
        rows.append(row | relative_difference(before, after, questions, confidence))
    return pd.DataFrame(rows, columns=DIFFERENCES)


def beside_vanilla(scores: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of `scores`, the result of `scores_by_problem`, except those of plain
    vanilla, whose score of the same problem they get in the column `score_before`; problems without
    it are left out."""
    vanilla = undefended(scores[scores["perturbation"] == "VAN"])
    return beside(vanilla, scores.drop(vanilla.index))


def beside(before: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of `scores` whose problem is in `before` too, with its score there in the
    column `score_before`."""
    return scores.merge(before[[*PAIRED, "score"]], on=PAIRED, suffixes=("", "_before"))


def difference_points(table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """Returns the points to draw from `table`, the result of `differences`, data set by data set and
    first those without a defence: model, panel,
    condition, cell (values that select the answers), value, low, high (in % of vanilla if
    `relative`, else in points)."""
    kind = RELATIVE if relative else POINTS
    columns = ["model", "panel", "condition", "cell"]
    placed = named(table).assign(place=pd.factorize(table["dataset"])[0])
    placed = placed.sort_values(["place", "ignore", "refactor"], kind="stable")
    points = placed[[*columns, *kind]]
    return points.set_axis([*columns, "value", "low", "high"], axis=1)


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Returns means over models of `table`, the result of `differences`, for each data set,
    setting, perturbation and density, like the last row of the paper's tables: models (their
    number), points, relative_pct, lost_pct."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    means = {name: (name, "mean") for name in ("points", "relative_pct", "lost_pct")}
    groups = table.groupby(by, sort=False, as_index=False)
    return groups.agg(models=("model", "nunique"), **means)


def by_density(
    answers: pd.DataFrame,
    texts: Mapping[str, Response],
    *,
    rule: str,
    confidence: float,
) -> pd.DataFrame:
    """Returns Pass@1, difference to vanilla and tokens for each model, setting, perturbation and
    density (0: vanilla). `texts` are responses by key, `rule` is the scoring rule.

    Columns: those of `differences`, and tokens, tokens_low, tokens_high: mean length of the whole
    response (reasoning included) as the server counts it, over questions.
    """
    plain = answers["perturbation"] == "VAN"
    asked = [name for name in MESSAGES if name in set(answers["perturbation"])]
    starts = [answers[plain].assign(perturbation=name) for name in asked]
    rows = []
    for row, part in cells(with_tokens(pd.concat([answers[~plain], *starts]), texts)):
        tokens = clustered_mean(part["tokens"], part["question"], confidence=confidence)
        row["tokens"] = tokens.value
        row["tokens_low"], row["tokens_high"] = tokens.interval
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        row["pass_at_1_pct"] = 100 * scores.mean()
        rows.append(row)
    table = differences(answers, rule=rule, confidence=confidence)
    table = pd.DataFrame(rows).merge(
        table.drop(columns="pass_at_1_pct"), on=CELL, how="left"
    )
    table.loc[table["density"] == 0, [*POINTS, *RELATIVE]] = 0.0
    return table.sort_values(CELL, kind="stable", ignore_index=True)


def with_tokens(answers: pd.DataFrame, texts: Mapping[str, Response]) -> pd.DataFrame:
    """Returns the answers with the column `tokens`: the server's count of the whole response, else
    an estimate at four characters a token from its text in `texts` (responses by key); nan without
    both."""
    counted = answers["completion_tokens"].astype(float)
    lengths = {key: len(response.text) / 4 for key, response in texts.items()}
    return answers.assign(tokens=counted.fillna(answers["key"].map(lengths)))


SMALL = {
    "7 and 8 billion": ["llama-3.1-8b", "qwen2.5-7b"],
    "7 to 14 billion": ["llama-3.1-8b", "qwen2.5-7b", "qwen2.5-14b"],
}
"""Registry names of the open models that count as small, by the reading of this word (in
parameters); sections 3.3 and 4.1 do not name any."""
LARGER = [
    *("llama-3.1-70b", "llama-3.1-405b", "llama-3.3-70b"),
    *("qwen2.5-32b", "qwen2.5-72b", "qwen2.5-coder-32b"),
]
"""Registry names of open models of both families that are larger than those in `SMALL`."""


def density_orders(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the differences between the largest density and vanilla programs (section 4.1),
    paired by problem, with intervals at `confidence` over questions.

    `answers` come from `with_tokens`, `rule` is the scoring rule. Columns: number (`tokens`:
    additional tokens; `small - larger`: additional loss of small open models, in points of the loss
    in %), model (`open` for several), dataset, mode, perturbation, reading (key of `SMALL`: the
    models that count as small; empty for tokens), value, low, high, questions, independent.
    """
    keys = [*PAIRED, "question"]
    value = f"value_{rule}"
    by = [*keys, "perturbation", "density"]
    means = answers.groupby(by)[[value, "tokens"]].mean().reset_index()
    vanilla = means[means["perturbation"] == "VAN"][[*keys, value, "tokens"]]
    highest = means[means["density"] == means["density"].max()]
    most = highest[highest["perturbation"].isin(MESSAGES)]
    pairs = most.merge(vanilla, on=keys, suffixes=("", "_before"))
    pairs = pairs.set_index("question", drop=False)
    rows = []
    for key, part in pairs.groupby(["dataset", "mode", "perturbation"], sort=False):
        kept: dict[str, Moved] = {}
        estimates: dict[tuple[str, str, str], Moved] = {}
        for name, own in part.groupby("model"):
            kept[str(name)] = share(own[value], own[f"{value}_before"])
            longer = (own["tokens"] - own["tokens_before"]).dropna()
            estimates["tokens", str(name), ""] = share(longer)
        for reading, small in SMALL.items():
            if {*small, *LARGER} <= {*kept}:
                smaller = mean([kept[name] for name in small])
                larger = mean([kept[name] for name in LARGER])
                loss = (larger - smaller) * 100
                estimates["small - larger", "open", reading] = loss
        questions = part.drop_duplicates("problem")["question"]
        for (number, model, reading), estimate in estimates.items():
            numbers = _numbers(estimate, questions, confidence)
            rows.append((number, model, *key, reading, *numbers))
    columns = ["number", "model", "dataset", "mode", "perturbation", "reading"]
    return pd.DataFrame(rows, columns=[*columns, *NUMBERS])


NUMBERS = ["value", "low", "high", "questions", "independent"]


def _numbers(
    estimate: Moved, questions: pd.Series, confidence: float
) -> tuple[float, ...]:
    """Returns the `NUMBERS` of an estimate: its value, the ends of its interval at `confidence`
    over the `questions` of its answers, and the numbers of these questions and of independent
    answers."""
    clusters, independent = question_counts(questions).values()
    ends = estimate.interval(clusters, confidence)
    return estimate.value, *ends, clusters, independent


CHANGED = {
    "language": ("javascript", "python"),
    "mode": ("direct", "cot"),
    "ignore": (False, True),
    "refactor": (False, True),
}
"""Settings that sections 4.2 and 4.3 compare, with the two values of each: an effect is that of the
second less that of the first."""


SCORE_CHANGES = {
    "points": lambda pairs: share(pairs["score"] - pairs["score_before"]),
    "% of vanilla": lambda pairs: share(pairs["score"], pairs["score_before"]),
}
"""Estimates of the change from vanilla scores, indexed by question, by their readings."""


def setting_effects(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the change in a perturbation's difference to vanilla from the first to the second
    value of a setting (`CHANGED`; sections 4.2 and 4.3), for each condition of `answers` asked with
    both. Intervals are over questions, which both values share. `rule` is the scoring rule.

    Columns: setting, the other columns of `CELL`, reading (points; % of vanilla), value, low, high,
    problems, questions, independent. For a change of the prompt (ignore, refactor), both sides have
    the same vanilla programs.
    """
    pairs = beside_vanilla(scores_by_problem(answers, rule))
    pairs = pairs[pairs["perturbation"] != "VAN"]
    rows = []
    for setting, values in CHANGED.items():
        by = [name for name in CELL if name != setting]
        for key, part in pairs.groupby(by, sort=False):
            first, second = (
                part[part[setting] == value].set_index("question") for value in values
            )
            if first.empty or second.empty:
                continue
            questions = part.drop_duplicates("problem")["question"]
            row = {"setting": setting} | dict(zip(by, key, strict=True))
            row["problems"] = len(questions)
            for reading, estimate in SCORE_CHANGES.items():
                effect = (estimate(second) - estimate(first)) * 100
                numbers = _numbers(effect, questions, confidence)
                row |= {"reading": reading} | dict(zip(NUMBERS, numbers, strict=True))
                rows.append(row.copy())
    columns = ["setting", *CELL, "reading", *NUMBERS]
    columns.insert(-2, "problems")
    return pd.DataFrame(rows, columns=columns)


def swept_models() -> pd.DataFrame:
    """Returns the models of Figure 4, a row for each model and kind of message (MCC, MPS): label
    (the paper's name), model (registry name), perturbation."""
    labels = [*published_differences()["label"].unique(), "QwQ-32B"]
    rows = itertools.product(labels, ["MCC", "MPS"])
    table = pd.DataFrame(rows, columns=["label", "perturbation"])
    table.insert(1, "model", table["label"].map(published_models("codecrash")))
    return table


def density_points(table: pd.DataFrame, *, show: str, relative: bool) -> pd.DataFrame:
    """Returns the points to draw from the result of `by_density`: model, panel, density, cell
    (values that select the answers), value, low, high. Values are tokens where `show` is `tokens`,
    else differences to vanilla, in % if `relative`, else in points."""
    columns = RELATIVE if relative else POINTS
    if show == "tokens":
        columns = ("tokens", "tokens_low", "tokens_high")
    panels = table["perturbation"] + ", " + named(table)["panel"]
    asked = table["perturbation"].where(table["density"] > 0, "VAN")
    axes = ["model", "panel", "density", "cell"]
    points = named(table.assign(perturbation=asked)).assign(panel=panels)
    return points[[*axes, *columns]].set_axis([*axes, "value", "low", "high"], axis=1)


def relative_difference(
    before: pd.Series, after: pd.Series, questions: pd.Series, confidence: float
) -> dict[str, float]:
    """Returns the difference of two paired means with intervals, in %: by `POINTS` after - before,
    by `RELATIVE` (after - before) / before (CodeCrash, section 3.1), which is nan where the mean
    before is 0.

    `before` and `after` hold one score (0 to 1) for each item, one item or more. The intervals at
    `confidence` (`paired_difference`, `ratio_of_shares`) treat the items of one cluster, in
    `questions`, as copies of each other; they are nan for one cluster. Both means are of the same
    items, so their common variation cancels.
    """
    first, second = before.mean(), after.mean()
    points = ratios = UNKNOWN
    if questions.nunique() > 1:
        points = paired_difference(after - before, questions, confidence)
        spread = before.std(ddof=0) * after.std(ddof=0)
        covariance = ((before - first) * (after - second)).mean()
        correlation = covariance / spread if spread else 0.0
        worth = effective_number(questions)
        ratios = ratio_of_shares(first, second, worth, correlation, confidence)
    ratio = second / first - 1 if first else math.nan
    numbers = (second - first, *points, ratio, *(end - 1 for end in ratios))
    names = (*POINTS, *RELATIVE)
    return dict(zip(names, (100 * number for number in numbers), strict=True))


INDEPENDENT = {
    "cruxeval": 800.0,
    "livecodebench": 479**2 / 2729,
    MERGE: (800 + 479) ** 2 / (800 + 2729),
}
"""Least number of independent answers behind the paper's shares, by `effective_number`: 84.1 for
LiveCodeBench, whose 479 samples come from 92 questions (the squared numbers of samples sum to
2,729), and 463.5 for both data sets."""
HEADLINE = ("PSC-ALL", "MCC", "MPS", "MHC")
"""Perturbations behind the abstract's averages."""
WEIGHTED, MERGED, ALIKE = (
    "relative losses, each problem alike",
    "relative loss of the Merge score",
    "relative losses, both data sets alike",
)
"""Names of the possible readings of the abstract's average: over problems, of all problems' score,
over data sets."""
PROVENANCES = {
    "leaderboard": "from the leaderboard alone",
    "read": "read from a picture",
}
"""Words for the sources of numbers that the paper's text lacks (`about` in the file of published
numbers says more)."""


def published_differences(task: str = "output") -> pd.DataFrame:
    """Returns the paper's differences to vanilla of 17 models, a row for each model, data set, mode
    and perturbation: from its published Pass@1 (`task` is `output`), or as read from its picture
    (`input`, CRUXEval alone).

    Columns: label, model (the registry's name), dataset, mode, perturbation, vanilla_pct,
    pass_at_1_pct, points, relative_pct, task, provenance (in words; the tables of the paper's text
    have lost their numbers). The Merge score weighs 800 problems of CRUXEval and 479 of
    LiveCodeBench.
    """
    if task == "input":
        artefact = "codecrash/input"
        cells = published_cells(artefact, "label", "column").assign(dataset="cruxeval")
        condition = cells["column"].str.rsplit(" ", n=1, expand=True)
        cells[["perturbation", "mode"]] = condition
    else:
        artefact = "codecrash/pass_at_1"
        cells = _with_merged(
            published_cells(artefact, "label", "mode", "dataset", "perturbation")
        )
    key = ["label", "dataset", "mode"]
    vanilla = cells[cells["perturbation"] == "VAN"].set_index(key)["value"]
    frame = cells[cells["perturbation"] != "VAN"].join(
        vanilla.rename("vanilla_pct"), on=key
    )
    frame = not_reasoning(frame).reset_index(drop=True)
    before, after = frame["vanilla_pct"], frame["value"]
    if task == "input":
        after = before * (1 + after / 100)
    provenance = (published_numbers(artefact) or {}).get("provenance", "")
    return frame[[*key, "perturbation", "vanilla_pct"]].assign(
        pass_at_1_pct=after,
        provenance=PROVENANCES.get(provenance, ""),
        model=frame["label"].map(published_models("codecrash")),
        task=task,
        points=after - before,
        relative_pct=100 * (after / before - 1),
    )


def not_reasoning(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of models without those of reasoning models, which the paper asked in one
    mode alone."""
    return cells[cells.groupby("label")["mode"].transform("nunique") > 1]


def _with_merged(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the published Pass@1, with a row of `MERGE` for each model, mode and perturbation;
    each model's modes follow each other."""
    axes = ["label", "mode", "perturbation"]
    counts = cells["dataset"].map(problem_counts())
    sums = cells.assign(value=counts * cells["value"], count=counts)
    merged = sums.groupby(axes, sort=False, as_index=False)[["value", "count"]].sum()
    merged = merged.assign(dataset=MERGE, value=merged["value"] / merged["count"])
    cells = pd.concat([cells, merged], ignore_index=True)
    order = cells.groupby(["label", "mode"], sort=False).ngroup()
    return cells.iloc[np.argsort(order, kind="stable")]


def problem_counts() -> dict[str, int]:
    """Returns the number of problems that the paper asks about in each data set, as a dict by data
    set."""
    return published_numbers("codecrash/problems") or {}


def as_the_paper_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns those rows of the table `rows` (answers or results) that are in the paper's main
    setting: Python programs, without a defence."""
    return undefended(rows[rows["language"] == "python"])


def average_losses(published: pd.DataFrame) -> pd.DataFrame:
    """Returns each model's loss to each perturbation over both data sets, by each reading of an
    average (weighted by problems, of all problems together, both data sets alike): label, mode,
    perturbation, reading, lost (in % of vanilla; nan where a data set is missing). `published`
    comes from `published_differences`. The paper prints no formula (version 2 weighted the
    perturbations)."""
    counts = problem_counts()
    key = ["label", "mode", "perturbation"]
    lost = -published.pivot(index=key, columns="dataset", values="relative_pct")
    lost = lost.reindex(columns=[*counts, MERGE])  # inputs are of one data set
    apart = lost[[*counts]]
    readings = {
        WEIGHTED: np.average(apart, axis=1, weights=[*counts.values()]),
        MERGED: lost[MERGE],
        ALIKE: apart.mean(axis=1, skipna=False),
    }
    wide = pd.DataFrame(readings, index=lost.index).reset_index()
    return wide.melt(key, var_name="reading", value_name="lost")


def headlines(published: pd.DataFrame) -> pd.DataFrame:
    """Returns the abstract's average degradation, in %, over 17 models and four perturbations, by
    each reading of an average (`average_losses`): mode, reading, degradation. `published` comes
    from `published_differences`."""
    losses = average_losses(published[published["perturbation"].isin(HEADLINE)])
    means = losses.groupby(["mode", "reading"], sort=False)["lost"].mean()
    return means.rename("degradation").reset_index()


def compared_tables(
    table: pd.DataFrame, published: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Returns, as a dict by name, the tables with which the ledger compares the paper's statements:
    `published` (published cells of the modes and perturbations asked here), `differences`
    (regenerated cells in the paper's setting) and `headline` (of `headlines`). Regenerated rows of
    `MERGE` are kept only with the paper's data sets. `table` comes from `differences`, `published`
    from `published_differences`."""
    asked = as_the_paper_asked(table)
    if set(asked["dataset"]) - {MERGE} != set(problem_counts()):
        # Of other problems, or of one data set alone.
        asked = asked[asked["dataset"] != MERGE]
    cells = published[
        published["mode"].isin(table["mode"])
        & published["perturbation"].isin(table["perturbation"])
    ]
    cells = cells.assign(
        dataset_name=cells["dataset"].map(NAMES),
        mode_name=cells["mode"].map(MODES),
        points=[round(value, 2) for value in cells["points"]],
        relative_pct=[round(value, 2) for value in cells["relative_pct"]],
        n=cells["dataset"].map(INDEPENDENT),
        free=[["modes", *free_of(name)] for name in cells["perturbation"]],
    )
    return {"published": cells, "differences": asked, "headline": headlines(published)}


def free_of(perturbation: str) -> list[str]:
    """Returns the names of the parameters in which a study may deviate from the paper's without
    effect on the cost of `perturbation`: problems, perturbations and, except for MHC, hints."""
    return ["problems", "perturbations"] + ["hints"] * (perturbation != "MHC")


def own_headlines(
    answers: pd.DataFrame, published: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the abstract's average degradation from `answers` collected here, by each reading of
    an average (`average_losses`), for each mode in which all of the paper's models answered on both
    data sets: mode, reading, degradation, low, high (%), questions, independent. Empty without such
    a mode.

    Intervals at `confidence` are over questions, which all models share. `published` comes from
    `published_differences`, `rule` is the scoring rule.
    """
    counts, names = problem_counts(), ["VAN", *HEADLINE]
    asked = as_the_paper_asked(answers[answers["model"].isin(published["model"])])
    asked = asked[asked["perturbation"].isin(names)]
    asked = asked.assign(question=asked["dataset"] + "/" + asked["question"])
    wanted = set(itertools.product(published["model"], counts, names))
    key = ["model", "dataset", "perturbation"]
    rows = []
    for mode, part in asked.groupby("mode"):
        cells = {
            cell: own.groupby("question")[f"value_{rule}"].sum()
            for cell, own in part.groupby(key)
        }
        if not wanted <= set(cells):
            continue
        questions = part.drop_duplicates(["dataset", "problem"])["question"]
        for reading, loss in _average_losses(cells, counts).items():
            rows.append((mode, reading, *_numbers(loss, questions, confidence)))
    columns = ["mode", "reading", "degradation", *NUMBERS[1:]]
    return pd.DataFrame(rows, columns=columns)


def _average_losses(
    cells: Mapping[tuple[str, str, str], pd.Series], counts: Mapping[str, int]
) -> dict[str, Moved]:
    """Returns the average loss in %, as a dict of `Moved` by reading of an average, from `cells`,
    the summed scores of each question by model, data set and perturbation, and `counts`, the
    numbers of problems by data set."""
    terms: dict[str, list[tuple[float, Moved]]] = {WEIGHTED: [], MERGED: [], ALIKE: []}
    problems = sum(counts.values())
    for model, name in sorted({(model, name) for model, _, name in cells}):
        if name == "VAN":
            continue
        after = [cells[model, dataset, name] for dataset in counts]
        before = [cells[model, dataset, "VAN"] for dataset in counts]
        terms[MERGED].append((1.0, share(pd.concat(after), pd.concat(before))))
        for count, *sides in zip(counts.values(), after, before, strict=True):
            kept = share(*sides)
            terms[WEIGHTED].append((count / problems, kept))
            terms[ALIKE].append((1 / len(counts), kept))
    losses = {}
    for reading, parts in terms.items():
        kept = total([share * weight for weight, share in parts])
        losses[reading] = 100 - kept * (100 / sum(weight for weight, _ in parts))
    return losses


LIKE = {"generated": "cruxeval", "contest": "livecodebench"}
"""Data set of the paper beside which the kit's own problems stand in figures."""


def counterparts(asked: Iterable[str], published: Iterable[str]) -> dict[str, str]:
    """Returns the published data set beside which each data set of `asked` stands, its own or that
    of the same kind (`LIKE`), without those that have none. All problems together stand beside all
    published ones, if both data sets have a counterpart."""
    datasets = set(published) - {MERGE}
    like = {name: LIKE.get(name, name) for name in asked}
    beside = {name: other for name, other in like.items() if other in datasets}
    if MERGE in like and len(datasets) > 1 and set(beside.values()) == datasets:
        beside[MERGE] = MERGE
    return beside


def published_points(
    published: pd.DataFrame, table: pd.DataFrame, *, relative: bool
) -> pd.DataFrame:
    """Returns the paper's models for the grey dots, in the panels of their mode and of the data set
    (`counterparts`): panel, condition, value (in % of vanilla if `relative`, else in points),
    beside (name of the published data set). `published` comes from `published_differences`, `table`
    from `differences`."""
    shown = as_the_paper_asked(named(table)).drop_duplicates(["dataset", *SETTING])
    beside = counterparts(shown["dataset"], published["dataset"])
    panels = shown.assign(dataset=shown["dataset"].map(beside))
    cells = published.merge(
        panels[["dataset", "mode", "panel"]].dropna(), on=["dataset", "mode"]
    )
    names = NAMES | {MERGE: "both data sets"}
    return pd.DataFrame(
        {
            "panel": cells["panel"],
            "condition": cells["perturbation"],
            "value": cells["relative_pct" if relative else "points"],
            "beside": cells["dataset"].map(names),
        }
    )


SAID: dict[str, dict[Any, str]] = {
    "language": {"javascript": "in JavaScript", "python": "in Python"},
    "ignore": {False: "without a request to ignore comments", True: "with it"},
    "refactor": {False: "on programs as they are", True: "on cleaned-up ones"},
    "mode": {"direct": "asked directly", "cot": "step by step"},
}
"""Words of titles for the two values of a setting."""


def headline(table: pd.DataFrame, *, relative: bool) -> str:
    """Returns the title of a figure of `table`, the result of `differences`: the mean loss by the
    values of the setting that varies (`SAID`), else the perturbations that cost most and least, in
    % of vanilla if `relative`, else in points; over all problems where data sets are several."""
    together = table[table["dataset"] == MERGE]
    rows = named(table if together.empty else together)
    rows = rows[~rows["perturbation"].isin(CONTROLS)]
    column, unit = ("relative_pct", "%") if relative else ("points", "points")
    for setting, words in SAID.items():
        both = rows[rows.groupby("perturbation")[setting].transform("nunique") == 2]
        losses = -both.groupby(setting)[column].mean().dropna()
        if len(losses) == 2:
            (first, one), (second, two) = words.items()
            least = f"{losses[second]:.0f} {unit} {two}"
            lost = f"{losses[first]:.0f} {unit} of Pass@1 on average {one}"
            return f"Perturbations cost {lost}, {least}"
    means = rows.groupby("condition", sort=False)[column].mean().dropna().sort_values()
    return most_and_least(means, "Pass@1 falls", f"{{:+.0f}} {unit}")


def density_headline(curves: pd.DataFrame, unit: str) -> str:
    """Returns the title of the figure of `curves`, from `density_points`: means over them at the
    smallest and the largest density, in `unit`; for tokens their growth."""
    means = curves.groupby("density")["value"].mean()
    many = f"{100 * means.index[-1]:.0f} %"
    if unit == "tokens":
        ends = f"{means.iloc[0]:,.0f} tokens on average to {means.iloc[-1]:,.0f}"
        return f"With messages at {many} of the places, answers go from {ends}"
    few = means.index[means.index > 0][0]
    ends = f"by {means[few]:+.0f} {unit} on average, at {many} by {means.iloc[-1]:+.0f}"
    return f"With messages at {100 * few:.0f} % of the places Pass@1 changes {ends}"
