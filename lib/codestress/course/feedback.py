"""What a student reads of a failed test: what was expected, what came, and where it is explained."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from codestress.paths import write_whole
from codestress.pipeline.notebooks import read_notebook

if TYPE_CHECKING:
    from codestress.course.grading import Graded

LONGEST = 120
"""Characters of a value that is told."""
TOLD = f"""
def _told(expected, came):
    def short(value):
        text = repr(value)
        return text if len(text) <= {LONGEST} else text[:{LONGEST}] + " …"
    return f"expected {{expected}}; it is {{short(came)}}"
"""


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
    names = Counter[str]()
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
    questions = list(dict.fromkeys(name for graded in results for name in graded.possible))
    rows = []
    for graded in results:
        formula = graded.student[:1] in "=+-@\t\r"  # to a spreadsheet
        numbers = *(graded.scores.get(name, 0) for name in questions), graded.score, graded.total
        rows.append([f"'{graded.student}" if formula else graded.student, *(f"{number:g}" for number in numbers)])
    table = pd.DataFrame(rows, columns=["student", *questions, "points", "of"])
    write_whole(folder / "grades.csv", table.to_csv(index=False, lineterminator="\n"))
    return folder / "grades.csv"
