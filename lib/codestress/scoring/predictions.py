"""Scores answers to "what does this call return?" and "for which input does it return this?".

`strict` reads an output as a value and an input as arguments, and compares values by type; it runs
nothing from an answer except arguments of a closed kind, in the sandbox. `reference` follows
CRUXEval's own harness: the answer is pasted after `assert`, in the sandbox too. It serves for
comparison: answers such as `3 or True` pass it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from codestress.literals import (
    NotLiteral,
    parse_expression,
    parse_literal,
    same_value,
    shown_value,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.input_answers import (
    Arguments,
    NotArguments,
    asserted,
    asserted_expression,
    parse_arguments,
)
from codestress.types import Outcome, Score, Task

Rule = Literal["strict", "reference"]

REASONS: Mapping[Ending, Outcome] = {
    Ending.RETURNED: Outcome.INCORRECT,
    Ending.RAISED: Outcome.RAISED,
    Ending.SYNTAX_ERROR: Outcome.SYNTAX_ERROR,
    Ending.STEP_LIMIT: Outcome.STEP_LIMIT,
    Ending.NOT_DATA: Outcome.INCORRECT,
    Ending.OUTPUT_LIMIT: Outcome.INCORRECT,
    Ending.CPU_TIME: Outcome.TIMEOUT,
    Ending.WALL_TIME: Outcome.TIMEOUT,
    Ending.DIED: Outcome.RAISED,
    Ending.TAMPERED: Outcome.INCORRECT,
    Ending.HARNESS_ERROR: Outcome.HARNESS_ERROR,
}
"""Outcome of an answer whose program did not return the right value, by the program's ending."""


KEYS = ("answer", "output", "result")
"""Keys under which a model that writes JSON puts a value."""


@dataclass(frozen=True)
class Answer:
    """A text that answers one problem: a value for its call, or arguments for its output."""

    problem: Problem
    text: str


def score_answers(
    answers: Sequence[Answer], task: Task, rule: Rule, executor: Executor | None
) -> list[Score]:
    """Returns a score for each answer, in order; equal answers to one problem are scored once.

    `task` says whether the answers are outputs or inputs; `rule` is `strict`, or `reference` for
    CRUXEval's own harness. `executor` runs programs; it may be None for outputs under `strict`, and
    other answers then raise `ValueError`.
    """
    distinct = list(dict.fromkeys(answers))
    scores: Iterable[Score]
    if rule == "strict" and task == "output":
        scores = map(score_output, distinct)
    elif executor is None:
        raise ValueError(
            "these answers are judged by running programs: an executor is needed"
        )
    elif rule == "strict":
        scores = _strict_inputs(distinct, executor)
    else:
        scores = _reference(distinct, task, executor)
    table = dict(zip(distinct, scores, strict=True))
    return [table[answer] for answer in answers]


def score_output(answer: Answer) -> Score:
    """Returns the score, under `strict`, of an answer to "what does the call return?": correct when
    the text writes out the returned value, incorrect for another value, unparsable when it writes
    out none."""
    expected = parse_literal(answer.problem.output).value
    text = _value(answer)
    try:
        value, unresolved = parse_literal(text)
    except NotLiteral as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    if isinstance(value, dict) and not isinstance(expected, dict) and len(value) == 1:
        value = next((value[name] for name in KEYS if name in value), value)
    right = same_value(value, expected)
    return Score(
        Outcome.CORRECT if right else Outcome.INCORRECT,
        float(right),
        text,
        unresolved,
    )


def _value(answer: Answer) -> str:
    """Returns the text of the value in an answer: all of it, or what an assertion says that the
    problem's call, and no other, returns."""
    text = answer.text.strip()
    with suppress(SyntaxError, NotLiteral):
        sides = asserted(asserted_expression(text), answer.problem.function)
        if sides and ast.dump(sides[0]) == ast.dump(
            parse_expression(answer.problem.call)
        ):
            return ast.get_source_segment(text, sides[1]) or text
    return text


