"""`Executor.run`: runs programs in isolated workers and says what each returned, or why it did not.

The child returns a value; whether it is the right one is judged here, where alone the expected one is known.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

from codestress.errors import SandboxError
from codestress.sandbox import probe, runtimes, worker
from codestress.sandbox.data import TooLarge, decode, encode
from codestress.types import LANGUAGE_NAMES, Language, Source

UNPROTECTED = "CODESTRESS_UNPROTECTED"
"""Environment variable: 1 lets programs of strangers run where not all is protected."""
TOGETHER, APART = 40, 8
"""Programs sent to a worker at once."""
PATIENCE = 10
"""Times the limit of wall time without a word of it after which a worker has failed."""
AHEAD = 64
"""Sendings that may be ahead of the one whose results are due, for each worker: others go on beside a slow one."""


class Outcome(StrEnum):
    """How a program ended."""

    RETURNED = "returned"
    RAISED = "raised"
    """It ended in an exception; `detail` names it."""
    SYNTAX_ERROR = "syntax error"
    STEP_LIMIT = "step limit"
    """It executed more than `Limits.steps` of its own lines: the same on every machine."""
    NOT_DATA = "not data"
    """It returned something that is no plain data: a generator, a function, an object of its own class."""
    OUTPUT_LIMIT = "output limit"
    CPU_TIME = "CPU time"
    """A backstop, for single steps that take for ever."""
    WALL_TIME = "wall time"
    """A backstop, for programs that wait for anything but a processor."""
    DIED = "died"
    """Its process ended before it returned: `os._exit`, a crash of the interpreter."""
    TAMPERED = "tampered"
    """It wrote where results go, reached for what counts its steps, or could not be counted."""
    HARNESS_ERROR = "harness error"
    """The worker itself failed, twice."""


SEEN_FROM_OUTSIDE = (Outcome.CPU_TIME, Outcome.WALL_TIME, Outcome.DIED, Outcome.HARNESS_ERROR)
"""What a program cannot say of itself: a line that claims it was written by the program, not by the child."""
LONGEST_DETAIL = 300


@dataclass(frozen=True)
class Limits:
    """What a program may use."""

    steps: int = 100_000
    """Lines that the program itself executes (CRUXEval's filter); this decides, the other limits are backstops."""
    cpu_s: int = 8
    """Four times what the slowest version of a CRUXEval program needs for 100,000 steps on a machine of 2026."""
    wall_s: float = 60.0
    memory_bytes: int = 256 << 20
    """Beside what the interpreter itself takes: Python's address space, what Node and Java may write to."""
    output_bytes: int = 1 << 20
    """Of the returned value, encoded."""


@dataclass(frozen=True)
class Program:
    """A text, and what to do once it is executed: call `function`, else evaluate `call`, else nothing.

    Java runs `main` with the arguments as strings, and its value is what it printed.
    """

    code: str
    function: str = ""
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    call: str = ""
    """A Python expression."""
    source: Source = Source.STRANGER


@dataclass(frozen=True)
class Execution:
    """What became of a program."""

    outcome: Outcome
    value: Any = None
    """Plain data, where it returned."""
    detail: str = ""
    """The exception's name and message, the limit, …"""


Ran = Counter[tuple[Language, Source, str]]
"""Programs by language, source and what isolated them."""
_ran: Ran = Counter()


def ran() -> Ran:
    """What this process has run so far."""
    return _ran.copy()


def programs_run(counts: Ran) -> list[dict[str, str | int]]:
    """The same for a manifest: language, source, isolation, programs."""
    return [
        {"language": language, "source": source.value, "isolation": how, "programs": count}
        for (language, source, how), count in sorted(counts.items())
    ]


class Executor:
    """Workers for programs; use it as a context.

    The kit's own programs run everywhere, isolated as well as the machine can. Programs of strangers run where files,
    network and processes are protected; elsewhere `SandboxError` names what is not, and the remedy, unless
    `unprotected` (or CODESTRESS_UNPROTECTED=1) says that they may run all the same. `packages` are installed modules
    that programs may use; without them they have the standard library alone.
    """

    def __init__(
        self,
        *,
        workers: int | None = None,
        limits: Limits | None = None,
        unprotected: bool | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        self.limits = limits or Limits()
        self.workers = workers or min(8, os.cpu_count() or 1)
        self.packages = packages
        self.backend, first, self.refused = worker.start(runtimes.executables(), packages)
        self.layers = first.layers
        """What holds, by layer; `no LAYER` says why one does not."""
        self.python = first.python
        self._started = {first}
        self._closed = False
        self._idle: queue.SimpleQueue[worker.Worker | None] = queue.SimpleQueue()
        for one in (first, *[None] * (self.workers - 1)):
            self._idle.put(one)
        self.unprotected = os.environ.get(UNPROTECTED) == "1" if unprotected is None else unprotected
        self._lock = threading.Lock()
        self._open: dict[Language, dict[str, str]] = {}

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all workers; what still runs in them counts as a harness error."""
        self._closed = True
        for one in list(self._started):
            one.close()

    def described(self) -> str:
        """The layers in a line: `namespaces: bubblewrap, landlock: read-only, …`."""
        return ", ".join(f"{name}: {how}" for name, how in self.layers.items() if how and not name.startswith("no "))

    def manner(self) -> str:
        """How programs of strangers run here, for people."""
        return f"{'unprotected' if self.exposed() else 'isolated'}: {self.described()}"

    def exposed(self, language: Language = "python") -> dict[str, str]:
        """What is not protected from a language's programs here (files, network, processes), and what got through;
        tried once."""
        with self._lock:
            if language not in self._open:
                self._open[language] = probe.unprotected(partial(self._attack, language), language)
            return self._open[language]

    def matrix(self) -> dict[str, dict[str, str]]:
        """By protection and by the name of each language that runs here: what got through, empty where all attacks
        failed."""
        here: list[Language] = ["python", *(one for one in runtimes.NEEDED if not runtimes.missing(one))]
        return {
            name: {LANGUAGE_NAMES[language]: self.exposed(language).get(name, "") for language in here}
            for name in probe.GOT_THROUGH
        }

    def admit(self, language: Language = "python") -> None:
        """`SandboxError`, with the remedy, where a language's programs of strangers may not run here."""
        if self.unprotected or not (exposed := self.exposed(language)):
            return
        told = "; ".join(f"{name}: {why}" for name, why in exposed.items())
        raise SandboxError(
            f"a program that is not the kit's own cannot be isolated here "
            f"({LANGUAGE_NAMES[language]}: {told})\n{self.remedy()}"
        )

    def remedy(self) -> str:
        """What lets programs of strangers run here."""
        return f"{worker.remedy(self.refused)}; or set {UNPROTECTED}=1 to run them unprotected, at your own risk"

    def _attack(self, language: Language, code: str, arguments: tuple[str, ...]) -> Any:
        """What an attacking program returned; None where it came to nothing. One that is cut off shows nothing."""
        attack = Program(code, "f", arguments, source=Source.KIT)
        limits = replace(Limits(), memory_bytes=self.limits.memory_bytes)
        [done] = self._chunk([attack], language, self._command(language), limits)
        if done.outcome not in (Outcome.RETURNED, Outcome.RAISED, Outcome.DIED):
            raise SandboxError(f"what this machine protects cannot be tried: {done.detail}")
        return done.value

    def _command(self, language: Language) -> list[str]:
        return runtimes.command(language, self.limits.memory_bytes, self.backend)

    def _chunks(self, programs: Iterable[Program], language: Language) -> Iterator[list[Program]]:
        """Neighbours that go to a worker at once, counted as they pass; `SandboxError` at one that may not run here."""
        how = self.described()
        for source, group in itertools.groupby(programs, key=lambda program: program.source):
            if source is Source.STRANGER and not self._closed:
                self.admit(language)
            size = 1 if language == "java" else TOGETHER if source is Source.KIT else APART
            while chunk := list(itertools.islice(group, size)):
                _ran[language, source, how] += len(chunk)
                yield chunk

    def run(self, programs: Iterable[Program], *, language: Language = "python") -> Iterator[Execution]:
        """What became of each program, in order, as the results come.

        A stranger's runs in a process of its own; neighbours of the kit's own share one, which is several times as
        fast, because none of them patches what the next one uses.
        """
        command = self._command(language)
        waiting: deque[Future[list[Execution]]] = deque()
        with ThreadPoolExecutor(max_workers=self.workers) as pool:
            try:
                for chunk in self._chunks(programs, language):
                    waiting.append(pool.submit(self._chunk, chunk, language, command, self.limits))
                    while len(waiting) > AHEAD * self.workers:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _chunk(
        self, programs: Sequence[Program], language: Language, command: list[str], limits: Limits
    ) -> list[Execution]:
        prepared = [_prepared(program, language, limits) for program in programs]
        request = {
            "limits": asdict(limits),
            "command": command,
            "result": runtimes.RESULT[language],
            "spare": runtimes.spare_memory(language),
            "shared": all(program.source is Source.KIT for program in programs),
        }
        done = iter(self._ask([job for job in prepared if isinstance(job, dict)], request))
        return [job if isinstance(job, Execution) else next(done) for job in prepared]

    def _ask(self, jobs: list[dict[str, Any]], request: dict[str, Any], again: bool = True) -> list[Execution]:
        """Asks a worker. One that dies is replaced, and each program is run `again` by itself, once."""
        if not jobs or self._closed:
            return [Execution(Outcome.HARNESS_ERROR, detail="the executor was closed")] * len(jobs)
        mine = self._idle.get()
        try:
            if mine is None:
                mine = worker.Worker(self.backend, runtimes.executables(), self.packages)
                self._started.add(mine)
            done = mine.ask(
                request | {"programs": jobs}, within_s=len(jobs) * PATIENCE * (request["limits"]["wall_s"] + 1)
            )
            return [_execution(one) for one in done]
        except worker.WorkerDied as error:
            if mine is not None:
                mine.close()
                self._started.discard(mine)
                mine = None
            failed = Execution(Outcome.HARNESS_ERROR, detail=f"the worker died: {error}")
        finally:
            self._idle.put(mine)
        return [one for job in jobs for one in self._ask([job], request, again=False)] if again else [failed]


def told_row(row: Mapping[str, str]) -> str:
    """A row of the matrix in words."""
    return "; ".join(f"{language}: {through or 'attacks failed'}" for language, through in row.items())


def _prepared(program: Program, language: Language, limits: Limits) -> dict[str, Any] | Execution:
    """The job for a program, or what became of it already."""
    try:
        if language != "python":
            own = program.source is Source.KIT
            text = runtimes.program_text(program.code, program.function, program.arguments, language, limits.steps, own)
            return {"input": text}
        arguments = encode((list(program.arguments), dict(program.keywords)))
    except TooLarge:
        return Execution(Outcome.RAISED, detail="the arguments have too many elements")
    return {"source": program.code, "function": program.function, "arguments": arguments, "call": program.call}


def _execution(done: dict[str, str]) -> Execution:
    """What a child wrote, read with distrust."""
    if not done["line"]:
        ended = done["ended"]
        if ended in (Outcome.CPU_TIME, Outcome.WALL_TIME, Outcome.OUTPUT_LIMIT, Outcome.TAMPERED):
            return Execution(Outcome(ended), detail=ended)
        if ended == f"status {runtimes.OUT_OF_STEPS}":
            return Execution(Outcome.STEP_LIMIT, detail="rounds of loops and calls")
        return Execution(Outcome.DIED, detail=f"ended with {ended} before it returned")
    try:
        outcome, *rest = json.loads(done["line"])
        kind = Outcome(outcome)
        if kind in SEEN_FROM_OUTSIDE:
            raise ValueError(kind)
        if kind is Outcome.RETURNED:
            return Execution(kind, decode(rest[0]))
        return Execution(kind, detail=_told(": ".join(str(part) for part in rest if part)))
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        return Execution(Outcome.TAMPERED, detail=f"not a result: {type(error).__name__}")


def _told(detail: str) -> str:
    """Short, and without halves of surrogate pairs, which no file of results could hold."""
    return detail[:LONGEST_DETAIL].encode("utf-8", "backslashreplace").decode()
