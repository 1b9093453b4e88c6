"""Faults: one line, known exactly, undone byte for byte; mutations: proved neutral, the label follows."""

from __future__ import annotations

import ast
import contextlib
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

import pytest
from hypothesis import given, settings, strategies as st

from codestress.mutate.draw import Draw
from codestress.mutate.faults.fault_site import KINDS, FaultSite
from codestress.mutate.faults.neutral import (
    SPMS,
    Content,
    FaultyProgram,
    Spm,
    bank,
    mutate,
    quarter_of,
)
from codestress.mutate.faults.places import statement_lines
from codestress.mutate.faults.proof import equivalence_error
from codestress.mutate.faults.sites import fault_sites
from codestress.mutate.faults.trees import NotNeutral
from codestress.papers.faultloc.programs import (
    CorrectProgram,
    first_programs,
    is_silent,
    normalised,
    parses,
    program_set,
)
from codestress.seeding import rng
from codestress.types import Language
from conftest import needs_jdk, slow, some
from silent import ran
from standard_library import standard_source
from told import refused

PYTHON = '''\
def total(items, limit=10):
    """Adds items up to a limit."""
    result = 0
    for i in range(len(items)):
        if items[i] > 0 and result + items[i] <= limit:  # keep below
            result += items[i] * 2
    while result > limit and limit > 0:
        result = result - limit
    for j in range(1, limit):
        result -= j / 2
    return result
'''
JAVA = """\
public class Total {
    static int total(int[] items, int limit) {
        int result = 0;
        for (int i = 0; i < items.length; i++) {
            if (items[i] > 0 && result + items[i] <= limit) {
                result += items[i] * 2;
            }
        }
        String text = "sum: " + result;
        System.out.println(text);
        return result - limit / 2;
    }

    static boolean fits(int value, int limit) {
        return value < limit || limit == 0;
    }
}
"""


def check(code: str, site: FaultSite) -> None:
    """The label is the one line that differs, and undoing the edit gives the program back byte for byte."""
    faulty = site.apply(code)
    assert site.undo(faulty) == code
    before, after = code.split("\n"), faulty.split("\n")
    if site.kind == "MisplacedReturn":
        assert after[: site.line - 1] + after[site.line :] == before
        assert "return" in after[site.line - 1]
    else:
        assert len(before) == len(after)
        assert [
            n
            for n, pair in enumerate(zip(before, after, strict=True), start=1)
            if pair[0] != pair[1]
        ] == [site.line]


def test_all_kinds_in_python() -> None:
    sites = fault_sites(PYTHON, "python")
    edits = {
        (site.kind, site.line, site.before, site.text)
        for site in sites
        if site.kind != "MisplacedReturn"
    }
    assert ("OffByOne", 4, "len(items)", "len(items) - 1") in edits
    assert ("OffByOne", 4, "len(items)", "len(items) + 1") in edits
    assert ("OffByOne", 7, ">", ">=") in edits
    assert ("OffByOne", 9, "limit", "limit - 1") in edits
    assert ("IncorrectBooleanLogic", 5, "and", "or") in edits
    assert {
        site.text for site in sites if site.kind == "OperatorSwap" and site.line == 6
    } == {
        "+",
        "-",
        "*",
        "/",
    }
    assert {line for kind, line, *_ in edits if kind == "OperatorSwap"} == {5, 6, 8, 10}
    # Before each statement but the last return, and at the end of the blocks of the loops and of the condition.
    assert {site.line for site in sites if site.kind == "MisplacedReturn"} == {
        3,
        4,
        7,
        9,
        11,
    }
    for site in sites:
        check(PYTHON, site)
        assert parses(site.apply(PYTHON), "python")


