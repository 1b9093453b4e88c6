"""Perturbing at the paper's size: `python bench/bench_codecrash.py` (part of `make bench`).

800 generated programs through each perturbation, every variant run in isolation on its own input and eight others
beside; and 192 contest programs in JavaScript, each run in a Node of its own. Then CRUXEval's 800 programs, where they
are at hand, under the paper's five conditions: a minute on two cores that do nothing else is the limit.
"""

from __future__ import annotations

import os
import statistics
import time

from codestress.errors import DataError
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.perturbations.variants import PAPERS, Perturbation, check_problems, make_variants
from codestress.problems.generated import generated_problems
from codestress.problems.problem_files import cruxeval
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing

RUNS = 3
PERTURBATIONS = PAPERS[1:]
FIVE: tuple[Perturbation, ...] = ("VAN", "PSC-ALL", "MCC", "MPS", "MHC")


def timed(executor: Executor, language: str) -> dict[str, float]:
    """Seconds for the check of the problems themselves, and for each perturbation."""
    problems = generated_problems(800) if language == "python" else contest_problems("javascript")
    started = time.perf_counter()
    checked, _ = check_problems(problems, executor, 0)
    found = {"check": time.perf_counter() - started}
    for name in PERTURBATIONS:
        started = time.perf_counter()
        make_variants(checked, name, executor, seed=0)
        found[name] = time.perf_counter() - started
    return found


def cruxeval_seconds() -> float:
    """For CRUXEval's programs as they are and four perturbations."""
    problems = cruxeval()
    started = time.perf_counter()
    with Executor() as executor:
        checked, _ = check_problems(problems, executor, 0)
        for name in FIVE[1:]:
            make_variants(checked, name, executor, seed=0)
    return time.perf_counter() - started


def main() -> None:
    generated_problems(800)  # made once, before the clock starts
    print(f"perturbations on {os.cpu_count()} cores, medians of {RUNS} runs")
    with Executor() as executor:
        print(executor.described())
        for language, runs in (("python", RUNS), ("javascript", 0 if missing("javascript") else 1)):
            results = [timed(executor, language) for _ in range(runs)]
            for name in results[0] if results else ():
                print(f"  {language:10} {name:8} {statistics.median(result[name] for result in results):6.1f} s")

    try:
        seconds = cruxeval_seconds()
    except DataError as error:
        print(f"  {error}")
    else:
        print(f"  CRUXEval, {', '.join(FIVE)}: {seconds:.1f} s at a load of {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
