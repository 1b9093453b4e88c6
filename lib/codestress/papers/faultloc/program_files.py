"""Anybody's programs from files, line for line as they are: whatever ends their lines, labels count as editors do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.papers.faultloc.faults.neutral import FaultyProgram, Spm, bank
from codestress.papers.faultloc.faults.sites import fault_sites
from codestress.papers.faultloc.programs import parses
from codestress.papers.faultloc.studies import drawn_mutation
from codestress.types import Language

MARK = "\ufeff"
SUFFIXES: dict[str, Language] = {".py": "python", ".java": "java"}


class NoProgram(ValueError):
    """The file holds no program of the language; the message says why."""


@dataclass(frozen=True)
class ProgramFile:
    """A program as its file has it."""

    lines: tuple[str, ...]
    """With what ends them: a line feed, a carriage return, both, or nothing."""
    mark: str
    """The byte-order mark, or nothing."""
    language: Language

    @property
    def code(self) -> str:
        """The program as parsers read it: as many lines, as many characters in each, but one kind of line end."""
        return "".join(re.sub(r"\r\n?$", "\n", line) for line in self.lines)

    @property
    def end(self) -> str:
        """What ends the lines, where that is the same for all; else a line feed."""
        ends = {_end(line) for line in self.lines} - {""}
        return ends.pop() if len(ends) == 1 else "\n"


def read_program(path: Path, language: Language | None = None) -> ProgramFile:
    """The program in a file, in the language of its name's ending where none is given.

    `DataError` where the file cannot be read, `NoProgram` where it holds no program.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise NoProgram(f"not a UTF-8 text: {error.reason} at byte {error.start}") from None
    spoken = language or SUFFIXES.get(path.suffix)
    if spoken is None:
        raise NoProgram(f"neither {' nor '.join(SUFFIXES)}; say --language")
    mark, text = (MARK, text[1:]) if text.startswith(MARK) else ("", text)
    found = ProgramFile(tuple(re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)), mark, spoken)
    if not found.code.strip():
        raise NoProgram("empty")
    if not parses(found.code, spoken):
        raise NoProgram(f"does not parse as {spoken}")
    return found


def faulty_rows(file: ProgramFile) -> list[dict[str, Any]]:
    """Every fault that can be made in the program: what was there and what is there now, in whole lines.

    Left out are mutants that do not parse, and a line behind a last one that has no end: that would change two.
    """
    code, rows = file.code, []
    for site in fault_sites(code, file.language):
        made, at, inserted = site.apply(code), site.line - 1, "\n" in site.text
        before = "" if inserted else file.lines[at]
        end = _end(before or (file.lines[at - 1] if at else file.end))
        if parses(made, file.language) and (end or not inserted):
            after, mark = made.split("\n")[at] + end, file.mark if at == 0 else ""
            whole = "".join([*file.lines[:at], after, *file.lines[at + (not inserted) :]])
            rows.append(
                {
                    **{"fault": site.kind, "line": site.line, "code": file.mark + whole},
                    **{"before": mark + before, "after": mark + after},
                }
            )
    return rows


def _end(line: str) -> str:
    """What ends a line."""
    return line[len(line.rstrip("\r\n")) :]


def mutated_row(file: ProgramFile, name: str, spm: Spm, line: int, strength: int, seed: int) -> dict[str, Any]:
    """What becomes of the program under a mutation, and where a line of it went."""
    body = file.code.rstrip("\n")
    given = file.mark + "".join(file.lines)
    count = body.count("\n") + 1
    made: FaultyProgram | str = f"no line {line}: the program has {count}"
    if line <= count:
        program = FaultyProgram(body, line)
        made = drawn_mutation(program, file.language, name, spm, strength, bank(file.language), seed)
    if isinstance(made, str):
        return {"mutation": spm, "state": "refused", "reason": made, "code": given, "line": line}
    code = file.mark + (made.code + file.code[len(body) :]).replace("\n", file.end)
    state = "unchanged" if made.code == body else "applied"
    return {"mutation": spm, "state": state, "reason": "", "code": code, "line": made.line}
