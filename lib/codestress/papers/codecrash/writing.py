"""Material that a model writes for CodeCrash: hints and JavaScript translations, which
are checked by running them.

The material is written to a file once, so that all models get the same material and
others can inspect the file.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.literals import parse_literal, same_value
from codestress.mutate.perturbations.checking import Checked, run_calls
from codestress.mutate.perturbations.inputs import NEAR
from codestress.paths import STORE
from codestress.problems.program import from_stranger
from codestress.prompts import filled
from codestress.sandbox.executor import Executor, Outcome as Ending
from codestress.scoring.forms import fenced_program, tagged, without_thoughts
from codestress.scoring.input_answers import parse_arguments
from codestress.types import (
    Message,
    Prompt,
    Sampling,
    Task,
    Trial,
    Trials,
)

from .assertions import assertion_parts
from .material import Row, javascript_version, read_rows

TRIES = 3
"""Largest number of times that a model is asked for one piece of material. If no
response is accepted, the piece is rejected (appendix B.3 gives no number)."""
LONGEST = 4000
"""Largest number of tokens of a response (`max_tokens` of its request)."""


class Rejected(Exception):
    """Raised, with the reason, if a response holds no usable material."""


def write_material(
    problems: Sequence[Checked],
    model: str,
    task: Task | None,
    *,
    seed: int,
    store: Path = STORE,
) -> list[Row]:
    """Return the material about `problems` that `model` wrote, a row for each problem. Accepted rows have id, model
    and value or code; rejected rows have id, reason, answer.

    With a `task`, which is then named in all rows, the material is wrong values for MHC, the misleading hint
    (appendix B.3). For `output`, a value is accepted if it is a wrong output of the true output's type. For `input`,
    a value is accepted if the program returns something else for it, or fails. Without a task (None) the material is
    JavaScript versions (section 4.2). A version is accepted if Node returns the same values as Python, for the
    problem's input and for inputs near by. Each problem is asked about until a response is accepted, at most `TRIES`
    times. Responses in the file `store` are not requested again.
    """
    of_task = {"task": task} if task else {}
    prompt = f"codecrash.hint.{task}" if task else "codecrash.translate"
    read = partial(_hint, task) if task else _translation
    by_id = {checked.problem.id: checked for checked in problems}
    rows: dict[str, Row] = {}
    left = list(by_id)
    for number in range(TRIES):
        trials = [Trial(name, {}, seed, number) for name in left]
        texts = _responses(trials, by_id, model, prompt, store) if trials else {}
        with Executor() as executor:
            for name, text in texts.items():
                rows[name] = {"id": name, **of_task}
                try:
                    rows[name] |= read(by_id[name], text, executor)
                    rows[name]["model"] = model
                except Rejected as why:
                    rows[name] |= {"reason": str(why), "answer": text}
        left = [name for name in by_id if "reason" in rows[name]]
    return [rows[name] for name in by_id]


def with_other_rows(rows: Sequence[Row], path: Path, source: str) -> str:
    """Return the new text of the JSON Lines file at `path`; nothing is written. It has
    the old rows, then `rows`, the result of `write_material`. An old row is left out if
    its data set is `source` and its problem and task are in `rows`. Raises `DataError`
    if a line of the old file is not an object with an id."""
    asked = {(row["id"], row.get("task")) for row in rows}
    kept = []
    if path.is_file():
        for _, row in read_rows(path, "id"):
            other = row.get("dataset", source) != source
            if other or (row["id"], row.get("task")) not in asked:
                kept.append(row)
    # CRUXEval and LiveCodeBench both have a sample_0.
    kept += [row | {"dataset": source} for row in rows]
    lines = [json.dumps(row, ensure_ascii=False) for row in kept]
    return "".join(f"{line}\n" for line in lines)


def _responses(
    trials: list[Trial],
    problems: Mapping[str, Checked],
    model: str,
    prompt: str,
    store: Path,
) -> dict[str, str]:
    """Return the texts of the responses of `model` to `trials`, without thoughts, as a
    dict from problem id to text. The trials ask about `problems` with the prompt file
    named `prompt`."""

    def render(trial: Trial) -> Prompt:
        problem = problems[trial.problem].problem
        named = ("code", "function", "call", "output")
        text = filled(prompt, {name: getattr(problem, name) for name in named})
        return Prompt((Message("user", text),), Sampling(0.7, 1.0, LONGEST))

    # Nothing is scored: only the later check of the material counts.
    questions = Trials(trials, render, {})
    answers = run(questions, [model], store=store).answers
    keys = answers.set_index("problem")["key"]
    texts = stored_responses(keys, store)
    return {problem: without_thoughts(texts[key].text) for problem, key in keys.items()}


def _translation(checked: Checked, text: str, executor: Executor) -> Row:
    """Return the row for the JavaScript translation in `text`. Raises `Rejected` if
    there is none, if the program's values have no JSON form, or if the translation does
    not return the same values as the Python program."""
    code = fenced_program(text, checked.problem.function)
    if not code:
        raise Rejected("no program in a fenced block")
    calls = []
    expected = []
    # Inputs at the edges of types, which follow the ones near by, are left out: Python and
    # JavaScript rightly differ there.
    near = zip(checked.inputs[: 1 + NEAR], checked.executions, strict=False)
    for given, execution in near:
        if execution.outcome is Ending.RETURNED:
            try:
                problem = replace(checked.problem, arguments=given)
                version = javascript_version(problem, code)
                expected.append(json.loads(json.dumps(execution.value)))
                calls.append((version, version.arguments))
            except (TypeError, ValueError):
                if given == checked.problem.arguments:
                    raise Rejected("its values have no JSON form") from None
    for execution, value in zip(run_calls(calls, executor), expected, strict=True):
        returned = execution.outcome is Ending.RETURNED
        if not returned or not same_value(execution.value, value):
            raise Rejected(f"not the same value ({execution.outcome})")
    return {"code": code}


def _hint(task: Task, checked: Checked, text: str, executor: Executor) -> Row:
    """Return the row for the hint in `text`. Raises `Rejected` if `text` contains none,
    or one that is not wrong."""
    problem = checked.problem
    content = tagged(text)
    true = checked.executions[0].value
    if content is None:
        raise Rejected("no answer")
    try:
        left, right = assertion_parts(content, problem)
        if task == "output":
            value = parse_literal(right).value
            if type(value) is not type(true):
                raise Rejected("of another type")
            if same_value(value, true):
                raise Rejected("not wrong")
            return {"value": repr(value)}
        parse_arguments(left, problem)
        call = ast.unparse(ast.parse(left.strip()))
    except (SyntaxError, ValueError):
        raise Rejected(f"not an {task}") from None
    function, _, arguments = call[:-1].partition("(")
    if function != problem.function:
        raise Rejected("not an input")
    [execution] = run_calls([(from_stranger(problem), arguments)], executor)
    if execution.outcome is Ending.RETURNED and same_value(execution.value, true):
        raise Rejected("not wrong")
    return {"value": arguments}
