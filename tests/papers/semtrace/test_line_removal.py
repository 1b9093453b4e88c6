"""Incomplete versions of a program."""

from pathlib import Path

from hypothesis import given, strategies as st

from codestress.papers.semtrace.line_removal import removable, without_lines
from codestress.problems.problem_files import read_problems

CODE = "def f(x):\n    a = 1\n\n    return x"


def test_all_subsets_of_three_lines() -> None:
    versions = [without_lines(CODE, mask) for mask in range(2 ** removable(CODE))]
    assert len(versions) == len(set(versions)) == 8
    assert versions[0] == CODE
    assert versions[0b101] == "def f(x):\n"
    assert versions[-1] == "def f(x):"


@given(st.lists(st.text("ab \t", max_size=5), min_size=1, max_size=9), st.data())
def test_the_lines_that_stay_are_those_that_were_not_removed(
    lines: list[str], data: st.DataObject
) -> None:
    code = "\n".join(lines)
    mask = data.draw(st.integers(0, 2 ** removable(code) - 1))
    kept = without_lines(code, mask).split("\n")
    assert kept[0] == lines[0]
    assert kept[1:] == [line for i, line in enumerate(lines[1:]) if not mask >> i & 1]


def test_the_papers_count(shared_data: Path) -> None:
    problems = read_problems(shared_data / "cruxeval/cruxeval.jsonl").problems
    assert sum(2 ** removable(problem.code) for problem in problems) == 71_994
