"""Builds artefacts that are out of date: sends every request once, and executes the notebooks in
parallel."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import click
from tqdm import tqdm

from codestress.errors import CodestressError, DataError, EngineError, StoreError
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.progress import Progress, in_minutes
from codestress.notes import notes_kept
from codestress.paths import FAILED, OUTPUTS, shown
from codestress.program_counts import ProgramCounts, programs_so_far
from codestress.report.checked import changes_of_files, read_manifest
from codestress.report.published import read_published
from codestress.types import Trials

from .artefacts import Artefact
from .inputs import changes, inputs_of, modules_of
from .kernels import kill_all, start
from .notebooks import (
    check_parameters_cell,
    tell_ignored_values,
)
from .surroundings import apart, socket_folder
from .turns import ask_by_turns


@dataclass(frozen=True)
class Outcome:
    """Result of a build for one artefact: its label, state, seconds, error text, and parts not
    run."""

    name: str
    """Label of the artefact, with its changed parameters."""
    state: str
    """`built`, `up to date`, `failed` or `stopped`. An artefact is stopped if a limit of the budget
    is reached before all of its requests are sent; in a build with minutes, before its first."""
    seconds: float = 0.0
    error: str = ""
    not_run: dict[str, str] = field(default_factory=dict)
    """Parts of the study that could not run on this computer, with the reason."""


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """Context manager that holds the build lock of outputs/, after waiting for another build to
    end. One build at a time: two would send the same requests twice. `StoreError` where outputs/
    cannot be written or locked."""
    try:
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        lock = (OUTPUTS / ".build.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo("another build is running here; waiting for it to end", err=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise StoreError(
            f"{OUTPUTS}: {error}; it must be writable and have locks: name a folder on a "
            "local disk in CODESTRESS_OUTPUTS"
        ) from None
    with lock:
        yield


def standing(
    artefact: Artefact, inputs: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Pair of the reasons, as texts, why `artefact` must be built (not built yet, changed inputs or
    output files, questions not asked; none when it is up to date), and the parts that its last
    build left out, with the reason. `inputs` are the hashes of today's inputs by name."""
    try:
        manifest = read_manifest(artefact.folder)
        stale = changes_of_files(artefact.folder, manifest)
        stale += changes(manifest["inputs"], inputs)
        if manifest["not_asked"]:
            stale.append("some of its questions were not asked")
        return stale, manifest["not_run"]
    except DataError:
        return ["not built yet"], {}


def build(
    artefacts: Sequence[Artefact],
    *,
    jobs: int,
    force: bool,
    timeout_s: float | None,
) -> list[Outcome]:
    """Brings all `artefacts` up to date and returns an `Outcome` for each; a failed artefact does
    not stop the others. `StoreError` where outputs/ or the store cannot be used, `ParameterError`
    where a notebook's parameters cell differs from its schema, `DataError` where a paper's file of
    published numbers is faulty.

    `jobs` notebooks are executed at a time, each for at most `timeout_s` seconds (None: no limit);
    `force` builds also what is up to date. This process asks the models, one artefact after the
    other, so that every request is sent once. A notebook is executed as soon as its responses are
    in the store. In a context `minutes_from_now` (a time limit) all artefacts are asked in turns,
    and the figures show the responses so far.
    """
    tell_ignored_values(artefacts)
    with build_lock():
        inputs = {artefact.label: inputs_of(artefact) for artefact in artefacts}
        outcomes, stale = [], []
        for artefact in artefacts:
            why, not_run = standing(artefact, inputs[artefact.label])
            if why or force:
                check_parameters_cell(artefact.notebook, type(artefact.parameters))
                # A faulty file would only fail the notebook, after its questions were asked.
                read_published(artefact.paper)
                stale.append(artefact)
            else:
                outcomes.append(Outcome(artefact.label, "up to date", not_run=not_run))
        if stale:
            jobs = max(1, min(jobs, len(stale)))
            with socket_folder() as folder:
                notebooks = _Notebooks(
                    stale, ThreadPoolExecutor(jobs), inputs, timeout_s, folder
                )
                outcomes += _built(notebooks)
        return outcomes


