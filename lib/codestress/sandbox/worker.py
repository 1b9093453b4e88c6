"""Workers for programs: a forkserver behind the best backend that starts here, one command line for each.

`bubblewrap` and `unshare` are Linux namespaces, `sandbox-exec` is macOS's Seatbelt, `docker` and `podman` are
containers, which are used only when CODESTRESS_SANDBOX names one; `none` leaves what a worker can put on by itself
(Landlock, seccomp, limits). Which of them hold is found out by attacks (`probe.py`), never assumed.
"""

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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codestress.errors import SandboxError
from codestress.paths import PACKAGE

CHOICE = "CODESTRESS_SANDBOX"
"""Environment variable: `docker` or `podman` asks for a container."""
CONTAINERS = ("docker", "podman")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl")
"""What interpreters read outside their own prefix; system folders that hold nothing of the user's."""
SEATBELT = "/usr/bin/sandbox-exec"
"""By its full path: what else is called so on PATH is none."""
IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
"""The image of a container: the version of Python that judges is the one that runs."""
START_S = 120.0
"""Long enough for numpy and scipy to be imported on a busy machine."""
ENVIRONMENT = {
    **{"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # a fork carries no threads over
}
ENGINE = ("PATH", "HOME", "SSH_AUTH_SOCK", "DOCKER_", "CONTAINER_HOST", "XDG_")
"""What the command of a container engine needs to find its daemon; programs in the container do not see it."""


def candidates() -> list[str]:
    """The backends to try on this machine, best first; `SandboxError` for a choice that is none."""
    choice = os.environ.get(CHOICE, "")
    if choice:
        if choice not in CONTAINERS:
            raise SandboxError(f"{CHOICE}={choice}: it takes {' or '.join(CONTAINERS)}; unset it for what is here")
        if shutil.which(choice) is None:
            raise SandboxError(f"{CHOICE}={choice}: {choice} is not on PATH; install it, or unset {CHOICE}")
        return [choice]
    found = ["bubblewrap"] if shutil.which("bwrap") else []
    found += ["unshare"] if sys.platform == "linux" else []
    found += ["sandbox-exec"] if sys.platform == "darwin" and Path(SEATBELT).exists() else []
    return [*found, "none"]


def remedy(refused: Mapping[str, str]) -> str:
    """What to do where programs of strangers cannot be isolated; `refused`: backends that did not start, and why."""
    ways = []
    if sys.platform == "linux" and "unshare" not in refused and shutil.which("bwrap") is None:
        ways.append("install bubblewrap (Debian: apt install bubblewrap)")
    elif sys.platform == "linux":
        ways.append("allow user namespaces, Landlock or seccomp to this user or container")
    ways.append(f"set {CHOICE}=docker (or podman) where a container engine runs and has the image {IMAGE}")
    return "; or ".join(ways)


def interpreter() -> str:
    """The real executable of Python, not a virtual environment's link to it."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def prefixes(executables: Iterable[str]) -> list[str]:
    """What to read for Python and for other interpreters, beside `SYSTEM`; never the home, or what it lies in."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = [interpreter(), str(Path(sys.executable).resolve())]
    for prefix in map(Path, (sys.base_prefix, sys.base_exec_prefix)):
        if Path.home().resolve().is_relative_to(prefix.resolve()):
            found += [str(path) for path in (prefix / "lib" / python, *prefix.glob("lib/libpython*")) if path.exists()]
        else:
            found.append(str(prefix))
    for executable in executables:
        path = Path(executable).resolve()
        home = path.parent.parent
        # A JDK reads its own folder; Node is one file.
        found.append(str(home if (home / "lib" / "modules").exists() else path))
    found += [str(path) for path in sorted(Path("/etc").glob("java-*"))]
    return list(dict.fromkeys(found))


def kit_folder(backend: str) -> str:
    """Where this package lies for what runs behind a backend."""
    return "/kit" if backend in ("bubblewrap", *CONTAINERS) else str(PACKAGE.parent)


def command(backend: str, executables: Iterable[str], packages: Sequence[str] = ()) -> list[str]:
    """The command line of a forkserver behind `backend`; `packages` are imported before anything is run."""
    kit = kit_folder(backend)
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")] if packages else []
    extra = list(dict.fromkeys([*prefixes(executables), *installed]))
    readable = [*SYSTEM, *([] if backend in CONTAINERS else extra), f"{kit}/codestress", "/dev/null", "/dev/urandom"]
    start = (
        f"import sys; sys.path.insert(0, {kit!r}); sys.path += {installed!r}; "
        f"from codestress.sandbox.forkserver import main; main({readable!r}, {backend!r}, {list(packages)!r})"
    )
    # -S and -P: no site-packages but for `packages`, nothing from the working folder, an emptied environment.
    python = ["-S", "-s", "-P", "-B", "-W", "ignore", "-c", start]
    if backend == "bubblewrap":
        return [*_bubblewrap(extra), interpreter(), *python]
    if backend == "sandbox-exec":
        return [SEATBELT, "-p", seatbelt_profile([*extra, f"{kit}/codestress"], executables), interpreter(), *python]
    if backend in CONTAINERS:
        return [*_container(backend), "python3", *python]
    return [interpreter(), *python]


def _bubblewrap(extra: Sequence[str]) -> list[str]:
    bound: list[str] = []
    for path in [*(p for p in SYSTEM if Path(p).exists()), *extra]:
        if Path(path).is_symlink() and path in SYSTEM:
            bound += ["--symlink", str(Path(path).readlink()), path]
        elif not any(path.startswith(f"{system}/") for system in SYSTEM):
            bound += ["--ro-bind", path, path]
    bound += ["--ro-bind", str(PACKAGE / "__init__.py"), "/kit/codestress/__init__.py"]
    bound += ["--ro-bind", str(PACKAGE / "sandbox"), "/kit/codestress/sandbox"]
    for device in ("/dev/null", "/dev/random", "/dev/urandom"):
        bound += ["--dev-bind", device, device]
    # Nobody changes modes of /, /dev or /proc, which would keep whatever comes next from starting.
    bound += ["--proc", "/proc", "--remount-ro", "/proc", "--remount-ro", "/"]
    return ["bwrap", "--unshare-all", "--cap-drop", "ALL", "--hostname", "sandbox", *bound, "--chdir", "/", "--"]


def seatbelt_profile(readable: Iterable[str], executables: Iterable[str]) -> str:
    """A Seatbelt profile: read what the runtimes need, fork and become an interpreter; nothing else.

    No network, no file is written (but /dev/null), no other program is started, no process outside is signalled or
    looked at, no service is asked.
    """
    folders = ["/usr/lib", "/usr/share/zoneinfo", "/System", "/Library/Apple", "/private/var/db/dyld", *readable]
    resolved = dict.fromkeys(str(Path(folder).resolve()) for folder in folders)
    devices = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
    programs = dict.fromkeys(str(Path(path).resolve()) for path in (interpreter(), *executables))
    # A framework's Python starts another executable of its own prefix.
    return f"""(version 1)
(deny default)
(allow process-fork)
(allow process-exec {_paths("literal", programs)} {_paths("subpath", [sys.base_prefix])})
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/") {_paths("literal", devices)} {_paths("subpath", resolved)})
(allow file-map-executable {_paths("subpath", resolved)})
(allow file-write-data (literal "/dev/null"))"""


def _paths(kind: str, paths: Iterable[str]) -> str:
    """Filters of a Seatbelt profile; backslashes and quotes in a path are escaped."""
    escaped = [path.replace("\\", "\\\\").replace('"', '\\"') for path in paths]
    return " ".join(f'({kind} "{path}")' for path in escaped)


def _container(engine: str) -> list[str]:
    """A container without network, read-only, without privileges, that ends with its standard input.

    The image is never fetched by the way: `docker pull IMAGE` does it, once. Only this package's sandbox lies in it.
    """
    options = ["--rm", "--interactive", "--pull", "never", "--network", "none", "--read-only", "--ipc", "none"]
    options += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534:65534"]
    options += ["--pids-limit", "64", "--memory", "4g", "--workdir", "/", "--env", "PYTHONHASHSEED=0"]
    for path in ("__init__.py", "sandbox"):
        # The option is a line of CSV: quoted, a field may hold commas.
        options += ["--mount", f'type=bind,"source={PACKAGE / path}",target=/kit/codestress/{path},readonly']
    return [engine, "run", *options, IMAGE]


class WorkerDied(Exception):
    """The forkserver ended or did not answer in time."""


class Worker:
    """One forkserver. Not for several threads at once."""

    def __init__(self, backend: str, executables: Iterable[str], packages: Sequence[str] = ()) -> None:
        engine = {name: value for name, value in os.environ.items() if name.startswith(ENGINE)}
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            command(backend, executables, packages),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=ENVIRONMENT | (engine if backend in CONTAINERS else {}),
            cwd="/",
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._jobs, self._replies = self.process.stdin, self.process.stdout
        try:
            hello = self._reply(time.monotonic() + START_S)
        except WorkerDied:
            self.close()
            raise
        self.layers: dict[str, str] = hello["layers"]
        self.python: str = hello["python"]

    def ask(self, job: dict[str, Any], within_s: float) -> list[dict[str, str]]:
        """What became of the job's programs; `WorkerDied` when nothing is heard of it for `within_s`."""
        try:
            self._jobs.write(json.dumps(job).encode() + b"\n")
            self._jobs.flush()
            while "waits" in (reply := self._reply(time.monotonic() + within_s)):
                pass  # a program has no processor: how busy the machine is says nothing of the worker
            done: list[dict[str, str]] = reply["done"]
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
        for pipe in (self._jobs, self._replies):
            with contextlib.suppress(OSError):  # what was not written yet
                pipe.close()

    def said(self) -> str:
        """The last lines that it wrote to its standard error."""
        self.log.seek(0)
        return " ".join(self.log.read().decode(errors="replace").strip().splitlines()[-3:])

    def _reply(self, deadline: float) -> dict[str, Any]:
        reply = bytearray()
        while not reply.endswith(b"\n"):
            if not select.select([self._replies], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise WorkerDied("no answer in time")
            part = os.read(self._replies.fileno(), 1 << 20)
            if not part:
                raise WorkerDied(f"it ended {self.said()}".strip())
            reply += part
        found: dict[str, Any] = json.loads(reply.splitlines()[-1])
        return found


def start(executables: Iterable[str], packages: Sequence[str] = ()) -> tuple[str, Worker, dict[str, str]]:
    """The best backend that starts here, a worker behind it, and why better ones did not start, by name."""
    chosen = list(executables)
    if packages and candidates()[0] in CONTAINERS:
        raise SandboxError(
            f"{', '.join(packages)}: not in a container; unset {CHOICE} for what needs packages (the course)"
        )
    refused: dict[str, str] = {}
    for backend in candidates():
        try:
            return backend, Worker(backend, chosen, packages), refused
        except (WorkerDied, OSError) as error:
            refused[backend] = str(error)
    hint = f"; docker pull {IMAGE} fetches the image, or unset {CHOICE}" if set(refused) & set(CONTAINERS) else ""
    raise SandboxError(f"no worker for programs starts here ({'; '.join(map(': '.join, refused.items()))}){hint}")
