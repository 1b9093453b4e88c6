"""Scores answers to "what does this call return?" and "for which input does it return this?".

`strict` reads an output as a value and an input as arguments, and compares values by type; it runs
nothing from an answer except arguments of a closed kind, in the sandbox. `reference` follows
CRUXEval's own harness: the answer is pasted after `assert`, in the sandbox too. It serves for
comparison: answers such as `3 or True` pass it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
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

REASONS: Mapping[Ending, Outcome] = dict.fromkeys(Ending, Outcome.INCORRECT) | {
    Ending.RAISED: Outcome.RAISED,
    Ending.SYNTAX_ERROR: Outcome.SYNTAX_ERROR,
    Ending.STEP_LIMIT: Outcome.STEP_LIMIT,
    Ending.CPU_TIME: Outcome.TIMEOUT,
    Ending.WALL_TIME: Outcome.TIMEOUT,
    Ending.DIED: Outcome.RAISED,
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
    """Return a score for each answer, in order; equal answers to one problem are scored once.

    `task` says whether the answers are outputs or inputs; `rule` is `strict`, or `reference` for
    CRUXEval's own harness. `executor` runs programs; it may be None for outputs under `strict`, and
    other answers then raise `ValueError`.
    """
    distinct = list(dict.fromkeys(answers))
    if rule == "strict" and task == "output":
        scores = {answer: score_output(answer) for answer in distinct}
    elif executor is None:
        raise ValueError("answers are judged by running programs: give an executor")
    elif rule == "strict":
        scores = _strict_inputs(distinct, executor)
    else:
        scores = _reference(distinct, task, executor)
    return [scores[answer] for answer in answers]


def score_output(answer: Answer) -> Score:
    """Return the score, under `strict`, of an answer to "what does the call return?": correct when
    the text writes out the returned value, incorrect for another value, unparsable when it writes
    out none."""
    expected = parse_literal(answer.problem.output).value
    text = _value(answer)
    try:
        value, unresolved = parse_literal(text)
    except NotLiteral as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    if isinstance(value, dict) and not isinstance(expected, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        value = inner if key in KEYS else value
    return _compared(same_value(value, expected), text, unresolved)


def _compared(right: bool, detail: str, unresolved: bool = False) -> Score:
    outcome = Outcome.CORRECT if right else Outcome.INCORRECT
    return Score(outcome, float(right), detail, unresolved)


def _value(answer: Answer) -> str:
    """Return the text of the value in an answer: all of it, or what an assertion says that the
    problem's call, and no other, returns."""
    text = answer.text.strip()
    with suppress(SyntaxError, NotLiteral):
        sides = asserted(asserted_expression(text), answer.problem.function)
        if sides:
            call = parse_expression(answer.problem.call)
            if ast.dump(sides[0]) == ast.dump(call):
                return ast.get_source_segment(text, sides[1]) or text
    return text


def _strict_inputs(
    answers: Sequence[Answer], executor: Executor
) -> dict[Answer, Score]:
    """Return the scores of input answers. Their calls are run by `executor`: first those whose
    arguments are data, then those with expressions, which always count as untrusted. Texts that are
    neither are unparsable."""
    scores: dict[Answer, Score] = {}
    calls: dict[Answer, Arguments | str] = {}
    for answer in answers:
        try:
            calls[answer] = parse_arguments(answer.text, answer.problem)
        except NotArguments as error:
            scores[answer] = Score(Outcome.UNPARSABLE, 0.0, str(error))
    for kind in (Arguments, str):
        chosen = [answer for answer in calls if isinstance(calls[answer], kind)]
        programs = (_called(answer.problem, calls[answer]) for answer in chosen)
        for answer, execution in zip(chosen, executor.run(programs), strict=True):
            call = calls[answer]
            unresolved = isinstance(call, Arguments) and call.unresolved
            scores[answer] = score_execution(execution, answer.problem, unresolved)
    return scores


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
    """Return the score of an execution of an answer to `problem`: correct when the program
    returned the problem's output, else the outcome that `REASONS` gives for its ending.
    `unresolved`: whether arithmetic is left in the answer."""
    if execution.outcome is Ending.RETURNED:
        expected = parse_literal(problem.output).value
        if same_value(execution.value, expected):
            return _compared(True, "", unresolved)
    detail = execution.detail or shown_value(execution.value)
    return Score(REASONS[execution.outcome], 0.0, detail, unresolved)


def score_interpreted(problem: Problem, text: str) -> Score:
    """Return the score of a `text` of the interpreter's engine on `problem`: `returned VALUE`, or
    how the program ended. Correct for the problem's output, incorrect for another value, else the
    outcome in `REASONS`; unparsable for a text that the engine does not write."""
    for outcome in Ending:
        if text == outcome or text.startswith(f"{outcome} "):
            break
    else:
        return Score(Outcome.UNPARSABLE, 0.0, "not from the interpreter's engine")
    detail = text[len(outcome) + 1 :]
    if outcome is not Ending.RETURNED:
        return Score(REASONS[outcome], 0.0, detail)
    try:
        expected = parse_literal(problem.output).value
        right = same_value(parse_literal(detail).value, expected)
    except NotLiteral:  # a value that cannot be written out is not the expected one
        right = False
    return _compared(right, detail)


def _reference(
    answers: Sequence[Answer], task: Task, executor: Executor
) -> dict[Answer, Score]:
    """Return the scores of answers by CRUXEval's own harness. An input must contain the function's
    name with a parenthesis, an output must not contain the call, else it is unparsable; then an
    assertion that the text equals the problem's output is run by `executor`."""
    scores: dict[Answer, Score] = {}
    programs: dict[Answer, Program] = {}
    for answer in answers:
        problem = answer.problem
        if task == "input" and f"{problem.function}(" not in answer.text:
            reason = f"no call of {problem.function}"
            scores[answer] = Score(Outcome.UNPARSABLE, 0.0, reason)
        elif task == "output" and problem.call in answer.text:
            scores[answer] = Score(Outcome.UNPARSABLE, 0.0, "the call itself")
        else:
            assertion = f"assert {problem.output} == {answer.text}"
            programs[answer] = Program(f"{problem.code}\n{assertion}")
    executions = executor.run(programs.values())
    for answer, execution in zip(programs, executions, strict=True):
        scores[answer] = score_asserted(execution, answer.text.strip())
    return scores


def score_asserted(execution: Execution, answer: str) -> Score:
    """Return the score of an `answer` whose assertion ran as `execution`, with the answer as its
    detail: correct where the assertion held, incorrect where it failed, else the outcome in
    `REASONS`."""
    if execution.outcome is Ending.RETURNED:
        return _compared(True, answer)
    if execution.detail.startswith("AssertionError"):
        return _compared(False, answer)
    return Score(REASONS[execution.outcome], 0.0, execution.detail)
