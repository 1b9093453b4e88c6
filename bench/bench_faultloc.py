"""Faults and mutations: `python bench/bench_faultloc.py` (part of `make bench`).

Programs of the kit's own packages and the kit's own Java programs; one core. Every site enumerated and made; every
mutation made (nothing is run); tasks enumerated, with their memory.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time

from codestress.mutate.draw import Draw
from codestress.mutate.faults.kinds import SPMS, Spm
from codestress.mutate.faults.neutral import FaultyProgram, bank, mutate
from codestress.mutate.faults.sites import fault_sites
from codestress.mutate.faults.trees import NotNeutral
from codestress.papers.faultloc.programs import CorrectProgram, Source, first_programs
from codestress.papers.faultloc.studies import Localization
from codestress.seeding import rng
from codestress.types import Language

STRENGTHS = (1, 2, 4, 6, 8)


def faults(seeds: list[CorrectProgram]) -> float:
    """Faulty programs a second."""
    started, made = time.perf_counter(), 0
    for correct in seeds:
        for site in fault_sites(correct.code, correct.language):
            site.apply(correct.code)
            made += 1
    return made / (time.perf_counter() - started)


def faulty(seeds: list[CorrectProgram]) -> list[FaultyProgram]:
    """Up to four faulty programs of a seed."""
    chosen = (
        (seed.code, site)
        for seed in seeds
        for site in fault_sites(seed.code, seed.language)[:40:10]
    )
    return [FaultyProgram(site.apply(code), site.line) for code, site in chosen]


def mutations(
    programs: list[FaultyProgram], language: Language, spm: Spm
) -> tuple[float, float]:
    """Mutations tried a second, five strengths of each program, and the share of them that was not refused."""
    content, made, started = bank(language), 0, time.process_time()
    for number, program in enumerate(programs):
        for strength in STRENGTHS:
            draw = Draw(rng(0, str(number), spm, strength))
            try:
                mutate(
                    program, spm, language, draw, strength=strength, quarter=strength % 4, content=content
                )  # fmt: skip
            except NotNeutral:
                continue
            made += 1
    tried = len(programs) * len(STRENGTHS)
    return tried / (time.process_time() - started), made / tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--programs", type=int, default=60, help="programs of each language (60)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each measurement (3)"
    )
    arguments = parser.parse_args()
    runs: int = arguments.runs
    sources: tuple[Source, ...] = ("installed", "java")
    print(
        f"faults and mutations on one core, medians of {runs} runs, programs a second"
    )
    for source in sources:
        seeds = first_programs(source, 50, 300, arguments.programs)
        programs, language = faulty(seeds), seeds[0].language
        mean = sum(program.lines for program in seeds) / len(seeds)
        print(f"  {source}: {len(seeds)} programs of {mean:.0f} lines on average")
        print(
            f"    {'faults':28} {statistics.median(faults(seeds) for _ in range(runs)):8,.0f}"
        )
        print(f"    {'mutations tried':28} {'made':>8} {'not refused':>12}")
        for spm in SPMS:
            made = [mutations(programs, language, spm) for _ in range(runs)]
            rate = statistics.median(rate for rate, _ in made)
            print(f"    {spm:28} {rate:8,.0f} {made[0][1]:12.0%}")
    given = Localization(
        artefact="faultloc/x",
        models=["python"],
        programs=["installed"],
        n_programs=arguments.programs,
        per_quarter=4,
    )
    started = time.perf_counter()
    trials = list(given.trials())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"  {len(trials):,} tasks enumerated in {time.perf_counter() - started:.1f} s, {memory} MB at most"
    )


if __name__ == "__main__":
    main()
