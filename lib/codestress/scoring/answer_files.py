"""Scores answers from elsewhere, by problem id; `scoring.answer_layouts` reads them from files."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from codestress.errors import NothingMatchedError
from codestress.problems.problem_files import ProblemFile
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Outcome, Score, Task

from .forms import alone, split_thoughts, without_thoughts
from .predictions import Answer, Rule, score_answers

Answers = Mapping[str, Sequence[str | None]]
"""Texts by problem id; None marks a missing answer."""
NOT_JUDGED = {
    "missing",
    "unparsable",
    "syntax error",
    "only reasoning",
    "harness error",
}
"""Outcomes of answers that were not judged; a file that has no others is an error."""


@dataclass(frozen=True)
class Report:
    """Scores of a file of answers, by problem id, one for each answer, and warnings; a problem
    without answers has one score for each answer that was expected."""

    scores: Mapping[str, Sequence[Score]]
    warnings: Sequence[str]
    """Missing, surplus or faulty entries, by name."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of answers of each outcome by the outcome's name (`Outcome.code`), zeros included;
        the numbers add up to the number of scores."""
        scores = chain(*self.scores.values())
        counts = Counter(score.outcome for score in scores)
        return {outcome.code: counts[outcome] for outcome in Outcome}

    def pass_at(self, k: int) -> float | None:
        """Chance that at least one of `k` answers to a problem is correct, by the unbiased estimate
        (Chen et al., 2021, section 2.1).

        The mean is over the problems that have `k` answers or more; None where none has. The
        report's `warnings` name problems with fewer answers than others.
        """
        estimates = []
        for scores in self.scores.values():
            if len(scores) >= k:
                right = sum(score.value == 1 for score in scores)
                estimates.append(pass_at_k(len(scores), right, k))
        return sum(estimates) / len(estimates) if estimates else None

    def as_json(self) -> dict[str, Any]:
        """Return the report as the dictionary that `codestress score --json` prints: pass@1 and
        pass@5 (None where no problem has that many answers), counts by outcome, warnings, and each
        problem's scores."""
        problems = {}
        for name, scores in self.scores.items():
            problems[name] = list(map(_as_json, scores))
        return {
            "pass@1": self.pass_at(1),
            "pass@5": self.pass_at(5),
            "counts": self.counts,
            "warnings": list(self.warnings),
            "problems": problems,
        }


def _as_json(score: Score) -> dict[str, Any]:
    return {
        "right": score.value == 1,
        "reason": score.outcome.code,
        "detail": score.detail,
        "unresolved": score.unresolved,
    }


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the unbiased estimate of pass@k, the chance that one of `k` answers is correct, from
    `n` answers, at least `k`, of which `right` are correct: 1 - C(n - right, k) / C(n, k)."""
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def score_file(
    problems: ProblemFile,
    answers: Answers,
    *,
    task: Task,
    rule: Rule,
    executor: Executor | None,
    unread: Mapping[str, Sequence[str]] | None = None,
) -> Report:
    """Score as many answers to each problem as any problem has; `answers` are lists of texts by
    problem id (`read_answers`), whose faulty rows, `unread`, are named too.

    `task` says whether outputs or inputs are predicted; `executor` runs programs, and may be None
    for outputs under the rule `strict`. A problem without answers, and None in the place of an
    answer, count as `missing`; answers to a faulty problem as `harness error`. A problem with fewer
    answers is scored by those. Hidden thoughts are removed under both rules; fences and other
    wrappings (`scoring.forms.alone`) under `strict`.
    """
    asked = max(map(len, answers.values()), default=1) or 1
    # A request that failed is one row, of however many answers it should have given.
    answered = {name: texts for name, texts in answers.items() if {*texts} - {None}}
    entries: list[tuple[str, Answer | Score]] = []
    for problem in problems.problems:
        for text in answered.get(problem.id) or [None] * asked:
            entries.append((problem.id, _given(problem, text, rule)))
    given = [entry for _, entry in entries if isinstance(entry, Answer)]
    judged = iter(score_answers(given, task, rule, executor))
    scores: dict[str, list[Score]] = {}
    for name, entry in entries:
        score = next(judged) if isinstance(entry, Answer) else entry
        scores.setdefault(name, []).append(score)
    for name, fault in problems.faults.items():
        scores[name] = [Score(Outcome.HARNESS_ERROR, 0.0, fault)] * asked
    return Report(scores, _warnings(problems, answered, asked, unread or {}))


def _given(problem: Problem, text: str | None, rule: Rule) -> Answer | Score:
    """Return the answer in a model's `text`, to be judged by `rule`; without one its score."""
    if text is None:
        return Score(Outcome.MISSING, 0.0, "no answer in the file")
    answer = without_thoughts(text)
    if not answer.strip() and split_thoughts(text).thoughts:
        return Score(Outcome.ONLY_REASONING, 0.0, "thoughts alone")
    return Answer(problem, alone(answer) if rule == "strict" else answer)


def _warnings(
    problems: ProblemFile,
    answers: Answers,
    asked: int,
    unread: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return a warning for each faulty problem, and for each fault of the answers: rows that could
    not be read (`unread`), and ids that are unknown, or have no answers or fewer than `asked`."""
    known = [problem.id for problem in problems.problems]
    every = dict.fromkeys([*known, *problems.faults])
    named = dict(unread)
    named["no answers to"] = [name for name in every if name not in answers]
    unknown = [name for name in answers if name not in every]
    named["answers to unknown problems, not scored"] = unknown
    given = [name for name in known if name in answers]
    fewer = [name for name in given if len(answers[name]) < asked]
    named[f"fewer than {asked} answers, judged by those"] = fewer
    warnings = list(problems.faults.values())
    warnings += [_named(fault, names) for fault, names in named.items() if names]
    return warnings


def _named(fault: str, names: Sequence[str]) -> str:
    """Return a warning that the rows `names` have a `fault`; of more than five the first five."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{fault}: {', '.join(names[:5])}{more} ({len(names)} in all)"


def check_matched(path: Path, answers: Answers, report: Report) -> None:
    """Raise `NothingMatchedError` when `report`, on the `answers` in the file at `path`, has no
    answer that could be judged: a share of 0 % would say that the model answered wrongly."""
    counts = {reason: count for reason, count in report.counts.items() if count}
    if counts.keys() - NOT_JUDGED:
        return
    outcomes = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    given = next(iter(answers), "none")
    known = next(iter(report.scores), "none")
    text = next(filter(None, chain(*answers.values())), "")
    remedy = (
        f"compare the ids (first {given!r}, of problems {known!r}), the warnings, and the first "
        f"answer, {text[:80]!r}, with the forms in docs/scoring.md"
    )
    raise NothingMatchedError(
        f"{path}: no answer could be judged ({outcomes}): {remedy}"
    )
