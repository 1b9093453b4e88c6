"""The process inside the walls that forks a child for each program, watches it, and hands on what it wrote.

Lean on purpose: forking costs what is resident. It speaks with the executor over its standard input and output in
frames of a length and JSON, and never reads what a child wrote beyond counting lines.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from typing import Any

from codestress.sandbox import child, layers, seccomp

RESULT = 3
"""The child's descriptor for what its programs return."""
TOKEN_BYTES = 8
BACKEND_LAYERS = {
    **{"bubblewrap": "namespaces", "unshare": "namespaces", "sandbox-exec": "seatbelt"},
    **{"docker": "container", "podman": "container"},
}
"""The layer that stands around when this process begins, by backend."""
SPARE_MEMORY = 64 << 20
"""Address space of the interpreter itself."""


def main(readable: list[str], backend: str, packages: list[str]) -> None:
    """Serves until standard input ends. `backend` names what stands around already, if anything.

    `packages` are imported here, so that programs need not.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the executor decides when to end
    for package in packages:
        importlib.import_module(package)
    if backend == "unshare":
        layers.enter_namespaces()
    layers_held = {BACKEND_LAYERS[backend]: backend} if backend in BACKEND_LAYERS else {}
    server = Server(readable, layers_held)
    layers.drop_privileges()
    gc.collect()
    gc.freeze()
    send({"layers": server.layers, "python": sys.version.split()[0]})
    while (job := receive()) is not None:
        send(server.serve(job))


class Server:
    """The layers that hold here, and one job after the other."""

    def __init__(self, readable: list[str], held: dict[str, str]) -> None:
        self.rules: int | None = None
        self.filters: dict[str, seccomp.Filter] = {}
        self.layers = {"namespaces": "", "landlock": "", "seccomp": "", "limits": "rlimits"} | held
        self.missing: dict[str, str] = {}
        self._probe_landlock(readable)
        self._probe_seccomp()
        self.layers |= {f"no {name}": why for name, why in self.missing.items()}

    def _probe_landlock(self, readable: list[str]) -> None:
        try:
            rules = layers.landlock_rules(readable)

            def apply() -> None:
                layers.no_new_privileges()
                layers.landlock(rules)

            why = layers.holds(apply, lambda: os.scandir("/"))
        except (OSError, AttributeError) as error:
            why = str(error)
        if why:
            self.missing["landlock"] = why
        else:
            self.rules = rules
            self.layers["landlock"] = "read-only"

    def _probe_seccomp(self) -> None:
        try:
            machine = layers.machine()
            filters = {
                "python": seccomp.prepared(seccomp.python_filter(machine)),
                "runtime": seccomp.prepared(seccomp.runtime_filter(machine)),
            }

            def apply() -> None:
                layers.no_new_privileges()
                layers.filter_calls(filters["python"])

            why = layers.holds(apply, layers.open_socket)
        except (OSError, AttributeError) as error:
            why = str(error)
        if why:
            self.missing["seccomp"] = why
        else:
            self.filters = filters
            self.layers["seccomp"] = machine

    def serve(self, job: dict[str, Any]) -> dict[str, Any]:
        """What became of each program of a job: the bytes it wrote (hexadecimal) and how its child ended."""
        programs, limits = job["programs"], job["limits"]
        done: list[dict[str, str]] = []
        while len(done) < len(programs):
            rest = programs[len(done) :] if job["together"] else programs[len(done) : len(done) + 1]
            done += self.fork(rest, limits, job["command"])
        return {"done": done}

    def fork(self, programs: list[dict[str, Any]], limits: dict[str, Any], command: list[str]) -> list[dict[str, str]]:
        """Runs programs in one child; at least the first of them comes to an end, one way or the other.

        With a `command` (Node, Java) the child becomes it, for one program on its standard input.
        """
        token = os.urandom(TOKEN_BYTES).hex()
        reader, writer = os.pipe()
        os.set_blocking(reader, False)  # the child can open its other end and take away what was announced
        source, feed = os.pipe() if command else (os.open(os.devnull, os.O_RDONLY), None)
        text = f"{token}\n{programs[0]['input']}".encode("utf-8", "surrogatepass") if command else b""
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reader)
                self.become_child(programs, limits, command, token, source, writer)
            finally:
                os._exit(71)
        os.close(writer)
        os.close(source)
        try:
            return watch(pid, reader, feed, text, len(programs), limits, token)
        finally:
            os.close(reader)

    def become_child(
        self,
        programs: list[dict[str, Any]],
        limits: dict[str, Any],
        command: list[str],
        token: str,
        source: int,
        writer: int,
    ) -> None:
        """In the child: closes what is not its own, puts on the layers, runs. `source` is its standard input."""
        os.setpgid(0, 0)
        layers.die_with_parent()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(source, 0)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        rules = -1 if self.rules is None else os.dup(self.rules)
        os.dup2(writer, RESULT)
        keep = os.dup2(rules, RESULT + 1, inheritable=False) if rules >= 0 else RESULT
        os.closerange(keep + 1, 256)
        memory = None if command else limits["memory_bytes"] + SPARE_MEMORY
        layers.limit(memory=memory, cpu_s=limits["cpu_s"], file_bytes=0, soft_only=len(programs) > 1)
        if sys.platform == "linux":
            layers.no_new_privileges()
        if rules >= 0:
            layers.landlock(keep)
            os.close(keep)
        if self.filters:
            layers.filter_calls(self.filters["runtime" if command else "python"])
        if command:
            os.execve(command[0], command, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nowhere"})
        child.run_programs(programs, limits, token, RESULT)


def watch(
    pid: int, reader: int, feed: int | None, text: bytes, programs: int, limits: dict[str, Any], token: str
) -> list[dict[str, str]]:
    """Reads until the child ends, writes too much or takes too long; then nothing of its group is left.

    Meanwhile `text` is written to `feed`, as the child takes it.
    """
    written = bytearray()
    lines = 0
    cut = ""
    deadline = time.monotonic() + limits["wall_s"]
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    poll.register(0, 0)  # reports when the executor is gone
    if feed is not None:
        os.set_blocking(feed, False)
        poll.register(feed, select.POLLOUT)
    while not cut:
        left = deadline - time.monotonic()
        events = poll.poll(left * 1000) if left > 0 else []
        if not events:
            cut = "wall time"
            break
        if any(descriptor == 0 for descriptor, _ in events):
            kill_group(pid)
            os._exit(0)
        if feed is not None and any(descriptor == feed for descriptor, _ in events):
            text = _feed(feed, text)
            if not text:
                poll.unregister(feed)
                os.close(feed)
                feed = None
        try:
            part = os.read(reader, 65536)
        except BlockingIOError:
            continue
        if not part:
            break
        written += part
        new = part.count(b"\n")
        if new:
            lines += new
            if lines < programs:
                deadline = time.monotonic() + limits["wall_s"]
        if len(written) - written.rfind(b"\n") > limits["output_bytes"] + 100 or lines > programs:
            cut = "output limit" if lines <= programs else "tampered"
    if feed is not None:
        os.close(feed)
    ended: tuple[int, float] | None = None
    # It closed the descriptor; it has until the deadline to end.
    while not cut and (ended := _reaped(pid)) is None:
        if time.monotonic() > deadline:
            cut = "wall time"
        time.sleep(0.00005)
    kill_group(pid)
    status, seconds = ended or _waited(pid, 0)[1:]
    told = cut or _ended(status, seconds, limits["cpu_s"])
    return _split(bytes(written), programs, told, token)


def _feed(feed: int, text: bytes) -> bytes:
    """What is left of a text after the pipe took what it takes; nothing where the other end is closed."""
    try:
        return text[os.write(feed, text[:65536]) :]
    except BlockingIOError:
        return text
    except OSError:
        return b""


def _reaped(pid: int) -> tuple[int, float] | None:
    """Status and CPU seconds of a child that has ended, else None. Where the system can (Linux), what it may have
    started is killed while its number is still taken."""
    if hasattr(os, "waitid"):
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        kill_group(pid)
        return _waited(pid, 0)[1:]
    found, status, seconds = _waited(pid, os.WNOHANG)
    return (status, seconds) if found else None


def _waited(pid: int, options: int) -> tuple[int, int, float]:
    found, status, usage = os.wait4(pid, options)
    return found, status, usage.ru_utime + usage.ru_stime


def _ended(status: int, seconds: float, cpu_s: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU or (number == signal.SIGKILL and seconds >= cpu_s):
            return "CPU time"
        return f"signal {number}"
    return f"status {os.WEXITSTATUS(status)}"


def _split(written: bytes, programs: int, ended: str, token: str) -> list[dict[str, str]]:
    """An entry for each line that begins with the token; one without a line for the program that was cut off."""
    mark = token.encode() + b" "
    lines = written.split(b"\n")
    done: list[dict[str, str]] = []
    for line in lines[:-1][:programs]:
        if not line.startswith(mark):
            return [*done, {"line": "", "ended": "tampered"}]
        done.append({"line": line[len(mark) :].decode("ascii", "replace"), "ended": ""})
    if ended == "tampered" or (lines[-1] and ended.startswith("status")):
        return [*done[:-1], {"line": "", "ended": "tampered"}]
    stopped = done and done[-1]["line"].startswith('["step limit"')
    if len(done) < programs and not stopped:
        done.append({"line": "", "ended": ended})
    return done


def kill_group(pid: int) -> None:
    """Kills the child and whatever it may have started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def receive() -> dict[str, Any] | None:
    """The next job; None when the executor has closed the pipe."""
    head = _read(8)
    if len(head) < 8:
        return None
    job: dict[str, Any] = json.loads(_read(int.from_bytes(head, "big")))
    return job


def send(reply: dict[str, Any]) -> None:
    content = json.dumps(reply).encode()
    content = len(content).to_bytes(8, "big") + content
    while content:
        content = content[os.write(1, content) :]


def _read(count: int) -> bytes:
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
