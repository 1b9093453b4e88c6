"""Execute notebooks, each in its own kernel.

A notebook succeeds if every code cell was completed, no cell's output is an error, and
all files of the artefact exist. papermill alone would accept a `sys.exit(0)` in a cell.
"""

import asyncio
import json
import logging
import os
import re
import signal
import time
import traceback
import uuid
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from codestress.errors import CodestressError, DataError
from codestress.paths import FILES, OUTPUTS, shown
from codestress.report.checked import sha256_of_files
from codestress.report.notebook_page import notebook_page
from codestress.types import now

from .artefacts import Artefact
from .diff import differences
from .inputs import environment
from .kernels import OWN, PRINTED, Kernel, become_kernel
from .notebooks import closing, read_notebook
from .surroundings import commit, git

PRINTED_ERROR = re.compile(r"\w+(?:Error|Group|Exception): .*")
# papermill and its packages warn, and so does a parameter without a line in the cell.
warnings.simplefilter("ignore")
logging.getLogger("papermill").setLevel(logging.CRITICAL)


class Provisioner(LocalProvisioner):
    """Provisioner of jupyter_client that starts this kit's kernels."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:  # noqa: ARG002
        manager: Any = self.parent
        process = Kernel(
            target=become_kernel, args=(manager.environ, manager.connection_file)
        )
        process.start()
        manager.processes.append(process)
        if manager.timeout_s:
            # The timer runs in this process: a notebook can change its own alarms.
            loop = asyncio.get_running_loop()
            loop.call_later(manager.timeout_s, process.kill)
        self.process = process
        self.pid = self.pgid = process.pid
        return self.connection_info

    async def cleanup(self, restart: bool = False) -> None:  # noqa: ARG002
        """Kill the processes that the kernel's cells started (the kernel's process
        group)."""
        if self.pid:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)


class Manager(AsyncKernelManager):
    """Manager of a kernel that communicates over Unix sockets in a folder of the build,
    because TCP ports clash in parallel builds.

    Each notebook gets a subclass whose class attributes are the notebook's settings,
    because jupyter_client creates the manager without arguments.
    """

    folder: ClassVar[str]
    processes: ClassVar[list[Kernel]]
    """The kernel's process, from its start on; empty before."""
    environ: ClassVar[dict[str, str]]
    """Environment variables of the kernel."""
    timeout_s: ClassVar[float | None]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kernel_id = uuid.uuid4().hex[:8]
        self.transport, self.ip = "ipc", f"{self.folder}/{self.kernel_id}"
        self.connection_file = f"{self.ip}.json"
        self.provisioner = Provisioner(
            kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
        )

    @property
    def kernel_spec(self) -> KernelSpec:
        # The installed kernel called python3 may belong to another Python.
        return KernelSpec(argv=["python"], language="python", display_name="codestress")


