"""CodeCrash: single answers that a perturbation turned, to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.papers.codecrash.results.conditions import (
    CELL,
    MERGE,
    MODES,
    NAMES,
    SETTING,
    panel_name,
    scores_by_problem,
)
from codestress.papers.codecrash.results.variants import unified_diff
from codestress.papers.codecrash.studies import fenced_program
from codestress.seeding import rng
from codestress.types import Response, Trials


def changed_verdicts(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: of the problems that all vanilla candidates get right, those that all perturbed candidates
    get wrong, and the other way round. Columns: CELL, broken, right_before, share, low, high, mended, wrong_before."""
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    rows = []
    for group, part in _paired(scores):
        before_right, before_wrong = part["before"] == 1, part["before"] == 0
        broken = int((before_right & (part["score"] == 0)).sum())
        total = int(before_right.sum())
        low, high = wilson(broken, total, confidence)
        rows.append(
            group
            | {"broken": broken, "right_before": total, "share": broken / total if total else float("nan")}
            | {"low": low, "high": high, "mended": int((before_wrong & (part["score"] == 1)).sum())}
            | {"wrong_before": int(before_wrong.sum())}
        )
    return pd.DataFrame(rows)


def _paired(scores: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each perturbed condition with the vanilla score of the same problem in `before`."""
    keys = [name for name in CELL if name not in ("perturbation", "density")]
    plain = scores[scores["perturbation"] == "VAN"].rename(columns={"score": "before"})
    for group, part in scores[scores["perturbation"] != "VAN"].groupby(CELL, sort=False):
        cell = dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
        yield cell, part.merge(plain[[*keys, "problem", "before"]], on=[*keys, "problem"])


def cases(answers: pd.DataFrame, *, rule: str, per_condition: int, seed: int) -> pd.DataFrame:
    """Some problems that were right before and wrong after, drawn for each model, mode and perturbation.

    Columns: CELL, problem, key_before, key_after (of the first candidates), answer_before, answer_after.
    """
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    first = answers[answers["sample"] == answers["sample"].min()].set_index([*CELL, "problem"])
    rows = []
    for cell, part in _paired(scores):
        broken = list(part.loc[(part["before"] == 1) & (part["score"] == 0), "problem"])
        order = rng(seed, "cases", *map(str, cell.values())).permutation(len(broken))[:per_condition]
        for problem in (broken[int(i)] for i in sorted(order)):
            before = first.loc[(*(cell | {"perturbation": "VAN", "density": 0.0}).values(), problem)]
            after = first.loc[(*cell.values(), problem)]
            rows.append(
                cell
                | {"problem": problem, "key_before": before["key"], "key_after": after["key"]}
                | {"answer_before": before[f"detail_{rule}"], "answer_after": after[f"detail_{rule}"]}
            )
    columns = [*CELL, "problem", "key_before", "key_after", "answer_before", "answer_after"]
    return pd.DataFrame(rows, columns=columns)


def verdict_bars(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Bars of broken verdicts: a panel for each data set and mode."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    named = table.assign(panel=[panel_name(row, varying) for row in table.to_dict("records")])
    return {
        str(panel): part.rename(columns={"perturbation": "label", "model": "condition"})[
            ["label", "condition", "share", "low", "high"]
        ]
        for panel, part in named.groupby("panel", sort=False)
    }


def told_case(case: Any, trials: Trials, texts: Mapping[str, Response]) -> str:
    """A row of `cases` for people: what was changed in the program, and both answers."""
    shown: dict[str, str] = {}
    for trial in trials.items:
        of = trial.factors
        if trial.problem == case.problem and all(
            of[name] == getattr(case, name) for name in CELL if name not in ("model", "perturbation", "density")
        ):
            if of["perturbation"] == "VAN":
                shown["vanilla"] = fenced_program(trials.render(trial).messages[-1].content)
            if of["perturbation"] == case.perturbation and of["density"] == case.density:
                shown["perturbed"] = fenced_program(trials.render(trial).messages[-1].content)
    return "\n".join(
        [
            f"=== {case.model}, {case.dataset} {case.problem}, {MODES[case.mode]}, {case.perturbation}",
            unified_diff(shown["vanilla"], shown["perturbed"]),
            "--- answer to the vanilla program",
            texts[case.key_before].text[-1500:],
            "--- answer to the perturbed program",
            texts[case.key_after].text[-1500:],
            "",
        ]
    )


def describe_verdicts(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{row.model}, {NAMES[row.dataset]}, {MODES[row.mode]}, {row.perturbation}: {row.broken} of {row.right_before}"
        for row in table.itertuples()
    ]
    return "Right before and wrong after the perturbation. " + "; ".join(parts) + "."
