"""Grades a submission: the student's functions run in the sandbox, otter's tests run here. What a student reads of a
failed test: what was expected, what came, and where it is explained.

Only the functions that a submission defines are run, each call in a process of its own, and nothing but plain data
comes back: a submission cannot reach the tests, and an object that equals everything is not data. (otter's own
`run` executes the whole notebook in the process that grades it.)
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from codestress.errors import CodestressError, DataError
from codestress.paths import write_whole
from codestress.pipeline.notebooks import read_notebook
from codestress.sandbox.executor import Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending

PACKAGES = ("numpy", "scipy.optimize", "scipy.stats")
"""What graded functions may use beside the standard library."""
LIMITS = Limits(steps=5_000_000, cpu_s=20, wall_s=60.0, memory_bytes=1 << 30)
PATIENCE_S = 120.0
"""Seconds that all calls of a submission may take together; after them the rest is not tried."""
LONGEST_MESSAGE = 500
"""Characters of what a test says."""
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
LONGEST = 120
"""Characters of a value that is told."""
TOLD = f"""
def _told(expected, came):
    def short(value):
        text = repr(value)
        return text if len(text) <= {LONGEST} else text[:{LONGEST}] + " …"
    return f"expected {{expected}}; it is {{short(came)}}"
"""


class CannotRun(Exception):
    """A student's function did not return."""


class Submission(NamedTuple):
    """What is graded of a notebook."""

    source: str
    """Imports, definitions, and assignments that stand at the top level of its cells."""
    names: tuple[str, ...]
    """Functions, in order."""
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


def _function(source: str, name: str, executor: Executor, left: list[float]) -> Callable[..., Any]:
    """A student's function, as the tests see it: a call runs it in the sandbox, while of the seconds that all of a
    submission share some are `left`."""
    program = f"{source}\n{PLAIN.replace('{name}', name)}"

    def call(*arguments: Any, **keywords: Any) -> Any:
        if left[0] <= 0:
            raise CannotRun(f"{name} was not tried: calls before it took {PATIENCE_S:.0f} s")
        started = time.monotonic()
        [done] = executor.run([Program(program, CALLED, arguments, keywords)])
        left[0] -= time.monotonic() - started
        if done.outcome is not Ending.RETURNED:
            raise CannotRun(f"{name} did not return: {done.outcome} {done.detail}".rstrip())
        return done.value

    return call


def read_submission(path: Path) -> Submission:
    """The graded part of a notebook; `DataError` where it is none."""
    kept = list[str]()
    names = dict[str, None]()
    remarks = list[str]()
    for number, cell in enumerate(read_notebook(path).cells, start=1):
        try:
            for statement in _statements(cell["source"]) if cell["cell_type"] == "code" else ():
                kept += _kept(statement)
                names |= {statement.name: None} if isinstance(statement, ast.FunctionDef) else {}
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            remarks.append(_short(f"cell {number} cannot be read: {type(error).__name__} {error}"))
    return Submission("\n".join(kept), tuple(names), tuple(remarks))


