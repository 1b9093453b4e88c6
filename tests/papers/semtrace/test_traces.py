"""Problems of SemTrace, and the functions that stand beside a target."""

import ast
import re
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from codestress.papers.semtrace import contexts
from codestress.papers.semtrace.contexts import Sized, distractors, trace_problems
from codestress.papers.semtrace.studies import Positions
from codestress.report.protocol import stamp
from conftest import some
from told import names


@given(st.integers(0, 2**30), st.integers(2, 6), st.sampled_from(["both", "x", "y"]))
@settings(max_examples=60)
def test_a_trace_is_what_the_paper_describes(
    seed: int, digits: int, digits_of: Sized
) -> None:
    how = {"digits": digits, "seed": seed, "digits_of": digits_of}
    [problem] = trace_problems(1, **how)
    namespace: dict[str, object] = {}
    exec(problem.code, namespace)
    assert repr(eval(problem.call, namespace)) == problem.output
    head, zeros, *assignments, last = problem.code.split("\n")
    size = len(assignments)
    assert (head, last) == ("def f(x):", "    return arr")
    assert zeros == f"    arr = [{', '.join('0' * size)}]"
    assert 4 <= size <= 10
    pattern = re.compile(r"    arr\[(\d)\] = x [+-] \d+")
    places = [int(pattern.fullmatch(line)[1]) for line in assignments]  # type: ignore[index]
    assert sorted(places) == [*range(size)]
    assert len(problem.arguments) == (2 if digits_of == "y" else digits)
    most = 100 if digits_of == "x" else 10**digits
    x = int(problem.arguments)
    for value in ast.literal_eval(problem.output):
        assert -most <= value - x < most


def test_values_sizes_and_orders_are_spread_as_drawn() -> None:
    problems = trace_problems(2000)
    sizes, added, ordered = [], [], 0
    for problem in problems:
        places = re.findall(r"arr\[(\d)\]", problem.code)
        sizes.append(len(places))
        ordered += places == sorted(places)
        x = int(problem.arguments)
        added += [value - x for value in ast.literal_eval(problem.output)]
    assert all(abs(sizes.count(size) / 2000 - 1 / 7) < 0.03 for size in range(4, 11))
    assert (min(added), max(added)) == (-100, 99)
    assert abs(sum(added) / len(added) + 0.5) < 2
    assert ordered < 40
    assert trace_problems(40) == problems[:40]


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
        [node] = ast.parse(code).body
        assert isinstance(node, ast.FunctionDef)
        assert node.name != "f"
        for inner in ast.walk(node):
            name = getattr(inner, "id", None) or getattr(inner, "arg", None)
            assert name != "f"


def test_functions_of_a_data_set_are_dedented_and_never_use_f(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = ["def g(x):\n\treturn x\n", "    def h(y):\n        return y"]
    codes += ["def no(:", "x = 1", "def u(f):\n    return f"]
    path = tmp_path / "train.parquet"
    parquet.write_table(pyarrow.table({"code": codes}), path)
    monkeypatch.setattr(contexts, "data_file", lambda *_: path)
    functions = distractors.__wrapped__("codesearchnet")
    assert functions == ("def g(x):\n    return x", "def h(y):\n    return y")


@pytest.mark.parametrize(
    ("change", "deviation"),
    [
        ({}, ""),
        ({"distractor_source": "codesearchnet", "matched": "count"}, ""),
        ({"distractor_tokens": 67}, "distractor_tokens 67"),
        ({"distractor_source": "installed"}, "distractor_source installed"),
    ],
)
def test_contexts_as_long_as_the_papers_are_as_the_paper(
    change: dict[str, object], deviation: str
) -> None:
    gpt = "gpt-4.1-2025-04-14"
    values = {"artefact": "semtrace/fig01", "models": [gpt], "relative": True}
    values["per_model"] = {gpt: {"prefill": "user", "subsample": 0.125}}
    text = stamp(Positions.model_validate(values | change))
    if deviation:
        names(text, "deviates", deviation, "CodeSearchNet", "200 tokens")
    else:
        assert text == "as the paper"
