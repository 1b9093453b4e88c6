"""Material that a model writes for CodeCrash: hints and JavaScript translations, which are checked
by running them.

The material is written to a file once, so that all models get the same material and others can
inspect the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.literals import parse_literal, same_value
from codestress.mutate.perturbations.checking import Checked, run_calls
from codestress.mutate.perturbations.inputs import NEAR
from codestress.paths import STORE
from codestress.problems.program import Problem, from_stranger
from codestress.prompts import filled
from codestress.sandbox.executor import Executor
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.forms import fenced_program, tagged, without_thoughts
from codestress.scoring.input_answers import parse_arguments
from codestress.scoring.judging import unanswered
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Response,
    Sampling,
    Score,
    Task,
    Trial,
    Trials,
)

from .assertions import assertion_parts
from .studies import javascript_arguments, read_rows

TRIES = 3
"""Largest number of times that a model is asked for one piece of material; without an accepted
response it is then rejected (appendix B.3 gives no number)."""
LONGEST = 4000
"""Largest number of tokens of a response (`max_tokens` of its request)."""


@dataclass(frozen=True)
class Written:
    """Material that a model wrote, after its check: `rows`, the accepted rows, ready to be written
    to the file of material, and `rejected`, the other rows, each with a `reason`."""

    rows: list[dict[str, str]]
    rejected: list[dict[str, str]]

    @property
    def counts(self) -> Counter[str]:
        """Counter of the rows by outcome: `accepted`, and each reason for a rejection."""
        reasons = (row["reason"] for row in self.rejected)
        return Counter(["accepted"] * len(self.rows) + [*reasons])


class Candidate(NamedTuple):
    """Material read from one response of a model, with the calls that check it."""

    row: dict[str, str]
    """Row of the file if the candidate is accepted."""
    calls: list[tuple[Problem, str]]
    """Calls to run for the check: problems and argument texts."""
    expected: list[Any]
    """Value that each call must return; of a hint, the value that its call must not return."""


def write_translations(
    problems: Sequence[Checked], model: str, *, seed: int, store: Path = STORE
) -> Written:
    """Returns JavaScript versions of the Python `problems`, written by `model` (section 4.2):
    `Written` with rows of id, code, model; rejected rows have id, reason, answer.

    A translation is accepted if Node returns the same values as Python, on the problem's input and
    on inputs near by. Responses in the file `store` are not requested again.
    """
    name = "codecrash.translate"
    return _write(problems, model, name, _translation, {}, seed, store)


def write_hints(
    problems: Sequence[Checked],
    task: Task,
    model: str,
    *,
    seed: int,
    store: Path = STORE,
) -> Written:
    """Returns wrong values for MHC, the misleading hint, about `problems`, written by `model`
    (appendix B.3): `Written` with rows of id, task, value, model; rejected rows have id, task,
    reason, answer. Responses in the file `store` are not requested again.

    A hint is accepted if it is a wrong output of the true output's type (`task` is `output`), or an
    input for which the program returns something else or fails (`input`).
    """
    name, read = f"codecrash.hint.{task}", partial(_hint, task)
    return _write(problems, model, name, read, {"task": task}, seed, store)


def with_other_rows(
    written: Written, rows: Sequence[dict[str, str]], path: Path
) -> str:
    """Returns the text of a JSON Lines file to replace that at `path`: its rows (if it exists)
    about other problems or tasks than those in `written`, then `rows`. Raises `DataError` where a
    line of the old file is no object with an id."""
    asked = {(row["id"], row.get("task")) for row in [*written.rows, *written.rejected]}
    before = read_rows(path, ("id",)) if path.is_file() else []
    others = [row for row in before if (row["id"], row.get("task")) not in asked]
    return "".join(
        f"{json.dumps(row, ensure_ascii=False)}\n" for row in [*others, *rows]
    )


def _write(
    problems: Sequence[Checked],
    model: str,
    prompt: str,
    read: Callable[[Checked, str], Candidate | str],
    about: dict[str, str],
    seed: int,
    store: Path,
) -> Written:
    """Returns the material that `model` wrote about `problems`, each asked about until a response
    is accepted, at most `TRIES` times. `prompt` names the file of the question; `read` makes a
    candidate from a problem and a response's text, or gives the reason to reject the response;
    `about` stands in every row after the id.
    """
    left = {one.problem.id: one for one in problems}
    accepted: dict[str, dict[str, str]] = {}
    rejected: dict[str, dict[str, str]] = {}
    for number in range(TRIES):
        trials = [Trial(name, {}, seed, number) for name in left]
        texts = _responses(trials, left, model, prompt, store) if trials else {}
        candidates: dict[str, Candidate] = {}
        reasons: dict[str, str] = {}
        for name, text in texts.items():
            found = read(left[name], text)
            if isinstance(found, str):
                reasons[name] = found
            else:
                candidates[name] = found
        reasons |= _faults(candidates, wrong="task" in about)
        for name, text in texts.items():
            row = {"id": name} | about
            if reason := reasons.get(name):
                rejected[name] = row | {"reason": reason, "answer": text}
            else:
                accepted[name] = row | candidates[name].row | {"model": model}
                del left[name]
    names = [one.problem.id for one in problems]
    rows = [accepted[name] for name in names if name in accepted]
    return Written(rows, [rejected[name] for name in left])


def _responses(
    trials: list[Trial],
    problems: Mapping[str, Checked],
    model: str,
    prompt: str,
    store: Path,
) -> dict[str, str]:
    """Returns the texts of the responses of `model`, without thoughts, as a dict by problem id: to
    `trials`, which ask about `problems` by the question in the file named by `prompt`."""

    def render(trial: Trial) -> Prompt:
        problem = problems[trial.problem].problem
        named = ("code", "function", "call", "output")
        text = filled(prompt, {name: getattr(problem, name) for name in named})
        return Prompt((Message("user", text),), Sampling(0.7, 1.0, LONGEST))

    asked = Trials(trials, render, {"strict": _unjudged})
    answers = run(asked, [model], store=store).answers
    texts = stored_responses([answer.key for answer in answers], store)
    return {one.trial.problem: without_thoughts(texts[one.key].text) for one in answers}


def _unjudged(_: Trial, response: Response) -> Score:
    """Returns the score 0 for any `response`, as only the later check of the material counts; its
    outcome is `correct` for a response with text, else that of a refused or empty one."""
    return unanswered(response) or Score(Outcome.CORRECT, 0.0)


def _faults(candidates: Mapping[str, Candidate], *, wrong: bool) -> dict[str, str]:
    """Returns the reason to reject each of `candidates`, after running its calls, whose values are
    those expected, or others if they have to be `wrong`; empty where it is accepted."""
    calls: list[tuple[Problem, str]] = []
    for candidate in candidates.values():
        calls += candidate.calls
    with Executor() as executor:
        executions = iter(run_calls(calls, executor))
    faults = {}
    for name, candidate in candidates.items():
        runs = list(islice(executions, len(candidate.calls)))
        faults[name] = ""
        ends = [run.outcome for run in runs if run.outcome is not Ending.RETURNED]
        values = [run.value for run in runs]
        if wrong:
            if values and not ends and same_value(values, candidate.expected):
                faults[name] = "not wrong"
        elif ends:
            faults[name] = f"ended otherwise: {ends[0]}"
        elif not same_value(values, candidate.expected):
            faults[name] = "returns another value"
    return faults


def _translation(one: Checked, text: str) -> Candidate | str:
    code = fenced_program(text, one.problem.function)
    if not code:
        return "no program in a fenced block"
    calls, expected = [], []
    # What a language does at the edges of its types, where inputs stand that a perturbation must survive, is its own.
    near = zip(one.inputs[: 1 + NEAR], one.executions, strict=False)
    for given, execution in near:
        if execution.outcome is not Ending.RETURNED:
            continue
        try:
            arguments = javascript_arguments(replace(one.problem, arguments=given))
            expected.append(json.loads(json.dumps(execution.value)))
        except (TypeError, ValueError, KeyError):
            if given == one.problem.arguments:
                return "its values have no JSON form"
            continue
        changes: Any = {"arguments": arguments, "language": "javascript"}
        problem = from_stranger(one.problem, code=code, **changes)
        calls.append((problem, arguments))
    return Candidate({"code": code}, calls, expected)


def _hint(task: Task, one: Checked, text: str) -> Candidate | str:
    content, true = tagged(text), one.executions[0].value
    if content is None:
        return "no answer"
    try:
        left, right = assertion_parts(content, one.problem)
        if task == "output":
            value = parse_literal(right).value
        else:
            parse_arguments(left, one.problem)
    except (SyntaxError, ValueError):
        return "not a value" if task == "output" else "not a call"
    if task == "output":
        if type(value) is not type(true):
            return "of another type"
        if same_value(value, true):
            return "not wrong"
        return Candidate({"value": repr(value)}, [], [])
    arguments = left.strip()[len(one.problem.function) + 1 : -1]
    calls = [(from_stranger(one.problem), arguments)]
    return Candidate({"value": arguments}, calls, [true])
