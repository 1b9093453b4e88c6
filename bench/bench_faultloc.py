"""Faults and mutations: `python bench/bench_faultloc.py` (part of `make bench`).

Programs of the kit's own packages and the kit's own Java programs; one core. Every site enumerated and made; every
mutation made, and made and proved neutral by its syntax tree (nothing is run); tasks enumerated, with their memory.
"""

from __future__ import annotations

import resource
import statistics
import time

from codestress.papers.faultloc.faults.neutral import SPMS, FaultyProgram, bank, mutate
from codestress.papers.faultloc.faults.sites import fault_sites
from codestress.papers.faultloc.faults.trees import NotNeutral
from codestress.papers.faultloc.programs import CorrectProgram, Source, program_set
from codestress.papers.faultloc.studies import Localization, localization
from codestress.problems.generated.drawing import Draw
from codestress.seeding import rng

RUNS = 3
STRENGTHS = (1, 2, 4, 6, 8)


def faults(seeds: list[CorrectProgram]) -> float:
    """Faulty programs a second."""
    started, made = time.perf_counter(), 0
    for correct in seeds:
        for site in fault_sites(correct.code, correct.language):
            site.apply(correct.code)
            made += 1
    return made / (time.perf_counter() - started)


def mutations(seeds: list[CorrectProgram], spm: str, *, prove: bool) -> float:
    """Mutations a second, five strengths of each of up to four faulty programs of a seed."""
    programs = []
    for correct in seeds:
        for site in fault_sites(correct.code, correct.language)[:40:10]:
            programs.append((correct, FaultyProgram(site.apply(correct.code), site.line)))
    started, made = time.perf_counter(), 0
    for correct, program in programs:
        for strength in STRENGTHS:
            draw = Draw(rng(0, correct.id, spm, strength))
            try:
                mutate(
                    program,
                    spm,  # type: ignore[arg-type]
                    program.language,
                    draw,
                    strength=strength,
                    quarter=strength % 4,
                    content=bank(program.language),
                    prove=prove,
                )
            except NotNeutral:
                continue
            made += 1
    return made / (time.perf_counter() - started)


def main() -> None:
    sources: tuple[Source, ...] = ("installed", "java")
    print(f"faults and mutations on one core, medians of {RUNS} runs, programs a second")
    for source in sources:
        seeds = program_set(source, 50, 300).programs[:60]
        mean = sum(program.lines for program in seeds) / max(1, len(seeds))
        print(f"  {source}: {len(seeds)} programs of {mean:.0f} lines on average")
        print(f"    {'faults':28} {statistics.median(faults(seeds) for _ in range(RUNS)):8,.0f}")
        for spm in SPMS:
            made, proved = (
                statistics.median(mutations(seeds, spm, prove=prove) for _ in range(RUNS)) for prove in (False, True)
            )
            print(f"    {spm:28} {made:8,.0f} made {proved:8,.0f} made and proved")
    given = Localization(artefact="faultloc/x", models=["python"], programs=["installed"], per_quarter=4)
    started = time.perf_counter()
    trials = localization(given)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"  {len(trials.items):,} tasks enumerated in {time.perf_counter() - started:.1f} s, {memory} MB at most")


if __name__ == "__main__":
    main()
