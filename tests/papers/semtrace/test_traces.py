"""SemTrace and the distractors."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codestress.papers.semtrace.contexts import distractors, trace_problems


@given(st.integers(0, 2**30), st.integers(2, 6))
@settings(max_examples=60)
def test_a_trace_is_what_the_paper_describes(seed: int, digits: int) -> None:
    (problem,) = trace_problems(1, digits=digits, seed=seed)
    names: dict[str, object] = {}
    exec(problem.code, names)
    assert repr(eval(problem.call, names)) == problem.output
    head, zeros, *assignments, last = problem.code.split("\n")
    size = len(assignments)
    assert (head, last) == ("def f(x):", "    return arr")
    assert zeros == f"    arr = [{', '.join('0' * size)}]"
    assert 4 <= size <= 10
    found = [re.fullmatch(r"    arr\[(\d)\] = x ([+-]) (\d+)", line) for line in assignments]
    assert sorted(int(m[1]) for m in found if m) == list(range(size))
    assert len(problem.arguments) == digits
    added = [value - int(problem.arguments) for value in ast.literal_eval(problem.output)]
    assert all(-(10**digits) <= y < 10**digits for y in added)


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


@pytest.mark.parametrize("source", ["installed", "codesearchnet"])
def test_distractors_never_collide_with_the_target(source: str, request: pytest.FixtureRequest) -> None:
    if source == "codesearchnet":
        folder: Path = request.getfixturevalue("shared_data")
        request.getfixturevalue("monkeypatch").setenv("CODESTRESS_DATA", str(folder))
    functions = distractors(source)  # type: ignore[arg-type]
    assert len(functions) > 800
    assert len(set(functions)) == len(functions)
    lengths = sorted(map(len, functions))
    assert 80 < lengths[0] < lengths[-1] < 900
    for code in functions:
        (node,) = ast.parse(code).body
        assert isinstance(node, ast.FunctionDef)
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {node.name}
        names |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        assert "f" not in names
