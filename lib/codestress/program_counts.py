"""Counts of the programs that this process has run, by language, source and isolation, for
manifests."""

from __future__ import annotations

from collections import Counter

from codestress.types import Language, Source

ProgramCounts = Counter[tuple[Language, Source, str]]
"""Counts of programs by language, source and the sandbox backend that isolated them."""

_counts: ProgramCounts = Counter()


def count_programs(
    language: Language, source: Source, isolation: str, programs: int
) -> None:
    """Adds `programs`, the number of programs that have just run, to this process's counts under
    their `language`, `source` (origin) and `isolation` (sandbox backend)."""
    _counts[language, source, isolation] += programs


def programs_so_far() -> ProgramCounts:
    """Copy of this process's counts (a `Counter`) of programs run, by language, source and
    isolation."""
    return _counts.copy()


def count_rows(counts: ProgramCounts) -> list[dict[str, str | int]]:
    """Rows for a manifest, sorted, one for each entry of `counts`: dictionaries with language,
    source, isolation and programs (the number)."""
    return [
        {
            "language": language,
            "source": source.value,
            "isolation": isolation,
            "programs": programs,
        }
        for (language, source, isolation), programs in sorted(counts.items())
    ]
