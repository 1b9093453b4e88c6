"""JavaScript through the same interface, where Node is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codestress.errors import SandboxError
from codestress.sandbox import runtimes
from codestress.sandbox.executor import Execution, Executor, Limits, Outcome, Program
from codestress.types import Source
from conftest import some
from told import names, refused

pytestmark = [pytest.mark.isolation, pytest.mark.bare]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=2, limits=Limits(cpu_s=10, wall_s=60)) as opened:
        yield opened


def run(executor: Executor, *programs: Program) -> list[Execution]:
    if why := runtimes.missing("javascript"):
        pytest.skip(f"{why}; .ci/run installs it where it may")
    return list(executor.run(programs, language="javascript"))


def test_javascript_values(executor: Executor) -> None:
    source = """
    function f(a, b) {
      let r = [];
      for (const x of a) r.push(x * 2.5, x);
      console.log("not a result");
      return {r, b, m: new Map([[1, true]]), s: new Set(["é", "\\ud800"]), n: null, u: undefined, big: 10n ** 30n};
    }
    """
    (execution,) = run(executor, Program(source, "f", ([1, 2], {"k": (1, "x")})))
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
    done = run(executor, *(Program(code, "f") for code in cases))
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
    ("function f() { while (true); }", Outcome.CPU_TIME),
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
        JAVASCRIPT, run(executor, *programs), strict=True
    ):
        if outcome is None:
            assert execution.outcome is not Outcome.HARNESS_ERROR
        else:
            assert execution.outcome is outcome, (source, execution)


LEAVES = [
    (
        "left = 5; var kept = 6; function f() { return typeof left + typeof kept }",
        "numbernumber",
    ),
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
    together = run(executor, *programs)
    assert together == [one for program in programs for one in run(executor, program)]
    returned = dict(zip(codes, together, strict=True))
    for _, (source, value) in pairs:
        assert (source, returned[source].value) == (source, value)


REQUIRE = "const {require} = process.mainModule; const fs = require('fs');"
RUNTIME_ATTACKS = {
    "mode of the root": "fs.chmodSync('/', 0o755)",
    "mode of a device": "fs.chmodSync('/dev/null', 0o666)",
    "times of the kit": "fs.utimesSync(process.argv[1], 1, 1)",
    "a folder": "fs.mkdirSync('/tmp/mark')",
    "a link": "fs.symlinkSync('/etc/passwd', '/tmp/mark')",
    "owner": "fs.chownSync('/tmp', 0, 0)",
    "priority of another": "require('os').setPriority(process.ppid, 19)",
    "a signal": "process.kill(process.ppid, 0)",
    "a process": "if (require('child_process').spawnSync('/bin/true').error) throw 0",
    "another program": "(process.execve ?? (() => { throw 0 }))('/bin/true', ['true'], {})",
}


@pytest.mark.parametrize("name", some([*RUNTIME_ATTACKS], 2))
def test_no_call_of_a_runtime_has_an_effect_on_what_is_outside(
    executor: Executor, name: str
) -> None:
    """What the program after it finds is what was there before: the worker goes on as it was."""
    code = f"function f() {{ {REQUIRE} {RUNTIME_ATTACKS[name]}; return 'done' }}"
    good = Program("const f = () => 7", "f")
    done, *after = run(executor, Program(code, "f", source=Source.KIT), good, good)
    # As Node does when refused.
    aborted = name == "another program" and done.detail.startswith(
        "ended with signal 6"
    )
    assert done.outcome is Outcome.RAISED or aborted, done
    assert [one.value for one in after] == [7] * 2


LOADING = {
    "eval": "eval('1')",
    "Function": "new Function('1')()",
    "a function's constructor": "(() => 0).constructor('1')()",
    "another script": "process.mainModule.require('vm').runInThisContext('1')",
    "a binding": "process.binding('contextify')",
    "WebAssembly": "new WebAssembly.Module(new Uint8Array(8))",
}


@pytest.mark.parametrize("name", some([*LOADING], 3))
def test_no_other_code_is_loaded(executor: Executor, name: str) -> None:
    [done] = run(executor, Program(f"function f() {{ {LOADING[name]} }}", "f"))
    assert done.outcome is Outcome.RAISED, done
    assert done.detail.startswith(("EvalError", "TypeError", "ReferenceError")), done


def test_an_endless_script_is_ended_whatever_it_takes_away(executor: Executor) -> None:
    code = "process.reallyExit = JSON.stringify = () => ''; for (;;) { try { for (;;) {} } catch {} }"
    [done] = run(executor, Program(f"function f() {{ {code} }}", "f"))
    assert done.outcome is Outcome.CPU_TIME, done


def test_java_is_not_run(executor: Executor) -> None:
    program = Program(
        "class A { public static void main(String[] a) {} }", source=Source.KIT
    )
    with refused(SandboxError, "java"):
        list(executor.run([program], language="java"))


MEMORY = {
    "buffers": "new Uint8Array(1 << 26)",
    "shared": "new Uint8Array(new SharedArrayBuffer(1 << 26))",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MEMORY)
def test_memory_beside_the_heap_is_limited_too(executor: Executor, name: str) -> None:
    body = f"for (let i = 0; i < 32; i++) keep.push({MEMORY[name]}.fill(1))"
    [done] = run(executor, Program(f"function f() {{ const keep = []; {body} }}", "f"))
    # Which of the two depends on what Node's own threads do meanwhile.
    ends = {Outcome.RAISED: "RangeError", Outcome.DIED: "ended with signal 6"}
    assert done.outcome in ends, done
    assert done.detail.startswith(ends[done.outcome]), done


def test_node_is_what_the_worker_sees(executor: Executor) -> None:
    (execution,) = run(executor, Program("const f = () => process.version", "f"))
    assert execution.value == runtimes.version(*runtimes.executables())
