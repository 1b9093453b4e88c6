"""Faults and mutations: `python bench/bench_faultloc.py` (part of `make bench`).

Programs of the kit's own packages and the kit's own Java programs; one core. Every site enumerated and made; every
mutation made, and made and proved neutral by its syntax tree (nothing is run), beside the version before mutations
were made by construction, where the history has it; tasks enumerated, with their memory.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codestress.papers.faultloc.faults.neutral import SPMS, FaultyProgram, Spm, bank, mutate
from codestress.papers.faultloc.faults.sites import fault_sites
from codestress.papers.faultloc.faults.trees import NotNeutral
from codestress.papers.faultloc.programs import CorrectProgram, Source, program_set
from codestress.papers.faultloc.studies import Localization, localization
from codestress.problems.generated.drawing import Draw
from codestress.seeding import rng
from codestress.types import Language

RUNS = 3
STRENGTHS = (1, 2, 4, 6, 8)
ROOT = Path(__file__).resolve().parents[1]
BEFORE = "51f0b70a"  # the last version whose mutations were proved, not yet made by construction


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
    chosen = ((seed.code, site) for seed in seeds for site in fault_sites(seed.code, seed.language)[:40:10])
    return [FaultyProgram(site.apply(code), site.line) for code, site in chosen]


def mutations(programs: list[FaultyProgram], language: Language, spm: Spm, *, prove: bool) -> tuple[float, float]:
    """Mutations tried a second, five strengths of each program, and the share of them that was not refused."""
    content, made, started = bank(language), 0, time.process_time()
    for number, program in enumerate(programs):
        for strength in STRENGTHS:
            draw = Draw(rng(0, str(number), spm, strength))
            try:
                mutate(
                    program, spm, language, draw, strength=strength, quarter=strength % 4, content=content, prove=prove
                )  # fmt: skip
            except NotNeutral:
                continue
            made += 1
    tried = len(programs) * len(STRENGTHS)
    return tried / (time.process_time() - started), made / tried


Rates = list[list[tuple[float, float]]]
"""Of each mutation, made, and made and proved: how many are tried a second, and what share is not refused."""


def rates(programs: list[FaultyProgram], language: Language, library: Path) -> Rates:
    """The rates of the library that is in a folder, in a process of its own."""
    given = json.dumps([language, [(program.code, program.line) for program in programs]])
    environment = {**os.environ, "PYTHONPATH": str(library)}
    done = subprocess.run(
        [sys.executable, __file__, "--rates"], input=given, capture_output=True, text=True, check=True, env=environment
    )
    found: Rates = json.loads(done.stdout)
    return found


def print_rates() -> None:
    """What `rates` reads."""
    language, texts = json.load(sys.stdin)
    programs = [FaultyProgram(code, line) for code, line in texts]
    print(json.dumps([[mutations(programs, language, spm, prove=prove) for prove in (False, True)] for spm in SPMS]))


def earlier(folder: Path) -> Path | None:
    """The library of the version `BEFORE`, put into a folder; none where the history does not have it."""
    archive = subprocess.run(["git", "archive", BEFORE, "lib"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder / "lib"


def main() -> None:
    sources: tuple[Source, ...] = ("installed", "java")
    print(f"faults and mutations on one core, medians of {RUNS} runs, programs a second")
    with tempfile.TemporaryDirectory() as folder:
        before = earlier(Path(folder))
        if before is None:
            print(f"  (the history here does not have {BEFORE}: nothing stands beside today's mutations)")
        for source in sources:
            seeds = program_set(source, 50, 300).programs[:60]
            programs, language = faulty(seeds), seeds[0].language
            mean = sum(program.lines for program in seeds) / len(seeds)
            print(f"  {source}: {len(seeds)} programs of {mean:.0f} lines on average")
            print(f"    {'faults':28} {statistics.median(faults(seeds) for _ in range(RUNS)):8,.0f}")
            head = f"    {'tried a second':28} {'made':>8} {'and proved':>11} {'not refused':>12}"
            print(f"{head} {'before':>8} {'not refused':>12} {'now of before':>14}" if before else head)
            today, then = [], []
            for _ in range(RUNS):  # by turns, so that a busy machine slows both
                today.append(rates(programs, language, ROOT / "lib"))
                then.append(rates(programs, language, before) if before else [])
            for number, spm in enumerate(SPMS):
                made, proved = (statistics.median(run[number][prove][0] for run in today) for prove in (0, 1))
                line = f"    {spm:28} {made:8,.0f} {proved:11,.0f} {today[0][number][1][1]:12.0%}"
                if before:
                    old = statistics.median(run[number][1][0] for run in then)
                    line += f" {old:8,.0f} {then[0][number][1][1]:12.0%} {proved / old:14.0%}"
                print(line)
    given = Localization(artefact="faultloc/x", models=["python"], programs=["installed"], per_quarter=4)
    started = time.perf_counter()
    trials = localization(given)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"  {len(trials.items):,} tasks enumerated in {time.perf_counter() - started:.1f} s, {memory} MB at most")


if __name__ == "__main__":
    print_rates() if sys.argv[1:] == ["--rates"] else main()
