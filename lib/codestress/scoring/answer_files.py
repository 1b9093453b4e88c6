"""Scores of answers that another program collected, by problem id;
`scoring.answer_layouts` reads such answers from files."""

import math
from collections import defaultdict
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

from .answer_fields import warning
from .answer_layouts import AnswerFile
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
"""Outcomes of answers that could not be judged. A file without any other outcome is an
error."""


@dataclass(frozen=True)
class Report:
    """Scores of a file of answers by problem id, one for each answer, and warnings. A
    problem without answers has one score for each expected answer."""

    file: AnswerFile
    scores: Mapping[str, Sequence[Score]]
    warnings: Sequence[str]
    """Warnings on missing, surplus or faulty entries, with their names."""

    @property
    def counts(self) -> dict[str, int]:
        """Dict from each outcome's name (`Outcome.code`) to its number of answers,
        zeros included. The numbers add up to the number of scores."""
        counts = dict.fromkeys([outcome.code for outcome in Outcome], 0)
        for score in chain(*self.scores.values()):
            counts[score.outcome.code] += 1
        return counts

    def pass_at(self, k: int) -> float | None:
        """Return pass@k, the chance that at least one of `k` answers to a problem is
        correct, by the unbiased estimate (Chen et al., 2021, section 2.1).

        The mean is over the problems that have `k` answers or more; None if no problem
        has. The report's `warnings` name problems with fewer answers than other
        problems.
        """
        estimates = []
        for scores in self.scores.values():
            if len(scores) >= k:
                correct = sum(score.value == 1 for score in scores)
                estimates.append(pass_at_k(len(scores), correct, k))
        return sum(estimates) / len(estimates) if estimates else None

    def as_json(self) -> dict[str, Any]:
        """Return the report as the dictionary that `codestress score --json` prints:
        pass@1 and pass@5, counts by outcome, warnings, and each problem's scores.

        A pass@k is None if no problem has that many answers.
        """
        problems = {}
        for name, scores in self.scores.items():
            problems[name] = list(map(_as_json, scores))
        return {
            "format": self.file.format,
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
    """Return the unbiased estimate of pass@k, the chance that one of `k` answers is
    correct: 1 - C(n - correct, k) / C(n, k).

    `n` is the number of answers, at least `k`; `correct` of them are correct.
    """
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def score_file(
    problems: ProblemFile,
    file: AnswerFile,
    task: Task,
    rule: Rule,
    executor: Executor | None,
) -> Report:
    """Return the report on the answers in `file` (from `read_answers`) to `problems`.

    Every problem is expected to have as many answers as the problem with the most. A
    problem with fewer answers is scored by the answers that it has, with a warning. A
    problem without answers, and None in place of an answer, count as `missing`; an
    invalid problem counts as `harness error`.

    `task` says whether outputs or inputs are predicted. `executor` runs programs, and
    may be None for outputs under the rule `strict`. Hidden thoughts are removed under
    both rules; fences and other formatting (`scoring.forms.alone`) under `strict` only.
    """
    expected = max([1, *map(len, file.answers.values())])
    # A failed request is one row, whatever the number of answers that it should have given.
    answered = {
        name: texts for name, texts in file.answers.items() if {*texts} - {None}
    }
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
    warnings = [*problems.faults.values(), *file.warnings]
    return Report(file, scores, warnings + _warnings(answered, scores, expected))


def _entry(problem: Problem, text: str | None, rule: Rule) -> Answer | Score:
    """Return the answer in a model's `text`, to be scored with `rule`, or a score if
    the text is None or has only hidden thoughts."""
    if text is None:
        return Score(Outcome.MISSING, 0.0, "no answer in the file")
    answer = without_thoughts(text)
    if not answer.strip() and split_thoughts(text).thoughts:
        return Score(Outcome.ONLY_REASONING, 0.0, "thoughts alone")
    return Answer(problem, alone(answer) if rule == "strict" else answer)


def _warnings(
    answered: Answers, scores: Mapping[str, Sequence[Score]], expected: int
) -> list[str]:
    """Return a warning for each kind of fault of the answers: ids that have no answers,
    are unknown, or have fewer than `expected`."""
    faults: dict[str, list[str]] = defaultdict(list)
    for name in {**scores, **answered}:
        if name not in answered:
            faults["no answers to"].append(name)
        elif name not in scores:
            faults["answers to unknown problems, not scored"].append(name)
        elif len(scores[name]) < expected:
            faults[f"fewer than {expected} answers, scored by those"].append(name)
    return list(map(warning, faults, faults.values()))


def check_matched(path: Path, report: Report) -> None:
    """Raise `NothingMatchedError` if no answer in `report` could be judged: an accuracy
    of 0 % would say that the model answered wrongly.

    The message quotes the first answer in the file, whose path is `path`.
    """
    counts = {reason: count for reason, count in report.counts.items() if count}
    if counts.keys() - NOT_JUDGED:
        return
    outcomes = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    answers = report.file.answers
    answer_id = next(iter(answers), "none")
    problem_id = next(iter(report.scores), "none")
    text = next(filter(None, chain(*answers.values())), "")
    raise NothingMatchedError(
        f"{path}: no answer could be judged ({outcomes}): compare the ids (of an answer "
        f"{answer_id!r}, of a problem {problem_id!r}), the warnings, and the first "
        f"answer, {text[:80]!r}, with the forms in docs/scoring.md"
    )
