"""Shared fixtures: a place for outputs that is not the project's, and real data where it is at hand."""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codestress.pipeline.artefacts import artefact_names
from codestress.sandbox.executor import Executor

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(Path(sys.executable).with_name("codestress"))


def codestress(*arguments: str, outputs: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The console script, with a folder of its own for what it leaves."""
    return subprocess.run(
        [SCRIPT, *arguments],
        env={**os.environ, "CODESTRESS_OUTPUTS": str(outputs), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )


@functools.cache
def exposed() -> dict[str, str]:
    """What this machine does not protect from programs of strangers."""
    with Executor(workers=1) as executor:
        return executor.exposed()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips by name what runs programs of strangers where nothing isolates them."""
    if item.get_closest_marker("isolation") and exposed():
        pytest.skip(f"programs of strangers cannot be isolated here: {exposed()}")


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of `codestress build --profile smoke`, built once for all test processes; not to be changed."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    outputs = shared / "smoke-outputs"
    with (shared / "smoke.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (outputs / "smoke" / "index.html").is_file():
            done = codestress("build", "--profile", "smoke", outputs=outputs)
            assert done.returncode == 0, done.stderr
            assert f"{len(artefact_names())} built" in done.stdout
    return outputs


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project, or CODESTRESS_DATA; tests that need it say so when it is missing."""
    folder = Path(os.environ.get("CODESTRESS_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "findtheorigin" / "vertices.txt").is_file():
        pytest.skip("real data is not here; set CODESTRESS_DATA to a folder that has findtheorigin/vertices.txt")
    return folder
