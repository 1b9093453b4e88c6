"""Times what people wait for: the whole demo and its first figure, a second `make`, `make PAPER/ARTEFACT` with stored
answers, `make` after one notebook was touched. Medians, and of the whole demo the CPU seconds by kind of process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
LOOK_S = 0.2
"""Between two looks at the processes: what a process does after the last one is missed."""


@dataclass
class Timed:
    """A command that has ended."""

    seconds: float
    output: str
    first_figure: float | None = None
    """Seconds until the first artefact was complete."""
    cpu: Counter[str] = field(default_factory=Counter)
    """CPU seconds by kind of process; empty where there is no /proc."""


def timed(command: list[str], environment: dict[str, str]) -> Timed:
    """Runs a command; a failure ends the benchmark."""
    started = time.perf_counter()
    figures = Path(environment["CODESTRESS_OUTPUTS"])
    seen: dict[tuple[int, str], tuple[str, float]] = {}
    first = None
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=out, stderr=err
        )
        while process.poll() is None:
            look(process.pid, seen)
            if first is None and any(figures.glob("*/*/*/figure.svg")):
                first = time.perf_counter() - started
            time.sleep(LOOK_S if time.perf_counter() - started > 2 else 0.01)
        seconds = time.perf_counter() - started
        out.seek(0)
        err.seek(0)
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{err.read()}")
        cpu = Counter[str]()
        for kind, used in seen.values():
            cpu[kind] += used
        return Timed(seconds, out.read(), first, cpu)


def look(root: int, seen: dict[tuple[int, str], tuple[str, float]]) -> None:
    """Notes the kind and the CPU seconds of all processes below one."""
    found: dict[int, tuple[int, str, float, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            numbers = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (
                (folder / "cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )
        except OSError:
            continue  # it has just ended
        own, ended = (sum(map(int, numbers[at : at + 2])) / TICKS for at in (11, 13))
        found[int(folder.name)] = (
            int(numbers[1]),
            f"{numbers[19]} {command}",
            own,
            ended,
        )
    for pid in found:
        line = [pid]
        while line[-1] in found and line[-1] != root:
            line.append(found[line[-1]][0])
        if line[-1] == root and pid != root:
            _, command, own, ended = found[pid]
            key = pid, command.split()[0]
            gone = (
                len(command.split()) == 1
            )  # ended and not waited for: it has no command any more
            kind = (
                seen[key][0]
                if gone and key in seen
                else kind_of([found[one][1] for one in line[:-1]])
            )
            # A server of programs has waited for them; what other processes waited for was seen in its own right.
            seen[key] = kind, own + (ended if kind == "programs" else 0.0)


def kind_of(commands: list[str]) -> str:
    """What a process is, from its command and those of the processes above it."""
    servers = [
        one
        for one in commands
        if "codestress.sandbox.forkserver" in one and "bwrap" not in one.split(" ")[1]
    ]
    if servers or "bwrap" in commands[0]:
        return "programs" if servers == commands[:1] else "in programs"
    executing = sum("codestress.pipeline.execute" in one for one in commands)
    return ("asking", "workers", "nurseries", "kernels")[min(executing, 3)]


def told(name: str, runs: list[Timed], limit: float, first: bool = False) -> None:
    seconds = [run.first_figure or 0.0 if first else run.seconds for run in runs]
    print(
        f"{name:56} median {statistics.median(seconds):6.2f} s of {limit:g}  "
        f"(min {min(seconds):.2f}, max {max(seconds):.2f}, {len(seconds)} runs)"
    )


def told_cpu(runs: list[Timed], limit: float) -> None:
    if not any(run.cpu for run in runs):
        return
    runs = sorted(runs, key=lambda run: run.cpu.total())
    cpu = runs[len(runs) // 2].cpu
    parts = ", ".join(
        f"{kind} {used:.0f}"
        for kind, used in cpu.most_common()
        if kind != "in programs"
    )
    total = sum(used for kind, used in cpu.items() if kind != "in programs")
    print(
        f"{'  CPU seconds of all its processes':56} median {total:6.0f} of {limit:g}: {parts}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--builds",
        type=int,
        default=3,
        help="builds of the whole demo from nothing (default 3)",
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="runs of the short ones (default 5)"
    )
    parser.add_argument("--profile", default="demo")
    parser.add_argument(
        "goals",
        nargs="*",
        help="artefacts or papers to build in place of the whole profile",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for part in ("params", "notebooks"):
            shutil.copytree(ROOT / part, project / part)
        shutil.copy(ROOT / "requirements.lock", project)
        environment = {
            **os.environ,
            "CODESTRESS_ROOT": folder,
            "CODESTRESS_OUTPUTS": str(project / "outputs"),
            "MAKEFLAGS": "",
        }
        make = ["make", *arguments.goals, f"PROFILE={arguments.profile}"]
        whole = []
        for _ in range(arguments.builds):
            shutil.rmtree(project / "outputs", ignore_errors=True)
            whole.append(timed(make, environment))
        name = " ".join(make)
        told(f"{name}, nothing built yet", whole, 240)
        told_cpu(whole, 400)
        told(f"{name}, its first figure", whole, 60, first=True)
        told(
            f"{name}, nothing changed",
            [timed(make, environment) for _ in range(arguments.runs)],
            0.7,
        )
        one = ["make", "origin/sec63", f"PROFILE={arguments.profile}"]
        stored = []
        for _ in range(arguments.runs):
            shutil.rmtree(
                project / "outputs" / arguments.profile / "origin/sec63",
                ignore_errors=True,
            )
            stored.append(timed(one, environment))
        told(f"{' '.join(one)}, answers stored", stored, 5)
        notebook = project / "notebooks/origin/needles.ipynb"
        touched = []
        for run in range(arguments.runs):
            content = json.loads(notebook.read_text(encoding="utf-8"))
            content["cells"][0]["source"] = [f"# run {run}\n"]
            notebook.write_text(json.dumps(content), encoding="utf-8")
            touched.append(timed(one, environment))
            if "1 built" not in touched[-1].output:
                sys.exit(f"expected one artefact to be built: {touched[-1].output}")
        told(f"{' '.join(one)}, its notebook touched", touched, 5)


if __name__ == "__main__":
    main()
