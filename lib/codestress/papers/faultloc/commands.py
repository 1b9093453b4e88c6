"""Commands `codestress faults` and `codestress mutate`, which make one-line faults or neutral
mutations in any program."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from codestress.errors import DataError, ParameterError
from codestress.literals import UNREADABLE, reason_of

PROGRAMS = click.argument(
    "programs",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="PROGRAM…",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")


@click.command()
@PROGRAMS
@AS_JSON
def faults(programs: tuple[Path, ...], as_json: bool) -> None:
    """Lists every fault of one line that can be made in Python or Java programs, with the line after it.

    With --json also the line before and the whole program. Programs are parsed, not run. A file that cannot be read,
    or holds no program, is rejected; the others are not.
    """
    from .program_files import faulty_rows

    nothing = dict.fromkeys(["fault", "line", "code", "before", "after"])
    for row in _rows(programs, lambda file, _: faulty_rows(file), [nothing]):
        told = row.get("reason")
        if row["fault"]:
            told = f"{row['line']:>6} {row['fault']:22} {row['after'].strip()}"
        click.echo(json.dumps(row) if as_json else f"{row['program']}: {told}")


@click.command()
@PROGRAMS
@click.option(
    "--line",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="A line to be followed.",
)
@click.option(
    "--mutations",
    default="comments,names,dead_code,functions",
    show_default=True,
    help="Which of them.",
)
@click.option(
    "--strength",
    default=1,
    show_default=True,
    type=click.IntRange(1, 8),
    help="Applications of each.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    help="The same seed makes the same mutations.",
)
@AS_JSON
def mutate(
    programs: tuple[Path, ...],
    line: int,
    mutations: str,
    strength: int,
    seed: int,
    as_json: bool,
) -> None:
    """Changes programs, Python or Java, without changing their meaning, and says where a line went.

    Programs are parsed, not run. A file that cannot be read, or holds no program, is rejected; the others are not.
    """
    from codestress.mutate.faults.neutral import SPMS
    from codestress.validation import nearest

    from .program_files import mutated_row

    wanted: list[Any] = mutations.replace(",", " ").split()
    for name in wanted:
        if name not in SPMS:
            raise ParameterError(
                f"--mutations {name}: no such mutation{nearest(name, SPMS)}"
            )
    how: Any = (line, strength, seed)

    def mutated(file: Any, name: str) -> list[dict[str, Any]]:
        return [mutated_row(file, name, spm, *how) for spm in wanted]

    none = {"state": "rejected", "reason": "", "code": None, "line": None}
    nothing = [{"mutation": spm} | none for spm in wanted]
    for row in _rows(programs, mutated, nothing):
        where = f"{row['line']:>6}" if row["line"] else "     –"
        told = f"{row['program']}: {where} {row['mutation']:22} {row['state']:9} {row['reason']}".rstrip()
        click.echo(json.dumps(row) if as_json else told)


def _rows(
    programs: tuple[Path, ...],
    made: Callable[[Any, str], list[dict[str, Any]]],
    nothing: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yields rows for each file in `programs`, with the added column program (the path): the rows
    that `made` returns for a program and the file's name. A file without a program is rejected: it
    has the rows of `nothing`, with the added column reason. At the end, says on standard error how
    many were rejected, if any, and exits with status 1 if a file could not be read."""
    from .program_files import read_program

    rejected = 0
    unread = False
    for path in programs:
        try:
            rows = made(read_program(path), path.name)
        except (DataError, *UNREADABLE) as error:
            rejected += 1
            unread = unread or isinstance(error, DataError)
            rows = [row | {"reason": reason_of(error)} for row in nothing]
        for row in rows:
            yield {"program": str(path)} | row
    if rejected:
        click.echo(f"{rejected:,} of {len(programs):,} files rejected", err=True)
    if unread:
        raise click.exceptions.Exit(1)


COMMANDS = (faults, mutate)
