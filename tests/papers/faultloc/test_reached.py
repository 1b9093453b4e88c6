"""What of a program can run: by cases, by running programs whose control flow is drawn, and by Java's own compiler."""

from __future__ import annotations

import ast
import contextlib
import random
import re
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from codestress.mutate.faults.fault_site import FaultSite
from codestress.mutate.faults.java_flow import JavaFlow
from codestress.mutate.faults.python_flow import PythonFlow
from codestress.mutate.faults.sites import fault_sites
from codestress.mutate.faults.trees import java_root
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language
from conftest import THOROUGH, needs_jdk

RAN = [
    "if a: return 1\nhere()",
    "for x in a:\n  while True:\n    g()\n    if x: break\n  here()",
    "try:\n  return g()\nexcept KeyError:\n  pass\nhere()",
    "try:\n  return 1\nfinally:\n  here()",
    "try:\n  g()\nexcept KeyError:\n  return 1\nelse:\n  here()",
    "with open(a) as f:\n  here()",
    "if __name__ == '__main__': sys.exit(0)\nhere()",
    "a or sys.exit()\nhere()",
    "logger.error('no file')\nhere()",
    "def fail(m):\n  if m: raise KeyError\nfail(1)\nhere()",
    "async def fail(m): raise KeyError\nfail(1)\nhere()",
    "while not b:\n  break\nelse:\n  here()",
    "x = [here() for y in a if y]",
    "def g():\n  here()\nreturn g",
    "@a\ndef g():\n  here()",
    "x = lambda: here()\nx()",
    "def g():\n  yield here()\ng()\nnext(g())",
    "async def g():\n  here()\nawait g()",
    "x = (here() for y in a)\nnext(x)",
    "on = False\nfor x in a:\n  if on: here()\n  on = True",
    "assert a, 'x'\nhere()",
    "m = filter(lambda x: here(), a)\nreturn list(m)",
    "return list(map(lambda x: here(), a))",
    "class C:\n  x = here()\nreturn C",
    "def g():\n  here()\ng()\ndef g(): pass\ng()",
    "class C:\n  @property\n  def x(self): here()\n  @x.setter\n  def x(self, v): pass\nreturn C",
    "try: import g\nexcept ImportError:\n  def g(): here()\ng()",
    "class C:\n  x = here()\ndef g() -> C: return C()\ng()",
    "@a.register\ndef _(x): here()\n@a.register\ndef _(x): pass",
    "if sys.argv[1:]: here()",
    "if a.startswith('x'): here()",
    "x = 2 * b\nif x: here()",
]


DEAD = [
    "def g():\n  here()",
    "async def g():\n  here()\ng()",
    "def g():\n  yield here()\ng()",
    "x = (here() for y in a)",
    "def g(x: here()): pass\ng(1)",
    "def g() -> here(): pass\ng()",
    "x: here() = a",
    "x = lambda: here()",
    "def h(n):\n  here()\n  return h(n - 1)",
    "if a: return 1\nelif b: raise KeyError\nelse: sys.exit()\nhere()",
    "import itertools\nfor x in itertools.count(): g()\nhere()",
    "from itertools import count as numbers\nfor x in numbers(): g()\nhere()",
    "for x in iter(int, 1): g()\nhere()",
    "try:\n  g()\nexcept Exception: g()\nexcept (KeyError, ValueError):\n  here()",
    "match a:\n  case 1: return 1\n  case _: pass\nhere()",
    "match a:\n  case 1: here()",
    "parser.error('no file')\nhere()",
    "x: int = sys.exit()\nhere()",
    "from sys import exit as leave\nleave()\nhere()",
    "import os as system\nsystem._exit(1)\nhere()",
    "while True and 1:\n  if a:\n    continue\nhere()",
    "assert False, 'x'\nhere()",
    "def fail(m): raise KeyError\ndef stop(): fail(1)\nstop()\nhere()",
    "def serve():\n  while True: g()\nserve()\nhere()",
    "on = False\nif on: here()",
    "x = False and here()",
    "x = g() if True else here()",
    "return 1\ndef h():\n  here()",
    "x = {here(): y for y in a if False}",
    "while True:\n  if a:\n    return 1\n    break\nhere()",
    "map(lambda x: here(), a)",
    "class C:\n  def g(self): here()",
    "def g():\n  here()\n  g()\ndef g(): pass\ng()",
    "@typing.overload\ndef g(): here()\ndef g(x): pass\ng(1)",
    "class C:\n  @property\n  def x(self): here()\n  def x(self): pass\nreturn C",
    "if sys.version_info >= (3, 8): g()\nelse: here()",
    "old = sys.version_info[0] < 3\nif old: here()",
    "if sys.platform.startswith('riscos'): here()",
    "if typing.TYPE_CHECKING: here()",
    "if len('') > 0: here()",
    "if b is not b: here()",
    "while (x := True): g()\nhere()",
    "def g():\n  while True: yield 1\nfor x in g(): b()\nhere()",
]


