"""Anybody's programs, perturbed: a row for each problem and condition, whatever the problem is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codestress.errors import DataError, ParameterError, SandboxError
from codestress.mutate.perturbations.outside import perturbed_rows
from codestress.mutate.perturbations.variants import PERTURBATIONS
from codestress.papers.codecrash.commands import perturb
from codestress.papers.codecrash.programs import runnable
from codestress.sandbox.executor import Executor, Outcome, Program
from told import names, refused

CODE = """def double(words, least=1):
    found = []
    for word in words:
        if len(word) > least:
            found.append(word * 2)
    return found"""
GOOD = {"id": "good", "code": CODE, "function": "double", "input": "words=['ab', 'c']"}
WHOLE = GOOD | {"id": 7, "input": "double(['ab'], 0)"}
BAD = {
    "syntax": GOOD | {"code": "def double(words:"},
    "call": GOOD | {"input": "['ab'"},
    "pasted": GOOD | {"input": "['ab']) or (1"},
    "raises": GOOD | {"input": "3"},
    "another": GOOD | {"function": "triple"},
    "no name": GOOD | {"function": "print('a') or double"},
    "no data": GOOD
    | {"code": "def double(words):\n    return (word for word in words)"},
    "random": GOOD
    | {"code": "import random\ndef double(words):\n    return random.random()"},
    "writes": GOOD
    | {"code": "def double(words):\n    return open('/tmp/mark', 'w').write('x')"},
    "no text": GOOD | {"code": 3},
    "surrogate": GOOD | {"code": "def double(words):\n    return '\ud800'"},
}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "problems.jsonl"
    path.write_text(
        "".join(
            f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows
        ),
        "utf-8-sig",
    )
    return path


@pytest.mark.isolation
def test_every_problem_has_a_row_for_every_condition(tmp_path: Path) -> None:
    bad = [row | {"id": name} for name, row in BAD.items()]
    path = written(tmp_path, bad[0], GOOD, *bad[1:], WHOLE, GOOD, "{", "[1]")
    done = CliRunner().invoke(
        perturb, [str(path), "--conditions", "VAN,MCC REN", "--json"]
    )
    assert done.exit_code == 0, done.output
    names(done.stderr, "14 of 16")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    first, *others = BAD
    ids = [first, "good", *others, "7", "line 14", "line 15", "line 16"]
    assert [(row["id"], row["condition"]) for row in rows] == [
        (one, condition) for one in ids for condition in ("VAN", "MCC", "REN")
    ]
    for row in rows:
        assert {"id", "condition", "state", "reason", "code", "messages"} <= row.keys()
        fine = row["id"] in ("good", "7")
        assert row["state"] == ("applied" if fine else "rejected"), row
        assert bool(row["reason"]) != fine
    assert not Path("/tmp/mark").exists()


@pytest.mark.isolation
@pytest.mark.parametrize(
    "language", ["python", pytest.param("javascript", marks=pytest.mark.slow)]
)
def test_variants_do_the_same_and_messages_stand_in_them(
    tmp_path: Path, language: Any
) -> None:
    rows = [GOOD, WHOLE]
    if language == "javascript":
        code = "function double(words, least) {\n  const found = [];\n  for (const word of words) {\n"
        code += "    if (word.length > 1) {\n      found.push(word + word);\n    }\n  }\n  return found;\n}"
        rows = [
            GOOD | {"code": code, "input": '["ab", "c"], 1'},
            WHOLE | {"code": code, "input": 'double(["ab"], 0)'},
        ]
    path = written(tmp_path, *rows)
    made = perturbed_rows(path, PERTURBATIONS, language, seed=1)
    two = ["REN", "GBC"]
    again = [row for row in made if row["condition"] in two]
    assert perturbed_rows(path, two, language, seed=1) == again
    applied = [row for row in made if row["state"] == "applied"]
    assert {row["condition"] for row in applied} >= {"VAN", "REN", "MCC", "MPS", "MHC"}
    calls = [
        Program(row["code"], call=f"{row['function']}({row['input']})")
        for row in applied
    ]
    if language == "javascript":
        calls = [
            Program(
                row["code"], row["function"], tuple(json.loads(f"[{row['input']}]"))
            )
            for row in applied
        ]
    with Executor(workers=1) as executor:
        for row, ran in zip(
            applied, executor.run(calls, language=language), strict=True
        ):
            assert (ran.outcome, ran.value) == (Outcome.RETURNED, ["abab"]), row
    for row in made:
        said = row["condition"].startswith(("MCC", "MPS", "MHC", "NCC"))
        assert bool(row["messages"]) == (said and row["state"] == "applied")
        shown = (row["code"] or "").replace("\\'", "'").replace('\\"', '"')
        for message in row["messages"]:
            assert message["text"] in shown
            assert message.keys() == {"text", "truth"}
            # false ones unless asked for
            named = {"TRUE": True, "UNDECIDABLE": None, "": row["condition"] == "NCC"}
            assert message["truth"] is named.get(row["condition"][4:], False)
    anything = perturbed_rows(path, ["MCC"], language, seed=1, truth="any")
    assert {message["truth"] for row in anything for message in row["messages"]} == {
        False,
        None,
    }


NOT_JSON = [
    "undefined",
    "['ab']",
    '["ab"], NaN',
    "Infinity",
    "1e999",
    "None",
    "{a: 1}",
    "[1,]",
    "(1, 2)",
    "new Set()",
    "1)",
]


BIG = "1" * 5000
PROGRAM = "def f(x):\n    return x"
BROUGHT = {
    "digits in the program": (f"{PROGRAM} + {BIG}", "3", "line 2: | 4,300"),
    "digits, hexadecimal": (f"{PROGRAM} + 0x{BIG}", "3", "program | 4,300"),
    "digits in the input": (PROGRAM, BIG, "input | 4,300"),
    "digits in the result": (f"{PROGRAM} + 10 ** 5000", "3", "integer | 4,300"),
    "no literal": (f"{PROGRAM} and ...", "3", "return | a name"),
    "no form": (
        "class A:\n    def __repr__(self): 1 / 0\ndef f(x):\n    return A()",
        "3",
        "return | : A",
    ),
    "a generator": ("def f(x):\n    yield x", "3", "return | : generator"),
    "a long result": (f"{PROGRAM} and 'a' * 200000", "3", "return | 100,000"),
    "a deep result": (
        "def f(x):\n    for _ in range(400): x = [x]\n    return x",
        "3",
        "nested",
    ),
    "recursive": (
        "def f(x):\n    x = [x]\n    x += x, x\n    x[0] = x\n    return x",
        "3",
        "itself",
    ),
    "Python 2": (
        f"{PROGRAM}\nprint f",
        "3",
        "line 3: Missing parentheses in call to 'print'",
    ),
    "a newer Python": (f"{PROGRAM} if x else\\\n match x", "3", "line 3: | (Python 3."),
    "magic": (f"{PROGRAM}\n%time f(1)", "3", "line 3: | notebook | (%time f(1))"),
    "shell": (f"{PROGRAM}\nfiles = !ls", "3", "line 3: | notebook | (files = !ls)"),
    "cell": (f"%%cell\n{PROGRAM}", "3", "line 1: | notebook | (%%cell)"),
    "help": (f"{PROGRAM}\nf?", "3", "line 3: | notebook | (f?)"),
    "help before": (f"?f\n{PROGRAM}", "3", "line 1: | notebook | (?f)"),
    "several names": (f"{PROGRAM}\na, b = !ls", "3", "notebook | (a, b = !ls)"),
    "after other line ends": (
        f"# \u2028\n\x0c\n%cd\n{PROGRAM}",
        "3",
        "notebook | (%cd)",
    ),
    "a question in a comment": (
        f"{PROGRAM}\nx = = 1  # why?",
        "3",
        "line 3: | (Python 3.",
    ),
    "no such function": ("f = lambda x: x", "3", "function f"),
    "two calls": (PROGRAM, "3), f(4", "f(3), f(4) | call"),
    "a call of the result": (PROGRAM, "3)(", "f(3)() | no call of f"),
    "random": (
        "import random\ndef f(x):\n    return random.random()",
        "3",
        "deterministic | 0.",
    ),
    "NUL": (f"{PROGRAM} # \0", "3", "line 2: | U+0000"),
    "surrogate": (f"{PROGRAM} # \ud800", "3", "line 2: | U+D800"),
    "surrogate input": (PROGRAM, "'\ud800'", "input"),
    "byte-order mark": (f"\ufeff{PROGRAM}", "3", "line 1: | U+FEFF"),
    "tabs": ("def f(x):\n    if x:\n\treturn 1\n    return x", "3", "line 3: | tabs"),
    "signs": (f"{PROGRAM} + {'-' * 5000}1", "3", "nested"),
    "a sum": (f"{PROGRAM} + {'+'.join('1' * 900)}", "3", "program | nested"),
    "branches": (
        f"{PROGRAM}\n" + "if f:\n  1\n" + "elif f:\n  1\n" * 3000,
        "3",
        "nested",
    ),
    "parentheses": (f"{PROGRAM} + {'(' * 250}1{')' * 250}", "3", "line 2: | nested"),
    "signs in the input": (PROGRAM, "-" * 5000 + "1", "nested"),
    "a long input": (PROGRAM, "[" + "1, " * 99999 + "]", "input | 100,000"),
    "compiled": (
        f"return 3\n{PROGRAM}",
        "3",
        "'return' outside function (<program>, line 1)",
    ),
}
"""Program and input, and what the reason names, between bars."""


@pytest.mark.isolation
def test_what_people_bring_is_rejected_with_line_and_reason(tmp_path: Path) -> None:
    rows = [
        {"id": name, "code": code, "input": x} for name, (code, x, _) in BROUGHT.items()
    ]
    rows += [
        {"id": "near the limit", "code": PROGRAM, "input": "9" * 4300},
        {"id": None, "code": PROGRAM, "input": "3"},
        {"id": None, "code": PROGRAM, "input": "4"},
        {"id": "crlf", "code": PROGRAM.replace("\n", "\r\n"), "input": "3"},
        {"id": "a long line", "code": f"{PROGRAM} # {'a' * 200000}", "input": "3"},
    ]
    path = written(tmp_path, *rows)
    latin = json.dumps({"id": "latin", "code": "É"}, ensure_ascii=False).encode(
        "latin-1"
    )
    path.write_bytes(path.read_bytes() + latin + b"\n" + "{".encode("utf-16-le"))
    made = perturbed_rows(path, ["VAN", "REN", "PSC-ALL", "MCC", "MHC"], "python", 0)
    found = {row["id"]: row for row in made if row["condition"] == "VAN"}
    for number, (name, (_, _, reason)) in enumerate(BROUGHT.items(), start=1):
        where = f"problems.jsonl, line {number} ({name}): "
        names(found[name]["reason"], where)
        names(found[name]["reason"].partition(where)[2], *reason.split(" | "))
    damaged = {"line 42": ("0xc9", "character 26"), "line 43": ("0x00", "character 2")}
    for name, byte in damaged.items():
        names(found[name]["reason"], "UTF-8", *byte)
    others = {row["id"] for row in made if row["state"] != "rejected"}
    assert others == {"near the limit", "line 38", "line 39", "crlf", "a long line"}


def test_inputs_of_javascript_that_are_not_json_are_told_what_to_write(
    tmp_path: Path,
) -> None:
    code = "function f(a) {\n  return [a];\n}"
    rows = [
        {"id": f"p{number}", "code": code, "input": text}
        for number, text in enumerate(NOT_JSON)
    ]
    rows += [{"code": code, "input": "f(undefined)"}]
    path = written(tmp_path, *rows)
    for row, made in zip(
        rows, perturbed_rows(path, ["VAN"], "javascript", 0), strict=True
    ):
        assert made["state"] == "rejected"
        number = rows.index(row) + 1
        where = (
            f"problems.jsonl, line {number} ({row.get('id', f'line {number}')}): input"
        )
        given = (
            row["input"].removeprefix("f(").removesuffix(")")
            if "id" not in row
            else row["input"]
        )
        names(made["reason"], where, repr(given), "JSON")


def test_javascript_that_people_bring_is_rejected_with_its_reason(
    tmp_path: Path,
) -> None:
    code = "function f(a) {\n  return [a];\n}"
    rows = [
        {"code": code, "input": BIG},
        {"code": code, "input": "[" * 5000 + "]" * 5000},
        {"code": f"{code} // \0", "input": "3"},
    ]
    reasons = [("input", "4,300"), ("input", "nested"), ("line 3: ", "U+0000")]
    made = perturbed_rows(written(tmp_path, *rows), ["VAN"], "javascript", 0)
    for row, reason in zip(made, reasons, strict=True):
        assert row["state"] == "rejected"
        names(row["reason"], *reason)


@pytest.mark.slow
@pytest.mark.isolation
def test_programs_with_an_event_loop_are_perturbed_as_others_are(
    tmp_path: Path,
) -> None:
    code = """import asyncio

async def later(x):
    await asyncio.sleep(0)
    if x > 2:
        return x + 1
    return x

def f(x):
    total = 0
    if x:
        total = asyncio.run(later(x))
    return total"""
    threads = code.replace("asyncio.sleep(0)", "asyncio.to_thread(print)")
    path = written(
        tmp_path,
        *(
            {"id": name, "code": text, "input": "3"}
            for name, text in (("a", code), ("b", threads))
        ),
    )
    conditions = ["VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC", "NCC"]
    rows = perturbed_rows(path, conditions, "python", 0)
    assert {row["state"] for row in rows if row["id"] == "a"} == {"applied"}, rows
    # threads are no event loop; where they are refused, the row says so
    assert all(
        "thread" in row["reason"]
        for row in rows
        if row["id"] == "b" and row["state"] == "rejected"
    )


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
        CliRunner().invoke(
            perturb,
            [str(tmp_path / "gone"), "--conditions", "REM"],
            catch_exceptions=False,
        )


def test_no_language_to_run_is_said() -> None:
    with refused(SandboxError, "languages"):
        runnable([])
