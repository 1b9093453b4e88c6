"""The assignments are built by otter, graded in the sandbox: right, wrong, and hostile submissions."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from codestress.course import material
from codestress.course.building import assignment_names
from codestress.course.grading import (
    Graded,
    grade,
    read_submission,
    students,
    write_feedback,
)
from codestress.errors import DataError
from codestress.literals import parse_literal, same_value
from codestress.paths import PACKAGE
from conftest import ROOT, SLOW, THOROUGH, codestress, kept, slow, some
from told import names, refused

pytestmark = pytest.mark.isolation

pytest.importorskip("otter")
COURSE = ROOT / "notebooks" / "course"


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> Path:
    """Both versions of all assignments, in `make test` of the first, built as a teacher does; it fails where a solution
    does not get all points."""
    assignments = assignment_names() if SLOW else assignment_names()[:1]
    about = f"course of {len(assignments)}"
    with kept(request.config, about, PACKAGE, COURSE) as folder:
        done = folder / "done"
        if not done.exists():
            project = folder / "project"
            shutil.rmtree(project, ignore_errors=True)  # of a run that was killed
            shutil.copytree(ROOT / "params", project / "params")
            shutil.copy(ROOT / "requirements.lock", project)
            copies = project / "notebooks" / "course"
            copies.mkdir(parents=True)
            for name in assignments:
                shutil.copy(COURSE / f"{name}.ipynb", copies)
            root = str(project)
            build = codestress("course", "build", outputs=folder, CODESTRESS_ROOT=root)
            assert build.returncode == 0, build.stderr
            assert build.stdout.count("10 of 10") == len(assignments)
            done.touch()
    return folder / "course"


def names_in(built: Path) -> list[str]:
    """The assignments that were built."""
    return sorted(path.name for path in (built / "teacher").iterdir())


def submission(folder: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[*map(new_code_cell, cells)])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ada.ipynb"
    nbformat.write(notebook, path)
    return path


PAGE = r"docs/\w+\.md|lib/codestress/[\w/]+\.py|notebooks/[\w/]+\.ipynb"


def test_there_are_five_assignments_with_solutions_and_hidden_tests() -> None:
    assert len(assignment_names()) >= 5
    for name in assignment_names():
        notebook = nbformat.read(COURSE / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        sources = [cell.source for cell in notebook.cells]
        assert sources[0].startswith("# Assignment ")
        names(sources[0], "minutes", "Offline")
        questions = sum(text.startswith("# BEGIN QUESTION") for text in sources)
        hidden = sum("hidden: true" in text for text in sources)
        assert hidden >= questions >= 4
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in code)
        pages = re.findall(PAGE, "\n".join(sources))
        assert pages, name
        for page in pages:
            assert (ROOT / page).exists(), (name, page)


@pytest.mark.slow
def test_students_get_neither_solutions_nor_hidden_tests(built: Path) -> None:
    for name in names_in(built):
        student, teacher = built / "student" / name, built / "teacher" / name
        assert "SOLUTION" not in (student / f"{name}.ipynb").read_text("utf-8")
        tests, everything = (
            "".join(path.read_text() for path in version.glob("tests/*.py"))
            for version in (student, teacher)
        )
        assert "hidden=False" in tests
        assert "hidden=True" not in tests
        assert everything.count("hidden=True") >= 4
        # As it is given out, it gets nothing.
        graded = grade(student / f"{name}.ipynb", teacher / "tests", "ada")
        assert (graded.score, graded.total) == (0, 10), (name, graded.scores)


# Long, for an assignment is built: no other quick test shows that points are given.
def test_a_wrong_submission_gets_part_of_the_points(
    built: Path, tmp_path: Path
) -> None:
    wrong = submission(
        tmp_path,
        "def read_answer(text):\n    return text.split('[ANSWER]')[1].split('[/ANSWER]')[0].strip()",
        "def judge(expected, answer):\n    try:\n        return bool(eval(f'{expected} == ({answer})'))\n"
        "    except Exception:\n        return False",
        "def report(reasons, asked):\n    return {r: reasons.count(r) for r in "
        "('right', 'wrong', 'unparsable', 'truncated')} | {'interval': (0, 1)}",
        "def broken(:",
    )
    graded = grade(wrong, built / "teacher" / "01_scorer" / "tests", "ada")
    assert 0 < graded.score < 6
    assert graded.scores["q4"] == 0.5
    assert re.search("hostile|Assertion", "\n".join(graded.failed["q2"]))
    names("\n".join(graded.failed["q1"]), """read_answer("[ANSWER]f('a==b')""")
    names(graded.remarks[0], "cell 4")


