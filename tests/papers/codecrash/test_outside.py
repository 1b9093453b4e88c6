"""Anybody's programs, perturbed: a row for each problem and condition, whatever the problem is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codestress.errors import DataError, ParameterError, SandboxError
from codestress.mutate.perturbations.checking import run_calls
from codestress.mutate.perturbations.outside import perturbed_rows
from codestress.mutate.perturbations.variants import PERTURBATIONS
from codestress.papers.codecrash.commands import perturb
from codestress.papers.codecrash.programs import runnable
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Language
from mutate.perturbing import needs_node
from told import names, refused

CODE = """def double(words, least=1):
    found = []
    for word in words:
        if len(word) > least:
            found.append(word * 2)
    return found"""
GOOD = {"id": "good", "code": CODE, "function": "double", "input": "words=['ab', 'c']"}
WHOLE = GOOD | {"id": 7, "input": "double(['ab'], 0)"}
WRITES = "def double(words):\n    return open('/tmp/mark', 'w').write('x')"
BAD = [
    GOOD | {"id": "call", "input": "['ab'"},
    GOOD | {"id": "raises", "input": "3"},
    GOOD | {"id": "no name", "function": "print('a') or double"},
    GOOD | {"id": "writes", "code": WRITES},
    GOOD | {"id": "no text", "code": 3},
]


def written(folder: Path, *rows: Any) -> Path:
    """A file of these rows, with a byte-order mark; a text is a line as it stands."""
    path = folder / "problems.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8-sig")
    return path


@pytest.mark.isolation
def test_every_problem_has_a_row_for_every_condition(tmp_path: Path) -> None:
    path = written(tmp_path, BAD[0], GOOD, *BAD[1:], WHOLE, GOOD, "{", "[1]")
    command = [str(path), "--conditions", "VAN,MCC REN", "--json"]
    done = CliRunner().invoke(perturb, command)
    assert done.exit_code == 0, done.output
    names(done.stderr, "24 of 30")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    first, *others = (row["id"] for row in BAD)
    asked = []
    for one in (first, "good", *others, "7", "line 8", "line 9", "line 10"):
        asked += [(one, condition) for condition in ("VAN", "MCC", "REN")]
    assert [(row["id"], row["condition"]) for row in rows] == asked
    for row in rows:
        assert {"id", "condition", "state", "reason", "code", "messages"} <= row.keys()
        fine = row["id"] in ("good", "7")
        assert row["state"] == ("applied" if fine else "rejected"), row
        assert bool(row["reason"]) != fine
        if row["id"] == "no name":
            names(row["reason"], "not a name")
    assert not Path("/tmp/mark").exists()


SCRIPT = """function double(words, least) {
  const found = [];
  for (const word of words) {
    if (word.length > 1) {
      found.push(word + word);
    }
  }
  return found;
}"""
INPUTS = {
    "python": [GOOD, WHOLE],
    "javascript": [
        GOOD | {"code": SCRIPT, "input": '["ab", "c"], 1'},
        WHOLE | {"code": SCRIPT, "input": 'double(["ab"], 0)'},
    ],
}


@pytest.mark.isolation
@pytest.mark.parametrize(
    "language",
    ["python", pytest.param("javascript", marks=[pytest.mark.slow, needs_node])],
)
def test_variants_do_the_same_and_messages_stand_in_them(
    tmp_path: Path, language: Language, executor: Executor
) -> None:
    path = written(tmp_path, *INPUTS[language])
    made = perturbed_rows(path, PERTURBATIONS, language, seed=1)
    two = ["REN", "GBC"]
    again = [row for row in made if row["condition"] in two]
    assert perturbed_rows(path, two, language, seed=1) == again
    applied = [row for row in made if row["state"] == "applied"]
    assert {row["condition"] for row in applied} >= {"VAN", "REN", "MCC", "MPS", "MHC"}
    calls = []
    for row in applied:
        problem = Problem("", row["code"], row["function"], "", "", language)
        calls.append((problem, row["input"]))
    for row, ran in zip(applied, run_calls(calls, executor), strict=True):
        assert (ran.outcome, ran.value) == ("returned", ["abab"]), row
    for row in made:
        kind, _, truth = row["condition"].partition("-")
        said = kind in ("MCC", "MPS", "MHC", "NCC")
        assert bool(row["messages"]) == (said and row["state"] == "applied")
        shown = row["code"].replace("\\'", "'").replace('\\"', '"')
        # False ones unless asked for.
        named = {"TRUE": True, "UNDECIDABLE": None}.get(truth, kind == "NCC")
        for message in row["messages"]:
            assert message == {"text": message["text"], "truth": named}
            assert message["text"] in shown
    anything = perturbed_rows(path, ["MCC"], language, seed=1, truth="any")
    truths = {message["truth"] for row in anything for message in row["messages"]}
    assert truths == {False, None}


BIG = "1" * 5000
PROGRAM = "def f(x):\n    return x"
NESTED_RESULT = "def f(x):\n    for _ in range(400): x = [x]\n    return x"
ITSELF = "def f(x):\n    x = [x]\n    x += x, x\n    x[0] = x\n    return x"
NO_FORM = "class A:\n    def __repr__(self): 1 / 0\ndef f(x):\n    return A()"
BRANCHES = f"{PROGRAM}\n" + "if f:\n  1\n" + "elif f:\n  1\n" * 3000
PROGRAMS = {
    f"{PROGRAM} + {BIG}": "line 2: | 4,300",
    f"{PROGRAM} + 0x{BIG}": "line 2: | 4,300",
    f"{PROGRAM} + 10 ** 5000": "integer | 4,300",
    f"{PROGRAM} and ...": "return | a name",
    NO_FORM: "return | : A",
    "def f(x):\n    yield x": "return | : generator",
    f"{PROGRAM} and 'a' * 200000": "return | 100,000",
    NESTED_RESULT: "nested",
    ITSELF: "itself",
    f"{PROGRAM}\nprint f": "line 3: Missing parentheses in call to 'print'",
    f"%%cell\n{PROGRAM}": "line 1: | invalid syntax",
    f"{PROGRAM}\na, b = !ls": "invalid syntax",
    f"{PROGRAM}\nx = = 1  # why?": "line 3: | (Python 3.",
    "f = lambda x: x": "function f",
    "import random\ndef f(x):\n    return random.random()": "deterministic | 0.",
    f"{PROGRAM} # \0": "line 2: | U+0000",
    f"{PROGRAM} # \ud800": "line 2: | U+D800",
    f"\ufeff{PROGRAM}": "line 1: | U+FEFF",
    "def f(x):\n    if x:\n\treturn 1\n    return x": "line 3: | tabs",
    f"{PROGRAM} + {'-' * 5000}1": "nested",
    f"{PROGRAM} + {'+'.join('1' * 900)}": "program | nested",
    BRANCHES: "nested",
    f"{PROGRAM} + {'(' * 250}1{')' * 250}": "line 2: | nested",
    f"return 3\n{PROGRAM}": "'return' outside function (<program>, line 1)",
}
"""Programs that people bring, called with 3, and what the reason names, between bars."""
ARGUMENTS = {
    BIG: "input | 4,300",
    "3), f(4": "f(3), f(4) | call",
    "3)(": "f(3)() | no call of f",
    "'\ud800'": "input",
    "-" * 5000 + "1": "nested",
    "[" + "1, " * 99999 + "]": "input | 100,000",
}
"""Arguments of `PROGRAM`."""


@pytest.mark.isolation
def test_what_people_bring_is_rejected_with_line_and_reason(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"code": code, "input": "3"} for code in PROGRAMS]
    rows += [{"code": PROGRAM, "input": text} for text in ARGUMENTS]
    reasons = [*PROGRAMS.values(), *ARGUMENTS.values()]
    fine = [
        {"id": "near the limit", "code": PROGRAM, "input": "9" * 4300},
        {"id": None, "code": PROGRAM, "input": "3"},
        {"id": "crlf", "code": PROGRAM.replace("\n", "\r\n"), "input": "3"},
        {"id": "a long line", "code": f"{PROGRAM} # {'a' * 200000}", "input": "3"},
    ]
    path = written(tmp_path, *rows, *fine)
    latin = '{"id": "latin", "code": "É"}\n'.encode("latin-1")
    path.write_bytes(path.read_bytes() + latin + "{".encode("utf-16-le"))
    reasons += [""] * len(fine)
    reasons += ["UTF-8 | 0xc9 | character 26", "UTF-8 | 0x00 | character 2"]
    made = perturbed_rows(path, ["VAN", "REN", "PSC-ALL", "MCC", "MHC"], "python", 0)
    found = [row for row in made if row["condition"] == "VAN"]
    for number, (row, reason) in enumerate(zip(found, reasons, strict=True), start=1):
        assert (row["state"] == "rejected") == bool(reason), row
        if reason:
            where = f"problems.jsonl, line {number} (line {number}): "
            names(row["reason"], where)
            names(row["reason"].partition(where)[2], *reason.split(" | "))
    others = {row["id"] for row in made if row["state"] != "rejected"}
    line = f"line {len(rows) + 2}"
    assert others == {"near the limit", line, "crlf", "a long line"}


SHORT = "function f(a) {\n  return [a];\n}"
SCRIPTS = {
    "undefined": ("input", "'undefined'", "JSON"),
    "['ab']": ("input", "\"['ab']\"", "JSON"),
    '["ab"], NaN': ("input", "NaN", "JSON"),
    "1e999": ("input", "'1e999'", "JSON"),
    "1)": ("input", "'1)'", "JSON"),
    "f(undefined)": ("input", "'undefined'", "JSON"),
    BIG: ("input", "4,300"),
    "[" * 5000 + "]" * 5000: ("input", "nested"),
}
"""Arguments that people bring of JavaScript, and what the reason names."""


def test_javascript_that_people_bring_is_rejected_with_its_reason(
    tmp_path: Path,
) -> None:
    rows = [{"code": SHORT, "input": text} for text in SCRIPTS]
    rows.append({"code": f"{SHORT} // \0", "input": "3"})
    rows.append({"code": f"{SHORT}\n  x = = 1", "input": "3"})
    reasons = [*SCRIPTS.values(), ("line 3: ", "U+0000"), ("line 4 (x = = 1)",)]
    made = perturbed_rows(written(tmp_path, *rows), ["VAN"], "javascript", 0)
    for number, (row, reason) in enumerate(zip(made, reasons, strict=True), start=1):
        assert row["state"] == "rejected"
        names(row["reason"], f"problems.jsonl, line {number} (line {number}): ")
        names(row["reason"], *reason)


def test_what_cannot_be_isolated_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODESTRESS_UNPROTECTED", raising=False)
    monkeypatch.setattr(Executor, "exposed", lambda *_: {"files": "can be written"})
    with refused(SandboxError, "files: can be written", "CODESTRESS_UNPROTECTED=1"):
        perturbed_rows(written(tmp_path, GOOD), ["VAN"], "python", 0)


def test_files_and_conditions_that_are_none(tmp_path: Path) -> None:
    with refused(DataError, tmp_path / "gone"):
        perturbed_rows(tmp_path / "gone", ["VAN"], "python", 0)
    with refused(DataError, "problems.jsonl", "JSON Lines", "id, code, function"):
        perturbed_rows(written(tmp_path), ["VAN"], "python", 0)
    with refused(ParameterError, "--conditions", "REM", "'REN'"):
        command = [str(tmp_path / "gone"), "--conditions", "REM"]
        CliRunner().invoke(perturb, command, catch_exceptions=False)


def test_no_language_to_run_is_said() -> None:
    with refused(SandboxError, "languages"):
        runnable([])
