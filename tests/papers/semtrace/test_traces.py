"""SemTrace and the distractors."""

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import yaml
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from codestress.papers.semtrace.contexts import (
    CODESEARCHNET,
    distractors,
    trace_problems,
)
from codestress.papers.semtrace.studies import Positions, Questions
from codestress.paths import PARAMS
from codestress.report.protocol import stamp
from codestress.types import CHARACTERS_PER_TOKEN
from conftest import some
from told import names


@given(st.integers(0, 2**30), st.integers(2, 6))
@settings(max_examples=60)
def test_a_trace_is_what_the_paper_describes(seed: int, digits: int) -> None:
    [problem] = trace_problems(1, digits=digits, seed=seed)
    names: dict[str, object] = {}
    exec(problem.code, names)
    assert repr(eval(problem.call, names)) == problem.output
    head, zeros, *assignments, last = problem.code.split("\n")
    size = len(assignments)
    assert (head, last) == ("def f(x):", "    return arr")
    assert zeros == f"    arr = [{', '.join('0' * size)}]"
    assert 4 <= size <= 10
    places = []
    for line in assignments:
        match = re.fullmatch(r"    arr\[(\d)\] = x [+-] \d+", line)
        places.append(match and int(match[1]))
    assert sorted(places) == [*range(size)]
    assert len(problem.arguments) == digits
    x = int(problem.arguments)
    for value in ast.literal_eval(problem.output):
        assert -(10**digits) <= value - x < 10**digits


def test_values_and_sizes_are_spread_as_drawn() -> None:
    problems = trace_problems(2000)
    sizes = [p.code.count("arr[") for p in problems]
    assert all(abs(sizes.count(k) / 2000 - 1 / 7) < 0.03 for k in range(4, 11))
    added = [v - int(p.arguments) for p in problems for v in ast.literal_eval(p.output)]
    assert min(added) == -100
    assert max(added) == 99
    assert abs(sum(added) / len(added) + 0.5) < 2
    assert trace_problems(40) == problems[:40]
    orders = [re.findall(r"arr\[(\d)\]", p.code) for p in problems]
    assert sum(order == sorted(order) for order in orders) < 40


@pytest.mark.parametrize("source", ["installed", "cosqa"])
def test_distractors_never_collide_with_the_target(
    source: str, request: pytest.FixtureRequest
) -> None:
    if source == "cosqa":
        request.getfixturevalue("public")
    functions = distractors(source)  # type: ignore[arg-type]
    assert len(functions) > 800
    assert len(set(functions)) == len(functions)
    lengths = sorted(map(len, functions))
    assert 80 < lengths[0] < lengths[-1] < 900
    for code in some(functions, 5):
        (node,) = ast.parse(code).body
        assert isinstance(node, ast.FunctionDef)
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {node.name}
        used |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        assert "f" not in used


def test_the_full_functions_are_read_from_their_data_set(tmp_path: Path) -> None:
    """By a process of a project whose catalogue has another file, with its hash."""
    codes = ["def g(x):\n\treturn x\n", "    def h(y):\n        return y"]
    codes += ["def no(:", "x = 1", "def u(f):\n    return f"]
    path = tmp_path / CODESEARCHNET
    path.parent.mkdir()
    parquet.write_table(pyarrow.table({"id": [*range(5)], "code": codes}), path)
    catalogue = yaml.safe_load((PARAMS / "datasets.yaml").read_text())
    [pinned] = catalogue["codexglue-python"]["files"]
    assert pinned["path"] == CODESEARCHNET
    pinned["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "datasets.yaml").write_text(yaml.safe_dump(catalogue))
    code = f"import json; from {distractors.__module__} import distractors as found; "
    code += "print(json.dumps(found('codesearchnet')))"
    folder = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CODESTRESS_ROOT": folder, "CODESTRESS_DATA": folder},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    dedented = ["def g(x):\n    return x", "def h(y):\n    return y"]
    assert json.loads(done.stdout) == dedented


@pytest.mark.parametrize(
    ("source", "matched", "tokens", "deviates"),
    [
        ("cosqa", "tokens", 200, ""),
        ("codesearchnet", "count", 200, ""),
        ("cosqa", "count", 200, "matched count"),
        ("cosqa", "tokens", 67, "distractor_tokens 67"),
        ("installed", "count", 200, "distractor_source installed, matched count"),
    ],
)
def test_contexts_as_long_as_the_papers_are_as_the_paper(
    source: str, matched: str, tokens: int, deviates: str
) -> None:
    gpt = "gpt-4.1-2025-04-14"
    given = Positions(
        artefact="semtrace/fig01",
        models=[gpt],
        relative=True,
        per_model={gpt: {"prefill": "user", "subsample": 0.125}},
        distractor_source=source,
        matched=matched,
        distractor_tokens=tokens,
    )  # type: ignore[call-arg]
    if deviates:
        names(stamp(given), "deviates", deviates, "CodeSearchNet", "200 tokens")
    else:
        assert stamp(given) == "as the paper"


@pytest.mark.usefixtures("public")
def test_how_long_the_contexts_are() -> None:
    """The numbers of docs/semtrace.md."""
    short = [*map(len, distractors("cosqa"))]
    assert sum(short) / len(short) / 4 == pytest.approx(66, abs=0.5)
    values: dict[str, Any] = {"artefact": "semtrace/fig01", "models": ["m"]}
    values |= {"n_problems": 10, "distractors": [80], "positions": 1}
    for matched, task, tokens in (
        ("count", "output_prediction", 5600),
        ("count", "line_retrieval", 6700),
        ("tokens", "output_prediction", 16300),
        ("tokens", "line_retrieval", 19900),
    ):
        given = Questions.model_validate(values | {"tasks": [task], "matched": matched})
        prompts = [*map(given.render, given.trials())]
        length = sum(len(prompt.messages[0].content) for prompt in prompts)
        assert round(length / len(prompts) / CHARACTERS_PER_TOKEN, -2) == tokens
