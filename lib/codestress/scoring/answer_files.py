"""Scores answers from elsewhere, by problem id; `scoring.answer_layouts` reads them from files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codestress.errors import NothingMatchedError
from codestress.problems.problem_files import ProblemFile
from codestress.sandbox.executor import Executor
from codestress.scoring.forms import alone, without_thoughts
from codestress.scoring.predictions import Answer, Rule, score_answers
from codestress.types import Outcome, Score, Task

NOT_JUDGED = {"missing", "unparsable", "only reasoning", "harness error"}
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
        found = Counter(
            score.outcome for scores in self.scores.values() for score in scores
        )
        return {outcome.code: found[outcome] for outcome in Outcome}

    def pass_at(self, k: int) -> float:
        """Chance that at least one of `k` answers to a problem is correct, by the unbiased estimate
        (Chen et al., 2021, section 2.1).

        The mean is over the problems that have `k` answers or more; nan where none has. The
        report's `warnings` name problems with fewer answers than others.
        """
        enough = [scores for scores in self.scores.values() if len(scores) >= k]
        found = [
            pass_at_k(len(scores), sum(s.value == 1 for s in scores), k)
            for scores in enough
        ]
        return sum(found) / len(found) if found else math.nan

    def as_json(self) -> dict[str, Any]:
        """Returns the report as the dictionary that `codestress score --json` prints: pass@1 and
        pass@5 (None where no problem has that many answers), counts by outcome, warnings, and each
        problem's scores."""
        return {
            "pass@1": _or_none(self.pass_at(1)),
            "pass@5": _or_none(self.pass_at(5)),
            "counts": self.counts,
            "warnings": list(self.warnings),
            "problems": {
                name: [
                    {
                        "right": s.value == 1,
                        "reason": s.outcome.code,
                        "detail": s.detail,
                        "unresolved": s.unresolved,
                    }
                    for s in scores
                ]
                for name, scores in self.scores.items()
            },
        }


def pass_at_k(n: int, right: int, k: int) -> float:
    """Returns the unbiased estimate of pass@k, the chance that one of `k` answers is correct, from
    `n` answers of which `right` are correct: 1 - C(n - right, k) / C(n, k); nan when k > n."""
    return 1 - math.comb(n - right, k) / math.comb(n, k) if k <= n else math.nan


def score_file(
    problems: ProblemFile,
    answers: Mapping[str, Sequence[str | None]],
    *,
    task: Task,
    rule: Rule,
    executor: Executor | None,
    samples: int | None = None,
    unread: Mapping[str, Sequence[str]] | None = None,
) -> Report:
    """Scores `samples` answers to each problem (by default as many as any problem has), and returns
    a `Report`. `answers` are lists of texts by problem id (`read_answers`).

    `unread` has rows of the file, by fault, that the warnings shall name too (`AnswerFile.faults`).
    `task` says whether outputs or inputs are predicted; `executor` runs programs, and may be None
    for outputs under the rule `strict`. A problem without answers, and None in the place of an
    answer, count as `missing`; answers to a faulty row of the problem file as `harness error`,
    thoughts without an answer as `only reasoning`. A problem with fewer answers than `samples` is
    scored by those, and named in the warnings. Answers to unknown ids, and surplus answers, are
    named and not scored. Hidden thoughts are removed under both scoring rules; fences and other
    wrappings (`scoring.forms.alone`) under `strict`.
    """
    asked = samples or max((len(texts) for texts in answers.values()), default=1) or 1
    known = {problem.id: problem for problem in problems.problems}
    warnings = list(problems.faults.values())
    every = (*known, *problems.faults)
    counts = {name: len(answers.get(name, ())) for name in (*every, *answers)}
    named = {
        **(unread or {}),
        "no answers to": [name for name in every if not counts[name]],
        "answers to unknown problems, not scored": [
            name for name in answers if name not in every
        ],
        f"fewer than {asked} answers, judged by those": [
            name for name in known if 0 < counts[name] < asked
        ],
        f"more than {asked} answers, not scored": [
            name for name in answers if counts[name] > asked
        ],
    }
    warnings += [_named(fault, names) for fault, names in named.items() if names]
    absent = Score(Outcome.MISSING, 0.0, "no answer in the file")
    scores = {name: [absent] * (min(counts[name], asked) or asked) for name in known}
    places: list[tuple[str, int]] = []
    given: list[Answer] = []
    for name, problem in known.items():
        for index, text in enumerate(answers.get(name, ())[:asked]):
            if text is None:
                continue
            answer = without_thoughts(text)
            if text.strip() and not answer.strip():
                scores[name][index] = Score(
                    Outcome.ONLY_REASONING, 0.0, "thoughts alone"
                )
                continue
            places.append((name, index))
            given.append(Answer(problem, alone(answer) if rule == "strict" else answer))
    for (name, index), score in zip(
        places, score_answers(given, task, rule, executor), strict=True
    ):
        scores[name][index] = score
    for name, fault in problems.faults.items():
        scores[name] = [Score(Outcome.HARNESS_ERROR, 0.0, fault)] * asked
    return Report(scores, warnings)


def _named(fault: str, names: Sequence[str]) -> str:
    """Returns a warning that the rows `names` have a `fault`; of more than five the first five."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{fault}: {', '.join(names[:5])}{more} ({len(names)} in all)"


def check_matched(
    path: Path, answers: Mapping[str, Sequence[str | None]], report: Report
) -> None:
    """Raises `NothingMatchedError` when `report`, on the `answers` in the file at `path`, has no
    answer that could be judged: a share of 0 % would say that the model answered wrongly."""
    counts = {reason: count for reason, count in report.counts.items() if count}
    if counts.keys() - NOT_JUDGED:
        return
    found = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    text = next((text for texts in answers.values() for text in texts if text), "")
    name = next(iter(answers), "")
    remedy = f"the first is {text[:80]!r}; give one of the forms in docs/scoring.md"
    if not text:
        remedy = "the file holds no text of an answer"
    elif counts.keys() <= {"missing", "harness error"}:
        remedy = "the problems that it answers are rejected; mend their rows"
    if name and answers.keys().isdisjoint(report.scores):
        known = next(iter(report.scores))
        remedy = f"no problem has its ids ({name!r}, not {known!r}); give the --problems asked"
    raise NothingMatchedError(f"{path}: no answer could be judged ({found}): {remedy}")


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
