"""Programs read from the user's own files."""

import re
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from tree_sitter import Tree

from codestress.errors import DataError
from codestress.mutate.faults.kinds import Spm
from codestress.mutate.faults.neutral import FaultyProgram, bank
from codestress.mutate.faults.sites import fault_sites
from codestress.sandbox.runtimes import parser
from codestress.types import Language

from .programs import CorrectProgram, parse_fault, parses
from .studies import drawn_mutation

Row = dict[str, Any]
"""A row about a program, as the commands print it."""
DEEPEST = 300
"""Most levels of a Java program's syntax tree; Python's own parser limits Python
programs."""
SUFFIXES: dict[str, Language] = {".py": "python", ".java": "java"}
"""Dict from the ending of a file's name to the language."""
ODD = {"\ufeff": "a byte-order mark", "\r": "a carriage return"}
"""Characters that a program must not contain, in words."""


def read_program(path: Path) -> CorrectProgram:
    """Return the program in the file `path`, in the language that the ending of the
    file's name says (.py, .java).

    Its id is the file's name; it has no specification, and its text is the file's.

    Raises `DataError` if the file cannot be read. Raises `ValueError` if it is not
    UTF-8, is empty, does not parse, has a byte-order mark or a carriage return, or has
    another ending, or if a Java program is nested too deeply.
    """
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}") from None
    language = SUFFIXES.get(path.suffix)
    if language is None:
        raise ValueError(
            f"neither {' nor '.join(SUFFIXES)}; give it the ending of its language"
        )
    if odd := re.search("[\ufeff\r\udc80-\udcff]", text):
        line = text.count("\n", 0, odd.start()) + 1
        name = ODD.get(odd[0], f"the byte 0x{ord(odd[0]) & 0xFF:02x}")
        raise ValueError(
            f"line {line}: has {name}; save it as plain UTF-8, with line feeds"
        )
    if not text.strip():
        raise ValueError("empty")
    if fault := parse_fault(text, language):
        raise ValueError(f"does not parse as {language}: {fault}")
    if language == "java" and _depth(parser(language).parse(text.encode())) > DEEPEST:
        raise ValueError("nested too deeply")
    return CorrectProgram(path.name, text, "", language)


def _depth(tree: Tree) -> int:
    """Return the number of levels of a syntax tree."""
    depth = 0
    level = [tree.root_node]
    while level:
        depth += 1
        level = list(chain.from_iterable(node.children for node in level))
    return depth


def faulty_rows(file: CorrectProgram) -> list[Row]:
    """Return a dict for each one-line fault that can be made in the program `file`.

    Keys: fault (its kind), line (number, from 1), code (the faulty program), before and
    after (the whole line; before is empty if the fault inserts a line). Left out are
    faulty programs that do not parse. A line inserted after a last line without a line
    end is left out too, since that would change two lines.
    """
    rows = []
    lines = StringIO(file.code).readlines()
    for site in fault_sites(file.code, file.language):
        code = site.apply(file.code)
        inserted = "\n" in site.text
        before = "" if inserted else lines[site.line - 1]
        after = StringIO(code).readlines()[site.line - 1]
        whole = after.endswith("\n") or not inserted
        if whole and parses(code, file.language):
            row: Row = {"fault": site.kind, "line": site.line, "code": code}
            rows.append(row | {"before": before, "after": after})
    return rows


def mutated_row(
    file: CorrectProgram, spm: Spm, line: int, strength: int, seed: int
) -> Row:
    """Return the program `file` under the mutation `spm`, as a dict.

    Keys: mutation, state (applied, unchanged or refused), reason (empty unless
    refused), code, and line (the new number of the line `line`). If refused (no neutral
    mutation), code and line are those of the input. Raises `ValueError` if there is no
    such line. `strength` is the number of applications; `seed` and the program's id
    decide the random draws of places and texts.
    """
    body = file.code.rstrip("\n")
    program = FaultyProgram(body, line)
    if line > program.lines:
        raise ValueError(f"no line {line}: the program has {program.lines}")
    content = bank(file.language)
    mutated = drawn_mutation(
        program, file.language, file.id, spm, strength, content, seed
    )
    state = "unchanged" if mutated == program else "applied"
    reason = ""
    if isinstance(mutated, str):
        state, reason, mutated = "refused", mutated, program
    row: Row = {"mutation": spm, "state": state, "reason": reason}
    code = mutated.code + file.code[len(body) :]
    return row | {"code": code, "line": mutated.line}
