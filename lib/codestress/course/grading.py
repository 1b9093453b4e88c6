"""Grade a submission: the student's functions run in the sandbox, and otter's tests run
in this process. The message of a failed test has the failed line and the returned value.

Only the functions that a submission defines are run, each call in a process of its own,
and only plain data comes back. A submission therefore cannot reach the tests, and
cannot return an object that equals everything. (otter's own `run` executes the whole
notebook in the process that grades it.)
"""

import ast
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.errors import CodestressError, DataError
from codestress.paths import visible, write_whole
from codestress.pipeline.notebooks import read_notebook
from codestress.sandbox.executor import Executor, Limits, Outcome as Ending, Program

PACKAGES = ("numpy", "scipy.optimize", "scipy.stats")
"""Modules that graded functions may use in addition to the standard library."""
LIMITS = Limits(steps=5_000_000, cpu_s=20, wall_s=60.0, memory_bytes=1 << 30)
PATIENCE_S = 900.0
"""Largest number of seconds for all calls of a submission together, forty times the
need of the slowest solution on a free machine. Calls after that time are not tried."""
JUPYTER = re.compile(
    r"^([ \t]*)([%!?]|[\w.]+(, *[\w.]+)* *= *[%!]|[\w.*]+\?{1,2}$).*$", re.MULTILINE
)
"""Pattern of lines of a cell that are commands to Jupyter, not Python: `%time f(1)`,
`!ls`, `?f`, `f?`, `a, b = !ls`."""
COPIES = {"__MACOSX", ".ipynb_checkpoints"}
"""Names of folders in which tools keep copies of notebooks."""
LONGEST_MESSAGE = 500
"""Largest number of characters in the message of a failed test, and in a remark."""
CALLED = "__graded__"
PLAIN = Path(__file__).with_name("called.txt").read_text("utf-8")
"""Code appended to a submission that turns arrays and numpy's numbers into lists and
numbers before they leave the sandbox. The code works even if the submission redefines
Python's built-in names."""
LONGEST = 120
"""Largest number of characters of a returned value in a message."""


class CannotRun(Exception):
    """Error for a student's function that did not return, or was not called because the
    time was used up."""


@dataclass
class Graded:
    """Result of grading one student's submission: the points (`scores`) and the
    possible points (`possible`), each by question.

    `score` and `total` are the sums of the two. `remarks` name parts that could not be
    parsed or defined.
    """

    student: str
    scores: dict[str, float] = field(default_factory=dict)
    possible: dict[str, float] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    """Messages of the tests that failed, by question."""
    remarks: Sequence[str] = ()

    @property
    def score(self) -> float:
        return sum(self.scores.values())

    @property
    def total(self) -> float:
        return sum(self.possible.values())

    @property
    def points(self) -> str:
        """The sums of points and of possible points, in words."""
        return f"{self.score:g} of {self.total:g} points"

    def in_words(self) -> str:
        """Return the result as text: the sum of points, the remarks, and the points of
        each question with the messages of its failed tests."""
        lines = [f"{self.student}: {self.points}"]
        lines += [f"- {remark}" for remark in self.remarks]
        for question, possible in self.possible.items():
            lines.append(f"- {question}: {self.scores[question]:g} of {possible:g}")
            lines += [f"  - {message}" for message in self.failed[question]]
        return "\n".join(lines)


