"""Kernels that start with the packages imported: each notebook's process is forked from one that
has them.

A kernel with pandas, matplotlib and scipy spends 2.3 CPU seconds on imports; a fork spends none.
Notebooks do not see each other, because the process that is forked runs no notebook. Only on Linux:
elsewhere a forked process may not use the system's frameworks, and kernels start in the usual way.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import random
import signal
import socket
import sys
from typing import Any

from codestress.inference.registry import ENGINES
from codestress.sandbox.layers import die_with_parent

AVAILABLE = sys.platform == "linux"
PACKAGES = (
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "IPython.display",
    "matplotlib.figure",
    "ipykernel.debugger",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "pyarrow.parquet",
    "codestress.report.publish",
    "codestress.report.claims",
    "codestress.scoring.frames",
    "codestress.fitting.summaries",
    "codestress.inference.run",
    "scipy.stats",
    *ENGINES.values(),
)
"""Modules that nearly every notebook imports, and modules that ipykernel and matplotlib import
late."""
INLINE = "module://matplotlib_inline.backend_inline"
"""Value of MPLBACKEND in kernels; matplotlib reads it when it is imported."""


class Nursery:
    """A child process with the packages imported, from which notebook kernels are forked; it ends
    with its parent."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(2, 1)  # what is read from the worker's output are replies
                mine = theirs.fileno()
                os.closerange(
                    3, mine
                )  # the worker's own, whose other ends wait for it to close
                os.closerange(mine + 1, 4096)
                _serve(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def ask(self, **request: Any) -> Any:
        """Sends a `request` to the process and returns its reply. For `start` (a connection file's
        path, with `modules`, `env` and `cwd`) that is the new kernel's process number; for `poll`
        and `wait` (a kernel's process number) its exit status, None at `poll` while it runs.
        `OSError` when the process has ended."""
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        line = self._lines.readline()
        if not line:
            raise OSError(
                "the process from which kernels are forked has ended; build again"
            )
        return json.loads(line)


class Forked:
    """A forked kernel's process (its `pid`), with the part of `Popen`'s interface that a
    provisioner uses: poll, wait, kill, signals."""

    stdin = stdout = stderr = None

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid

    def poll(self) -> Any:
        return self._nursery.ask(poll=self.pid)

    def wait(self) -> Any:
        return self._nursery.ask(wait=self.pid)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def _serve(connection: socket.socket) -> None:
    """Answers requests on the socket `connection` until it closes, each a line of JSON as
    `Nursery.ask` sends them: forks a kernel for `start`, and reports a kernel's exit status for
    `poll` and `wait`."""
    die_with_parent()
    os.environ["MPLBACKEND"] = INLINE
    gc.disable()
    for package in PACKAGES:
        importlib.import_module(package)
    _draw_once()
    ended: dict[int, int] = {}
    lines = connection.makefile("r", encoding="utf-8")
    for line in lines:
        request = json.loads(line)
        if "start" in request:
            for module in request["modules"]:
                with contextlib.suppress(
                    Exception
                ):  # which the notebook meets again, and tells
                    importlib.import_module(module)
            gc.freeze()  # no kernel looks for garbage among what it has from here
            pid = os.fork()
            if pid == 0:
                connection.close()
                _become_kernel(request)
            ended.pop(
                pid, None
            )  # of an earlier kernel: numbers of processes come round again
            reply: int | None = pid
        else:
            pid = request.get("poll") or request.get("wait")
            if pid not in ended:
                found, status = os.waitpid(pid, os.WNOHANG if "poll" in request else 0)
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            reply = ended.get(pid)
        connection.sendall(json.dumps(reply).encode() + b"\n")


def _draw_once() -> None:
    """Draws a figure and writes a table once, so that fonts, templates and other first-use work are
    done before kernels are forked."""
    from pandas import DataFrame

    from codestress.report.style import styled_figure

    DataFrame({"a": [1.5]}).to_latex()
    figure = styled_figure(1, 1)
    figure.subplots().set_title("a title in bold", weight="bold")
    for form in ("svg", "pdf", "png"):
        figure.savefig(io.BytesIO(), format=form)


def _become_kernel(request: dict[str, Any]) -> None:
    """Turns the forked child into a kernel: own session, environment and random state, then
    ipykernel's launcher; never returns. `request` has the environment (its `env`), the working
    folder (`cwd`) and the path of the connection file (`start`)."""
    try:
        gc.enable()
        # Answers, trees and figures are many objects, and hardly any is garbage.
        gc.set_threshold(100_000)
        die_with_parent()
        os.setsid()
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        import numpy as np

        random.seed()
        np.random.seed()
        sys.argv = ["ipykernel_launcher", "-f", request["start"]]
        launch()
    finally:
        os._exit(0)


def launch() -> None:
    """Turns this process into a kernel by the arguments in `sys.argv`, without the machine's
    settings and startup files of IPython."""
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core import application

    application.SYSTEM_CONFIG_DIRS.clear()
    application.ENV_CONFIG_DIRS.clear()
    IPKernelApp.launch_instance()


if __name__ == "__main__":
    launch()
