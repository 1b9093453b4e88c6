"""`codestress course`: the teacher's commands."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from codestress.errors import DataError
from codestress.paths import OUTPUTS, shown

BUILT = OUTPUTS / "course"
"""Default folder of built assignments."""
FEEDBACK = OUTPUTS / "course-feedback"
"""Default folder of feedback, outside the folder of assignments, which each build replaces."""


@click.group()
def course() -> None:
    """Assignments on the ideas of the papers: build them, grade them."""


@course.command("build")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=BUILT,
    help="Folder for both versions.",
)
def course_build(output: Path) -> None:
    """Writes the student's and the teacher's version of every assignment, and grades the solutions."""
    from codestress.course.building import build_course

    folder = output.absolute()
    for name, solution in build_course(folder):
        places = " and ".join(
            shown(folder / version / name) for version in ("student", "teacher")
        )
        click.echo(
            f"{name}: {places}; solution {solution.score:g} of {solution.total:g} points"
        )


@course.command("grade")
@click.argument("assignment")
@click.argument(
    "notebooks",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--student", default="", help="Whose it is; by default the file or folder names it."
)
@click.option(
    "--built",
    type=click.Path(path_type=Path),
    default=BUILT,
    help="Where `course build` has written the assignments.",
)
@click.option(
    "--feedback",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for STUDENT.md of each and grades.csv of all  [default: outputs/course-feedback/ASSIGNMENT]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Points, messages and remarks as JSON."
)
def course_grade(
    assignment: str,
    notebooks: Sequence[Path],
    student: str,
    built: Path,
    feedback: Path | None,
    as_json: bool,
) -> None:
    """Grades notebooks that students handed in; their functions run in the sandbox.

    Beside the points: what each failed test expected, what came and where to read, as a file for each student.
    A file's name is the student's, which decides the hidden data: hand-ins are ada.ipynb, ben.ipynb, …
    The folder's is, where files have one name or the assignment's: ada/hw.ipynb, ben/hw.ipynb, …
    Hidden files, and what lies in __MACOSX or .ipynb_checkpoints, are no hand-ins.
    """
    from codestress.course.building import MASTERS, tests_of
    from codestress.course.grading import grade, students, write_feedback

    names = students(notebooks, assignment)
    if len(names) != 1 and (student or not names):
        raise click.UsageError(
            f"{len(names)} hand-ins; give one, and only one with --student"
        )
    tests = tests_of(assignment, built.absolute())
    results = []
    for path, name in names.items():
        try:
            graded = grade(path, tests, student or name)
        except DataError as error:
            click.echo(error, err=True)
            continue
        results.append(graded)
        if not as_json:
            points = graded.scores.items()
            questions = "  ".join(
                f"{q} {n:g}/{graded.possible[q]:g}" for q, n in points
            )
            click.echo(
                f"{graded.student}: {graded.score:g} of {graded.total:g}   {questions}"
            )
            for message in itertools.chain(graded.remarks, *graded.failed.values()):
                click.echo(f"  {message}")
    if results:
        folder = (feedback or FEEDBACK / assignment).absolute()
        grades = write_feedback(folder, MASTERS / f"{assignment}.ipynb", results)
        click.echo(
            f"feedback: {shown(folder)}; all points: {shown(grades)}", err=as_json
        )
    if as_json:
        rows = [
            asdict(own) | {"score": own.score, "total": own.total} for own in results
        ]
        click.echo(json.dumps(rows, indent=1))
    if unread := len(names) - len(results):
        raise click.ClickException(
            f"{unread} of {len(names)} notebooks could not be graded"
        )
