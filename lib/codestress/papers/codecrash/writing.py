"""Material that a model writes for CodeCrash and that is checked by running it: hints, and JavaScript translations.

Written once to a file, so that all models are asked about the same material and others can look at it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from codestress.generation.prompts import prompt_text
from codestress.inference.run import run, stored_responses
from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.papers.codecrash.assertions import assertion_parts, last_block
from codestress.papers.codecrash.perturbations.variants import Checked, called
from codestress.papers.codecrash.studies import fenced_program, javascript_arguments
from codestress.paths import STORE
from codestress.problems.program import Problem, from_stranger
from codestress.sandbox.executor import Execution, Executor, Outcome, Program
from codestress.scoring.input_answers import NotArguments, parse_arguments
from codestress.scoring.predictions import Task
from codestress.scoring.reasoning import said
from codestress.types import Message, Prompt, Reason, Response, Sampling, Score, Trial, Trials

TRIES = 3
"""Answers that a model may give to one question before it counts as rejected (appendix B.3 leaves it open)."""
LONGEST = 4000
"""Tokens of an answer."""


@dataclass(frozen=True)
class Written:
    """What came of it: the rows of the file, and how often each outcome occurred, `accepted` among them."""

    rows: list[dict[str, str]]
    counts: Counter[str]


Check = Callable[[list[tuple[Checked, str]]], list[tuple[str, str]]]
"""Takes problems with answers' texts; gives for each what to write and why not (one of them empty)."""


def write_translations(problems: Sequence[Checked], model: str, *, seed: int, store: Path = STORE) -> Written:
    """JavaScript versions of Python problems (section 4.2): rows of id, code. Accepted is what returns the same under
    Node as the Python program, on the problem's input and on those near by."""

    def prompt(problem: Problem) -> str:
        return Template(prompt_text("codecrash.translate")).substitute(code=problem.code, function=problem.function)

    with Executor() as executor:
        return _write(problems, model, prompt, lambda tried: _translations(tried, executor), "code", {}, seed, store)


def write_hints(problems: Sequence[Checked], task: Task, model: str, *, seed: int, store: Path = STORE) -> Written:
    """Wrong values for MHC (appendix B.3): rows of id, task, value. Accepted is an output of the true one's type that
    is not the true one, or an input with which the program returns something else or fails."""

    def prompt(problem: Problem) -> str:
        return Template(prompt_text(f"codecrash.hint.{task}")).substitute(
            code=problem.code, call=problem.call, output=problem.output
        )

    with Executor() as executor:

        def check(tried: list[tuple[Checked, str]]) -> list[tuple[str, str]]:
            return [_hinted_output(*one) for one in tried] if task == "output" else _hinted_inputs(tried, executor)

        return _write(problems, model, prompt, check, "value", {"task": task}, seed, store)


def _write(
    problems: Sequence[Checked],
    model: str,
    prompt: Callable[[Problem], str],
    check: Check,
    field: str,
    fixed: dict[str, str],
    seed: int,
    store: Path,
) -> Written:
    """Asks about every problem until an answer is accepted, at most `TRIES` times."""
    pending = {one.problem.id: one for one in problems}
    accepted: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for number in range(TRIES):
        trials = _questions({name: prompt(one.problem) for name, one in pending.items()}, number, seed)
        answers = run(trials, [model], store=store).answers
        texts = stored_responses([answer.key for answer in answers], store)
        tried = [(pending[answer.trial.problem], said(texts[answer.key].text)) for answer in answers]
        for (one, _), (text, why) in zip(tried, check(tried), strict=True):
            if why:
                reasons[one.problem.id] = why
            else:
                accepted[one.problem.id] = text
        pending = {name: one for name, one in pending.items() if name not in accepted}
        if not pending:
            break
    rows = [
        {"id": one.problem.id, **fixed, field: accepted[one.problem.id], "model": model}
        for one in problems
        if one.problem.id in accepted
    ]
    counts = Counter({"accepted": len(rows)}) + Counter(reasons[name] for name in pending)
    return Written(rows, counts)


def _questions(texts: dict[str, str], number: int, seed: int) -> Trials:
    """One request for each problem, the `number`th try."""
    sampling = Sampling(0.7, 1.0, LONGEST)
    return Trials(
        [Trial(name, {}, seed, number) for name in texts],
        lambda trial: Prompt((Message("user", texts[trial.problem]),), sampling),
        {"strict": lambda _, response: _unjudged(response)},
    )


def _unjudged(response: Response) -> Score:
    """Nothing is judged here: what counts is whether the text passes its check."""
    return Score(Reason.REFUSED if response.refused else Reason.RIGHT, 0.0)


def _translations(tried: list[tuple[Checked, str]], executor: Executor) -> list[tuple[str, str]]:
    programs: list[Program] = []
    places: list[tuple[int, Execution]] = []
    codes = [fenced_program(text) for _, text in tried]
    why = ["" if code else "no program in a fenced block" for code in codes]
    for index, (one, _) in enumerate(tried):
        for text, execution in zip(one.inputs, one.executions, strict=True):
            if why[index] or execution.outcome is not Outcome.RETURNED:
                continue
            try:
                arguments = javascript_arguments(replace(one.problem, arguments=text))
                json.dumps(execution.value)
            except (TypeError, ValueError, KeyError):
                why[index] = "its values have no JSON form" if text == one.problem.arguments else ""
                continue
            problem = from_stranger(one.problem, code=codes[index], arguments=arguments, language="javascript")
            programs.append(called(problem, arguments))
            places.append((index, execution))
    executions = executor.run(programs, language="javascript") if programs else ()
    for (index, expected), found in zip(places, executions, strict=True):
        if found.outcome is not Outcome.RETURNED:
            why[index] = why[index] or f"ended otherwise: {found.outcome}"
        elif not same_value(found.value, json.loads(json.dumps(expected.value))):
            why[index] = why[index] or "returns another value"
    return list(zip(codes, why, strict=True))


def _hinted_output(one: Checked, text: str) -> tuple[str, str]:
    content = last_block(text)
    if content is None:
        return "", "no answer"
    try:
        _, right = assertion_parts(content, one.problem)
        value = parse_literal(right).value
    except (SyntaxError, ValueError):
        return "", "not a value"
    true = one.executions[0].value
    if type(value) is not type(true):
        return "", "of another type"
    return ("", "not wrong") if same_value(value, true) else (repr(value), "")


def _hinted_inputs(tried: list[tuple[Checked, str]], executor: Executor) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    programs: list[Program] = []
    for one, text in tried:
        content = last_block(text)
        try:
            left, _ = assertion_parts(content or "", one.problem)
            parse_arguments(left, one.problem)
        except (SyntaxError, ValueError, NotArguments, NotLiteral):
            found.append(("", "no answer" if content is None else "not a call"))
            continue
        arguments = left.strip()[len(one.problem.function) + 1 : -1]
        found.append((arguments, ""))
        programs.append(called(from_stranger(one.problem), arguments))
    executions = iter(executor.run(programs) if programs else ())
    checked = []
    for (one, _), (arguments, why) in zip(tried, found, strict=True):
        if not why:
            execution = next(executions)
            if execution.outcome is Outcome.RETURNED and same_value(execution.value, one.executions[0].value):
                why = "not wrong"
        checked.append((arguments if not why else "", why))
    return checked
