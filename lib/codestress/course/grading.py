"""Grades a submission: the student's functions run in the sandbox, otter's tests run here.

Only the functions that a submission defines are run, each call in a process of its own, and nothing but plain data
comes back: a submission cannot reach the tests, and an object that equals everything is not data. (otter's own
`run` executes the whole notebook in the process that grades it.)
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from codestress.errors import CodestressError, DataError
from codestress.sandbox.executor import Executor, Limits, Outcome, Program

PACKAGES = ("numpy", "scipy.optimize", "scipy.stats")
"""What graded functions may use beside the standard library."""
LIMITS = Limits(steps=5_000_000, cpu_s=20, wall_s=60.0, memory_bytes=1 << 30)
PATIENCE = 2
"""Calls that may use up their time before the rest is not tried."""
CALLED = "__graded__"
PLAIN = f"""
def {CALLED}(*arguments, **keywords):
    def plain(value):
        if isinstance(value, dict):
            return {{plain(key): plain(part) for key, part in value.items()}}
        if isinstance(value, (list, tuple, set)):
            return type(value)(map(plain, value)) if type(value) in (list, tuple, set) else value
        return plain(value.tolist()) if hasattr(value, "tolist") else value
    return plain({{name}}(*arguments, **keywords))
"""
"""Put behind a submission: arrays and numpy's numbers come back as lists and numbers."""


class CannotRun(Exception):
    """A student's function did not return."""


@dataclass(frozen=True)
class Submission:
    """What is graded of a notebook."""

    source: str
    """Imports, definitions, and assignments that stand at the top level of its cells."""
    names: tuple[str, ...]
    """Functions, in order."""
    values: dict[str, Any]
    """Names that were given a literal."""
    remarks: tuple[str, ...]
    """Cells that could not be read."""


@dataclass
class Graded:
    """Points by question."""

    student: str
    scores: dict[str, float] = field(default_factory=dict)
    possible: dict[str, float] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)
    """Messages of the tests that failed, by question."""
    remarks: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        return sum(self.scores.values())

    @property
    def total(self) -> float:
        return sum(self.possible.values())


class Function:
    """A student's function, as the tests see it: a call runs it in the sandbox."""

    def __init__(self, source: str, name: str, executor: Executor, patience: list[int]) -> None:
        self._program = f"{source}\n{PLAIN.replace('{name}', name)}"
        self.__name__ = name
        self._executor = executor
        self._patience = patience

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self._patience[0] <= 0:
            raise CannotRun(f"{self.__name__} was not tried: {PATIENCE} calls had used up their time before")
        [done] = self._executor.run([Program(self._program, CALLED, arguments, keywords)])
        if done.outcome in (Outcome.STEP_LIMIT, Outcome.CPU_TIME, Outcome.WALL_TIME):
            self._patience[0] -= 1
        if done.outcome is not Outcome.RETURNED:
            raise CannotRun(f"{self.__name__} did not return: {done.outcome} {done.detail}".rstrip())
        return done.value


def read_submission(path: Path) -> Submission:
    """The graded part of a notebook; `DataError` where it is none."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # whatever nbformat raises: it is no notebook
        raise DataError(f"{path}: not a notebook: {error}") from None
    kept: list[str] = []
    names: dict[str, None] = {}
    values: dict[str, Any] = {}
    remarks: list[str] = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        text = re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.MULTILINE)
        try:
            statements = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            remarks.append(f"cell {number} cannot be read: {error}")
            continue
        for statement in statements:
            _keep(statement, kept, names, values)
    return Submission("\n".join(kept), tuple(names), values, tuple(remarks))


def _keep(statement: ast.stmt, kept: list[str], names: dict[str, None], values: dict[str, Any]) -> None:
    match statement:
        case ast.FunctionDef(name=name):
            names[name] = None
            kept.append(ast.unparse(statement))
        case ast.ClassDef():
            kept.append(ast.unparse(statement))
        case ast.Import(names=imported) if all(_allowed(one.name) for one in imported):
            _attempted(statement, kept)
        case ast.ImportFrom(module=str(module), level=0) if _allowed(module):
            _attempted(statement, kept)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            _attempted(statement, kept)
            try:
                values[name] = ast.literal_eval(statement.value) if statement.value else None
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                values.pop(name, None)


def _allowed(module: str) -> bool:
    """Whether graded functions may use a module; what else a notebook imports would only take time."""
    return module.split(".")[0] in {*sys.stdlib_module_names, "numpy", "scipy"}


def _attempted(statement: ast.stmt, kept: list[str]) -> None:
    """What may need data or modules that are not in the sandbox: functions that do without them still run."""
    kept.append(f"try:\n    {ast.unparse(statement)}\nexcept Exception:\n    pass")


def grade(submission: Path, tests: Path, student: str) -> Graded:
    """Runs the tests of an assignment (otter's files, q1.py and so on) on a submission."""
    read = read_submission(submission)
    graded = Graded(student, remarks=read.remarks)
    with Executor(workers=1, limits=LIMITS, packages=PACKAGES) as executor:
        patience = [PATIENCE]
        functions = {name: Function(read.source, name, executor, patience) for name in read.names}
        for path in _test_files(tests):
            file = _otter_file(path)
            file.run({**read.values, **functions, "STUDENT": student})
            graded.scores[file.name] = float(file.score)
            graded.possible[file.name] = float(file.possible)
            wrong = [one for one in file.test_case_results if not one.passed]
            graded.failed[file.name] = [_told(one.test_case.name, one.message) for one in wrong]
    return graded


def _told(name: str, message: str) -> str:
    """The test's name and the last line of what went wrong."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return f"{name}: {lines[-1].strip() if lines else 'failed'}"


def _test_files(folder: Path) -> Sequence[Path]:
    found = sorted(folder.glob("*.py"))
    if not found:
        raise DataError(f"{folder}: no tests here; make course writes them")
    return found


def _otter_file(path: Path) -> Any:
    try:
        from otter.test_files import ExceptionTestFile
    except ImportError:
        raise CodestressError(
            f"otter-grader is not installed in {sys.prefix}; make course installs it (pip install codestress[course])"
        ) from None
    return ExceptionTestFile.from_file(str(path))
