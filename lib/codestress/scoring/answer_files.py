"""Scores answers that somebody else has, in CRUXEval's format: a JSON object of problem ids to lists of texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.problems.problem_files import ProblemFile, read_text
from codestress.sandbox.executor import Executor
from codestress.scoring.predictions import Answer, Rule, Task, score_answers
from codestress.types import Outcome, Score


@dataclass(frozen=True)
class Report:
    """Scores by problem, as many for each as it has answers: of one without any, as many as were asked."""

    scores: Mapping[str, Sequence[Score]]
    warnings: Sequence[str]
    """What is missing, surplus or faulty, by name."""

    @property
    def counts(self) -> dict[str, int]:
        """Answers by outcome; they add up to the scores."""
        found = Counter(score.outcome for scores in self.scores.values() for score in scores)
        return {outcome.code: found[outcome] for outcome in Outcome}

    def pass_at(self, k: int) -> float:
        """The chance that one of k samples is right, estimated without bias (Chen et al., 2021, section 2.1).

        Over the problems that have k answers; nan where none has. The warnings name those that have fewer.
        """
        enough = [scores for scores in self.scores.values() if len(scores) >= k]
        found = [pass_at_k(len(scores), sum(s.value == 1 for s in scores), k) for scores in enough]
        return sum(found) / len(found) if found else math.nan

    def differences(self, other: Report) -> list[dict[str, Any]]:
        """Every answer that one report judges right and the other does not, with both outcomes."""
        return [
            {
                "problem": name,
                "sample": sample,
                "reason": mine.outcome.code,
                "other": theirs.outcome.code,
                "detail": mine.detail or theirs.detail,
            }
            for name, scores in self.scores.items()
            for sample, (mine, theirs) in enumerate(zip(scores, other.scores[name], strict=True))
            if (mine.value == 1) != (theirs.value == 1)
        ]

    def as_json(self) -> dict[str, Any]:
        """What `codestress score --json` prints."""
        return {
            "pass@1": _or_none(self.pass_at(1)),
            "pass@5": _or_none(self.pass_at(5)),
            "counts": self.counts,
            "warnings": list(self.warnings),
            "problems": {
                name: [
                    {"right": s.value == 1, "reason": s.outcome.code, "detail": s.detail, "unresolved": s.unresolved}
                    for s in scores
                ]
                for name, scores in self.scores.items()
            },
        }


def pass_at_k(n: int, right: int, k: int) -> float:
    """1 - C(n - right, k) / C(n, k); nan when k > n."""
    return 1 - math.comb(n - right, k) / math.comb(n, k) if k <= n else math.nan


def read_answers(path: Path) -> dict[str, list[str | None]]:
    """Answers by problem; null stands for an answer that is not there. `DataError` names what has another form."""
    try:
        content = parse_json(read_text(path), unique=True)
    except ValueError as error:
        raise DataError(f"{path}: is not JSON: {error}; give an object of problem ids to lists of texts") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: is a JSON {type(content).__name__}; give an object of problem ids to lists of texts")
    for name, answers in content.items():
        if not isinstance(answers, list) or not all(isinstance(text, str | None) for text in answers):
            raise DataError(f"{path}: {name}: is not a list of texts; write one list of answers for each problem")
    return content


def score_file(
    problems: ProblemFile,
    answers: Mapping[str, Sequence[str | None]],
    *,
    task: Task,
    rule: Rule,
    executor: Executor | None,
    samples: int | None = None,
) -> Report:
    """Scores for `samples` answers to each problem (default: the most that any has).

    A problem without answers, and null in the place of one, count as `missing`, answers to a faulty row as `harness
    error`. A problem with fewer answers than others is judged by those that it has, and named; answers to ids that are
    not among the problems, and more than were asked, are named in the warnings and not scored.
    """
    asked = samples or max((len(texts) for texts in answers.values()), default=1) or 1
    known = {problem.id: problem for problem in problems.problems}
    warnings = list(problems.faults.values())
    _name(warnings, "no answers to", [n for n in (*known, *problems.faults) if not answers.get(n)])
    _name(warnings, "answers to unknown problems, not scored", [n for n in answers if n not in known | problems.faults])
    shorter = [name for name in known if 0 < len(answers.get(name, ())) < asked]
    _name(warnings, f"fewer than {asked} answers, judged by those", shorter)
    _name(warnings, f"more than {asked} answers, not scored", [n for n, a in answers.items() if len(a) > asked])
    given = [
        (name, index, Answer(problem, text))
        for name, problem in known.items()
        for index, text in enumerate(answers.get(name, ())[:asked])
        if text is not None
    ]
    judged = score_answers([answer for _, _, answer in given], task, rule, executor)
    absent = Score(Outcome.MISSING, 0.0, "no answer in the file")
    scores = {name: [absent] * (min(len(answers.get(name, ())), asked) or asked) for name in known}
    for (name, index, _), score in zip(given, judged, strict=True):
        scores[name][index] = score
    for name, fault in problems.faults.items():
        scores[name] = [Score(Outcome.HARNESS_ERROR, 0.0, fault)] * asked
    return Report(scores, warnings)


def _name(warnings: list[str], what: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        warnings.append(f"{what}: {', '.join(names[:5])}{more} ({len(names)} in all)")


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
