"""CodeCrash: Pass@1 and its differences to vanilla programs (Tables 1, 2, 5 and 7 to 17)."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from codestress.errors import ParameterError
from codestress.fitting.influence import Moved, share
from codestress.fitting.proportions import (
    UNKNOWN,
    clustered_mean,
    effective_number,
    paired_difference,
    ratio_of_shares,
)
from codestress.mutate.perturbations.variants import CONTROLS

from .conditions import (
    CELL,
    MERGE,
    SETTING,
    WORDS,
    cells,
    most,
    named,
    plain_vanilla,
    question_counts,
    scores_by_problem,
    undefended,
)

POINTS = ("points", "points_low", "points_high")
RELATIVE = ("relative_pct", "relative_low", "relative_high")
"""Columns of a difference and its interval: in points, and in % of vanilla."""
TOKENS = ("average_tokens", "tokens_low", "tokens_high", "most_tokens")
"""Columns of a mean number of tokens, its interval, and the largest number."""
NUMBERS = ["value", "low", "high", "questions", "independent"]
"""Columns of an estimate (`estimate_row`)."""
PAIRED = ["model", "dataset", "language", "task", "mode", "problem"]
"""Columns that pair a score with that of the vanilla (unperturbed) program."""


def paired_scores(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns the rows of `scores_by_problem`, except those of plain vanilla (unperturbed programs,
    no defence), whose score of the same problem they get in the column `score_before`; problems
    without it are left out. `rule` is the scoring rule."""
    scores = scores_by_problem(answers, rule)
    vanilla = plain_vanilla(scores)
    before = vanilla[[*PAIRED, "score"]]
    others = scores.drop(vanilla.index)
    return others.merge(before, on=PAIRED, suffixes=("", "_before"))


