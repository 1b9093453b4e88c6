"""Running of programs: `Executor.run` runs programs in isolated workers and returns
each program's value, or the reason why it has none.

The child process that runs a program returns its value. Only this process knows the
expected value, and compares the returned value with it.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import queue
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache, partial
from typing import Any

from codestress.errors import SandboxError
from codestress.program_counts import RAN
from codestress.types import LANGUAGE_NAMES, Language, Source

from . import probe, runtimes, worker
from .data import NotData, TooLarge, decode, encode

UNPROTECTED = "CODESTRESS_UNPROTECTED"
"""Environment variable: 1 lets untrusted programs run on a machine with incomplete
protection."""
TOGETHER, APART = 40, 8
"""Maximum numbers of programs sent to a worker in one message: of the kit's own
programs, and of untrusted programs."""
PATIENCE = 10
"""Factor on the programs' limit of wall time: a worker that is silent for longer has
failed."""


class Outcome(StrEnum):
    """The ways in which the run of a program can end."""

    RETURNED = "returned"
    RAISED = "raised"
    """The program ended in an exception, which `Execution.detail` names."""
    SYNTAX_ERROR = "syntax error"
    STEP_LIMIT = "step limit"
    """The Python program executed more than `Limits.steps` of its own lines. The
    outcome is the same on every machine, for programs that leave the counter alone."""
    NOT_DATA = "not data"
    """The program returned a value that is not plain data: a generator, a function, an
    object of its own class."""
    OUTPUT_LIMIT = "output limit"
    CPU_TIME = "CPU time"
    """The CPU time ran out: a backstop for single steps that take for ever."""
    WALL_TIME = "wall time"
    """The wall time ran out: a backstop for programs that wait for something other than
    a processor."""
    DIED = "died"
    """The program's process ended before it returned: `os._exit`, or a crash of the
    interpreter."""
    TAMPERED = "tampered"
    """The program wrote to the channel of results."""
    HARNESS_ERROR = "harness error"
    """The worker itself failed, twice."""


SEEN_FROM_OUTSIDE = (
    Outcome.CPU_TIME,
    Outcome.WALL_TIME,
    Outcome.DIED,
    Outcome.HARNESS_ERROR,
)
"""Outcomes that only the parent process can observe: a line that claims such an outcome
comes from the program, not from the child."""
LONGEST_DETAIL = 300


@dataclass(frozen=True)
class Limits:
    """Limits on a program's resources: steps (executed lines), time and memory."""

    steps: int = 100_000
    """Maximum number of its own lines that a Python program executes (CRUXEval's
    filter).

    The limit of steps decides. The other limits are backstops, for programs that turn
    the counter off, and for JavaScript.
    """
    cpu_s: int = 8
    """CPU time in seconds. The slowest version of a CRUXEval program needs 6.4 seconds
    for 100,000 steps on a slow machine of 2026; most programs need less than 0.1."""
    wall_s: float = 60.0
    memory_bytes: int = 256 << 20
    """Memory in bytes beyond the interpreter's own. For Python it is address space; for
    Node, the memory that it may write to."""


@dataclass(frozen=True)
class Program:
    """A program's text `code`, and what to do after the text is executed.

    If `function` is set, this function is called with `arguments` and `keywords`.
    Otherwise the expression `call` is evaluated if it is set. `source` says whether the
    program is the kit's own or untrusted.
    """

    code: str
    function: str = ""
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    call: str = ""
    """A Python expression that is evaluated after the text is executed."""
    source: Source = Source.STRANGER


@dataclass(frozen=True)
class Execution:
    """The result of running a program: its outcome, with the value or the reason why
    there is none."""

    outcome: Outcome
    value: Any = None
    """The returned value, plain data; None unless the program returned."""
    detail: str = ""
    """The exception's name and message, the limit reached, or a similar reason."""