class _Sandboxed:
    """A submission whose functions run in the sandbox; its calls have `PATIENCE_S`
    seconds together.

    Tests ask it with `get`, as otter does, for the student's name or a stand-in for a
    function.
    """

    def __init__(self, executor: Executor, student: str, source: str) -> None:
        self._executor, self._student, self._source = executor, student, source
        self._left = PATIENCE_S
        self.returned = ""
        """Words on the value that the submission returned last."""

    def define(self) -> list[str]:
        """Run the submission's definitions alone, and return remarks.

        If the definitions do not end, for example because of an endless loop, later
        calls are not tried, and the one remark says so. Otherwise there is no remark.
        """
        try:
            self._run("the notebook", Program(self._source))
        except CannotRun as error:
            self._left = 0.0
            return [f"nothing is tried: {error}"[:LONGEST_MESSAGE]]
        return []

    def get(self, name: str, _: Any = None) -> Any:
        """Return the student's name if `name` is `STUDENT`, else a stand-in for the
        submission's function of this name.

        Each call of the stand-in runs in the sandbox and returns plain data, or raises
        `CannotRun`.
        """
        program = f"{self._source}\n{PLAIN.replace('{name}', name)}"

        def call(*arguments: Any, **keywords: Any) -> Any:
            return self._run(name, Program(program, CALLED, arguments, keywords))

        return self._student if name == "STUDENT" else call

    def _run(self, name: str, program: Program) -> Any:
        if self._left <= 0:
            raise CannotRun(
                f"{name} was not tried: what ran before it did not end in {PATIENCE_S:.0f} s"
            )
        started = time.monotonic()
        [done] = self._executor.run([program])
        self._left -= time.monotonic() - started
        if done.outcome is not Ending.RETURNED:
            raise CannotRun(
                f"{name} did not return: {done.outcome} {done.detail}".rstrip()
            )
        self.returned = f"; the last call returned {done.value!r:.{LONGEST}}"
        return done.value


