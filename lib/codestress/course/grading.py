"""Grades a submission: the student's functions run in the sandbox, otter's tests run in this
process. For a failed test the student reads what was expected and what came.

Only the functions that a submission defines are run, each call in a process of its own, and only
plain data comes back. A submission therefore cannot reach the tests, and cannot return an object
that equals everything. (otter's own `run` executes the whole notebook in the process that grades
it.)
"""

import ast
import re
import sys
import tempfile
import time
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
"""Modules that graded functions may use, beside the standard library."""
LIMITS = Limits(steps=5_000_000, cpu_s=20, wall_s=60.0, memory_bytes=1 << 30)
PATIENCE_S = 900.0
"""Largest number of seconds for all calls of a submission together, forty times what the slowest
solution needs on a free machine; later calls are not tried."""
JUPYTER = re.compile(
    r"^([ \t]*)(?:[%!?].*|[\w.]+\?+|[\w, ]+=[ \t]*[%!].*)$", re.MULTILINE
)
"""Lines of a cell that are no Python, but commands to Jupyter."""
COPIES = {"__MACOSX", ".ipynb_checkpoints"}
"""Names of folders in which tools keep copies of notebooks."""
LONGEST_MESSAGE = 500
"""Largest number of characters in the message of a failed test, and in a remark."""
CALLED = "__graded__"
PLAIN = Path(__file__).with_name("called.txt").read_text("utf-8")
"""Code appended to a submission, so that arrays and numpy's numbers come back from the sandbox as
lists and numbers, whatever name of Python's the submission uses for something else."""
LONGEST = 120
"""Largest number of characters of a returned value in a message."""
TOLD = f"""
def _told(expected, came):
    return f"expected {{expected}}; it is {{came!r:.{LONGEST}}}"
"""


class CannotRun(Exception):
    """Raised where a student's function did not return, or was not called because time was over."""


@dataclass
class Graded:
    """Result of grading a submission of one student: points got (`scores`) and possible
    (`possible`), by question; `score` and `total` are their sums; `remarks` tell of what could not
    be parsed or defined."""

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
        """Points got and possible, in words."""
        return f"{self.score:g} of {self.total:g} points"

    def in_words(self) -> str:
        """Returns the points of all, remarks, and the points of each question with the messages of
        its failed tests."""
        lines = [f"{self.student}: {self.points}"]
        lines += [f"- {remark}" for remark in self.remarks]
        for question, possible in self.possible.items():
            lines.append(f"- {question}: {self.scores[question]:g} of {possible:g}")
            lines += [f"  - {message}" for message in self.failed[question]]
        return "\n".join(lines)


class _Sandboxed:
    """A submission in the sandbox, where its calls have `PATIENCE_S` together. Tests ask it for
    what they need by `get`, as otter does: the student's name, or a stand-in for a function."""

    def __init__(self, executor: Executor, student: str, source: str) -> None:
        self._executor, self._student, self._source = executor, student, source
        self._left = PATIENCE_S

    def define(self) -> list[str]:
        """Runs the definitions alone. Where they do not end, such as a value that loops for ever,
        no call is tried, and a remark says so."""
        try:
            self._run("the notebook", Program(self._source))
        except CannotRun as error:
            self._left = 0.0
            return [f"nothing is tried: {error}"[:LONGEST_MESSAGE]]
        return []

    def get(self, name: str, _: Any = None) -> Any:
        """Returns the student's name for `STUDENT`, else a stand-in for the function of this
        `name`: each call runs in the sandbox and returns plain data, or raises `CannotRun`."""
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
        return done.value