HOSTILE = {
    "equal to everything": "class Any(str):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
    "    __hash__ = str.__hash__\n"
    "def read_answer(text):\n    return Any('x')\ndef judge(expected, answer):\n    return Any('x')\n"
    "def exploits(f, a):\n    return Any('x')\ndef report(reasons, asked):\n    return Any('x')",
    "patches the grader": "import sys\n"
    "def judge(expected, answer):\n"
    "    for module in list(sys.modules.values()):\n"
    "        for name in ('ExceptionTestFile', 'TestFile', 'grade'):\n"
    "            if hasattr(module, name):\n"
    "                setattr(module, name, None)\n"
    "    import __main__\n"
    "    __main__.report = lambda *a: 10\n    return True\n"
    "read_answer = exploits = report = judge",
    "writes and exits": "import os\n"
    "def judge(expected, answer):\n"
    "    open('{mark}', 'w').write('was here')\n    return True\n"
    "def read_answer(text):\n    os._exit(0)\n"
    "def exploits(f, a):\n    os.kill(os.getppid(), 9)\n"
    "def report(reasons, asked):\n    os.write(3, b'[\"returned\", 1]\\n')\n    os._exit(0)",
    "at the top level": "__import__('os').system('touch {mark}')\nimport os; os.system('touch {mark}')\n"
    "x = os.system('touch {mark}')\ndef judge(expected, answer):\n    return True",
    "never ends": "def judge(expected, answer):\n    while True:\n        pass\n"
    "def read_answer(text):\n    return read_answer(text)\ndef exploits(f, a):\n    return ['x'] * 10**9",
}


