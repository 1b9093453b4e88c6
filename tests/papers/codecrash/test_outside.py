"""Anybody's programs, perturbed: a row for each problem and condition, whatever the problem is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codestress.errors import DataError, ParameterError, SandboxError
from codestress.papers.codecrash.commands import perturb
from codestress.papers.codecrash.perturbations.outside import perturbed_rows
from codestress.papers.codecrash.perturbations.variants import PERTURBATIONS
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
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8-sig")
    return path


@pytest.mark.isolation
def test_every_problem_has_a_row_for_every_condition(tmp_path: Path) -> None:
    bad = [row | {"id": name} for name, row in BAD.items()]
    path = written(tmp_path, bad[0], GOOD, *bad[1:], WHOLE, GOOD, "{", "[1]")
    done = CliRunner().invoke(perturb, [str(path), "--conditions", "VAN,MCC REN", "--json"])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    first, *others = BAD
    names = [first, "good", *others, "7", "line 14", "line 15", "line 16"]
    assert [(row["id"], row["condition"]) for row in rows] == [(n, c) for n in names for c in ("VAN", "MCC", "REN")]
    for row in rows:
        assert {"id", "condition", "state", "reason", "code", "messages"} <= row.keys()
        fine = row["id"] in ("good", "7")
        assert row["state"] == ("applied" if fine else "rejected"), row
        assert bool(row["reason"]) != fine
    assert not Path("/tmp/mark").exists()


@pytest.mark.isolation
@pytest.mark.parametrize("language", ["python", pytest.param("javascript", marks=pytest.mark.slow)])
def test_variants_do_the_same_and_messages_stand_where_they_are_said_to(tmp_path: Path, language: Any) -> None:
    rows = [GOOD, WHOLE]
    if language == "javascript":
        code = "function double(words, least) {\n  const found = [];\n  for (const word of words) {\n"
        code += "    if (word.length > 1) {\n      found.push(word + word);\n    }\n  }\n  return found;\n}"
        rows = [GOOD | {"code": code, "input": '["ab", "c"], 1'}, WHOLE | {"code": code, "input": 'double(["ab"], 0)'}]
    path = written(tmp_path, *rows)
    made = perturbed_rows(path, PERTURBATIONS, language, seed=1)
    assert made == perturbed_rows(path, PERTURBATIONS, language, seed=1)
    applied = [row for row in made if row["state"] == "applied"]
    assert {row["condition"] for row in applied} >= {"VAN", "REN", "MCC", "MPS", "MHC"}
    calls = [Program(row["code"], call=f"{row['function']}({row['input']})") for row in applied]
    if language == "javascript":
        calls = [Program(row["code"], row["function"], tuple(json.loads(f"[{row['input']}]"))) for row in applied]
    with Executor(workers=1) as executor:
        for row, ran in zip(applied, executor.run(calls, language=language), strict=True):
            assert (ran.outcome, ran.value) == (Outcome.RETURNED, ["abab"]), row
    for row in made:
        said = row["condition"].startswith(("MCC", "MPS", "MHC"))
        assert bool(row["messages"]) == (said and row["state"] == "applied")
        lines = row["code"].split("\n")
        for message in row["messages"]:
            shown = lines[message["line"] - 1].replace("\\'", "'").replace('\\"', '"')
            assert message["text"] in shown
            assert message.keys() == {"line", "text", "truth"}
            named = {"TRUE": True, "UNDECIDABLE": None}.get(row["condition"][4:], False)  # false ones unless asked for
            assert message["truth"] is named
    anything = perturbed_rows(path, ["MCC"], language, seed=1, truth="any")
    assert {message["truth"] for row in anything for message in row["messages"]} == {False, None}


def test_what_cannot_be_isolated_is_refused_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODESTRESS_UNPROTECTED", raising=False)
    monkeypatch.setattr(Executor, "exposed", lambda *_: {"files": "can be written"})
    with pytest.raises(SandboxError, match=r"(?s)cannot be isolated here.*CODESTRESS_UNPROTECTED=1"):
        perturbed_rows(written(tmp_path, GOOD), ["VAN"], "python", 0)


def test_files_and_conditions_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        perturbed_rows(tmp_path / "gone", ["VAN"], "python", 0)
    with pytest.raises(ParameterError, match=r"--conditions REM: no such perturbation.*REN"):
        CliRunner().invoke(perturb, [str(tmp_path / "gone"), "--conditions", "REM"], catch_exceptions=False)
