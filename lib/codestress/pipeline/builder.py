"""Builds artefacts that are out of date: sends every request once, and executes the notebooks in
parallel."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from codestress.errors import CodestressError, DataError, EngineError, StoreError
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.progress import Progress, in_minutes
from codestress.notes import notes_kept
from codestress.paths import FAILED, OUTPUTS, shown
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.inputs import changes, inputs_of, modules_of
from codestress.pipeline.notebooks import (
    check_parameters_cell,
    closing,
    tell_ignored_values,
)
from codestress.pipeline.surroundings import apart
from codestress.pipeline.turns import ask_by_turns
from codestress.pipeline.variants import told
from codestress.program_counts import ProgramCounts, count_rows, programs_so_far
from codestress.report.checked import changes_of_files, read_manifest
from codestress.report.published import read_published
from codestress.types import Trials


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
    except OSError as error:
        raise StoreError(
            f"{OUTPUTS}: cannot be written: {error}; name another folder in CODESTRESS_OUTPUTS"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo("another build is running here; waiting for it to end", err=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise StoreError(
                f"{OUTPUTS}: its file system has no locks ({error}), which keep two builds and their answers apart; "
                "name a folder on a local disk in CODESTRESS_OUTPUTS"
            ) from None
        yield


def standing(
    artefact: Artefact, inputs: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Pair of the reasons, as texts, why `artefact` must be built (not built yet, changed inputs or
    output files, questions not asked; none when it is up to date), and the parts that its last
    build left out, with the reason. `inputs` are the hashes of today's inputs by name."""
    try:
        manifest = read_manifest(artefact.folder)
        stale = changes_of_files(artefact.folder, manifest) or changes(
            manifest["inputs"], inputs
        )
        stale += (
            ["some of its questions were not asked"] if manifest["not_asked"] else []
        )
        return stale, manifest["not_run"]
    except (DataError, KeyError, TypeError, AttributeError):
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
        fresh, stale = [], []
        for artefact in artefacts:
            why, not_run = (
                (["forced"], {})
                if force
                else standing(artefact, inputs[artefact.label])
            )
            if why:
                check_parameters_cell(artefact.notebook, type(artefact.parameters))
                stale.append(artefact)
            else:
                fresh.append(Outcome(artefact.label, "up to date", not_run=not_run))
        if not stale:
            return fresh
        for paper in {artefact.paper for artefact in stale}:
            # A faulty file would only fail the notebook, after its questions were asked.
            read_published(paper)
        for shelf in {artefact.shelf for artefact in stale}:
            # Of a build that was killed.
            shutil.rmtree(OUTPUTS / shelf / ".staging", ignore_errors=True)
        # One for all artefacts, and for what their notebooks ask.
        budget = Budget.from_environment()
        workers = min(jobs, len(stale))
        with (
            budget.shared(),
            notes_kept(),
            _Notebooks(workers, len(stale), inputs, timeout_s) as notebooks,
        ):
            return fresh + ask_all(stale, notebooks, budget)


def _trials_of(
    artefacts: Sequence[Artefact], notebooks: _Notebooks, budget: Budget
) -> tuple[dict[str, Trials], dict[str, ProgramCounts]]:
    """Two dictionaries by artefact label: the trials, and the counts of programs that ran to make
    them. An artefact whose trials cannot be made has no trials and is recorded in `notebooks` as
    failed; so is, unless `budget` limits the time, one with prompts too long for a model."""
    from codestress.pipeline.plan import check_windows

    trials: dict[str, Trials] = {}
    programs: dict[str, ProgramCounts] = {}
    for number, artefact in enumerate(artefacts, start=1):
        label, before = artefact.label, programs_so_far()
        try:
            if budget.until is not None:
                if budget.over:
                    notebooks.fail(
                        artefact, f"nothing was asked: {budget.reached()}", "stopped"
                    )
                    continue
                left = in_minutes(budget.until - time.monotonic())
                place = f"{number} of {len(artefacts)}"
                click.echo(
                    f"making the questions of {artefact.name} ({place}); {left}",
                    err=True,
                )
            trials[label] = artefact.trials()
            if budget.until is None:
                check_windows(artefact, trials[label])
        except CodestressError as error:  # a data set that is not here, for instance
            trials.pop(label, None)
            notebooks.fail(artefact, str(error))
        programs[label] = programs_so_far() - before
    return trials, programs


