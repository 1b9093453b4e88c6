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
from codestress.papers.codecrash.studies import runnable
from codestress.sandbox.executor import Executor, Outcome, Program

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
    "no data": GOOD | {"code": "def double(words):\n    return (word for word in words)"},
    "random": GOOD | {"code": "import random\ndef double(words):\n    return random.random()"},
    "writes": GOOD | {"code": "def double(words):\n    return open('/tmp/mark', 'w').write('x')"},
    "no text": GOOD | {"code": 3},
    "surrogate": GOOD | {"code": "def double(words):\n    return '\ud800'"},
}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "problems.jsonl"
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows),
        "utf-8-sig",
    )
    return path


@pytest.mark.isolation
def test_every_problem_has_a_row_for_every_condition(tmp_path: Path) -> None:
    bad = [row | {"id": name} for name, row in BAD.items()]
    path = written(tmp_path, bad[0], GOOD, *bad[1:], WHOLE, GOOD, "{", "[1]")
    done = CliRunner().invoke(perturb, [str(path), "--conditions", "VAN,MCC REN", "--json"])
    assert done.exit_code == 0, done.output
    assert done.stderr.endswith("14 of 16 problems rejected\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    first, *others = BAD
    names = [first, "good", *others, "7", "line 14", "line 15", "line 16"]
    assert [(row["id"], row["condition"]) for row in rows] == [
        (n, c) for n in names for c in ("VAN", "MCC", "REN")
    ]
    for row in rows:
        assert {"id", "condition", "state", "reason", "code", "messages"} <= row.keys()
        fine = row["id"] in ("good", "7")
        assert row["state"] == ("applied" if fine else "rejected"), row
        assert bool(row["reason"]) != fine
    assert not Path("/tmp/mark").exists()


@pytest.mark.isolation
@pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=pytest.mark.slow)])
def test_variants_do_the_same_and_messages_stand_where_they_are_said_to(
    tmp_path: Path, language: Any
) -> None:
    rows = [GOOD, WHOLE]
    if language == "javascript":
        code = (
            "function double(words, least) {\n  const found = [];\n  for (const word of words) {\n"
        )
        code += "    if (word.length > 1) {\n      found.push(word + word);\n    }\n  }\n  return found;\n}"
        rows = [
            GOOD | {"code": code, "input": '["ab", "c"], 1'},
            WHOLE | {"code": code, "input": 'double(["ab"], 0)'},
        ]
    path = written(tmp_path, *rows)
    made = perturbed_rows(path, PERTURBATIONS, language, seed=1)
    assert made == perturbed_rows(path, PERTURBATIONS, language, seed=1)
    applied = [row for row in made if row["state"] == "applied"]
    assert {row["condition"] for row in applied} >= {"VAN", "REN", "MCC", "MPS", "MHC"}
    calls = [Program(row["code"], call=f"{row['function']}({row['input']})") for row in applied]
    if language == "javascript":
        calls = [
            Program(row["code"], row["function"], tuple(json.loads(f"[{row['input']}]")))
            for row in applied
        ]
    with Executor(workers=1) as executor:
        for row, ran in zip(applied, executor.run(calls, language=language), strict=True):
            assert (ran.outcome, ran.value) == (Outcome.RETURNED, ["abab"]), row
    for row in made:
        said = row["condition"].startswith(("MCC", "MPS", "MHC", "NCC"))
        assert bool(row["messages"]) == (said and row["state"] == "applied")
        lines = row["code"].split("\n")
        for message in row["messages"]:
            shown = lines[message["line"] - 1].replace("\\'", "'").replace('\\"', '"')
            assert message["text"] in shown
            assert message.keys() == {"line", "text", "truth"}
            # false ones unless asked for
            named = {"TRUE": True, "UNDECIDABLE": None, "": row["condition"] == "NCC"}
            assert message["truth"] is named.get(row["condition"][4:], False)
    anything = perturbed_rows(path, ["MCC"], language, seed=1, truth="any")
    assert {message["truth"] for row in anything for message in row["messages"]} == {False, None}


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
    "digits in the program": (f"{PROGRAM} + {BIG}", "3", "line 2: an integer of more than 4,300"),
    "digits, hexadecimal": (f"{PROGRAM} + 0x{BIG}", "3", "an integer of more than 4,300 digits"),
    "digits in the input": (PROGRAM, BIG, "input is not an expression: line 1: an integer of more"),
    "digits in the result": (f"{PROGRAM} + 10 ** 5000", "3", "cannot be written out: an integer"),
    "no literal": (
        f"{PROGRAM} and ...",
        "3",
        "what its call returns cannot be written out: a name",
    ),
    "no form": (
        "class A:\n    def __repr__(self): 1 / 0\ndef f(x):\n    return A()",
        "3",
        "what its call returns is not data: A",
    ),
    "a generator": ("def f(x):\n    yield x", "3", "what its call returns is not data: generator"),
    "a long result": (f"{PROGRAM} and 'a' * 200000", "3", "longer than 100,000 characters"),
    "a deep result": (
        "def f(x):\n    for _ in range(400): x = [x]\n    return x",
        "3",
        "too many nested",
    ),
    "recursive": (
        "def f(x):\n    x = [x]\n    x += x, x\n    x[0] = x\n    return x",
        "3",
        "in itself",
    ),
    "Python 2": (f"{PROGRAM}\nprint f", "3", "line 3: Missing parentheses in call to 'print'"),
    "a newer Python": (
        f"{PROGRAM} if x else\\\n match x",
        "3",
        "line 3: invalid syntax (Python 3.",
    ),
    "magic": (
        f"{PROGRAM}\n%time f(1)",
        "3",
        "line 3: a notebook's command (%time f(1)), no Python",
    ),
    "shell": (
        f"{PROGRAM}\nfiles = !ls",
        "3",
        "line 3: a notebook's command (files = !ls), no Python",
    ),
    "cell": (f"%%cell\n{PROGRAM}", "3", "line 1: a notebook's command (%%cell), no Python"),
    "help": (f"{PROGRAM}\nf?", "3", "line 3: a notebook's command (f?), no Python"),
    "help before": (f"?f\n{PROGRAM}", "3", "line 1: a notebook's command (?f), no Python"),
    "several names": (
        f"{PROGRAM}\na, b = !ls",
        "3",
        "a notebook's command (a, b = !ls), no Python",
    ),
    "after other line ends": (f"# \u2028\n\x0c\n%cd\n{PROGRAM}", "3", "notebook's command (%cd)"),
    "a question in a comment": (f"{PROGRAM}\nx = = 1  # why?", "3", "line 3: invalid syntax (Pyt"),
    "no such function": ("f = lambda x: x", "3", "): no function f at the program's top level"),
    "two calls": (PROGRAM, "3), f(4", "): f(3), f(4) is no call"),
    "random": (
        "import random\ndef f(x):\n    return random.random()",
        "3",
        "not deterministic: 0.",
    ),
    "NUL": (f"{PROGRAM} # \0", "3", "line 2: the character U+0000, which no program may hold"),
    "surrogate": (f"{PROGRAM} # \ud800", "3", "line 2: the character U+D800, which no program"),
    "surrogate input": (PROGRAM, "'\ud800'", "input is not an expression: "),
    "byte-order mark": (f"\ufeff{PROGRAM}", "3", "line 1: invalid non-printable character U+FEFF"),
    "tabs": (
        "def f(x):\n    if x:\n\treturn 1\n    return x",
        "3",
        "line 3: inconsistent use of tabs",
    ),
    "signs": (f"{PROGRAM} + {'-' * 5000}1", "3", "nested too deeply"),
    "a sum": (f"{PROGRAM} + {'+'.join('1' * 900)}", "3", "the program does not parse: nested too"),
    "branches": (
        f"{PROGRAM}\n" + "if f:\n  1\n" + "elif f:\n  1\n" * 900,
        "3",
        "nested too deeply",
    ),
    "parentheses": (f"{PROGRAM} + {'(' * 250}1{')' * 250}", "3", "line 2: too many nested parenth"),
    "signs in the input": (PROGRAM, "-" * 900 + "1", "nested too deeply"),
    "a long input": (PROGRAM, "[" + "1, " * 99999 + "]", "input is longer than 100,000 characters"),
    "compiled": (f"return 3\n{PROGRAM}", "3", "'return' outside function (<program>, line 1)"),
}


