"""Scores answers from elsewhere, by problem id; `scoring.answer_layouts` reads them from files."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from codestress.errors import NothingMatchedError
from codestress.problems.problem_files import ProblemFile
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Outcome, Score, Task

from .answer_fields import warning
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
"""Outcomes of answers that could not be judged; a file that has no other outcomes is an error."""


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
        counts = Counter(score.outcome for score in chain(*self.scores.values()))
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
                correct = sum(score.value == 1 for score in scores)
                estimates.append(pass_at_k(len(scores), correct, k))
        return sum(estimates) / len(estimates) if estimates else None

    def as_json(self) -> dict[str, Any]:
        """Returns the report as the dictionary that `codestress score --json` prints: pass@1 and
        pass@5 (None where no problem has that many answers), counts by outcome, warnings, and each
        problem's scores."""
        problems = {
            name: list(map(_as_json, self.scores[name])) for name in self.scores
        }
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


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Returns the unbiased estimate of pass@k, the chance that one of `k` answers is correct, from
    `n` answers, at least `k`, of which `correct` are correct: 1 - C(n - correct, k) / C(n, k)."""
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def score_file(
    problems: ProblemFile,
    answers: Answers,
    *,
    task: Task,
    rule: Rule,
    executor: Executor | None,
    unread: Sequence[str] = (),
) -> Report:
    """Scores as many answers to each problem as any problem has; `answers` are lists of texts by
    problem id (`read_answers`); the warnings on their file, `unread`, become the report's.

    `task` says whether outputs or inputs are predicted; `executor` runs programs, and may be None
    for outputs under the rule `strict`. A problem without answers, and None in the place of an
    answer, count as `missing`; answers to a faulty problem as `harness error`. A problem with fewer
    answers is scored by those. Hidden thoughts are removed under both rules; fences and other
    wrappings (`scoring.forms.alone`) under `strict`.
    """
    expected = max([1, *map(len, answers.values())])
    # A failed request is one row, whatever the number of answers that it should have given.
    answered = {name: texts for name, texts in answers.items() if {*texts} - {None}}
    entries: list[tuple[str, Answer | Score]] = []
    for problem in problems.problems:
        for text in answered.get(problem.id) or [None] * expected:
            entries.append((problem.id, _entry(problem, text, rule)))
    unscored = [entry for _, entry in entries if isinstance(entry, Answer)]
    results = iter(score_answers(unscored, task, rule, executor))
    scores: dict[str, list[Score]] = defaultdict(list)
    for name, entry in entries:
        scores[name].append(next(results) if isinstance(entry, Answer) else entry)
    for name, fault in problems.faults.items():
        scores[name] = [Score(Outcome.HARNESS_ERROR, 0.0, fault)] * expected
    warnings = [*problems.faults.values(), *unread]
    return Report(scores, [*warnings, *_warnings(problems, answered, expected)])


def _entry(problem: Problem, text: str | None, rule: Rule) -> Answer | Score:
    """Returns the answer in a model's `text`, to be scored by `rule`; a score where the text is
    None or has no answer."""
    if text is None:
        return Score(Outcome.MISSING, 0.0, "no answer in the file")
    answer = without_thoughts(text)
    if not answer.strip() and split_thoughts(text).thoughts:
        return Score(Outcome.ONLY_REASONING, 0.0, "thoughts alone")
    return Answer(problem, alone(answer) if rule == "strict" else answer)


def _warnings(problems: ProblemFile, answers: Answers, expected: int) -> Iterator[str]:
    """Yields a warning for each fault of the answers: ids that are unknown, or have no answers or
    fewer than `expected`."""
    known = [problem.id for problem in problems.problems]
    every = dict.fromkeys([*known, *problems.faults])
    named = {
        "no answers to": [name for name in every if name not in answers],
        "answers to unknown problems, not scored": [
            name for name in answers if name not in every
        ],
        f"fewer than {expected} answers, scored by those": [
            name for name in known if 0 < len(answers.get(name, ())) < expected
        ],
    }
    for fault, names in named.items():
        if names:
            yield warning(fault, names)


def check_matched(path: Path, answers: Answers, report: Report) -> None:
    """Raises `NothingMatchedError` when `report`, on the `answers` in the file at `path`, has no
    answer that could be judged: an accuracy of 0 % would say that the model answered wrongly."""
    counts = {reason: count for reason, count in report.counts.items() if count}
    if counts.keys() - NOT_JUDGED:
        return
    outcomes = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    answer_id = next(iter(answers), "none")
    problem_id = next(iter(report.scores), "none")
    text = next(filter(None, chain(*answers.values())), "")
    remedy = (
        f"compare the ids (of an answer {answer_id!r}, of a problem {problem_id!r}), the "
        f"warnings, and the first answer, {text[:80]!r}, with the forms in docs/scoring.md"
    )
    raise NothingMatchedError(
        f"{path}: no answer could be judged ({outcomes}): {remedy}"
    )
