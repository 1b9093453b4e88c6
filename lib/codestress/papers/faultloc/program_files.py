"""Programs read from any user's files with all lines unchanged; labels count lines as editors do,
whatever the line ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codestress.errors import DataError
from codestress.mutate.faults.neutral import FaultyProgram, Spm, bank
from codestress.mutate.faults.sites import fault_sites
from codestress.papers.faultloc.programs import parse_fault, parses
from codestress.papers.faultloc.studies import drawn_mutation
from codestress.sandbox.runtimes import parser
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

MARK = "\ufeff"
DEEPEST = 300
"""Most levels of a Java program's syntax tree; Python's own parser bounds Python programs."""
SUFFIXES: dict[str, Language] = {".py": "python", ".java": "java"}


class NoProgram(ValueError):
    """Raised if a file that can be read holds no Python or Java program; the message says why."""


@dataclass(frozen=True)
class ProgramFile:
    """A program exactly as its file holds it: lines with their line ends, byte-order mark and
    language."""

    lines: tuple[str, ...]
    """Lines with their line ends: a line feed, a carriage return, both, or nothing."""
    mark: str
    """Byte-order mark of the file, or an empty text."""
    language: Language

    @property
    def code(self) -> str:
        """Program as parsers read it: without the byte-order mark, and with a line feed for every
        line end."""
        return "".join(re.sub(r"\r\n?$", "\n", line) for line in self.lines)

    @property
    def end(self) -> str:
        """Line end of the file if all its lines have the same; otherwise, or without any, a line
        feed."""
        ends = {_end(line) for line in self.lines} - {""}
        return ends.pop() if len(ends) == 1 else "\n"


def read_program(path: Path, language: Language | None = None) -> ProgramFile:
    """Returns the program in the file `path` as a `ProgramFile`. Without `language`, the ending of
    the file's name decides (.py, .java).

    Raises `DataError` if the file cannot be read, `NoProgram` if it is not UTF-8, is empty, does
    not parse, or has another ending while `language` is None.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise NoProgram(
            f"line {line}: byte 0x{byte:02x} is not UTF-8; save it as UTF-8"
        ) from None
    spoken = language or SUFFIXES.get(path.suffix)
    if spoken is None:
        raise NoProgram(f"neither {' nor '.join(SUFFIXES)}; say --language")
    mark, text = (MARK, text[1:]) if text.startswith(MARK) else ("", text)
    found = ProgramFile(
        tuple(re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)), mark, spoken
    )
    if not found.code.strip():
        raise NoProgram("empty")
    if fault := parse_fault(found.code, spoken):
        raise NoProgram(f"does not parse as {spoken}: {fault}")
    if (
        spoken == "java"
        and _depth(parser("java").parse(found.code.encode()).root_node) > DEEPEST
    ):
        raise NoProgram("nested too deeply")
    return found


def _depth(root: Node) -> int:
    """Number of levels of a syntax tree."""
    level, depth = [root], 0
    while level:
        level = [child for node in level for child in node.children]
        depth += 1
    return depth


def faulty_rows(file: ProgramFile) -> list[dict[str, Any]]:
    """Returns a dictionary for each one-line fault that can be made in the program `file`: fault
    (its kind), line (number, from 1), code (the faulty program), before and after (the whole line;
    before is empty if the fault inserts a line).

    Left out are faulty programs that do not parse, and a line inserted behind a last line without a
    line end, since that would change two lines.
    """
    rows = []
    for site in fault_sites(file.code, file.language):
        made, at, inserted = site.apply(file.code), site.line - 1, "\n" in site.text
        before = "" if inserted else file.lines[at]
        end = _end(before or (file.lines[at - 1] if at else file.end))
        if parses(made, file.language) and (end or not inserted):
            lines = [*file.lines]
            after = made.split("\n")[at] + end
            lines[at : at + (not inserted)] = [after]
            mark = file.mark if at == 0 else ""
            rows.append(
                {
                    "fault": site.kind,
                    "line": site.line,
                    "code": file.mark + "".join(lines),
                    "before": mark + before,
                    "after": mark + after,
                }
            )
    return rows


def _end(line: str) -> str:
    """Line end of `line` (a line feed, a carriage return or both); empty if it has none."""
    return line[len(line.rstrip("\r\n")) :]


def mutated_row(
    file: ProgramFile, name: str, spm: Spm, line: int, strength: int, seed: int
) -> dict[str, Any]:
    """Returns the program `file` under the mutation `spm` as a dictionary: mutation, state
    (applied, unchanged, refused or rejected), reason (of the last two, else empty), code, and line
    (the number that the line numbered `line` has now).

    If refused (no neutral mutation) or rejected (no such line), code and line are as given.
    `strength` is the number of applications; `seed` and `name` decide the random draws of places
    and texts.
    """
    body = file.code.rstrip("\n")
    given = file.mark + "".join(file.lines)
    count = body.count("\n") + 1
    as_given = {
        "mutation": spm,
        "state": "rejected",
        "reason": "",
        "code": given,
        "line": line,
    }
    if line > count:
        return as_given | {"reason": f"no line {line}: the program has {count}"}
    program = FaultyProgram(body, line)
    made = drawn_mutation(
        program, file.language, name, spm, strength, bank(file.language), seed
    )
    if isinstance(made, str):
        return as_given | {"state": "refused", "reason": made}
    code = file.mark + (made.code + file.code[len(body) :]).replace("\n", file.end)
    state = "unchanged" if made.code == body else "applied"
    return {
        "mutation": spm,
        "state": state,
        "reason": "",
        "code": code,
        "line": made.line,
    }
