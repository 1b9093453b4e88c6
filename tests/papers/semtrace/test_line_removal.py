"""Incomplete versions of a program."""

from pathlib import Path

from hypothesis import given, strategies as st

from codestress.papers.semtrace.line_removal import (
    LineRemoval,
    removable,
    without_lines,
)
from codestress.parameters import questions
from codestress.problems.problem_files import read_problems
from codestress.types import Trial


@given(st.lists(st.text("ab \t", max_size=5), min_size=1, max_size=9), st.data())
def test_the_other_lines_stay_in_order(lines: list[str], data: st.DataObject) -> None:
    code = "\n".join(lines)
    mask = data.draw(st.integers(0, 2 ** removable(code) - 1))
    head, *rest = without_lines(code, mask).split("\n")
    assert head == lines[0]
    assert rest == [line for i, line in enumerate(lines[1:]) if not mask >> i & 1]


def test_the_papers_count(shared_data: Path) -> None:
    problems = read_problems(shared_data / "cruxeval/cruxeval.jsonl").problems
    assert sum(2 ** removable(problem.code) for problem in problems) == 71_994


def cell(trial: Trial) -> tuple[object, ...]:
    return trial.problem, *trial.factors.values()


def test_models_and_interpreter_are_shown_the_same_programs() -> None:
    values = {"artefact": "semtrace/x", "models": ["sim-near"], "n_problems": 4}
    values["problems"] = "generated"
    whole = questions(LineRemoval.model_validate(values))
    executed = questions(LineRemoval.model_validate(values | {"shown": "program"}))
    assert len(whole.items) == 2 * len(executed.items)
    twins = {cell(trial): trial for trial in whole.items}
    for trial in executed.items[:40]:
        program = executed.render(trial)
        prompt = whole.render(twins[cell(trial)])
        code = f"[FUNCTIONS]\n{program.messages[0].content}\n[/FUNCTIONS]"
        assert code in prompt.messages[0].content
        assert prompt.prefill.endswith(f"assert {program.prefill} ==")
    few = questions(LineRemoval.model_validate(values | {"versions": 3})).items
    assert {trial.factors["removed"] == 0 for trial in few} == {True, False}
    assert {cell(trial) for trial in few} <= twins.keys()
