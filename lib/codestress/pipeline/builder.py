"""Builds what is out of date: asks every question once, and executes the notebooks in parallel."""

from __future__ import annotations

import contextlib
import fcntl
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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from codestress.errors import CodestressError, DataError, EngineError, StoreError
from codestress.notes import notes_kept
from codestress.parameters import Asked
from codestress.paths import FAILED, OUTPUTS, ROOT, shown
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.estimate import BuildProgress, part_of
from codestress.pipeline.inputs import changes, inputs_of, modules_of
from codestress.pipeline.notebooks import check_parameters_cell
from codestress.pipeline.variants import told
from codestress.report.checked import changes_of_files, read_manifest

if TYPE_CHECKING:  # what asks is imported where something is asked
    from codestress.inference.budget import Budget
    from codestress.sandbox.executor import Ran


@dataclass(frozen=True)
class Outcome:
    """What became of one artefact in a build."""

    name: str
    """With what was changed of it."""
    state: str
    """`built`, `up to date` or `failed`."""
    seconds: float = 0.0
    error: str = ""
    not_run: dict[str, str] = field(default_factory=dict)
    """What it was built without, and why."""


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """One build at a time: two would ask the same questions twice."""
    try:
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        lock = (OUTPUTS / ".build.lock").open("w")
    except OSError as error:
        raise StoreError(f"{OUTPUTS}: cannot be written: {error}; name another folder in CODESTRESS_OUTPUTS") from None
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


