"""CodeCrash: results on single problems: verdicts that a perturbation turns, answers to read, and
agreement of candidates."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from codestress.fitting.proportions import clustered_share
from codestress.papers.codecrash.results.conditions import (
    CELL,
    MERGE,
    MODES,
    cells,
    most_and_least,
    require_pairs,
    scores_by_problem,
)
from codestress.papers.codecrash.results.differences import beside_vanilla
from codestress.papers.codecrash.studies import Questions
from codestress.scoring.forms import fenced_program
from codestress.seeding import rng
from codestress.types import Response

PLAIN = {"perturbation": "VAN", "density": 0.0, "ignore": False, "refactor": False}
"""Values of the condition of vanilla programs without a defence."""


def changed_verdicts(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns, for each perturbed condition in `answers`, the numbers of problems that all vanilla
    (unperturbed) candidates get right and all perturbed candidates get wrong, and the reverse.
    `rule` is the scoring rule. Raises `ParameterError` where no answers can be paired.

    Columns: `CELL` (the condition), broken (right before, wrong after), right_before, share (broken
    of right_before; nan without any), low, high (Wilson, at `confidence`, questions as clusters),
    mended (wrong before, right after), wrong_before.
    """
    pairs = _pairs(answers, rule)
    require_pairs(pairs, answers)
    rows = []
    for row, part in cells(pairs):
        right = part[part["score_before"] == 1]
        wrong = part[part["score_before"] == 0]
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


def _pairs(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns the scores of `answers` by problem (by `rule`) beside vanilla ones, of each data set
    by itself."""
    pairs = beside_vanilla(scores_by_problem(answers, rule))
    return pairs[pairs["dataset"] != MERGE]


def cases(
    answers: pd.DataFrame, *, rule: str, per_condition: int, seed: int
) -> pd.DataFrame:
    """Returns problems that all candidates in `answers` got right before a perturbation and wrong
    after it, drawn by `seed`, at most `per_condition` for each condition. `rule` is the scoring
    rule.

    Columns: `CELL` (the condition), problem, key_before, key_after (of the first candidates'
    responses), answer_before, answer_after. Empty where there is no such problem.
    """
    first = answers[answers["sample"] == answers["sample"].min()].set_index(
        [*CELL, "problem"]
    )
    rows = []
    for cell, part in cells(_pairs(answers, rule)):
        turned = (part["score_before"] == 1) & (part["score"] == 0)
        broken = part.loc[turned, "problem"]
        order = rng(seed, "cases", *map(str, cell.values())).permutation(len(broken))
        vanilla = cell | PLAIN
        for problem in broken.iloc[sorted(order[:per_condition])]:
            before = first.loc[(*vanilla.values(), problem)]
            after = first.loc[(*cell.values(), problem)]
            row = cell | {"problem": problem}
            row["key_before"], row["key_after"] = before["key"], after["key"]
            row["answer_before"] = before[f"detail_{rule}"]
            row["answer_after"] = after[f"detail_{rule}"]
            rows.append(row)
    shown = ["key_before", "key_after", "answer_before", "answer_after"]
    return pd.DataFrame(rows, columns=[*CELL, "problem", *shown])


def told_case(case: Any, given: Questions, texts: Mapping[str, Response]) -> str:
    """Returns a text to read about `case`, a row of `cases`: the changes to the program, and the
    ends of both responses. `given` has the study's parameters; `texts` its responses by key, without
    failed ones."""
    setting = {name: getattr(case, name) for name in CELL[1:]}

    def shown(**changed: Any) -> list[str]:
        wanted = (setting | changed).items()
        own = (trial for trial in given.trials() if trial.problem == case.problem)
        trial = next(trial for trial in own if wanted <= trial.factors.items())
        return fenced_program(given.render(trial).messages[-1].content).split("\n")

    def ending(key: str) -> str:
        return texts[key].text[-1500:] if key in texts else "(the request failed)"

    before, after = shown(perturbation="VAN", density=0.0), shown()
    return "\n".join(
        [
            f"=== {case.model}, {case.dataset} {case.problem}, {MODES[case.mode]}, {case.perturbation}",
            *difflib.unified_diff(
                before, after, "vanilla", "perturbed", lineterm="", n=2
            ),
            f"--- answer to the vanilla program\n{ending(case.key_before)}",
            f"--- answer to the perturbed program\n{ending(case.key_after)}\n",
        ]
    )


def verdict_headline(points: pd.DataFrame) -> str:
    """Returns the title of the figure of `points`, the points of `share_points` made of
    `changed_verdicts`: under which perturbations right answers turn wrong."""
    return _largest_mean(points, "Right answers turn wrong")


def _largest_mean(points: pd.DataFrame, verb: str) -> str:
    means = points.groupby("condition", sort=False)["value"].mean().dropna()
    return most_and_least(means.sort_values(ascending=False), verb, "{:.0f} %")


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Returns, for each condition in `answers`, the standard deviation of Pass@1 over candidates
    (answers to the same prompt), and the share of problems whose candidates are all right or all
    wrong. The paper does not say which standard deviation it takes (appendix C). `rule` is the
    scoring rule.

    Columns: `CELL` (the condition), problems, candidates, pass_at_1_pct (0 to 100),
    deviation_points (n - 1; nan for one candidate), same_verdict (the share), low, high (Wilson, at
    `confidence`, questions as clusters).
    """
    rows = []
    for row, part in cells(answers):
        verdicts = part.pivot_table(f"value_{rule}", "problem", "sample").dropna()
        means = 100 * verdicts.mean()
        same = verdicts.eq(verdicts.iloc[:, :1].squeeze(axis=1), axis=0).all(axis=1)
        questions = part.groupby("problem")["question"].first()[verdicts.index]
        share = clustered_share(same, questions, confidence)
        row["problems"], row["candidates"] = verdicts.shape
        row["pass_at_1_pct"] = means.mean()
        row["deviation_points"] = means.std()
        row["same_verdict"] = share.value
        row |= share.interval._asdict()
        rows.append(row)
    return pd.DataFrame(rows)


def stability_headline(points: pd.DataFrame) -> str:
    """Returns the title of the figure of `points`, the points of `share_points` made of
    `stability`: on which programs candidates agree."""
    return _largest_mean(points, "Candidates agree")
