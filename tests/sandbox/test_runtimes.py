"""JavaScript and Java through the same interface, where Node and a JDK are installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codestress.sandbox import runtimes
from codestress.sandbox.executor import Execution, Executor, Limits, Outcome, Program
from codestress.types import Language, Source
from conftest import slow, some
from told import names

pytestmark = [pytest.mark.isolation, pytest.mark.bare]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=2, limits=Limits(cpu_s=10, wall_s=60)) as opened:
        yield opened


def needs(language: Language) -> None:
    if why := runtimes.missing(language):
        pytest.skip(f"{why}; .ci/run installs it where it may")


def run(executor: Executor, language: Language, *programs: Program) -> list[Execution]:
    needs(language)
    return list(executor.run(programs, language=language))


def test_javascript_values(executor: Executor) -> None:
    source = """
    function f(a, b) {
      let r = [];
      for (const x of a) r.push(x * 2.5, x);
      console.log("not a result");
      return {r, b, m: new Map([[1, true]]), s: new Set(["é", "\\ud800"]), n: null, u: undefined, big: 10n ** 30n};
    }
    """
    (execution,) = run(executor, "javascript", Program(source, "f", ([1, 2], {"k": (1, "x")})))
    assert execution.value == {
        "r": [2.5, 1, 5, 2],
        "b": {"k": [1, "x"]},
        "m": {1: True},
        "s": {"é", "\ud800"},
        "n": None,
        "u": None,
        "big": 10**30,
    }


def test_javascript_that_cannot_be_read_or_shown_says_why(executor: Executor) -> None:
    deep = "let a = 1; for (let i = 0; i < 700; i++) a = [a]; return a;"
    cases = {
        "function f() {\n  return x +;\n}": ("line 2", "Unexpected token ';'"),
        "function f() { return new Map([[{}, 1]]); }": ("Map",),
        "function f() { return new Set([[1]]); }": ("Set",),
        f"function f() {{ {deep} }}": ("nested",),
    }
    done = run(executor, "javascript", *(Program(code, "f") for code in cases))
    for one, told in zip(done, cases.values(), strict=True):
        names(one.detail, *told)
    assert {one.outcome for one in done[1:]} == {Outcome.NOT_DATA}


def test_arguments_that_no_program_can_get_are_an_outcome(executor: Executor) -> None:
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    [done] = executor.run([Program("def f(x): return x", "f", (deep,))])
    assert (done.outcome, "nested" in done.detail) == (Outcome.RAISED, True)


JAVASCRIPT = [
    ("function f() { while (true); }", Outcome.STEP_LIMIT),
    ("function f() { 'use strict'; for (;;) {} }", Outcome.STEP_LIMIT),
    ("const f = () => { do f.x = 1; while (true) }", Outcome.STEP_LIMIT),
    (
        "const f = (n) => n > 1e9 ? n : g(n); const g = (n) => { try { return f(n + 1) } catch { return g(n) } }",
        None,
    ),
    ("function f( {", Outcome.SYNTAX_ERROR),
    ("function f() { throw new TypeError('no') }", Outcome.RAISED),
    ("function f() { return require('fs') }", Outcome.RAISED),
    (
        "function f() { return process.binding('spawn_sync') && process.kill(process.ppid, 9) }",
        Outcome.RAISED,
    ),
    ("function f() { return () => 1 }", Outcome.NOT_DATA),
    ("async function f() { return 1 }", Outcome.NOT_DATA),
    ("function f() { process.exit(0) }", Outcome.DIED),
    (
        "function f() { const a = []; for (let i = 0; i < 90000; i++) a.push('x'.repeat(1e6) + i); return a.length }",
        None,
    ),
    ("function f() { return 'x'.repeat(3e6) }", Outcome.OUTPUT_LIMIT),
    ("function f() { const a = []; a.push(a); return a }", Outcome.NOT_DATA),
    ("function f() { throw ['returned', 5] }", Outcome.RAISED),
]


def test_javascript_ends(executor: Executor) -> None:
    programs = [Program(source, "f", (1,)) for source, _ in JAVASCRIPT]
    for (source, outcome), execution in zip(
        JAVASCRIPT, run(executor, "javascript", *programs), strict=True
    ):
        if outcome is None:
            assert execution.outcome is not Outcome.HARNESS_ERROR
        else:
            assert execution.outcome is outcome, (source, execution)


LEAVES = [
    ("left = 5; var kept = 6; function f() { return typeof left + typeof kept }", "numbernumber"),
    (
        "let left = 7; class Kept {} function f() { return typeof left + typeof Kept + typeof kept }",
        "numberfunctionundefined",
    ),
    ("function f() { return typeof left + typeof Kept }", "undefinedundefined"),
    ("escape = 3; function f() { return escape }", 3),
    ("function f() { return typeof escape }", "function"),
    ("parseInt = null; function f() { return String(parseInt) }", "null"),
    ("function f() { return parseInt('12') }", 12),
]
"""Programs that leave names behind or take some away, and what each of them returns."""


@pytest.mark.slow
def test_javascript_of_the_kit_ends_together_as_alone(executor: Executor) -> None:
    """Several share a process; one that is cut off there is judged where it is the first."""
    pairs = some([*zip(JAVASCRIPT, [*LEAVES, *LEAVES], strict=False)], 2)
    codes = [source for pair in pairs for source, _ in pair]
    programs = [Program(source, "f", (1,), source=Source.KIT) for source in codes]
    together = run(executor, "javascript", *programs)
    assert together == [one for program in programs for one in run(executor, "javascript", program)]
    returned = dict(zip(codes, together, strict=True))
    for _, (source, value) in pairs:
        assert (source, returned[source].value) == (source, value)


JAVA = """
public class Main {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    Main() { this(2); }
    Main(int n) { for (int i = 0; i < n; i++) System.out.print(i + " "); }
    public static void main(String[] args) {
        new Main();
        java.util.stream.IntStream.range(0, 2).forEach(i -> { System.out.print("é" + i); });
        System.out.println(fib(10) + args[0]);
    }
}
"""


def java(body: str) -> Program:
    fields = "static int d; static java.util.function.IntUnaryOperator f;"
    return Program(
        f"class A {{ {fields} public static void main(String[] a) throws Exception {{ {body} }} }}"
    )


@pytest.mark.slow
def test_java_programs(executor: Executor) -> None:
    programs = [
        Program(JAVA, arguments=("\nq",)),
        java("while (true) {}"),
        java('int x = "s";'),
        java('throw new IllegalStateException("no");'),
        java('new java.net.Socket("127.0.0.1", 80);'),
        java('Runtime.getRuntime().exec("ls");'),
        java('java.nio.file.Files.writeString(java.nio.file.Path.of("/tmp/mark"), "x");'),
        java(
            "long[][] b = new long[9000][]; for (int i = 0; i < 9000; i++) b[i] = new long[100000];"
        ),
        java("System.exit(0);"),
        Program(
            "class A { class B { int main() { return 0; } } public static void main(String[] a) {} }"
        ),
    ]
    first, *others, nested = run(executor, "java", *programs)
    assert nested.value == ""
    assert first.value == "0 1 é0é155\nq\n"
    assert [e.outcome for e in others] == [
        Outcome.STEP_LIMIT,
        Outcome.SYNTAX_ERROR,
        *[Outcome.RAISED] * 5,
        Outcome.DIED,
    ]
    assert "line 1: incompatible types" in others[1].detail
    assert [e.detail.split(":")[0] for e in others[2:7]] == [
        "IllegalStateException",
        "SocketException",
        "IOException",
        *(
            ["ReadOnlyFileSystemException"]
            if "ReadOnly" in others[5].detail
            else [others[5].detail.split(":")[0]]
        ),
        "OutOfMemoryError",
    ]


REQUIRE = "const {require} = process.mainModule; const fs = require('fs');"
RUNTIME_ATTACKS: dict[str, tuple[Language, str]] = {
    "mode of the root": ("javascript", "fs.chmodSync('/', 0o755)"),
    "mode of a device": ("javascript", "fs.chmodSync('/dev/null', 0o666)"),
    "times of the kit": ("javascript", "fs.utimesSync(process.argv[1], 1, 1)"),
    "a folder": ("javascript", "fs.mkdirSync('/tmp/mark')"),
    "a link": ("javascript", "fs.symlinkSync('/etc/passwd', '/tmp/mark')"),
    "owner": ("javascript", "fs.chownSync('/tmp', 0, 0)"),
    "priority of another": ("javascript", "require('os').setPriority(process.ppid, 19)"),
    "a signal": ("javascript", "process.kill(process.ppid, 0)"),
    "a process": (
        "javascript",
        "if (require('child_process').spawnSync('/bin/true').error) throw 0",
    ),
    "another program": (
        "javascript",
        "(process.execve ?? (() => { throw 0 }))('/bin/true', ['true'], {})",
    ),
    "java: mode of the root": ("java", 'new java.io.File("/").setReadable(true) ? 0 : 1'),
    "java: times of the kit": ("java", 'new java.io.File("/usr").setLastModified(1000) ? 0 : 1'),
}


@pytest.mark.parametrize("name", slow(some([*RUNTIME_ATTACKS], 2), "java: mode of the root"))
def test_no_call_of_a_runtime_has_an_effect_on_what_is_outside(
    executor: Executor, name: str
) -> None:
    """What the program after it finds is what was there before: the worker goes on as it was."""
    language, attempt = RUNTIME_ATTACKS[name]
    if language == "javascript":
        tried = Program(
            f"function f() {{ {REQUIRE} {attempt}; return 'done' }}", "f", source=Source.KIT
        )
        good = Program("const f = () => 7", "f")
    else:
        tried, good = java(f"System.out.print({attempt});"), java("System.out.print(0);")
    done, *after = run(executor, language, tried, good, good)
    # As Node does when refused.
    aborted = name == "another program" and done.detail.startswith("ended with signal 6")
    assert done.outcome is Outcome.RAISED or done.value == "1" or aborted, done
    assert [one.value for one in after] == ([7] * 2 if language == "javascript" else ["0"] * 2)


STEPS: dict[str, tuple[Language, str]] = {
    "eval": ("javascript", "eval('for (;;) {}')"),
    "Function": ("javascript", "new Function('for (;;) {}')()"),
    "a function's constructor": ("javascript", "(() => 0).constructor('for (;;) {}')()"),
    "the counter's name": ("javascript", "for (const n of Object.getOwnPropertyNames(globalThis)) "
                           "if (n.startsWith('steps_')) globalThis[n] = () => 0; for (;;) {}"),
    "the end taken away": ("javascript", "process.reallyExit = JSON.stringify = () => ''; for (;;) {}"),
    "caught": ("javascript", "for (;;) { try { for (;;) {} } catch {} }"),
    "another script": ("javascript", "process.mainModule.require('vm').runInThisContext('for (;;) {}')"),
    "a binding": ("javascript", "process.binding('contextify')"),
    "WebAssembly": ("javascript", "new WebAssembly.Module(new Uint8Array(8))"),
    "reflection": ("java", "for (var m : A.class.getDeclaredMethods()) m.invoke(null, (Object) a);"),
    "a loader": ("java", "ClassLoader.getSystemClassLoader().loadClass(\"sun.misc.Unsafe\");"),
    "handles": ("java", "java.lang.invoke.MethodHandles.lookup().defineClass(new byte[0]);"),
    "a compiler": ("java", "javax.tools.ToolProvider.getSystemJavaCompiler();"),
    "beans": ("java", "new java.beans.Expression(a, \"clone\", null).getValue();"),
    "fields": ("java", "class B { int u = d++; Object l = d < 18 ? new B() : 0, r = d < 18 ? new B() : 0; "
               "int e = d--; } new B();"),
    "a lambda": ("java", "f = n -> n < 1 ? 1 : f.applyAsInt(n - 1) + f.applyAsInt(n - 1); f.applyAsInt(30);"),
    "a lambda that calls": ("java", "java.util.stream.IntStream.range(0, 999_999).map(i -> Math.abs(i)).sum();"),
    "a lambda that does": ("java", "var l = new java.util.ArrayList<Integer>(); "
                           "java.util.stream.IntStream.range(0, 999_999).forEach(i -> l.add(i));"),
    "a lambda that sets": ("java", "java.util.stream.IntStream.range(0, 999_999).forEach(i -> d = i);"),
    "a lambda that adds": ("java", "java.util.stream.IntStream.range(0, 999_999).forEach(i -> d++);"),
    "names put in place": ("javascript", "with (new Proxy({}, {has: () => true})) for (;;) {}"),
    "fields of objects": ("javascript", "let d = 0; class B { u = d++; l = d < 18 && new B(); r = d < 18 && new B(); "
                          "e = d-- } new B()"),
    "a hidden line": ("java", "// \\u000a while (true) {}\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", slow(some([*STEPS], 6), "a compiler"))
def test_steps_count_or_the_outcome_says_that_they_do_not(executor: Executor, name: str) -> None:
    language, body = STEPS[name]
    program = java(body) if language == "java" else Program(f"function f() {{ {body} }}", "f")
    [done] = run(executor, language, program)
    assert done.outcome in (Outcome.STEP_LIMIT, Outcome.TAMPERED, Outcome.RAISED), done
    if done.outcome is Outcome.RAISED:
        assert done.detail.startswith(("EvalError", "TypeError", "ReferenceError")), done


def test_what_cannot_be_read_is_not_run_uncounted(executor: Executor) -> None:
    """Valid programs, which tree-sitter cannot parse or in which a counter could be replaced."""
    for language, program in (
        ("javascript", Program("function f() { with ({}) return 1 }", "f")),
        ("java", java("int \\u00e9 = 1;")),
    ):
        [done] = run(executor, language, program)  # type: ignore[arg-type]
        assert done.outcome is Outcome.TAMPERED, done
        names(done.detail, "steps")


MEMORY: dict[str, tuple[Language, str]] = {
    "buffers": (
        "javascript",
        "for (let i = 0; i < 32; i++) keep.push(new Uint8Array(1 << 26).fill(1))",
    ),
    "shared": (
        "javascript",
        "for (let i = 0; i < 32; i++) keep.push(new Uint8Array(new SharedArrayBuffer(1 << 26)).fill(1))",
    ),
    "direct": (
        "java",
        "var keep = new java.util.ArrayList<Object>();"
        "for (int i = 0; i < 32; i++) keep.add(java.nio.ByteBuffer.allocateDirect(1 << 26));",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MEMORY)
def test_memory_beside_the_heap_is_limited_too(executor: Executor, name: str) -> None:
    language, body = MEMORY[name]
    program = (
        java(body)
        if language == "java"
        else Program(f"function f() {{ const keep = []; {body} }}", "f")
    )
    [done] = run(executor, language, program)
    assert done.outcome is Outcome.RAISED, done
    assert done.detail.startswith(("RangeError", "OutOfMemoryError"))


def test_the_counter_changes_no_line_and_no_result() -> None:
    source = "function f(n) {\n  'use strict';\n  for (let i = 0; i < n; i++)\n    n--;\n  return (x => ({x}))(n)\n}"
    counted = runtimes.with_counter(source, "javascript", "count();")
    assert counted.count("\n") == source.count("\n")
    assert counted.count("count()") == 3
    assert "'use strict'; count();" in counted
    assert runtimes.with_counter("function f( {", "javascript", "count();") == "function f( {"


def test_node_and_java_are_what_the_worker_sees(executor: Executor) -> None:
    needs("javascript")
    version = runtimes.version("javascript")
    (execution,) = run(executor, "javascript", Program("const f = () => process.version", "f"))
    assert execution.value == version