EMPTY = [
    "set()", "{}.items()", "map(str, [])", "range(5, 5)", "range(3, 1)", "zip([], y)", "reversed([])", "[]", "[][:]",
    "''[1:-1]", "[] * 3", "() + ()", "enumerate([].copy())", "enumerate(range(-1))", "dict().values()",
    "range(2 - 2)", "range(b, b)", "b[:0]", "b * 0", "itertools.repeat(b, 0)", "[y for y in ()]",
]  # fmt: skip


FILLED = ["range(3, 1, -1)", "enumerate(range(n))", "b[:]", "[] + b", "''.join(b)"]


NEVER = ["False", "1 > 2 and a", "not (1 or a)", "TYPE_CHECKING", "not __debug__"]


ALWAYS = ["True", "1 == 1", "not False", "a or True"]
RAN += [f"for x in {filled}: here()" for filled in FILLED]
DEAD += [f"for x in {empty}: here()" for empty in EMPTY]
DEAD += [f"{word} {test}: here()" for test in NEVER for word in ("if", "while")]
DEAD += [f"while {test}: g()\nhere()" for test in ALWAYS]
PYTHON = [*((True, body) for body in RAN), *((False, body) for body in DEAD)]


@pytest.mark.parametrize(("reached", "body"), PYTHON)
def test_what_of_a_python_program_can_run(reached: bool, body: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    tree = ast.parse(f"import sys\ndef f(a, b):\n{lines}")
    assert runs_here(tree) == reached


def test_a_private_method_that_nothing_reads_does_not_run() -> None:
    code = "class C:\n  def __g(self): here()"
    assert not runs_here(ast.parse(code))
    assert runs_here(ast.parse(f"{code}\n  def h(self): self.__g()"))


def runs_here(tree: ast.Module) -> bool:
    dead = PythonFlow(tree).dead()
    [call] = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "here"
    ]
    return id(call) not in dead


JAVA = [
    (True, "out: while (true) { while (true) { if (a) break out; } } here();"),
    (True, "out: for (;;) { for (;;) { if (a) continue out; here(); } }"),
    (True, "out: { if (a) break out; return; } here();"),
    (True, "switch (n) { case 1: return; case 2: g(); } here();"),
    (True, "switch (n) { case 1 -> { return; } } here();"),
    (True, "switch (n) { case 1: g(); case 2: here(); }"),
    (True, "try { g(); return; } catch (RuntimeException e) { } here();"),
    (True, "do { if (a) continue; return; } while (b); here();"),
    (True, "int x = switch (n) { case 1 -> { here(); yield 2; } default -> 3; };"),
    (True, "Runnable r = () -> { here(); };"),
    (True, "synchronized (this) { g(); } here();"),
    (True, "for (int i = 0; i < n; i++) { return; } here();"),
    (False, "for (int i = 0; i < n; here()) { return; }"),
    (False, "do { return; } while (here());"),
    (False, "try { return; } catch (RuntimeException e) { here(); }"),
    (False, "Runtime.getRuntime().halt(1); here();"),
    (False, "if (never()) { g(); } here();"),
    (False, "try { fail(); } catch (RuntimeException e) { return; } here();"),
    (False, "if (1 > 2 && a) { here(); }"),
    (False, "boolean x = false && here();"),
    (False, "boolean x = true ? a : here();"),
    (False, "do { g(); } while (a || true); here();"),
    (False, "for (; a || true;) { g(); } here();"),
    (False, "final boolean on = 1 < 2; if (on) { return; } here();"),
    (True, "boolean off = false; if (a) { off = b; } if (off) { here(); }"),
    (False, "for (Object x : java.util.List.of()) { here(); }"),
]


