"""Counts of the programs that this process has run, for manifests. Each count belongs
to a language, a source and an isolation (the sandbox backend)."""

from collections import Counter

from .types import Language, Source

ProgramCounts = Counter[tuple[Language, Source, str]]
"""Number of programs by (language, source, name of the sandbox backend that isolated
them)."""

RAN: ProgramCounts = Counter()
"""Counts of the programs that this process has run."""


def programs_so_far() -> ProgramCounts:
    """Return a copy of this process's counts of programs run so far."""
    return RAN.copy()


def count_rows(counts: ProgramCounts) -> list[dict[str, str | int]]:
    """Return the entries of `counts` as sorted rows for a manifest: dictionaries with
    language, source, isolation and programs (the number)."""
    names = ("language", "source", "isolation", "programs")
    rows = sorted((*which, programs) for which, programs in counts.items())
    return [dict(zip(names, row, strict=True)) for row in rows]
