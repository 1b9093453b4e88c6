"""Builds the student's and the teacher's version of every assignment, and checks that the solutions get all points."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codestress.course.grading import Graded, grade
from codestress.errors import CodestressError, DataError, ParameterError
from codestress.paths import NOTEBOOKS, shown
from codestress.pipeline.notebooks import read_notebook
from codestress.validation import nearest

MASTERS = NOTEBOOKS / "course"
CHECKED_AS = "teacher"
"""The student whose data the solutions are graded on."""
HANDOUT = """# {name}

Open {name}.ipynb in JupyterLab, in an environment that has codestress with its extra `course` (`make course` sets it
up), write your name in its first cell, and answer in the cells with `...`. `grader.check("q1")` tells what it can; more
tests come with grading. Hand in the notebook as `your-name.ipynb`.
"""
FOR_TEACHERS = """# {name}: for teachers

- {name}.ipynb: with solutions; keep it.
- tests/: all tests, the hidden ones too.
- Grade: `codestress course grade {name} ada.ipynb ben.ipynb`. The file's name is the student's; it decides the data.

Students' functions run in the kit's sandbox. otter's own `run` would execute a whole submission in the process that
grades it, so that a submission could grade itself: do not use it on what you did not write.
"""


def assignment_names() -> list[str]:
    return sorted(path.stem for path in MASTERS.glob("*.ipynb"))


def tests_of(name: str, folder: Path) -> Path:
    """All tests of an assignment that was built; `ParameterError` with the nearest name where there is none."""
    if name not in assignment_names():
        raise ParameterError(f"{name}: no such assignment{nearest(name, assignment_names())}")
    tests = folder / "teacher" / name / "tests"
    if not tests.is_dir():
        raise ParameterError(f"{tests}: not there; make course builds it")
    return tests


def build_course(folder: Path) -> Iterator[tuple[str, Graded]]:
    """Every assignment, in `student/NAME` and `teacher/NAME`, and what its solution gets; an old build is replaced once
    all of it is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        new = Path(scratch) / "course"
        for name in assignment_names():
            student, teacher = new / "student" / name, new / "teacher" / name
            _assign(name, Path(scratch) / name, student, teacher)
            solution = grade(teacher / f"{name}.ipynb", teacher / "tests", CHECKED_AS)
            if solution.score < solution.total:
                failed = "; ".join(message for messages in solution.failed.values() for message in messages)
                raise CodestressError(
                    f"{name}: its own solution gets {solution.score:g} of {solution.total:g} points: {failed}"
                )
            yield name, solution
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)


def _assign(name: str, scratch: Path, student: Path, teacher: Path) -> None:
    """Lets otter take the master apart. It tells some failures in words alone, so what it wrote is checked."""
    try:
        from otter.assign import main as assign
    except ImportError:
        raise CodestressError("otter-grader is not installed here; make course installs it") from None
    said = io.StringIO()
    master = MASTERS / f"{name}.ipynb"
    read_notebook(master)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            assign(str(master), str(scratch), no_pdfs=True, no_run_tests=True)
        except Exception as error:  # whatever otter raises
            raise DataError(f"{shown(master)}: otter assign cannot take it apart: {error!r:.300}") from None
    for made, kept, words in ((scratch / "student", student, HANDOUT), (scratch / "autograder", teacher, FOR_TEACHERS)):
        if not (made / f"{name}.ipynb").is_file() or not list((made / "tests").glob("q*.py")):
            raise CodestressError(f"{name}: otter assign did not write {made.name}: {said.getvalue()[-500:]}")
        kept.mkdir(parents=True)
        shutil.copy2(made / f"{name}.ipynb", kept)
        shutil.copytree(made / "tests", kept / "tests")
        (kept / "README.md").write_text(words.format(name=name), encoding="utf-8")