ADD = "private int add(int n) { return n + 1; }"


SUB = "private int sub(int n) { return n - 1; }"


@pytest.mark.parametrize(("reached", "body"), JAVA)
def test_what_of_a_java_program_can_run(reached: bool, body: str) -> None:
    fail = (
        "private static void fail() { throw new RuntimeException(); } "
        "boolean never() { fail(); throw new RuntimeException(); }"
    )
    root = java_root(
        f"class A {{ {fail} void f(boolean a, boolean b, int n, Object o) {{ {body} }} }}"
    )
    dead = JavaFlow([*nodes(root)]).dead()
    assert [call.id not in dead for call in calls_of("here", root)] == [reached]


def calls_of(method: str, root: Any) -> list[Any]:
    """The nodes of a Java tree that call a method."""
    calls = [node for node in nodes(root) if node.type == "method_invocation"]
    return [call for call in calls if text_of(call).startswith(f"{method}(")]


MEMBERS = {
    ADD: set(),
    ADD.removeprefix("private "): {"+"},
    f"{ADD} int two = add(1);": {"+"},
    f"{ADD} int two = g(A::add);": {"+"},
    f'{ADD} String by = "add";': {"+"},
    "private int add(int n) { return n < 1 ? 0 : n + add(n); }": set(),
    f"{ADD} private int sub(int n) {{ return add(n) - 2; }}": set(),
    f"private class B {{ {SUB} int add(int n) {{ return n + 1; }} }} B b = new B();": {
        "+"
    },
    "private class B { int add(int n) { return n + 1; } } private int sub(B b) { return b.add(2) - 2; }": set(),
    f"{SUB} class C {{ int sub(int n) {{ return n - 1; }} }}": {"-"},
}
"""Operators that get a fault, by the members of a class."""


FORMS = {
    "python": """\
if TEST:
  BODY

if TEST:
  BODY
else:
  BODY

while TEST:
  LOOP

for i in some():
  LOOP
else:
  BODY

for i in ():
  BODY

match n():
  case 0:
    BODY
  case 1:
    BODY

match n():
  case 0:
    BODY
  case _:
    BODY

with suppress(LookupError):
  BODY

with nullcontext():
  BODY

try:
  BODY
except KeyError:
  BODY
else:
  BODY

try:
  BODY
except Exception:
  BODY
except LookupError:
  BODY

try:
  return a
except LookupError:
  BODY

try:
  BODY
finally:
  END""",
    "java": """\
if (TEST) {
  BODY
}

if (TEST) {
  BODY
} else {
  BODY
}

LABEL: while (TEST) {
  LOOP
}

LABEL: for (int iLABEL = 0; c(); iLABEL++) {
  LOOP
}

switch (n()) {
case 0 -> {
  BODY
}
default -> {
  BODY
}
}

switch (n()) {
case 0:
  SWITCH
case 1:
  SWITCH
}

try {
  BODY
} catch (IllegalStateException eLABEL) {
  BODY
} catch (RuntimeException fLABEL) {
  BODY
}

if (TEST) {
  BODY
} else if (TEST) {
  BODY
}

try {
  BODY
} finally {
  END
}""",
}
"""Statements; TEST is a condition, LABEL a name, and the other words in capitals are bodies."""


TESTS = {
    "python": ["c()"] * 14 + ["False", "not 1", "0 and c()", "True", "c() or 1"],
    "java": ["c()"] * 14 + ["false", "1 > 2", "!false", "2 > 1"],
}


@pytest.mark.parametrize("members", MEMBERS)
def test_private_members_that_nothing_names_get_no_fault(members: str) -> None:
    sites = fault_sites(f"class A {{ {members} }}", "java")
    assert {site.before for site in sites} == MEMBERS[members]


def test_no_fault_is_made_in_the_default_of_an_annotations_element() -> None:
    code = "@interface Level {{\n    int value() default 1 + 2;{}\n}}"
    assert not fault_sites(code.format(""), "java")
    field = fault_sites(code.format("\n    int LOW = Math.abs(-4) * 2;"), "java")
    assert {site.line for site in field} == {3}


