"""Starts a forkserver behind the strongest walls that this machine has, and speaks with it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codestress.errors import SandboxError
from codestress.paths import PACKAGE

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl")
"""What interpreters read outside their own prefix; system folders that hold nothing of the user's."""
WALLS = ("bubblewrap", "unshare", "none")
"""Best first."""
START_S = 30.0
ENVIRONMENT = {
    **{"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # a fork carries no threads over
}


class WorkerDied(Exception):
    """The forkserver ended or did not answer in time."""


def prefixes(executables: Iterable[str]) -> list[str]:
    """Folders to read for Python and for other interpreters, beside `SYSTEM`."""
    found = [sys.base_prefix, sys.base_exec_prefix, str(Path(sys.executable).resolve().parent)]
    for executable in executables:
        path = Path(executable).resolve()
        found.append(str(path.parent.parent if path.parent.name == "bin" else path.parent))
    found += [str(path) for path in sorted(Path("/etc").glob("java-*"))]
    return list(dict.fromkeys(found))


def interpreter() -> str:
    """The real executable of Python, not a virtual environment's link to it."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def kit_folder(walls: str) -> str:
    """Where this package lies for what runs behind `walls`."""
    return "/kit" if walls == "bubblewrap" else str(PACKAGE.parent)


def command(walls: str, executables: Iterable[str], packages: Sequence[str] = ()) -> list[str]:
    """The command line of a forkserver behind `walls`; `packages` are imported before anything is run."""
    kit = kit_folder(walls)
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")] if packages else []
    extra = list(dict.fromkeys([*prefixes(executables), *installed]))
    readable = [*SYSTEM, *extra, f"{kit}/codestress", "/dev/null", "/dev/urandom"]
    start = (
        f"import sys; sys.path.insert(0, {kit!r}); sys.path += {installed!r}; "
        f"from codestress.sandbox.forkserver import main; main({readable!r}, {walls!r}, {list(packages)!r})"
    )
    # -S and -P: no site-packages but for `packages`, nothing from the working folder, an emptied environment.
    python = [interpreter(), "-S", "-s", "-P", "-B", "-W", "ignore", "-c", start]
    if walls != "bubblewrap":
        return python
    bound: list[str] = []
    for path in [*(p for p in SYSTEM if Path(p).exists()), *extra]:
        if Path(path).is_symlink() and path in SYSTEM:
            bound += ["--symlink", str(Path(path).readlink()), path]
        elif not any(path.startswith(f"{system}/") for system in SYSTEM):
            bound += ["--ro-bind", path, path]
    inside = PACKAGE / "sandbox"
    bound += ["--ro-bind", str(PACKAGE / "__init__.py"), "/kit/codestress/__init__.py"]
    bound += ["--ro-bind", str(inside), "/kit/codestress/sandbox"]
    options = ["--unshare-all", "--cap-drop", "ALL", "--hostname", "sandbox"]
    return ["bwrap", *options, *bound, "--proc", "/proc", "--dev", "/dev", "--chdir", "/", "--", *python]


class Worker:
    """One forkserver. Not for several threads at once."""

    def __init__(self, walls: str, executables: Iterable[str], packages: Sequence[str] = ()) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            command(walls, executables, packages),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        try:
            hello = self._read(time.monotonic() + START_S)
        except WorkerDied:
            self.close()
            raise
        self.layers: dict[str, str] = hello["layers"]
        self.python: str = hello["python"]

    def ask(self, job: dict[str, Any], within_s: float) -> list[dict[str, str]]:
        """What became of the job's programs; `WorkerDied` when there is no answer within `within_s`."""
        content = json.dumps(job).encode()
        deadline = time.monotonic() + within_s
        try:
            self._write(len(content).to_bytes(8, "big") + content)
            done: list[dict[str, str]] = self._read(deadline)["done"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WorkerDied(str(error)) from None
        if len(done) != len(job["programs"]):
            raise WorkerDied(f"{len(done)} results for {len(job['programs'])} programs")
        return done

    def close(self) -> None:
        """Kills the forkserver and all that runs in it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()

    def said(self) -> str:
        """The last lines that it wrote to its standard error."""
        self.log.seek(0)
        return " ".join(self.log.read().decode(errors="replace").strip().splitlines()[-3:])

    def _write(self, content: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(content)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def _read(self, deadline: float) -> dict[str, Any]:
        head = self._exactly(8, deadline)
        reply: dict[str, Any] = json.loads(self._exactly(int.from_bytes(head, "big"), deadline))
        return reply

    def _exactly(self, count: int, deadline: float) -> bytes:
        assert self.process.stdout is not None
        parts = []
        descriptor = self.process.stdout.fileno()
        while count:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise WorkerDied("no answer in time")
            part = os.read(descriptor, min(count, 1 << 20))
            if not part:
                raise WorkerDied("it ended")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def start(executables: Iterable[str], packages: Sequence[str] = ()) -> tuple[str, Worker]:
    """A worker behind the best walls that hold here, and their name."""
    chosen = list(executables)
    said = []
    for walls in WALLS:
        if walls == "bubblewrap" and shutil.which("bwrap") is None:
            said.append("bubblewrap: not installed")
            continue
        if walls == "unshare" and sys.platform != "linux":
            continue
        try:
            return walls, Worker(walls, chosen, packages)
        except (WorkerDied, OSError) as error:
            said.append(f"{walls}: {error}")
    raise SandboxError(f"no worker for programs starts here ({'; '.join(said)})")
