"""Anybody's programs: faults are undone byte for byte, labels stay exact."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from test_faults import JAVA, PYTHON

from codestress.mutate.faults.kinds import SPMS, Spm
from codestress.papers.faultloc.commands import faults, mutate
from codestress.papers.faultloc.program_files import (
    faulty_rows,
    mutated_row,
    read_program,
)
from codestress.papers.faultloc.programs import CorrectProgram
from told import names


@st.composite
def texts(draw: st.DrawFn, code: str) -> str:
    """The program as some editor might have saved it."""
    if draw(st.booleans()):
        code = code.replace("    ", "\t")
    blank = st.sampled_from(["", "  ", "\f", "\t"])
    lines = [line or draw(blank) for line in code.removesuffix("\n").split("\n")]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n", "\n\n\n"]))


def saved(folder: Path, name: str, text: str) -> CorrectProgram:
    (folder / name).write_bytes(text.encode())
    return read_program(folder / name)


def lines_of(text: str) -> list[str]:
    """As editors count them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def code_in(line: str) -> str:
    """A line without its end and its comment."""
    return re.split(r"\s*(?:#|//)", line.rstrip("\n"))[0]


@pytest.mark.parametrize(
    ("name", "code", "least"), [("a.py", PYTHON, 25), ("A.java", JAVA, 15)]
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_fault_is_one_line_and_undone_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    code: str,
    least: int,
    data: st.DataObject,
) -> None:
    text = data.draw(texts(code))
    rows = faulty_rows(saved(tmp_path_factory.mktemp("p"), name, text))
    assert len(rows) >= least
    for row in rows:
        lines, before = lines_of(row["code"]), row["before"]
        assert lines[row["line"] - 1] == row["after"] != before
        lines[row["line"] - 1] = before
        assert "".join(lines) == text
        assert not before or before.endswith("\n") or text.endswith(before)


@pytest.mark.parametrize(("name", "code"), [("a.py", PYTHON), ("A.java", JAVA)])
@settings(max_examples=25, deadline=None)
@given(
    data=st.data(),
    spm=st.sampled_from(SPMS),
    how=st.tuples(st.integers(1, 2), st.integers(0, 9)),
)
def test_a_line_is_followed_through_mutations(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    code: str,
    data: st.DataObject,
    spm: Spm,
    how: tuple[int, int],
) -> None:
    text = data.draw(texts(code.replace("return result", "return 123457 + result")))
    file = saved(tmp_path_factory.mktemp("p"), name, text)
    before = lines_of(text)
    line = next(n for n, one in enumerate(before, start=1) if "123457" in one)
    row = mutated_row(file, spm, line, *how)
    after = lines_of(row["code"])
    assert "123457" in after[row["line"] - 1]
    if row["state"] != "applied":
        assert (row["code"], row["line"]) == (text, line)
        assert row["reason"]
        return
    assert row == mutated_row(file, spm, line, *how)
    if "names" not in spm:
        left = [code_in(one) for one in after]
        for one in before:
            left.remove(code_in(one))  # nothing is lost
        assert spm == "comments" or bool(left) == (spm != "functions")


