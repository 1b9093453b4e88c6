"""Workers for programs: a forkserver behind the best backend that starts on this
machine, with one command line for each backend.

`bubblewrap` and `unshare` are Linux namespaces; `sandbox-exec` is macOS's Seatbelt.
`none` leaves only the layers that a worker applies to itself (Landlock, seccomp,
limits). Attacks (`probe.py`) show which layers hold; none is assumed.
"""

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

from .runtimes import executables

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/ssl",
)
"""Paths that interpreters read outside their own prefix: system folders without user
data."""
SEATBELT = "/usr/bin/sandbox-exec"
"""Full path of Seatbelt's command: another command of that name on PATH is not
Seatbelt's."""
START_S = 120.0
"""Seconds that a worker has to start: enough to import numpy and scipy on a busy
machine."""
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    # A fork carries no threads over.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def candidates() -> list[str]:
    """Return the backends to try on this machine, best first: names of commands that
    isolate a process, and `none` last."""
    usable = {
        "bubblewrap": shutil.which("bwrap"),
        "unshare": sys.platform == "linux",
        "sandbox-exec": sys.platform == "darwin" and Path(SEATBELT).exists(),
        "none": True,
    }
    return [backend for backend, exists in usable.items() if exists]


def interpreter() -> str:
    """Return the path of the real executable of this Python.

    In a virtual environment, this is the file to which the environment's link to Python
    leads.
    """
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def prefixes() -> list[str]:
    """Return the files and folders that Python and Node read in addition to `SYSTEM`,
    but never the home folder or a folder that contains it."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    paths = [interpreter(), str(Path(sys.executable).resolve())]
    for prefix in map(Path, (sys.base_prefix, sys.base_exec_prefix)):
        if Path.home().resolve().is_relative_to(prefix.resolve()):
            library = (prefix / "lib" / python, *prefix.glob("lib/libpython*"))
            paths += [str(path) for path in library if path.exists()]
        else:
            paths.append(str(prefix))
    return [*paths, *executables()]


def command(backend: str, packages: Sequence[str] = ()) -> list[str]:
    """Return the command line that starts a forkserver behind `backend`; the forkserver
    imports `packages` before it runs anything."""
    installed = []
    if packages:
        installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    # The sandbox is the one part of the kit that a worker imports.
    kit = [str(PACKAGE / "__init__.py"), str(PACKAGE / "sandbox")]
    extra = list(dict.fromkeys([*prefixes(), *installed, *kit]))
    readable = [*SYSTEM, "/dev/null", "/dev/urandom", *extra]
    start = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); sys.path += {installed!r}; "
        f"from codestress.sandbox.forkserver import main; main({readable!r}, {backend!r}, {list(packages)!r})"
    )
    # -S and -P: no site-packages but for `packages`, nothing from the working folder, an emptied environment.
    python = [interpreter(), "-S", "-s", "-P", "-B", "-W", "ignore", "-c", start]
    if backend == "bubblewrap":
        return [*_bubblewrap(extra), *python]
    if backend == "sandbox-exec":
        return [SEATBELT, "-p", seatbelt_profile(extra), *python]
    return python


def _bubblewrap(extra: Sequence[str]) -> list[str]:
    bound: list[str] = []
    for path in [*(p for p in SYSTEM if Path(p).exists()), *extra]:
        if Path(path).is_symlink() and path in SYSTEM:
            bound += ["--symlink", str(Path(path).readlink()), path]
        elif not any(path.startswith(f"{system}/") for system in SYSTEM):
            bound += ["--ro-bind", path, path]
    for device in ("/dev/null", "/dev/random", "/dev/urandom"):
        bound += ["--dev-bind", device, device]
    # No program may change the modes of /, /dev or /proc: later programs could not start.
    bound += ["--proc", "/proc", "--remount-ro", "/proc", "--remount-ro", "/"]
    options = "--unshare-all --cap-drop ALL --hostname sandbox"
    return ["bwrap", *options.split(), *bound, "--chdir", "/", "--"]


def seatbelt_profile(readable: Iterable[str]) -> str:
    """Return the text of a Seatbelt profile (macOS) that allows what programs need and
    denies everything else.

    A process may read below the `readable` paths and system libraries, see the metadata
    of any file, and fork. A process may also become an interpreter (Node, or a program
    of Python's prefix). Denied are network, writing files (except /dev/null), starting
    other programs, signalling or inspecting processes outside, and system services.
    """
    profile = Path(__file__).with_name("seatbelt.txt").read_text("utf-8")
    return profile.rstrip().format(
        programs=_paths("literal", [interpreter(), *executables()]),
        # A framework's Python starts another executable of its own prefix.
        python=_paths("subpath", [sys.base_prefix]),
        folders=_paths("subpath", readable),
    )


def _paths(kind: str, paths: Iterable[str]) -> str:
    """Return the filters of a Seatbelt profile for `paths`, links followed, joined by
    spaces.

    `kind` is `literal` (a file) or `subpath` (a folder, or a file). Backslashes and
    quotes in a path are escaped.
    """
    resolved = dict.fromkeys(str(Path(path).resolve()) for path in paths)
    quoted = [json.dumps(path, ensure_ascii=False) for path in resolved]
    return " ".join(f"({kind} {path})" for path in quoted)


class WorkerDied(Exception):
    """Raised by a worker whose forkserver ended, did not answer in time, or gave an
    invalid reply."""


class Worker:
    """A running forkserver (a process that forks a child for each program) behind one
    backend, for one thread at a time.

    Raises `WorkerDied` if the forkserver does not start in time, and `OSError` if its
    command cannot be run.
    """

    def __init__(self, backend: str, packages: Sequence[str] = ()) -> None:
        # Open as long as the worker runs.
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            command(backend, packages),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self._jobs, self._replies = self.process.stdin, self.process.stdout
        try:
            self.layers: dict[str, str] = self._reply(START_S)
        except WorkerDied:
            self.close()
            raise

    def ask(self, job: dict[str, Any], within_s: float) -> list[tuple[str, str]]:
        """Return the results of the programs of `job`, in order: for each the line that
        its child wrote, and how the child ended (`forkserver.Result`).

        Raises `WorkerDied` if the worker ends, gives an invalid reply, or is silent for
        `within_s` seconds.
        """
        try:
            self._jobs.write(json.dumps(job).encode() + b"\n")
            self._jobs.flush()
            return list(self._reply(within_s))
        except (OSError, ValueError) as error:
            raise WorkerDied(str(error)) from None

    def close(self) -> None:
        """Kill the forkserver and all its processes; nothing happens if they have
        ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self._jobs, self._replies):
            # Closing a pipe with unsent bytes fails.
            with contextlib.suppress(OSError):
                pipe.close()

    def _reply(self, within_s: float) -> Any:
        until = time.monotonic() + within_s
        line = bytearray()
        while not line.endswith(b"\n"):
            wait_s = max(0.0, until - time.monotonic())
            if not select.select([self._replies], [], [], wait_s)[0]:
                raise WorkerDied("no reply in time")
            part = os.read(self._replies.fileno(), 65536)
            if not part:
                self.log.seek(0)
                errors = self.log.read().decode(errors="replace").splitlines()[-3:]
                raise WorkerDied(" ".join(["process ended", *errors]))
            line += part
        return json.loads(line)


def start(packages: Sequence[str] = ()) -> tuple[str, Worker]:
    """Start a worker behind the best backend that starts; return the backend's name and
    the worker.

    `packages` are modules that programs may import. Raises `SandboxError` if no backend
    starts.
    """
    refused = []
    for backend in candidates():
        try:
            return backend, Worker(backend, packages)
        except (WorkerDied, OSError) as error:
            refused.append(f"{backend}: {error}")
    raise SandboxError(f"no sandbox starts on this machine ({'; '.join(refused)})")