def _strict_inputs(answers: Sequence[Answer], executor: Executor) -> list[Score]:
    """Returns the scores of input answers, in order. Their calls are run by `executor`: first those
    whose arguments are data, then those with expressions, which always count as untrusted. Texts
    that are neither are unparsable."""
    scores: dict[int, Score] = {}
    parsed: dict[int, Arguments | str] = {}
    for index, answer in enumerate(answers):
        try:
            parsed[index] = parse_arguments(answer.text, answer.problem)
        except NotArguments as error:
            scores[index] = Score(Outcome.UNPARSABLE, 0.0, str(error))
    apart = _spread(answers)
    for kind in (Arguments, str):
        chosen = [index for index in apart if isinstance(parsed.get(index), kind)]
        programs = (_called(answers[index].problem, parsed[index]) for index in chosen)
        for index, execution in zip(chosen, executor.run(programs), strict=True):
            call = parsed[index]
            unresolved = isinstance(call, Arguments) and call.unresolved
            scores[index] = score_execution(
                execution, answers[index].problem, unresolved
            )
    return [scores[index] for index in range(len(answers))]


def _spread(answers: Sequence[Answer]) -> list[int]:
    """Returns the indices of `answers` in an order that keeps the answers to one problem apart:
    where a program takes all its time, another worker goes on with the rest."""
    seen = Counter[str]()
    ranks = []
    for answer in answers:
        ranks.append(seen[answer.problem.id])
        seen[answer.problem.id] += 1
    return sorted(range(len(answers)), key=lambda index: ranks[index])


def _called(problem: Problem, call: Arguments | str) -> Program:
    if isinstance(call, str):
        # An expression acts, if only a little: a stranger's.
        return Program(problem.code, call=call)
    return Program(
        problem.code,
        problem.function,
        call.positional,
        call.keywords,
        source=problem.source,
    )


def score_execution(
    execution: Execution, problem: Problem, unresolved: bool = False
) -> Score:
    """Returns the score of an execution of an answer to `problem`: correct when the program
    returned the problem's output, else the outcome that `REASONS` gives for its ending.
    `unresolved`: whether arithmetic is left in the answer."""
    if execution.outcome is Ending.RETURNED:
        expected = parse_literal(problem.output).value
        if same_value(execution.value, expected):
            return Score(Outcome.CORRECT, 1.0, "", unresolved)
    return Score(
        REASONS[execution.outcome],
        0.0,
        execution.detail or shown_value(execution.value),
        unresolved,
    )


def score_interpreted(problem: Problem, text: str) -> Score:
    """Returns the score of a `text` of the interpreter's engine on `problem`: `returned VALUE`, or
    how the program ended. Correct for the problem's output, incorrect for another value, else the
    outcome in `REASONS`; unparsable for a text that the engine does not write."""
    outcome = next((o for o in Ending if text == o or text.startswith(f"{o} ")), None)
    if outcome is None:
        return Score(Outcome.UNPARSABLE, 0.0, "not from the interpreter's engine")
    said = text[len(outcome) + 1 :]
    if outcome is not Ending.RETURNED:
        return Score(REASONS[outcome], 0.0, said)
    try:
        right = same_value(
            parse_literal(said).value, parse_literal(problem.output).value
        )
    except NotLiteral:  # a value that cannot be written out is not the expected one
        right = False
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), said)


def _reference(
    answers: Sequence[Answer], task: Task, executor: Executor
) -> Iterator[Score]:
    """Yields the scores of answers by CRUXEval's own harness. An input must contain the function's
    name with a parenthesis, an output must not contain the call, else it is unparsable; then an
    assertion that the text equals the problem's output is run by `executor`."""
    programs = (
        Program(
            f"{answer.problem.code}\nassert {answer.problem.output} == {answer.text}"
        )
        for answer in answers
        if not _excluded(answer, task)
    )
    executions = executor.run(programs)
    for answer in answers:
        if why := _excluded(answer, task):
            yield Score(Outcome.UNPARSABLE, 0.0, why)
            continue
        execution = next(executions)
        if execution.outcome is Ending.RETURNED:
            yield Score(Outcome.CORRECT, 1.0, answer.text.strip())
        elif execution.detail.startswith("AssertionError"):
            yield Score(Outcome.INCORRECT, 0.0, answer.text.strip())
        else:
            yield Score(REASONS[execution.outcome], 0.0, execution.detail)


def _excluded(answer: Answer, task: Task) -> str:
    problem = answer.problem
    if task == "input" and f"{problem.function}(" not in answer.text:
        return f"no call of {problem.function}"
    if task == "output" and problem.call in answer.text:
        return "the call itself"
    return ""
