"""Every benchmark runs to its end at its smallest size."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT, ran

SMALLEST = {
    "bench_build.py": "--builds 1 --runs 1 --profile smoke origin/sec63",
    "bench_codecrash.py": "--problems 2 --runs 1",
    "bench_coverage.py": "5",
    "bench_explore.py": "--moves 2",
    "bench_faultloc.py": "--programs 2 --runs 1",
    "bench_nano.py": "--prompts 1",
    "bench_run.py": (
        "--requests 20 --delays 0 5 --runs 1 --long 20 --planned 20 --problems 2 --concurrency 4"
    ),
    "bench_scoring.py": "--problems 3 --runs 1",
    "bench_semtrace.py": "--problems 2 --runs 1",
    "bench_store.py": "--responses 100 --keys 20 --written 64 --runs 1",
    "bench_verdicts.py": "2",
}
"""Arguments that make each benchmark as small as it can be."""
TOO_FEW = {"bench_verdicts.py"}
"""Benchmarks that check their own limits, which so few studies may miss: exit status 1."""


def test_every_benchmark_of_make_bench_is_here() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "bench").glob("bench_*.py")}
    assert files == set(SMALLEST)
    assert all(f"bench/{name}" in makefile for name in files)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLEST)
def test_a_benchmark_runs_to_its_end(name: str, tmp_path: Path) -> None:
    if name == "bench_explore.py" and not shutil.which("chromium"):
        pytest.skip("no browser is installed")
    command = (sys.executable, ROOT / "bench" / name, *SMALLEST[name].split())
    own = os.environ | {"CODESTRESS_OUTPUTS": str(tmp_path / "outputs")}
    done = ran(*command, cwd=tmp_path, env=own)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in ((0, 1) if name in TOO_FEW else (0,)), done.stderr
    assert done.stdout.strip()
