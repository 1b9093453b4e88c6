"""CodeCrash: what becomes of single problems: verdicts that a perturbation turns, answers to be read, and candidates
that agree."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.papers.codecrash.results.conditions import CELL, MERGE, MODES, cells, scores_by_problem, told
from codestress.papers.codecrash.studies import fenced_program
from codestress.seeding import rng
from codestress.types import Response, Trials


def changed_verdicts(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: of the problems that all vanilla candidates get right, those that all perturbed candidates
    get wrong, and the other way round. Columns: CELL, broken, right_before, share, low, high, true (of these that were
    right before), mended, wrong_before."""
    rows = []
    for cell, part in _paired(answers, rule):
        right, wrong = part[part["before"] == 1], part[part["before"] == 0]
        broken, n = int((right["score"] == 0).sum()), len(right)
        low, high = wilson(broken, n, confidence)
        rows.append(
            cell
            | {"broken": broken, "right_before": n, "share": broken / n if n else math.nan, "low": low, "high": high}
            | {"true": math.nan if cell["refactor"] else _true_share(right)}
            | {"mended": int((wrong["score"] == 1).sum()), "wrong_before": len(wrong)}
        )
    return pd.DataFrame(rows)


def _true_share(right: pd.DataFrame) -> float:
    """Of problems that were right before: all candidates anew, but for a question that is the same. Not for programs
    that were cleaned up: they may be the same program then, which is answered as before."""
    missed = (1 - right["true"]) ** right["candidates"]
    return float(missed.where(right["status"] == "applied", 0 * missed).mean(skipna=False))


def _paired(answers: pd.DataFrame, rule: str) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each perturbed condition with the vanilla score of the same problem in `before`."""
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    keys = [name for name in [*CELL, "problem"] if name not in ("perturbation", "density")]
    plain = scores[scores["perturbation"] == "VAN"].rename(columns={"score": "before"})
    for cell, part in cells(scores[scores["perturbation"] != "VAN"]):
        yield cell, part.merge(plain[[*keys, "before"]], on=keys)


def cases(answers: pd.DataFrame, *, rule: str, per_condition: int, seed: int) -> pd.DataFrame:
    """Some problems that were right before and wrong after, drawn for each model, mode and perturbation.

    Columns: CELL, problem, key_before, key_after (of the first candidates), answer_before, answer_after.
    """
    first = answers[answers["sample"] == answers["sample"].min()].set_index([*CELL, "problem"])
    rows = []
    for cell, part in _paired(answers, rule):
        broken = list(part.loc[(part["before"] == 1) & (part["score"] == 0), "problem"])
        order = rng(seed, "cases", *map(str, cell.values())).permutation(len(broken))[:per_condition]
        vanilla = cell | {"perturbation": "VAN", "density": 0.0}
        for problem in (broken[int(i)] for i in sorted(order)):
            both = [first.loc[(*one.values(), problem)] for one in (vanilla, cell)]
            shown = [one[column] for column in ("key", f"detail_{rule}") for one in both]
            rows.append((*cell.values(), problem, *shown))
    columns = [*CELL, "problem", "key_before", "key_after", "answer_before", "answer_after"]
    return pd.DataFrame(rows, columns=columns)


def told_case(case: Any, trials: Trials, texts: Mapping[str, Response]) -> str:
    """A row of `cases` for people: what was changed in the program, and both answers."""

    def shown(perturbation: str, density: float) -> list[str]:
        wanted = {name: getattr(case, name) for name in CELL[1:]} | {"perturbation": perturbation, "density": density}
        of = [one for one in trials.items if one.problem == case.problem and wanted.items() <= one.factors.items()]
        return fenced_program(trials.render(of[0]).messages[-1].content).split("\n")

    def ending(key: str) -> str:
        return texts[key].text[-1500:] if key in texts else "(the request failed)"

    before, after = shown("VAN", 0.0), shown(case.perturbation, case.density)
    return "\n".join(
        [
            f"=== {case.model}, {case.dataset} {case.problem}, {MODES[case.mode]}, {case.perturbation}",
            *difflib.unified_diff(before, after, "vanilla", "perturbed", lineterm="", n=2),
            f"--- answer to the vanilla program\n{ending(case.key_before)}",
            f"--- answer to the perturbed program\n{ending(case.key_after)}\n",
        ]
    )


def describe_verdicts(table: pd.DataFrame) -> str:
    """The figure in words."""
    form = "{model}, {dataset}, {mode}, {perturbation}: {broken} of {right_before}"
    return told("Right before and wrong after the perturbation.", table, form)


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: the standard deviation of Pass@1 over candidates (in points, n - 1), and the share of
    problems whose candidates are all right or all wrong, with Wilson's interval (low, high), and what is true of it.

    The paper does not say which standard deviation it takes (appendix C).
    """
    rows = []
    for cell, part in cells(answers):
        verdicts = part.pivot_table(index="problem", columns="sample", values=f"value_{rule}").dropna()
        problems, candidates = verdicts.shape
        known = rule == "strict" and "chance" in part
        right = part.groupby("problem")["chance"].first()[verdicts.index] if known else pd.Series([math.nan])
        alike = right**candidates + (1 - right) ** candidates
        means = 100 * verdicts.mean()
        same = int((verdicts.nunique(axis=1) == 1).sum())
        low, high = wilson(same, problems, confidence)
        rows.append(
            cell
            | {"problems": problems, "candidates": candidates, "pass_at_1_pct": float(means.mean())}
            | {"deviation_points": float(means.std(ddof=1)), "same_verdict": same / problems if problems else math.nan}
            | {"low": low, "high": high, "true": alike.mean(skipna=False)}
        )
    return pd.DataFrame(rows)


def describe_stability(table: pd.DataFrame) -> str:
    """The figure in words."""
    spread = "standard deviation {deviation_points:.2f} points"
    form = "{model}, {dataset}, {mode}, {perturbation}: {same_verdict:.1%}, " + spread
    return told("Problems whose candidates are all right or all wrong.", table, form)
