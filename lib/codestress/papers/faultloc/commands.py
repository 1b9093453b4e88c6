"""Commands `codestress faults` and `codestress mutate`, which make one-line faults or
neutral mutations in any program."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from codestress.errors import DataError, ParameterError
from codestress.literals import UNREADABLE, reason_of
from codestress.pipeline.options import AS_JSON, exit_where, warn

Row = dict[str, Any]
"""A row of output, as the JSON has it."""
PROGRAMS = click.argument(
    "programs",
    nargs=-1,
    required=True,
    type=Path,
    metavar="PROGRAM…",
)


@click.command()
@PROGRAMS
@AS_JSON
def faults(programs: tuple[Path, ...], as_json: bool) -> None:
    """List every fault of one line that can be made in Python or Java programs, with
    the line after it.

    --json prints JSON Lines, also with the line before and the whole program. Programs
    are parsed, not run. A file that cannot be read, or does not hold a program, is
    rejected; all other files are processed.
    """
    from .program_files import faulty_rows

    nothing = dict.fromkeys(["fault", "line", "code", "before", "after"])

    for row in _rows(programs, faulty_rows, [nothing]):
        words = row.get("reason", "")
        if row["fault"]:
            words = f"{row['line']:>6} {row['fault']:22} {row['after'].strip()}"
        _print(row, words, as_json)


@click.command(context_settings={"show_default": True})
@PROGRAMS
@click.option(
    "--line", default=1, type=click.IntRange(min=1), help="A line to be followed."
)
@click.option(
    "--mutations",
    default="comments,names,dead_code,functions",
    help="Which of them.",
)
@click.option(
    "--strength", default=1, type=click.IntRange(1, 8), help="Applications of each."
)
@click.option("--seed", default=0, help="The same seed makes the same mutations.")
@AS_JSON
def mutate(
    programs: tuple[Path, ...],
    line: int,
    mutations: str,
    strength: int,
    seed: int,
    as_json: bool,
) -> None:
    """Change Python or Java programs without changing their meaning, and say where a
    line went.

    Programs are parsed, not run. A file that cannot be read, or does not hold a
    program, is rejected; all other files are processed. --json prints JSON Lines.
    """
    from .program_files import mutated_row

    spms = _named(mutations)

    def mutated(file: Any) -> list[Row]:
        return [mutated_row(file, spm, line, strength, seed) for spm in spms]

    none = {"state": "rejected", "reason": "", "code": None, "line": None}
    nothing = [{"mutation": spm} | none for spm in spms]
    for row in _rows(programs, mutated, nothing):
        place = f"{row['line'] or '–':>6}"
        words = f"{place} {row['mutation']:22} {row['state']:9} {row['reason']}"
        _print(row, words.rstrip(), as_json)


def _named(mutations: str) -> list[Any]:
    """Return the names in `mutations`; raises `ParameterError` if one is not a
    mutation's."""
    from codestress.mutate.faults.neutral import SPMS
    from codestress.validation import nearest

    names = mutations.replace(",", " ").split()
    for name in names:
        if name not in SPMS:
            raise ParameterError(
                f"--mutations {name}: no such mutation{nearest(name, SPMS)}"
            )
    return names


def _print(row: Row, words: str, as_json: bool) -> None:
    """Print a row of a program, as JSON or as `words` after the program's path."""
    line = f"{row['program']}: {words}"
    if as_json:
        line = json.dumps(row)
    click.echo(line)


def _rows(
    programs: tuple[Path, ...],
    rows_of: Callable[[Any], list[Row]],
    nothing: list[Row],
) -> Iterator[Row]:
    """Yield rows for each file in `programs`, with the added column program (the path).

    They are the rows that `rows_of` returns for a program. A program without rows, and a
    file without a program, which is rejected, have the rows of `nothing`, with the added
    column reason. At the end, the number of rejected files, if any, is written to standard
    error. The process exits with status 1 if a file could not be read.
    """
    from .program_files import read_program

    rejected = 0
    unread = False
    for path in programs:
        rows = []
        reason = "no place for a fault"
        try:
            rows = rows_of(read_program(path))
        except (DataError, *UNREADABLE) as error:
            rejected += 1
            unread |= isinstance(error, DataError)
            reason = reason_of(error)
        for row in rows or [row | {"reason": reason} for row in nothing]:
            yield {"program": str(path)} | row
    if rejected:
        warn(f"{rejected:,} of {len(programs):,} files rejected")
    exit_where(unread)


COMMANDS = (faults, mutate)
