"""Runs of programs and of their variants: which problems can be used, and how a
variant's behaviour differs from its program's.

CodeCrash, section 2.1, checks a variant on the problem's own input. Here nearby inputs
are tried as well.
"""

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from codestress.literals import (
    UNREADABLE,
    NotLiteral,
    parse_literal,
    reason_of,
    same_value,
    shown_value,
    written_out,
)
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Outcome, Program
from codestress.seeding import rng
from codestress.types import Language

from ..draw import Draw
from . import messages
from .edits import NotPerturbed
from .inputs import (
    arguments_of,
    json_values,
    trial_inputs,
    with_values,
)
from .programs import program_of, vanilla

Call = tuple[Problem, str]
"""A problem, and the argument text with which its function is called."""


@dataclass(frozen=True)
class Checked:
    """Vanilla problem that returned its recorded output, with the inputs on which
    variants are tried.

    `executions` has the runs on these inputs, in the same order.
    """

    problem: Problem
    inputs: tuple[str, ...]
    """Texts of the call's arguments, the problem's own first."""
    executions: tuple[Execution, ...]
    trace: messages.Trace


def check_problems(
    problems: Sequence[Problem], executor: Executor, seed: int
) -> tuple[list[Checked], dict[str, str]]:
    """Return the problems that can be used (`Checked`), and a dict from the id of each
    further problem to the reason against it.

    A problem cannot be used if it does not parse or lacks the called function, does not
    return its recorded output, or does not behave the same twice. A problem whose
    `output` is empty gets the output that its call returns. `seed` decides the other
    inputs on which the program, and later each variant, is run.
    """
    faults: dict[str, str] = {}
    ready: list[list[Call]] = []
    for problem in problems:
        try:
            ready.append(_first_calls(problem, seed))
        except NotPerturbed as error:
            faults[problem.id] = str(error)
        except UNREADABLE as error:
            faults[problem.id] = f"the program does not parse: {reason_of(error)}"
    executions = iter(run_calls([*chain.from_iterable(ready)], executor))
    checked = []
    for calls in ready:
        *runs, again, traced = islice(executions, len(calls))
        problem = calls[0][0]
        try:
            problem = _usable(problem, runs[0], again)
        except NotPerturbed as error:
            faults[problem.id] = str(error)
            continue
        trace = messages.Trace()
        if traced.outcome is Outcome.RETURNED:
            trace = messages.read_trace(traced.value, problem.language)
        ended = {}
        for (_, text), run in zip(calls, runs, strict=False):
            if run.outcome in (Outcome.RETURNED, Outcome.RAISED):
                ended[text] = run
        checked.append(Checked(problem, (*ended,), (*ended.values(),), trace))
    return checked, faults


def _first_calls(problem: Problem, seed: int) -> list[Call]:
    """Return the calls that decide whether a problem can be used.

    The vanilla program is called on its own input, on other inputs, on its own input
    again, and with tracing. Raises `NotPerturbed` if the called function is missing,
    `SyntaxError` if the program does not parse.
    """
    clean = vanilla(problem)
    program_of(clean).called_function()
    others = trial_inputs(clean, Draw(rng(seed, "inputs", problem.id)))
    calls = [(clean, text) for text in (problem.arguments, *others)]
    return [*calls, calls[0], (messages.traced(clean), problem.arguments)]


def _usable(problem: Problem, first: Execution, second: Execution) -> Problem:
    """Return the problem, with the output that its call gives if none is recorded.

    Raises `NotPerturbed` if two executions of the call show that the problem cannot be
    used: no value returned, a value that differs from the recorded output, or two
    different values.
    """
    if first.outcome is not Outcome.RETURNED:
        why = f"{first.outcome}: {first.detail}"
        raise NotPerturbed(f"the call does not return a value: {why}")
    if not _same(first, second):
        raise NotPerturbed(
            f"not deterministic: {_summary(first)}, then {_summary(second)}"
        )
    if not problem.output:
        try:
            return replace(problem, output=written_out(first.value))
        except NotLiteral as error:
            why = f"the returned value cannot be written out: {error}"
            raise NotPerturbed(why) from None
    if not same_value(first.value, parse_literal(problem.output).value):
        why = f"{_summary(first)}, not the recorded {problem.output:.60}"
        raise NotPerturbed(f"the call returns {why}")
    return problem


# --- running ---


def run_calls(calls: Sequence[Call], executor: Executor) -> list[Execution]:
    """Run `calls`, in any mix of languages, and return the executions in the same
    order.

    If a program fails, its execution says so.
    """
    programs: dict[Language, list[Program]] = defaultdict(list)
    for problem, text in calls:
        programs[problem.language].append(called(problem, text))
    done = {
        language: executor.run(group, language=language)
        for language, group in programs.items()
    }
    return [next(done[problem.language]) for problem, _ in calls]


def called(problem: Problem, arguments: str) -> Program:
    """Return the `Program` that an executor runs: the problem's code, with a call of
    its function on the argument text `arguments`."""
    if problem.language == "javascript":
        values = tuple(json_values(arguments))
        return Program(problem.code, problem.function, values, source=problem.source)
    call = f"{problem.function}({arguments}\n)"
    return Program(problem.code, call=call, source=problem.source)


# --- comparing ---


def differences(
    candidates: Mapping[str, Problem],
    checked: Mapping[str, Checked],
    executor: Executor,
) -> dict[str, str]:
    """Return a dict from id to how a candidate's behaviour differs from that of its
    vanilla program in `checked`, in words.

    Candidates that behave the same are left out. A candidate to which the inputs in
    `checked` cannot be passed gets the reason for that.
    """
    reasons: dict[str, str] = {}
    calls: list[Call] = []
    expected: list[tuple[str, Execution]] = []
    for name, after in candidates.items():
        before = checked[name]
        try:
            texts = [_moved(before.problem, after, text) for text in before.inputs]
        except UNREADABLE as error:
            reasons[name] = reason_of(error)
            continue
        calls += [(after, text) for text in texts]
        expected += [(name, run) for run in before.executions]
    runs = zip(calls, expected, run_calls(calls, executor), strict=True)
    for (_, text), (name, first), second in runs:
        if name not in reasons and not _same(first, second):
            reasons[name] = (
                f"on {text:.60}: {_summary(first)} became {_summary(second)}"
            )
    return reasons


def _same(first: Execution, second: Execution) -> bool:
    """Return whether two executions count as the same behaviour: the same value, or the
    same kind of exception.

    Messages of exceptions and printed text are not compared.
    """
    if first.outcome is not second.outcome:
        return False
    if first.outcome is Outcome.RETURNED:
        return same_value(first.value, second.value)
    return first.detail.partition(":")[0] == second.detail.partition(":")[0]


def _summary(execution: Execution) -> str:
    """Return the text of an execution for messages: its value, or how it ended."""
    if execution.outcome is Outcome.RETURNED:
        return shown_value(execution.value)[:60]
    return f"{execution.outcome} {execution.detail:.60}"


def _moved(before: Problem, after: Problem, arguments: str) -> str:
    """Return the argument text `arguments`, an input of the vanilla problem `before`,
    as an input of the perturbed problem `after`.

    The keywords of `after` may have other names.
    """
    if arguments == before.arguments:
        return after.arguments
    if before.arguments == after.arguments:
        return arguments
    given = arguments_of(replace(before, arguments=arguments))
    return with_values(after, [ast.unparse(node) for _, node in given])
