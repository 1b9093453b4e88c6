"""The assignments are built by otter, graded in the sandbox: right, wrong, and hostile submissions."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from submissions import submission

from codestress.course import material
from codestress.course.building import assignment_names
from codestress.course.grading import grade, read_submission
from codestress.literals import parse_literal, same_value
from codestress.paths import PACKAGE
from conftest import ROOT, SLOW, codestress, kept, slow
from told import names

pytestmark = pytest.mark.isolation

pytest.importorskip("otter")
COURSE = ROOT / "notebooks" / "course"


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest) -> Path:
    """Both versions of all assignments (in `make test` of the first), built as a teacher does; it fails where a
    solution does not get all points."""
    assignments = assignment_names() if SLOW else assignment_names()[:1]
    with kept(
        request.config, f"course of {len(assignments)}", PACKAGE, COURSE
    ) as folder:
        if not (folder / "complete").exists():
            build(folder, assignments)
            (folder / "complete").touch()
    return folder / "course"


def build(folder: Path, assignments: list[str]) -> None:
    project = folder / "project"
    shutil.rmtree(project, ignore_errors=True)  # of a run that was killed
    shutil.copytree(ROOT / "params", project / "params")
    shutil.copy(ROOT / "requirements.lock", project)
    masters = project / "notebooks" / "course"
    masters.mkdir(parents=True)
    for name in assignments:
        shutil.copy(COURSE / f"{name}.ipynb", masters)
    root = str(project)
    process = codestress("course", "build", outputs=folder, CODESTRESS_ROOT=root)
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("10 of 10") == len(assignments)


@pytest.fixture
def scorer(built: Path) -> Path:
    """The tests of the first assignment."""
    return built / "teacher" / "01_scorer" / "tests"


@pytest.mark.parametrize("name", assignment_names())
def test_an_assignment_has_hidden_tests_and_no_outputs(name: str) -> None:
    notebook = nbformat.read(COURSE / f"{name}.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells]
    names(sources[0], "# Assignment ", "minutes", "Offline")
    questions = sum(text.startswith("# BEGIN QUESTION") for text in sources)
    hidden = sum("hidden: true" in text for text in sources)
    assert hidden >= questions >= 4
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.slow
def test_students_get_neither_solutions_nor_hidden_tests(built: Path) -> None:
    for teacher in sorted((built / "teacher").iterdir()):
        student = built / "student" / teacher.name
        handed_out = student / f"{teacher.name}.ipynb"
        assert "SOLUTION" not in handed_out.read_text("utf-8")
        tests = "".join(path.read_text() for path in student.glob("tests/*.py"))
        assert "hidden=False" in tests
        assert "hidden=True" not in tests
        graded = grade(handed_out, teacher / "tests", "ada")
        assert (graded.score, graded.total) == (0, 10), teacher.name


WRONG = (
    "def read_answer(text):\n    return text.split('[ANSWER]')[1].split('[/ANSWER]')[0].strip()",
    "def judge(expected, answer):\n    try:\n        return bool(eval(f'{expected} == ({answer})'))\n"
    "    except Exception:\n        return False",
    "def report(reasons, asked):\n    return {r: reasons.count(r) for r in "
    "('right', 'wrong', 'unparsable', 'truncated')} | {'interval': (0, 1)}",
    "def broken(:",
)


# Long, for an assignment is built: no other quick test shows that points are given.
def test_a_wrong_submission_gets_part_of_the_points(
    scorer: Path, tmp_path: Path
) -> None:
    graded = grade(submission(tmp_path, *WRONG), scorer, "ada")
    assert 0 < graded.score < 6
    assert graded.scores["q4"] == 0.5
    assert re.search("hostile|Assertion", "\n".join(graded.failed["q2"]))
    names("\n".join(graded.failed["q1"]), """read_answer("[ANSWER]f('a==b')""")
    names(graded.remarks[0], "cell 4")