def standing(artefact: Artefact, inputs: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """Why it must be built, inputs or files that are not what they were, nothing when it is up to date; and what it was
    built without."""
    try:
        manifest = read_manifest(artefact.folder)
        stale = changes_of_files(artefact.folder, manifest) or changes(manifest["inputs"], inputs)
        return stale, manifest["not_run"]
    except (DataError, KeyError, TypeError, AttributeError):
        return ["not built yet"], {}


def build(artefacts: Sequence[Artefact], *, jobs: int, force: bool, timeout_s: float | None) -> list[Outcome]:
    """Brings every artefact up to date; failures do not stop the others.

    The models are asked in this process, one artefact after the other, so that every question is asked once; a
    notebook is executed as soon as its answers are there.
    """
    with build_lock():
        inputs = {artefact.label: inputs_of(artefact) for artefact in artefacts}
        fresh, stale = [], []
        for artefact in artefacts:
            why, not_run = (["forced"], {}) if force else standing(artefact, inputs[artefact.label])
            if why:
                check_parameters_cell(artefact.notebook, artefact.study.parameters)
                stale.append(artefact)
            else:
                fresh.append(Outcome(artefact.label, "up to date", not_run=not_run))
        if not stale:
            return fresh
        from codestress.inference.budget import Budget

        for shelf in {artefact.shelf for artefact in stale}:
            shutil.rmtree(OUTPUTS / shelf / ".staging", ignore_errors=True)  # of a build that was killed
        budget = Budget.from_environment()  # one for all artefacts, and for what their notebooks ask
        workers = min(jobs, len(stale))
        with budget.shared(), notes_kept(), _Notebooks(workers, len(stale), inputs, timeout_s) as notebooks:
            return fresh + ask_all(stale, notebooks, budget)


def ask_all(artefacts: Sequence[Artefact], notebooks: _Notebooks, budget: Budget) -> list[Outcome]:
    """Asks what each artefact lacks, then hands it to the notebooks; all outcomes.

    A model that cannot be reached fails the artefacts that need it, without trying again for each.
    """
    from codestress.inference.ask import ask
    from codestress.pipeline.plan import check_windows
    from codestress.sandbox.executor import ran

    trials = {}
    programs: dict[str, Ran] = {}
    for artefact in artefacts:
        before = ran()
        try:
            made = artefact.trials()
            check_windows(artefact, made)
            trials[artefact.label] = made
        except CodestressError as error:  # a data set that is not here, for instance
            notebooks.fail(artefact, str(error))
        programs[artefact.label] = ran() - before
    unreachable: dict[str, str] = {}
    possible = [artefact for artefact in artefacts if artefact.label in trials]
    totals = {a.label: trials[a.label].total([model.name for model in a.models]) for a in possible}
    parts = {artefact.label: part_of(artefact, totals[artefact.label]) for artefact in possible}
    with BuildProgress(parts, notebooks.workers_at_most) as progress:
        notebooks.progress = progress
        for artefact in possible:
            label, names = artefact.label, [model.name for model in artefact.models]
            gone = next((name for name in names if totals[label] and name in unreachable), None)
            if gone is not None:
                progress.skip(totals[label])
                notebooks.fail(artefact, unreachable[gone])
                continue
            before = ran()
            progress.asks(label)
            given = artefact.parameters
            failures = given.failures if isinstance(given, Asked) else "raise"
            try:
                ask(trials[label], names, failures=failures, progress=progress, budget=budget)
            except EngineError as error:
                unreachable[error.model] = str(error)
                notebooks.fail(artefact, str(error))
            except StoreError:
                raise
            except CodestressError as error:
                notebooks.fail(artefact, str(error))
            else:
                notebooks.execute(artefact, programs[label] + ran() - before, progress.asked())
        return notebooks.wait()


class _Worker:
    """A process that executes one notebook after the other, each in a fresh kernel; killed with its kernel."""

    def __init__(self) -> None:
        # One thread for each kernel: several notebooks run side by side.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codestress.pipeline.execute"],
            cwd=ROOT,
            env=os.environ | threads | {"PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )

    def execute(self, spec: dict[str, object], timeout_s: float | None) -> str:
        """What went wrong, empty when all is well. After a time-out or a crash the worker is dead."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        timer = threading.Timer(timeout_s, self.kill) if timeout_s else None
        started = time.monotonic()
        if timer:
            timer.start()
        try:
            self.process.stdin.write(json.dumps(spec) + "\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except OSError:
            reply = ""
        finally:
            if timer:
                timer.cancel()
        if reply:
            error: str = json.loads(reply)["error"]
            return error
        self.process.wait()
        if timeout_s and time.monotonic() - started >= timeout_s:
            return f"stopped after {timeout_s:g} s; raise timeout_s in params/profiles/{spec['profile']}.yaml"
        self.log.seek(0)
        last = "\n".join(self.log.read().strip().splitlines()[-8:])
        return f"the process that executed it ended with status {self.process.returncode}\n{last}".strip()

    def kill(self) -> None:
        """Ends the process and its kernel; they form a group of their own."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None


class _Notebooks:
    """Executes notebooks in parallel, a line for each that ends; left early, it kills what is running."""

    def __init__(self, jobs: int, total: int, inputs: dict[str, dict[str, str]], timeout_s: float | None) -> None:
        self.total = total
        self.inputs = inputs
        self.timeout_s = timeout_s
        self.outcomes: list[Outcome] = []
        self.workers: dict[int, _Worker] = {}
        self.waiting: list[_Worker] = []
        self.workers_at_most = max(1, jobs)
        self.progress: BuildProgress | None = None
        self.pool = ThreadPoolExecutor(max_workers=self.workers_at_most)
        self.futures: list[Future[None]] = []
        self.shelves: set[str] = set()
        self.lock = threading.Lock()

    def __enter__(self) -> _Notebooks:
        self.waiting.append(_Worker())  # imports what it needs while the models are asked
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)
        for worker in [*self.workers.values(), *self.waiting]:
            worker.kill()
        self.pool.shutdown()

    def execute(self, artefact: Artefact, programs: Ran, ask_seconds: float) -> None:
        """Queues an artefact whose answers are all there; `programs` were run for them."""
        self.shelves.add(artefact.shelf)
        self.futures.append(self.pool.submit(self._one, artefact, programs, ask_seconds))

    def fail(self, artefact: Artefact, error: str) -> None:
        """Notes an artefact that cannot be executed."""
        self._ended(artefact, Outcome(artefact.label, "failed", error=error))

    def wait(self) -> list[Outcome]:
        """All outcomes, when all have ended."""
        while wait(self.futures, timeout=1).not_done:
            if self.progress:
                self.progress.refresh()
            while self.shelves:  # the report is due next, and this process only waits; what changes yet is read again
                from codestress.report.gallery import gallery

                with contextlib.suppress(Exception):  # what is wrong with it is told when it is due
                    gallery(self.shelves.pop())
        for future in self.futures:
            future.result()
        return self.outcomes

    def _one(self, artefact: Artefact, programs: Ran, ask_seconds: float) -> None:
        mine = threading.get_ident()
        if mine not in self.workers or self.workers[mine].dead:
            with self.lock:
                self.workers[mine] = self.waiting.pop() if self.waiting else _Worker()
        self._ended(artefact, self._executed(self.workers[mine], artefact, programs, ask_seconds))

    def _executed(self, worker: _Worker, artefact: Artefact, programs: Ran, ask_seconds: float) -> Outcome:
        from codestress.sandbox.executor import programs_run

        started = time.monotonic()
        staging_root = OUTPUTS / artefact.shelf / ".staging"
        staging_root.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=artefact.name.replace("/", "-") + "-", dir=staging_root))
        error = worker.execute(
            {
                "artefact": artefact.label,
                "title": artefact.title,
                "leaderboard": artefact.leaderboard,
                "profile": artefact.profile,
                "notebook": str(artefact.notebook),
                "parameters": artefact.parameters.model_dump(),
                "staging": str(staging),
                "inputs": self.inputs[artefact.label],
                "modules": modules_of(artefact),
                "programs": programs_run(programs),
                "ask_seconds": round(ask_seconds, 2),
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
            return Outcome(artefact.label, "failed", seconds, f"{error}\nthe notebook as far as it came: {shown(kept)}")
        replace_folder(staging, artefact.folder)
        shutil.rmtree(kept, ignore_errors=True)
        return Outcome(artefact.label, "built", seconds, not_run=read_manifest(artefact.folder)["not_run"])

    def _ended(self, artefact: Artefact, outcome: Outcome) -> None:
        if self.progress and artefact.label in self.progress.estimate.parts:
            self.progress.ended(artefact.label, outcome.seconds)
        with self.lock:
            self.outcomes.append(outcome)
            line = f"[{len(self.outcomes):>{len(str(self.total))}}/{self.total}] {outcome.name}  {outcome.state}"
            told = f"{line}  {outcome.seconds:.1f} s" if outcome.seconds else line
            tqdm.write(f"{told}\n{outcome.error}" if outcome.error else told, file=sys.stderr)


def marks(artefact: Artefact) -> dict[str, Any] | None:
    """What the command line changed, for the manifest: in words, where the unchanged lies, how to remove this one."""
    if not artefact.changed:
        return None
    return {
        "changes": [asdict(one) for one in artefact.changed],
        "told": told(artefact.profile, artefact.changed),
        "unchanged": str(artefact.unchanged.relative_to(OUTPUTS)),
        "remove": f"rm -r {shlex.quote(shown(artefact.folder))}",
    }


def replace_folder(new: Path, folder: Path) -> None:
    """Puts a complete folder in the place of another; a reader sees the old or the new one, never half of one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