def read_submission(path: Path) -> tuple[list[str], list[str]]:
    """Return the texts of the graded parts of the notebook at `path`, and remarks on
    cells that could not be read and are left out.

    The parts are the imports, definitions and assignments at the top level of the
    notebook's cells. Type hints are never evaluated. Raises `DataError` if the file is
    not a notebook.
    """
    kept, remarks = ["from __future__ import annotations"], list[str]()
    for number, cell in enumerate(read_notebook(path).cells, start=1):
        if cell["cell_type"] != "code":
            continue
        try:
            for statement in _statements(cell["source"]):
                part = _kept(statement)
                compile(part, "cell", "exec")
                kept.append(part)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            remark = f"cell {number} cannot be read: {type(error).__name__} {error}"
            remarks.append(remark[:LONGEST_MESSAGE])
    return kept, remarks


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of `source`, the text of a cell. If the source does not
    parse, lines with commands to Jupyter (%, !, ?) are replaced by `pass`.

    Raises `SyntaxError` if the result does not parse either.
    """
    try:
        return ast.parse(source).body
    except SyntaxError:
        return ast.parse(JUPYTER.sub(r"\1pass", source)).body


def _kept(statement: ast.stmt) -> str:
    """Return the source of a statement in the form in which it is graded; empty for one
    that is left out. Only functions, classes, assignments and allowed imports are kept.

    The statement may need data or modules that the sandbox lacks. The statement's error
    is therefore caught, and raised only by a call of the function or class that should
    have been defined.
    """
    failed = "pass"
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            failed = f"def {name}(*_, error=error, **__): raise error"
        case ast.Import(names) if all(_allowed(alias.name) for alias in names):
            pass
        case ast.ImportFrom(module=str(module), level=0) if _allowed(module):
            pass
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            pass
        case _:
            return ""
    handler = ast.ExceptHandler(
        ast.Name("BaseException"), "error", ast.parse(failed).body
    )
    return ast.unparse(ast.Try([statement], [handler], [], []))


def _allowed(module: str) -> bool:
    """Return whether graded functions may use the module of this name: one of the
    standard library, numpy or scipy. Importing any other would only take time."""
    packages = {*sys.stdlib_module_names, "numpy", "scipy"} - {"__future__"}
    return module.partition(".")[0] in packages


def grade(submission: Path, tests: Path, student: str) -> Graded:
    """Return the points of the notebook at `submission` by question, with the messages
    of failed tests.

    `tests` is the folder of the assignment's tests (otter's files q1.py and so on).
    `student`, a name, decides the tests' data. Raises `DataError` if tests are missing
    or damaged or the submission is not a notebook, and `CodestressError` if otter is
    not installed.
    """
    files = visible(tests, "*.py")
    if not files:
        raise DataError(f"{tests}: no tests here; make course writes them")
    parts, remarks = read_submission(submission)
    with Executor(workers=1, limits=LIMITS, packages=PACKAGES) as executor:
        executor.admit()
        sandboxed = _Sandboxed(executor, student, "\n".join(parts))
        graded = Graded(student, remarks=[*remarks, *sandboxed.define()])
        for path in files:
            file = _otter_file(path)
            points, messages = _run_tests(file, sandboxed)
            graded.scores[file.name] = points
            graded.possible[file.name] = file.possible
            graded.failed[file.name] = messages
    return graded


def _run_tests(file: Any, sandboxed: _Sandboxed) -> tuple[float, list[str]]:
    """Run the tests of otter's `file`, and return the points and a message for each
    failed test.

    A message has the test's name, its line that failed, the error, and the value that
    the submission returned last.
    """
    points, messages = 0.0, list[str]()
    for case in file.test_cases:
        sandboxed.returned = ""
        try:
            case.body.call_func(sandboxed)
        except Exception as error:  # whatever a wrong value leads to
            *_, frame = traceback.extract_tb(error.__traceback__, 3)
            message = f"{case.name}: {frame.line}: {error!r}{sandboxed.returned}"
            messages.append(message[:LONGEST_MESSAGE])
        else:
            points += case.points
    return 0.0 if messages and file.all_or_nothing else points, messages


def otter(part: str) -> Any:
    """Return the module `part` of otter, a package that only courses need. Raises
    `CodestressError` if otter is not installed."""
    try:
        return import_module(f"otter.{part}")
    except ImportError:
        raise CodestressError(
            f"otter-grader is not installed in {sys.prefix}; make course installs it"
        ) from None


def _otter_file(path: Path) -> Any:
    reader = otter("test_files").ExceptionTestFile
    try:
        return reader.from_string(path.read_text("utf-8"), str(path))
    except Exception as error:  # whatever a damaged file raises when it is executed
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: no tests of otter: {type(error).__name__}: {reason}; make course writes them"
        ) from None


def students(paths: Sequence[Path], assignment: str) -> dict[Path, str]:
    """Return a dict from the path of each hand-in among `paths` to the student's name.
    Hidden files, and copies that tools make, are not hand-ins.

    The name is that of the file, or that of its folder if several files have one name
    or the file has that of the `assignment`. Raises `DataError` if two hand-ins have
    one student's name.
    """
    paths = [
        path for path in paths if path.name[0] != "." and COPIES.isdisjoint(path.parts)
    ]
    often = Counter([assignment, *(path.stem for path in paths)])
    names: dict[Path, str] = {}
    for path in paths:
        name = path.stem if often[path.stem] == 1 else path.absolute().parent.name
        if name.casefold() in map(str.casefold, names.values()):
            raise DataError(
                f"{path}: a second hand-in of {name}; rename file or folder"
            )
        names[path] = name
    return names


def write_feedback(folder: Path, assignment: str, results: Sequence[Graded]) -> Path:
    """Write into `folder` a file `STUDENT.md` for each of `results`, and `grades.csv`;
    return the path of `grades.csv`.

    The table has a row for each student and a column for each question.
    """
    rows = []
    for graded in results:
        page = f"# {assignment}\n\n{graded.in_words()}\n"
        write_whole(folder / f"{graded.student}.md", page)
        # A quote keeps a spreadsheet from reading the name as a formula.
        quote = "'" if graded.student[:1] in "=+-@\t\r" else ""
        sums = {"points": graded.score, "of": graded.total}
        rows.append({"student": quote + graded.student, **graded.scores, **sums})
    table = pd.DataFrame(rows).to_csv(index=False, float_format="%g")
    write_whole(folder / "grades.csv", table)
    return folder / "grades.csv"
