"""Kernels that begin with everything imported: each notebook's process is forked from one that has the packages.

A kernel with pandas, matplotlib and scipy spends 2.3 CPU seconds on imports; a fork of a process that has them, none.
What a notebook does is seen by no other: the process that is forked from runs no notebook. Only on Linux: elsewhere a
process that was forked and not begun anew may not use the system's frameworks, and kernels are started as ever.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import random
import select
import signal
import socket
import sys
from typing import Any

from codestress.inference.registry import ENGINES
from codestress.sandbox.layers import die_with_parent

AVAILABLE = sys.platform == "linux"
PACKAGES = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "IPython.display", "matplotlib.figure", "numpy", "pandas"),
    *("ipykernel.debugger", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf"),
    *("matplotlib.backends.backend_svg", "pyarrow.parquet", "yaml", "pydantic"),
    *("codestress.report.publish", "codestress.report.claims", "codestress.scoring.frames"),
    *("codestress.fitting.summaries", "codestress.inference.run", *ENGINES.values()),
)
"""What nearly every notebook imports, and ipykernel and matplotlib import late."""
LATER = "scipy.stats"
"""What some import, and takes most of a second: when no kernel was asked for so long."""
IDLE_S = 0.5
INLINE = "module://matplotlib_inline.backend_inline"
"""What a kernel chooses for matplotlib, which reads it when it is imported."""


class Nursery:
    """A process with the packages, from which kernels are forked; ends with the one that began it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(2, 1)  # what is read from the worker's output are replies
                mine = theirs.fileno()
                os.closerange(3, mine)  # the worker's own, whose other ends wait for it to close
                os.closerange(mine + 1, 4096)
                _serve(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._lines = self._socket.makefile("r", encoding="utf-8")

    def ask(self, **request: Any) -> Any:
        """What the nursery answers."""
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        line = self._lines.readline()
        if not line:
            raise OSError("the process from which kernels are forked has ended")
        return json.loads(line)


class Forked:
    """A kernel's process, with as much of `Popen` as a provisioner uses."""

    stdin = stdout = stderr = None

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid

    def poll(self) -> int | None:
        status: int | None = self._nursery.ask(poll=self.pid)
        return status

    def wait(self) -> int | None:
        status: int | None = self._nursery.ask(wait=self.pid)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def _serve(connection: socket.socket) -> None:
    """Forks a kernel for each request, and says what became of it."""
    die_with_parent()
    os.environ["MPLBACKEND"] = INLINE
    gc.disable()
    for package in PACKAGES:
        importlib.import_module(package)
    _draw_once()
    ended: dict[int, int] = {}
    lines = connection.makefile("r", encoding="utf-8")
    while True:
        if LATER not in sys.modules and not select.select([connection], [], [], IDLE_S)[0]:
            importlib.import_module(LATER)
        line = lines.readline()
        if not line:
            return
        request = json.loads(line)
        if "start" in request:
            for module in request["modules"]:
                with contextlib.suppress(Exception):  # which the notebook meets again, and tells
                    importlib.import_module(module)
            gc.freeze()  # no kernel looks for garbage among what it has from here
            pid = os.fork()
            if pid == 0:
                connection.close()
                _become_kernel(request)
            ended.pop(pid, None)  # of an earlier kernel: numbers of processes come round again
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
    """Finds fonts, templates and what else the first figure and the first tables of a process look for."""
    from matplotlib.figure import Figure
    from pandas import DataFrame

    DataFrame({"a": [1.5]}).to_latex()
    figure = Figure()
    figure.subplots().set_title("a title in bold", weight="bold")
    for form in ("svg", "pdf", "png"):
        figure.savefig(io.BytesIO(), format=form)


def _become_kernel(request: dict[str, Any]) -> None:
    """In the child: a session, an environment and random numbers of its own, then what ipykernel's launcher does."""
    try:
        gc.enable()
        gc.set_threshold(100_000)  # answers, trees and figures are many objects, and hardly any is garbage
        die_with_parent()
        os.setsid()
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        import numpy as np
        from ipykernel.kernelapp import IPKernelApp

        random.seed()
        np.random.seed()
        sys.argv = ["ipykernel_launcher", "-f", request["start"]]
        IPKernelApp.launch_instance()
    finally:
        os._exit(0)