def _built(notebooks: _Notebooks) -> list[Outcome]:
    artefacts = notebooks.artefacts
    for artefact in artefacts:
        # Of a build that was killed.
        shutil.rmtree(OUTPUTS / artefact.shelf / ".staging", ignore_errors=True)
    # One for all artefacts, and for what their notebooks ask.
    budget = Budget.from_environment()
    with budget.shared(), notes_kept():
        own = apart(notebooks.folder)  # with what the two have set, for the kernels
        with patch.dict(os.environ, own, clear=True), notebooks:
            return ask_all(artefacts, notebooks, budget)


def _questions_of(
    artefacts: Sequence[Artefact], notebooks: _Notebooks, budget: Budget
) -> Iterator[tuple[Artefact, Trials, ProgramCounts]]:
    """Yields, for each artefact, its trials and the counts of programs that ran to make them. An
    artefact whose trials cannot be made is recorded in `notebooks` as failed; so is, unless
    `budget` limits the time, one with prompts too long for a model."""
    from .plan import check_windows

    for number, artefact in enumerate(artefacts, start=1):
        before = programs_so_far()
        try:
            if budget.over:
                raise BudgetReached(f"nothing was asked: {budget.reached()}")
            if budget.until is not None:
                left = in_minutes(budget.until - time.monotonic())
                place = f"{number} of {len(artefacts)}"
                line = f"making the questions of {artefact.name} ({place}); {left}"
                click.echo(line, err=True)
            trials = artefact.trials()
            if budget.until is None:
                check_windows(artefact, trials)
        except CodestressError as error:  # a data set that is not here, for instance
            notebooks.fail(artefact, error)
        else:
            yield artefact, trials, programs_so_far() - before


def ask_all(
    artefacts: Sequence[Artefact], notebooks: _Notebooks, budget: Budget
) -> list[Outcome]:
    """Sends the missing requests of each artefact in turn, within the limits of `budget`, then
    queues its notebook in `notebooks`; returns all outcomes when the notebooks have ended.

    A model that cannot be reached fails all artefacts that need it, without another try for each.
    Only `StoreError` is raised; other errors fail their artefact.
    """
    questions = list(_questions_of(artefacts, notebooks, budget))
    totals = [trials.total(one.model_names) for one, trials, _ in questions]
    unreachable: dict[str, CodestressError] = {}
    with Progress(sum(totals), "build", budget.until) as progress:
        notebooks.show(progress)
        shown_on = progress
        if budget.until is not None:
            ask_by_turns([question[:2] for question in questions], budget, progress)
            shown_on = Progress(0, "", silent=True)  # the questions were counted
        for (artefact, trials, ran), total in zip(questions, totals, strict=True):
            gone = unreachable.keys() & artefact.model_names
            if gone and total:
                progress.skip(total)
                notebooks.fail(artefact, unreachable[min(gone)])
                continue
            before = programs_so_far()
            try:
                _ask(artefact, trials, shown_on, budget)
            except StoreError:
                raise
            except CodestressError as error:
                if isinstance(error, EngineError):
                    unreachable[error.model] = error
                notebooks.fail(artefact, error)
            else:
                notebooks.execute(artefact, ran + programs_so_far() - before)
        progress.until = None  # what is left are figures
        notebooks.show(progress)
        return notebooks.wait()


def _ask(
    artefact: Artefact, trials: Trials, progress: Progress, budget: Budget
) -> None:
    """Sends the missing requests of an artefact; `BudgetReached` where none was answered within
    the limits of `budget`."""
    asked = artefact.ask(trials, progress, budget)
    reasons = [reply.left_out for reply in itertools.chain(*asked.replies)]
    if reasons and all(reasons):
        why = " and ".join(dict.fromkeys(reasons))
        raise BudgetReached(f"nothing was asked: {why}")


