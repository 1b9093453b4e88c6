"""Mutations of programs that look at themselves, or are looked at: made where nobody can tell, refused elsewhere."""

from __future__ import annotations

import contextlib
import itertools
import re
import subprocess
from pathlib import Path

import pytest
from mutating import mutated

from codestress.mutate.faults.comments import ACCUSES, NEAR
from codestress.mutate.faults.kinds import Spm
from codestress.mutate.faults.neutral import (
    Content,
    FaultyProgram,
    Put,
    bank,
)
from codestress.mutate.faults.places import movable, variables
from codestress.mutate.faults.proof import check_snippet
from codestress.mutate.faults.sites import fault_sites
from codestress.mutate.faults.trees import NotNeutral
from codestress.types import Language
from conftest import needs_jdk
from told import refused

HOST = "class Host {{\n    int run(int n) {{\n{}\n        return n;\n    }}\n}}"
LETS_IN = [
    "if (false) { int x1 = 1; x1 += 2; }",
    'if (5 < 3) { String s1 = "a"; s1 += "b"; System.out.println(s1); }',
    "if (2 >= 3) { long l1 = 3L; double d1 = 1.5; d1 = Math.sqrt(d1); d1--; l1 = l1 * 2 - 1; }",
    'if ("".length() > 0) { int[] a1 = {1, 2}; a1[0] = 3; boolean b1 = true; b1 = !b1; }',
    'if (!true) { StringBuilder b1 = new StringBuilder(); b1.append("x"); System.out.println(b1); }',
]
KEEPS_OUT = [
    "for (int i1 = 0, j1 = 5; i1 < 3; i1++) { }",
    "if (false && n > 0 || true) { }",
    "if (false) n = 2;",
    "if (false) { n = 2; }",
    "if (false) { return; }",
    "if (false) { int x1; x1++; }",
    "if (false) { final int x1 = 1; x1 = 2; }",
    "if (false) { for (int i1 = 0; true; i1++) { } }",
    "if (false) { int goto = 1; }",
    'if (false) { String System = "a"; System.out.println(1); }',
    "if (false) { // a comment\n}",
    "if (false) { } } void more() { if (false) { }",
    "if (new Host().run(3) < 0) { }",
    "if (1 > 2) { int x1 = 1 \\u007d n++; if (false) {} }",
    'if (false) { int N = 1; String x1 = "a"; x1 = N + 1; }',
    "if (false) { int x1 = 1; int x1 = 2; }",
    "if (false) { int x1 = 1; x1 /= 0; }",
    "if (false) { int x1 = 08; }",
    'if (false) { String s1 = "a"; s1 += "\\u0022; n++; //"; }',
    "if (false) { var x1 = 1; }",
]


def test_dead_code_in_java_is_let_in_by_a_closed_grammar() -> None:
    host = HOST.format("        n++;")
    for snippet in (*LETS_IN, *bank("java").dead_code):
        check_snippet(snippet, host, "java")
    for snippet in KEEPS_OUT:
        with pytest.raises(NotNeutral):
            check_snippet(snippet, host, "java")
    for declared in (
        "class Math { }",
        "import other.Math;",
        "class A<Math> { }",
        "class A { int Math; }",
    ):
        with refused(NotNeutral, "Math"):
            check_snippet(LETS_IN[2], declared, "java")


