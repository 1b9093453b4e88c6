"""What is protected where programs run: shown by attacks that must fail, never by what a backend promises.

Files: none outside is read, written or changed in its mode. Network: nothing is reached, by TCP, UDP or a Unix socket.
Processes: none is started, none outside is killed. Each language attacks with what it has. That nothing got through is
seen from outside; what a program says of itself counts only where it says that something did.
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

ATTACKS: dict[Language, str] = {
    "python": """
import os, socket
def f(secret, mark, tcp, udp, unix, victim):
    done = []
    def tried(name, attempt):
        try:
            done.append(f"{name}{attempt() or ''}")
        except Exception:
            pass
    def send(family, kind, address):
        with socket.socket(family, kind) as one:
            one.settimeout(1)
            one.connect(address)
            one.send(b"x")
    def start():
        started = os.fork()
        if not started:
            os._exit(0)
        os.waitpid(started, 0)
    tried("read ", lambda: open(secret).read())
    tried("written", lambda: open(mark, "w").close())
    tried("mode", lambda: os.chmod(secret, 0o640))
    tried("device", lambda: os.chmod("/dev/null", 0o666))
    tried("tcp", lambda: send(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(tcp))))
    tried("udp", lambda: send(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(udp))))
    tried("unix", lambda: send(socket.AF_UNIX, socket.SOCK_STREAM, unix))
    tried("killed", lambda: os.kill(int(victim), 9))
    tried("started", start)
    return done
""",
    "javascript": """
function f(secret, mark, tcp, udp, unix, victim) {
  const done = [];
  const {require} = process.mainModule;
  const fs = require("node:fs");
  function tried(name, attempt) {
    try { done.push(name + (attempt() ?? "")); } catch {}
  }
  function socket(kind, wrap, request, ...address) {
    const binding = process.binding(kind + "_wrap");
    const made = new binding[wrap](binding.constants?.SOCKET);
    if (request) return void made.connect(new binding[request](), ...address);
    made.connect(...address);
    made.send(new binding.SendWrap(), [Buffer.from("x")], 1, false);
  }
  tried("read ", () => fs.readFileSync(secret, "utf8"));
  tried("written", () => fs.writeFileSync(mark, "x"));
  tried("mode", () => fs.chmodSync(secret, 0o640));
  tried("device", () => fs.chmodSync("/dev/null", 0o666));
  tried("tcp", () => socket("tcp", "TCP", "TCPConnectWrap", "127.0.0.1", Number(tcp)));
  tried("udp", () => socket("udp", "UDP", "", "127.0.0.1", Number(udp)));
  tried("unix", () => socket("pipe", "Pipe", "PipeConnectWrap", unix));
  tried("killed", () => void process.kill(Number(victim), "SIGKILL"));
  tried("started", () => { if (!require("node:child_process").spawnSync("/bin/true").pid) throw 0; });
  return done;
}
""",
    "java": """
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
class Attack {
  interface Attempt { String make() throws Throwable; }
  static void tried(String name, Attempt attempt) {
    try { System.out.println(name + attempt.make()); } catch (Throwable refused) { }
  }
  static String mode(String path, String mode) throws Throwable {
    Files.setPosixFilePermissions(Path.of(path), PosixFilePermissions.fromString(mode));
    return "";
  }
  static String send(SocketAddress address) throws Throwable {
    try (SocketChannel one = SocketChannel.open(address)) { return ""; }
  }
  public static void main(String[] a) {
    InetAddress here = InetAddress.getLoopbackAddress();
    tried("read ", () -> Files.readString(Path.of(a[0])));
    tried("written", () -> Files.writeString(Path.of(a[1]), "x").toString());
    tried("mode", () -> mode(a[0], "rw-r-----"));
    tried("device", () -> mode("/dev/null", "rw-rw-rw-"));
    tried("tcp", () -> send(new InetSocketAddress(here, Integer.parseInt(a[2]))));
    tried("udp", () -> {
      try (DatagramChannel one = DatagramChannel.open(StandardProtocolFamily.INET)) {
        return "" + one.send(ByteBuffer.wrap(new byte[1]), new InetSocketAddress(here, Integer.parseInt(a[3])));
      }
    });
    tried("unix", () -> send(UnixDomainSocketAddress.of(a[4])));
    tried("killed", () -> "" + ProcessHandle.of(Long.parseLong(a[5])).get().destroyForcibly());
    tried("started", () -> "" + new ProcessBuilder("/bin/true").start().waitFor());
  }
}
""",
}
GOT_THROUGH = {
    "files": {
        "read": "a file outside was read",
        "written": "a file was written",
        "mode": "a file's mode was changed",
        "device": "a device's mode was changed",
    },
    "network": {"tcp": "reached by TCP", "udp": "reached by UDP", "unix": "reached by a Unix socket"},
    "processes": {"killed": "a process outside was killed", "started": "a process was started"},
}
"""What is told of an attack that got through, by what it attacks."""
Run = Callable[[str, tuple[str, ...]], object]
"""Runs a source's `f` (Java: its `main`) with arguments as a program is run; what it returned, or None."""


def unprotected(run: Run, language: Language = "python") -> dict[str, str]:
    """What got through, by protection; what is protected is not in it."""
    with tempfile.TemporaryDirectory(prefix="codestress-probe-") as folder:
        through = set(_attack(run, language, Path(folder)))
    told = {name: [why for one, why in ways.items() if one in through] for name, ways in GOT_THROUGH.items()}
    return {name: ", ".join(ways) for name, ways in told.items() if ways}


def _attack(run: Run, language: Language, folder: Path) -> Iterator[str]:
    """Names of the attacks that got through."""
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
        with contextlib.suppress(OSError):  # a path that is too long: the other two tell
            unix.bind(str(folder / "s"))
            unix.listen()
        ports = (str(tcp.getsockname()[1]), str(udp.getsockname()[1]), str(folder / "s"))
        said = run(ATTACKS[language], (str(secret), str(mark), *ports, str(victim.pid)))
        lines = said.splitlines() if isinstance(said, str) else said if isinstance(said, list) else []
        claimed = {str(line).partition(" ")[0]: str(line).partition(" ")[2] for line in lines}
        # A number of another namespace is another process: what the program says counts only with the victim's end.
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.wait(1 if any(name.startswith("killed") for name in claimed) else 0.05)
        for name, server in (("tcp", tcp), ("udp", udp), ("unix", unix)):
            server.setblocking(False)
            with contextlib.suppress(OSError):
                if server is udp:
                    server.recv(1)
                else:
                    server.accept()[0].close()
                yield name
        yield from ["killed"] * (victim.returncode is not None)
    yield from ["read"] * (claimed.get("read") == content) + ["written"] * mark.exists()
    yield from ["mode"] * (secret.stat().st_mode & 0o777 != 0o644)
    yield from (name for name in ("device", "started") if any(one.startswith(name) for one in claimed))
