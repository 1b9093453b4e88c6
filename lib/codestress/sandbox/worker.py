"""Starts a forkserver behind the best backend that starts here, and speaks with it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import Any

from codestress.errors import SandboxError
from codestress.sandbox.backends import CHOICE, CONTAINERS, IMAGE, candidates, command

START_S = 30.0
ENVIRONMENT = {
    **{"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # a fork carries no threads over
}

ENGINE = (
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "CONTAINER_HOST",
    "XDG_RUNTIME_DIR",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""What the command of a container engine needs to find its daemon; programs in the container do not see it."""


class WorkerDied(Exception):
    """The forkserver ended or did not answer in time."""


class Worker:
    """One forkserver. Not for several threads at once."""

    def __init__(self, backend: str, executables: Iterable[str], packages: Sequence[str] = ()) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            command(backend, executables, packages),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=ENVIRONMENT
            | {name: os.environ[name] for name in ENGINE if backend in CONTAINERS and name in os.environ},
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        try:
            hello = self._read(time.monotonic() + START_S)
        except WorkerDied as error:
            self.close()
            raise WorkerDied(f"{error} {self.said()}".strip()) from None
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
