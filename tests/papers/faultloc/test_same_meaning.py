"""Drawn programs do the same under every mutation, on inputs that nothing was tried on; parts are ones that failed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codestress.papers.faultloc.faults.neutral import CONTROLS, SPMS, FaultyProgram, Put, Said, bank, mutate
from codestress.papers.faultloc.faults.trees import NotNeutral
from codestress.problems.generated.drawing import Draw
from codestress.seeding import rng

PARTS: dict[str, str] = yaml.safe_load((Path(__file__).parent / "python_parts.yaml").read_text())
NAMES = ("alpha", "beta", "total", "item", "_", "data", "final_result")
INPUTS = (-3, 0, 1, 2, 5, 12)


@st.composite
def python_programs(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    """A program, and its functions with the name of their argument."""
    parts = draw(st.lists(st.sampled_from(sorted(PARTS)), min_size=1, max_size=4))
    texts, functions = [], []
    for number, part in enumerate(parts):
        a, b, c, d = draw(st.permutations(NAMES))[:4]
        texts.append(PARTS[part].format(f=f"f{number}", a=a, b=b, c=c, d=d))
        functions.append((f"f{number}", a))
    end = draw(st.sampled_from(["\n", ""]))
    return draw(st.sampled_from(["", "# At the top.\n"])) + "\n\n".join(texts) + end, functions


def done(call: Callable[[], Any]) -> object:
    try:
        return repr(call())
    except Exception as error:
        return type(error)


def results(code: str, functions: list[tuple[str, str]]) -> list[object]:
    """What the program of the kit's own gives on all inputs."""
    scope: dict[str, Any] = {"__name__": "drawn"}
    exec(compile(code, "drawn", "exec", dont_inherit=True), scope)
    found = []
    for function, argument in functions:
        for value in INPUTS:
            found.append(done(lambda: scope[function](value)))  # noqa: B023
            found.append(done(lambda: scope[function](**{argument: value})))  # noqa: B023
    return found


def check_python(program: tuple[str, list[tuple[str, str]]], seed: int, strength: int, said: Said, put: Put) -> None:
    code, functions = program
    expected = results(code, functions)
    content = bank("python", said, put)
    for spm in (*SPMS, *CONTROLS):
        draw = Draw(rng(seed, spm))
        with contextlib.suppress(NotNeutral):
            made = mutate(
                FaultyProgram(code, 2), spm, "python", draw, strength=strength, quarter=seed % 4, content=content
            )
            assert results(made.code, functions) == expected, f"{spm}:\n{made.code}"


DRAWN = given(
    python_programs(),
    st.integers(0, 999),
    st.integers(1, 3),
    st.sampled_from(("describes", "accuses elsewhere")),
    st.sampled_from(("replace", "insert")),
)
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
test_python_programs_mean_the_same = settings(CALM, max_examples=300)(DRAWN(check_python))
test_thousands_mean_the_same = pytest.mark.slow(settings(CALM, max_examples=5000)(DRAWN(check_python)))


@pytest.mark.parametrize("part", sorted(PARTS))
def test_each_part_means_the_same(part: str) -> None:
    program = PARTS[part].format(f="f0", a="alpha", b="beta", c="total", d="item")
    for seed in range(4):
        check_python((program, [("f0", "alpha")]), seed, 1, "describes", "replace")