def check_completed(notebook: nbformat.NotebookNode) -> None:
    """Raise `CodestressError` unless every code cell with content in the executed
    `notebook` ran without an error."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.strip():
            for output in cell.outputs:
                if output.output_type == "error":
                    raise CodestressError(f"{output.ename}: {output.evalue}")
            if cell.execution_count is None:
                raise CodestressError("the kernel ended before the next cell ran")


def reached(artefact: Artefact, staging: Path) -> str:
    """Return, for a message, the name of the notebook of `artefact` and the number
    (from 1) of the last code cell that began to run.

    The number comes from the notebook that papermill wrote into the folder `staging`.
    The number is 0 if no cell began.
    """
    started = 0
    with suppress(OSError):
        for cell in nbformat.read(staging / "notebook.ipynb", 4).cells:
            if cell.cell_type == "code" and cell.metadata.papermill.start_time:
                # papermill injects one cell with the parameters.
                started += "injected-parameters" not in cell.metadata.tags
    return f"{shown(artefact.notebook)}, code cell {started}"


def failure(error: Exception, processes: list[Kernel], staging: Path) -> str:
    """Return the reason, as text, why a notebook failed: usually `error` in words.

    If the kernel (the first of `processes`) died, the reason says how the kernel ended
    and names a remedy. The text that the kernel printed into a file in the folder
    `staging` follows.
    """
    match error:
        case PapermillExecutionError(ename="CellExecutionError"):
            return _printed_error(staging) or f"the cell failed: {error.source}"
        case PapermillExecutionError():
            return f"{error.ename}: {error.evalue or error.source}"
        case CodestressError() | OSError():
            return str(error)
        case DeadKernelError():
            code = processes[0].wait() or 0
        case _:
            return traceback.format_exc(limit=-3)
    text = ""
    with suppress(OSError):
        text = (staging / PRINTED).read_text("utf-8", "replace")
    text = text.partition("\n\nExtension modules")[0]
    printed = f"; it printed:\n{text.strip()}" if text else ""
    ending = f"exit status {code}"
    remedy = "run its cells one by one in JupyterLab to see which call ends it"
    if code < 0:
        ending = f"signal {-code} ({signal.strsignal(-code)})"
        remedy += ", or build with --jobs 1 if memory ran out"
    if code == 0:
        ending += ", as after exit() in this cell or one before it"
    return f"its kernel died with {ending}; {remedy}{printed}"


def _printed_error(staging: Path) -> str:
    """Return the last error that a cell of the notebook in the folder `staging` printed
    on standard error; empty if there is none.

    IPython prints an unknown magic and a group of errors in this way instead of raising
    them.
    """
    for cell in reversed(nbformat.read(staging / "notebook.ipynb", 4).cells):
        for output in cell.get("outputs", ()):
            printed = output.get("name") == "stderr" and output.text
            if match := PRINTED_ERROR.search(printed or ""):
                return match[0]
    return ""


def execute(
    artefact: Artefact, staging: Path, manager: type[Manager], record: dict[str, Any]
) -> None:
    """Execute the notebook of `artefact` into the folder `staging`, with a kernel of `manager`, and complete the
    manifest that the notebook published there.

    `record` (with the keys `inputs` and `programs`) is added to the manifest. Raises papermill's error if a cell
    fails, and `CodestressError` if a cell did not run or a file of the artefact is missing.
    """
    output = staging / "notebook.ipynb"
    started = time.monotonic()
    notebook = papermill.execute_notebook(
        read_notebook(artefact.notebook),
        str(output),
        artefact.parameters.model_dump(),
        kernel_name="python3",  # named here in case a tool stripped the metadata
        language="python",
        kernel_manager_class=manager,
        progress_bar=False,
        start_timeout=120,
    )
    check_completed(notebook)
    (staging / PRINTED).unlink(missing_ok=True)
    # papermill records the paths that both have on this machine; replace them.
    notebook.metadata.papermill.update(
        input_path=shown(artefact.notebook), output_path=output.name
    )
    if text := closing(artefact):
        # A notebook that ends in a code cell keeps the cell and gets another.
        if notebook.cells[-1].cell_type != "markdown":
            notebook.cells.append(nbformat.v4.new_markdown_cell(id="closing"))
        notebook.cells[-1].source = text
    nbformat.write(notebook, output)
    record["build_seconds"] = round(time.monotonic() - started, 2)
    manifest = _completed(artefact, staging, record)
    page = notebook_page(notebook, artefact.label, manifest)
    (staging / "notebook.html").write_text(page, "utf-8")
    manifest["sha256"] = sha256_of_files(staging)
    text = json.dumps(manifest, indent=1) + "\n"
    (staging / "manifest.json").write_text(text, "utf-8")


def _completed(
    artefact: Artefact, staging: Path, record: dict[str, Any]
) -> dict[str, Any]:
    """Return the manifest of `artefact` in the folder `staging`, with the entries added
    that the notebook cannot make, such as `record` from the build.

    Raises `CodestressError` if a file of the artefact is missing.
    """
    missing = [name for name in FILES if not (staging / name).is_file()]
    if missing:
        raise CodestressError(
            f"the notebook ran, but did not publish {', '.join(missing)}"
        )
    manifest: dict[str, Any] = json.loads((staging / "manifest.json").read_bytes())
    manifest["programs"]["while asking"] = record.pop("programs")
    changes = "+changes" if git("status", "--porcelain").stdout else ""
    manifest |= {
        "title": artefact.file.title,
        "leaderboard": artefact.file.leaderboard,
        "profile": artefact.profile,
        "command": artefact.command,
        "parameters": artefact.parameters.model_dump(),
        "environment": environment(),
        "commit": commit()[0] + changes,
        "built_at": now(),
        **record,
    }
    if marks := artefact.marks:
        manifest["title"] += f" (changed: {marks['told']})"
        difference: list[str] = []
        # Compare with the unchanged artefact of the profile, if it was built.
        with suppress(DataError):
            difference = differences(OUTPUTS / marks["unchanged"], staging, ("counts",))
        manifest["changed"] = marks | {"difference": difference}
    return manifest


def attempt(
    artefact: Artefact,
    staging: Path,
    folder: str,
    record: dict[str, Any],
    timeout_s: float | None,
) -> str:
    """Execute the notebook of `artefact` for at most `timeout_s` seconds (None: no limit), and
    return the error as text; empty if the artefact is complete in `staging`.

    `staging` is the output folder, `folder` is for the kernel's sockets. `record` is for the
    manifest: `inputs`, and counts of the `programs` that ran while models were asked.
    """
    started = time.monotonic()
    processes: list[Kernel] = []
    own = {
        "folder": folder,
        "environ": {
            **os.environ,
            **OWN,
            "CODESTRESS_STAGING": str(staging),
            "CODESTRESS_CHANGED": artefact.marks.get("told", ""),
            "CODESTRESS_LABEL": artefact.label,
        },
        "processes": processes,
        "timeout_s": timeout_s,
    }
    try:
        execute(artefact, staging, type("OwnManager", (Manager,), own), record)
    except Exception as error:  # whatever papermill, the kernel or the converter raise: reported, never lost
        why = failure(error, processes, staging)
        if timeout_s and time.monotonic() - started >= timeout_s:
            why = (
                f"stopped after {timeout_s:g} s; raise timeout_s in "
                f"params/profiles/{artefact.profile}.yaml"
            )
        return f"{reached(artefact, staging)}: {why}"
    return ""
