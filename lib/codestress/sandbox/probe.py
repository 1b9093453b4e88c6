"""A probe of the sandbox's protection, with attacks that must fail; a backend's promise
is never enough.

Files: no outside file is read, written or changed in its mode. Network: nothing is
reached, over TCP, UDP or a Unix socket. Processes: no process is started, and no
outside process is killed. Each language attacks with its own means. The failure of an
attack is observed from outside. A program's own report counts only if it says that an
attack succeeded.
"""

import contextlib
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from codestress.types import Language

FOLDER = Path(__file__).parent
ATTACKS: dict[Language, str] = {
    "python": (FOLDER / "attack.txt").read_text("utf-8"),
    "javascript": (FOLDER / "attack.js").read_text("utf-8"),
}
"""Attacking program of each language."""
GOT_THROUGH = {
    "files": ("read", "written", "mode", "device"),
    "network": ("tcp", "udp", "unix"),
    "processes": ("killed", "started"),
}
"""Names of the attacks, by the protection that they attack.

Files: an outside file is read, a file is written, or the mode of a file or device is
changed. Network: a server is reached over TCP, UDP or a Unix socket. Processes: an
outside process is killed, or a process is started.
"""
Run = Callable[[str, tuple[str, ...]], object]
"""A function that runs a program's function `f` with arguments in the sandbox, and
returns its value or None."""


def unprotected(run: Run, language: Language) -> dict[str, str]:
    """Return a dict from protection (files, network, processes) to the names of the
    attacks against programs of `language` that succeeded.

    Protections that hold are left out. `run` runs an attacking program in the sandbox
    and returns its value.
    """
    with tempfile.TemporaryDirectory(prefix="codestress-probe-") as folder:
        through = set(_attack(run, language, Path(folder)))
    exposed = {}
    for protection, attacks in GOT_THROUGH.items():
        if won := [attack for attack in attacks if attack in through]:
            exposed[protection] = ", ".join(won)
    return exposed


def _attack(run: Run, language: Language, folder: Path) -> Iterator[str]:
    """Attack in `language` and yield the names of the attacks (`GOT_THROUGH`) that
    succeeded; `folder`, outside the sandbox, gets the file that must not be read."""
    secret, mark, path = folder / "secret", folder / "mark", folder / "s"
    content = secrets.token_hex(8)
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
        servers = {tcp: "tcp", udp: "udp"}
        # If the path is too long for a Unix socket, only TCP and UDP are attacked.
        with contextlib.suppress(OSError):
            unix.bind(str(path))
            unix.listen()
            servers[unix] = "unix"
        ports = [server.getsockname()[1] for server in (tcp, udp)]
        targets = (secret, mark, *ports, path, victim.pid)
        reply = run(ATTACKS[language], tuple(map(str, targets)))
        claimed = set(map(str, reply)) if isinstance(reply, list) else set()
        # In its own namespace the program may kill another process with the victim's id.
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.wait(1 if "killed" in claimed else 0.05)
            yield "killed"
        for server in select.select(servers, [], [], 0)[0]:
            yield servers[server]
    if f"read {content}" in claimed:
        yield "read"
    if mark.exists():
        yield "written"
    if secret.stat().st_mode & 0o777 != 0o644:
        yield "mode"
    yield from claimed & {"device", "started"}
