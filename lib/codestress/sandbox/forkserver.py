"""The forkserver: a process inside the sandbox that forks a child for each program,
watches the child, and passes its output to the executor.

The process imports little on purpose: a fork takes longer the more memory the process
holds. The forkserver exchanges lines of JSON with the executor over its standard input
and output. The forkserver counts the lines of a child's output and does not interpret
the lines otherwise.
"""

import contextlib
import gc
import importlib
import itertools
import json
import os
import select
import signal
import socket
import sys
import time
from functools import partial
from typing import Any

from . import child, layers
from .data import OUTPUT_BYTES

RESULT = 3
"""Number of the descriptor to which a child writes results."""
Result = tuple[str, str]
"""Pair for a program: the line that its child wrote, without the token, or empty; and
how the child ended, or empty if there is a line."""
READY = 255
"""Number of a child's descriptor that stays open until its program begins: a child that
cannot start writes the reason to it."""


def main(readable: list[str], backend: str, packages: list[str]) -> None:
    """Answer jobs from standard input, each a line of JSON, with one line each, until
    the input ends. The first line of output says which layers of protection hold.

    `readable` are the paths that programs may read. `backend` names what isolates this
    process: a command around it, `unshare` (namespaces, entered here) or `none`.
    `packages` are imported at the start, so that programs need not import them.
    """
    # The executor decides when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for package in packages:
        importlib.import_module(package)
    if backend == "unshare":
        layers.enter_namespaces()
    layers.drop_privileges()
    around = "seatbelt" if backend == "sandbox-exec" else "namespaces"
    server = Server(readable, {around: backend} if backend != "none" else {})
    gc.collect()
    gc.freeze()
    send(server.layers)
    for line in sys.stdin.buffer:
        send(server.serve(json.loads(line)))


def send(reply: object) -> None:
    print(json.dumps(reply), flush=True)


class Server:
    """A server that runs one job after the other.

    The server's `layers` says which layers of protection hold; each layer is tried when
    the server is made.
    """

    def __init__(self, readable: list[str], held: dict[str, str]) -> None:
        landlock = partial(layers.landlock, readable)
        self.landlock = layers.holding(landlock, partial(os.scandir, "/"))
        self.filter = layers.holding(layers.call_filter, socket.socket)
        self.layers = {
            "namespaces": "",
            "landlock": "read-only" if self.landlock else "",
            "seccomp": os.uname().machine if self.filter else "",
            "limits": "rlimits",
        } | held

    def serve(self, job: dict[str, Any]) -> list[Result]:
        """Return the result of each program of `job`."""
        programs = job["programs"]
        done: list[Result] = []
        while len(done) < len(programs):
            end = None if programs[0]["own"] else len(done) + 1
            done += self.fork(programs[len(done) : end], job)
        return done

    def fork(self, programs: list[dict[str, Any]], job: dict[str, Any]) -> list[Result]:
        """Run `programs` of `job` in one child, which has the limits of one program, and return the
        results of the programs that ended, at least one.

        If the job has a `command` (Node), the child becomes that interpreter, with the programs on
        its standard input. A child that cannot start raises `ChildProcessError` in this process.
        This process then ends, so that the fault is not counted against a program.
        """
        token = os.urandom(8).hex()
        reader, writer = os.pipe()
        # The child can open this end of its pipe and read a result before this process does.
        os.set_blocking(reader, False)
        source, feed = os.pipe()
        failed, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(ready, READY, inheritable=False)
                self.become_child(programs, job, token, source, writer)
            except BaseException as error:
                os.write(READY, f"{type(error).__name__}: {error}"[:500].encode())
            finally:
                os._exit(71)
        for descriptor in (writer, source, ready):
            os.close(descriptor)
        try:
            if why := os.read(failed, 500):
                raise ChildProcessError(why.decode(errors="replace"))
            # An interpreter that has ended breaks the pipe; `watch` reports its end.
            with contextlib.suppress(BrokenPipeError), os.fdopen(feed, "w") as pipe:
                if job["command"]:
                    pipe.write("\n".join([token, *map(json.dumps, programs)]))
            written, ended = watch(pid, reader, len(programs), job["limits"])
            return results(written, ended, len(programs), token)
        finally:
            os.close(reader)
            os.close(failed)

    def become_child(
        self,
        programs: list[dict[str, Any]],
        job: dict[str, Any],
        token: str,
        source: int,
        writer: int,
    ) -> None:
        """Apply the layers of protection to this process, a child, then run `programs`,
        or become the job's command (Node). Do not return.

        The command reads the programs from the descriptor `source`. Results go to the
        descriptor `writer`, each after `token`.
        """
        limits, command = job["limits"], job["command"]
        os.setpgid(0, 0)
        layers.die_with_parent()
        nothing = os.open(os.devnull, os.O_WRONLY)
        layers.limit(
            memory=limits["memory_bytes"] + job["spare"],
            cpu_s=limits["cpu_s"],
            runtime=bool(command),
        )
        if self.landlock:
            self.landlock()
        # Input, output, errors, and `RESULT`.
        for place, descriptor in enumerate((source, nothing, nothing, writer)):
            os.dup2(descriptor, place)
        os.closerange(RESULT + 1, READY)
        if command:
            layers.become(command, filtered=self.filter is not None)
        if self.filter:
            self.filter()
        os.close(READY)
        for program in programs:
            child.run_program(program, limits, token, RESULT)
        os._exit(0)


