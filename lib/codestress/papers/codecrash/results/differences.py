"""CodeCrash: Pass@1 and its differences to vanilla programs (Tables 1, 2, 5 and 7 to
17)."""

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
from codestress.mutate.perturbations.kinds import CONTROLS

from .conditions import (
    CELL,
    MERGE,
    SETTING,
    WORDS,
    cells,
    drawn_points,
    most,
    named,
    plain_vanilla,
    question_counts,
    scores_by_problem,
    undefended,
)

POINTS = ("points", "points_low", "points_high")
RELATIVE = ("relative_pct", "relative_low", "relative_high")
"""Columns of a difference to vanilla and of its interval: in percentage points
(`POINTS`), and in % of vanilla (`RELATIVE`)."""
TOKENS = ("average_tokens", "tokens_low", "tokens_high", "most_tokens")
"""Columns of a mean number of tokens, its interval, and the largest number."""
NUMBERS = ["value", "low", "high", "questions", "independent"]
"""Columns of an estimate, in the order of `estimate_row`."""
PAIRED = ["model", "dataset", "language", "task", "mode", "problem"]
"""Columns whose values pair a score with the score of the vanilla (unperturbed)
program."""


def paired_scores(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return the scores of all conditions except plain vanilla (unperturbed programs,
    no defence). The added column `score_before` holds the plain vanilla score of the
    same problem.

    The rows are those of `scores_by_problem`; problems without a vanilla score are left
    out. `rule` is the scoring rule.
    """
    scores = scores_by_problem(answers, rule)
    vanilla = plain_vanilla(scores)
    before = vanilla[[*PAIRED, "score"]]
    others = scores.drop(vanilla.index)
    return others.merge(before, on=PAIRED, suffixes=("", "_before"))


def required_pairs(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return the result of `paired_scores`. Raises `ParameterError` if it has no row."""
    pairs = paired_scores(answers, rule)
    if pairs.empty:
        asked = ", ".join(answers["perturbation"].unique())
        raise ParameterError(
            f"no problem was answered both as it is (VAN) and perturbed (answers: {asked}): ask more of them"
        )
    return pairs


def differences(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Return the differences to plain vanilla (unperturbed programs, no defence), a row
    for each other condition in `answers`. Each difference is between scores of the same
    problems. `rule` is the scoring rule. Intervals at `confidence` are over questions
    (clusters of problems), paired. Raises `ParameterError` if no answers can be paired.

    Columns: `CELL` (the condition); problems, questions, independent (numbers of
    problems, of clusters, and of independent answers by `effective_number`);
    vanilla_pct and pass_at_1_pct (before and after, 0 to 100); lost_pct (share of the
    correct vanilla answers that are no longer correct, in %); points, points_low,
    points_high; relative_pct, relative_low, relative_high; applied_problems (number of
    problems to which the perturbation was applied; the rest keep program and prompt,
    and lose nothing).
    """
    rows = []
    for row, part in cells(required_pairs(answers, rule)):
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


def difference_points(table: pd.DataFrame, numbers: Sequence[str]) -> pd.DataFrame:
    """Return the points to draw (`drawn_points`) from the columns `numbers` (`POINTS`
    or `RELATIVE`) of `table`, the result of `differences`. They are sorted by data set,
    then with rows without a defence first."""
    place, _ = pd.factorize(table["dataset"])
    placed = table.assign(place=place).sort_values(["place", "ignore", "refactor"])
    return drawn_points(placed, numbers)


def as_the_paper_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table `rows` (answers or results) that are in the paper's
    main setting: Python programs, without a defence."""
    return undefended(rows.query("language == 'python'"))


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Return means over the models in `table`, the result of `differences`, for each
    data set, setting, perturbation and density, like the last row of the paper's
    tables. Columns besides these: models (their number), points, relative_pct,
    lost_pct."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    means = {name: (name, "mean") for name in ("points", "relative_pct", "lost_pct")}
    groups = table.groupby(by, sort=False, as_index=False)
    return groups.agg(models=("model", "nunique"), **means)


def condition_means(
    answers: pd.DataFrame, tokens: str, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return Pass@1 and the mean number of tokens for each condition in `answers`,
    including plain vanilla. `tokens` names the column of `answers` with a number of
    tokens, `rule` is the scoring rule.

    Columns: `CELL` (the condition); n (answers), problems, questions, independent (see
    `differences`); pass_at_1_pct (0 to 100); average_tokens with its interval
    tokens_low, tokens_high (at `confidence`, over questions); most_tokens (nan if no
    number is known); the differences to plain vanilla in `POINTS` and `RELATIVE`.
    Differences are 0 for plain vanilla itself, and nan if no problem was asked in both
    conditions. Raises `ParameterError` if no answers can be paired.
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
    paired = differences(answers, rule=rule, confidence=confidence)
    table = pd.DataFrame(rows).join(paired.set_index(CELL)[numbers], on=CELL)
    table.loc[plain_vanilla(table).index, numbers] = 0.0
    return table


def estimate_row(
    estimate: Moved, pairs: pd.DataFrame, confidence: float
) -> dict[str, float]:
    """Return a dict for an `estimate` computed from the answers `pairs`. The keys are
    value, low, high (interval at `confidence` over questions, the clusters of
    problems), questions, independent (numbers of clusters and of independent answers)
    and problems (their number)."""
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
"""Settings that sections 4.2 and 4.3 compare, each with two values. An effect is the
result with the second value minus the result with the first."""
SCORE_CHANGES = {
    "points": lambda pairs: share(pairs["score"] - pairs["score_before"]),
    "% of vanilla": lambda pairs: share(pairs["score"], pairs["score_before"]),
}
"""Dict from the reading of "change" to the function that estimates the change from
vanilla scores. The function's argument has paired scores, indexed by question."""


def setting_effects(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return how a perturbation's difference to vanilla changes from the first to the
    second value of a setting in `CHANGED` (sections 4.2 and 4.3). There is a row for
    each condition of `answers` asked with both values, and each reading of "change".

    Columns: setting, the other columns of `CELL`, reading (percentage points, or % of
    vanilla), value, low, high, problems, questions, independent. For a change of the
    prompt (ignore, refactor), both values are compared with the same vanilla programs.
    Intervals at `confidence` are over questions (clusters of problems made from one
    contest question), which both values share; independent is their effective number. `rule` is the scoring rule.
    """
    pairs = paired_scores(answers, rule)
    pairs = pairs.query("perturbation != 'VAN'")
    rows = []
    for setting, values in CHANGED.items():
        by = [name for name in CELL if name != setting]
        for row, part in cells(pairs, by):
            if part[setting].nunique() < 2:
                continue
            row["setting"] = setting
            scores = part.set_index("question")
            first, second = (scores[scores[setting] == value] for value in values)
            for reading, estimate in SCORE_CHANGES.items():
                row["reading"] = reading
                effect = estimate(second) - estimate(first)
                rows.append(row | estimate_row(effect * 100, part, confidence))
    columns = ["setting", *CELL, "reading", *NUMBERS[:3], "problems", *NUMBERS[3:]]
    return pd.DataFrame(rows, columns=columns)


def relative_difference(pairs: pd.DataFrame, confidence: float) -> dict[str, float]:
    """Return the difference of two paired means with its intervals, as a dict. `POINTS`
    has after - before, in percentage points. `RELATIVE` has (after - before) / before,
    in % (CodeCrash, section 3.1), which is nan if the mean before is 0.

    `pairs` has one row or more, an item each, with scores from 0 to 1 in `score_before`
    and `score`. The intervals at `confidence` (`paired_difference`, `ratio_of_shares`)
    treat the items of one cluster, in `question`, as copies of each other; the
    intervals are nan for one cluster. The two means are of the same items, so their
    common variation cancels.
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
    """Return the title of a figure of `table`, the result of `differences`: the
    perturbation that costs most, in % of vanilla if `relative`, else in percentage
    points. Controls do not count.

    Costs are named separately for each defence, language or mode if these vary, and are
    over all problems if there are several data sets.
    """
    if MERGE in set(table["dataset"]):
        table = table.query("dataset == @MERGE")
    rows = named(table)
    rows = rows[~rows["perturbation"].isin(CONTROLS)]
    column = unit = "points"
    if relative:
        column = "relative_pct"
        unit = "%"
    names = rows["condition"]
    for factor in ("language", "mode"):
        if rows[factor].nunique() > 1 and not names.str.contains(",").any():
            names = names + ", " + rows[factor].map(WORDS[factor])
    losses = -rows.set_index(names)[column]
    return most(losses, "Pass@1 falls", f"{{:.0f}} {unit}")
