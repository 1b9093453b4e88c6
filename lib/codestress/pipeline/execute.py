"""Executes notebooks, each in its own kernel: one JSON specification per line on stdin, one JSON
reply on stdout.

Success needs more than papermill's: every code cell completed, no cell output an error (papermill
accepts `sys.exit(0)` in a cell), and all files of the artefact exist.
"""

# ruff: noqa: E402
from __future__ import annotations

import json
import os
import sys
import time
import traceback
import uuid
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codestress.pipeline import quick_nbformat  # noqa: F401
from codestress.pipeline.kernels import AVAILABLE, Forked, Nursery

# Forked before what this process imports, so that both import at the same time.
NURSERY = Nursery() if AVAILABLE and __name__ == "__main__" else None

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from papermill.exceptions import PapermillExecutionError
from traitlets import default

from codestress.errors import CodestressError, DataError
from codestress.paths import FILES, OUTPUTS, ROOT, shown
from codestress.pipeline.diff import differences
from codestress.pipeline.inputs import environment
from codestress.pipeline.notebooks import read_notebook
from codestress.pipeline.surroundings import commit, git, socket_folder
from codestress.report.checked import read_manifest, sha256_of_files
from codestress.report.notebook_page import notebook_page, prepare
from codestress.types import now


class ForkProvisioner(LocalProvisioner):
    """Provisioner of jupyter_client that starts kernels by forking a process with the packages,
    which is faster than a new interpreter."""

    nursery: Nursery
    modules: Sequence[str]
    """Names of the modules that the notebook imports."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        request = {"start": cmd[cmd.index("-f") + 1], "modules": self.modules}
        pid = self.nursery.ask(
            **request, env=kwargs["env"], cwd=kwargs.get("cwd") or str(Path.cwd())
        )
        self.process = Forked(self.nursery, pid)  # type: ignore[assignment]
        self.pid = self.pgid = pid
        return self.connection_info


class IpcKernelManager(AsyncKernelManager):
    """Manager of kernels of this Python that talk over Unix sockets in a folder of their own: TCP
    ports clash in parallel builds, and are for where no folder can hold such sockets."""

    modules: Sequence[str] = ()
    """Names of the modules that the next notebook imports; they are imported before its kernel is
    forked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if NURSERY is not None:
            self.kernel_id = str(uuid.uuid4())
            self.provisioner = ForkProvisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
            self.provisioner.nursery, self.provisioner.modules = NURSERY, self.modules

    @default("transport")
    def _transport_default(self) -> str:
        return "ipc" if self.sockets else "tcp"

    sockets = ""
    """Folder of the sockets, new for each kernel; empty: none can hold them."""

    @default("ip")
    def _ip_default(self) -> str:
        return str(Path(self.sockets) / "k") if self.sockets else "127.0.0.1"

    @property
    def kernel_spec(self) -> KernelSpec:
        # Not the installed kernel called python3, which may be another Python's.
        argv = [
            sys.executable,
            "-P",
            "-m",
            Nursery.__module__,
            "-f",
            "{connection_file}",
        ]
        return KernelSpec(argv=argv, language="python", display_name="codestress")


class CellsIncompleteError(CodestressError):
    """Raised when papermill reports success, but the notebook did not run to its end or did not
    publish all files."""


