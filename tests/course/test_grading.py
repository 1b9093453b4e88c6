"""Grading of a submission: what counts of a notebook, what each failure says, who handed it in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from submissions import submission

from codestress.course.grading import (
    Graded,
    grade,
    read_submission,
    students,
    write_feedback,
)
from codestress.errors import DataError
from told import names, refused

pytestmark = pytest.mark.isolation

pytest.importorskip("otter")

UNREADABLE = {
    "minus": "-" * 100_000 + "1",
    "nested": "(" * 100_000,
    "blank lines": "\n" * 200_000 + "(",
    "long": "x = " + "1" * 100_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_cell_gets_a_short_remark_and_the_rest_counts(
    name: str, tmp_path: Path
) -> None:
    path = submission(tmp_path, UNREADABLE[name], "def f(x):\n    return x")
    parts, remarks = read_submission(path)
    names("\n".join(parts), "def f(x)")
    assert remarks
    assert all(len(remark) < 400 for remark in remarks)


EMPTY = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": '


@pytest.mark.parametrize(
    "text", ["{}", EMPTY + '[{"cell_type": "code"}]}', EMPTY + "[3]}", "not JSON"]
)
def test_a_file_that_is_no_notebook_is_refused(text: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ipynb"
    bad.write_text(text)
    with refused(DataError, "bad.ipynb", "notebook"):
        read_submission(bad)


TESTS = """from otter.test_files import test_case

OK_FORMAT = False
name = "q1"
points = 4

@test_case(points=1, hidden=False)
def test_one(one):
    assert one(1) == 2

@test_case(points=1, hidden=False)
def test_two(two):
    assert two([1, 2]) == {"a": [2, 3]}

@test_case(points=1, hidden=False)
def test_three(three, STUDENT):
    assert three(STUDENT) == "ada"

@test_case(points=1, hidden=True)
def test_four(four):
    assert four(2.0) == 4.0
