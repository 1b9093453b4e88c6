"""Build the student's and the teacher's version of every assignment, and check that its
solution gets all points.

An assignment's master notebook has text, solutions and tests. The package otter-grader
splits this notebook.
"""

import contextlib
import io
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codestress.errors import CodestressError, DataError, ParameterError
from codestress.paths import NOTEBOOKS, shown, visible
from codestress.pipeline.notebooks import read_notebook
from codestress.pipeline.queue import replace_folder
from codestress.validation import nearest

from .grading import Graded, grade, otter

MASTERS = NOTEBOOKS / "course"
CHECKED_AS = "teacher"
"""Name of the student with whose data the solutions are graded."""


def assignment_names() -> list[str]:
    """Return the names of all assignments, which are those of their master notebooks."""
    return [path.stem for path in visible(MASTERS, "*.ipynb")]


def tests_of(name: str, folder: Path) -> Path:
    """Return the folder of all tests of the assignment `name` that `build_course` has
    built in `folder`.

    Raises `ParameterError` with the nearest name for an unknown assignment, and for an
    assignment that is not built.
    """
    names = assignment_names()
    if name not in names:
        raise ParameterError(f"{name}: no such assignment{nearest(name, names)}")
    tests = folder / "teacher" / name / "tests"
    if not tests.is_dir():
        raise ParameterError(f"{tests}: not there; make course builds it")
    return tests


def build_course(folder: Path) -> Iterator[tuple[str, Graded]]:
    """Build every assignment in `student/NAME` and `teacher/NAME` of `folder`, and
    yield its name and the grade (`Graded`) of its own solution.

    An old build is replaced only once the whole new one is complete. Raises
    `CodestressError` if a solution misses points or otter is not installed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        new = Path(scratch) / "course"
        for name in assignment_names():
            teacher = new / "teacher" / name
            _assign(name, Path(scratch) / name, new)
            solution = grade(teacher / f"{name}.ipynb", teacher / "tests", CHECKED_AS)
            if solution.score < solution.total:
                failed = "; ".join(itertools.chain(*solution.failed.values()))
                raise CodestressError(
                    f"{name}: its own solution gets {solution.points}: {failed}"
                )
            yield name, solution
        replace_folder(new, folder)


def _assign(name: str, scratch: Path, new: Path) -> None:
    """Split the master notebook `name` with otter into the versions `student/NAME` and
    `teacher/NAME` of the folder `new`.

    otter works in the folder `scratch`. Raises `CodestressError` if otter is not
    installed, and `DataError` if otter fails, which may show by a missing file alone,
    or the notebook cannot be read.
    """
    assign = otter("assign").main
    output = io.StringIO()
    master = MASTERS / f"{name}.ipynb"
    read_notebook(master)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            assign(str(master), str(scratch), no_pdfs=True, no_run_tests=True)
        for part, version in (("student", "student"), ("autograder", "teacher")):
            target = new / version / name
            shutil.copytree(scratch / part / "tests", target / "tests")
            shutil.copy2(scratch / part / f"{name}.ipynb", target)
            text = Path(__file__).with_name(f"{version}.txt").read_text("utf-8")
            (target / "README.md").write_text(text.format(name=name), encoding="utf-8")
    except Exception as error:  # whatever otter raises
        raise DataError(
            f"{shown(master)}: otter assign cannot take it apart: {error!r:.300}: "
            f"{output.getvalue()[-500:]}"
        ) from None
