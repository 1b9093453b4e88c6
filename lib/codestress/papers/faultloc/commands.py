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
from codestress.validation import nearest

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

    def rows_of(file: Any) -> list[Row]:
        return faulty_rows(file) or [{"reason": "no place for a fault"}]

    for row in _rows(programs, rows_of):
        words = row.get("reason", "")
        if not words:
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
    from codestress.mutate.faults.kinds import SPMS

    from .program_files import mutated_row

    spms: list[Any] = mutations.replace(",", " ").split()
    for name in spms:
        if name not in SPMS:
            raise ParameterError(
                f"--mutations {name}: no such mutation{nearest(name, SPMS)}"
            )

    def rows_of(file: Any) -> list[Row]:
        return [mutated_row(file, spm, line, strength, seed) for spm in spms]

    for row in _rows(programs, rows_of):
        words = f"rejected  {row['reason']}"
        if "mutation" in row:
            words = "{line:>6} {mutation:22} {state:9} {reason}".format_map(row)
        _print(row, words.rstrip(), as_json)


def _print(row: Row, words: str, as_json: bool) -> None:
    """Print a row of a program, as JSON or as `words` after the program's path."""
    click.echo(json.dumps(row) if as_json else f"{row['program']}: {words}")


def _rows(
    programs: tuple[Path, ...], rows_of: Callable[[Any], list[Row]]
) -> Iterator[Row]:
    """Yield rows for each file in `programs`, with the added column program (the path).

    They are the rows that `rows_of` returns for a program. A file that is rejected has
    one row: program, state (rejected) and reason. At the end, the number of rejected
    files, if any, is written to standard error. The process exits with status 1 if a
    file could not be read.
    """
    from .program_files import read_program

    rejected = 0
    unread = False
    for path in programs:
        try:
            rows = rows_of(read_program(path))
        except (DataError, *UNREADABLE) as error:
            rejected += 1
            unread |= isinstance(error, DataError)
            rows = [{"state": "rejected", "reason": reason_of(error)}]
        for row in rows:
            yield {"program": str(path), **row}
    if rejected:
        warn(f"{rejected:,} of {len(programs):,} files rejected")
    exit_where(unread)


COMMANDS = (faults, mutate)
