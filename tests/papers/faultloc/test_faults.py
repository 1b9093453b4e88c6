"""Faults: one line, known exactly, undone byte for byte; mutations: proved neutral, the label follows."""

from __future__ import annotations

import ast
import contextlib
import random
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

import pytest
from mutating import mutated

from codestress.mutate.faults.fault_site import FaultSite
from codestress.mutate.faults.kinds import KINDS, SPMS, Spm
from codestress.mutate.faults.neutral import (
    Content,
    FaultyProgram,
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
)
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
        lines = enumerate(zip(before, after, strict=True), start=1)
        assert [n for n, (old, new) in lines if old != new] == [site.line]


def test_all_kinds_in_python() -> None:
    sites = fault_sites(PYTHON, "python")
    edits = {(site.kind, site.line, site.before, site.text) for site in sites}
    assert ("OffByOne", 4, "len(items)", "len(items) - 1") in edits
    assert ("OffByOne", 4, "len(items)", "len(items) + 1") in edits
    assert ("OffByOne", 7, ">", ">=") in edits
    assert ("OffByOne", 9, "limit", "limit - 1") in edits
    assert ("IncorrectBooleanLogic", 5, "and", "or") in edits
    swaps = {(line, text) for kind, line, _, text in edits if kind == "OperatorSwap"}
    assert {text for line, text in swaps if line == 6} == {*"+-*/"}
    assert {line for line, _ in swaps} == {5, 6, 8, 10}
    # Before each statement but the last return, and at the end of the blocks of the loops and of the condition.
    returns = {line for kind, line, *_ in edits if kind == "MisplacedReturn"}
    assert returns == {3, 4, 7, 9, 11}
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
    swaps = {line for kind, line, *_ in edits if kind == "OperatorSwap"}
    assert swaps == {5, 6, 11}
    assert ("MisplacedReturn", 7, "", "\n                return 0;") in edits
    for site in sites:
        check(JAVA, site)
        assert parses(site.apply(JAVA), "java")


