"""A model writes hints and translations: they are run, and only those that are as wanted are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from studied import prompt_of, trials_of

from codestress.errors import DataError
from codestress.literals import parse_literal
from codestress.mutate.perturbations.inputs import other_value
from codestress.papers.codecrash import programs
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.material import Row, translated, written_hints
from codestress.papers.codecrash.writing import with_other_rows, write_material
from codestress.types import Task
from conftest import codestress
from mutate.perturbing import draw, needs_node
from openai_server import OpenAIServer, Received, Reply, completion
from told import names, refused

Answer = Callable[[int, int], str]
"""The text about a problem, by its number and how often it was asked about before."""
Write = Callable[[str, int, Task | None, Answer], list[Row]]


def lines(*rows: dict[str, object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def asked() -> list[Received]:
    return []


@pytest.fixture
def write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[Received]
) -> Write:
    """Has the registry's llama-3.1-8b, a real server, write about the first problems of a source."""

    def written(
        source: str, count: int, task: Task | None, answer: Answer
    ) -> list[Row]:
        checked, _ = programs.checked_problems(source, "python", count, "", 0)
        codes = [one.problem.code for one in checked]

        def behave(request: Received) -> Reply:
            asked.append(request)
            code = request.prompt.partition("```python\n")[2].partition("\n```")[0]
            return completion(answer(codes.index(code), request.seen))

        with OpenAIServer(behave) as server:
            monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
            store = tmp_path / "s.sqlite"
            return write_material(checked, "llama-3.1-8b", task, seed=0, store=store)

    return written


@pytest.mark.slow
@pytest.mark.isolation
@needs_node
def test_only_translations_that_mean_the_same_are_kept(
    write: Write, asked: list[Received], tmp_path: Path
) -> None:
    twins = [problem.code for problem in contest_problems("javascript")[:5]]

    def answer(number: int, seen: int) -> str:
        if (number, seen) == (0, 0):
            return "I would rather not."
        # Of the second, another program: never accepted.
        return f"```javascript\n{twins[2 if number == 1 else number]}\n```"

    made = write("contest", 5, None, answer)
    assert len(asked) == 5 + 2 + 1
    python = contest_problems()[:5]
    wanted = [problem.id for problem in python if problem is not python[1]]
    rows = [row for row in made if "reason" not in row]
    assert [row["id"] for row in rows] == wanted
    assert len(made) == 5
    path = tmp_path / "t.jsonl"
    path.write_text(lines(*rows))
    found = translated(python, str(path), "contest")
    assert [problem.id for problem in found] == wanted
    assert {problem.language for problem in found} == {"javascript"}


@pytest.mark.slow
@pytest.mark.isolation
def test_only_wrong_hints_are_kept_and_asked_with(write: Write, tmp_path: Path) -> None:
    checked, _ = programs.checked_problems("generated", "python", 6, "", 0)
    problems = [one.problem for one in checked]
    order = [problem.id for problem in problems]

    def answer(number: int, seen: int) -> str:
        problem = problems[number]
        value = repr(other_value(parse_literal(problem.output).value, draw(problem.id)))
        if number == 0:
            value = problem.output  # true: not wrong
        if (number, seen) == (1, 0):
            value = "{'another': 'type'}"
        return f"[ANSWER] {problem.call} == {value} [/ANSWER]"

    made = write("generated", 6, "output", answer)
    rejected, *accepted = made
    assert [row["id"] for row in made] == order
    assert not any("reason" in row for row in accepted)
    reason = rejected["reason"]
    told = {"id": order[0], "task": "output", "reason": reason, "answer": answer(0, 0)}
    assert rejected == told
    assert reason
    # Rows of the other task stay; the rejected one is no hint any more.
    path = tmp_path / "h.jsonl"
    other = {"id": order[1], "task": "input", "value": "1"}
    path.write_text(lines(other, {"id": order[0], "task": "output", "value": "1"}))
    path.write_text(with_other_rows(made, path, "generated"))
    rows = [row | {"dataset": "generated"} for row in made]
    assert path.read_text() == lines(other, *rows)
    # Another data set's problems may have the same ids.
    both = with_other_rows(made, path, "cruxeval")
    assert both.startswith(path.read_text())
    trials = trials_of(
        problems=["generated"],
        perturbations=["VAN", "MHC"],
        hints=str(path),
        samples_direct=1,
    )
    values = {row["id"]: row["value"] for row in accepted}
    hinted = set()
    for number, trial in enumerate(trials.items):
        if trial.factors["perturbation"] == "MHC":
            hinted.add(trial.problem)
            hint = f"# The return value is {values[trial.problem]}\n"
            assert hint in prompt_of(trials, number)
    assert hinted == set(order[1:])
    [gap] = trials.not_run
    names(gap, "1 of 6 problems of generated", path)


def test_a_second_row_for_a_problem_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    row = {"id": "a", "task": "output", "value": "1", "code": "f"}
    for other in ({"task": "input"}, {"dataset": "contest"}, {"id": "b"}):
        path.write_text(lines(row, row | other))
        assert written_hints(str(path), "generated", "output", {"a"}) == {"a": "1"}
    path.write_text(lines(row, row | {"id": "b"}, row))
    for read in (
        lambda: written_hints(str(path), "generated", "output", {"a"}),
        lambda: translated([], str(path), "generated"),
    ):
        with refused(DataError, "m.jsonl, line 3", "'a'"):
            read()


@pytest.mark.isolation
def test_written_inputs_are_run(write: Write, asked: list[Received]) -> None:
    checked, _ = programs.checked_problems("generated", "python", 6, "", 0)
    calls = [checked[0].problem.call, "f(None)", "f(__import__('os').getpid())", "f()"]
    calls += ["f (\n    None,\n)", "12345"]

    def answer(number: int, seen: int) -> str:
        call = "f(None)" if seen else calls[number]
        end = "" if call == "12345" else f" == {checked[number].problem.output}"
        return f"[ANSWER] {call}{end} [/ANSWER]"

    made = write("generated", 6, "input", answer)
    assert len(asked) == 6 + 3  # of the right input and of what is no call
    assert [row["id"] for row in made] == [one.problem.id for one in checked]
    values = ["None", "None", "None", "", "None", "None"]
    assert [row["value"] for row in made] == values


@pytest.mark.isolation
def test_any_model_writes_hints(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "def answer(messages, **settings):\n"
        "    call = messages[-1]['content'].rpartition('[ANSWER] ')[2].partition(' == ')[0]\n"
        "    return f'[ANSWER] {call} == None [/ANSWER]'\n"
    )
    path = tmp_path / "folder/h.jsonl"
    model = f"{tmp_path / 'own.py'}:answer"
    command = ["write", "hints", "--model", model, "--problems", "contest"]
    command += ["--n-problems", "2", "--output", str(path)]
    done = codestress(*command, outputs=tmp_path)
    assert done.returncode == 0, done.stderr
    names(done.stdout, "2 of another type", path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["reason"] for row in rows] == ["of another type"] * 2
