"""Rendering and fitting at the paper's size: `python bench/bench_semtrace.py` (part of `make bench`).

35,200 prompts of one task (800 generated problems, 11 places, 20 to 80 distractors of the kit's own packages) rendered
and hashed; 1,000 bootstrap fits for each of 10 models and 2 tasks over 71,994 rows of simulated scores.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time

import numpy as np

from codestress.fitting.exponential import fit_exponential
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.papers.semtrace.line_removal import removable
from codestress.papers.semtrace.studies import Questions
from codestress.parameters import questions
from codestress.problems.pool import generated_problems


def render(problems: int) -> tuple[int, float]:
    """Number of prompts, and how many are rendered and hashed a second."""
    given = {
        "artefact": "semtrace/x",
        "models": ["sim-wide"],
        "problems": ["generated"],
        "n_problems": problems,
        "tasks": ["output_prediction"],
    }
    trials = questions(
        Questions.model_validate(given | {"distractor_source": "installed"})
    )
    entry = load_registry()["sim-wide"]
    trials.render(trials.items[0])  # the distractors are read once
    started = time.perf_counter()
    for trial in trials.items:
        _ = request_of(trials, trial, entry).key
    count = len(trials.items)
    return count, count / (time.perf_counter() - started)


def fit(count: int) -> float:
    """Seconds for 20 curves with 1,000 resamples each."""
    random = np.random.default_rng(0)
    problems = generated_problems(count)
    places: dict[float, int] = {}
    cells: dict[tuple[int, float], int] = {}
    for number, problem in enumerate(problems):
        lines = removable(problem.code)
        for mask in range(2**lines):
            share = round(mask.bit_count() / lines, 9)
            places.setdefault(share, 0)
            cells[number, share] = cells.get((number, share), 0) + 1
    x = np.array(sorted(places))
    asked = np.array(
        [
            [cells.get((number, share), 0) for share in x]
            for number in range(len(problems))
        ],
        float,
    )
    started = time.perf_counter()
    for curve in range(20):
        right = random.binomial(
            asked.astype(int), 0.8 * np.exp(-(1 + curve) * x)
        ).astype(float)
        fit_exponential(x, right, asked, resamples=1000, rng=random)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--problems", type=int, default=800, help="generated problems (800)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each measurement (3)"
    )
    arguments = parser.parse_args()
    counts, rates = zip(
        *(render(arguments.problems) for _ in range(arguments.runs)), strict=True
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{counts[0]:,} prompts rendered and hashed: {statistics.median(rates):,.0f} a second on one core "
        f"({min(rates):,.0f}-{max(rates):,.0f}, {arguments.runs} runs), memory {memory:.0f} MB"
    )
    times = [fit(arguments.problems) for _ in range(arguments.runs)]
    spread = f"{min(times):.1f}-{max(times):.1f}"
    print(
        f"20 curves with 1,000 bootstrap fits each: {statistics.median(times):.1f} s ({spread})"
    )


if __name__ == "__main__":
    sys.exit(main())
