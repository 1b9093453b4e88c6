"""The executor runs programs, says how each ended, and outlives them all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from codestress.literals import same_value
from codestress.sandbox import worker
from codestress.sandbox.data import NotData, TooLarge, decode, encode
from codestress.sandbox.executor import (
    UNPROTECTED,
    Execution,
    Executor,
    Limits,
    Outcome,
    Program,
)
from codestress.types import Source
from conftest import ROOT
from sandbox.attacks import descendants
from test_literals import VALUES

pytestmark = pytest.mark.isolation


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=2, limits=Limits(cpu_s=20, wall_s=120)) as opened:
        yield opened


def one(
    executor: Executor, source: str, *arguments: object, **keywords: object
) -> Execution:
    (execution,) = executor.run(
        [Program(textwrap.dedent(source), "f", arguments, keywords)]
    )
    return execution


@given(VALUES)
def test_values_go_through_the_wall_unchanged(value: object) -> None:
    assert same_value(decode(json.loads(json.dumps(encode(value)))), value)


def test_special_values_go_through_the_wall() -> None:
    for value in (
        range(3),
        ...,
        10**5000,
        -(2**53),
        "\ud800\0",
        float("inf"),
        {(1, ("a",)): {2}},
    ):
        assert decode(json.loads(json.dumps(encode(value)))) == value


def test_values_that_are_no_data_are_refused() -> None:
    nested: list[object] = []
    nested.append(nested)
    for value in (object(), (i for i in ()), len, [lambda: 0], nested):
        with pytest.raises(NotData):
            encode(value)
    with pytest.raises(TooLarge):
        encode([0] * 300_000)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("iftdszbcreF?"), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(DOCUMENTS)
def test_documents_that_a_child_makes_up_are_values_or_errors(document: object) -> None:
    with contextlib.suppress(ValueError):
        decode(document)


def test_calls_with_arguments_keywords_and_expressions(executor: Executor) -> None:
    source = "def f(a, *, b=0):\n    return {a: [b, (True, 2.5)]}"
    runs = [
        Program(source, "f", ((1, "x"),), {"b": {3}}),
        Program(source, call="f('y', b=f(1))"),
        Program("x = 1"),
        Program(
            "import collections\ndef f(t): return collections.Counter(t)", "f", ("aab",)
        ),
    ]
    values = [execution.value for execution in executor.run(runs)]
    pair = (True, 2.5)
    assert values == [
        {(1, "x"): [{3}, pair]},
        {"y": [{1: [0, pair]}, pair]},
        None,
        {"a": 2, "b": 1},
    ]


@pytest.mark.parametrize(
    ("source", "outcome", "detail"),
    [
        ("def f(:", Outcome.SYNTAX_ERROR, "invalid syntax"),
        ("def f():\n    return {}['a']", Outcome.RAISED, "KeyError: 'a'"),
        ("def g(): return 1", Outcome.RAISED, "KeyError: 'f'"),
        ("def f():\n    while True:\n        x = 1", Outcome.STEP_LIMIT, "100,000"),
        ("def f(): return [0 for _ in iter(int, 1)]", Outcome.STEP_LIMIT, "100,000"),
        ("def f():\n    exec('while 1:\\n  x = 1')", Outcome.STEP_LIMIT, "100,000"),
        ("def f(): return f()", Outcome.RAISED, "RecursionError"),
        ("def f(): return 'a' * 10**10", Outcome.RAISED, "MemoryError"),
        ("def f(): return list(range(10**9))", Outcome.RAISED, "MemoryError"),
        ("import os\ndef f(): os._exit(0)", Outcome.DIED, "status 0"),
        ("def f(): return 'a' * 2_000_000", Outcome.OUTPUT_LIMIT, "1,048,576"),
        ("def f(): return [0] * 300_000", Outcome.OUTPUT_LIMIT, ""),
        ("def f(): yield 1", Outcome.NOT_DATA, "generator"),
        ("def f(): raise SystemExit(3)", Outcome.RAISED, "SystemExit: 3"),
        ("raise KeyboardInterrupt", Outcome.RAISED, "KeyboardInterrupt"),
        ("\0", Outcome.SYNTAX_ERROR, "null"),
        ("x = '\ud800'", Outcome.SYNTAX_ERROR, "surrogates"),
        ("(" * 500 + ")" * 500, Outcome.SYNTAX_ERROR, "parentheses"),
    ],
)
def test_every_end_has_its_name(
    executor: Executor, source: str, outcome: Outcome, detail: str
) -> None:
    for origin in Source:
        [execution] = executor.run([Program(source, "f", source=origin)])
        assert execution.outcome is outcome, execution
        assert detail in execution.detail


def test_a_step_that_takes_for_ever_is_stopped_by_its_cpu_time() -> None:
    with Executor(workers=1, limits=Limits(cpu_s=1)) as hasty:
        assert one(hasty, "def f(): return 9**9**9").outcome is Outcome.CPU_TIME


def test_who_sleeps_is_stopped_by_the_clock() -> None:
    with Executor(workers=1, limits=Limits(wall_s=2)) as hasty:
        for origin in Source:
            sleeps = Program("import time\ntime.sleep(600)", source=origin)
            assert next(hasty.run([sleeps])).outcome is Outcome.WALL_TIME


def test_the_limit_of_steps_decides_to_the_line(executor: Executor) -> None:
    """A loop of one line takes a step each round; the same number of rounds ends it on every machine."""
    source = "def f(n):\n    for _ in range(n):\n        x = 1\n    return n"
    ends = [one(executor, source, n).outcome for n in (49_990, 50_010)]
    assert ends == [Outcome.RETURNED, Outcome.STEP_LIMIT]


def test_results_keep_their_order_whatever_ends_in_between(executor: Executor) -> None:
    endless = "def f(n):\n    while True:\n        n += 1"
    bad = (
        endless,
        "import os\ndef f(n): os._exit(1)",
        "def f(n): return 1/0",
        "def f(",
        "import os\ndef f(n): os.write(3, b'no result\\n')",
    )
    good = "def f(n):\n    return n * n"
    for source in Source:
        programs = [
            Program(bad[n % 5] if n % 7 == 3 else good, "f", (n,), source=source)
            for n in range(200)
        ]
        executions = list(executor.run(programs))
        expected = [None if n % 7 == 3 else n * n for n in range(200)]
        assert [e.value for e in executions] == expected
        ends = {"step limit", "died", "raised", "syntax error", "tampered"}
        assert {e.outcome for e in executions[3::7]} == ends


def test_programs_do_not_see_each_other(executor: Executor) -> None:
    patch = "import builtins, json, sys\nbuiltins.len = lambda x: 42\njson.dumps = lambda x: '[]'\nsys.modules.clear()"
    executions = list(
        executor.run([Program(patch), Program("def f(): return len('abc')", "f")] * 10)
    )
    assert [e.value for e in executions[1::2]] == [3] * 10


def test_sets_come_in_the_same_order_in_every_worker(executor: Executor) -> None:
    program = Program("def f(): return list({'alpha', 'beta', 'gamma', 'delta'})", "f")
    assert len({str(e.value) for e in executor.run([program] * 40)}) == 1
    with Executor(workers=1) as other:
        assert next(other.run([program])).value == one(executor, program.code).value


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost() -> None:
    programs = [
        Program("def f(n):\n    for i in range(9000): n += 1\n    return n", "f", (n,))
        for n in range(300)
    ]
    others = descendants()
    with Executor(workers=2) as executor:
        results = executor.run(programs)
        first = [next(results) for _ in range(20)]
        for process in descendants() - others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        first += results
    assert [e.value for e in first] == [n + 9000 for n in range(300)]


def test_a_worker_that_stalls_within_its_reply_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stalled = ["sh", "-c", "printf '{'; sleep 600"]
    monkeypatch.setattr(worker, "command", lambda *_: stalled)
    monkeypatch.setattr(worker, "START_S", 0.5)
    with pytest.raises(worker.WorkerDied, match="in time"):
        worker.Worker("none")


def test_a_closed_executor_counts_what_is_left() -> None:
    with Executor(workers=1) as short:
        pass
    ends = [e.outcome for e in short.run([Program("x = 1")] * 3)]
    assert ends == [Outcome.HARNESS_ERROR] * 3


def test_nothing_is_left_behind_when_the_process_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "from codestress.sandbox.executor import *\n"
        "with Executor(workers=2, limits=Limits(wall_s=600)) as e:\n"
        "    print('ready', flush=True)\n"
        "    list(e.run([Program('import time\\ntime.sleep(500)')] * 4))\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    started = descendants(process.pid) - {process.pid}
    assert started
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while left := [one for one in started if Path(f"/proc/{one}").exists()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_layers_are_probed_named_and_missed_openly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "candidates", lambda: ["none"])
    monkeypatch.setenv(UNPROTECTED, "1")
    with Executor(workers=1) as told:
        assert one(told, "def f(): return 1").value == 1
    assert told.layers["namespaces"] == ""
    for name in ("namespaces", "landlock", "seccomp", "limits"):
        assert (name in told.described()) == bool(told.layers[name]), told.described()


def test_packages_are_there_where_they_are_asked_for_and_nowhere_else() -> None:
    """The course's functions may use numpy and scipy; a data set's programs have the standard library alone."""
    program = Program(
        "import numpy\nfrom scipy.optimize import brentq\n"
        "def f(x):\n    return [numpy.arange(x).sum().item(), round(brentq(lambda y: y - 2, 0, 9), 6)]",
        "f",
        (4,),
    )
    writes = Program("def f():\n    open('/tmp/mark', 'w')", "f")
    limits = Limits(memory_bytes=1 << 30)
    with Executor(
        workers=1, limits=limits, packages=("numpy", "scipy.optimize")
    ) as executor:
        done, written = executor.run([program, writes])
        assert done.value == [6, 2.0]
        assert written.outcome is Outcome.RAISED
    with Executor(workers=1) as executor:
        [done] = executor.run([program])
        assert done.outcome is Outcome.RAISED
        assert "numpy" in done.detail


def test_programs_import_when_all_of_the_kit_is_compiled(tmp_path: Path) -> None:
    """As a set-up leaves it, and where the sandbox sees it in another place."""
    kit = shutil.copytree(
        ROOT / "lib",
        tmp_path / "lib",
        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
    )
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", "lib"], cwd=tmp_path, check=True
    )
    program = (
        "from codestress.sandbox.executor import Executor, Program\n"
        "with Executor(workers=1) as executor:\n"
        "    print(*executor.run([Program('import fractions, re\\ndef f(): return 1', 'f')]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(kit)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "value=1" in done.stdout
