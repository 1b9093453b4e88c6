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

START_S = 120.0
"""Long enough for numpy and scipy to be imported on a busy machine."""
ENVIRONMENT = {
    **{"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    **{"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},  # a fork carries no threads over
}
ENGINE = ("PATH", "HOME", "SSH_AUTH_SOCK", "DOCKER_", "CONTAINER_HOST", "XDG_")
"""What the command of a container engine needs to find its daemon; programs in the container do not see it."""


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
        """What became of the job's programs; `WorkerDied` when there is no answer within `within_s`."""
        deadline = time.monotonic() + within_s
        try:
            self._jobs.write(json.dumps(job).encode() + b"\n")
            self._jobs.flush()
            done: list[dict[str, str]] = self._reply(deadline)["done"]
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
        found: dict[str, Any] = json.loads(reply)
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