HOSTILE = {
    "equal to everything": """class Any(str):
    __eq__ = lambda s, o: True
    __ne__ = lambda s, o: False
    __hash__ = str.__hash__
def judge(*args):
    return Any('x')
read_answer = exploits = report = judge""",
    "patches the grader": """import sys
def judge(*args):
    for module in list(sys.modules.values()):
        for name in ('ExceptionTestFile', 'TestFile', 'grade'):
            if hasattr(module, name):
                setattr(module, name, None)
    import __main__
    __main__.report = lambda *a: 10
    return True
read_answer = exploits = report = judge""",
    "writes and exits": """import os
def judge(expected, answer):
    open('{mark}', 'w').write('was here')
    return True
def read_answer(text):
    os._exit(0)
def exploits(f, a):
    os.kill(os.getppid(), 9)
def report(reasons, asked):
    os.write(3, b'["returned", 1]\\n')
    os._exit(0)""",
    "at the top level": """__import__('os').system('touch {mark}')
import os; os.system('touch {mark}')
x = os.system('touch {mark}')
def judge(expected, answer):
    return True""",
    "never ends": """def judge(expected, answer):
    while True:
        pass
def read_answer(text):
    return read_answer(text)
def exploits(f, a):
    return ['x'] * 10**9""",
}


@pytest.mark.parametrize(
    "name", slow(HOSTILE, *(HOSTILE.keys() - {"writes and exits"}))
)
def test_a_hostile_submission_gets_nothing_and_does_nothing(
    name: str, scorer: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    source = HOSTILE[name].replace("{mark}", str(mark))
    graded = grade(submission(tmp_path / "in", source), scorer, "ada")
    assert (graded.score, graded.total) == (0, 10), graded
    assert not mark.exists()


CONSTANT = ("None", "True", "0.5", "(-10.0, 10.0)", "args[0]", "args[-1]")


@pytest.mark.slow
@pytest.mark.parametrize("name", assignment_names())
def test_constant_and_identity_functions_get_nothing(
    name: str, built: Path, tmp_path: Path
) -> None:
    teacher = built / "teacher" / name
    parts, _ = read_submission(teacher / f"{name}.ipynb")
    functions = set(re.findall(r"^    def (\w+)", "\n".join(parts), re.MULTILINE))
    for value in CONSTANT:
        cells = []
        for function in functions:
            cells.append(f"def {function}(*args, **keywords):\n    return {value}")
        graded = grade(submission(tmp_path, *cells), teacher / "tests", "ada")
        assert graded.score == 0, (value, graded.scores)


@pytest.mark.slow
def test_many_slow_calls_end(
    scorer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codestress.course.grading.PATIENCE_S", 3.0)
    cell = "import time\ndef judge(*args):\n    time.sleep(1.5)\nread_answer = judge"
    graded = grade(submission(tmp_path, cell), scorer, "ada")
    assert graded.score == 0
    names([*graded.failed.values()], "3 s")


@pytest.mark.slow
def test_hidden_data_are_drawn_by_the_student_s_name(built: Path) -> None:
    """Numbers copied from another student do not help; the solution is right for each."""
    assert material.problems("ada", 3) != material.problems("ben", 3)
    assert material.problems("Ada ", 3) == material.problems("ada", 3)
    assert material.answers("ada", 5) == material.answers("ada", 5)
    teacher = built / "teacher" / "01_scorer"
    graded = grade(teacher / "01_scorer.ipynb", teacher / "tests", "ben")
    assert graded.score == 10


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


@pytest.mark.slow
def test_labels_of_faults_stand_at_or_below_the_fault() -> None:
    tasks = material.fault_tasks("ada", 40)
    assert len(tasks) == 40
    distances = [task["label"] - material.line_of_fault(task) for task in tasks]
    assert min(distances) >= 0
    assert distances.count(0) < 20


@pytest.mark.slow
def test_a_teacher_grades_an_export_of_hand_ins(built: Path, tmp_path: Path) -> None:
    """It has a folder for each student, and a notebook that is none."""
    solution = built / "teacher/01_scorer/01_scorer.ipynb"
    paths = []
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        paths.append(str(tmp_path / name / "assignment.ipynb"))
        shutil.copy(solution, paths[-1])
    bad = tmp_path / "bad.ipynb"
    bad.write_text("{}")
    words = ("course", "grade", "01_scorer", *paths, str(bad))
    process = codestress(*words, outputs=built.parent)
    assert process.returncode == 1
    names(process.stdout, "alice: 10 of 10", "bob: 10 of 10")
    names(process.stderr, "bad.ipynb", "1 of 3")
    grades = built.parent / "course-feedback/01_scorer/grades.csv"
    rows = "alice,2,4,2,2,10,10\nbob,2,4,2,2,10,10\n"
    assert grades.read_text().endswith(f"\n{rows}")
    unknown = codestress("course", "grade", "01_scores", *paths, outputs=tmp_path)
    names(unknown.stderr, "01_scorer")
    names(codestress(*words, outputs=tmp_path).stderr, "make course")
