"""Programs that attack: none is believed, none reaches out, none holds a worker up, none outlives its turn."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codestress.errors import SandboxError
from codestress.paths import PACKAGE
from codestress.sandbox import worker
from codestress.sandbox.executor import UNPROTECTED, Executor, Limits, Outcome, Program
from conftest import some
from sandbox.attacks import ATTACKS, UNCOUNTED, attack, descendants

pytestmark = pytest.mark.isolation

GUESS, MARK = "123123", f"codestress-mark-{os.getpid()}"
BACKSTOP = {Outcome.CPU_TIME, Outcome.WALL_TIME}
"""Which of the two comes first depends on what else the machine does."""
LONG = [
    *("ignore signals", "endless in C", "endless text", "huge power"),
    *("close every descriptor", "sleep", "take the result back", "values that collide"),
    *("raise its own limits", "endless without a line"),
    *("remove the tracer", "another tracer", *UNCOUNTED),
]
"""Attacks that a limit of time ends, each after seconds."""
STOPPED = {
    "verdicts to every descriptor": {Outcome.TAMPERED},
    "verdicts for ever": {Outcome.TAMPERED, Outcome.OUTPUT_LIMIT},
    "close every descriptor": {Outcome.WALL_TIME, Outcome.DIED},
    "remove the tracer": BACKSTOP,
    "another tracer": {*BACKSTOP, Outcome.STEP_LIMIT},
    "catch everything": {Outcome.STEP_LIMIT},
    "ignore signals": BACKSTOP,
    "raise its own limits": BACKSTOP,
    "read the environment": {Outcome.RAISED},
    "os._exit after a line": {Outcome.TAMPERED},
    "all memory": {Outcome.RAISED},
    "fork bomb": {Outcome.STEP_LIMIT},
    "threads for ever": {Outcome.STEP_LIMIT},
    "sleep": {Outcome.WALL_TIME},
    "endless in C": BACKSTOP,
    "endless without a line": BACKSTOP,
    "endless text": BACKSTOP,
    "huge power": BACKSTOP,
    "a huge value": {Outcome.OUTPUT_LIMIT},
    "many values": {Outcome.OUTPUT_LIMIT, Outcome.RAISED},
    "a value in itself": {Outcome.NOT_DATA},
    "an object that equals all": {Outcome.NOT_DATA},
    "deep source": {Outcome.SYNTAX_ERROR},
    "a second line after the result": {Outcome.TAMPERED},
    **{name: {*BACKSTOP, Outcome.STEP_LIMIT, Outcome.RAISED} for name in UNCOUNTED},
}


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=2, limits=Limits(cpu_s=1, wall_s=4)) as opened:
        if not (opened.layers["landlock"] and opened.layers["seccomp"]):
            pytest.skip(
                f"attacks are run only behind Landlock and seccomp; here: {opened.described()}"
            )
        yield opened


@pytest.fixture(scope="module")
def patient() -> Iterator[Executor]:
    """An executor with time for what ends by itself, however slow or busy the machine."""
    with Executor(workers=1, limits=Limits(cpu_s=30, wall_s=120)) as opened:
        yield opened


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[int, list[object]]]:
    """A port on loopback, and who came."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    came.append(listening.accept()[1])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1], came


def kit() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in (PACKAGE / "sandbox").rglob("*.py")
    }


# It takes seconds, and is in `make test` because nothing else there tries these attacks.
def test_no_attack_has_an_effect(
    executor: Executor, patient: Executor, server: tuple[int, list[object]]
) -> None:
    port, came = server
    before = kit()
    assert [e.value for e in executor.run([Program("x = 1")] * 30)] == [
        None
    ] * 30  # both workers are up
    assert next(patient.run([Program("x = 1")])).value is None
    before_it = descendants()
    programs = []
    chosen = [name for name in ATTACKS if name not in LONG or name in some(LONG, 4)]
    for name in chosen:
        programs += [
            attack(name, guess=GUESS, mark=MARK, port=port),
            Program("def f(x): return x + 1", "f", (41,)),
        ]
    executions = list(executor.run(programs))
    by_c = set()
    for program in programs:
        if "import ctypes" in program.code and "pythonapi" not in program.code:
            by_c.add(next(patient.run([program])).outcome)
    assert by_c == {Outcome.RAISED, Outcome.DIED}
    outcomes = dict(zip(chosen, executions[::2], strict=True))
    # Whoever comes next is judged as ever, and no worker was lost over any of them.
    assert [e.value for e in executions[1::2]] == [42] * len(chosen)
    # On a slow or busy machine a limit of time may come before an attack's own end.
    late = [
        n for n in chosen if outcomes[n].outcome in BACKSTOP - STOPPED.get(n, BACKSTOP)
    ]
    again = [attack(name, guess=GUESS, mark=MARK, port=port) for name in late]
    outcomes |= dict(zip(late, patient.run(again), strict=True))
    for name, execution in outcomes.items():
        assert execution.outcome is not Outcome.HARNESS_ERROR, (name, execution)
        if name in STOPPED:
            assert execution.outcome in STOPPED[name], (name, execution)
    assert came == []
    for folder in ("/tmp", "/dev/shm", "/", str(Path.cwd()), str(PACKAGE)):
        assert not (Path(folder) / MARK).exists(), folder
    assert kit() == before
    assert descendants() <= before_it
    # An attack without any effect ends by returning the guess, as it is called to; the others are refused by name.
    details = [execution.detail for execution in outcomes.values()]
    assert sum("PermissionError" in detail for detail in details) >= 20, details


@pytest.mark.parametrize("backend", ["unshare", "none"])
def test_what_is_left_without_bubblewrap_still_refuses(
    backend: str, server: tuple[int, list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, came = server
    monkeypatch.setattr(worker, "candidates", lambda: [backend])
    monkeypatch.setenv(UNPROTECTED, "1")
    try:
        left = Executor(workers=1, limits=Limits(wall_s=60))
    except SandboxError:
        pytest.skip(f"{backend}: not on this machine")
    with left:
        if not (left.layers["landlock"] and left.layers["seccomp"]):
            pytest.skip(f"no Landlock and seccomp here: {left.layers}")
        names = ["socket", "kill the parent", "read passwd", "write a file", "fork"]
        names += ["subprocess", "starve the parent"]
        programs = [attack(name, guess=GUESS, mark=MARK, port=port) for name in names]
        for name, done in zip(names, left.run(programs), strict=True):
            assert done.outcome is Outcome.RAISED, (name, done)
            assert done.detail.startswith("PermissionError"), (name, done)
        assert came == []
        assert not (Path("/tmp") / MARK).exists()


def test_honest_use_of_the_library_is_no_attack(patient: Executor) -> None:
    sources = [
        "from unittest import mock\ndef f(): return mock.ANY == 1",
        "import asyncio, ctypes, doctest, multiprocessing, timeit\ndef f(): return True",
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\ndef f(): return A(1) == A(1)",
        "import gc, sys\ndef f(): return gc.collect() >= 0 and sys._getframe().f_lineno == 2",
        "import doctest\ndef f():\n    return doctest.testmod().failed == 0",  # puts the tracer back
        "import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    return True\ndef f(): return asyncio.run(g())",
    ]
    for one in patient.run(Program(source, "f") for source in sources):
        assert one.value is True, one


def test_a_program_finds_nothing_that_only_the_parent_knows(patient: Executor) -> None:
    secret = "482915506173948265"
    program = attack("walk all objects", guess=GUESS, mark=MARK, port=9)
    [done] = patient.run([program])
    assert done.value != secret
    assert done.outcome in (Outcome.RETURNED, Outcome.STEP_LIMIT), done