class Executor:
    """Workers (processes in the sandbox) that run programs with `run`.

    Use the executor in a `with` statement, which ends the workers. `workers` is their
    number (None: one per processor, at most eight). `packages` are installed modules
    that programs may use; without them, programs have only the standard library.

    The kit's own programs run on every machine, isolated as well as the machine can.
    Untrusted programs run only if files, network and processes are protected. Otherwise
    `SandboxError` names the missing protection and the remedy, unless
    CODESTRESS_UNPROTECTED=1 allows the run.
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        self.limits = limits or Limits()
        self.workers = workers or min(8, os.cpu_count() or 1)
        self.packages = packages
        self.backend, first = worker.start(packages)
        self.layers = first.layers
        """The mechanism of each layer of protection, by the layer's name; empty for a
        layer that does not hold."""
        self._started = {first}
        self._closed = False
        self._idle: queue.SimpleQueue[worker.Worker | None] = queue.SimpleQueue()
        self._idle.put(first)
        for _ in range(self.workers - 1):
            # Stands for a worker that is started when a program needs it.
            self._idle.put(None)
        self.unprotected = os.environ.get(UNPROTECTED) == "1"
        self._open: dict[Language, dict[str, str]] = {}

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; programs still running in them, and later programs, count as
        harness errors."""
        self._closed = True
        for server in [*self._started]:
            server.close()

    def described(self) -> str:
        """Return, in one line, the layers of protection that hold, each with its
        mechanism: `namespaces: bubblewrap, landlock: read-only, …`."""
        return ", ".join(f"{name}: {how}" for name, how in self.layers.items() if how)

    def manner(self) -> str:
        """Return, in words, how untrusted Python programs run on this machine.

        The text begins with `isolated` if all protections (files, network, processes)
        hold, else with `unprotected`; the layers that hold follow.
        """
        manner = "unprotected" if self.exposed() else "isolated"
        return f"{manner}: {self.described()}"

    def exposed(self, language: Language = "python") -> dict[str, str]:
        """Return a dict from protection (files, network, processes) to the names of the
        attacks on it that succeeded against the programs of `language` on this machine.

        Empty if all protections hold. Each language is attacked once, and the result is
        kept.
        """
        if language not in self._open:
            attack = partial(self._attack, language)
            self._open[language] = probe.unprotected(attack, language)
        return self._open[language]

    def admit(self, language: Language = "python") -> None:
        """Raise `SandboxError`, with the remedy, if untrusted programs in `language`
        may not run on this machine.

        Return if all protections hold or `unprotected` is set.
        """
        if self.unprotected or not (exposed := self.exposed(language)):
            return
        attacks = "; ".join(map(": ".join, exposed.items()))
        raise SandboxError(
            "untrusted programs cannot be isolated on this machine: attacks in "
            f"{LANGUAGE_NAMES[language]} got through ({attacks})\n{remedy()}"
        )

    def _attack(self, language: Language, code: str, arguments: tuple[str, ...]) -> Any:
        """Run the function `f` of the attacking program `code` with `arguments`, and
        return its value.

        None if the program raised or its process died. Raises `SandboxError` if a limit
        stopped the attack, because then the attack shows nothing.
        """
        attack = Program(code, "f", arguments, source=Source.KIT)
        limits = Limits(memory_bytes=self.limits.memory_bytes)
        [execution] = self._chunk([attack], language, limits)
        if execution.outcome in (Outcome.RETURNED, Outcome.RAISED, Outcome.DIED):
            return execution.value
        raise SandboxError(f"the sandbox cannot be tested: {execution.detail}")

    def _chunks(
        self, programs: Iterable[Program], language: Language
    ) -> Iterator[list[Program]]:
        """Yield lists of neighbouring programs of one source, each to be sent to a
        worker in one message, and count the programs for the manifest.

        Raises `SandboxError` at an untrusted program that may not run on this machine.
        """
        how = self.described()
        for source, group in itertools.groupby(
            programs, key=lambda program: program.source
        ):
            if source is Source.STRANGER and not self._closed:
                self.admit(language)
            size = TOGETHER if source is Source.KIT else APART
            while chunk := list(itertools.islice(group, size)):
                RAN[language, source, how] += len(chunk)
                yield chunk

    def run(
        self, programs: Iterable[Program], *, language: Language = "python"
    ) -> Iterator[Execution]:
        """Yield each program's execution, in order, as the results come.

        An untrusted program runs in its own process. Neighbouring programs of the kit
        share a process, which is several times as fast; none of them patches anything
        that the next program uses.

        Raises `SandboxError` at an untrusted program that may not run on this machine,
        and for a language without an interpreter.
        """
        # Raises an error if programs in the language cannot run.
        runtimes.command(language, 0)
        chunk = partial(self._chunk, language=language, limits=self.limits)
        with ThreadPoolExecutor(self.workers) as pool:
            for executions in pool.map(chunk, self._chunks(programs, language)):
                yield from executions

    def _chunk(
        self, programs: Sequence[Program], language: Language, limits: Limits
    ) -> list[Execution]:
        prepared = list(map(_prepared, programs))
        cpu_s = min(limits.cpu_s, runtimes.CPU_S[language])
        request = {
            "limits": asdict(limits) | {"cpu_s": cpu_s},
            "command": runtimes.command(language, limits.memory_bytes),
            "spare": runtimes.SPARE[language],
        }
        jobs = [job for job in prepared if isinstance(job, dict)]
        executions = iter(self._ask(jobs, request))
        return [
            job if isinstance(job, Execution) else next(executions) for job in prepared
        ]

    def _ask(
        self, jobs: list[dict[str, Any]], request: dict[str, Any], again: bool = True
    ) -> list[Execution]:
        """Send `jobs` to a worker, with the fields of `request` that they share, and
        return their executions.

        A worker that dies is replaced. With `again`, each program then runs once more
        by itself; the program is a harness error if its worker dies again. All programs
        are harness errors if the executor is closed.
        """
        if not jobs or self._closed:
            closed = Execution(Outcome.HARNESS_ERROR, detail="the executor was closed")
            return [closed] * len(jobs)
        server = self._idle.get()
        try:
            if server is None:
                server = worker.Worker(self.backend, self.packages)
                self._started.add(server)
            patience = len(jobs) * PATIENCE * (request["limits"]["wall_s"] + 1)
            results = server.ask(request | {"programs": jobs}, patience)
            return list(map(_execution, results))
        except worker.WorkerDied as error:
            if server is not None:
                server.close()
                self._started.discard(server)
                server = None
            detail = f"the worker died: {error}"
        finally:
            self._idle.put(server)
        if not again:
            return [Execution(Outcome.HARNESS_ERROR, detail=detail)]
        executions = []
        for job in jobs:
            executions += self._ask([job], request, again=False)
        return executions


