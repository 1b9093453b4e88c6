"""Score answers to "what does this call return?" and "for which input does the function
return this?".

The rule `strict` reads an output as a value and an input as arguments, and compares
values with their types. This rule runs nothing from an answer except arguments of a
closed kind (`scoring.input_answers`), in the sandbox. The rule `reference` follows
CRUXEval's own harness: the answer is pasted after `assert`, and run in the sandbox too.
This rule serves only for comparison: answers such as `3 or True` pass it.
"""

import ast
from collections.abc import Sequence
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

from .input_answers import NotArguments, asserted, asserted_expression, parse_arguments

Rule = Literal["strict", "reference"]
REASONS = {end: Outcome.__members__.get(end.name, Outcome.INCORRECT) for end in Ending}
REASONS |= dict.fromkeys([Ending.CPU_TIME, Ending.WALL_TIME], Outcome.TIMEOUT)
REASONS[Ending.DIED] = Outcome.RAISED
"""Outcome of an answer whose program did not return the correct value, by the way in
which the program ended."""


KEYS = ("answer", "output", "result")
"""Keys under which a model that writes JSON puts its value."""


@dataclass(frozen=True)
class Answer:
    """A text that answers one problem: a value for its call, or arguments for its output."""

    problem: Problem
    text: str


def score_answers(
    answers: Sequence[Answer], task: Task, rule: Rule, executor: Executor | None
) -> list[Score]:
    """Return a score for each answer, in order; equal answers to one problem are scored
    once.

    `task` says whether the answers are outputs or inputs. `rule` is `strict`, or
    `reference` for CRUXEval's own harness. `executor` runs programs and may be None for
    outputs under `strict`. Raises `ValueError` if `executor` is None for other answers.
    """
    scores: dict[Answer, Score] = {}
    jobs: dict[Answer, tuple[Program, bool]] = {}
    for answer in dict.fromkeys(answers):
        try:
            if rule == "reference":
                jobs[answer] = _pasted(answer, task), False
            elif task == "input":
                jobs[answer] = _called(answer)
            else:
                scores[answer] = score_output(answer)
        except NotArguments as error:
            scores[answer] = Score(Outcome.UNPARSABLE, 0.0, str(error))
    if jobs and executor is None:
        raise ValueError("answers are judged by running programs: give an executor")
    # Programs of the same source stand next to each other.
    order = sorted(jobs, key=lambda answer: jobs[answer][0].source)
    executions = executor.run(jobs[answer][0] for answer in order) if executor else ()
    for answer, execution in zip(order, executions, strict=True):
        if rule == "reference":
            scores[answer] = score_asserted(execution, answer.text.strip())
        else:
            _, unresolved = jobs[answer]
            scores[answer] = score_execution(execution, answer.problem, unresolved)
    return [scores[answer] for answer in answers]


def score_output(answer: Answer) -> Score:
    """Return the score, under `strict`, of an answer to "what does the call return?".

    Correct if the text is the returned value as a literal, incorrect if it is another
    value, unparsable if it is not a literal value.
    """
    expected = parse_literal(answer.problem.output).value
    text = _value(answer)
    written = text
    if text.startswith("{"):
        # Not JSON, in which true is True, but Python's: read below.
        with suppress(ValueError):
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
    return compared(same_value(value, expected), text, unresolved)


def compared(correct: bool, detail: str, unresolved: bool = False) -> Score:
    """Return the score of an answer whose value was compared with the expected one."""
    outcome = Outcome.CORRECT if correct else Outcome.INCORRECT
    return Score(outcome, float(correct), detail, unresolved)


def _value(answer: Answer) -> str:
    """Return the text of the value in an answer.

    If the answer is an assertion about the problem's exact call, that is the other side
    of its `==`, else the whole text.
    """
    text = answer.text.strip()
    with suppress(SyntaxError, NotLiteral):
        sides = asserted(asserted_expression(text), answer.problem.function)
        if sides:
            call = parse_expression(answer.problem.call)
            if ast.dump(sides[0]) == ast.dump(call):
                return ast.get_source_segment(text, sides[1]) or text
    return text


def _called(answer: Answer) -> tuple[Program, bool]:
    """Return the program that calls the problem's function with the arguments in an
    answer, and whether they contain arithmetic.

    Raises `NotArguments` for an answer that is neither data nor an expression without
    side effects.
    """
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
    """Return the score of an answer to `problem` from the `execution` of its program.

    Correct if the program returned the problem's output, else the outcome that
    `REASONS` has for its ending. `unresolved` says whether the answer contains
    arithmetic.
    """
    if execution.outcome is Ending.RETURNED:
        expected = parse_literal(problem.output).value
        if same_value(execution.value, expected):
            return compared(True, "", unresolved)
    detail = execution.detail or shown_value(execution.value)
    return Score(REASONS[execution.outcome], 0.0, detail, unresolved)


def score_interpreted(problem: Problem, text: str) -> Score:
    """Return the score of a `text` of the interpreter's engine on `problem`: `returned
    VALUE`, or how the program ended.

    Correct for the problem's output, incorrect for another value, else the outcome in
    `REASONS`. Unparsable for a text that this engine does not write.
    """
    endings = [ending for ending in Ending if f"{text} ".startswith(f"{ending} ")]
    if not endings:
        return Score(Outcome.UNPARSABLE, 0.0, "not from the interpreter's engine")
    [ending] = endings
    detail = text[len(ending) + 1 :]
    if ending is Ending.RETURNED:
        # A value without a literal differs from the expected one.
        with suppress(NotLiteral):
            expected = parse_literal(problem.output).value
            correct = same_value(parse_literal(detail).value, expected)
            return compared(correct, detail)
    return Score(REASONS[ending], 0.0, detail)


def _pasted(answer: Answer, task: Task) -> Program:
    """Return the program with which CRUXEval's own harness judges an answer: an
    assertion that the answer's text equals the problem's output.

    Raises `NotArguments` for an input without the function's name and a parenthesis,
    and for an output that contains the call.
    """
    problem = answer.problem
    if task == "input" and f"{problem.function}(" not in answer.text:
        raise NotArguments(f"no call of {problem.function}")
    if task == "output" and problem.call in answer.text:
        raise NotArguments("the call itself")
    return Program(f"{problem.code}\nassert {problem.output} == {answer.text}")


def score_asserted(execution: Execution, answer: str) -> Score:
    """Return the score of an `answer` from the `execution` of its assertion, with the
    answer as detail.

    Correct if the assertion held, incorrect if it failed, else the outcome in
    `REASONS`.
    """
    if execution.outcome is Ending.RETURNED:
        return compared(True, answer)
    if execution.detail.startswith("AssertionError"):
        return compared(False, answer)
    return Score(REASONS[execution.outcome], 0.0, execution.detail)
