"""`codestress faults` and `codestress mutate`: anybody's programs, with one fault each, or with changes that mean
nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from codestress.errors import DataError, ParameterError
from codestress.types import Language

if TYPE_CHECKING:
    from codestress.papers.faultloc.faults.neutral import Spm
    from codestress.papers.faultloc.program_files import ProgramFile

PROGRAMS = click.argument("programs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PROGRAM…")
LANGUAGE = click.option("--language", type=click.Choice(["python", "java"]), help="Default: by the file's ending.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")


@click.command()
@PROGRAMS
@LANGUAGE
@AS_JSON
def faults(programs: tuple[Path, ...], language: Language | None, as_json: bool) -> None:
    """Every fault of one line that can be made in programs, Python or Java: its line, and the line before and after.

    Programs are parsed, not run. Exit status 1 where a file cannot be read.
    """
    from codestress.papers.faultloc.program_files import faulty_rows

    nothing = {"fault": None, "line": None, "code": None, "before": None, "after": None}
    for row in _rows(programs, language, lambda file, _: faulty_rows(file), [nothing]):
        changed = f"{row['line']:>6} {row['fault']:22} {row['after'].strip()}" if row["fault"] else row["reason"]
        click.echo(json.dumps(row) if as_json else f"{row['program']}: {changed}")


@click.command()
@PROGRAMS
@click.option("--line", default=1, show_default=True, type=click.IntRange(min=1), help="A line to be followed.")
@click.option("--mutations", default="comments,names,dead_code,functions", show_default=True, help="Which of them.")
@click.option("--strength", default=1, show_default=True, type=click.IntRange(1, 8), help="Applications of each.")
@click.option("--seed", default=0, show_default=True, help="The same seed makes the same mutations.")
@LANGUAGE
@AS_JSON
def mutate(
    programs: tuple[Path, ...],
    line: int,
    mutations: str,
    strength: int,
    seed: int,
    language: Language | None,
    as_json: bool,
) -> None:
    """Changes programs, Python or Java, without changing their meaning, and says where a line went.

    Programs are parsed, not run. Exit status 1 where a file cannot be read.
    """
    from codestress.papers.faultloc.faults.neutral import SPMS
    from codestress.papers.faultloc.program_files import mutated_row
    from codestress.validation import nearest

    wanted = mutations.replace(",", " ").split()
    for name in wanted:
        if name not in SPMS:
            raise ParameterError(f"--mutations {name}: no such mutation{nearest(name, SPMS)}")
    chosen = cast("list[Spm]", wanted)

    def mutated(file: ProgramFile, name: str) -> list[dict[str, Any]]:
        return [mutated_row(file, name, spm, line, strength, seed) for spm in chosen]

    nothing = [{"mutation": spm, "state": "rejected", "reason": "", "code": None, "line": None} for spm in chosen]
    for row in _rows(programs, language, mutated, nothing):
        where = f"{row['line']:>6}" if row["line"] else "     –"
        told = f"{row['program']}: {where} {row['mutation']:22} {row['state']:9} {row['reason']}".rstrip()
        click.echo(json.dumps(row) if as_json else told)


def _rows(
    programs: tuple[Path, ...],
    language: Language | None,
    made: Callable[[ProgramFile, str], list[dict[str, Any]]],
    nothing: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """The rows of each program; of what is none, rows with nothing but the reason. Exit status 1 at the end where a
    file could not be read."""
    from codestress.papers.faultloc.program_files import NoProgram, read_program

    unread = False
    for path in programs:
        try:
            rows = made(read_program(path, language), path.name)
        except (NoProgram, DataError) as error:
            unread = unread or isinstance(error, DataError)
            rows = [row | {"reason": str(error)} for row in nothing]
        for row in rows:
            yield {"program": str(path)} | row
    if unread:
        raise click.exceptions.Exit(1)


COMMANDS = (faults, mutate)