def compile_all(folder: Path) -> None:
    """All Java programs in a folder compile."""
    sources = sorted(map(str, folder.glob("*.java")))
    options = ["-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", str(folder)]
    done = subprocess.run(["javac", *options, *sources], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_jdk
def test_dead_code_that_is_let_in_compiles(tmp_path: Path) -> None:
    snippets = (*LETS_IN, *bank("java").dead_code)
    for number, snippet in enumerate(snippets):
        text = HOST.format(snippet).replace("Host", f"Host{number}")
        (tmp_path / f"Host{number}.java").write_text(text)
    compile_all(tmp_path)


PYTHON_KEEPS_OUT = [
    "if (n := 99) and False:\n    pass",
    "if False:\n    yield 1",
    "if False:\n    x1 = (y1 := 2)",
    "if False:\n    x1 = n",
    "if False:\n    super().run()",
    "if False:\n    *x1",
    "if False:\n    pass  # the line below is wrong",
    "if False:\n    total += 1",
    "if False:\n    __debug__ = 1",
    "if False:\n    print(end=1, end=2)",
    "if False:\n    x1 = lambda: 1",
    "if 'a' == 'a':\n    x1 = 1",
    "if 08 < 2:\n    x1 = 1",
    "if False:\n    pass\nelse:\n    x1 = 1",
    "while True:\n    pass",
    "if False: (\n",
    "if False:\n    x1: int = 1",
    "if False:\n    try:\n        x1 = 1\n    except OSError as y1:\n        pass",
    "if False:\n    pass\r    x1 = 1",
    "if False:\n    import os.path",
    "if False:\n    global y1\n    y1 = 1",
]


def test_dead_code_in_python_is_let_in_by_a_closed_grammar() -> None:
    program = "total = 0\ndef f(n):\n    global total\n    total += n\n    return total, locals()\n"
    for snippet in bank("python").dead_code:
        check_snippet(snippet, program, "python")
    for snippet in PYTHON_KEEPS_OUT:
        with pytest.raises(NotNeutral):
            check_snippet(snippet, program, "python")


def test_what_java_variables_may_be_renamed() -> None:
    code = """\
import java.util.function.*;
record Point(int xs, int ys) { Point { xs = xs + 1; } int sum() { int total = xs + ys; return total; } }
@interface Size { int limit() default 3; }
class Shapes extends Base {
    int field;
    @Size(limit = 4) int go(int limit, String word) {
        int length = word.length();
        Function<String, Integer> fn = String::length;
        outer: for (int at = 0; at < limit; at++) { for (int outer = 0; outer < 2; outer++) { continue outer; } }
        int field = this.field + kept;
        Runnable run = new Base() { public void run() { System.out.println(inner); } };
        int inner = 3;
        return fn.apply(word) + field + inner;
    }
    int other(Object given) {
        int kept = 2;
        for (String part : new String[] {"seen", "b"}) { kept += part.length(); }
        try (var res = open()) { kept++; } catch (Exception failure) { throw failure; }
        if (given instanceof String text && text.isEmpty()) { return 0; }
        IntUnaryOperator up = one -> one + 1;
        switch (kept) { case RED: int seen = 3; return seen; default: return up.applyAsInt(kept); }
    }
}
"""
    found = {
        name: {code[slice(*span)] for span in spans}
        for name, spans in variables(code, "java").items()
    }
    assert set(found) == set(
        ["total", "fn", "at", "word", "part", "res", "failure", "given", "up"]
    )
    assert all(texts == {name} for name, texts in found.items())
    with refused(NotNeutral, "getParameters"):
        variables(
            "class A { Object f(int n) throws Exception { return A.class.getMethods()[0].getParameters(); } }",
            "java",
        )


@pytest.mark.parametrize(
    ("code", "renamed"),
    [
        (
            "def f(a, /, b, *c, d=1, **e):\n    g = a, b, c, d, e\n    return g",
            {"g"},
        ),
        ("class A:\n    def f(self, n):\n        b = n\n        return b", {"b"}),
        (
            "def f(n):\n    def inner(a):\n        return a\n    return inner(**{'a' + '': n})",
            set(),
        ),
        ("def f(n):\n    return lambda a: a", set()),
        ("def f(n):\n    b = n\n    return locals()", None),
        ("def f(n):\n    b = n\n    return f.__code__.co_varnames", None),
        ("import inspect\ndef f(n):\n    b = n\n    return b", None),
        (
            "def f(n):\n    try:\n        return c\n    except NameError as error:\n        return str(error)",
            None,
        ),
        (
            "from . import exceptions\ndef f(n):\n    b = n\n    raise exceptions.Bad(b)",
            {"b"},
        ),
        (
            "def f(n):\n    try:\n        b = n()\n    except* TypeError as c:\n        print(c.exceptions)",
            None,
        ),
        ("def f(n):\n    b = [c := n, c]\n    return [c for d in b]", {"b", "c", "d"}),
        (
            "def f(n):\n    b = n\n    class A:\n        b = b\n        c = n\n    return A",
            set(),
        ),
        ("def f(n):\n    b = n\n    return getattr(n, 'b'), b", set()),
        ("def f(n):\n    b = n\n    return f'{b}'", set()),
        ("def f(n):\n    b = n\n    return dict(b=b)", set()),
    ],
)
def test_what_python_variables_may_be_renamed(
    code: str, renamed: set[str] | None
) -> None:
    if renamed is None:
        with refused(NotNeutral, "sees"):
            variables(code, "python")
    else:
        assert set(variables(code, "python")) == renamed


def test_new_names_are_names_of_variables_alone() -> None:
    python = FaultyProgram("def f(n):\n    b = n\n    return b", 2)
    odd = ("class", "match", "len", "__hidden", "gr\u00f6\u00dfe", "a b", "f")
    java = FaultyProgram(HOST.format("        int f = 1;"), 2)
    for program, language, new in ((python, "python", odd), (java, "java", ("goto",))):
        with refused(NotNeutral, "0 new names"):
            mutated(program, "names", language, content=Content((), new, ()))


@pytest.mark.parametrize("sees", ["getDeclaredMethods", "getStackTrace"])
def test_methods_that_are_looked_at_stay(sees: str) -> None:
    code = f"class A {{\n    int a() {{ return 1; }}\n    Object b() {{ return A.class.{sees}(); }}\n}}"
    with refused(NotNeutral, sees):
        movable(code, "java")


PYTHON_TWO = "import sys, traceback\nclass A:\n    def f(self):\n        return {}\n    def g(self): pass"
JAVA_TWO = "class A {{\n    int f() {{\n        {}\n    }}\n    int g() {{\n        return 1;\n    }}\n}}"
SEES_LINES: list[tuple[Language, str]] = [
    ("python", PYTHON_TWO.format("sys._getframe().f_lineno")),
    ("python", PYTHON_TWO.format("traceback.extract_stack()")),
    ("python", PYTHON_TWO.format("A.f.__code__.co_firstlineno")),
    ("python", PYTHON_TWO.format("'%(lineno)d'")),
    ("python", PYTHON_TWO.format("open(__file__).read()")),
    ("java", JAVA_TWO.format("return at()[1].getLineNumber();")),
    ("java", JAVA_TWO.format("e.printStackTrace(System.out);")),
    ("java", JAVA_TWO.format("return 1; // \\u000a int x;")),
]


@pytest.mark.parametrize("spm", ["comments", "dead_code"])
@pytest.mark.parametrize(("language", "code"), SEES_LINES)
def test_programs_that_see_their_lines_keep_them(
    spm: Spm, language: Language, code: str
) -> None:
    with pytest.raises(NotNeutral, match=r"sees the|unicode"):
        mutated(FaultyProgram(code, 2), spm, language)


COMMENTED = {
    "python": """\
#!/usr/bin/python
# coding: utf-8
# What this is.
# More of it.
def f(n):
    # Count up.
    n = n + 1  # by one
    n = n * 2  # twice

    # Down again.
    n = n - 1
    n = n / 3
    n = n + 4
    n = n + 5
    n = n + 6
    n = n + 7
    return n  # done
""",
    "java": """\
/** What this is. */
class A {
    // What it does.
    // More of it.
    int f(int n) {
        /* Count
           up. */
        n = n + 1; // by one
        n = n /* times */ * 2; // twice

        n = n - 1;
        n = n / 3;
        n = n + 4;
        n = n + 5;
        n = n + 6;
        n = n + 7;
        return n;
    }
}
""",
}


SIGNS = re.compile(r"#.*|//.*|/\*[\s\S]*?\*/")
KEPT = ("What this is", "Count up", "by one", "done", "What it does")


@pytest.mark.parametrize("language", ["python", "java"])
@pytest.mark.parametrize("put", ["replace", "insert"])
def test_comments_are_replaced_or_put_in(language: Language, put: Put) -> None:
    code = COMMENTED[language]
    lines = code.split("\n")
    line = next(n for n, one in enumerate(lines, start=1) if "* 2" in one)
    content = bank(language, "describes", put)

    def without(text: str) -> list[str]:
        return [one.rstrip() for one in SIGNS.sub("", text).split("\n") if one.strip()]

    for seed in range(20):
        strength = seed % 8 + 1
        how = {"strength": strength, "quarter": seed % 4, "content": content}
        made = mutated(FaultyProgram(code, line), "comments", language, seed, **how)
        assert made.code.split("\n")[made.line - 1] == lines[line - 1]
        assert without(made.code) == without(code)
        assert sum(text in made.code for text in content.comments) == strength
        kept = [text for text in KEPT if text in code]
        lost = [text for text in kept if text not in made.code]
        assert bool(lost) <= (put == "replace")
        if strength == 8:
            assert (kept == lost) == (put == "replace")
        if language == "python":
            assert made.code.startswith("#!/usr/bin/python\n# coding: utf-8\n")


@pytest.mark.parametrize("language", ["python", "java"])
@pytest.mark.parametrize("put", ["replace", "insert"])
def test_no_comment_accuses_the_fault(language: Language, put: Put) -> None:
    code = COMMENTED[language]
    content = bank(language, "accuses elsewhere", put)
    faults = [n for n, one in enumerate(code.split("\n"), 1) if " n = " in one]
    made_some = 0
    for line, seed in itertools.product(faults, range(8)):
        how = {"quarter": seed % 4, "content": content}
        with contextlib.suppress(NotNeutral):
            made = mutated(FaultyProgram(code, line), "comments", language, seed, **how)
            made_some += 1
            lines = made.code.split("\n")
            accusing = [any(text in one for text in content.comments) for one in lines]
            at = accusing.index(True)
            about = next(n for n in range(at, 99) if SIGNS.sub("", lines[n]).strip())
            distances = (abs(at + 1 - made.line), abs(about + 1 - made.line))
            assert min(distances) > NEAR - (at + 1 < made.line)
            assert accusing.count(True) == 1
            assert ACCUSES.search(lines[at])
    assert made_some > 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x */ n++; /*",
        "a \\u000a n++;",
        "coding: latin-1",
        "two\nlines",
        "This is wrong.",
    ],
)
def test_comments_that_are_more_than_comments_are_left_out(text: str) -> None:
    program, only = FaultyProgram(COMMENTED["java"], 8), Content((text,), (), ())
    with refused(NotNeutral, "usable comments"):
        mutated(program, "comments", "java", content=only)


TYPED = """\
import java.util.*;
class Typed {
    final int zero = 0, kept;
    static final byte SMALL = 100 + 20;
    String label = "";
    Typed(int n) {
        if (n > 0) {
            n++;
        }
        kept = n;
        if (n > 1) {
            label = label + n;
        }
        n--;
    }
    static String word(int n) { return "w"; }
    static int number(int n) { return n + 1; }
    String go(String a, String b, int n, int[] many, Map<String, Integer> held, Object o, boolean t) {
        String c = a + b;
        c += word(n);
        c = c + a.length() + n;
        char d = 'a' + 1;
        int sum = held.get(a) + n;
        sum += many[n] + number(n) + many.length;
        var e = a + word(n);
        boolean f = o instanceof String s && s.isEmpty();
        int g;
        if (t && (g = n) > 0 && n < g) {
            sum += g;
        }
        switch (n) {
            case 1 + 2:
                sum++;
        }
        n = n -/* one */1;
        n = n * 0;
        Runnable r = new Runnable() {
            {
                if (sum(1) > 0) {
                    label = a;
                }
            }
            int sum(int m) { return m + m; }
            public void run() { }
        };
        int h = switch (n) {
            case 4 -> {
                if (t) {
                    sum += 2;
                }
                yield 3;
            }
            default -> 2;
        };
        for (int i = 0; i < n; i++) {
            if (i > 3) {
                return a;
            } else {
                throw new RuntimeException();
            }
        }
        while (n > sum) {
            do {
                n--;
            } while (true);
        }
        for (;;) {
            try {
                n--;
            } finally {
                n++;
            }
        }
    }
}
"""


def test_faults_in_java_keep_types_reach_and_pattern_variables() -> None:
    sites = fault_sites(TYPED, "java")
    lines = TYPED.split("\n")
    swapped = {
        lines[site.line - 1].strip() for site in sites if site.kind == "OperatorSwap"
    }
    assert swapped == {
        "static int number(int n) { return n + 1; }",
        "sum += many[n] + number(n) + many.length;",
        "sum += g;",
        "n = n * 0;",
        "int sum(int m) { return m + m; }",
        "sum += 2;",
    }
    assert not [site for site in sites if site.kind == "IncorrectBooleanLogic"]
    behind = {
        lines[site.line - 2].strip() for site in sites if site.kind == "MisplacedReturn"
    }
    assert behind == {"label = label + n;", "sum += g;"}


@pytest.mark.slow
@needs_jdk
def test_all_faults_of_a_typed_program_compile(tmp_path: Path) -> None:
    sites = [None, *fault_sites(TYPED, "java")]
    for number, site in enumerate(sites):
        text = (site.apply(TYPED) if site else TYPED).replace("Typed", f"Typed{number}")
        (tmp_path / f"Typed{number}.java").write_text(text)
    compile_all(tmp_path)
    assert len(sites) > 20