def ask_all(
    artefacts: Sequence[Artefact], notebooks: _Notebooks, budget: Budget
) -> list[Outcome]:
    """Sends the missing requests of each artefact in turn, within the limits of `budget`, then
    queues its notebook in `notebooks`; returns all outcomes when the notebooks have ended.

    A model that cannot be reached fails all artefacts that need it, without another try for each.
    Only `StoreError` is raised; other errors fail their artefact.
    """
    from codestress.inference.ask import ask  # here: it takes long to import

    trials, programs = _trials_of(artefacts, notebooks, budget)
    unreachable: dict[str, str] = {}
    possible = [artefact for artefact in artefacts if artefact.label in trials]
    totals = {a.label: trials[a.label].total(a.model_names) for a in possible}
    with Progress(sum(totals.values()), "build", budget.until) as progress:
        notebooks.show(progress)
        if budget.until is not None:
            ask_by_turns(possible, trials, budget, progress)
        for artefact in possible:
            label, names = artefact.label, artefact.model_names
            gone = [name for name in names if name in unreachable]
            if gone and totals[label]:
                progress.skip(totals[label])
                notebooks.fail(artefact, unreachable[gone[0]])
                continue
            before = programs_so_far()
            # By turns the questions were counted already.
            shown_on = (
                progress if budget.until is None else Progress(0, "", silent=True)
            )
            try:
                asked = ask(
                    trials[label],
                    names,
                    failures=artefact.failures,
                    progress=shown_on,
                    budget=budget,
                )
                reasons = [reply.left_out for reply in itertools.chain(*asked.replies)]
                if reasons and all(reasons):
                    why = " and ".join(dict.fromkeys(reasons))
                    raise BudgetReached(f"nothing was asked: {why}")
                ran = programs[label] + programs_so_far() - before
                notebooks.execute(artefact, ran)
            except EngineError as error:
                unreachable[error.model] = str(error)
                notebooks.fail(artefact, str(error))
            except StoreError:
                raise
            except BudgetReached as reached:
                notebooks.fail(artefact, str(reached), "stopped")
            except CodestressError as error:
                notebooks.fail(artefact, str(error))
        progress.until = None  # what is left are figures
        notebooks.show(progress)
        return notebooks.wait()


