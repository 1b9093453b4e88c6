"""Builds what is out of date: asks the models once for everything, then executes the notebooks in parallel."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
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


@contextmanager
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


def execute_all(
    artefacts: Sequence[Artefact], inputs: dict[str, dict[str, str]], *, jobs: int, timeout_s: float | None
) -> list[Outcome]:
    """Executes the notebooks, `jobs` at a time, a line for each that ends."""
    outcomes: list[Outcome] = []
    processes: set[subprocess.Popen[str]] = set()
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        waiting: set[Future[Outcome]] = {
            pool.submit(_execute, artefact, inputs[artefact.name], timeout_s, processes) for artefact in artefacts
        }
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    outcome = future.result()
                    outcomes.append(outcome)
                    line = f"[{len(outcomes):>{len(str(len(artefacts)))}}/{len(artefacts)}] {outcome.name}"
                    click.echo(f"{line}  {outcome.state}  {outcome.seconds:.1f} s", err=True)
                    if outcome.error:
                        click.echo(outcome.error, err=True)
        except BaseException:
            for future in waiting:
                future.cancel()
            for process in list(processes):
                _kill(process)
            raise
    return outcomes


def _execute(
    artefact: Artefact, inputs: dict[str, str], timeout_s: float | None, processes: set[subprocess.Popen[str]]
) -> Outcome:
    started = time.monotonic()
    staging_root = OUTPUTS / artefact.profile / ".staging"
    staging_root.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=artefact.name.replace("/", "-") + "-", dir=staging_root))
    spec = staging / "spec.json"
    spec.write_text(
        json.dumps(
            {
                "artefact": artefact.name,
                "title": artefact.title,
                "profile": artefact.profile,
                "notebook": str(artefact.notebook),
                "parameters": artefact.parameters.model_dump(),
                "staging": str(staging),
                "inputs": inputs,
                "command": f"make {artefact.name} PROFILE={artefact.profile}",
            }
        ),
        encoding="utf-8",
    )
    # One thread for each kernel: several notebooks run side by side.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads | {"CODESTRESS_STAGING": str(staging), "PYTHONHASHSEED": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "codestress.build.execute", str(spec)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    processes.add(process)
    try:
        _, errors = process.communicate(timeout=timeout_s)
        error = "" if process.returncode == 0 else _last_lines(errors) or f"exit status {process.returncode}"
    except subprocess.TimeoutExpired:
        _kill(process)
        error = f"stopped after {timeout_s:g} s; raise timeout_s in params/profiles/{artefact.profile}.yaml"
    finally:
        processes.discard(process)
    seconds = time.monotonic() - started
    spec.unlink(missing_ok=True)
    if error:
        kept = FAILED / artefact.profile / artefact.name
        (staging / "error.txt").write_text(error + "\n", encoding="utf-8")
        replace_folder(staging, kept)
        return Outcome(artefact.name, "failed", seconds, f"{error}\nthe notebook as far as it came: {shown(kept)}")
    replace_folder(staging, artefact.folder)
    shutil.rmtree(FAILED / artefact.profile / artefact.name, ignore_errors=True)
    return Outcome(artefact.name, "built", seconds)


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends the process and the kernel it started; they form a group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def _last_lines(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])


def replace_folder(new: Path, folder: Path) -> None:
    """Puts a complete folder in the place of another; a reader sees the old or the new one, never half of one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    old = new.with_name(new.name + ".old")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
