"""Counts of the programs that this process has run, by language, source and isolation, for
manifests."""

from collections import Counter

from .types import Language, Source

ProgramCounts = Counter[tuple[Language, Source, str]]
"""Counts of programs by language, source and the sandbox backend that isolated them."""

RAN: ProgramCounts = Counter()
"""Counts of the programs that this process has run."""


def programs_so_far() -> ProgramCounts:
    """Copy of this process's counts (a `Counter`) of programs run, by language, source and
    isolation."""
    return RAN.copy()


def count_rows(counts: ProgramCounts) -> list[dict[str, str | int]]:
    """Rows for a manifest, sorted, one for each entry of `counts`: dictionaries with language,
    source, isolation and programs (the number)."""
    names = ("language", "source", "isolation", "programs")
    rows = sorted((*which, programs) for which, programs in counts.items())
    return [dict(zip(names, row, strict=True)) for row in rows]