def remedy() -> str:
    """Return, in words, the steps after which untrusted programs can run on this
    machine."""
    return (
        "on Linux (elsewhere in a virtual machine), install bubblewrap (Debian: apt install "
        "bubblewrap), or allow user namespaces, Landlock or seccomp to this user or "
        f"container; or set {UNPROTECTED}=1 to run them unprotected, at your own risk"
    )


@cache
def shared_executor() -> Executor:
    """Return the executor that all scorers of answers in a process share, made at the
    first call, with one worker.

    The executor closes when the process ends.
    """
    executor = Executor(workers=1)
    atexit.register(executor.close)
    return executor


def _prepared(program: Program) -> dict[str, Any] | Execution:
    """Return the job for a worker that runs `program`.

    If the program's arguments are not plain data or have too many elements, return an
    execution that says so instead.
    """
    try:
        arguments = encode(list(program.arguments))
        keywords = encode(dict(program.keywords))
    except (NotData, TooLarge) as error:
        return Execution(Outcome.RAISED, detail=f"the arguments hold {error}")
    return {
        "source": program.code,
        "function": program.function,
        "call": program.call,
        "arguments": arguments,
        "keywords": keywords,
        "own": program.source is Source.KIT,
    }


def _execution(result: tuple[str, str]) -> Execution:
    """Return the execution that `result`, a pair of a child's line and the child's end,
    reports.

    The line is not trusted: a line that is not a valid result counts as tampering. If
    the line is empty, the way in which the child ended decides.
    """
    line, ended = result
    if not line:
        if ended.startswith(("signal", "status")):
            detail = f"ended with {ended} before it returned"
            return Execution(Outcome.DIED, detail=detail)
        return Execution(Outcome(ended), detail=ended)
    try:
        outcome, *rest = json.loads(line)
        kind = Outcome(outcome)
        if kind in SEEN_FROM_OUTSIDE:
            raise ValueError(kind)
        if kind is Outcome.RETURNED:
            return Execution(kind, decode(rest[0]))
        detail = ": ".join(str(part) for part in rest if part)[:LONGEST_DETAIL]
        # Without lone surrogates, which files of results cannot hold.
        detail = detail.encode("utf-8", "backslashreplace").decode()
        return Execution(kind, detail=detail)
    except RecursionError:
        return Execution(Outcome.NOT_DATA, detail="a value nested too deeply")
    except (ValueError, TypeError, IndexError) as error:
        detail = f"not a result: {type(error).__name__}"
        return Execution(Outcome.TAMPERED, detail=detail)