@pytest.mark.isolation
def test_what_people_bring_is_rejected_with_line_and_reason(tmp_path: Path) -> None:
    rows = [{"id": name, "code": code, "input": x} for name, (code, x, _) in BROUGHT.items()]
    rows += [
        {"id": "near the limit", "code": PROGRAM, "input": "9" * 4300},
        {"id": None, "code": PROGRAM, "input": "3"},
        {"id": None, "code": PROGRAM, "input": "4"},
        {"id": "crlf", "code": PROGRAM.replace("\n", "\r\n"), "input": "3"},
        {"id": "a long line", "code": f"{PROGRAM} # {'a' * 200000}", "input": "3"},
    ]
    path = written(tmp_path, *rows)
    latin = json.dumps({"id": "latin", "code": "É"}, ensure_ascii=False).encode("latin-1")
    path.write_bytes(path.read_bytes() + latin + b"\n" + "{".encode("utf-16-le"))
    made = perturbed_rows(path, ["VAN", "REN", "PSC-ALL", "MCC", "MHC"], "python", 0)
    found = {row["id"]: row for row in made if row["condition"] == "VAN"}
    for number, (name, (_, _, reason)) in enumerate(BROUGHT.items(), start=1):
        where = f"problems.jsonl, line {number} ({name}): "
        assert where in found[name]["reason"], found[name]
        assert reason in found[name]["reason"]
    damaged = {"line 41": "0xc9, character 26", "line 42": "0x00, character 2"}
    for name, byte in damaged.items():
        assert f"the byte {byte} of the line, is not UTF-8" in found[name]["reason"], found[name]
    others = {row["id"] for row in made if row["state"] != "rejected"}
    assert others == {"near the limit", "line 37", "line 38", "crlf", "a long line"}


