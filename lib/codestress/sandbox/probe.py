"""What is protected where programs run: shown by attacks that must fail, never by what a backend promises.

Files: no file outside is read or written. Network: nothing is reached, by TCP, UDP or a Unix socket. Processes: none is
started, none outside is killed. That nothing got through is seen from outside, not believed from the program.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROTECTIONS = ("files", "network", "processes")

FILES = """
def f(secret, mark):
    try:
        with open(mark, "w") as file:
            file.write("x")
    except OSError:
        pass
    with open(secret) as file:
        return file.read()
"""
NETWORK = """
import socket
def f(tcp, udp, unix):
    for family, kind, address in (("INET", "STREAM", tcp), ("INET", "DGRAM", udp), ("UNIX", "STREAM", unix)):
        try:
            with socket.socket(getattr(socket, "AF_" + family), getattr(socket, "SOCK_" + kind)) as one:
                one.settimeout(1)
                one.connect(address)
                one.send(b"x")
        except OSError:
            pass
"""
PROCESSES = """
import os
def f(victim):
    done = []
    try:
        os.kill(victim, 9)
        done.append("a process outside was killed")
    except OSError:
        pass
    try:
        started = os.fork()
        if not started:
            os._exit(0)
        os.waitpid(started, 0)
        done.append("a process was started")
    except OSError:
        pass
    return done
"""
KILLED = "a process outside was killed"

Run = Callable[[str, tuple[Any, ...]], Any]
"""Runs a Python source's `f` with arguments, as a stranger's program would be; what it returned, or None."""


def unprotected(run: Run) -> dict[str, str]:
    """What got through, by protection; what is protected is not in it."""
    with tempfile.TemporaryDirectory(prefix="codestress-probe-") as folder:
        attacks = {"files": _files, "network": _network, "processes": _processes}
        found = {name: attacks[name](run, Path(folder)) for name in PROTECTIONS}
    return {name: why for name, why in found.items() if why}


def _files(run: Run, folder: Path) -> str:
    secret, mark = folder / "secret", folder / "mark"
    content = secrets.token_hex(8)
    secret.write_text(content, encoding="utf-8")
    read = run(FILES, (str(secret), str(mark))) == content
    return " and ".join(["a file outside was read"] * read + ["a file was written"] * mark.exists())


def _network(run: Run, folder: Path) -> str:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
    ):
        udp.bind(("127.0.0.1", 0))
        local = ""
        with contextlib.suppress(OSError):  # a path that is too long: the other two tell
            local = str(folder / "s")
            unix.bind(local)
            unix.listen()
        run(NETWORK, (tcp.getsockname(), udp.getsockname(), local))
        came = []
        for name, server in (("TCP", tcp), ("UDP", udp), ("a Unix socket", unix)):
            server.setblocking(False)
            with contextlib.suppress(OSError):
                if server is udp:
                    server.recv(1)
                else:
                    server.accept()[0].close()
                came.append(name)
    return f"reached by {', '.join(came)}" if came else ""


def _processes(run: Run, _folder: Path) -> str:
    with subprocess.Popen([shutil.which("sleep") or "/bin/sleep", "60"]) as victim:
        said = run(PROCESSES, (victim.pid,))
        done = [one for one in said if isinstance(one, str)] if isinstance(said, list) else []
        # A number of another namespace is another process: what the program says counts only with the victim's end.
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.wait(1 if KILLED in done else 0.05)
        if victim.returncode is None:
            done = [one for one in done if one != KILLED]
        elif KILLED not in done:
            done.append(KILLED)
        victim.kill()
    return " and ".join(done)