def differences(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Returns a row for each condition in `answers` except plain vanilla, paired with plain vanilla
    on the problems of both: the result of `paired_differences`. `rule` is the scoring rule. Raises
    `ParameterError` where no answers can be paired."""
    return paired_differences(required_pairs(answers, rule), confidence)


def required_pairs(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns the result of `paired_scores`; raises `ParameterError` where it has no row."""
    pairs = paired_scores(answers, rule)
    if pairs.empty:
        asked = ", ".join(answers["perturbation"].unique())
        raise ParameterError(
            f"no problem was answered both as it is (VAN) and perturbed (answers: {asked}): ask more of them"
        )
    return pairs


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
        before = part["score_before"]
        after = part["score"]
        row["problems"] = len(part)
        row |= question_counts(part["question"])
        row["vanilla_pct"] = 100 * before.mean()
        row["lost_pct"] = 100 * share(before * (1 - after), before).value
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
    placed = named(table)
    placed["place"], _ = pd.factorize(table["dataset"])
    placed = placed.sort_values(["place", "ignore", "refactor"], kind="stable")
    return drawn_columns(placed, "condition", RELATIVE if relative else POINTS)


def as_the_paper_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns those rows of the table `rows` (answers or results) that are in the paper's main
    setting: Python programs, without a defence."""
    return undefended(rows.query("language == 'python'"))


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Returns means over models of `table`, the result of `differences`, for each data set,
    setting, perturbation and density, like the last row of the paper's tables: models (their
    number), points, relative_pct, lost_pct."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    means = {name: (name, "mean") for name in ("points", "relative_pct", "lost_pct")}
    groups = table.groupby(by, sort=False, as_index=False)
    return groups.agg(models=("model", "nunique"), **means)


def condition_means(
    answers: pd.DataFrame, tokens: str, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns a row for each condition in `answers`, plain vanilla too. `tokens` names their column
    with a number of tokens, `rule` is the scoring rule.

    Columns: `CELL` (the condition), n (answers), problems, questions, independent, pass_at_1_pct (0
    to 100), average_tokens with its interval at `confidence` over questions (tokens_low,
    tokens_high), most_tokens, and the differences to plain vanilla in `POINTS` and `RELATIVE` (0
    for itself, nan without a problem of both).
    """
    rows = []
    for row, part in cells(answers):
        known = part.dropna(subset=tokens)
        spent = known[tokens]
        average = clustered_mean(spent, known["question"], confidence=confidence)
        row["n"] = len(part)
        row["problems"] = part["problem"].nunique()
        row |= question_counts(part["question"])
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        row["pass_at_1_pct"] = 100 * scores.mean()
        row["average_tokens"] = average.value
        row["tokens_low"], row["tokens_high"] = average.interval
        row["most_tokens"] = int(spent.max()) if len(known) else math.nan
        rows.append(row)
    numbers = [*POINTS, *RELATIVE]
    paired = paired_differences(paired_scores(answers, rule), confidence)
    paired = paired.reindex(columns=[*CELL, *numbers]).set_index(CELL)
    table = pd.DataFrame(rows).join(paired, on=CELL)
    table.loc[plain_vanilla(table).index, numbers] = 0.0
    return table


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
    pairs = pairs.query("perturbation != 'VAN'")
    rows = []
    for setting, (before, after) in CHANGED.items():
        by = [name for name in CELL if name != setting]
        for row, part in cells(pairs, by):
            if part[setting].nunique() < 2:
                continue
            row["setting"] = setting
            scores = part.set_index("question")
            first = scores[scores[setting] == before]
            second = scores[scores[setting] == after]
            for reading, estimate in SCORE_CHANGES.items():
                row["reading"] = reading
                effect = estimate(second) - estimate(first)
                rows.append(row | estimate_row(effect * 100, part, confidence))
    columns = ["setting", *CELL, "reading", *NUMBERS[:3], "problems", *NUMBERS[3:]]
    return pd.DataFrame(rows, columns=columns)


def drawn_columns(
    table: pd.DataFrame, axis: str, numbers: Sequence[str]
) -> pd.DataFrame:
    """Returns the columns model, panel, `axis` and cell of `table`, and those of `numbers` as value,
    low, high and, of a fourth, hollow."""
    names = ["model", "panel", axis, "cell"]
    ends = ["value", "low", "high", "hollow"][: len(numbers)]
    return table[[*names, *numbers]].set_axis([*names, *ends], axis=1)


def relative_difference(pairs: pd.DataFrame, confidence: float) -> dict[str, float]:
    """Returns the difference of two paired means with intervals, in %: by `POINTS` after - before,
    by `RELATIVE` (after - before) / before (CodeCrash, section 3.1), which is nan where the mean
    before is 0.

    `pairs` has one row or more, an item each, with scores from 0 to 1 in `score_before` and
    `score`. The intervals at `confidence` (`paired_difference`, `ratio_of_shares`) treat the items
    of one cluster, in `question`, as copies of each other; they are nan for one cluster. Both means
    are of the same items, so their common variation cancels.
    """
    scores = pairs[["score_before", "score"]]
    questions = pairs["question"]
    first, second = scores.mean()
    points = ratios = UNKNOWN
    if questions.nunique() > 1:
        change = pairs["score"] - pairs["score_before"]
        points = paired_difference(change, questions, confidence)
        correlation = scores.corr().fillna(0.0).iloc[0, 1]
        worth = effective_number(questions)
        ratios = ratio_of_shares(first, second, worth, correlation, confidence)
    ratio = second / first if first else math.nan
    relative = np.array([ratio, *ratios]) - 1
    numbers = 100 * np.array([second - first, *points, *relative])
    return dict(zip((*POINTS, *RELATIVE), numbers, strict=True))


def headline(table: pd.DataFrame, *, relative: bool) -> str:
    """Returns the title of a figure of `table`, the result of `differences`: the perturbation that
    costs most, in % of vanilla if `relative`, else in points, by defence, language or mode where
    they differ; over all problems where data sets are several."""
    if MERGE in set(table["dataset"]):
        table = table[table["dataset"] == MERGE]
    rows = named(table)
    rows = rows[~rows["perturbation"].isin(CONTROLS)]
    column = unit = "points"
    if relative:
        column, unit = "relative_pct", "%"
    names = rows["condition"]
    for factor in ("language", "mode"):
        if rows[factor].nunique() > 1 and not names.str.contains(",").any():
            names = names + ", " + rows[factor].map(WORDS[factor])
    losses = -rows.set_index(names)[column]
    return most(losses, "Pass@1 falls", f"{{:.0f}} {unit}")
