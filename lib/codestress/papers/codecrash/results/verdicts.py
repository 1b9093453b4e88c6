"""CodeCrash: results on single problems: verdicts that a perturbation changes, cases to
read, and agreement of candidates."""

import pandas as pd

from codestress.fitting.proportions import clustered_share
from codestress.seeding import rng

from .conditions import (
    CELL,
    MERGE,
    cells,
    plain_vanilla,
)
from .differences import PAIRED, required_pairs


def changed_verdicts(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return how many problems change from all candidates right to all wrong, or the
    reverse, for each perturbed condition in `answers`, in single data sets. Verdicts
    before the change are those on the vanilla (unperturbed) program.

    Columns: `CELL` (the condition); broken (right before, wrong after), right_before;
    share (broken / right_before, 0 to 1; nan if right_before is 0) with its interval
    low, high (Wilson's, at `confidence`, questions as clusters); mended (wrong before,
    right after), wrong_before. `rule` is the scoring rule. Raises `ParameterError` if
    no answers can be paired.
    """
    rows = []
    pairs = required_pairs(answers, rule)
    for row, part in cells(pairs[pairs["dataset"] != MERGE]):
        right = part.query("score_before == 1")
        wrong = part.query("score_before == 0")
        broken = right["score"] == 0
        share = clustered_share(broken, right["question"], confidence)
        row["broken"] = broken.sum()
        row["right_before"] = len(right)
        row["share"] = share.value
        row |= share.interval._asdict()
        row["mended"] = (wrong["score"] == 1).sum()
        row["wrong_before"] = len(wrong)
        rows.append(row)
    return pd.DataFrame(rows)


def cases(
    answers: pd.DataFrame, *, rule: str, per_condition: int, seed: int
) -> pd.DataFrame:
    """Return problems that all candidates in `answers` got right before a perturbation
    and wrong after it. At most `per_condition` are drawn with `seed` for each
    condition; the table is empty if there are none.

    Columns: `CELL` (the condition), problem, key_before, key_after (of the first
    candidates' responses), answer_before, answer_after. `rule` is the scoring rule.
    """
    asked = [*CELL, "problem"]
    detail = f"detail_{rule}"
    after = answers[[*asked, "key", detail]].drop_duplicates(asked)
    after = after.rename(columns={detail: "answer"})
    before = plain_vanilla(after)
    pairs = required_pairs(answers, rule)
    broken = pairs.query("score_before == 1 and score == 0")
    # This drops the rows of MERGE, because answers name their own data set.
    broken = broken.merge(before[[*PAIRED, "key", "answer"]], on=PAIRED)
    broken = broken.merge(after, on=asked, suffixes=("_before", "_after"))
    shown = ["key_before", "key_after", "answer_before", "answer_after"]
    parts = [broken[:0]]
    for cell, part in cells(broken):
        random = rng(seed, "cases", *map(str, cell.values()))
        drawn = random.permutation(len(part))[:per_condition]
        parts.append(part.iloc[sorted(drawn)])
    return pd.concat(parts)[[*asked, *shown]]


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Return how much the candidates (answers to the same prompt) agree, a row for each
    condition in `answers`. There are two measures: the standard deviation of Pass@1
    over candidates, and the share of problems whose candidates are all right or all
    wrong. The paper does not say which standard deviation it takes (appendix C).

    Columns: `CELL` (the condition), problems, candidates, pass_at_1_pct (0 to 100),
    deviation_points (in percentage points, with n - 1; nan for one candidate),
    same_verdict (the share, 0 to 1), low, high (Wilson's interval, at `confidence`,
    questions as clusters). `rule` is the scoring rule.
    """
    rows = []
    for row, part in cells(answers):
        verdicts = part.pivot_table(f"value_{rule}", "problem", "sample").dropna()
        means = 100 * verdicts.mean()
        questions = part.groupby("problem")["question"].first()[verdicts.index]
        same = verdicts.nunique(axis=1) == 1
        share = clustered_share(same, questions, confidence)
        row["problems"], row["candidates"] = verdicts.shape
        row["pass_at_1_pct"] = means.mean()
        row["deviation_points"] = means.std()
        row["same_verdict"] = share.value
        row |= share.interval._asdict()
        rows.append(row)
    return pd.DataFrame(rows)
