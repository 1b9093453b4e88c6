"""Scores answers to "what does this call return?" and "for which input does it return this?".

`strict` reads an output as a value and an input as arguments, and compares values by type; it runs
nothing from an answer except arguments of a closed kind, in the sandbox. `reference` follows
CRUXEval's own harness: the answer is pasted after `assert`, in the sandbox too. It serves for
comparison: answers such as `3 or True` pass it.
"""

import ast
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from codestress.literals import (
    NotLiteral,
    parse_expression,
    parse_json,
    parse_literal,
    same_value,
    shown_value,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Outcome as Ending, Program
from codestress.types import Outcome, Score, Task

from .input_answers import (
    NotArguments,
    asserted,
    asserted_expression,
    parse_arguments,
)

Rule = Literal["strict", "reference"]

REASONS = dict.fromkeys(Ending, Outcome.INCORRECT)
REASONS |= {
    Ending.RAISED: Outcome.RAISED,
    Ending.SYNTAX_ERROR: Outcome.SYNTAX_ERROR,
    Ending.STEP_LIMIT: Outcome.STEP_LIMIT,
    Ending.CPU_TIME: Outcome.TIMEOUT,
    Ending.WALL_TIME: Outcome.TIMEOUT,
    Ending.DIED: Outcome.RAISED,
    Ending.HARNESS_ERROR: Outcome.HARNESS_ERROR,
}
"""Outcome of an answer whose program did not return the correct value, by the program's ending."""


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
    distinct = dict.fromkeys(answers)
    if rule == "strict" and task == "output":
        scores = {answer: score_output(answer) for answer in distinct}
    elif executor is None:
        raise ValueError("answers are judged by running programs: give an executor")
    else:
        scores = _run(distinct, task, rule, executor)
    return [scores[answer] for answer in answers]


def _run(
    answers: Iterable[Answer], task: Task, rule: Rule, executor: Executor
) -> dict[Answer, Score]:
    """Returns the scores of answers whose programs `executor` runs, those of one source together;
    answers without a program are unparsable."""
    scores: dict[Answer, Score] = {}
    jobs: dict[Answer, tuple[Program, bool]] = {}
    for answer in answers:
        try:
            if rule == "strict":
                jobs[answer] = _called(answer)
            else:
                jobs[answer] = _pasted(answer, task), False
        except NotArguments as error:
            scores[answer] = Score(Outcome.UNPARSABLE, 0.0, str(error))
    order = sorted(jobs, key=lambda answer: jobs[answer][0].source)
    executions = executor.run(jobs[answer][0] for answer in order)
    for answer, execution in zip(order, executions, strict=True):
        if rule == "strict":
            unresolved = jobs[answer][1]
            scores[answer] = score_execution(execution, answer.problem, unresolved)
        else:
            scores[answer] = score_asserted(execution, answer.text.strip())
    return scores


def score_output(answer: Answer) -> Score:
    """Returns the score, under `strict`, of an answer to "what does the call return?": correct when
    the text writes out the returned value, incorrect for another value, unparsable when it writes
    out none."""
    expected = parse_literal(answer.problem.output).value
    text = _value(answer)
    written = text
    if text.startswith("{"):
        with suppress(ValueError):  # else Python's: in JSON, true is True
            written = repr(parse_json(text))
    try:
        value, unresolved = parse_literal(written)
    except NotLiteral as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    if type(expected) is int and value == expected and text.endswith("."):
        # `3.` is 3 and a full stop: Python writes 3.0.
        value = expected
    if isinstance(value, dict) and not isinstance(expected, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        value = inner if key in KEYS else value
    return _compared(same_value(value, expected), text, unresolved)


def _compared(correct: bool, detail: str, unresolved: bool = False) -> Score:
    outcome = Outcome.CORRECT if correct else Outcome.INCORRECT
    return Score(outcome, float(correct), detail, unresolved)


def _value(answer: Answer) -> str:
    """Returns the text of the value in an answer: the value that an assertion gives to the
    problem's call, and to no other call; else the whole text."""
    text = answer.text.strip()
    with suppress(SyntaxError, NotLiteral):
        sides = asserted(asserted_expression(text), answer.problem.function)
        if sides:
            call = parse_expression(answer.problem.call)
            if ast.dump(sides[0]) == ast.dump(call):
                return ast.get_source_segment(text, sides[1]) or text
    return text


def _called(answer: Answer) -> tuple[Program, bool]:
    """Returns the program that calls the problem's function with the arguments in an answer, and
    whether arithmetic is left in them; `NotArguments` for an answer that is neither data nor an
    expression that cannot act."""
    problem = answer.problem
    call = parse_arguments(answer.text, problem)
    if isinstance(call, str):
        # An expression is evaluated, so the program counts as untrusted.
        return Program(problem.code, call=call), False
    positional, keywords, unresolved = call
    program = Program(
        problem.code, problem.function, positional, keywords, source=problem.source
    )
    return program, unresolved


def score_execution(
    execution: Execution, problem: Problem, unresolved: bool = False
) -> Score:
    """Returns the score of an execution of an answer to `problem`: correct when the program
    returned the problem's output, else the outcome that `REASONS` gives for its ending.
    `unresolved`: whether arithmetic is left in the answer."""
    if execution.outcome is Ending.RETURNED:
        expected = parse_literal(problem.output).value
        if same_value(execution.value, expected):
            return _compared(True, "", unresolved)
    detail = execution.detail or shown_value(execution.value)
    return Score(REASONS[execution.outcome], 0.0, detail, unresolved)


def score_interpreted(problem: Problem, text: str) -> Score:
    """Returns the score of a `text` of the interpreter's engine on `problem`: `returned VALUE`, or
    how the program ended. Correct for the problem's output, incorrect for another value, else the
    outcome in `REASONS`; unparsable for a text that the engine does not write."""
    for outcome in Ending:
        if text == outcome or text.startswith(f"{outcome} "):
            break
    else:
        return Score(Outcome.UNPARSABLE, 0.0, "not from the interpreter's engine")
    detail = text[len(outcome) + 1 :]
    if outcome is Ending.RETURNED:
        with suppress(NotLiteral):  # a value that cannot be written out is another
            expected = parse_literal(problem.output).value
            correct = same_value(parse_literal(detail).value, expected)
            return _compared(correct, detail)
    return Score(REASONS[outcome], 0.0, detail)


def _pasted(answer: Answer, task: Task) -> Program:
    """Returns the program by which CRUXEval's own harness judges an answer: an assertion that its
    text equals the problem's output. `NotArguments` for an input without the function's name and a
    parenthesis, and for an output with the call."""
    problem = answer.problem
    if task == "input" and f"{problem.function}(" not in answer.text:
        raise NotArguments(f"no call of {problem.function}")
    if task == "output" and problem.call in answer.text:
        raise NotArguments("the call itself")
    return Program(f"{problem.code}\nassert {problem.output} == {answer.text}")


def score_asserted(execution: Execution, answer: str) -> Score:
    """Returns the score of an `answer` whose assertion ran as `execution`, with the answer as its
    detail: correct where the assertion held, incorrect where it failed, else the outcome in
    `REASONS`."""
    if execution.outcome is Ending.RETURNED:
        return _compared(True, answer)
    if execution.detail.startswith("AssertionError"):
        return _compared(False, answer)
    return Score(REASONS[execution.outcome], 0.0, execution.detail)
