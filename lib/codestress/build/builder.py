"""Builds what is out of date: asks the models once for everything, then executes the notebooks in parallel."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import click

from codestress.build.artefacts import Artefact
from codestress.build.inputs import changes, inputs_of
from codestress.build.notebooks import check_parameters_cell
from codestress.errors import CodestressError, EngineError, StoreError
from codestress.inference.progress import Progress
from codestress.inference.run import run
from codestress.paths import FAILED, OUTPUTS, ROOT, shown


@dataclass(frozen=True)
class Outcome:
    """What became of one artefact in a build."""

    name: str
    state: str
    """`built`, `up to date` or `failed`."""
    seconds: float = 0.0
    error: str = ""


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """One build at a time: two would ask the same questions twice."""
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    with (OUTPUTS / ".build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo("another build is running here; waiting for it to end", err=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def out_of_date(artefact: Artefact, inputs: dict[str, str]) -> list[str]:
    """Why it must be built: the inputs that changed, or what is missing; empty when it is up to date."""
    try:
        manifest = json.loads((artefact.folder / "manifest.json").read_text(encoding="utf-8"))
        missing = [name for name in manifest["files"] if not (artefact.folder / name).is_file()]
        return [f"{name} is missing" for name in missing] or changes(manifest["inputs"], inputs)
    except (OSError, ValueError, KeyError):
        return ["not built yet"]


def build(artefacts: Sequence[Artefact], *, jobs: int, force: bool, timeout_s: float | None) -> list[Outcome]:
    """Brings every artefact up to date; failures do not stop the others."""
    with build_lock():
        inputs = {artefact.name: inputs_of(artefact) for artefact in artefacts}
        reasons = {a.name: ["asked for"] if force else out_of_date(a, inputs[a.name]) for a in artefacts}
        stale = [artefact for artefact in artefacts if reasons[artefact.name]]
        outcomes = [Outcome(a.name, "up to date") for a in artefacts if not reasons[a.name]]
        for artefact in stale:
            check_parameters_cell(artefact.notebook, artefact.study.parameters)
        failed = ask(stale) if stale else {}
        outcomes += [Outcome(name, "failed", error=error) for name, error in failed.items()]
        for outcome in outcomes:
            if outcome.state == "failed":
                click.echo(f"{outcome.name}: failed: {outcome.error}", err=True)
        ready = [artefact for artefact in stale if artefact.name not in failed]
        return outcomes + execute_all(ready, inputs, jobs=jobs, timeout_s=timeout_s)


def ask(artefacts: Sequence[Artefact]) -> dict[str, str]:
    """Asks everything that these artefacts lack, each request once; returns the errors by artefact.

    A model that cannot be reached fails the artefacts that need it, without trying again for each.
    """
    trials = {artefact.name: artefact.trials() for artefact in artefacts}
    failed: dict[str, str] = {}
    unreachable: dict[str, str] = {}
    total = sum(len(trials[a.name].items) * len(a.models) for a in artefacts)
    with Progress(total, "answers") as progress:
        for artefact in artefacts:
            names = [model.name for model in artefact.models]
            gone = next((name for name in names if name in unreachable), None)
            if gone is not None:
                failed[artefact.name] = unreachable[gone]
                progress.skip(len(trials[artefact.name].items) * len(names))
                continue
            try:
                run(trials[artefact.name], names, failures=artefact.parameters.failures, progress=progress)
            except EngineError as error:
                unreachable[error.model] = failed[artefact.name] = str(error)
            except StoreError:
                raise
            except CodestressError as error:
                failed[artefact.name] = str(error)
    return failed


class _Worker:
    """A process that executes one notebook after the other, each in a fresh kernel; killed with its kernel."""

    def __init__(self) -> None:
        # One thread for each kernel: several notebooks run side by side.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115  (lives as long as the worker)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codestress.build.execute"],
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


def execute_all(
    artefacts: Sequence[Artefact], inputs: dict[str, dict[str, str]], *, jobs: int, timeout_s: float | None
) -> list[Outcome]:
    """Executes the notebooks, `jobs` at a time, a line for each that ends."""
    outcomes: list[Outcome] = []
    workers: dict[int, _Worker] = {}

    def one(artefact: Artefact) -> Outcome:
        mine = threading.get_ident()
        if mine not in workers or workers[mine].dead:
            workers[mine] = _Worker()
        return _execute(workers[mine], artefact, inputs[artefact.name], timeout_s)

    pool = ThreadPoolExecutor(max_workers=max(1, min(jobs, len(artefacts))))
    try:
        for future in as_completed([pool.submit(one, artefact) for artefact in artefacts]):
            outcome = future.result()
            outcomes.append(outcome)
            line = f"[{len(outcomes):>{len(str(len(artefacts)))}}/{len(artefacts)}] {outcome.name}"
            click.echo(f"{line}  {outcome.state}  {outcome.seconds:.1f} s", err=True)
            if outcome.error:
                click.echo(outcome.error, err=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers.values():
            worker.kill()
        pool.shutdown()
    return outcomes


def _execute(worker: _Worker, artefact: Artefact, inputs: dict[str, str], timeout_s: float | None) -> Outcome:
    started = time.monotonic()
    staging_root = OUTPUTS / artefact.profile / ".staging"
    staging_root.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=artefact.name.replace("/", "-") + "-", dir=staging_root))
    error = worker.execute(
        {
            "artefact": artefact.name,
            "title": artefact.title,
            "profile": artefact.profile,
            "notebook": str(artefact.notebook),
            "parameters": artefact.parameters.model_dump(),
            "staging": str(staging),
            "inputs": inputs,
            "command": f"make {artefact.name} PROFILE={artefact.profile}",
        },
        timeout_s,
    )
    seconds = time.monotonic() - started
    kept = FAILED / artefact.profile / artefact.name
    if error:
        (staging / "error.txt").write_text(error + "\n", encoding="utf-8")
        replace_folder(staging, kept)
        return Outcome(artefact.name, "failed", seconds, f"{error}\nthe notebook as far as it came: {shown(kept)}")
    replace_folder(staging, artefact.folder)
    shutil.rmtree(kept, ignore_errors=True)
    return Outcome(artefact.name, "built", seconds)


def replace_folder(new: Path, folder: Path) -> None:
    """Puts a complete folder in the place of another; a reader sees the old or the new one, never half of one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