class _Worker:
    """A process that executes notebooks one after the other, each in a fresh kernel (a process that
    runs its code)."""

    def __init__(self) -> None:
        # One thread for each kernel: several notebooks run side by side.
        threads = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
        )
        self.folder = tempfile.TemporaryDirectory(
            prefix="codestress-", ignore_cleanup_errors=True
        )
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codestress.pipeline.execute"],
            cwd=self.folder.name,
            env=apart(self.folder.name) | threads | {"PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )

    def execute(self, spec: dict[str, object], timeout_s: float | None) -> str:
        """Executes the notebook that `spec` describes (the keys that `_Notebooks` sends); returns
        the error as text, empty on success. After `timeout_s` seconds (None: no limit) or a crash
        the worker is dead, which the error says."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        timer = threading.Timer(timeout_s or threading.TIMEOUT_MAX, self.kill)
        started = time.monotonic()
        timer.start()
        try:
            self.process.stdin.write(json.dumps(spec) + "\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except OSError:
            reply = ""
        finally:
            timer.cancel()
        if reply:
            return str(json.loads(reply)["error"])
        self.process.wait()
        if timeout_s and time.monotonic() - started >= timeout_s:
            return f"stopped after {timeout_s:g} s; raise timeout_s in params/profiles/{spec['profile']}.yaml"
        self.log.seek(0)
        last = "\n".join(self.log.read().strip().splitlines()[-8:])
        return f"the process that executed it ended with status {self.process.returncode}\n{last}".strip()

    def kill(self) -> None:
        """Kills the worker's process and its kernel, which form a group of their own; does nothing
        when they have ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None


class _Notebooks:
    """Context manager that executes queued notebooks in parallel, collects an `Outcome` for each
    artefact, and prints a line for each that ends. Leaving the context early kills running
    notebooks."""

    def __init__(
        self,
        jobs: int,
        total: int,
        inputs: dict[str, dict[str, str]],
        timeout_s: float | None,
    ) -> None:
        self.total = total
        self.inputs = inputs
        self.timeout_s = timeout_s
        self.outcomes: list[Outcome] = []
        self.errors: dict[str, str] = {}
        """Number, as printed (`[1/6]`), of the first artefact that ended with an error, by the error's
        text."""
        self.workers: dict[int, _Worker] = {}
        self.waiting: list[_Worker] = []
        self.progress: Progress | None = None
        self.pool = ThreadPoolExecutor(max(1, jobs))
        self.futures: list[Future[None]] = []
        self.shelves: set[str] = set()
        self.lock = threading.Lock()

    def __enter__(self) -> _Notebooks:
        self.waiting.append(
            _Worker()
        )  # imports what it needs while the models are asked
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)
        for worker in [*self.workers.values(), *self.waiting]:
            worker.kill()
        self.pool.shutdown()

    def show(self, progress: Progress) -> None:
        """Shows the number of finished notebooks on the bar `progress` from now on, beside the
        number of responses."""
        self.progress = progress
        progress.beside(self._told())

    def _told(self) -> str:
        return f"{len(self.outcomes)} of {self.total} notebooks"

    def execute(self, artefact: Artefact, programs: ProgramCounts) -> None:
        """Queues the notebook of an `artefact` whose responses are in the store; `programs` counts
        the programs that ran to make its trials and responses."""
        self.shelves.add(artefact.shelf)
        self.futures.append(self.pool.submit(self._one, artefact, programs))

    def fail(self, artefact: Artefact, error: str, state: str = "failed") -> None:
        """Records the `Outcome` of an `artefact` whose notebook is not executed: `error` is the
        reason, `state` is `failed`, or `stopped` at a limit of the budget."""
        self._ended(Outcome(artefact.label, state, error=error))

    def wait(self) -> list[Outcome]:
        """Waits for all queued notebooks; returns the `Outcome` of each artefact that was executed,
        or recorded by `fail`."""
        while wait(self.futures, timeout=1).not_done:
            if self.progress:
                self.progress.refresh()
            while self.shelves:  # the report is due next, and this process only waits; what changes yet is read again
                from codestress.report.gallery import gallery

                with contextlib.suppress(
                    Exception
                ):  # what is wrong with it is told when it is due
                    gallery(self.shelves.pop())
        for future in self.futures:
            future.result()
        return self.outcomes

    def _one(self, artefact: Artefact, programs: ProgramCounts) -> None:
        mine = threading.get_ident()
        if mine not in self.workers or self.workers[mine].dead:
            with self.lock:
                self.workers[mine] = self.waiting.pop() if self.waiting else _Worker()
        self._ended(self._executed(self.workers[mine], artefact, programs))

    def _executed(
        self, worker: _Worker, artefact: Artefact, programs: ProgramCounts
    ) -> Outcome:
        started = time.monotonic()
        staging_root = OUTPUTS / artefact.shelf / ".staging"
        staging_root.mkdir(parents=True, exist_ok=True)
        prefix = artefact.name.replace("/", "-") + "-"
        staging = Path(tempfile.mkdtemp(prefix=prefix, dir=staging_root))
        error = worker.execute(
            {
                "artefact": artefact.label,
                "title": artefact.title,
                "leaderboard": artefact.leaderboard,
                "profile": artefact.profile,
                "notebook": str(artefact.notebook),
                "parameters": artefact.parameters.model_dump(),
                "closing": closing(artefact),
                "staging": str(staging),
                "inputs": self.inputs[artefact.label],
                "modules": modules_of(artefact),
                "programs": count_rows(programs),
                "command": artefact.command,
                "changed": marks(artefact),
            },
            self.timeout_s,
        )
        seconds = time.monotonic() - started
        kept = FAILED / artefact.shelf / artefact.label
        if error:
            (staging / "error.txt").write_text(error + "\n", encoding="utf-8")
            replace_folder(staging, kept)
            error += f"\nthe notebook as far as it came: {shown(kept)}"
            return Outcome(artefact.label, "failed", seconds, error)
        replace_folder(staging, artefact.folder)
        shutil.rmtree(kept, ignore_errors=True)
        not_run = read_manifest(artefact.folder)["not_run"]
        return Outcome(artefact.label, "built", seconds, not_run=not_run)

    def _ended(self, outcome: Outcome) -> None:
        with self.lock:
            self.outcomes.append(outcome)
            if self.progress:
                self.progress.beside(self._told())
            number = f"[{len(self.outcomes):>{len(str(self.total))}}/{self.total}]"
            line = f"{number} {outcome.name}  {outcome.state}"
            if outcome.seconds:
                line += f"  {outcome.seconds:.1f} s"
            first = self.errors.setdefault(outcome.error, number)
            if outcome.error:
                line += (
                    f"\n{outcome.error}"
                    if first == number
                    else f"  for the reason at {first}"
                )
            tqdm.write(line, file=sys.stderr)


def marks(artefact: Artefact) -> dict[str, Any] | None:
    """Entry in the manifest of `artefact` on the parameters that the command line changed; None
    without changes. Keys: `told` (in words), `unchanged` (the folder in
    outputs/ of the artefact without changes), `remove` (the shell command that deletes its own
    folder)."""
    if not artefact.changed:
        return None
    return {
        "told": told(artefact.profile, artefact.changed),
        "unchanged": str(artefact.unchanged.relative_to(OUTPUTS)),
        "remove": f"rm -r {shlex.quote(shown(artefact.folder))}",
    }


def replace_folder(new: Path, folder: Path) -> None:
    """Moves the complete folder `new` to the path `folder` and deletes the folder that was there,
    if any. A reader sees the old or the new folder, never a part."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