def watch(
    pid: int, reader: int, programs: int, limits: dict[str, Any]
) -> tuple[bytes, str]:
    """Read the output of the child `pid` from the descriptor `reader` until the child
    closes it (at the latest by its end), writes more lines than it has `programs`, or
    exceeds `limits`. Then kill the child's process group.

    Return the output, and how the child ended: as `end_of` says, or the reason why it
    was cut off. If the executor is gone, kill the child and end this process.
    """
    deadline = time.monotonic() + limits["wall_s"]
    written, lines, cut = bytearray(), 0, ""
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    # Standard input hangs up when the executor is gone.
    poll.register(0, 0)
    while not cut:
        events = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
        if 0 in events:
            kill(pid)
            os._exit(0)
        if not events:
            cut = "wall time"
            break
        try:
            part = os.read(reader, 65536)
        except BlockingIOError:
            continue
        if not part:
            break
        written += part
        lines += part.count(b"\n")
        if lines > programs:
            cut = "tampered"
        elif len(written) - written.rfind(b"\n") > OUTPUT_BYTES + 100:
            cut = "output limit"
    ended = end_of(pid, limits["cpu_s"])
    return bytes(written), cut or ended


def end_of(pid: int, cpu_s: int) -> str:
    """Kill the child `pid` with its group and return how it ended: `CPU time`, `status`
    with a number, or `signal` with a number.

    A child that already ends keeps its own status. No other process has its id before
    `wait4`.
    """
    kill(pid)
    _, status, usage = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    used_up = code == -signal.SIGKILL and usage.ru_utime + usage.ru_stime >= cpu_s
    if used_up or code == -signal.SIGXCPU:
        return "CPU time"
    return f"status {code}" if code >= 0 else f"signal {-code}"


def kill(pid: int) -> None:
    """Kill the child `pid` and its group.

    A process that is gone, or that may not be killed, does not raise an error.
    """
    for way in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            way(pid, signal.SIGKILL)


def results(written: bytes, ended: str, programs: int, token: str) -> list[Result]:
    """Return the result of each program with a line that begins with `token` in the
    child's output `written`.

    If no program has such a line, the list has one result for the first program, which
    says how the child `ended`, or `tampered` if the child wrote anything else. A later
    program that is cut off or tampers gets no result, and is run again as the first
    program of a new child.
    """
    mark = token.encode() + b" "
    *lines, rest = written.split(b"\n")
    torn = rest and ended.startswith("status")
    done = []
    for line in itertools.takewhile(lambda line: line.startswith(mark), lines):
        done.append((line[len(mark) :].decode("ascii", "replace"), ""))
    if torn or len(done) < len(lines) or len(lines) > programs:
        done, ended = done[: programs - 1], "tampered"
    return done or [("", ended)]
