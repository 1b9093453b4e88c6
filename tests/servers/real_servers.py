"""Servers, checkpoints and studies of the checks with real servers (`make test-vllm`)."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codestress.inference.engines.vllm import server_command
from codestress.inference.registry import ModelEntry
from conftest import ran

HERE = Path(__file__).parent
PYTHON = os.environ.get("CODESTRESS_VLLM_PYTHON", "")
WAIT_S = 3600
"""Seconds after which a process is thought to hang; other work may slow it many times."""
RAY_STARTS = 10
"""Ray gives up after 30 seconds; on a busy machine it takes longer to start."""

needs_vllm = pytest.mark.skipif(
    not PYTHON, reason="real servers are checked by `make test-vllm`"
)


@dataclass(frozen=True)
class Checkpoint:
    folder: Path

    def row(self, engine: str, **settings: Any) -> dict[str, Any]:
        """Return a registry row; its id, and so every key, is the same for all engines."""
        return {"engine": engine, "id": str(self.folder), "settings": settings}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("checkpoint") / "tiny"
    lines_of(ran(PYTHON, HERE / "make_checkpoint.py", folder, env=environment()))
    return Checkpoint(folder)


def lines_of(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a command printed; it must not have failed."""
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout.splitlines()


def environment(**more: str) -> dict[str, str]:
    hub = Path(tempfile.gettempdir()) / "codestress-empty-hub"
    hub.mkdir(exist_ok=True)  # `transformers serve` lists it, and fails where it is not
    offline = {
        "HF_HUB_CACHE": str(hub),
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "NO_PROXY": "*",
        "VLLM_NO_USAGE_STATS": "1",
    }
    return {**os.environ, **offline, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def server(command: list[str], port: int, log: Path) -> Iterator[str]:
    """Run a server until the block is left, and yield its base URL. Its whole process group ends with it."""
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=environment(), start_new_session=True
        )
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        deadline = time.monotonic() + WAIT_S
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            try:
                urllib.request.urlopen(f"{base_url}/models", timeout=2).read()
                break
            except OSError:
                time.sleep(0.5)
        yield base_url
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def vllm_server(checkpoint: Checkpoint, log: Path, *more: str) -> Iterator[str]:
    """Run a vLLM server as `make serve` starts it."""
    port = free_port()
    settings = {"max_model_len": 8192, "enforce_eager": True}
    entry = ModelEntry(
        name="tiny", id=str(checkpoint.folder), engine="vllm", settings=settings
    )
    command = server_command(entry, PYTHON, port)
    with server([*command, *more], port, log) as base_url:
        yield base_url


def asking(folder: Path, row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the command that runs a small study through a registry row, and its environment."""
    registry = folder / f"{name}.yaml"
    registry.write_text(json.dumps({"tiny": row}))
    store = folder / f"{name}.sqlite"
    command = [PYTHON, HERE / "ask.py", registry, "tiny", store]
    env = environment(CODESTRESS_OUTPUTS=str(folder / "outputs"))
    return {"args": [*map(str, command)], "env": env}


def study(folder: Path, row: dict[str, Any], name: str) -> dict[str, Any]:
    """Run a small study of a registry row in the servers' environment, and return its results."""
    how = asking(folder, row, name)
    for _ in range(RAY_STARTS):
        result = ran(*how["args"], env=how["env"])
        if result.returncode == 0 or "Ray" not in result.stderr:
            break
    return printed(lines_of(result))


def printed(lines: list[str]) -> dict[str, Any]:
    """Return the results that the last line holds as JSON."""
    results: dict[str, Any] = json.loads(lines[-1])
    return results