def _statements(source: str) -> list[ast.stmt]:
    """Of a cell; lines that speak to Jupyter (%, !) are dropped where it cannot be read with them."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return ast.parse(re.sub(r"^[ \t]*[%!].*$", "", source, flags=re.MULTILINE)).body


def _kept(statement: ast.stmt) -> list[str]:
    """What is graded of a statement. Imports and assignments may need data or modules that are not in the sandbox:
    functions that do without them still run."""
    match statement:
        case ast.FunctionDef() | ast.ClassDef():
            return [ast.unparse(statement)]
        case ast.Import(names=imported) if all(_allowed(one.name) for one in imported):
            pass
        case ast.ImportFrom(module=str(module), level=0) if _allowed(module):
            pass
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            pass
        case _:
            return []
    return [f"try:\n    {ast.unparse(statement)}\nexcept Exception:\n    pass"]


def _allowed(module: str) -> bool:
    """Whether graded functions may use a module; what else a notebook imports would only take time."""
    return module.split(".")[0] in {*sys.stdlib_module_names, "numpy", "scipy"}


def grade(submission: Path, tests: Path, student: str) -> Graded:
    """Runs the tests of an assignment (otter's files, q1.py and so on) on a submission."""
    if not list(tests.glob("*.py")):
        raise DataError(f"{tests}: no tests here; make course writes them")
    read = read_submission(submission)
    graded = Graded(student, remarks=read.remarks)
    with Executor(workers=1, limits=LIMITS, packages=PACKAGES) as executor:
        executor.admit()
        left = [PATIENCE_S]
        functions = {name: _function(read.source, name, executor, left) for name in read.names}
        for path in sorted(tests.glob("*.py")):
            file = _otter_file(path)
            file.run(functions | {"STUDENT": student})
            graded.scores[file.name] = float(file.score)
            graded.possible[file.name] = float(file.possible)
            wrong = [one for one in file.test_case_results if not one.passed]
            graded.failed[file.name] = [_told(one.test_case.name, one.message) for one in wrong]
    return graded


def _told(name: str, message: str) -> str:
    """The test's name and the last line of what went wrong."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return _short(f"{name}: {lines[-1].strip() if lines else 'failed'}")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} …"


class _Asserts(ast.NodeTransformer):
    """Each `assert` says what it expected and what came; its own message, if it has one, stands before that."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        first: ast.expr = node.test
        again: ast.expr = ast.Name("_came", ast.Load())
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            first, again = node.test.left, ast.Compare(again, node.test.ops, node.test.comparators)
        words = f"_told({ast.unparse(node.test)!r}, _came)"
        if node.msg is not None:
            words = f"'{{}}: {{}}'.format({ast.unparse(node.msg)}, {words})"
        return ast.parse(f"_came = {ast.unparse(first)}\nassert {ast.unparse(again)}, {words}").body


def telling(source: str) -> str:
    """Tests whose asserts tell what they expected."""
    return TOLD + ast.unparse(_Asserts().visit(ast.parse(source))) + "\n"


def _otter_file(path: Path) -> Any:
    try:
        from otter.test_files import ExceptionTestFile
    except ImportError:
        raise CodestressError(
            f"otter-grader is not installed in {sys.prefix}; make course installs it (pip install codestress[course])"
        ) from None
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_text(telling(path.read_text(encoding="utf-8")), encoding="utf-8")
            return ExceptionTestFile.from_file(str(copy))
    except Exception as error:  # whatever a damaged file raises when it is executed
        told = str(error).partition("\n")[0]
        raise DataError(f"{path}: no tests of otter: {type(error).__name__}: {told}; make course writes them") from None


def sections(master: Path) -> tuple[dict[str, str], str]:
    """The heading of each question of an assignment, and what its introduction says to read."""
    headings: dict[str, str] = {}
    reading, question = "", ""
    for cell in read_notebook(master).cells:
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if begun := re.search(r"# BEGIN QUESTION\s+name: (\w+)", text):
            question = begun[1]
        elif question and question not in headings and (heading := re.match(r"#+ (.+)", text)):
            headings[question] = heading[1]
        if more := re.search(r"Sections that tell you more: ([^\n]+(?:\n[^\n]+)*)", text):
            reading = " ".join(more[1].split())
    return headings, reading


def write_feedback(folder: Path, master: Path, results: Sequence[Graded]) -> Path:
    """`STUDENT.md` for each, and `grades.csv` for all: a row for each student, a column for each question."""
    headings, reading = sections(master)
    names, rows = Counter[str](), []
    for graded in results:
        lines = [f"# {master.stem}: {graded.score:g} of {graded.total:g} points", "", f"Student: {graded.student}"]
        lines += [f"- {remark}" for remark in graded.remarks]
        for name, possible in graded.possible.items():
            lines += ["", f"## {headings.get(name, name)}", "", f"{graded.scores[name]:g} of {possible:g} points."]
            lines += [f"- {message}" for message in graded.failed[name]]
        lines += ["", f"Where to read: the section of that name in the assignment; {reading}"] if reading else []
        name = re.sub(r"[^\w.-]+", "_", graded.student).strip(".") or "_"  # as that of a file
        names[name] += 1
        again = f"-{names[name]}" if names[name] > 1 else ""  # two files of one name overwrite nothing
        write_whole(folder / f"{name}{again}.md", "\n".join(lines) + "\n")
        safe = "'" * (graded.student[:1] in "=+-@\t\r") + graded.student  # no formula to a spreadsheet
        rows.append({"student": safe, **graded.scores, "points": graded.score, "of": graded.total})
    write_whole(folder / "grades.csv", pd.DataFrame(rows).to_csv(index=False, float_format="%g", lineterminator="\n"))
    return folder / "grades.csv"
