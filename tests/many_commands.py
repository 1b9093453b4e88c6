"""Runs the console script many times in one process, each in a fork: `python many_commands.py < CASES`.

A case is a line of JSON: a command, a file of the project, what the file holds meanwhile (Base64). A line of JSON comes
back for each: exit status, what was printed, and the files that are not what they were.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

from codestress.cli import main
from codestress.paths import ROOT


def files(but: Path) -> dict[str, tuple[int, int]]:
    found = (
        path
        for path in sorted(ROOT.rglob("*"))
        if path.is_file() and path.name != but.name
    )
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in found
        if path.suffix not in (".lock", ".sqlite-wal", ".sqlite-shm", ".printed")
    }


def run(arguments: list[str], printed: Path) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 70
    try:
        descriptor = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        if arguments[0] == "build":
            importlib.import_module("without_kernels")  # which leaves empty figures
        sys.argv = ["codestress", *arguments]
        main()
    except SystemExit as ended:
        status = (
            ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        )
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def outcome(case: dict[str, str]) -> dict[str, object]:
    path, printed = ROOT / case["file"], ROOT / "all.printed"
    before, content = files(path), path.read_bytes()
    path.write_bytes(base64.b64decode(case["content"]))
    try:
        status = run(case["command"].split(), printed)
    finally:
        path.write_bytes(content)
    after = files(path)
    changed = sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )
    return {
        "status": status,
        "printed": printed.read_text(errors="replace"),
        "changed": changed,
    }


USED = (
    *(
        "pandas",
        "pyarrow.parquet",
        "codestress.inference.archive",
        "codestress.pipeline.diff",
    ),
    *(
        "codestress.pipeline.plan",
        "codestress.report.gallery",
        "codestress.scoring.answer_files",
    ),
    *(
        f"codestress.papers.{paper}.studies"
        for paper in ("origin", "codecrash", "faultloc", "semtrace")
    ),
    *(
        "codestress.papers.origin.reading",
        "codestress.problems.datasets",
        "codestress.pipeline.notebooks",
        "nbformat",
    ),
)
"""Imported once, before all forks."""

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parent / "pipeline"))
    for name in USED:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line))), flush=True)
