"""Judges answers to "what does this call return?" and "for which input does it return this?".

`strict` reads an output as a value and an input as arguments, and compares values by type; nothing that an answer says
is executed except arguments of a closed kind, in the sandbox. `reference` does what CRUXEval's own harness does: the
answer is pasted behind `assert`, in the sandbox too. It is there to compare: answers such as `3 or True` pass it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.input_answers import Arguments, NotArguments, parse_arguments
from codestress.types import Outcome, Score

Task = Literal["input", "output"]
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
"""What an outcome that is not the right value counts as."""


@dataclass(frozen=True)
class Answer:
    """An answer to one problem."""

    problem: Problem
    text: str


def score_answers(answers: Sequence[Answer], task: Task, rule: Rule, executor: Executor | None) -> list[Score]:
    """A score for each answer, in order; equal answers to one problem are judged once.

    Only outputs under `strict` need no executor.
    """
    distinct = list(dict.fromkeys(answers))
    scores: Iterable[Score]
    if rule == "reference":
        scores = _reference(distinct, task, _needed(executor))
    elif task == "output":
        scores = map(score_output, distinct)
    else:
        scores = _strict_inputs(distinct, _needed(executor))
    table = dict(zip(distinct, scores, strict=True))
    return [table[answer] for answer in answers]


def _needed(executor: Executor | None) -> Executor:
    if executor is None:
        raise ValueError("these answers are judged by running programs: an executor is needed")
    return executor


def score_output(answer: Answer) -> Score:
    """Right when the text writes out the value that the call returns."""
    expected = parse_literal(answer.problem.output).value
    try:
        value, unresolved = parse_literal(answer.text)
    except NotLiteral as error:
        return Score(Outcome.UNPARSABLE, 0.0, str(error))
    right = same_value(value, expected)
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), answer.text.strip(), unresolved)


def _strict_inputs(answers: Sequence[Answer], executor: Executor) -> list[Score]:
    """Arguments that are data first, then those that are expressions, which are always a stranger's."""
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
        if not chosen:
            continue
        programs = (_called(answers[index].problem, parsed[index]) for index in chosen)
        for index, execution in zip(chosen, executor.run(programs), strict=True):
            call = parsed[index]
            unresolved = isinstance(call, Arguments) and call.unresolved
            scores[index] = score_execution(execution, answers[index].problem, unresolved)
    return [scores[index] for index in range(len(answers))]


def _spread(answers: Sequence[Answer]) -> list[int]:
    """The answers' indices with those to one problem far from each other: where a program takes all its time, another
    worker goes on with the rest."""
    seen = Counter[str]()
    ranks = []
    for answer in answers:
        ranks.append(seen[answer.problem.id])
        seen[answer.problem.id] += 1
    return sorted(range(len(answers)), key=lambda index: ranks[index])


def _called(problem: Problem, call: Arguments | str) -> Program:
    if isinstance(call, str):
        return Program(problem.code, call=call)  # an expression acts, if only a little: a stranger's
    return Program(problem.code, problem.function, call.positional, call.keywords, source=problem.source)


def score_execution(execution: Execution, problem: Problem, unresolved: bool = False) -> Score:
    """Right when the program returned the problem's output."""
    if execution.outcome is Ending.RETURNED:
        expected = parse_literal(problem.output).value
        if same_value(execution.value, expected):
            return Score(Outcome.CORRECT, 1.0, "", unresolved)
    return Score(REASONS[execution.outcome], 0.0, execution.detail or _shown(execution.value), unresolved)


def score_interpreted(problem: Problem, text: str) -> Score:
    """The score of what the interpreter's engine says of a program: `returned VALUE`, or how it ended."""
    outcome = next((o for o in Ending if text == o or text.startswith(f"{o} ")), None)
    if outcome is None:
        return Score(Outcome.UNPARSABLE, 0.0, "not from the interpreter's engine")
    said = text[len(outcome) + 1 :]
    if outcome is not Ending.RETURNED:
        return Score(REASONS[outcome], 0.0, said)
    try:
        right = same_value(parse_literal(said).value, parse_literal(problem.output).value)
    except NotLiteral:  # a value that cannot be written out is not the expected one
        right = False
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), said)


def _shown(value: Any) -> str:
    """A value in a line; integers beyond the digit limit have no decimal form."""
    try:
        text = repr(value)
    except ValueError:
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= 200 else f"{text[:197]}…"


def _reference(answers: Sequence[Answer], task: Task, executor: Executor) -> Iterator[Score]:
    """CRUXEval's harness: an input must hold the call's name, an output must not hold the call; then an assertion."""
    excluded = [_excluded(answer, task) for answer in answers]
    programs = (
        Program(f"{answer.problem.code}\nassert {answer.problem.output} == {answer.text}")
        for answer, why in zip(answers, excluded, strict=True)
        if not why
    )
    executions: Iterable[Execution] = executor.run(programs)
    results = iter(executions)
    for answer, why in zip(answers, excluded, strict=True):
        if why:
            yield Score(Outcome.UNPARSABLE, 0.0, why)
            continue
        execution = next(results)
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
