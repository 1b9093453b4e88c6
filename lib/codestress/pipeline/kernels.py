"""Kernels that start with the packages imported: each notebook's process is forked from
a process that has imported the packages (preload.py).

A kernel with pandas, matplotlib and scipy spends 2.3 CPU seconds on imports; a fork
spends none. Notebooks do not see each other, because the process that is forked runs no
notebook. Forking is for Linux only: elsewhere a forked process may not use the system's
frameworks, so each kernel imports the packages itself.
"""

import faulthandler
import gc
import os
import random
import sys
import tempfile
import threading
from collections.abc import Iterable
from multiprocessing import active_children, context, forkserver
from pathlib import Path
from unittest.mock import patch

from codestress.paths import ROOT

from .surroundings import TABLE

AVAILABLE = sys.platform == "linux"
MODULES = "CODESTRESS_MODULES"
"""Name of the environment variable with the names of the modules that the notebooks of
a build import."""
OWN = TABLE["kernels"]
"""Environment variables of kernels, added to the build's."""
PRINTED = "kernel.txt"
"""Name of the file with the text that a kernel printed outside of its notebook, most
often a crash report."""
BASE = context.ForkServerProcess if AVAILABLE else context.SpawnProcess


class Kernel(BASE):  # type: ignore[misc, valid-type]
    """Process of a kernel, with the part of `Popen`'s interface that jupyter_client
    uses."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        code: int | None = self.exitcode
        return code

    def wait(self) -> int | None:
        self.join()
        return self.poll()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def start(modules: Iterable[str], folder: str) -> None:
    """Start the process from which kernels are forked, while this process goes on. On
    systems other than Linux, no process is started.

    The new process imports `modules` and the modules that nearly every notebook needs.
    The socket of this process lies in the parent folder of `folder`.
    """
    # With this name set, each kernel would run this process's program again.
    vars(sys.modules["__main__"]).pop("__file__", None)
    if AVAILABLE:
        forkserver.set_forkserver_preload(["codestress.pipeline.preload"])
        own = OWN | {MODULES: " ".join(modules), "PYTHONSAFEPATH": "1"}
        with (
            patch.dict(os.environ, own),
            patch.object(tempfile, "tempdir", str(Path(folder).parent)),
        ):
            forkserver.ensure_running()


def kill_all() -> None:
    """Kill all running kernels."""
    for process in active_children():
        if isinstance(process, Kernel):
            process.kill()


def quiet(errors: str = os.devnull) -> None:
    """Discard the text that this process prints outside of its notebook; standard error
    goes to the file `errors`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT, 0o644), 2)


def become_kernel(environment: dict[str, str], connection_file: str) -> None:
    """Turn the new process into a kernel, in the checkout's folder; never return.

    The kernel has its own session, environment (`environment`) and random state. The
    kernel runs ipykernel's launcher, without the machine's IPython settings and startup
    files.
    """
    try:
        quiet(f"{environment['CODESTRESS_STAGING']}/{PRINTED}")
        # ipykernel replaces stderr, so crash reports need a copy of its descriptor.
        faulthandler.enable(os.dup(2), all_threads=False)
        gc.enable()
        # Responses, trees and figures are many objects, and hardly any is garbage.
        gc.set_threshold(100_000)
        os.setsid()
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(ROOT)
        import numpy as np
        from ipykernel.kernelapp import IPKernelApp
        from IPython.core import application
        from tqdm import tqdm

        from codestress.sandbox.layers import die_with_parent

        die_with_parent()
        # tqdm's own lock outlives a process that is killed.
        tqdm.set_lock(threading.RLock())
        random.seed()
        np.random.seed()
        application.SYSTEM_CONFIG_DIRS.clear()
        application.ENV_CONFIG_DIRS.clear()
        sys.argv = ["ipykernel_launcher", "-f", connection_file]
        IPKernelApp.launch_instance()
    finally:
        os._exit(0)
