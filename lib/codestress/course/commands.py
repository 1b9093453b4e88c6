"""The commands of `codestress course`, which teachers use."""

from collections.abc import Sequence
from pathlib import Path

import click

from codestress.errors import DataError
from codestress.paths import OUTPUTS, shown

BUILT = OUTPUTS / "course"
"""Path of the folder of built assignments."""
FEEDBACK = OUTPUTS / "course-feedback"
"""Path of the folder of feedback, outside the folder of assignments, which each build
replaces."""


@click.group()
def course() -> None:
    """Build and grade assignments on the ideas of the papers."""


@course.command("build")
def course_build() -> None:
    """Write both versions of every assignment into outputs/course, and grade the
    solutions."""
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
    """Grade notebooks that students handed in; their functions run in the sandbox.

    The points are printed. A file for each student, with the expected and the actual
    value of each failed test, and a table of all points are written to
    outputs/course-feedback/ASSIGNMENT.

    The student's name decides the hidden data. This name is the file's, as in
    ada.ipynb, ben.ipynb, … If files share a name, or have the assignment's, the
    student's name is the folder's, as in ada/hw.ipynb, ben/hw.ipynb, …
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