@dataclass
class _Notebooks:
    """Context manager that executes queued notebooks in parallel, collects an `Outcome` for each
    artefact, and prints a line for each that ends. Leaving the context early kills running
    notebooks."""

    artefacts: Sequence[Artefact]
    pool: ThreadPoolExecutor
    inputs: dict[str, dict[str, str]]
    timeout_s: float | None
    folder: str
    outcomes: list[Outcome] = field(default_factory=list)
    progress: Progress | None = None
    futures: list[Future[None]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    left: bool = False

    def __enter__(self) -> _Notebooks:
        start(
            dict.fromkeys(itertools.chain(*map(modules_of, self.artefacts))),
            self.folder,
        )
        self.pool.submit(prepare)  # while the models are asked
        return self

    def __exit__(self, *_: object) -> None:
        self.left = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in self.futures):
            kill_all()  # again where one was about to start
            time.sleep(0.1)
        self.pool.shutdown()

    def show(self, progress: Progress) -> None:
        """Shows the number of finished notebooks on the bar `progress` from now on, beside the
        number of responses."""
        self.progress = progress
        progress.beside(f"{len(self.outcomes)} of {len(self.artefacts)} notebooks")

    def execute(self, artefact: Artefact, programs: ProgramCounts) -> None:
        """Queues the notebook of an `artefact` whose responses are in the store; `programs` counts
        the programs that ran to make its trials and responses."""
        self.futures.append(self.pool.submit(self._execute, artefact, programs))

    def fail(self, artefact: Artefact, error: CodestressError) -> None:
        """Records the `Outcome` of an `artefact` whose notebook is not executed for the reason
        `error`: `stopped` at a limit of the budget, else `failed`."""
        state = "stopped" if isinstance(error, BudgetReached) else "failed"
        self._ended(Outcome(artefact.label, state, error=str(error)))

    def wait(self) -> list[Outcome]:
        """Waits for all queued notebooks; returns the `Outcome` of each artefact."""
        shelves = {artefact.shelf for artefact in self.artefacts}
        while wait(self.futures, timeout=1).not_done:
            if self.progress:
                self.progress.refresh()
            if shelves:  # the report is due next, and this process only waits
                from codestress.report.gallery import gallery

                # What changes yet is read again, and what is wrong is told when it is due.
                with contextlib.suppress(Exception):
                    gallery(shelves.pop())
        for future in self.futures:
            future.result()
        return self.outcomes

    def _execute(self, artefact: Artefact, programs: ProgramCounts) -> None:
        from .execute import attempt

        started = time.monotonic()
        shelf = OUTPUTS / artefact.shelf / ".staging"
        shelf.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=shelf))
        inputs = self.inputs[artefact.label]
        timeout_s = self.timeout_s
        error = attempt(artefact, staging, self.folder, inputs, programs, timeout_s)
        if self.left:
            return
        kept = FAILED / artefact.shelf / artefact.label
        state, not_run = "built", {}
        if error:
            (staging / "error.txt").write_text(error + "\n", "utf-8")
            replace_folder(staging, kept)
            error += f"\nthe notebook as far as it came: {shown(kept)}"
            state = "failed"
        else:
            replace_folder(staging, artefact.folder)
            shutil.rmtree(kept, ignore_errors=True)
            not_run = read_manifest(artefact.folder)["not_run"]
        seconds = time.monotonic() - started
        self._ended(Outcome(artefact.label, state, seconds, error, not_run))

    def _ended(self, outcome: Outcome) -> None:
        with self.lock:
            earlier = {ended.error for ended in self.outcomes}
            self.outcomes.append(outcome)
            if self.progress:
                self.show(self.progress)
            total = len(self.artefacts)
            number = f"{len(self.outcomes):>{len(str(total))}}"
            line = f"[{number}/{total}] {outcome.name}  {outcome.state}"
            if outcome.seconds:
                line += f"  {outcome.seconds:.1f} s"
            if outcome.error and outcome.error not in earlier:
                line += f"\n{outcome.error}"
            tqdm.write(line, file=sys.stderr)


def prepare() -> None:
    """Imports what executes notebooks."""
    from codestress.report.notebook_page import prepare

    from . import execute  # noqa: F401

    prepare()


def replace_folder(new: Path, folder: Path) -> None:
    """Moves the complete folder `new` to the path `folder` and deletes the folder that was there,
    if any. A reader sees the old or the new folder, never a part."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
