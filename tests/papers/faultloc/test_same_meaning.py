"""Drawn programs do the same under every mutation, on inputs that nothing was tried on; parts are ones that failed."""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st
from mutating import mutated

from codestress.mutate.draw import Draw
from codestress.mutate.faults.kinds import CONTROLS, SPMS
from codestress.mutate.faults.neutral import (
    FaultyProgram,
    Put,
    Said,
    bank,
)
from codestress.mutate.faults.trees import NotNeutral
from codestress.seeding import rng
from conftest import needs_jdk, some
from silent import ran

PARTS: dict[str, str] = yaml.safe_load(
    (Path(__file__).parent / "python_parts.yaml").read_text()
)
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
    return draw(st.sampled_from(["", "# At the top.\n"])) + "\n\n".join(
        texts
    ) + end, functions


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


def check_python(
    program: tuple[str, list[tuple[str, str]]],
    seed: int,
    strength: int,
    said: Said,
    put: Put,
) -> None:
    code, functions = program
    expected = results(code, functions)
    content = bank("python", said, put)
    how = {"strength": strength, "quarter": seed % 4, "content": content}
    for spm in (*SPMS, *CONTROLS):
        with contextlib.suppress(NotNeutral):
            made = mutated(FaultyProgram(code, 2), spm, "python", seed, spm, **how)
            assert results(made.code, functions) == expected, f"{spm}:\n{made.code}"


DRAWN = given(
    python_programs(),
    st.integers(0, 999),
    st.integers(1, 3),
    st.sampled_from(("describes", "accuses elsewhere")),
    st.sampled_from(("replace", "insert")),
)
CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
test_python_programs_mean_the_same = settings(CALM, max_examples=40)(
    DRAWN(check_python)
)
test_thousands_mean_the_same = pytest.mark.slow(
    settings(CALM, max_examples=5000)(DRAWN(check_python))
)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_each_part_means_the_same(part: str) -> None:
    program = PARTS[part].format(f="f0", a="alpha", b="beta", c="total", d="item")
    for seed in range(4):
        check_python((program, [("f0", "alpha")]), seed, 1, "describes", "replace")


JAVA_PARTS: dict[str, str] = yaml.safe_load(
    (Path(__file__).parent / "java_parts.yaml").read_text()
)
THOUSANDS = [range(first, first + 992) for first in range(40, 5000, 992)]
"""With the first 40, 5,000 Java programs, in parts that run side by side."""
JAVA_NAMES = ("alpha", "beta", "total", "item", "length", "data")


def java_program(number: int) -> str:
    """A drawn program, its class named by its number; every part that can be mutated is in many."""
    draw = Draw(rng(number, "java program"))
    members, calls = [], []
    for index in range(draw.integer(1, 3)):
        text = JAVA_PARTS[draw.choice(sorted(JAVA_PARTS))]
        names = list(JAVA_NAMES)
        for letter in "abcd":
            text = text.replace(
                f"{{{letter}}}", names.pop(draw.integer(0, len(names) - 1))
            )
        members.append(text.replace("{f}", f"f{index}"))
        calls.append(
            f"        System.out.println(f{index}(Integer.parseInt(args[0])));\n"
        )
    body = textwrap.indent("\n\n".join(members), "    ")
    return f"class Drawn {{\n{body}\n\n    public static void main(String[] args) {{\n{''.join(calls)}    }}\n}}"


def java_variants(number: int) -> list[tuple[str, str]]:
    """A drawn program under every mutation that can be made of it, and as it is, first; each with the mutation."""
    program = FaultyProgram(java_program(number), 2)
    content = bank("java", ("describes", "accuses elsewhere")[number % 2])
    how = {"strength": number % 2 + 1, "quarter": number % 4, "content": content}
    found = [("", program.code)]
    for spm in (*SPMS, *CONTROLS):
        with contextlib.suppress(NotNeutral):
            made = mutated(program, spm, "java", number, spm, **how)
            if made.code != program.code:
                found.append((spm, made.code))
    return found


@pytest.mark.slow
@needs_jdk
@pytest.mark.parametrize(
    "numbers",
    [
        range(40),
        *(pytest.param(part, marks=pytest.mark.slow) for part in some(THOUSANDS, 3)),
    ],
)
def test_java_programs_mean_the_same(numbers: range) -> None:
    drawn = [
        (number, spm, code) for number in numbers for spm, code in java_variants(number)
    ]
    assert len(drawn) > 4 * len(numbers)
    runs = [[str(value)] for value in INPUTS]
    jobs = []
    for at, (_, _, code) in enumerate(drawn):
        name = f"Drawn{at}"  # of one name each, they are compiled together
        jobs.append((name, code.replace("class Drawn", f"public class {name}"), runs))
    results = ran(jobs, limit_s=60)
    expected = {
        number: result
        for (number, spm, _), result in zip(drawn, results, strict=True)
        if not spm
    }
    for (number, spm, code), result in zip(drawn, results, strict=True):
        assert result == expected[number] != "does not compile", f"{spm}:\n{code}"
