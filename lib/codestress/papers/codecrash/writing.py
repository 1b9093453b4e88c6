"""Material that a model writes for CodeCrash and that is checked by running it: hints, and JavaScript translations.

Written once to a file, so that all models are asked about the same material and others can look at it.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from codestress.generation.prompts import prompt_text
from codestress.inference.run import run, stored_responses
from codestress.literals import parse_literal, same_value
from codestress.papers.codecrash.assertions import assertion_parts, last_block
from codestress.papers.codecrash.perturbations.inputs import NEAR
from codestress.papers.codecrash.perturbations.variants import Checked, run_calls
from codestress.papers.codecrash.studies import fenced_program, javascript_arguments
from codestress.paths import STORE
from codestress.problems.program import Problem, from_stranger
from codestress.sandbox.executor import Execution, Executor
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.input_answers import parse_arguments
from codestress.scoring.judging import said, unanswered
from codestress.scoring.predictions import Task
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials

TRIES = 3
"""Answers that a model may give to one question before it counts as rejected (appendix B.3 leaves it open)."""
LONGEST = 4000
"""Tokens of an answer."""


@dataclass(frozen=True)
class Written:
    """What came of it: the rows of the file, and how often each outcome occurred, `accepted` among them."""

    rows: list[dict[str, str]]
    counts: Counter[str]


class Candidate(NamedTuple):
    """What an answer holds, and how it is checked."""

    row: dict[str, str]
    """Of the file, where it is accepted."""
    calls: list[tuple[Problem, str]]
    """What must be run: problems and arguments."""
    expected: list[Any]
    """What each of them must return, or must not, where a wrong value is wanted."""
    wrong: bool = False


class Unfit(Exception):
    """The answer holds nothing that could be checked; the message says why."""


def write_translations(problems: Sequence[Checked], model: str, *, seed: int, store: Path = STORE) -> Written:
    """JavaScript versions of Python problems (section 4.2): rows of id, code. Accepted is what returns the same under
    Node as the Python program, on the problem's input and on those near by."""
    return _write(problems, model, "codecrash.translate", _translation, seed, store)


def write_hints(problems: Sequence[Checked], task: Task, model: str, *, seed: int, store: Path = STORE) -> Written:
    """Wrong values for MHC (appendix B.3): rows of id, task, value. Accepted is an output of the true one's type that
    is not the true one, or an input with which the program returns something else or fails."""
    return _write(problems, model, f"codecrash.hint.{task}", partial(_hint, task), seed, store)


def _write(
    problems: Sequence[Checked],
    model: str,
    prompt: str,
    read: Callable[[Checked, str], Candidate],
    seed: int,
    store: Path,
) -> Written:
    """Asks about every problem until an answer is accepted, at most `TRIES` times."""
    by_name = {one.problem.id: one for one in problems}
    accepted: dict[str, dict[str, str]] = {}
    reasons: dict[str, str] = {}

    def asked(trial: Trial) -> Prompt:
        problem = by_name[trial.problem].problem
        values = {"code": problem.code, "function": problem.function, "call": problem.call, "output": problem.output}
        text = Template(prompt_text(prompt)).substitute(values)
        return Prompt((Message("user", text),), Sampling(0.7, 1.0, LONGEST))

    for number in range(TRIES):
        trials = Trials(
            [Trial(name, {}, seed, number) for name in by_name if name not in accepted],
            asked,
            # Nothing is judged here: what counts is whether the text passes its check.
            {"strict": lambda _, response: unanswered(response) or Score(Outcome.CORRECT, 0.0)},
        )
        if not trials.items:
            break
        candidates: dict[str, Candidate] = {}
        answers = run(trials, [model], store=store).answers
        texts = stored_responses([answer.key for answer in answers], store)
        for answer in answers:
            name = answer.trial.problem
            try:
                candidates[name] = read(by_name[name], said(texts[answer.key].text))
            except Unfit as error:
                reasons[name] = str(error)
        with Executor() as executor:
            executions = iter(run_calls([call for one in candidates.values() for call in one.calls], executor))
            for name, candidate in candidates.items():
                runs = [next(executions) for _ in candidate.calls]
                reasons[name] = _fault(candidate, runs)
                if not reasons[name]:
                    accepted[name] = candidate.row
    rows = [{"id": name, **accepted[name], "model": model} for name in by_name if name in accepted]
    rejected = Counter(reasons[name] for name in by_name if name not in accepted)
    return Written(rows, Counter({"accepted": len(rows)}) + rejected)


def _fault(candidate: Candidate, runs: Sequence[Execution]) -> str:
    """What is wrong with a candidate, by what became of its calls; empty where it is accepted."""
    ends = [run.outcome for run in runs if run.outcome is not Ending.RETURNED]
    same = not ends and all(map(same_value, [run.value for run in runs], candidate.expected))
    if candidate.wrong:
        return "not wrong" if same and runs else ""
    return "" if same else f"ended otherwise: {ends[0]}" if ends else "returns another value"


def _translation(one: Checked, text: str) -> Candidate:
    code = fenced_program(text)
    if not code:
        raise Unfit("no program in a fenced block")
    calls, expected = [], []
    # What a language does at the edges of its types, where inputs stand that a perturbation must survive, is its own.
    for given, execution in itertools.islice(zip(one.inputs, one.executions, strict=True), 1 + NEAR):
        if execution.outcome is not Ending.RETURNED:
            continue
        try:
            arguments = javascript_arguments(replace(one.problem, arguments=given))
            expected.append(json.loads(json.dumps(execution.value)))
        except (TypeError, ValueError, KeyError):
            if given == one.problem.arguments:
                raise Unfit("its values have no JSON form") from None
            continue
        problem = from_stranger(one.problem, code=code, arguments=arguments, language="javascript")
        calls.append((problem, arguments))

    return Candidate({"code": code}, calls, expected)


def _hint(task: Task, one: Checked, text: str) -> Candidate:
    content = last_block(text)
    if content is None:
        raise Unfit("no answer")
    true = one.executions[0].value
    try:
        left, right = assertion_parts(content, one.problem)
        if task == "output":
            value = parse_literal(right).value
        else:
            parse_arguments(left, one.problem)
    except (SyntaxError, ValueError):
        raise Unfit("not a value" if task == "output" else "not a call") from None
    if task == "output":
        if type(value) is not type(true) or same_value(value, true):
            raise Unfit("of another type" if type(value) is not type(true) else "not wrong")
        return Candidate({"task": task, "value": repr(value)}, [], [], wrong=True)
    arguments = left.strip()[len(one.problem.function) + 1 : -1]
    return Candidate({"task": task, "value": arguments}, [(from_stranger(one.problem), arguments)], [true], wrong=True)
