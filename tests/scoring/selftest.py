"""The scorers' test of themselves: right answers pass, wrong ones do not, and nothing that only pretends does."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from codestress.literals import parse_literal, same_value
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor, Outcome as Ending, Program
from codestress.scoring.predictions import Answer, Rule, score_answers, score_execution
from codestress.types import Outcome, Task
from sandbox.attacks import ATTACKS, UNCOUNTED, attack
from scoring.exploits import corpus, written

EXPLOITED = (
    Problem("double", "def f(x):\n    return x * 2", "f", "3", "6"),
    Problem(
        "join",
        "def f(words, mark):\n    return mark.join(words)",
        "f",
        "['a', 'b'], '-'",
        "'a-b'",
    ),
    Problem("is_even", "def f(n):\n    return n % 2 == 0", "f", "4", "True"),
    Problem(
        "rest",
        "def f(items):\n    return items[1:]",
        "f",
        "['x', [1, (2,)]]",
        "[[1, (2,)]]",
    ),
)
"""What the exploits are tried on: an integer, a text, a truth value (True is not 1), something nested.

None returns its argument when that is its own output, so that an input that names the output is wrong.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: how many answers of a kind were judged right."""

    task: Task | Literal["program"]
    """`program`: whole programs run, and what they return is compared."""
    rule: Rule
    kind: str
    """`gold`, `corrupted` or `exploits`."""
    asked: int
    right: int
    passed: tuple[str, ...]
    """Exploits that were judged right, by name."""

    @property
    def ok(self) -> bool:
        """What `strict` must be: every right answer right, no other one. `reference` is shown, not tested."""
        return self.rule == "reference" or self.right == (
            self.asked if self.kind == "gold" else 0
        )


def selftest(problems: Sequence[Problem], executor: Executor) -> Iterator[Row]:
    """The table, row by row as it is made. After each the executor must still judge a right answer right."""
    for task in ("output", "input"):
        for rule in ("strict", "reference"):
            gold = [Answer(problem, _gold(problem, task)) for problem in problems]
            yield _row(task, rule, "gold", gold, executor)
            spoilt = [Answer(_corrupted(one.problem), one.text) for one in gold]
            yield _row(task, rule, "corrupted", spoilt, executor)
            tried, names = [], []
            for name, template in corpus(task).items():
                names += [name] * len(EXPLOITED)
                tried += [Answer(one, written(template, one)) for one in EXPLOITED]
            yield _row(task, rule, "exploits", tried, executor, names)


def selftest_programs(problems: Sequence[Problem], executor: Executor) -> Iterator[Row]:
    """The same for whole programs. Attacks are tried only where both Landlock and seccomp hold: some would do harm."""
    programs = [Program(problem.code, call=problem.call) for problem in problems]
    for kind, expected in (
        ("gold", problems),
        ("corrupted", [*map(_corrupted, problems)]),
    ):
        right = _right(programs, expected, executor)
        yield Row("program", "strict", kind, len(programs), right, ())
    if not (executor.layers["landlock"] and executor.layers["seccomp"]):
        return
    secret = str(secrets.randbelow(9 * 10**17) + 10**17)
    hidden = Problem("secret", "", "f", "0", repr(secret))
    attacks = {
        name: attack(name, guess="7", mark="codestress-mark", port=9)
        for name in ATTACKS
    }
    ended = zip(attacks, executor.run(attacks.values()), strict=True)
    passed = tuple(
        name
        for name, execution in ended
        if score_execution(execution, hidden).value
        or (name in UNCOUNTED and execution.outcome is Ending.RETURNED)
    )
    yield Row("program", "strict", "exploits", len(attacks), len(passed), passed)
    if _right(programs[:1], problems[:1], executor) != 1:
        raise AssertionError("after the attacks a right program was judged wrong")


def _right(
    programs: Sequence[Program], problems: Sequence[Problem], executor: Executor
) -> int:
    executions = executor.run(programs)
    return sum(
        score_execution(e, p).outcome is Outcome.CORRECT
        for e, p in zip(executions, problems, strict=True)
    )


def _row(
    task: Task,
    rule: Rule,
    kind: str,
    answers: list[Answer],
    executor: Executor,
    names: Sequence[str] = (),
) -> Row:
    sane = Answer(EXPLOITED[0], _gold(EXPLOITED[0], task))
    *scores, last = score_answers([*answers, sane], task, rule, executor)
    if last.outcome is not Outcome.CORRECT and not (
        rule == "reference" and kind == "exploits"
    ):
        raise AssertionError(
            f"{task}, {rule}, {kind}: a right answer asked last was judged {last.outcome}: {last.detail}"
        )
    passed = dict.fromkeys(
        name for name, score in zip(names, scores, strict=False) if score.value
    )
    return Row(
        task,
        rule,
        kind,
        len(scores),
        sum(score.value == 1 for score in scores),
        tuple(passed),
    )


def _gold(problem: Problem, task: Task) -> str:
    return problem.call if task == "input" else problem.output


def _corrupted(problem: Problem) -> Problem:
    """The problem with another output, so that its right answers are wrong."""
    value = parse_literal(problem.output).value
    other = another(value)
    if same_value(value, other):
        raise AssertionError(f"{problem.id}: not another value: {value!r}")
    return replace(problem, output=repr(other))


def another(value: Any) -> Any:
    """A value of the same type that is not the same."""
    match value:
        case int() | float() | complex():
            return type(value)(not value)
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
        case list() | tuple():
            return type(value)([*value, None])
        case set() | frozenset():
            return value | {"another"}
        case dict():
            return {**value, "another": 1}
    return "another"