def read_submission(path: Path) -> tuple[list[str], list[str]]:
    """Returns the graded parts of the notebook at `path`, and remarks on cells that could not be
    read, which are left out: the imports, definitions and assignments at the top level of its
    cells, each as text. Their type hints are never evaluated. Raises `DataError` for a file that is
    no notebook."""
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
    """Returns the statements of `source`, the text of a cell. If it does not parse, lines for
    Jupyter (%, !, ?) do nothing; raises `SyntaxError` if it still does not."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return ast.parse(JUPYTER.sub(r"\1pass", source)).body


def _kept(statement: ast.stmt) -> str:
    """Returns the source of a statement as it is graded; empty for one that is left out (all but
    functions, classes, assignments and allowed imports). The statement may need data or modules that
    the sandbox lacks, so its error is raised only when what it defines is called."""
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
    """Whether graded functions may use the module of this name: one of the standard library, numpy
    or scipy; imports of others would only take time."""
    packages = {*sys.stdlib_module_names, "numpy", "scipy"} - {"__future__"}
    return module.partition(".")[0] in packages


def grade(submission: Path, tests: Path, student: str) -> Graded:
    """Returns, as `Graded`, the points of the notebook at `submission` in the tests of an
    assignment (otter's files q1.py and so on in the folder `tests`), by question, with messages of
    failed tests. `student`, a name, decides the tests' data. Raises `DataError` for missing or
    damaged tests, or no notebook, and `CodestressError` without otter."""
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
            file.run(sandboxed)
            graded.scores[file.name] = float(file.score)
            graded.possible[file.name] = float(file.possible)
            graded.failed[file.name] = [
                _failure(result.test_case.name, result.message)
                for result in file.test_case_results
                if not result.passed
            ]
    return graded


def _failure(name: str, message: str) -> str:
    """Returns the message of a failed test: its `name` and the last line of its error `message`, or
    `failed` where this is blank."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    reason = lines[-1].strip() if lines else "failed"
    return f"{name}: {reason}"[:LONGEST_MESSAGE]


class _Asserts(ast.NodeTransformer):
    """Rewriter of a test's syntax tree: each `assert` gets a message that states the expected and
    the actual value, after the assert's own message."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        test = first = node.test
        again: ast.expr = ast.Name("_came", ast.Load())
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            first = test.left
            again = ast.Compare(again, test.ops, test.comparators)
        words = f"_told({ast.unparse(test)!r}, _came)"
        if node.msg is not None:
            words = f"'{{}}: {{}}'.format({ast.unparse(node.msg)}, {words})"
        return ast.parse(
            f"_came = {ast.unparse(first)}\nassert {ast.unparse(again)}, {words}"
        ).body


def telling(source: str) -> str:
    """Returns the `source` of tests with rewritten asserts, whose messages state the expected and
    the actual value."""
    return TOLD + ast.unparse(_Asserts().visit(ast.parse(source))) + "\n"


def otter(part: str) -> Any:
    """Returns the module `part` of otter, which only courses need; raises `CodestressError` where
    it is not installed."""
    try:
        return import_module(f"otter.{part}")
    except ImportError:
        raise CodestressError(
            f"otter-grader is not installed in {sys.prefix}; make course installs it"
        ) from None


def _otter_file(path: Path) -> Any:
    reader = otter("test_files").ExceptionTestFile
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_text(telling(path.read_text("utf-8")), encoding="utf-8")
            return reader.from_file(str(copy))
    except Exception as error:  # whatever a damaged file raises when it is executed
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: no tests of otter: {type(error).__name__}: {reason}; make course writes them"
        ) from None


def students(paths: Sequence[Path], assignment: str) -> dict[Path, str]:
    """Returns the student's name of each hand-in among `paths`, which hidden files and copies that
    tools make are not: that of the file; the folder's, where several files have one name or that of
    the `assignment`. Raises `DataError` for two hand-ins of one name."""
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
    """Writes into `folder` a file `STUDENT.md` for each of `results`, and `grades.csv` with a row
    for each student and a column for each question; returns the path of `grades.csv`."""
    rows = []
    for graded in results:
        page = f"# {assignment}\n\n{graded.in_words()}\n"
        write_whole(folder / f"{graded.student}.md", page)
        # No formula to a spreadsheet.
        quote = "'" if graded.student[:1] in "=+-@\t\r" else ""
        sums = {"points": graded.score, "of": graded.total}
        rows.append({"student": quote + graded.student, **graded.scores, **sums})
    table = pd.DataFrame(rows).to_csv(
        index=False, float_format="%g", lineterminator="\n"
    )
    write_whole(folder / "grades.csv", table)
    return folder / "grades.csv"
