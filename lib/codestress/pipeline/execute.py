"""Execute a notebook in this process, which was forked for it and ends with it.

A notebook succeeds if every code cell was completed, no cell's output is an error, and
all files of the artefact exist.
"""

import json
import logging
import sys
import time
import traceback
from base64 import b64encode
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import TextIOBase
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import nbformat
import papermill
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_markdown_cell, new_output
from papermill.engines import Engine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from traitlets import Type
from traitlets.config import Config

from codestress.errors import CodestressError, DataError
from codestress.paths import FILES, OUTPUTS, shown
from codestress.report.checked import sha256_of_files
from codestress.report.notebook_page import notebook_page
from codestress.types import now

from .artefacts import Artefact
from .diff import differences
from .inputs import environment
from .kernels import PRINTED
from .notebooks import closing, read_notebook
from .surroundings import commit, git

# papermill warns of a parameter without a line in the cell.
logging.getLogger("papermill").setLevel(logging.CRITICAL)


class CellStream(TextIOBase):
    """Standard output or error of all cells: text becomes an output of the cell that
    runs."""

    encoding = "UTF-8"

    def __init__(self, name: str, parts: list[tuple[str, Any]]) -> None:
        self.name, self.parts = name, parts

    def write(self, text: str) -> int:
        if text:
            self.parts.append((self.name, text))
        return len(text)


class CellPublisher(DisplayPublisher):
    """IPython publisher that adds what a cell displays to the shell's `parts`."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, *_: Any, **__: Any) -> None:
        for kind, value in data.items():
            if isinstance(value, bytes):
                data[kind] = b64encode(value).decode()
        shown = {"data": data, "metadata": metadata or {}}
        self.shell.parts.append(("display_data", shown))

    def clear_output(self, wait: bool = False) -> None:  # noqa: ARG002
        self.shell.parts.clear()


class CellHook(DisplayHook):
    """IPython hook that shows a cell's last value like any value that `display` shows."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class CellShell(InteractiveShell):
    """IPython shell that collects in `parts` what the running cell shows."""

    displayhook_class = Type(CellHook)
    display_pub_class = Type(CellPublisher)

    def __init__(self, **settings: Any) -> None:
        self.parts: list[tuple[str, Any]] = []
        super().__init__(**settings)

    def showtraceback(self, exc_tuple: Any = None, *_: Any, **__: Any) -> None:
        self.parts.append(("error", (exc_tuple or sys.exc_info())[1]))

    def enable_gui(self, gui: Any = None) -> None:
        """Accept `%matplotlib inline`."""

    def ask_exit(self) -> None:
        raise SystemExit


class CellEngine(Engine):  # type: ignore[misc]
    """Engine of papermill that runs the code cells in an IPython shell of this
    process, without a person's settings and history."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, *_: Any, **__: Any) -> None:
        config = Config(HistoryManager={"enabled": False})
        shell = CellShell.instance(config=config)
        # For the whole notebook, because handlers of logs keep these streams.
        with (
            redirect_stdout(CellStream("stdout", shell.parts)),
            redirect_stderr(CellStream("stderr", shell.parts)),
        ):
            for index, cell in enumerate(nb_man.nb.cells):
                nb_man.cell_start(cell, index)
                if cell.cell_type == "code" and not run_cell(shell, cell):
                    nb_man.cell_exception(cell, index)
                    return
                nb_man.cell_complete(cell, index)


def run_cell(shell: CellShell, cell: nbformat.NotebookNode) -> bool:
    """Run a code `cell` in the IPython `shell`, store its outputs in it, and return
    whether it ran without an error, also when its values and figures were shown."""
    result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    failed = "error", result.error_before_exec or result.error_in_exec
    if failed[1] and failed not in shell.parts:
        shell.parts.append(failed)
    for kind, parts in groupby(shell.parts, itemgetter(0)):
        contents = [content for _, content in parts]
        if kind == "display_data":
            cell.outputs += [new_output(kind, **shown) for shown in contents]
        elif kind == "error":
            cell.outputs += map(error_output, contents)
        else:
            text = "".join(contents)
            cell.outputs.append(new_output("stream", name=kind, text=text))
    shell.parts.clear()
    return not any(output.output_type == "error" for output in cell.outputs)


def error_output(error: BaseException) -> Any:
    return new_output(
        "error",
        ename=type(error).__name__,
        evalue=str(error),
        traceback=traceback.format_exception(error),
    )


papermill_engines.register(CellEngine.__name__, CellEngine)


def execute(artefact: Artefact, staging: Path, record: dict[str, Any]) -> None:
    """Execute the notebook of `artefact` into the folder `staging`, and complete the manifest that the notebook
    published there.

    `record` (with the keys `inputs` and `programs`) is added to the manifest. Raises papermill's error if a cell
    fails, and `CodestressError` if a file of the artefact is missing.
    """
    output = staging / "notebook.ipynb"
    started = time.monotonic()
    notebook = papermill.execute_notebook(
        read_notebook(artefact.notebook),
        str(output),
        artefact.parameters.model_dump(),
        engine_name=CellEngine.__name__,
        kernel_name="python3",  # named here in case a tool stripped the metadata
        language="python",
        progress_bar=False,
    )
    if notebook.metadata.papermill.exception:
        # papermill itself accepts this end of a cell.
        raise CodestressError("SystemExit: a cell ended the notebook with status 0")
    (staging / PRINTED).unlink(missing_ok=True)
    # papermill records the paths that both have on this machine; replace them.
    notebook.metadata.papermill.update(
        input_path=shown(artefact.notebook), output_path=output.name
    )
    if text := closing(artefact):
        # A notebook that ends in a code cell keeps the cell and gets another.
        if notebook.cells[-1].cell_type != "markdown":
            notebook.cells.append(new_markdown_cell(id="closing"))
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


def failure(artefact: Artefact, staging: Path, record: dict[str, Any]) -> str:
    """Execute the notebook of `artefact` into the folder `staging` (see `execute`), and return
    the error as text; empty if the artefact is complete."""
    try:
        execute(artefact, staging, record)
    except PapermillExecutionError as error:
        return f"{error.ename}: {error.evalue}"
    except (CodestressError, OSError) as error:
        return str(error)
    except Exception:  # whatever papermill or the converter raise: reported, never lost
        return traceback.format_exc(limit=-3)
    return ""