RANGES = [
    ("for i in range(n): g(i)", "n"),
    ("for i, j in zip(range(a, n, 1), range(b, -1, -1)): g(i)", "n"),
    ("for i, x in enumerate(range(n)): g(i)", "n"),
    ("for i in list(range(n))[::-1]: g(i)", "n"),
    ("for i, j in itertools.product(range(n), a): g(i)", "n"),
    ("for i in (range(n) if a else b): g(i)", "n"),
    ("x = [i for i, j in zip(range(n), a)]", "n"),
    ("x = {i: j for j in a for i in enumerate(range(b, n))}", "n"),
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


NOWHERE: list[tuple[Language, str]] = [
    (
        "python",
        "try:\n    return g()\n  except KeyError:\n    return 1\n  for dead in range(a): b = a - 1",
    ),
    ("python", "while True:\n    g()\n  if dead and b:\n    b = 1"),
    ("python", "if False:\n    dead = b + 1\n    for i in range(a): g()"),
    ("python", "raise KeyError\n  def dead(x):\n    return x + 1"),
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
    alive = re.sub("true|false", "n > 0", re.sub("True|False", "a", code))
    if alive != code:
        assert [site for site in fault_sites(alive, language) if site.start > line]


LONG = slow(
    ["textwrap", "argparse", "difflib", "shlex"], "argparse", "difflib", "shlex"
)


@pytest.mark.parametrize("module", LONG)
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
    "async def f(n):\n    async for i in n:\n        i -= 1\n    else:\n        i = 2 * i\n    return i and n",
]


@pytest.mark.parametrize("code", ODD)
def test_tabs_other_alphabets_and_odd_layouts(code: str) -> None:
    sites = fault_sites(code, "python")
    assert sites
    for site in sites:
        check(code, site)
        assert parses(site.apply(code), "python"), (site, site.apply(code))
        line = code.split("\n")[site.line - 1]
        assert "'''" not in line or site.kind == "MisplacedReturn"


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
            names = (correct.language, 0, correct.id, spm, strength, quarter)
            how = {"strength": strength, "quarter": quarter}
            with contextlib.suppress(NotNeutral):
                after = mutated(program, spm, *names, **how)
                made += 1
                assert after.code != program.code
                assert parses(after.code, correct.language)
                line = after.code.split("\n")[after.line - 1]
                if "names" not in spm:
                    assert line == faulty
                assert len(line.split()) == len(faulty.split())
                added = after.code.count("\n") - program.code.count("\n")
                assert spm != "dead_code" or added >= strength
    assert made > 20


def test_mutations_stand_in_the_quarter_that_is_asked_for() -> None:
    body = "\n".join(f"    y{n} = x" for n in range(80))
    program = FaultyProgram(f"def f(x):\n{body}\n    return x", 2)
    for quarter in range(4):
        how = {"strength": 3, "quarter": quarter}
        made = mutated(program, "comments", "python", 0, quarter, **how)
        lines = enumerate(made.code.split("\n"), 1)
        where = [n for n, line in lines if line.lstrip().startswith("#")]
        assert len(where) == 3
        assert {abs(quarter_of(line, 85) - quarter) for line in where} <= {0, 1}


@pytest.mark.parametrize("spm", ["dead_code", "names", "comments"])
def test_content_that_lacks_what_is_wanted_is_refused(spm: str) -> None:
    program = FaultyProgram("def f(x):\n    total = x + 1\n    return total", 2)
    with pytest.raises(NotNeutral, match="only 0"):
        mutated(program, spm, content=Content((), (), ()))


# Gettext's _ becomes local.
BINDING = [
    ("def f(x, len):\n    x = x + 1\n    return len", "if len('') > 0:\n    y = 1"),
    (
        "def range(n):\n    return [n]\ndef f(x):\n    x = x + 1\n    return x",
        "for y in range(0):\n    y = 1",
    ),
    ("def f(x):\n    x = _(x)\n    return x", "for _ in []:\n    y = 1"),
    ("def f(x):\n    x = x + 1\n    return len(x)", "if False:\n    len = 1"),
]


@pytest.mark.parametrize(("code", "snippet"), BINDING)
def test_dead_code_that_changes_its_function_by_being_there_is_refused(
    code: str, snippet: str
) -> None:
    with refused(NotNeutral, "dead"):
        one = Content((), (), (snippet,))
        mutated(FaultyProgram(code, 2), "dead_code", content=one)


def assert_alike(before: str, after: str) -> None:
    """Lines that are put into a program end as its own do."""
    fed = after.count("\n") if "\r" in before else 0
    assert after.count("\r\n") == after.count("\r") == fed


@pytest.mark.parametrize("spm", SPMS)
def test_java_lines_that_are_put_in_end_as_the_programs_do(spm: Spm) -> None:
    code = JAVA.replace("\n", "\r\n")
    for site in fault_sites(code, "java"):
        faulty = site.apply(code)
        assert_alike(code, faulty)
        assert site.undo(faulty) == code
        program = FaultyProgram(faulty, site.line)
        assert_alike(code, mutated(program, spm, "java").code)


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
                made = mutated(FaultyProgram(faulty, site.line), spm)
                assert site.text.strip() in made.code.split("\n")[made.line - 1]
                assert_alike(code, made.code)
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
    head = "        String text"
    changed = JAVA.replace("result += ", "result -= ")
    for part in ("comments", "names", "functions", "dead_code"):
        assert equivalence_error(JAVA, changed, part, "java"), part
        assert not equivalence_error(JAVA, JAVA, part, "java")
    assert equivalence_error(
        JAVA, JAVA.replace("int result", "int limit"), "names", "java"
    )
    for test, neutral in (("x > 1", False), ("2 < 1", True)):
        dead = JAVA.replace(head, f"        if ({test}) {{\n        }}\n{head}")
        assert (not equivalence_error(JAVA, dead, "dead_code", "java")) is neutral


@pytest.mark.slow
@needs_jdk
def test_the_kits_java_programs_compile_and_run() -> None:
    """test_same_meaning.py compiles and runs mutants."""
    programs = first_programs("java", 50, 300, 0)
    assert len(programs) >= 20
    chosen = [(one.id, one.code, one.runs[:1]) for one in some(programs, 7)]
    results = ran(chosen, limit_s=60)
    # What it printed, and behind the bar the failure.
    assert all(result.endswith("|\n") for result in results), results
    assert len(set(results)) == len(chosen)


@pytest.mark.slow
@needs_jdk
def test_a_run_shows_the_faults_that_are_asked_about_and_not_the_silent_ones() -> None:
    sites = [
        (correct, site)
        for correct in some(first_programs("java", 50, 300, 0), 3)
        for site in fault_sites(correct.code, "java")
    ]
    silent = [one for one in sites if is_silent(*one)]
    assert 0 < len(silent) < 0.1 * len(sites)
    loud = [one for one in sites if not is_silent(*one)]
    drawn = random.Random(5)
    for group, shown in ((silent, False), (loud, True)):
        for correct, site in some(drawn.sample(group, 3), 3):
            codes = (correct.code, site.apply(correct.code))
            before, after = ran(
                [(correct.id, code, correct.runs) for code in codes], limit_s=10
            )
            assert before != "does not compile", correct.id
            assert (before != after) is shown, (correct.id, site)