"""
WHOLE = (
    "import numpy as np\nimport pandas as pd\nLIMIT = 1",
    "def one(x):\n    return x + LIMIT",
    "def two(rows):\n    return {'a': np.array(rows) + LIMIT}",
    "def three(name):\n    return name",
    "def four(x):\n    return float(np.square(x))",
)
"""A submission with all points. `pd` is not there when it is graded."""
BESIDE = [
    "def mine(t: pd.DataFrame, *, to: Path = None) -> pd.Series:\n    rest: pd.Series = t",
    "def mine(data=PRACTICE, more=load()):\n    pass",
    "class Mine(pd.DataFrame):\n    x = nowhere",
    "def mine():\n    return (1,\n\nprint('unfinished'",
    "def mine(x, x):\n    pass",
    "return 3\nyield 4\nx = await go()\nbreak",
    "nowhere\nhere = nowhere\nhere.there[0] = nowhere()\ndel nowhere",
    "import sys\nx = sys.exit(3)\ndef mine(x=exit()):\n    pass\nraise SystemExit",
    "import torch, nothing.at.all\nfrom math import nothing\nfrom nothing import *",
    "import codestress\nfrom __future__ import annotations, nothing",
    "!pip install pandas\nfiles = !ls\nt = %time 1\n?two\nif 1:\n    %time 3\nx = 1",
    "list = [1]\ntype = 'x'\nmap = {}\ntuple = set = isinstance = dict = None",
    "def mine():\n    return mine()\nx = mine()",
    "open('/tmp/x', 'w')\nx = open('/nowhere', 'w')\ny = input('name? ')",
]
"""Cells that a student leaves beside right ones, and that take no point of them."""
Grading = Callable[..., Graded]


@pytest.fixture
def graded_cells(tmp_path: Path) -> Grading:
    """A function that grades a submission of some cells by `TESTS`."""
    questions = tmp_path / "tests"
    questions.mkdir()
    (questions / "q1.py").write_text(TESTS)
    return lambda *cells: grade(submission(tmp_path, *cells), questions, "ada")


@pytest.mark.parametrize("place", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_cell_that_fails_takes_no_points_of_others(
    place: int, graded_cells: Grading
) -> None:
    """Before the cells that count, and after them."""
    graded = graded_cells(*WHOLE[:place], *BESIDE, *WHOLE[place:])
    assert graded.score == 4, (graded.failed, graded.remarks)
    names("\n".join(graded.remarks), f"cell {place + 5}", "argument 'x'")


def test_definitions_that_do_not_end_are_remarked_at_once(
    graded_cells: Grading,
) -> None:
    graded = graded_cells("total = sum(x for x in iter(int, 1))", *WHOLE)
    assert graded.score == 0
    names("\n".join(graded.remarks), "nothing is tried", "the notebook")
    assert len(graded.failed["q1"]) == 4


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("def one(x, data=PRACTICE):\n    return x + 1", "'PRACTICE'"),
        pytest.param("class one(pd.DataFrame): ...", "'pd'", marks=pytest.mark.slow),
        ("def one(x:\n    return x", "missing"),
    ],
)
def test_a_function_that_cannot_be_defined_fails_alone_and_says_why(
    cell: str, reason: str, graded_cells: Grading
) -> None:
    graded = graded_cells(WHOLE[0], cell, *WHOLE[2:])
    assert graded.score == 3, (graded.failed, graded.remarks)
    [message] = graded.failed["q1"]
    names(message, "one", reason)


def test_a_failed_test_says_what_it_expected_and_what_was_returned(
    graded_cells: Grading,
) -> None:
    cells = ("def one(x):\n    return 7", "def four(x):\n    return 4.0", *WHOLE[2:4])
    wrong, broken = graded_cells(*cells).failed["q1"]
    names(wrong, "one(1) == 2", "returned 7")
    names(broken, "two([1, 2])", "'np'")
    assert "returned" not in broken


def test_constants_and_helpers_of_other_cells_are_there(graded_cells: Grading) -> None:
    cells = (
        "from math import *\nSTEP = 1\nNAMES = {}\nNAMES['a'] = 'b'",
        "def register(f):\n    NAMES[f.__name__] = f\n    return f",
        "def one(x, step=STEP):\n    return helper(x) + step",
        "@register\ndef helper(x):\n    return x",
        "two = lambda rows: {'a': [floor(row) + STEP for row in rows]}",
        "class Name:\n    def __init__(self, text: pd.Series):\n        self.text = text",
        "def three(name):\n    assert NAMES['helper'](3) == 3\n    return Name(name).text",
        "def four(x):\n    return 0",
        "def four(x):  # again, as students do\n    return x * 2",
    )
    graded = graded_cells(*cells)
    assert graded.score == 4, (graded.failed, graded.remarks)


def test_feedback_is_a_file_for_each_and_a_table_for_all(tmp_path: Path) -> None:
    scores, possible = {"q1": 1.0, "q2": 0.0}, {"q1": 2.0, "q2": 3.0}
    failed = {"q1": ["test_x: expected 1; it is 2"], "q2": []}
    ada = Graded("ada", scores, possible, failed, ("cell 1 …",))
    formula = Graded("=x y", {"q1": 2.0}, {"q1": 2.0}, {"q1": []})
    grades = write_feedback(tmp_path / "feedback", "01_scorer", [ada, formula])
    files = {path.name for path in grades.parent.iterdir()}
    assert files == {"=x y.md", "ada.md", "grades.csv"}
    table = "student,q1,q2,points,of\nada,1,0,1,5\n'=x y,2,,2,2\n"
    assert grades.read_text() == table
    text = (grades.parent / "ada.md").read_text()
    names(text, "01_scorer", "q1", "1 of 2", *failed["q1"], *ada.remarks)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["alice/hw.ipynb", "bob/hw.ipynb", "carol.ipynb"], ["alice", "bob", "carol"]),
        (["alice/01_scorer.ipynb"], ["alice"]),
    ],
)
def test_hand_ins_of_one_name_are_named_by_their_folders(
    paths: list[str], expected: list[str], tmp_path: Path
) -> None:
    by_path = students([tmp_path / path for path in paths], "01_scorer")
    assert list(by_path.values()) == expected


@pytest.mark.parametrize(
    "paths",
    [["ada.ipynb", "x/ADA.ipynb"], ["alice/ps1/hw.ipynb", "bob/ps1/hw.ipynb"]],
)
def test_two_hand_ins_of_one_student_are_refused(
    paths: list[str], tmp_path: Path
) -> None:
    with refused(DataError, paths[1], "rename"):
        students([tmp_path / path for path in paths], "01_scorer")