@pytest.mark.parametrize(
    "name", slow([*HOSTILE], *[name for name in HOSTILE if name != "writes and exits"])
)
def test_hostile_submissions_get_nothing_and_do_nothing(
    name: str, built: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    path = submission(tmp_path / "in", HOSTILE[name].replace("{mark}", str(mark)))
    graded = grade(path, built / "teacher" / "01_scorer" / "tests", "ada")
    assert graded.score == 0, graded
    assert graded.total == 10
    assert not mark.exists()


CONSTANT = ("None", "True", "False", "0.5", "(-10.0, 10.0)", "args[0]", "args[-1]")


@pytest.mark.slow
@pytest.mark.parametrize("name", assignment_names())
def test_constant_and_identity_functions_get_nothing(
    name: str, built: Path, tmp_path: Path
) -> None:
    parts, _ = read_submission(built / "teacher" / name / f"{name}.ipynb")
    functions = {*re.findall(r"^    def (\w+)", "\n".join(parts), re.MULTILINE)}
    for value in CONSTANT:
        body = f"(*args, **keywords):\n    return {value}"
        lazy = submission(tmp_path, *(f"def {one}{body}" for one in functions))
        graded = grade(lazy, built / "teacher" / name / "tests", "ada")
        assert graded.score == 0, (value, graded.scores)


@pytest.mark.slow
def test_many_slow_calls_end(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codestress.course.grading.PATIENCE_S", 3.0)
    slow = submission(
        tmp_path,
        "import time\ndef judge(*args):\n    time.sleep(1.5)\nread_answer = judge",
        "def report(*a):\n    pass",
    )
    graded = grade(slow, built / "teacher" / "01_scorer" / "tests", "ada")
    assert graded.score == 0
    names([*graded.failed.values()], "3 s")


UNREADABLE = {
    "minus": "-" * 100_000 + "1",
    "attributes": "a" + ".a" * 100_000,
    "nested": "(" * 100_000,
    "calls": "x = f" + "()" * 5_000,
    "blank lines": "\n" * 200_000 + "%",
    "long": "x = " + "1" * 100_000,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_told_shortly_and_the_rest_counts(
    name: str, tmp_path: Path
) -> None:
    read = submission(tmp_path, UNREADABLE[name], "def f(x):\n    return x")
    parts, remarks = read_submission(read)
    names("\n".join(parts), "def f(x)")
    assert all(len(remark) < 400 for remark in remarks)
    assert bool(remarks) == (name != "blank lines")


EMPTY = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}'


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        EMPTY + "}",
        EMPTY + ', "cells": [{"cell_type": "code"}]}',
        EMPTY + ', "cells": [3]}',
        EMPTY + ', "cells": [{"cell_type": "code", "source": 3}]}',
        "not JSON",
    ],
)
def test_what_is_no_notebook_is_told(text: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ipynb"
    bad.write_text(text)
    with refused(DataError, "bad.ipynb", "notebook"):
        read_submission(bad)


@pytest.mark.slow
def test_the_grader_s_student_decides_the_data(built: Path) -> None:
    """Numbers copied from another student do not help: what is hidden is drawn by the name on the file."""
    assert material.problems("ada", 3) != material.problems("ben", 3)
    assert material.problems("Ada ", 3) == material.problems("ada", 3)
    assert material.answers("ada", 5) == material.answers("ada", 5)
    for name in names_in(built)[: 2 if THOROUGH else 1]:
        teacher = built / "teacher" / name
        for student in some(("ben", "ada"), 2):
            graded = grade(teacher / f"{name}.ipynb", teacher / "tests", student)
            assert graded.score == 10


def test_what_counts_of_a_notebook(tmp_path: Path) -> None:
    read = submission(
        tmp_path,
        "%matplotlib inline\nimport math\nimport codestress\nLIMIT = 3\nrows = load()",
        "a, (b, c) = 1, (2, [3])\nd = e = 'x'\ngone = 1\ngone += 1\nleft: int = 7\n(a, f) = a, 1",
        "%%time\ndef f(x):\n    return LIMIT",
        "def g(a, b):\n    return (a\n    % b)",
    )
    parts, remarks = read_submission(read)
    source = "\n".join(parts)
    names(source, "def f(x)", "def g(a, b)", "gone += 1", "% b", "import math")
    assert "codestress" not in source
    assert not remarks


@pytest.mark.slow
def test_material_is_what_it_says() -> None:
    for row in material.answers("ada", 10):
        if row["kind"] == "right":
            right = row["expected"]
            wrong = repr(material.corrupted(parse_literal(right).value))
            assert not material.accepts(row, wrong, "strict")
            assert material.accepts(row, right, "strict")
            assert material.accepts(row, right, "reference")
    for value in (True, 1, "a", [1], (1,), {"a": 1}, None):
        assert not same_value(material.corrupted(value), value)
    tasks = material.fault_tasks("ada", 40)
    assert len(tasks) == 40
    assert all(task["label"] >= material.line_of_fault(task) for task in tasks)
    near = [task["label"] == material.line_of_fault(task) for task in tasks]
    assert sum(near) < 20


def test_feedback_is_a_file_for_each_and_a_table_for_all(tmp_path: Path) -> None:
    ada = Graded(
        "ada",
        {"q1": 1.0, "q2": 0.0},
        {"q1": 2.0, "q2": 3.0},
        {"q1": ["test_x: expected 1; it is 2"], "q2": []},
        ("cell 1 …",),
    )
    odd = Graded("=x y", {"q1": 2.0}, {"q1": 2.0}, {"q1": []})
    grades = write_feedback(tmp_path / "feedback", "01_scorer", [ada, odd])
    files = {path.name for path in grades.parent.iterdir()}
    assert files == {"=x y.md", "ada.md", "grades.csv"}
    table = "student,q1,q2,points,of\nada,1,0,1,5\n'=x y,2,,2,2\n"
    assert grades.read_text() == table
    told = (grades.parent / "ada.md").read_text()
    names(told, "01_scorer", "q1", "1 of 2", *ada.failed["q1"], *ada.remarks)


@pytest.mark.slow
def test_the_commands_of_a_teacher(built: Path, tmp_path: Path) -> None:
    """On an export, which has a folder for each student, and a notebook that is none."""
    solution = (built / "teacher/01_scorer/01_scorer.ipynb").read_bytes()
    paths = []
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        paths.append(str(tmp_path / name / "assignment.ipynb"))
        Path(paths[-1]).write_bytes(solution)
    bad = tmp_path / "bad.ipynb"
    bad.write_text("{}")

    def graded(name: str, outputs: Path) -> subprocess.CompletedProcess[str]:
        return codestress("course", "grade", name, *paths, str(bad), outputs=outputs)

    done = graded("01_scorer", built.parent)
    assert done.returncode == 1
    names(done.stdout, "alice: 10 of 10", "bob: 10 of 10")
    names(done.stderr, "bad.ipynb", "1 of 3")
    grades = built.parent / "course-feedback/01_scorer/grades.csv"
    rows = "alice,2,4,2,2,10,10\nbob,2,4,2,2,10,10\n"
    assert grades.read_text().endswith(f"\n{rows}")
    names(graded("01_scores", tmp_path).stderr, "01_scorer")
    names(graded("01_scorer", tmp_path).stderr, "make course")


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
BESIDE = {
    "a hint": "def mine(t: pd.DataFrame, *, to: Path = None) -> pd.Series:\n    left: pd.Series = t",
    "a default": "def mine(data=PRACTICE, more=load()):\n    pass",
    "a decorator": "@timed(3)\ndef mine():\n    pass",
    "a class": "class Mine(pd.DataFrame):\n    x = nowhere",
    "a base": "class Mine:\n    rows = PRACTICE['rows']\n\nmine = Mine()",
    "a broken cell": "def mine(:\n    pass",
    "half a cell": "def mine():\n    return (1,\n\nprint('unfinished'",
    "two arguments of a name": "def mine(x, x):\n    pass",
    "nonlocal": "def mine():\n    nonlocal nothing\n    nothing = 1",
    "return": "return 3\nyield 4\nx = yield 5\nx = await go()\nbreak",
    "names": "nowhere\nhere = nowhere\nhere.there[0] = nowhere()\ndel nowhere\nassert nowhere",
    "exits": "import sys, os\nx = sys.exit(3)\ndef mine(x=exit()):\n    pass\nraise SystemExit",
    "imports": "import torch, json, nothing.at.all\nfrom math import sqrt, nothing\nfrom nothing import *",
    "the future": "import json\nfrom __future__ import annotations, division\nfrom __future__ import nothing",
    "magic": "%matplotlib inline\n!pip install pandas\nfiles = !ls\nt = %time 1\none?\n?two\nif 1:\n    %time 3\nx = 1",
    "a cell of time": "%%time\ndef mine():\n    pass",
    "a cell of a shell": "%%bash\nfor x in *; do echo $x; done",
    "names of Python's": "list = [1]\ntype = 'x'\nmap = {}\ntuple = set = isinstance = dict = None",
    "memory": "x = [0] * 10**12\ndef mine(y=' ' * 10**12):\n    pass",
    "recursion": "def mine():\n    return mine()\nx = mine()\ndef more(x=mine()):\n    pass",
    "sandbox": "open('/tmp/x', 'w')\nx = open('/nowhere', 'w')\ny = input('name? ')",
}
"""Definitions that a student leaves beside a right one, and that take no point of it."""


Grading = Callable[..., Graded]


@pytest.fixture
def graded_cells(tmp_path: Path) -> Grading:
    """Grades a submission of some cells by `TESTS`."""
    questions = tmp_path / "tests"
    questions.mkdir()
    (questions / "q1.py").write_text(TESTS)
    return lambda *cells: grade(submission(tmp_path, *cells), questions, "ada")


@pytest.mark.parametrize("at", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_what_cannot_be_defined_takes_no_other_points(
    at: int, graded_cells: Grading
) -> None:
    """Before what counts, and after it."""
    cells = [*WHOLE[:at], *BESIDE.values(), *WHOLE[at:]]
    graded = graded_cells(*cells)
    assert graded.score == 4, (graded.failed, graded.remarks)
    remarks = "\n".join(graded.remarks)
    names(remarks, f"cell {at + 6}", f"cell {at + 7}", "argument 'x'")


@pytest.mark.parametrize(
    "cell",
    [
        "def count(n):\n    return sum(x for x in iter(int, 1))\ntotal = count(3)",
        pytest.param("import os\nx = os._exit(0)", marks=pytest.mark.slow),
    ],
)
def test_definitions_that_do_not_end_are_told_at_once(
    cell: str, graded_cells: Grading
) -> None:
    graded = graded_cells(cell, *WHOLE)
    assert graded.score == 0
    names("\n".join(graded.remarks), "nothing is tried", "the notebook")
    assert len(graded.failed["q1"]) == 4


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("def one(x, data=PRACTICE):\n    return x + 1", "'PRACTICE'"),
        (
            "def one(x):\n    return helper(x)\ndef helper(x, y=rows):\n    pass",
            "'rows'",
        ),
        pytest.param("class one(pd.DataFrame): ...", "'pd'", marks=pytest.mark.slow),
        ("def other(x):\n    return x", "missing"),
        ("def one(x:\n    return x", "missing"),
    ],
)
def test_a_function_that_cannot_be_defined_fails_alone_and_says_why(
    cell: str, told: str, graded_cells: Grading
) -> None:
    cells = [WHOLE[0], cell, *WHOLE[2:]]
    graded = graded_cells(*cells)
    assert graded.score == 3, (graded.failed, graded.remarks)
    [failed] = graded.failed["q1"]
    names(failed, "one", told)