def check_completed(notebook: nbformat.NotebookNode) -> None:
    """Raises `CellsIncompleteError` unless every code cell with content ran and none ended in an
    error. `notebook` is the executed notebook."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.source.strip()
    ]
    for number, cell in enumerate(cells, start=1):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        place = f"code cell {number} of {len(cells)}"
        if errors:
            ending = f"{errors[0].ename}: {errors[0].evalue}"
            raise CellsIncompleteError(f"{place} ended with {ending}")
        if cell.execution_count is None:
            raise CellsIncompleteError(
                f"{place} did not run: the kernel ended before it"
            )


def execute(spec: dict[str, Any]) -> None:
    """Runs the notebook `spec["notebook"]` into the folder `spec["staging"]` and completes the
    manifest that the notebook published. `spec` has the keys that `_Notebooks` in builder.py sends.

    Raises papermill's error of a failed cell, and `CellsIncompleteError` when a cell did not run or
    a file of the artefact is missing.
    """
    staging = Path(spec["staging"])
    output = staging / "notebook.ipynb"
    started = time.monotonic()
    IpcKernelManager.modules = spec["modules"]
    with warnings.catch_warnings(), socket_folder() as IpcKernelManager.sockets:
        warnings.simplefilter("ignore")
        notebook = papermill.execute_notebook(
            read_notebook(Path(spec["notebook"])),
            str(output),
            spec["parameters"],
            kernel_name="python3",  # these two also where a tool has stripped them
            language="python",
            kernel_manager_class=IpcKernelManager,
            progress_bar=False,
            start_timeout=120,
            cwd=str(ROOT),
        )
    check_completed(notebook)
    # papermill writes down where both lay on this machine.
    notebook.metadata.papermill |= {
        "input_path": shown(Path(spec["notebook"])),
        "output_path": output.name,
    }
    if spec["closing"]:
        # A notebook without words at its end keeps its last cell.
        if notebook.cells[-1].cell_type != "markdown":
            notebook.cells.append(nbformat.v4.new_markdown_cell(id="closing"))
        notebook.cells[-1].source = spec["closing"]
    nbformat.write(notebook, output)
    missing = [name for name in FILES if not (staging / name).is_file()]
    if missing:
        raise CellsIncompleteError(
            f"the notebook ran, but did not publish {', '.join(missing)}"
        )
    manifest = json.loads((staging / "manifest.json").read_text(encoding="utf-8"))
    manifest["programs"]["while asking"] = spec["programs"]
    named = ("title", "leaderboard", "profile", "command", "parameters")
    manifest |= {name: spec[name] for name in named}
    manifest |= {
        "environment": environment(),
        "commit": commit()[0]
        + ("+changes" if git("status", "--porcelain").stdout else ""),
        "built_at": now(),
        "build_seconds": round(time.monotonic() - started, 2),
        "inputs": spec["inputs"],
    }
    if spec["changed"]:
        manifest["title"] += f" (changed: {spec['changed']['told']})"
        difference = compared(OUTPUTS / spec["changed"]["unchanged"], staging, manifest)
        manifest["changed"] = spec["changed"] | {"difference": difference}
    page = notebook_page(notebook, spec["artefact"], manifest)
    (staging / "notebook.html").write_text(page, encoding="utf-8")
    manifest["sha256"] = sha256_of_files(staging)
    (staging / "manifest.json").write_text(
        json.dumps(manifest, indent=1) + "\n", encoding="utf-8"
    )


def compared(unchanged: Path, folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Differences, as lines of text, in counts and numbers between the artefact built by its
    profile alone (folder `unchanged`) and with changed parameters (`folder` and `manifest`). Empty
    also when the former was not built."""
    try:
        return differences(
            unchanged, read_manifest(unchanged), folder, manifest, ("counts",)
        )
    except DataError:
        return []


def attempt(spec: dict[str, Any]) -> str:
    """Executes the notebook that `spec` describes (`execute`); returns the error as text, empty
    when the artefact is complete in its staging folder."""
    os.environ["CODESTRESS_STAGING"] = spec["staging"]
    os.environ["CODESTRESS_CHANGED"] = (
        spec["changed"]["told"] if spec["changed"] else ""
    )
    try:
        execute(spec)
    except PapermillExecutionError as error:
        return f"{error.ename}: {error.evalue}"
    except (CodestressError, OSError) as error:
        return str(error)
    except (
        Exception
    ):  # whatever papermill, the kernel or the converter raise: reported, never lost
        return traceback.format_exc(limit=-3)
    return ""


def main() -> None:
    """Executes a notebook for each line of stdin (a specification as JSON), until stdin ends, and
    prints `{"error": …}` for each, with an empty text on success."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not end up among the replies
    prepare()  # while the nursery imports, and models may still be asked
    for line in sys.stdin:
        print(
            json.dumps({"error": attempt(json.loads(line))}), file=replies, flush=True
        )


if __name__ == "__main__":
    main()
