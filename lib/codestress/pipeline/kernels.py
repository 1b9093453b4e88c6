"""Processes in which notebooks are executed, each forked from a process that has
imported the packages (preload.py).

A new Python with pandas, matplotlib and scipy spends 2.3 CPU seconds on imports; a fork
spends none. Notebooks do not see each other, because the process that is forked runs no
notebook. Forking is for Linux only: elsewhere a forked process may not use the system's
frameworks, so each process imports the packages itself.
"""

import faulthandler
import gc
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from multiprocessing import active_children, context, forkserver
from pathlib import Path
from typing import Any
from unittest.mock import patch

from codestress.errors import DataError
from codestress.paths import ROOT, shown

from .artefacts import Artefact
from .notebooks import plain_notebook
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
ERROR = "error.txt"
"""Name of the file with the reason why a notebook failed; empty if it is complete."""
BASE = context.ForkServerProcess if AVAILABLE else context.SpawnProcess


class Kernel(BASE):  # type: ignore[misc, valid-type]
    """Process that executes one notebook."""


def start(modules: Iterable[str], folder: str) -> None:
    """Start the process from which kernels are forked, while this process goes on. On
    systems other than Linux, no process is started.

    The new process imports `modules` and the modules that nearly every notebook needs.
    The socket of this process lies in `folder`.
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


def attempt(
    artefact: Artefact,
    staging: Path,
    record: dict[str, Any],
    timeout_s: float | None,
) -> str:
    """Execute the notebook of `artefact` in a process of its own, for at most
    `timeout_s` seconds (None: no limit), and return the error as text; empty if the
    artefact is complete in the folder `staging`.

    `record` is for the manifest: `inputs`, and counts of the `programs` that ran while
    models were asked.
    """
    own = {
        "CODESTRESS_STAGING": str(staging),
        "CODESTRESS_CHANGED": artefact.marks.get("told", ""),
        "CODESTRESS_LABEL": artefact.label,
    }
    environment = {**os.environ, **OWN, **own}
    kernel = Kernel(target=become_kernel, args=(environment, artefact, staging, record))
    kernel.start()
    kernel.join(timeout_s)
    ended = kernel.exitcode is not None
    kernel.kill()
    kernel.join()
    with suppress(OSError):
        # End the processes that the notebook's cells started.
        os.killpg(kernel.pid, signal.SIGKILL)
    if not ended:
        error = (
            f"stopped after {timeout_s:g} s; raise timeout_s in "
            f"params/profiles/{artefact.profile}.yaml"
        )
    elif (staging / ERROR).exists():
        error = (staging / ERROR).read_text("utf-8")
    else:
        error = _death(kernel.exitcode, staging)
    (staging / ERROR).unlink(missing_ok=True)
    return f"{reached(artefact, staging)}: {error}" if error else ""


def reached(artefact: Artefact, staging: Path) -> str:
    """Return, for a message, the name of the notebook of `artefact` and the number
    (from 1) of the last code cell that began to run.

    The number comes from the notebook that papermill wrote into the folder `staging`.
    The number is 0 if no cell began.
    """
    started = 0
    with suppress(DataError):
        for cell in plain_notebook(staging / "notebook.ipynb")["cells"]:
            about = cell["metadata"]
            if cell["cell_type"] == "code" and about["papermill"]["start_time"]:
                # papermill injects one cell with the parameters.
                started += "injected-parameters" not in about["tags"]
    return f"{shown(artefact.notebook)}, code cell {started}"


def _death(code: int, staging: Path) -> str:
    """Return, in words, how a kernel died that ended with the exit status `code`, a
    remedy, and the text that the kernel printed into a file in the folder `staging`."""
    text = ""
    with suppress(OSError):
        text = (staging / PRINTED).read_text("utf-8", "replace")
    text = text.partition("\n\nExtension modules")[0].strip()
    printed = f"; it printed:\n{text}" if text else ""
    ending = f"exit status {code}"
    remedy = "run its cells one by one in JupyterLab to see which call ends it"
    if code < 0:
        ending = f"signal {-code} ({signal.strsignal(-code)})"
        remedy += ", or build with --jobs 1 if memory ran out"
    return f"its kernel died with {ending}; {remedy}{printed}"


def quiet(errors: str = os.devnull) -> None:
    """Discard the text that this process prints outside of its notebook; standard error
    goes to the file `errors`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT, 0o644), 2)


def become_kernel(
    environment: Mapping[str, str],
    artefact: Artefact,
    staging: Path,
    record: dict[str, Any],
) -> None:
    """Execute the notebook of `artefact` in this new process, in the checkout's folder;
    never return. The reason why it failed is written into the folder `staging`.

    The process has its own session, environment (`environment`) and random state.
    """
    quiet(str(staging / PRINTED))
    faulthandler.enable(2, all_threads=False)
    gc.enable()
    # Responses, trees and figures are many objects, and hardly any is garbage.
    gc.set_threshold(100_000)
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    import numpy as np
    from tqdm import tqdm

    from codestress.sandbox.layers import die_with_parent

    from .execute import failure

    die_with_parent()
    # tqdm's own lock outlives a process that is killed.
    tqdm.set_lock(threading.RLock())
    random.seed()
    np.random.seed()
    error = failure(artefact, staging, record)
    (staging / ERROR).write_text(error, "utf-8")
    # Threads that the notebook left may never end.
    os._exit(0)