class Draw:
    """Bodies of functions, in Python or Java, in which each statement `mark(n)` has a number of its own."""

    def __init__(self, seed: int, language: Language) -> None:
        self.random, self.language = random.Random(seed), language
        self.end = ";" if language == "java" else ""
        self.marks = 0

    def mark(self) -> str:
        self.marks += 1
        return f"mark({self.marks}){self.end}"

    def body(self, depth: int, jumps: Sequence[str] = ()) -> list[str]:
        """One or two statements; `jumps` are those of the loops around them."""
        lines = [self.mark()]
        for _ in range(self.random.randint(1, 2)):
            lines += [*self.statement(depth, jumps), self.mark()]
        return lines

    def statement(self, depth: int, jumps: Sequence[str]) -> list[str]:
        if self.random.random() < 0.2 or not depth:
            raising = "throw error()" if self.language == "java" else "raise error()"
            jump = self.random.choice(["return", *jumps])
            return [self.random.choice([jump, raising, "fail()"]) + self.end]
        label, lines = f"l{self.marks}", list[str]()
        inner = {
            "BODY": jumps,
            "SWITCH": [*jumps, "break"],
            "LOOP": ["break", "continue"],
            # Which might swallow the end of a run.
            "END": [jump for jump in jumps if "continue" not in jump],
        }
        if self.language == "java":
            labelled = [jump for jump in jumps if " " in jump]
            inner["LOOP"] += [f"break {label}", f"continue {label}", *labelled]
        form = self.random.choice(FORMS[self.language].split("\n\n"))
        for line in form.replace("LABEL", label).split("\n"):
            word = line.strip()
            if word in inner:
                margin = line.removesuffix(word)
                lines += [margin + one for one in self.body(depth - 1, inner[word])]
            else:
                test = self.random.choice(TESTS[self.language])
                lines.append(line.replace("TEST", test))
        return lines


class Over(BaseException):
    """A run has made all its steps."""


def run(code: Any, seed: int, number: int) -> tuple[list[int], object]:
    """The marks that a run reaches, with conditions and exceptions of its own, and its result or exception."""
    seen = list[int]()
    drawn = random.Random(f"{seed} {number}")
    steps, quiet = iter(range(200)), number % 4

    def step() -> None:
        if next(steps, None) is None:
            raise Over
        if drawn.random() < quiet / 10:
            raise error()

    def error() -> Exception:
        return drawn.choice([KeyError, IndexError, ValueError])()

    def mark(at: int) -> None:
        seen.append(at)
        step()

    def c() -> bool:
        step()
        return drawn.random() < 0.5

    names: dict[str, Any] = {
        "mark": mark,
        "c": c,
        "error": error,
        "suppress": contextlib.suppress,
        "nullcontext": contextlib.nullcontext,
        "n": lambda: drawn.randrange(3),
        "some": lambda: range(drawn.randrange(3)),
    }
    exec(code, names)
    try:
        return seen, names["f"](1)
    except (Over, Exception) as error_of_run:
        return seen, type(error_of_run)


def marks_of_runs(code: Any, wanted: set[int], seed: int) -> set[int]:
    """The marks that runs reach, until all that are wanted are."""
    seen = set[int]()
    for number in range(20_000):
        seen.update(run(code, seed, number)[0])
        if wanted <= seen:
            break
    return seen


def python_text(seed: int) -> str:
    lines = "\n".join(f"    {line}" for line in Draw(seed, "python").body(2))
    return f"def fail():\n    raise error()\ndef f(a):\n{lines}"