def test_a_failed_test_says_what_it_expected_and_what_came(
    graded_cells: Grading,
) -> None:
    cells = ("def one(x):\n    return 7", "def four(x):\n    return 4.0", *WHOLE[2:4])
    graded = graded_cells(*cells)
    wrong, broken = graded.failed["q1"]
    names(wrong, "one(1) == 2", "returned 7")
    names(broken, "two([1, 2])", "'np'")
    assert "returned" not in broken


def test_constants_and_helpers_of_other_cells_are_there(graded_cells: Grading) -> None:
    cells = (
        "from math import *\nimport numpy.linalg, os.path as where",
        "STEP = 1\nNAMES = {}\nNAMES['a'] = 'b'",
        "def register(f):\n    NAMES[f.__name__] = f\n    return f",
        "def one(x, step=STEP):\n    return helper(x) + step",
        "@register\ndef helper(x):\n    return x",
        "two = lambda rows: {'a': [floor(row) + STEP for row in rows]}",
        "class Name:\n    def __init__(self, text: pd.Series):\n        self.text = text\n"
        "    def __call__(self):\n        return self.text",
        "def three(name):\n    assert NAMES['helper'](3) == 3\n    return Name(name)()",
        "def four(x):\n    return 0",
        "def four(x):  # again, as students do\n    return x * 2",
    )
    graded = graded_cells(*cells)
    assert graded.score == 4, (graded.failed, graded.remarks)


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["alice/hw.ipynb", "bob/hw.ipynb", "carol.ipynb"], ["alice", "bob", "carol"]),
        (["alice/01_scorer.ipynb"], ["alice"]),
        (["Ada L_12_file_/x y.ipynb", "B_3_/x y.ipynb"], ["Ada L_12_file_", "B_3_"]),
    ],
)
def test_hand_ins_of_one_name_are_named_by_their_folders(
    paths: list[str], told: list[str], tmp_path: Path
) -> None:
    found = students([tmp_path / path for path in paths], "01_scorer")
    assert list(found.values()) == told


@pytest.mark.parametrize(
    "paths",
    [
        ["ada.ipynb", "x/ADA.ipynb"],
        ["alice/ps1/hw.ipynb", "bob/ps1/hw.ipynb"],
        ["alice.ipynb", "alice/01_scorer.ipynb"],
    ],
)
def test_two_hand_ins_of_one_name_are_refused(paths: list[str], tmp_path: Path) -> None:
    with refused(DataError, paths[1], "rename"):
        students([tmp_path / path for path in paths], "01_scorer")
