"""A probe of the sandbox's protection, by attacks that must fail, never by a backend's promise.

Files: no outside file is read, written or changed in its mode. Network: nothing is reached, by TCP,
UDP or a Unix socket. Processes: none is started, and none outside is killed. Each language attacks
with its own means. Failure of an attack is observed from outside; a program's own report counts
only where it says that an attack succeeded.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from codestress.types import Language

FILES: dict[Language, str] = {"python": "attack.txt", "javascript": "attack.js"}
ATTACKS = {
    name: Path(__file__).with_name(file).read_text("utf-8")
    for name, file in FILES.items()
}
"""Attacking program of each language."""
GOT_THROUGH = {
    "files": {
        "read": "a file outside was read",
        "written": "a file was written",
        "mode": "a file's mode was changed",
        "device": "a device's mode was changed",
    },
    "network": {
        "tcp": "reached by TCP",
        "udp": "reached by UDP",
        "unix": "reached by a Unix socket",
    },
    "processes": {
        "killed": "a process outside was killed",
        "started": "a process was started",
    },
}
"""Message for each attack that got through, by the protection that it attacks."""
Run = Callable[[str, tuple[str, ...]], object]
"""A function that runs a source's `f` with arguments as any program is run, and
returns its value or None."""


def unprotected(run: Run, language: Language = "python") -> dict[str, str]:
    """Returns the attacks against programs of `language` that got through, in words, by protection
    (files, network, processes); protections that hold are left out. `run` runs an attacking program
    in the sandbox and returns its value."""
    with tempfile.TemporaryDirectory(prefix="codestress-probe-") as folder:
        through = set(_attack(run, language, Path(folder)))
    told = {
        name: [why for one, why in ways.items() if one in through]
        for name, ways in GOT_THROUGH.items()
    }
    return {name: ", ".join(ways) for name, ways in told.items() if ways}


def _attack(run: Run, language: Language, folder: Path) -> Iterator[str]:
    """Runs the attacking program of `language` and yields the names of its attacks that got through
    (keys in `GOT_THROUGH`). `folder` is a folder outside the sandbox for the file that must not be
    read."""
    secret, mark, content = folder / "secret", folder / "mark", secrets.token_hex(8)
    secret.write_text(content, encoding="utf-8")
    secret.chmod(0o644)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as unix,
        subprocess.Popen([shutil.which("sleep") or "/bin/sleep", "60"]) as victim,
        contextlib.ExitStack() as at_end,
    ):
        at_end.callback(victim.kill)
        udp.bind(("127.0.0.1", 0))
        with contextlib.suppress(
            OSError
        ):  # a path that is too long: the other two tell
            unix.bind(str(folder / "s"))
            unix.listen()
        ports = (
            str(tcp.getsockname()[1]),
            str(udp.getsockname()[1]),
            str(folder / "s"),
        )
        said = run(ATTACKS[language], (str(secret), str(mark), *ports, str(victim.pid)))
        claimed = set(map(str, said)) if isinstance(said, list) else set()
        # A number of another namespace is another process: what the program says counts only with the victim's end.
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.wait(1 if "killed" in claimed else 0.05)
        for name, server in (("tcp", tcp), ("udp", udp), ("unix", unix)):
            server.setblocking(False)
            with contextlib.suppress(OSError):
                if server is udp:
                    server.recv(1)
                else:
                    server.accept()[0].close()
                yield name
        yield from ["killed"] * (victim.returncode is not None)
    yield from ["read"] * (f"read {content}" in claimed) + ["written"] * mark.exists()
    yield from ["mode"] * (secret.stat().st_mode & 0o777 != 0o644)
    yield from claimed & {"device", "started"}
