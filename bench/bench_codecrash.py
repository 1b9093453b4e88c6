"""Perturbing at the paper's size: `python bench/bench_codecrash.py` (part of `make bench`).

800 generated programs through each perturbation, every variant run in isolation on its own input and eight others
beside; and 192 contest programs in JavaScript, each run in a Node of its own. Then CRUXEval's 800 programs, where they
are at hand, under the paper's five conditions: a minute on two cores that do nothing else is the limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

from codestress.errors import DataError
from codestress.mutate.perturbations.checking import check_problems
from codestress.mutate.perturbations.kinds import PAPERS
from codestress.mutate.perturbations.variants import Perturbation, make_variants
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import cruxeval
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing

PERTURBATIONS = PAPERS[1:]
FIVE: tuple[Perturbation, ...] = ("VAN", "PSC-ALL", "MCC", "MPS", "MHC")


def timed(executor: Executor, problems: list[Problem]) -> dict[str, float]:
    """Seconds for the check of the problems themselves, and for each perturbation."""
    started = time.perf_counter()
    checked, _ = check_problems(problems, executor, 0)
    found = {"check": time.perf_counter() - started}
    for name in PERTURBATIONS:
        started = time.perf_counter()
        make_variants(checked, name, executor, seed=0)
        found[name] = time.perf_counter() - started
    return found


def cruxeval_seconds(count: int) -> float:
    """For so many of CRUXEval's programs as they are and under four perturbations."""
    problems = cruxeval()[:count]
    started = time.perf_counter()
    with Executor() as executor:
        checked, _ = check_problems(problems, executor, 0)
        for name in FIVE[1:]:
            make_variants(checked, name, executor, seed=0)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--problems", type=int, default=800, help="problems of each kind (800)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each measurement (3)"
    )
    arguments = parser.parse_args()
    python = generated_problems(
        arguments.problems
    )  # made once, before the clock starts
    javascript = contest_problems("javascript")[: arguments.problems]
    chosen = (
        ("python", python, arguments.runs),
        ("javascript", javascript, 0 if missing("javascript") else 1),
    )
    print(f"perturbations on {os.cpu_count()} cores, medians of {arguments.runs} runs")
    with Executor() as executor:
        print(executor.described())
        for language, problems, runs in chosen:
            results = [timed(executor, problems) for _ in range(runs)]
            for name in results[0] if results else ():
                print(
                    f"  {language:10} {name:8} {statistics.median(result[name] for result in results):6.1f} s"
                )

    try:
        seconds = cruxeval_seconds(arguments.problems)
    except DataError as error:
        print(f"  {error}")
    else:
        print(
            f"  CRUXEval, {', '.join(FIVE)}: {seconds:.1f} s at a load of {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