def test_inputs_of_javascript_that_are_not_json_are_told_what_to_write(tmp_path: Path) -> None:
    code = "function f(a) {\n  return [a];\n}"
    rows = [
        {"id": f"p{number}", "code": code, "input": text} for number, text in enumerate(NOT_JSON)
    ]
    rows += [{"code": code, "input": "f(undefined)"}]
    path = written(tmp_path, *rows)
    for row, made in zip(rows, perturbed_rows(path, ["VAN"], "javascript", 0), strict=True):
        assert made["state"] == "rejected"
        number = rows.index(row) + 1
        where = f"problems.jsonl, line {number} ({row.get('id', f'line {number}')}): input = "
        given = (
            row["input"].removeprefix("f(").removesuffix(")") if "id" not in row else row["input"]
        )
        assert f"{where}{given!r} is not JSON; write the arguments as JSON values" in made["reason"]


def test_javascript_that_people_bring_is_rejected_with_its_reason(tmp_path: Path) -> None:
    code = "function f(a) {\n  return [a];\n}"
    rows = [
        {"code": code, "input": BIG},
        {"code": code, "input": "[" * 5000 + "]" * 5000},
        {"code": f"{code} // \0", "input": "3"},
    ]
    reasons = ["input is an integer of more than 4,300 digits", "input is nested too deeply"]
    made = perturbed_rows(written(tmp_path, *rows), ["VAN"], "javascript", 0)
    for row, reason in zip(made, [*reasons, "line 3: the character U+0000"], strict=True):
        assert row["state"] == "rejected"
        assert reason in row["reason"]


@pytest.mark.slow
@pytest.mark.isolation
def test_programs_with_an_event_loop_are_perturbed_as_others_are(tmp_path: Path) -> None:
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
        *({"id": name, "code": text, "input": "3"} for name, text in (("a", code), ("b", threads))),
    )
    conditions = ["VAN", "REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC", "NCC"]
    rows = perturbed_rows(path, conditions, "python", 0)
    assert {row["state"] for row in rows if row["id"] == "a"} == {"applied"}, rows
    # threads are no event loop; where they are refused, the row says so
    assert all(
        "thread" in row["reason"] for row in rows if row["id"] == "b" and row["state"] == "rejected"
    )


def test_what_cannot_be_isolated_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODESTRESS_UNPROTECTED", raising=False)
    monkeypatch.setattr(Executor, "exposed", lambda *_: {"files": "can be written"})
    with pytest.raises(
        SandboxError, match=r"(?s)cannot be isolated here.*CODESTRESS_UNPROTECTED=1"
    ):
        perturbed_rows(written(tmp_path, GOOD), ["VAN"], "python", 0)


def test_files_and_conditions_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        perturbed_rows(tmp_path / "gone", ["VAN"], "python", 0)
    with pytest.raises(DataError, match="has no rows; give JSON Lines"):
        perturbed_rows(written(tmp_path), ["VAN"], "python", 0)
    with pytest.raises(ParameterError, match=r"--conditions REM: no such perturbation.*REN"):
        CliRunner().invoke(
            perturb, [str(tmp_path / "gone"), "--conditions", "REM"], catch_exceptions=False
        )


def test_no_language_to_run_is_said() -> None:
    with pytest.raises(SandboxError, match=r"languages = \[\]: name at least one"):
        runnable([])
