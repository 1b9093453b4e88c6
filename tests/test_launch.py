"""Launched without installing: on Binder (binder/) and in a dev container (.devcontainer/), as far as a machine without
these services can tell."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from conftest import ROOT, ran
from test_contributing import copy  # noqa: F401

BINDER = ROOT / "binder"
PREFERRED = """
Dockerfile Project.toml REQUIRE default.nix install.R DESCRIPTION
environment.yml environment.yaml Pipfile Pipfile.lock
"""
"""Files that repo2docker would take before requirements.txt, in the folder that it reads."""
KEYS = {"name", "image", "containerEnv", "customizations", "portsAttributes"}
COMMANDS = {
    *("onCreateCommand", "updateContentCommand", "postCreateCommand"),
    *("postStartCommand", "postAttachCommand"),
}
"""Keys of containers.dev's schema for an image, those that the kit needs, and those that are commands."""


def test_repo2docker_reads_the_pins_and_nothing_before_them() -> None:
    assert not (ROOT / ".binder").exists()  # with both folders it refuses
    assert [name for name in PREFERRED.split() if (BINDER / name).exists()] == []
    lines = (BINDER / "requirements.txt").read_text("utf-8").splitlines()
    requirements = [line for line in lines if not line.startswith("#")]
    # A file is looked up from where it is named, the package from the root, where pip runs.
    assert requirements[:2] == ["--requirement ../requirements.lock", "--editable ."]
    python = (BINDER / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert wanted["requires-python"] == ">=3.11"
    assert re.fullmatch(r"3\.1[1-9]", python)
    for script in ("postBuild", "start"):
        assert os.access(BINDER / script, os.X_OK), script


def test_repo2docker_plans_this_build() -> None:
    program = shutil.which("jupyter-repo2docker")
    if program is None:
        pytest.skip("jupyter-repo2docker is not installed")
    planned = ran(program, "--no-build", "--debug", ROOT, check=True)
    plan = planned.stdout + planned.stderr
    assert "python=3.12" in plan
    assert 'pip install --no-cache-dir -r "binder/requirements.txt"' in plan
    assert "RUN ./binder/postBuild" in plan
    assert 'R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in plan
    assert "env update" not in plan  # environment.yml is left aside


def session(folder: Path) -> dict[str, str]:
    """Variables of a session in `folder`, with this environment's programs and the folder's own code."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {"PATH": programs, "PYTHONPATH": str(folder / "lib")}
    for name, value in os.environ.items():
        if not name.startswith(("CODESTRESS_", "PYTEST_", "PATH", "PYTHONPATH")):
            kept[name] = value
    return kept


@contextmanager
def running(command: list[str], folder: Path, **variables: str) -> Iterator[None]:
    environment = session(folder) | variables
    with (folder / "log").open("w") as log:
        how: dict[str, Any] = {"stdout": log, "stderr": log, "start_new_session": True}
        process = subprocess.Popen(command, cwd=folder, env=environment, **how)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def fetched(address: str, log: Path) -> tuple[str, bytes]:
    """Where an address leads and what is there, once its server answers."""
    for _ in range(240):
        try:
            with urlopen(address, timeout=600) as response:
                return response.url, response.read()
        except URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise AssertionError(f"{error}\n{log.read_text()}") from error
        time.sleep(0.5)
    raise AssertionError(log.read_text())


@pytest.mark.slow
def test_binder_builds_figures_and_opens_the_report(copy: Path) -> None:  # noqa: F811
    post_build = (copy / "binder/postBuild", "faultloc/tab03")
    built = ran(*post_build, cwd=copy, env=session(copy))
    assert built.returncode == 0, built.stdout + built.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["binder/start", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += ["--port", str(port)]
    with running([*command, "--IdentityProvider.token=t"], copy):
        address, page = fetched(f"http://127.0.0.1:{port}/?token=t", copy / "log")
        assert address.partition("?")[0].endswith("/static/demo/index.html")
        assert page == (copy / "outputs/demo/index.html").read_bytes()
        # A browser asks for the pictures without a token.
        picture = "demo/faultloc/tab03/figure.png"
        _, drawn = fetched(f"http://127.0.0.1:{port}/static/{picture}", copy / "log")
        assert drawn == (copy / "outputs" / picture).read_bytes()


def described(folder: Path) -> dict[str, Any]:
    file = folder / ".devcontainer/devcontainer.json"
    container: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return container


def test_the_dev_container_calls_the_makefile() -> None:
    container = described(ROOT)
    assert KEYS <= set(container) <= KEYS | COMMANDS
    commands = [container[key] for key in container if key in COMMANDS]
    assert commands == ["make", "make lab"]
    for command in commands:
        ran(*command.split(), "-n", cwd=ROOT, check=True)


@pytest.mark.slow
def test_the_dev_container_opens_jupyterlab(copy: Path, tmp_path: Path) -> None:  # noqa: F811
    """The editor's browser gets an address, not the file in which Jupyter hides it, and may enter."""
    container = described(copy)
    [(name, value)] = container["containerEnv"].items()
    variables = {name: value.replace("${containerWorkspaceFolder}", str(copy))}
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" >{opened}.part && mv {opened}.part {opened}\n'
    )
    browser.chmod(0o755)
    command = container["postAttachCommand"].split()
    with running(command, copy, BROWSER=str(browser), **variables):
        for _ in range(240):
            if opened.exists():
                break
            time.sleep(0.5)
        assert opened.exists(), (copy / "log").read_text()
        address, page = fetched(opened.read_text(), copy / "log")
        assert address.startswith("http://localhost:")
        assert b"JupyterLab" in page
        assert "notebooks/index.ipynb" in address
