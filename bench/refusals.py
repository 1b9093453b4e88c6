"""Programs that the rules refuse, by source and perturbation: `python bench/refusals.py`.

Prints the rows of the table in docs/codecrash.md. CRUXEval and the seed programs of Fault Localizability's artifact are
counted where they are at hand. With `PYTHONPATH` set to the lib of an earlier version, its rules count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from codestress.errors import DataError
from codestress.literals import UNREADABLE
from codestress.mutate.perturbations.programs import program_of, vanilla, why_refused
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.faultloc.programs import first_programs
from codestress.problems.pool import generated_problems
from codestress.problems.problem_files import cruxeval
from codestress.problems.program import Problem

PERTURBATIONS = ("REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS", "MHC")


def seeds() -> list[Problem]:
    """Python programs of the artifact, as problems whose function is called without arguments."""
    programs = first_programs("alpaca", 0, 0, 0)
    python = [one for one in programs if one.language == "python"]
    return [Problem(str(n), one.code, "f", "", "") for n, one in enumerate(python)]


def refused(problems: list[Problem]) -> list[int]:
    """Number of programs, then those that each perturbation refuses; programs that do not parse do
    not count."""
    counts = [0] * (1 + len(PERTURBATIONS))
    for problem in problems:
        try:
            clean = vanilla(problem)
            program_of(clean)
        except UNREADABLE:
            continue
        whys = [why_refused(clean, name) for name in PERTURBATIONS]
        counts = [n + bool(why) for n, why in zip(counts, ["read", *whys], strict=True)]
    return counts


def main() -> None:
    sources: dict[str, Callable[[], Iterable[Problem]]] = {
        "CRUXEval": cruxeval,
        "contest": contest_problems,
        "contest, JavaScript": lambda: contest_problems("javascript"),
        "generated": lambda: generated_problems(800),
        "artifact's Python seeds": seeds,
    }
    print("| | programs |", " | ".join(PERTURBATIONS), "|")
    for name, problems in sources.items():
        try:
            numbers = map(str, refused([*problems()]))
            print(f"| {name} |", " | ".join(numbers), "|")
        except DataError as error:
            print(f"| {name} | not at hand: {error} |")


if __name__ == "__main__":
    main()