def test_all_kinds_in_java() -> None:
    sites = fault_sites(JAVA, "java")
    edits = {(site.kind, site.line, site.before, site.text) for site in sites}
    assert ("OffByOne", 4, "<", "<=") in edits
    assert ("IncorrectBooleanLogic", 5, "&&", "||") in edits
    assert ("IncorrectBooleanLogic", 15, "||", "&&") in edits
    # Not the text of line 9.
    assert {line for kind, line, *_ in edits if kind == "OperatorSwap"} == {
        5,
        6,
        11,
    }
    assert ("MisplacedReturn", 7, "", "\n                return 0;") in edits
    for site in sites:
        check(JAVA, site)
        assert parses(site.apply(JAVA), "java")


RANGES = [
    ("for i in range(n): g(i)", "n"),
    ("for i, j in zip(range(a, n, 1), range(b, -1, -1)): g(i)", "n"),
    ("for i, x in enumerate(range(n)): g(i)", "n"),
    ("for i in reversed(range(1, n)): g(i)", "n"),
    ("for i in list(range(n))[::-1]: g(i)", "n"),
    ("for i in sorted(set(range(n)) - b): g(i)", "n"),
    ("for i, j in itertools.product(range(n), a): g(i)", "n"),
    ("for i in tqdm(range(n), total=a): g(i)", "n"),
    ("for i in [*range(n), a]: g(i)", "n"),
    ("for i in (range(n) if a else b): g(i)", "n"),
    ("x = [i for i, j in zip(range(n), a)]", "n"),
    ("x = {i: j for j in a for i in enumerate(range(b, n))}", "n"),
    ("x = sum(i for i in reversed(range(n)) if i)", "n"),
    ("for i in zip(a, range(b - 1, -1, -1)): g(i)", "-1"),
    ("for i in map(g, range(0x10)): g(i)", "0x10"),
]


@pytest.mark.parametrize(("line", "stop"), RANGES)
def test_a_loops_range_is_found_whatever_stands_around_it(line: str, stop: str) -> None:
    code = f"def f(a, b, n):\n    {line}\n    return a"
    sites = [
        site
        for site in fault_sites(code, "python")
        if site.kind == "OffByOne" and site.before == stop
    ]
    texts = {"n": {"n - 1", "n + 1"}, "-1": {"-2", "0"}, "0x10": {"15", "17"}}[stop]
    assert {site.text for site in sites} == texts
    for site in sites:
        check(code, site)
        assert parses(site.apply(code), "python")


NO_RANGES = [
    "x = list(range(n))",
    "x = a[1:n]",
    "for i in a[:n]: g(i)",
    "for i in range(*a): g(i)",
    "for i in f'{list(range(n))}': g(i)",
    "g(range(n))",
]


@pytest.mark.parametrize("line", NO_RANGES)
def test_what_is_no_range_of_a_loop_has_no_fault_off_by_one(line: str) -> None:
    sites = fault_sites(f"def f(a, n):\n    {line}\n    return a", "python")
    assert "OffByOne" not in {site.kind for site in sites}


NOWHERE = [
    (
        "python",
        "for x in a:\n    if x: continue\n    else: break\n    dead = x and a + 1",
    ),
    (
        "python",
        "try:\n    return g()\n  except KeyError:\n    return 1\n  for dead in range(a): b = a - 1",
    ),
    (
        "python",
        "match a:\n    case 1: return 1\n    case _: return 2\n  while dead < 3: dead += 1",
    ),
    ("python", "while True:\n    g()\n  if dead and b:\n    b = 1"),
    ("python", "if False:\n    dead = b + 1\n    for i in range(a): g()"),
    ("python", "raise KeyError\n  def dead(x):\n    return x + 1"),
    (
        "java",
        "if (false) {\n for (int dead = 0; dead < n; dead++) {\n n = n - 1;\n }\n }",
    ),
    ("java", "System.exit(0);\n if (dead > 1 && n < 3) {\n n += 1;\n }"),
    (
        "java",
        "if (true) {\n return;\n }\n while (dead < n || n < 2) {\n n = n * 2;\n }",
    ),
]


