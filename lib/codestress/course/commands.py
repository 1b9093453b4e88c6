"""`codestress course`: the teacher's commands."""

from collections.abc import Sequence
from pathlib import Path

import click

from codestress.errors import DataError
from codestress.paths import OUTPUTS, shown

BUILT = OUTPUTS / "course"
"""Folder of built assignments."""
FEEDBACK = OUTPUTS / "course-feedback"
"""Folder of feedback, outside the folder of assignments, which each build replaces."""


@click.group()
def course() -> None:
    """Assignments on the ideas of the papers: build them, grade them."""


@course.command("build")
def course_build() -> None:
    """Writes both versions of every assignment into outputs/course, and grades the solutions."""
    from .building import build_course

    for name, solution in build_course(BUILT):
        places = f"{shown(BUILT)}/student/{name} and teacher/{name}"
        click.echo(f"{name}: {places}; solution {solution.points}")


@course.command("grade")
@click.argument("assignment")
@click.argument(
    "notebooks",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
def course_grade(assignment: str, notebooks: Sequence[Path]) -> None:
    """Grades notebooks that students handed in; their functions run in the sandbox.

    Beside the points: what each failed test expected and what came, as a file for each student, and
    a table of all, in outputs/course-feedback/ASSIGNMENT.
    A file's name is the student's, which decides the hidden data: hand-ins are ada.ipynb, ben.ipynb, …
    The folder's is, where files have one name or the assignment's: ada/hw.ipynb, ben/hw.ipynb, …
    """
    from .building import tests_of
    from .grading import grade, students, write_feedback

    names = students(notebooks, assignment)
    tests = tests_of(assignment, BUILT)
    results = []
    for path, student in names.items():
        try:
            graded = grade(path, tests, student)
        except DataError as error:
            click.echo(error, err=True)
            continue
        results.append(graded)
        click.echo(graded.in_words())
    if results:
        grades = write_feedback(FEEDBACK / assignment, assignment, results)
        click.echo(f"all points: {shown(grades)}; feedback beside it")
    if unread := len(names) - len(results):
        raise click.ClickException(
            f"{unread} of {len(names)} notebooks could not be graded"
        )
