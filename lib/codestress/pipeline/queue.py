"""Execute the notebooks of a build in parallel, each as soon as its responses are in
the store, and print the outcome of each artefact."""

import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from tqdm import tqdm

from codestress.errors import CodestressError
from codestress.inference.budget import BudgetReached
from codestress.paths import FAILED, OUTPUTS, shown
from codestress.program_counts import ProgramCounts, count_rows
from codestress.report.checked import read_manifest

from .artefacts import Artefact
from .inputs import modules_of
from .kernels import ERROR, attempt, kill_all, start
from .surroundings import apart, socket_folder


@dataclass(frozen=True)
class Outcome:
    """Result of a build for one artefact: its label, state, seconds, error text, and
    the parts of its study that were not run."""

    name: str
    """Label of the artefact: its name with its changed parameters."""
    state: str
    """`built`, `up to date`, `failed` or `stopped`.

    An artefact is stopped if a limit of the budget is reached before all of its
    requests are sent. In a build with a time limit, an artefact is stopped only if the
    limit is reached before its first request.
    """
    seconds: float = 0.0
    error: str = ""
    not_run: dict[str, str] = field(default_factory=dict)
    """Dict from each part of the study that could not run on this computer to the
    reason."""


@dataclass
class NotebookQueue:
    """Queue of notebooks that are executed in parallel. The queue collects an `Outcome`
    for each artefact and prints a line when an artefact ends."""

    artefacts: Sequence[Artefact]
    pool: ThreadPoolExecutor
    inputs: Mapping[str, dict[str, str]]
    timeout_s: float | None
    outcomes: list[Outcome] = field(default_factory=list)
    futures: list[Future[None]] = field(default_factory=list)
    left: bool = False
    lock = threading.Lock()

    def stop(self) -> None:
        """Kill the notebooks that still run; a killed notebook gets no outcome."""
        self.left = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in self.futures):
            kill_all()  # again, because a kernel may have been about to start
            time.sleep(0.1)

    def execute(self, artefact: Artefact, programs: ProgramCounts) -> None:
        """Queue the notebook of an `artefact` whose responses are in the store.

        `programs` counts the programs that ran to make the artefact's trials and
        responses.
        """
        self.futures.append(self.pool.submit(self._execute, artefact, programs))

    def fail(self, artefact: Artefact, error: CodestressError) -> None:
        """Record the `Outcome` of an `artefact` whose notebook is not executed because
        of `error`: `stopped` if a limit of the budget was reached, else `failed`."""
        state = "stopped" if isinstance(error, BudgetReached) else "failed"
        self._ended(Outcome(artefact.label, state, error=str(error)))

    def wait(self) -> list[Outcome]:
        """Wait for all queued notebooks and return the `Outcome` of each artefact."""
        for future in self.futures:
            future.result()
        return self.outcomes

    def _execute(self, artefact: Artefact, programs: ProgramCounts) -> None:
        started = time.monotonic()
        shelf = OUTPUTS / artefact.shelf / ".staging"
        shelf.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=shelf))
        record = {
            "inputs": self.inputs[artefact.label],
            "programs": count_rows(programs),
        }
        error = attempt(artefact, staging, record, self.timeout_s)
        if self.left:
            return
        copy = FAILED / artefact.shelf / artefact.label
        state, not_run = "built", {}
        if error:
            (staging / ERROR).write_text(error + "\n", "utf-8")
            replace_folder(staging, copy)
            error += f"\nthe notebook as far as it ran: {shown(copy)}"
            state = "failed"
        else:
            replace_folder(staging, artefact.folder)
            shutil.rmtree(copy, ignore_errors=True)
            not_run = read_manifest(artefact.folder)["not_run"]
        seconds = time.monotonic() - started
        self._ended(Outcome(artefact.label, state, seconds, error, not_run))

    def _ended(self, outcome: Outcome) -> None:
        with self.lock:
            earlier = {ended.error for ended in self.outcomes}
            self.outcomes.append(outcome)
            place = f"[{len(self.outcomes)}/{len(self.artefacts)}]"
            line = f"{place} {outcome.name}  {outcome.state}"
            if outcome.seconds:
                line += f"  {outcome.seconds:.1f} s"
            if outcome.error and outcome.error not in earlier:
                line += f"\n{outcome.error}"
            tqdm.write(line, file=sys.stderr)


@contextlib.contextmanager
def notebook_queue(
    artefacts: Sequence[Artefact],
    inputs: Mapping[str, dict[str, str]],
    jobs: int,
    timeout_s: float | None,
) -> Iterator[NotebookQueue]:
    """Return a context manager of a `NotebookQueue` for the notebooks of `artefacts`,
    in an environment without a person's settings of Jupyter and IPython.

    `inputs` is a dict from an artefact's label to the hashes of its inputs. At most
    `jobs` notebooks are executed at the same time, each for at most `timeout_s` seconds
    (None: no limit). Leaving the context early kills running notebooks.
    """
    for artefact in artefacts:
        # A build that was killed leaves this folder behind.
        shutil.rmtree(OUTPUTS / artefact.shelf / ".staging", ignore_errors=True)
    with (
        socket_folder() as folder,
        patch.dict(os.environ, apart(folder), clear=True),
        ThreadPoolExecutor(max(1, jobs)) as pool,
    ):
        start(sorted(set[str]().union(*map(modules_of, artefacts))), folder)
        queue = NotebookQueue(artefacts, pool, inputs, timeout_s)
        try:
            yield queue
        finally:
            queue.stop()


def replace_folder(new: Path, folder: Path) -> None:
    """Move the complete folder `new` to the path `folder`, and delete the folder that
    was there, if any.

    Each folder is renamed as a whole, so that a reader never sees a folder with a part
    of its files.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