def rows_of(command: Any, *arguments: Any) -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(command, [*map(str, arguments), "--json"])
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_commands_have_a_row_for_everything(tmp_path: Path) -> None:
    texts = {"a.py": PYTHON, "A.java": JAVA, "a.txt": PYTHON, "none.py": "# none\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    good, java, bad, none = (tmp_path / name for name in texts)
    status, rows = rows_of(faults, good, java, bad)
    assert status == 0
    assert {row["program"] for row in rows} == {str(good), str(java), str(bad)}
    columns = ["program", "fault", "line", "code", "before", "after"]
    assert all(list(row) == columns for row in rows[:-1])
    assert list(rows[-1]) == ["program", "state", "reason"]

    how = ["--line", 9, "--mutations", "comments,names,functions", "--strength", 2]
    status, rows = rows_of(mutate, good, java, bad, *how, "--seed", 3)
    assert status == 0
    made = rows[:-1]
    assert [row["mutation"] for row in made] == ["comments", "names", "functions"] * 2
    columns = ["program", "mutation", "state", "reason", "code", "line"]
    assert all(list(row) == columns for row in made)
    states = [*["applied"] * 2, "refused", *["applied"] * 3, "rejected"]
    assert [row["state"] for row in rows] == states
    names(rows[2]["reason"], "Java")
    names(rows[-1]["reason"], ".py", ".java")
    beyond = rows_of(mutate, good, "--line", 99)[1][0]
    assert beyond["state"] == "rejected"
    names(beyond["reason"], "99", "11")

    status, rows = rows_of(faults, tmp_path / "gone.py", good)
    assert status == 1
    names(rows[0]["reason"], "No such file")
    assert len(rows) > 10
    status, [row] = rows_of(faults, none)
    assert (status, "fault" in row) == (0, False)
    names(row["reason"], "no place")


BIG = "1" * 5000
BROUGHT: dict[str, tuple[str | bytes, *tuple[str, ...]]] = {
    "digits.py": (f"x = 1\ny = {BIG}\n", "line 2", "digits"),
    "empty.py": (" \n", "empty"),
    "newer.py": ("x = 1\nmatch x\n", "line 2", "':'", "Python 3."),
    "magic.py": ("x = 1\n%time f(x)\n", "line 2", "invalid syntax"),
    "nul.py": ("x = 1\ny = 2 # \0\n", "line 2", "U+0000"),
    "tabs.py": ("if 1:\n    if 2:\n\tx = 3\n", "line 3", "tabs"),
    "deep.py": (f"x = {'-' * 5000}1\n", "nested"),
    "attributes.py": (f"x = y{'.a' * 4000}\n", "nested"),
    "latin.py": ("x = 1\ny = 'é'\n".encode("latin-1"), "line 2", "0xe9", "UTF-8"),
    "mark.py": ("\ufeffx = 1\n", "line 1", "byte-order mark", "UTF-8"),
    "ends.java": ("class A {\n}\r\n", "line 2", "carriage return", "line feeds"),
    "syntax.java": ("class A {\n  int x = ;\n}\n", "parse", "java", "line 2"),
    "missing.java": ("class A {\n  int x = 1\n}\n", "parse", "java", "line 2"),
    "nul.java": ("class A {\n  int x\0;\n}\n", "line 2", "U+0000"),
    "deep.java": (
        f"class A {{ int f(int a) {{ return a; }} int x = {'(' * 3000}1{')' * 3000}; }}",
        "nested",
    ),
    "long.java": (f"class A {{ int x = {'1 + ' * 3000}1; }}", "nested"),
}
"""Programs that nobody can use, and what the reason names; test_outside.py has more in Python."""


@pytest.mark.parametrize("command", [faults, mutate])
def test_what_people_bring_is_rejected_with_line_and_reason(
    tmp_path: Path, command: Any
) -> None:
    brought = {"good.py": (PYTHON,), **BROUGHT, "Good.java": (JAVA,)}
    for name, (code, *_) in brought.items():
        (tmp_path / name).write_bytes(code.encode() if isinstance(code, str) else code)
    paths = [str(tmp_path / name) for name in brought]
    done = CliRunner().invoke(command, [*paths, "--json"])
    assert done.exit_code == 0
    names(done.stderr, f"{len(BROUGHT)} of {len(paths)}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["program"] for row in rows} == set(paths)
    for row in rows:
        _, *told = brought[Path(row["program"]).name]
        if told:
            names(row["reason"], *told)
            assert "code" not in row


def test_faults_stand_beside_a_number_that_python_does_not_write(
    tmp_path: Path,
) -> None:
    code = f"def f(x):\n    for y in range(0x{BIG}):\n        x += y\n    return x\n"
    rows = faulty_rows(saved(tmp_path, "a.py", code))
    assert [row["after"] for row in rows if row["fault"] == "OffByOne"] == [
        f"    for y in range(0x{BIG}{step}):\n" for step in (" + 1", " - 1")
    ]
