"""Times what people wait for: the whole demo, a second `make`, and `make` after one notebook was touched."""

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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(Path(sys.executable).with_name("codestress"))


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, str]:
    """Seconds and standard output; a failure ends the benchmark."""
    started = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return time.perf_counter() - started, done.stdout


def told(name: str, seconds: list[float]) -> None:
    middle = statistics.median(seconds)
    print(f"{name:44} median {middle:6.2f} s  (min {min(seconds):.2f}, max {max(seconds):.2f}, {len(seconds)} runs)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=int, default=3, help="builds of the whole demo from nothing (default 3)")
    parser.add_argument("--runs", type=int, default=5, help="runs of the short ones (default 5)")
    parser.add_argument("--profile", default="demo")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for part in ("params", "notebooks"):
            shutil.copytree(ROOT / part, project / part)
        environment = {
            **os.environ,
            "CODESTRESS_ROOT": folder,
            "CODESTRESS_OUTPUTS": str(project / "outputs"),
            "MAKEFLAGS": "",
        }
        whole = []
        for _ in range(arguments.builds):
            shutil.rmtree(project / "outputs", ignore_errors=True)
            seconds, _ = timed(["make", f"PROFILE={arguments.profile}"], environment)
            whole.append(seconds)
        told(f"make, nothing built yet ({arguments.profile})", whole)
        told(
            "make, nothing changed",
            [timed(["make", f"PROFILE={arguments.profile}"], environment)[0] for _ in range(arguments.runs)],
        )
        notebook = project / "notebooks/origin/planted.ipynb"
        touched = []
        for run in range(arguments.runs):
            content = json.loads(notebook.read_text(encoding="utf-8"))
            content["cells"][0]["source"] = [f"# run {run}\n"]
            notebook.write_text(json.dumps(content), encoding="utf-8")
            seconds, output = timed(["make", "origin/sec63", f"PROFILE={arguments.profile}"], environment)
            if "1 built" not in output:
                sys.exit(f"expected one artefact to be built: {output}")
            touched.append(seconds)
        told("make origin/sec63, its notebook touched", touched)


if __name__ == "__main__":
    main()
