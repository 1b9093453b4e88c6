"""Grades a submission: the student's functions run in the sandbox, otter's tests run in this
process. For a failed test the student reads what was expected, what came, and where the topic is
explained.

Only the functions that a submission defines are run, each call in a process of its own, and only
plain data comes back. A submission therefore cannot reach the tests, and cannot return an object
that equals everything. (otter's own `run` executes the whole notebook in the process that grades
it.)
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
"""Modules that graded functions may use, beside the standard library."""
LIMITS = Limits(steps=5_000_000, cpu_s=20, wall_s=60.0, memory_bytes=1 << 30)
PATIENCE_S = 900.0
"""Largest number of seconds for all calls of a submission together, forty times what the slowest
solution needs on a free machine; later calls are not tried."""
LONGEST_MESSAGE = 500
"""Largest number of characters in the message of a failed test, and in a remark."""
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
"""Code appended to a submission, so that arrays and numpy's numbers come back from the sandbox as
lists and numbers."""
LONGEST = 120
"""Largest number of characters of a returned value in a message."""
TOLD = f"""
def _told(expected, came):
    def short(value):
        text = repr(value)
        return text if len(text) <= {LONGEST} else text[:{LONGEST}] + " …"
    return f"expected {{expected}}; it is {{short(came)}}"
"""


class CannotRun(Exception):
    """Raised where a student's function did not return, or was not called because time was over."""


class Submission(NamedTuple):
    """The graded part of a notebook: its definitions as one program, the names of its functions,
    and remarks on cells that could not be parsed."""

    source: str
    """Imports, definitions and assignments at the top level of the notebook's cells, as one
    program."""
    names: tuple[str, ...]
    """Names of the defined functions, in order."""
    remarks: tuple[str, ...]
    """Remarks on cells that could not be parsed; such a cell is not graded."""


@dataclass
class Graded:
    """Result of grading a submission of one student: points got (`scores`) and possible
    (`possible`), by question; `score` and `total` are their sums; `remarks` tell of cells that
    could not be parsed."""

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
    """Returns a stand-in for the student's function `name` of the program `source`, for the tests:
    each call runs in the sandbox and returns plain data. `left` holds one number, the seconds left
    to all calls of the submission. A call raises `CannotRun` when none are left or it does not
    return."""
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
    """Returns the graded part of the notebook at `path` (`Submission`). A cell that cannot be
    parsed is left out, with a remark. Raises `DataError` for a file that is no notebook."""
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
    """Returns the statements of `source`, the text of a cell. If it does not parse, lines for
    Jupyter (%, !) are dropped first; raises `SyntaxError` if it still does not."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return ast.parse(re.sub(r"^[ \t]*[%!].*$", "", source, flags=re.MULTILINE)).body


def _kept(statement: ast.stmt) -> list[str]:
    """Returns a list with the source of a statement as it is graded; empty for statements that are
    left out (all but functions, classes, assignments and allowed imports). Imports and assignments
    may need data or modules that the sandbox lacks, so their errors are ignored: functions without
    them still run."""
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
    """Whether graded functions may use the module of this name: one of the standard library, numpy
    or scipy; imports of others would only take time."""
    return module.split(".")[0] in {*sys.stdlib_module_names, "numpy", "scipy"}


def grade(submission: Path, tests: Path, student: str) -> Graded:
    """Returns, as `Graded`, the points of the notebook at `submission` in the tests of an
    assignment (otter's files q1.py and so on in the folder `tests`), by question, with messages of
    failed tests. `student`, a name, decides the tests' data. Raises `DataError` for missing or
    damaged tests, or no notebook, and `CodestressError` without otter."""
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
    """Returns the message of a failed test: its `name` and the last line of its error `message`, or
    `failed` where this is blank."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return _short(f"{name}: {lines[-1].strip() if lines else 'failed'}")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} …"


class _Asserts(ast.NodeTransformer):
    """Rewriter of a test's syntax tree: each `assert` gets a message that states the expected and
    the actual value, after the assert's own message."""

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
    """Returns the `source` of tests with rewritten asserts, whose messages state the expected and
    the actual value."""
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
        raise DataError(
            f"{path}: no tests of otter: {type(error).__name__}: {told}; make course writes them"
        ) from None


def sections(master: Path) -> tuple[dict[str, str], str]:
    """Returns a dict of the heading of each question by its name, from an assignment's `master`
    (the path of the notebook with solutions), and the reading advice in its introduction (empty
    without any)."""
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
    """Writes into `folder` a file `STUDENT.md` for each of `results` (a second one of that name as
    `STUDENT-2.md`), and `grades.csv` with a row for each student and a column for each question;
    returns the path of `grades.csv`. `master` is the path of the notebook with headings and reading
    advice."""
    headings, reading = sections(master)
    names, rows = Counter[str](), []
    for graded in results:
        lines = [f"# {master.stem}: {graded.score:g} of {graded.total:g} points", ""]
        lines += [f"Student: {graded.student}", *(f"- {remark}" for remark in graded.remarks)]
        for name, possible in graded.possible.items():
            points = f"{graded.scores[name]:g} of {possible:g} points."
            lines += ["", f"## {headings.get(name, name)}", "", points]
            lines += [f"- {message}" for message in graded.failed[name]]
        if reading:
            advice = "Where to read: the section of that name in the assignment;"
            lines += ["", f"{advice} {reading}"]
        name = re.sub(r"[^\w.-]+", "_", graded.student).strip(".") or "_"  # as that of a file
        names[name] += 1
        # Two files of one name overwrite nothing.
        again = f"-{names[name]}" if names[name] > 1 else ""
        write_whole(folder / f"{name}{again}.md", "\n".join(lines) + "\n")
        # No formula to a spreadsheet.
        safe = "'" * (graded.student[:1] in "=+-@\t\r") + graded.student
        rows.append({"student": safe, **graded.scores, "points": graded.score, "of": graded.total})
    table = pd.DataFrame(rows).to_csv(index=False, float_format="%g", lineterminator="\n")
    write_whole(folder / "grades.csv", table)
    return folder / "grades.csv"