@pytest.mark.parametrize(("language", "body"), NOWHERE)
def test_no_fault_is_made_where_nothing_can_reach_it(
    language: Language, body: str
) -> None:
    code = (
        f"def f(a, b):\n  {body}"
        if language == "python"
        else f"class A {{ void f(int n, int dead) {{\n{body}\n}} }}"
    )
    line = code.rindex("\n", 0, code.index("dead", code.index("\n")))
    assert not [site for site in fault_sites(code, language) if site.start > line]
    alive = (
        code.replace("True", "a")
        .replace("False", "a")
        .replace("false", "n > 0")
        .replace("true", "n > 0")
    )
    if alive != code:
        assert [site for site in fault_sites(alive, language) if site.start > line]


LONG = [
    pytest.param(module, marks=pytest.mark.slow)
    for module in ("argparse", "fractions", "statistics", "difflib", "heapq", "shlex")
]


@pytest.mark.parametrize("module", ["textwrap", *LONG])
def test_every_site_of_the_standard_library(module: str) -> None:
    code = normalised(standard_source(module))
    sites = fault_sites(code, "python")
    assert {site.kind for site in sites} <= set(KINDS)
    assert sum(site.kind == "MisplacedReturn" for site in sites) > 5
    before = ast.dump(ast.parse(code))
    for site in some(sites[:: max(1, len(sites) // 150)], 4):
        check(code, site)
        assert parses(site.apply(code), "python"), site
        if site.kind != "MisplacedReturn":
            assert ast.dump(ast.parse(site.apply(code))) != before


ODD = [
    "def f(größe, n):\n\ttotal = 0\n\tfor i in range(größe):\n\t\ttotal += größe * n  # größe\n\treturn total",
    "def f(n):\n    s = '''\n    a and b\n    '''\n    while n < 3 and s: n = n + 1\n    return (n\n        - 1)",
    "def f(x):\n    if x and (  # and\n        x or\n        not x\n    ): return x - 1\n    return f'{x + 1} and {x}'",
    "x = [i * 2 for i in range(3) if i or i < 2]\ndef f():\n    return x[0] - -x[1]; y = 1 + 2",
    "async def f(n):\n    async for i in n:\n        i -= 1\n    else:\n        i = 2 * i\n    return i and n",
    "def f(n):\n    for i in range(n if n > 3 else 3): pass\n    for j in range(-n, n + 1, 2):\n        print(j and n)",
]


@pytest.mark.parametrize("code", ODD)
def test_tabs_other_alphabets_and_odd_layouts(code: str) -> None:
    sites = fault_sites(code, "python")
    assert sites
    for site in sites:
        check(code, site)
        assert parses(site.apply(code), "python"), (site, site.apply(code))
    texts = {
        code[: site.start].count("\n") + 1
        for site in sites
        if site.kind in ("OperatorSwap", "OffByOne")
    }
    assert all("'''" not in code.split("\n")[line - 1] for line in texts)


def test_what_has_no_site_or_does_not_parse_has_none() -> None:
    assert fault_sites("x = 1", "python") == []
    assert fault_sites("def f(:\n  pass", "python") == []
    assert fault_sites("\x00", "python") == []
    assert fault_sites("class A { void f() { int x = ; } }", "java") == []
    assert fault_sites("(" * 3000, "python") == []


def test_programs_are_normalised_before_anything_counts_their_lines() -> None:
    text = "\ufeffdef f(n):\r\n    a = n + 1\r    \f\n    return a - 1\r\n\r\n"
    code = normalised(text)
    assert code == "def f(n):\n    a = n + 1\n     \n    return a - 1"
    for site in fault_sites(code, "python"):
        check(code, site)


@pytest.mark.slow
def test_forty_thousand_lines() -> None:
    code = "\n".join(
        f"def f{n}(x):\n    y = x + {n}\n    return y" for n in range(13_400)
    )
    sites = fault_sites(code, "python")
    assert Counter(site.kind for site in sites)["OperatorSwap"] == 3 * 13_400
    for site in random.Random(0).sample(sites, 10):
        check(code, site)


def correct_programs() -> list[CorrectProgram]:
    installed, java = (
        first_programs(*one)
        for one in (("installed", 50, 200, 40), ("java", 50, 300, 12))
    )
    return [*installed[::2], *java]


@pytest.mark.parametrize(
    "spm", slow(SPMS, *(spm for spm in SPMS if spm != "dead_code"))
)
@pytest.mark.parametrize("strength", some([4, 1], 2))
def test_mutations_are_neutral_and_the_label_follows(spm: str, strength: int) -> None:
    made = 0
    for correct in some(correct_programs(), 3):
        sites = fault_sites(correct.code, correct.language)
        if not sites:
            continue
        site = sites[len(sites) // 2]
        program = FaultyProgram(site.apply(correct.code), site.line)
        faulty = program.code.split("\n")[program.line - 1]
        for quarter in range(4):
            draw = Draw(rng(0, correct.id, spm, strength, quarter))
            try:
                mutated = mutate(
                    program,
                    spm,  # type: ignore[arg-type]
                    correct.language,
                    draw,
                    strength=strength,
                    quarter=quarter,
                    content=bank(correct.language),
                )
            except NotNeutral:
                continue
            made += 1
            assert mutated.code != program.code
            assert parses(mutated.code, correct.language)
            line = mutated.code.split("\n")[mutated.line - 1]
            if "names" not in spm:
                assert line == faulty
            else:
                assert len(line.split()) == len(faulty.split())
            if spm == "dead_code":
                added = mutated.code.count("\n") - program.code.count("\n")
                assert added >= strength
    assert made > 20


def test_mutations_stand_in_the_quarter_that_is_asked_for() -> None:
    code = "\n".join(
        ["def f(x):", *(f"    y{n} = x" for n in range(80)), "    return x"]
    )
    for quarter in range(4):
        mutated = mutate(
            FaultyProgram(code, 2),
            "comments",
            "python",
            Draw(rng(0, quarter)),
            strength=3,
            quarter=quarter,
            content=bank("python"),
        )
        where = [
            n
            for n, line in enumerate(mutated.code.split("\n"), start=1)
            if line.lstrip().startswith("#")
        ]
        assert len(where) == 3
        assert {quarter_of(line, 85) for line in where} <= {
            quarter - 1,
            quarter,
            quarter + 1,
        }


def content(**parts: list[str]) -> Content:
    return Content(
        tuple(parts.get("comments", [])),
        tuple(parts.get("names", [])),
        tuple(parts.get("dead_code", [])),
    )


HOSTILE = [
    ("dead_code", content(dead_code=["x = 1"])),
    ("dead_code", content(dead_code=["if x:\n    pass"])),
    ("dead_code", content(dead_code=["if False:\n    pass\nelse:\n    x = 1"])),
    ("dead_code", content(dead_code=["if False:\n    pass\nx = 1"])),
    ("dead_code", content(dead_code=["while True:\n    pass"])),
    ("dead_code", content(dead_code=["return None"])),
    ("dead_code", content(dead_code=["if (x := 0):\n    pass"])),
    ("dead_code", content(dead_code=["if print(1):\n    pass"])),
    ("dead_code", content(dead_code=["if False: (\n"])),
    ("dead_code", content(dead_code=["if (n := 99) and False:\n    pass"])),
    ("dead_code", content(dead_code=["if undefined and False:\n    pass"])),
    ("dead_code", content(dead_code=["if print(1) and False:\n    pass"])),
    ("dead_code", content(dead_code=["if False:\n    from os import *"])),
    ("dead_code", content(dead_code=["if False:\n    z = undefined"])),
    ("dead_code", content(dead_code=["if False:\n    z = (w := 1)"])),
    ("dead_code", content(dead_code=["if False:\n    z: int = 1"])),
    ("dead_code", content(dead_code=["if False:\n    del total"])),
    (
        "dead_code",
        content(
            dead_code=[
                "if False:\n    try:\n        z = 1\n    except OSError as x:\n        pass"
            ]
        ),
    ),
    ("dead_code", content(dead_code=["if False:\n    pass\r    x = 1"])),
    ("dead_code", content(dead_code=["def g(:\n"])),
    ("names", content(names=["class"])),
    ("names", content(names=["a b"])),
    ("names", content(names=["len"])),
    ("names", content(names=[])),
    ("comments", content(comments=[])),
]


@pytest.mark.parametrize(("spm", "given_content"), HOSTILE)
def test_content_that_would_change_the_program_is_refused(
    spm: str, given_content: Content
) -> None:
    program = FaultyProgram(
        "def f(x, n):\n    total = x + n\n    return len(str(total))", 2
    )
    with pytest.raises(NotNeutral):
        mutate(
            program,
            spm,
            "python",
            Draw(rng(0)),
            strength=1,
            quarter=0,
            content=given_content,
        )  # type: ignore[arg-type]


# Gettext's _ becomes local.
BINDING = [
    ("def f(x, len):\n    x = x + 1\n    return len", "if len('') > 0:\n    y = 1"),
    (
        "def range(n):\n    return [n]\ndef f(x):\n    x = x + 1\n    return x",
        "for y in range(0):\n    y = 1",
    ),
    (
        "def f(x):\n    x = _(x)\n    return x",
        "for _ in []:\n    y = 1",
    ),
    ("def f(x):\n    x = x + 1\n    return len(x)", "if False:\n    len = 1"),
    ("def f(x):\n    x = x + 1\n    return os.sep", "if False:\n    import os.path"),
    ("def f(x):\n    x = x + 1\n    return g(x)", "if False:\n    def g(): pass"),
    ("def f(x):\n    x = x + 1\n    return x", "if False:\n    yield x"),
    ("def f(x):\n    x = x + 1\n    return x", "if False:\n    global y\n    y = 1"),
    ("def f(x):\n    x = x + 1\n    return x", "if False:\n    break"),
    ("async def f(x):\n    x = x + 1\n    yield x", "if False:\n    return 1"),
]


@pytest.mark.parametrize(("code", "snippet"), BINDING)
def test_dead_code_that_changes_its_function_by_being_there_is_refused(
    code: str, snippet: str
) -> None:
    given_content = content(dead_code=[snippet])
    with refused(NotNeutral, "dead"):
        mutate(
            FaultyProgram(code, 2),
            "dead_code",
            "python",
            Draw(rng(0)),
            strength=1,
            quarter=0,
            content=given_content,
        )
    fine = FaultyProgram(
        "def f(x):\n    y = 0\n    for y in x:\n        x = _(y)\n    return x", 2
    )
    harmless = content(dead_code=["if False:\n    z = x\n    print(z, y)"])
    assert (
        mutate(
            fine,
            "dead_code",
            "python",
            Draw(rng(0)),
            strength=1,
            quarter=0,
            content=harmless,
        ).code
        != fine.code
    )


def test_what_a_caller_elsewhere_may_name_is_not_renamed() -> None:
    code = """\
def f(shown, /, given, *rest, option=1, **others):
    total = shown + given + option
    def inner(seen):
        return seen
    return inner(total)
class A:
    def go(self, amount):
        here = amount
        return here
def _hidden(part):
    return part
"""
    found = set()
    for seed in range(80):
        try:
            mutated = mutate(
                FaultyProgram(code, 2), "names", "python", Draw(rng(seed)), strength=2, quarter=seed % 4,
                content=content(names=["new_one", "new_two"]),
            )  # fmt: skip
        except NotNeutral:
            continue
        before, after = re.findall(r"\w+", code), re.findall(r"\w+", mutated.code)
        found |= {old for old, new in zip(before, after, strict=True) if old != new}
    assert found == {"total", "here"}


def test_methods_of_python_stay_where_they_are() -> None:
    code = "class A:\n    def a(self): return 1\n    def b(self): return 2"
    with refused(NotNeutral, "Java alone"):
        mutate(
            FaultyProgram(code, 2),
            "functions",
            "python",
            Draw(rng(0)),
            strength=1,
            quarter=0,
            content=content(),
        )


def assert_alike(before: str, after: str) -> None:
    """Lines that are put into a program end as its own do."""
    fed = after.count("\n") if "\r" in before else 0
    assert after.count("\r\n") == after.count("\r") == fed


JAVA_LINES = """class A {
    int f(int x) { // one
        for (int i = 0; i < x; i++) {
            if (i > 2 && x > 3) {
                x = x - i;
            }
        }
        /* two */
        return x; // three
    }
    int g(int x) {
        return x * 2;
    }
}
""".replace("\n", "\r\n")


@pytest.mark.parametrize("spm", SPMS)
def test_java_lines_that_are_put_in_end_as_the_programs_do(spm: Spm) -> None:
    for site in fault_sites(JAVA_LINES, "java"):
        faulty = site.apply(JAVA_LINES)
        assert_alike(JAVA_LINES, faulty)
        assert site.undo(faulty) == JAVA_LINES
        program = FaultyProgram(faulty, site.line)
        mutated = mutate(
            program,
            spm,
            "java",
            Draw(rng(0)),
            strength=1,
            quarter=0,
            content=bank("java"),
        )
        assert_alike(JAVA_LINES, mutated.code)


def test_a_continued_line_stays_whole_whatever_ends_the_lines() -> None:
    code = "def f(x):\n    x = \\\n    x + 1\n    if x: \\\n        x = 2\n    return x"
    for text in (code, code.replace("\n", "\r\n")):
        assert statement_lines(text, "python") == [2, 4, 6]


def test_the_label_is_exact_whatever_ends_the_lines() -> None:
    plain = "def f(x):\n\tif x and x > 1:\n\t\tx = x + 1\n\t\x0c\n\tfor i in range(x):\n\t\tx -= i\n\treturn x"
    for code in (plain, f"{plain}\n", plain.replace("\n", "\r\n"), f"{plain}\n\x0c\n"):
        sites = fault_sites(code, "python")
        assert len({site.kind for site in sites}) == 4
        for site in sites:
            faulty = site.apply(code)
            assert site.undo(faulty) == code
            compile(faulty, "faulty", "exec")
            assert site.text.strip() in faulty.split("\n")[site.line - 1]
            assert_alike(code, faulty)
            for spm in ("comments", "dead_code"):
                mutated = mutate(
                    FaultyProgram(faulty, site.line), spm, "python", Draw(rng(0)), strength=1, quarter=0,
                    content=bank("python"),
                )  # fmt: skip
                assert (
                    mutated.code.split("\n")[mutated.line - 1]
                    == faulty.split("\n")[site.line - 1]
                )
                assert_alike(code, mutated.code)
    assert not fault_sites(
        plain.replace("\n\tfor", "\n\t# one\rx = 2\n\tfor"), "python"
    )
    assert not fault_sites(
        "class A { int f(int x) { // one\r return x + 1; } }", "java"
    )


A, G = "class A:\n", "    def g(self): return "


@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("comments", "x = 1", "x = 2"),
        ("comments", "x = 1  # a", "x = '1  # a'"),
        ("names", "def f(a, b):\n    return a", "def f(a, b):\n    return b"),
        (
            "names",
            "def f(a):\n    b = a\n    return b",
            "def f(c):\n    c = c\n    return c",
        ),
        ("names", "def f(a):\n    return a.b", "def f(c):\n    return c.d"),
        (
            "functions",
            f"{A}    def f(self): return 1\n{G}2",
            f"{A}    def f(self): return 2\n{G}1",
        ),
        ("dead_code", "x = 1", "if 1 > 0:\n    y = 2\nx = 1"),
        ("dead_code", "x = 1", "if x:\n    y = 2\nx = 1"),
    ],
)
def test_the_proof_sees_what_is_not_neutral(part: str, before: str, after: str) -> None:
    assert equivalence_error(before, after, part, "python")
    assert not equivalence_error(before, before, part, "python")


def test_the_proof_sees_what_is_not_neutral_in_java() -> None:
    changed = JAVA.replace("result += ", "result -= ")
    for part in ("comments", "names", "functions", "dead_code"):
        assert equivalence_error(JAVA, changed, part, "java"), part
        assert not equivalence_error(JAVA, JAVA, part, "java")
    assert equivalence_error(
        JAVA, JAVA.replace("int result", "int limit"), "names", "java"
    )
    dead = JAVA.replace(
        "        String text", "        if (x > 1) {\n        }\n        String text"
    )
    assert equivalence_error(JAVA, dead, "dead_code", "java")
    never = JAVA.replace(
        "        String text", "        if (2 < 1) {\n        }\n        String text"
    )
    assert not equivalence_error(JAVA, never, "dead_code", "java")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.sampled_from(SPMS), st.integers(1, 8), st.integers(0, 3)
)
def test_the_same_seed_gives_the_same_bytes(
    number: int, spm: str, strength: int, quarter: int
) -> None:
    correct = correct_programs()[number % 8]
    results = []
    for _ in range(2):
        draw = Draw(rng(number, "same"))
        try:
            results.append(
                mutate(
                    FaultyProgram(correct.code, 5),
                    spm,  # type: ignore[arg-type]
                    correct.language,
                    draw,
                    strength=strength,
                    quarter=quarter,
                    content=bank(correct.language),
                )
            )
        except NotNeutral as error:
            results.append(str(error))  # type: ignore[arg-type]
    assert results[0] == results[1]


@pytest.mark.slow
@needs_jdk
def test_the_kits_java_programs_and_their_mutants_compile_and_run(
    tmp_path: Path,
) -> None:
    programs_there = program_set("java", 50, 300).programs
    assert len(programs_there) >= 20
    programs_there = some(programs_there, 7)
    folders = {}
    for number, correct in enumerate(programs_there):
        site = random.Random(number).choice(fault_sites(correct.code, "java"))
        program = FaultyProgram(site.apply(correct.code), site.line)
        spm = ("comments+names+dead_code", "functions")[number % 2]
        draw = Draw(rng(number, "compiles"))
        with contextlib.suppress(NotNeutral):
            program = mutate(
                program,
                spm,  # type: ignore[arg-type]
                "java",
                draw,
                strength=2,
                quarter=number % 4,
                content=bank("java"),
            )
        for name, code in (
            (f"{number}", correct.code),
            (f"{number}.mutated", program.code),
        ):
            folder = tmp_path / name
            folder.mkdir()
            (folder / f"{correct.id}.java").write_text(f"{code}\n")
            folders[name] = (folder, correct)
    names = [name for name in folders if not name.endswith(".mutated")]
    sources = [str(folders[name][0] / f"{folders[name][1].id}.java") for name in names]
    done = subprocess.run(
        ["javac", "-proc:none", "-d", str(tmp_path / "out"), *sources],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for number in range(0, len(programs_there), 4):
        folder, correct = folders[f"{number}.mutated"]
        command = [
            "javac",
            "-proc:none",
            "-d",
            str(folder),
            str(folder / f"{correct.id}.java"),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    programs = [
        (correct.id, correct.code, correct.runs[:1]) for correct in programs_there
    ]
    results = ran(programs, limit_s=60)
    # What it printed, and behind the bar the failure.
    assert all(result.endswith("|\n") for result in results), results
    assert len(set(results)) == len(programs_there)


@pytest.mark.slow
@needs_jdk
def test_a_run_shows_the_faults_that_are_asked_about_and_not_the_silent_ones() -> None:
    sites = [
        (correct, site)
        for correct in some(program_set("java", 50, 300).programs, 3)
        for site in fault_sites(correct.code, "java")
    ]
    silent = [one for one in sites if is_silent(*one)]
    assert 0 < len(silent) < 0.1 * len(sites)
    loud = [one for one in sites if not is_silent(*one)]
    drawn = random.Random(5)
    for chosen, shown in (
        (drawn.sample(silent, 3), False),
        (drawn.sample(loud, 3), True),
    ):
        for correct, site in some(chosen, 3):
            codes = (correct.code, site.apply(correct.code))
            before, after = ran(
                [(correct.id, code, correct.runs) for code in codes], limit_s=10
            )
            assert before != "does not compile", correct.id
            assert (before != after) is shown, (correct.id, site)