@settings(max_examples=400 if THOROUGH else 60, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_not_called_dead_runs(seed: int) -> None:
    text = python_text(seed)
    with contextlib.suppress(SyntaxError):
        tree = ast.parse(text)
        dead = PythonFlow(tree).dead()
        expected = {
            node.args[0].value  # type: ignore[attr-defined]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "mark"
            if id(node) not in dead
        }
        runs = marks_of_runs(compile(text, "drawn", "exec"), expected, seed)
        assert expected <= runs, text


# --- A return where the function returns anyway -----------------------------------------------------------------------

IF = "if a:\n  g()\n  here()"


LEAVING = [
    (True, IF),
    (True, f"{IF}\nreturn None"),
    (True, "if b:\n  g()\nelif a:\n  here()"),
    (True, "for x in b:\n  if a:\n    here()\n  return"),
    (True, "with b:\n  if a:\n    here()"),
    (True, "try:\n  g()\nexcept KeyError:\n  if a:\n    here()\nfinally:\n  g()"),
    (True, "match b:\n  case 1:\n    if a:\n      here()\n  case 2: g()"),
    (False, f"{IF}\ng()"),
    (False, f"{IF}\nreturn 1"),
    (False, "for x in b:\n  if a:\n    here()"),
    (False, "try:\n  if a:\n    here()\nexcept KeyError:\n  g()\nelse:\n  g()"),
    (False, "for x in b:\n  if a:\n    here()\n  break\ng()"),
    (True, "match b:\n  case 1:\n    if a:\n      here()\nreturn 2"),
]


LOOP_JAVA = "for (int i = 0; i < n; i++) {\n"


def at_ends(text: str, language: Language) -> list[FaultSite]:
    """The returns that may be inserted at the end of a block."""
    return [
        site
        for site in fault_sites(text, language)
        if site.kind == "MisplacedReturn" and site.text.startswith("\n")
    ]


@pytest.mark.parametrize(("leaves", "body"), LEAVING)
def test_no_return_is_made_where_the_function_returns_anyway(
    leaves: bool, body: str
) -> None:
    text = f"def f(a, b):\n{textwrap.indent(body, '    ')}"
    line = text[: text.index("here()")].count("\n") + 1
    made = {site.line - 1 for site in at_ends(text, "python")}
    assert (line in made) is not leaves


def test_no_return_is_made_where_python_takes_none() -> None:
    body = "if n:\n        n += 1\n        n += 2\n    g()"
    text = f"def f(n):\n  try:\n    g()\n  except* KeyError:\n    {body}\n  g()"
    assert not at_ends(text, "python")
    for site in fault_sites(text, "python"):
        compile(site.apply(text), "faulty", "exec")
    assert at_ends(text.replace("except*", "except"), "python")


def test_no_return_is_made_before_a_constant() -> None:
    assert not fault_sites("class A:\n    def f(self):\n        ...", "python")


@settings(max_examples=200 if THOROUGH else 30, deadline=None)
@given(st.integers(0, 2**32))
def test_each_return_at_the_end_of_a_block_shows_in_a_run(seed: int) -> None:
    text = python_text(seed)
    correct = compile(text, "correct", "exec")
    for site in at_ends(text, "python"):
        faulty = compile(site.apply(text), "faulty", "exec")
        assert any(
            run(correct, seed, number) != run(faulty, seed, number)
            for number in range(20_000)
        ), site.apply(text)


IF_JAVA = "if (a) {\ng();\nhere();\n}\n"


JAVA_LEAVING = [
    (True, "void", f"{IF_JAVA}return;"),
    (True, "void", f"try {{\n{IF_JAVA}}} catch (RuntimeException e) {{ g(); }}"),
    (True, "void", f"switch (n) {{ case 1 -> {{\n{IF_JAVA}}} default -> g(); }}"),
    (True, "int", f"{IF_JAVA}return 0;"),
    (True, "Object", f"{LOOP_JAVA}{IF_JAVA}return null;\n}}\nreturn o;"),
    (False, "void", f"{IF_JAVA}g();"),
    (False, "void", f"{LOOP_JAVA}{IF_JAVA}}}"),
    (True, "void", f"try {{\ng();\n}} finally {{\n{IF_JAVA}}}"),
    (True, "void", f"switch (n) {{ case 1: {IF_JAVA} break; default: }} g();"),
    (False, "int", f"{IF_JAVA}return 1;"),
    (False, "Object", f"{IF_JAVA}return o;"),
    (False, "int", f"{IF_JAVA}n++;\nreturn 0;"),
]


@pytest.mark.parametrize(("leaves", "kind", "body"), JAVA_LEAVING)
def test_no_return_is_made_where_a_java_method_returns_the_same(
    leaves: bool, kind: str, body: str
) -> None:
    text = f"class A {{\n{kind} f(boolean a, int n, Object o) {{\n{body}\n}}\n}}"
    line = text[: text.index("here()")].count("\n") + 1
    made = {site.line - 1 for site in at_ends(text, "java")}
    assert (line in made) is not leaves


HEAD = "class P extends Base {\n"
BASE = Path(__file__).with_name("DrawnFlow.java").read_text(encoding="utf-8")
SEEDS = range(400 if THOROUGH else 40)


def java_class(number: int, members: str) -> str:
    return f"{HEAD.replace('P', f'P{number}')}{members}\n}}"


def unreachable(classes: list[str], folder: Path) -> list[list[int]]:
    """Lines of each class, from 1, in which the compiler finds an unreachable statement."""
    path = folder / "DrawnFlow.java"
    path.write_text("\n".join([BASE.replace("PROGRAMS", ""), *classes]))
    options = ["-proc:none", "-Xmaxerrs", "100000", "--should-stop=ifError=FLOW"]
    done = subprocess.run(
        ["javac", *options, "-d", str(folder), str(path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    refused = [
        int(line)
        for line in re.findall(r":(\d+): error: unreachable statement", done.stderr)
    ]
    found, first = [], BASE.count("\n") + 2
    for code in classes:
        last = first + code.count("\n") + 1
        found.append([line - first + 1 for line in refused if first <= line < last])
        first = last
    return found


def java_programs(folder: Path) -> list[str]:
    """The members of drawn classes, without what the compiler calls unreachable."""
    fail = "static void fail() { throw error(); }"
    programs = []
    for seed in SEEDS:
        lines = "\n".join(Draw(seed, "java").body(2))
        programs.append(f"{fail}\nstatic void f() {{\n{lines}\n}}")
    while True:
        classes = [java_class(seed, code) for seed, code in enumerate(programs)]
        found = unreachable(classes, folder)
        if not any(found):
            return programs
        for number, lines in enumerate(found):
            for line in reversed(lines):
                programs[number] = without_rest(programs[number], line)


def without_rest(members: str, line: int) -> str:
    """The members without the statement in a line of their class, and those behind it in its block."""
    for node in nodes(java_root(f"{HEAD}{members}\n}}")):
        if node.start_point[0] + 1 == line and node.parent is not None:
            end = node.parent.end_byte - (node.parent.type == "block")
            start, end = node.start_byte - len(HEAD), end - len(HEAD)
            return members[:start] + members[end:]
    raise AssertionError(f"no statement in line {line}:\n{members}")


@pytest.mark.slow
@needs_jdk
def test_the_compiler_and_runs_agree_in_java(tmp_path: Path) -> None:
    programs = java_programs(tmp_path)
    classes = [java_class(seed, code) for seed, code in enumerate(programs)]
    names = ", ".join(f"P{seed}::f" for seed in SEEDS)
    path = tmp_path / "DrawnFlow.java"
    path.write_text("\n".join([BASE.replace("PROGRAMS", names), *classes]))
    command = ["java", "-XX:TieredStopAtLevel=1", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for code, line in zip(programs, done.stdout.splitlines(), strict=True):
        root = java_root(f"{HEAD}{code}\n}}")
        dead = JavaFlow([*nodes(root)]).dead()
        calls = [one for one in calls_of("mark", root) if one.id not in dead]
        expected = {int(text_of(call)[5:-1]) for call in calls}
        assert expected <= {int(mark) for mark in line.split()}, code
    # The compiler accepts a return at the end of a block.
    changed = []
    for drawn in programs:
        code = drawn.replace("{ throw error", "{ if (c()) throw error", 1)
        for site in at_ends(f"{HEAD}{code}\n}}", "java"):
            faulty = site.apply(f"{HEAD}{code}\n}}")
            changed.append(faulty.replace("class P ", f"class P{len(changed)} "))
    assert len(changed) > len(SEEDS) // 4
    refused = unreachable(changed, tmp_path)
    assert not [text for text, lines in zip(changed, refused, strict=True) if lines]


def test_faults_stand_beside_a_long_sum() -> None:
    terms = " + ".join(["n"] * 900)
    code = f"def f(n):\n    m = {terms}\n    if m:\n        n = 1\n    return n"
    assert at_ends(code, "python")
