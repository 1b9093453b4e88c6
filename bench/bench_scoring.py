"""Scoring and running programs: `python bench/bench_scoring.py` (part of `make bench`).

Uses CRUXEval and its sample answers where CODESTRESS_DATA has them, else generated problems. Medians of three runs;
the fresh interpreters are measured in turn with the executor, on the same programs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from codestress.papers.semtrace.line_removal import removable, without_lines
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor, Program
from codestress.sandbox.worker import interpreter
from codestress.scoring.predictions import Answer, score_answers
from codestress.types import Source, Task

FRESH = 200
"""Programs for the comparison with one fresh interpreter for each."""
REPEATS = 20
"""Runs of each of them in the executor."""


def median_s(work: Callable[[], object], runs: int) -> tuple[float, str]:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times), f"{min(times):.2f}-{max(times):.2f}"


def answers(problems: list[Problem], task: Task, folder: Path) -> list[Answer]:
    """8,000 answers: Code Llama's, or without them the right ones ten times."""
    path = (
        folder
        / f"cruxeval-samples/sample_codellama-7b_temp0.2_{task}_generations.json.gz"
    )
    if path.is_file():
        texts = json.loads(gzip.decompress(path.read_bytes()))
        return [
            Answer(problem, text) for problem in problems for text in texts[problem.id]
        ]
    return [
        Answer(p, p.call if task == "input" else p.output)
        for p in problems
        for _ in range(10)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--problems", type=int, default=800, help="problems at most (800)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each measurement (3)"
    )
    arguments = parser.parse_args()
    count, runs = arguments.problems, arguments.runs
    folder = Path(os.environ.get("CODESTRESS_DATA", "outputs/data"))
    real = (folder / "cruxeval/cruxeval.jsonl").is_file()
    problems = (
        read_problems(folder / "cruxeval/cruxeval.jsonl").problems[:count]
        if real
        else generated_problems(count)
    )
    print(
        f"{'CRUXEval' if real else 'generated problems'}, {os.cpu_count()} processors; medians of {runs} (min-max)"
    )
    print(f"processes that run or wait to, before this began: {os.getloadavg()[0]:.1f}")
    outputs = answers(problems, "output", folder)
    seconds, spread = median_s(
        lambda: score_answers(outputs, "output", "strict", None), runs
    )
    print(f"{len(outputs):,} output answers, strict: {seconds:.2f} s ({spread})")
    with Executor() as executor:
        print(f"isolated by {executor.described()}")
        inputs = answers(problems, "input", folder)
        seconds, spread = median_s(
            lambda: score_answers(inputs, "input", "strict", executor), runs
        )
        print(f"{len(inputs):,} input answers, strict: {seconds:.2f} s ({spread})")
        variants = [
            Program(without_lines(p.code, mask), call=p.call, source=Source.KIT)
            for p in problems
            for mask in range(2 ** removable(p.code))
        ]
        seconds, spread = median_s(lambda: list(executor.run(variants)), runs)
        print(
            f"{len(variants):,} programs with lines removed: {seconds:.1f} s ({spread})"
        )
        compare(problems, executor, runs)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        workers = (
            executor.workers * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        )
    print(
        f"memory: parent {own / 1024:.0f} MB; workers and their children at most {workers / 1024:.0f} MB (peak each)"
    )


def compare(problems: list[Problem], executor: Executor, runs: int) -> None:
    """Programs per second, one process of the executor's each, together, and one fresh interpreter each."""
    programs = [Program(p.code, call=p.call) for p in problems[:FRESH]]
    many = {
        "together": [replace(program, source=Source.KIT) for program in programs]
        * REPEATS,
        "apart": programs * REPEATS,
    }
    rates: dict[str, list[float]] = {"together": [], "apart": [], "fresh": []}
    for _ in range(runs):
        for name, chosen in many.items():
            started = time.perf_counter()
            list(executor.run(chosen))
            rates[name].append(len(chosen) / (time.perf_counter() - started))
        started = time.perf_counter()
        for number in range(0, len(programs), executor.workers):
            batch = [
                subprocess.Popen(
                    [interpreter(), "-I", "-S", "-c", f"{p.code}\n{p.call}"],
                    stderr=subprocess.DEVNULL,
                )
                for p in programs[number : number + executor.workers]
            ]
            for process in batch:
                process.wait()
        rates["fresh"].append(len(programs) / (time.perf_counter() - started))
    middle = {name: statistics.median(values) for name, values in rates.items()}
    print(
        f"programs per second: sharing a process {middle['together']:,.0f}, one process each {middle['apart']:,.0f}, "
        f"a fresh python -I -S each, without isolation, {middle['fresh']:,.0f} "
        f"({executor.workers} at a time): {middle['together'] / middle['fresh']:.0f} and "
        f"{middle['apart'] / middle['fresh']:.1f} times as many"
    )


if __name__ == "__main__":
    sys.exit(main())
