"""Kernels that start with the packages imported: each notebook's process is forked from one that
has them (preload.py).

A kernel with pandas, matplotlib and scipy spends 2.3 CPU seconds on imports; a fork spends none.
Notebooks do not see each other, because the process that is forked runs no notebook. Only on Linux:
elsewhere a forked process may not use the system's frameworks, and each kernel imports for itself.
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
"""Environment variable with the names of the modules that the notebooks of a build import."""
OWN = TABLE["kernels"]
"""Environment of kernels beside the build's."""
PRINTED = "kernel.txt"
"""File of what a kernel printed outside of its notebook: a crash, most often."""
BASE = context.ForkServerProcess if AVAILABLE else context.SpawnProcess


class Kernel(BASE):  # type: ignore[misc, valid-type]
    """A kernel's process, with the part of `Popen`'s interface that jupyter_client uses."""

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
    """Starts the process from which kernels are forked. It imports `modules`, and what nearly every
    notebook needs, while this process goes on. Its socket lies in the folder around `folder`."""
    # Each kernel would run this process's program again.
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
    """Kills all running kernels."""
    for process in active_children():
        if isinstance(process, Kernel):
            process.kill()


def quiet(errors: str = os.devnull) -> None:
    """Discards what this process prints outside of its notebook; standard error goes to the file
    `errors`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT, 0o644), 2)


def become_kernel(environment: dict[str, str], connection_file: str) -> None:
    """Turns the new process into a kernel: a session, `environment` and random state of its own, in
    the checkout's folder, then ipykernel's launcher, without the machine's settings and startup
    files of IPython; never returns."""
    try:
        quiet(f"{environment['CODESTRESS_STAGING']}/{PRINTED}")
        # ipykernel has another stderr.
        faulthandler.enable(os.dup(2), all_threads=False)
        gc.enable()
        # Answers, trees and figures are many objects, and hardly any is garbage.
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
        tqdm.set_lock(threading.RLock())  # its own outlives a process that is killed
        random.seed()
        np.random.seed()
        application.SYSTEM_CONFIG_DIRS.clear()
        application.ENV_CONFIG_DIRS.clear()
        sys.argv = ["ipykernel_launcher", "-f", connection_file]
        IPKernelApp.launch_instance()
    finally:
        os._exit(0)
