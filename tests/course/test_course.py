"""The assignments are built by otter, graded in the sandbox: right, wrong, and hostile submissions."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from codestress.course import material
from codestress.course.building import assignment_names
from codestress.course.grading import Graded, grade, read_submission, telling, write_feedback
from codestress.errors import DataError
from codestress.literals import parse_literal, same_value
from codestress.paths import PACKAGE
from conftest import ROOT, SLOW, THOROUGH, codestress, kept, slow, some
from told import names, refused

pytestmark = pytest.mark.isolation

pytest.importorskip("otter")


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> Path:
    """Both versions of all assignments, in `make test` of the first, built as a teacher does; it fails where a solution
    does not get all points."""
    assignments = assignment_names() if SLOW else assignment_names()[:1]
    with kept(
        request.config, f"course of {len(assignments)}", PACKAGE, ROOT / "notebooks" / "course"
    ) as folder:
        done = folder / "done"
        if not done.exists():
            project = folder / "project"
            shutil.rmtree(project, ignore_errors=True)  # of a run that was killed
            shutil.copytree(ROOT / "params", project / "params")
            shutil.copy(ROOT / "requirements.lock", project)
            (project / "notebooks" / "course").mkdir(parents=True)
            for name in assignments:
                shutil.copy(
                    ROOT / "notebooks" / "course" / f"{name}.ipynb",
                    project / "notebooks" / "course",
                )
            command = ("course", "build", "--output", str(folder / "built"))
            build = codestress(*command, outputs=folder, CODESTRESS_ROOT=str(project))
            assert build.returncode == 0, build.stderr
            assert build.stdout.count("10 of 10") == len(assignments)
            done.touch()
    return folder / "built"


def names_in(built: Path) -> list[str]:
    """The assignments that were built."""
    return sorted(path.name for path in (built / "teacher").iterdir())


def submission(folder: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / "ada.ipynb")
    return folder / "ada.ipynb"


def test_there_are_five_assignments_with_solutions_and_hidden_tests() -> None:
    assert len(assignment_names()) >= 5
    for name in assignment_names():
        notebook = nbformat.read(ROOT / "notebooks" / "course" / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        sources = [cell.source for cell in notebook.cells]
        assert sources[0].startswith("# Assignment ")
        names(sources[0], "minutes", "Offline")
        questions = [source for source in sources if source.startswith("# BEGIN QUESTION")]
        assert len(questions) >= 4
        hidden = [source for source in sources if "hidden: true" in source]
        assert len(hidden) >= len(questions)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.slow
def test_students_get_neither_solutions_nor_hidden_tests(built: Path) -> None:
    for name in names_in(built):
        student = (built / "student" / name / f"{name}.ipynb").read_text(encoding="utf-8")
        assert "SOLUTION" not in student
        tests = "".join(
            path.read_text() for path in (built / "student" / name / "tests").glob("*.py")
        )
        assert "hidden=False" in tests
        assert "hidden=True" not in tests
        everything = "".join(
            path.read_text() for path in (built / "teacher" / name / "tests").glob("*.py")
        )
        assert everything.count("hidden=True") >= 4


@pytest.mark.slow
def test_a_blank_submission_gets_nothing(built: Path) -> None:
    for name in names_in(built):
        graded = grade(
            built / "student" / name / f"{name}.ipynb", built / "teacher" / name / "tests", "ada"
        )
        assert graded.score == 0, (name, graded.scores)
        assert graded.total == 10


# Long, for an assignment is built: no other quick test shows that points are given.
def test_a_wrong_submission_gets_part_of_the_points(built: Path, tmp_path: Path) -> None:
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
    assert any("hostile" in message or "Assertion" in message for message in graded.failed["q2"])
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
    functions = read_submission(built / "teacher" / name / f"{name}.ipynb").names
    for value in CONSTANT:
        lazy = submission(
            tmp_path, *(f"def {one}(*args, **keywords):\n    return {value}" for one in functions)
        )
        graded = grade(lazy, built / "teacher" / name / "tests", "ada")
        assert graded.score == 0, (value, graded.scores)


@pytest.mark.slow
def test_many_slow_calls_end(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_what_cannot_be_read_is_told_shortly_and_the_rest_counts(name: str, tmp_path: Path) -> None:
    found = read_submission(submission(tmp_path, UNREADABLE[name], "def f(x):\n    return x"))
    assert found.names == ("f",)
    assert all(len(remark) < 400 for remark in found.remarks)
    assert bool(found.remarks) == (name != "blank lines")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{}", marks=pytest.mark.slow),
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code"}]}',
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}',
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": 3}]}',
        "not JSON",
    ],
)
def test_what_is_no_notebook_is_told_and_the_others_are_graded(
    text: str, built: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.ipynb"
    bad.write_text(text)
    with refused(DataError, "bad.ipynb", "notebook"):
        read_submission(bad)
    good = submission(tmp_path, "def judge(*args):\n    return None")
    if text == "{}":
        command = (
            "course",
            "grade",
            "01_scorer",
            str(bad),
            str(good),
            "--built",
            str(built),
            "--json",
        )
        done = codestress(*command, outputs=tmp_path)
        assert done.returncode == 1
        assert [one["student"] for one in json.loads(done.stdout)] == ["ada"]
        names(done.stderr, "bad.ipynb", "1 of 2")


@pytest.mark.slow
def test_the_grader_s_student_decides_the_data(built: Path) -> None:
    """Numbers copied from another student do not help: what is hidden is drawn by the name on the file."""
    assert material.problems("ada", 3) != material.problems("ben", 3)
    assert material.problems("Ada ", 3) == material.problems("ada", 3)
    assert material.answers("ada", 5) == material.answers("ada", 5)
    for name in names_in(built)[: 2 if THOROUGH else 1]:
        solution = built / "teacher" / name / f"{name}.ipynb"
        for student in some(("ben", "ada"), 2):
            assert grade(solution, built / "teacher" / name / "tests", student).score == 10


def test_what_counts_of_a_notebook(tmp_path: Path) -> None:
    read = submission(
        tmp_path,
        "%matplotlib inline\nimport math, codestress\nLIMIT = 3\nrows = load()",
        "a, (b, c) = 1, (2, [3])\nd = e = 'x'\ngone = 1\ngone += 1\nleft: int = 7\n(a, f) = a, 1",
        "%%time\ndef f(x):\n    return LIMIT",
        "def g(a, b):\n    return (a\n    % b)",
    )
    found = read_submission(read)
    assert found.names == ("f", "g")
    assert "gone += 1" in found.source
    assert "% b" in found.source
    assert "codestress" not in found.source
    (tmp_path / "none.ipynb").write_text("{}")
    with refused(DataError, "none.ipynb", "notebook"):
        read_submission(tmp_path / "none.ipynb")


@pytest.mark.slow
def test_material_is_what_it_says() -> None:
    for row in material.answers("ada", 10):
        if row["kind"] == "right":
            assert not material.strict_scorer(
                row, repr(material.corrupted(parse_literal(row["expected"]).value))
            )
            assert material.strict_scorer(row, row["expected"])
            assert material.published_scorer(row, row["expected"])
    for value in (True, 1, "a", [1], (1,), {"a": 1}, None):
        assert not same_value(material.corrupted(value), value)
    tasks = material.fault_tasks("ada", 40)
    assert len(tasks) == 40
    assert all(task["label"] >= material.line_of_fault(task) for task in tasks)
    shares = [share for share in material.oracle_ceiling(tasks, 0) if share is not None]
    assert min(shares) < 0.5


def test_a_failed_test_says_what_it_expected_and_what_came() -> None:
    source = (
        "def test(f):\n    assert f(2) == 3\n    assert f(1) < 0, 'too much'\n    assert f(0)\n"
    )
    for values, told in (
        ([4], ("f(2) == 3", "4")),
        ([3, 5], ("too much", "f(1) < 0", "5")),
        ([3, -1, 0], ("f(0)", "0")),
        ([3, -1, 1], ()),
    ):
        space: dict[str, Any] = {}
        exec(telling(source), space)  # the kit's own tests
        came = iter(values)
        with refused(AssertionError, *told) if told else contextlib.nullcontext():
            space["test"](lambda _, came=came: next(came))


def test_feedback_is_a_file_for_each_and_a_table_for_all(tmp_path: Path) -> None:
    ada = Graded(
        "ada",
        {"q1": 1.0, "q2": 0.0},
        {"q1": 2.0, "q2": 3.0},
        {"q1": ["test_x: expected 1; it is 2"], "q2": []},
    )
    odd = Graded(
        "=../x y",
        {"q1": 2.0, "q2": 3.0},
        {"q1": 2.0, "q2": 3.0},
        {"q1": [], "q2": []},
        ("cell 1 …",),
    )
    grades = write_feedback(
        tmp_path / "feedback", ROOT / "notebooks/course/01_scorer.ipynb", [ada, odd, ada]
    )
    assert sorted(path.name for path in grades.parent.iterdir()) == [
        "_.._x_y.md",
        "ada-2.md",
        "ada.md",
        "grades.csv",
    ]
    assert (
        grades.read_text()
        == "student,q1,q2,points,of\nada,1,0,1,5\n'=../x y,2,3,5,5\nada,1,0,1,5\n"
    )
    told = (grades.parent / "ada.md").read_text()
    names(told, "Read the answer (2 points)", "1 of 2", *ada.failed["q1"], "docs/")


def test_the_pages_that_assignments_name_exist() -> None:
    for name in assignment_names():
        text = (ROOT / "notebooks" / "course" / f"{name}.ipynb").read_text(encoding="utf-8")
        pages = re.findall(
            r"docs/\w+\.md|`?lib/codestress/[\w/]+\.py|notebooks/[\w/]+\.ipynb", text
        )
        assert pages, name
        for page in pages:
            assert (ROOT / page.strip("`")).exists(), (name, page)


@pytest.mark.slow
def test_the_commands_of_a_teacher(built: Path, tmp_path: Path) -> None:
    hand_in = tmp_path / "ada.ipynb"
    hand_in.write_bytes((built / "teacher" / "01_scorer" / "01_scorer.ipynb").read_bytes())
    command = ("course", "grade", "01_scorer", str(hand_in), "--built", str(built))
    graded = codestress(*command, outputs=tmp_path)
    names(graded.stdout, "ada", "10 of 10")
    assert (
        (tmp_path / "course-feedback" / "01_scorer" / "grades.csv")
        .read_text()
        .endswith("ada,2,4,2,2,10,10\n")
    )
    if THOROUGH:
        assert json.loads(codestress(*command, "--json", outputs=tmp_path).stdout)[0]["score"] == 10
    unknown = codestress("course", "grade", "01_scores", str(hand_in), outputs=tmp_path)
    assert unknown.returncode != 0
    names(unknown.stderr, "01_scorer")
    unbuilt = codestress("course", "grade", "01_scorer", str(hand_in), outputs=tmp_path)
    names(unbuilt.stderr, "make course")
