"""CodeCrash: Pass@1 and its differences to vanilla programs (Tables 2, 3 and 5, Figure 3); results
by the density of misleading messages, and lengths of responses (Figure 4, Table 6); the published
numbers, and the paper's claims about them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

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
from codestress.report.published import (
    published_cells,
    published_models,
    published_numbers,
)
from codestress.types import Response

from ..studies import MESSAGES
from .conditions import (
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

POINTS = ("points", "points_low", "points_high")
RELATIVE = ("relative_pct", "relative_low", "relative_high")


PAIRED = ["model", "dataset", "language", "task", "mode", "problem"]
"""Columns that pair a score with that of the vanilla (unperturbed) program."""


def paired_scores(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns the rows of `scores_by_problem`, except those of plain vanilla (unperturbed programs,
    no defence), whose score of the same problem they get in the column `score_before`; problems
    without it are left out. `rule` is the scoring rule."""
    scores = scores_by_problem(answers, rule)
    vanilla = undefended(scores[scores["perturbation"] == "VAN"])
    before = vanilla[[*PAIRED, "score"]]
    others = scores.drop(vanilla.index)
    return others.merge(before, on=PAIRED, suffixes=("", "_before"))


def differences(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Returns a row for each condition in `answers` except plain vanilla, paired with plain vanilla
    on the problems of both: the result of `paired_differences`. `rule` is the scoring rule. Raises
    `ParameterError` where no answers can be paired."""
    pairs = paired_scores(answers, rule)
    require_pairs(pairs, answers)
    return paired_differences(pairs, confidence)


def paired_differences(pairs: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns a row for each condition of `pairs`, the result of `paired_scores`.

    Columns: `CELL` (the condition), problems, questions (clusters of problems), independent
    (answers, by `effective_number`), vanilla_pct and pass_at_1_pct (before and after, 0 to 100),
    lost_pct (the part of the correct answers before that is no longer correct), points, points_low,
    points_high, relative_pct, relative_low, relative_high, applied_problems (those that the
    perturbation was applied to; the others are asked the same question again and lose nothing).
    Intervals at `confidence` are over questions, paired.
    """
    rows = []
    for row, part in cells(pairs):
        before, after = part["score_before"], part["score"]
        row["problems"] = len(part)
        row |= question_counts(part["question"])
        row["vanilla_pct"] = 100 * before.mean()
        lost = (before * (1 - after)).mean()
        row["lost_pct"] = 100 * lost / before.mean() if before.any() else math.nan
        row["pass_at_1_pct"] = 100 * after.mean()
        row |= relative_difference(part, confidence)
        row["applied_problems"] = (part["status"] == "applied").sum()
        rows.append(row)
    return pd.DataFrame(rows)


def difference_points(table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """Returns the points to draw from `table`, the result of `differences`, data set by data set and
    first those without a defence: model, panel,
    condition, cell (values that select the answers), value, low, high (in % of vanilla if
    `relative`, else in points)."""
    placed = named(table).assign(place=pd.factorize(table["dataset"])[0])
    placed = placed.sort_values(["place", "ignore", "refactor"], kind="stable")
    axes = ["model", "panel", "condition", "cell"]
    return _drawn(placed, axes, RELATIVE if relative else POINTS)


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
    vanilla = answers["perturbation"] == "VAN"
    parts = [answers[~vanilla]]
    for name in MESSAGES:
        if name in set(answers["perturbation"]):
            parts.append(answers[vanilla].assign(perturbation=name))
    rows = []
    for row, part in cells(with_tokens(pd.concat(parts), texts)):
        tokens = clustered_mean(part["tokens"], part["question"], confidence=confidence)
        row["tokens"] = tokens.value
        row["tokens_low"], row["tokens_high"] = tokens.interval
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        row["pass_at_1_pct"] = 100 * scores.mean()
        rows.append(row)
    found = differences(answers, rule=rule, confidence=confidence)
    found = found.drop(columns="pass_at_1_pct")
    table = pd.DataFrame(rows).merge(found, on=CELL, how="left")
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
    score = f"value_{rule}"
    by = [*keys, "perturbation", "density"]
    means = answers.groupby(by)[[score, "tokens"]].mean().reset_index()
    vanilla = means[means["perturbation"] == "VAN"][[*keys, score, "tokens"]]
    highest = means[means["density"] == means["density"].max()]
    most = highest[highest["perturbation"].isin(MESSAGES)]
    pairs = most.merge(vanilla, on=keys, suffixes=("", "_before"))
    rows = []
    for key, part in pairs.groupby(["dataset", "mode", "perturbation"], sort=False):
        kept = {}
        estimates = []
        for model, own in part.set_index("question").groupby("model"):
            kept[model] = share(own[score], own[f"{score}_before"])
            longer = own["tokens"] - own["tokens_before"]
            estimates.append(("tokens", model, "", share(longer.dropna())))
        for reading, small in SMALL.items():
            if {*small, *LARGER} <= {*kept}:
                larger, smaller = (
                    mean([kept[name] for name in names]) for names in (LARGER, small)
                )
                loss = (larger - smaller) * 100
                estimates.append(("small - larger", "open", reading, loss))
        for number, model, reading, estimate in estimates:
            row = dict(zip(ORDERED, (number, model, *key, reading), strict=True))
            rows.append(row | estimate_row(estimate, part, confidence))
    return pd.DataFrame(rows, columns=[*ORDERED, *NUMBERS])


ORDERED = ["number", "model", "dataset", "mode", "perturbation", "reading"]
NUMBERS = ["value", "low", "high", "questions", "independent"]


def estimate_row(
    estimate: Moved, pairs: pd.DataFrame, confidence: float
) -> dict[str, float]:
    """Returns an estimate from `pairs` as a dict: `NUMBERS` (its value, the ends of its interval at
    `confidence` over questions, the numbers of questions and of independent answers) and
    problems, their number."""
    questions = pairs.drop_duplicates(["dataset", "problem"])["question"]
    row = question_counts(questions)
    row["problems"] = len(questions)
    row["value"] = estimate.value
    row["low"], row["high"] = estimate.interval(row["questions"], confidence)
    return row


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
    pairs = paired_scores(answers, rule)
    pairs = pairs[pairs["perturbation"] != "VAN"]
    rows = []
    for setting, values in CHANGED.items():
        by = [name for name in CELL if name != setting]
        for key, part in pairs.groupby(by, sort=False):
            if part[setting].nunique() < 2:
                continue
            row = {"setting": setting} | dict(zip(by, key, strict=True))
            scores = part.set_index("question")
            first, second = (scores[scores[setting] == value] for value in values)
            for reading, estimate in SCORE_CHANGES.items():
                effect = (estimate(second) - estimate(first)) * 100
                numbers = estimate_row(effect, part, confidence)
                rows.append(row | {"reading": reading} | numbers)
    columns = ["setting", *CELL, "reading", *NUMBERS[:3], "problems", *NUMBERS[3:]]
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
    points = named(table.assign(perturbation=asked)).assign(panel=panels)
    return _drawn(points, ["model", "panel", "density", "cell"], columns)


def _drawn(
    table: pd.DataFrame, axes: list[str], numbers: Sequence[str]
) -> pd.DataFrame:
    """Returns the columns `axes` of `table`, and those of `numbers` as value, low, high."""
    points = table[[*axes, *numbers]]
    return points.set_axis([*axes, "value", "low", "high"], axis=1)


def relative_difference(pairs: pd.DataFrame, confidence: float) -> dict[str, float]:
    """Returns the difference of two paired means with intervals, in %: by `POINTS` after - before,
    by `RELATIVE` (after - before) / before (CodeCrash, section 3.1), which is nan where the mean
    before is 0.

    `pairs` has one row or more, an item each, with scores from 0 to 1 in `score_before` and
    `score`. The intervals at `confidence` (`paired_difference`, `ratio_of_shares`) treat the items
    of one cluster, in `question`, as copies of each other; they are nan for one cluster. Both means
    are of the same items, so their common variation cancels.
    """
    scores, questions = pairs[["score_before", "score"]], pairs["question"]
    first, second = scores.mean()
    points = ratios = UNKNOWN
    if questions.nunique() > 1:
        change = pairs["score"] - pairs["score_before"]
        points = paired_difference(change, questions, confidence)
        correlation = scores.corr().fillna(0.0).iloc[0, 1]
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
        cells = _with_merged(pass_at_1())
    key = ["label", "dataset", "mode"]
    vanilla = cells[cells["perturbation"] == "VAN"].set_index(key)["value"]
    frame = not_reasoning(cells[cells["perturbation"] != "VAN"])
    frame = frame.join(vanilla.rename("vanilla_pct"), on=key)
    before, after = frame["vanilla_pct"], frame["value"]
    if task == "input":
        after = before * (1 + after / 100)
    source = (published_numbers(artefact) or {}).get("provenance", "")
    table = frame[[*key, "perturbation", "vanilla_pct"]].assign(
        pass_at_1_pct=after,
        provenance=PROVENANCES.get(source, ""),
        model=frame["label"].map(published_models("codecrash")),
        task=task,
        points=after - before,
        relative_pct=100 * (after / before - 1),
    )
    return table.reset_index(drop=True)


def pass_at_1() -> pd.DataFrame:
    """Returns the published Pass@1 (outputs): label, mode, dataset, perturbation, value (in %)."""
    axes = ("label", "mode", "dataset", "perturbation")
    return published_cells("codecrash/pass_at_1", *axes)


def not_reasoning(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of models without those of reasoning models, which the paper asked in one
    mode alone."""
    return cells[cells.groupby("label")["mode"].transform("nunique") > 1]


def _with_merged(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the published Pass@1, with a row of `MERGE` for each model, mode and perturbation;
    each model's modes follow each other."""
    axes = ["label", "mode", "perturbation"]
    counts = pd.Series(problem_counts())
    weights = cells["dataset"].map(counts / counts.sum())
    sums = cells.assign(value=weights * cells["value"], dataset=MERGE)
    merged = sums.groupby([*axes, "dataset"], sort=False, as_index=False)["value"].sum()
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
    key = ["label", "mode", "perturbation"]
    lost = -published.pivot(index=key, columns="dataset", values="relative_pct")
    lost = lost.reindex(
        columns=[*problem_counts(), MERGE]
    )  # inputs are of one data set
    readings = {}
    for reading, weights in reading_weights().items():
        readings[reading] = lost[weights.index] @ weights
    wide = pd.DataFrame(readings).reset_index()
    return wide.melt(key, var_name="reading", value_name="lost")


def reading_weights() -> dict[str, pd.Series]:
    """Returns the weight of each data set's loss in an average, by the reading of this word."""
    counts = pd.Series(problem_counts())
    return {
        WEIGHTED: counts / counts.sum(),
        MERGED: pd.Series({MERGE: 1.0}),
        ALIKE: pd.Series(1 / len(counts), counts.index),
    }


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
    cells = published[published["mode"].isin(table["mode"])]
    cells = cells[cells["perturbation"].isin(table["perturbation"])]
    cells = cells.assign(
        dataset_name=cells["dataset"].map(NAMES),
        mode_name=cells["mode"].map(MODES),
        n=cells["dataset"].map(INDEPENDENT),
        free=[["modes", *free_of(name)] for name in cells["perturbation"]],
    ).round({"points": 2, "relative_pct": 2})
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
    counts = problem_counts()
    paper = answers["model"].isin(published["model"]) & answers["dataset"].isin(counts)
    pairs = paired_scores(as_the_paper_asked(answers[paper]), rule)
    pairs = pairs[pairs["perturbation"].isin(HEADLINE) & (pairs["dataset"] != MERGE)]
    pairs["question"] = pairs["dataset"] + "/" + pairs["question"]
    wanted = set(itertools.product(published["model"], counts, HEADLINE))
    rows = []
    for mode, part in pairs.groupby("mode"):
        asked = part[["model", "dataset", "perturbation"]]
        if not wanted <= set(asked.itertuples(index=False, name=None)):
            continue
        for reading, weights in reading_weights().items():
            kept = []
            for _, own in part.set_index("question").groupby(["model", "perturbation"]):
                for dataset, weight in weights.items():
                    cell = own if dataset == MERGE else own[own["dataset"] == dataset]
                    one = share(cell["score"], cell["score_before"])
                    kept.append(one * weight)
            share_kept = total(kept) * (len(weights) * 100 / len(kept))
            numbers = estimate_row(100 - share_kept, part, confidence)
            rows.append({"mode": mode, "reading": reading} | numbers)
    table = pd.DataFrame(rows, columns=["mode", "reading", *NUMBERS])
    return table.rename(columns={"value": "degradation"})


LIKE = {"generated": "cruxeval", "contest": "livecodebench"}
"""Data set of the paper beside which the kit's own problems stand in figures."""


def in_panels(
    published: pd.DataFrame, drawn: pd.DataFrame, on: list[str]
) -> pd.DataFrame:
    """Returns the rows of `published` in the panels of `drawn` (its column `panel`) that agree with
    them in the columns `on`, with the panel and `beside`, the data set's name.

    Each data set of `drawn` stands beside the published one, its own or that of the same kind
    (`LIKE`); all problems together beside all published ones, if both data sets do.
    """
    own, theirs = set(drawn["dataset"]), set(published["dataset"]) - {MERGE}
    beside = {name: LIKE.get(name, name) for name in own - {MERGE}}
    if len(theirs) > 1 and theirs <= {*beside.values()}:
        beside[MERGE] = MERGE
    panels = drawn.assign(dataset=drawn["dataset"].map(beside))
    panels = panels[[*on, "panel"]].drop_duplicates()
    cells = published.merge(panels.dropna(), on=on)
    names = NAMES | {MERGE: "both data sets"}
    return cells.assign(beside=cells["dataset"].map(names))


def published_points(
    published: pd.DataFrame, table: pd.DataFrame, *, relative: bool
) -> pd.DataFrame:
    """Returns the paper's models for the grey dots, in the panels of their mode and of the data set
    (`in_panels`): panel, condition, value (in % of vanilla if `relative`, else in points), beside
    (name of the published data set). `published` comes from `published_differences`, `table` from
    `differences`."""
    drawn = as_the_paper_asked(named(table))
    cells = in_panels(published, drawn, ["dataset", "mode"])
    value = "relative_pct" if relative else "points"
    points = cells[["panel", "perturbation", value, "beside"]]
    return points.set_axis(["panel", "condition", "value", "beside"], axis=1)


def headline(table: pd.DataFrame, *, relative: bool) -> str:
    """Returns the title of a figure of `table`, the result of `differences`: the perturbations that
    cost most and least, in % of vanilla if `relative`, else in points; over all problems where data
    sets are several."""
    together = table[table["dataset"] == MERGE]
    rows = named(table if together.empty else together)
    rows = rows[~rows["perturbation"].isin(CONTROLS)]
    column, unit = ("relative_pct", "%") if relative else ("points", "points")
    losses = rows.set_index("condition")[column]
    form = f"{{:+.0f}} {unit}"
    return most_and_least(losses, "Pass@1 falls", form, ascending=True)


def density_headline(curves: pd.DataFrame, unit: str) -> str:
    """Returns the title of the figure of `curves`, from `density_points`: their mean at the largest
    density, in `unit`; of tokens also at the smallest."""
    means = curves.groupby("density")["value"].mean()
    many = f"With messages at {100 * means.index[-1]:.0f} % of the places"
    first, last = means.iloc[0], means.iloc[-1]
    if unit == "tokens":
        return f"{many}, answers go from {first:,.0f} tokens on average to {last:,.0f}"
    return f"{many} Pass@1 changes by {last:+.0f} {unit} on average"
