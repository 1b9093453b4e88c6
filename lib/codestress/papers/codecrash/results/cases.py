"""CodeCrash: single answers that a perturbation turned, to be read."""

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
    scores = scores_by_problem(answers, rule)
    scores = scores[scores["dataset"] != MERGE]
    rows = []
    for cell, part in _paired(scores):
        right, wrong = part[part["before"] == 1], part[part["before"] == 0]
        broken = int((right["score"] == 0).sum())
        low, high = wilson(broken, len(right), confidence)
        rows.append(
            cell
            | {
                "broken": broken,
                "right_before": len(right),
                "share": broken / len(right) if len(right) else math.nan,
            }
            | {"low": low, "high": high, "true": math.nan if cell["refactor"] else _true_share(right)}
            | {"mended": int((wrong["score"] == 1).sum()), "wrong_before": len(wrong)}
        )
    return pd.DataFrame(rows)


def _true_share(right: pd.DataFrame) -> float:
    """Of problems that were right before: all candidates anew, but for a question that is the same. Not for programs
    that were cleaned up: they may be the same program then, which is answered as before."""
    missed = (1 - right["true"]) ** right["candidates"]
    return float(missed.where(right["status"] == "applied", 0 * missed).mean(skipna=False))


def _paired(scores: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each perturbed condition with the vanilla score of the same problem in `before`."""
    keys = [name for name in CELL if name not in ("perturbation", "density")]
    plain = scores[scores["perturbation"] == "VAN"].rename(columns={"score": "before"})
    for cell, part in cells(scores[scores["perturbation"] != "VAN"]):
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


def told_case(case: Any, trials: Trials, texts: Mapping[str, Response]) -> str:
    """A row of `cases` for people: what was changed in the program, and both answers."""

    def shown(perturbation: str, density: float) -> list[str]:
        wanted = {name: getattr(case, name) for name in CELL[1:]} | {"perturbation": perturbation, "density": density}
        found = next(
            trial
            for trial in trials.items
            if trial.problem == case.problem and all(trial.factors[name] == value for name, value in wanted.items())
        )
        return fenced_program(trials.render(found).messages[-1].content).split("\n")

    before, after = shown("VAN", 0.0), shown(case.perturbation, case.density)
    return "\n".join(
        [
            f"=== {case.model}, {case.dataset} {case.problem}, {MODES[case.mode]}, {case.perturbation}",
            *difflib.unified_diff(before, after, "vanilla", "perturbed", lineterm="", n=2),
            "--- answer to the vanilla program",
            _ending(texts.get(case.key_before)),
            "--- answer to the perturbed program",
            _ending(texts.get(case.key_after)),
            "",
        ]
    )


def _ending(response: Response | None) -> str:
    return response.text[-1500:] if response else "(the request failed)"


def describe_verdicts(table: pd.DataFrame) -> str:
    """The figure in words."""
    form = "{model}, {dataset}, {mode}, {perturbation}: {broken} of {right_before}"
    return told("Right before and wrong after the perturbation.", table, form)
