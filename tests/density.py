"""The library's size and density: `python tests/density.py` fails above the limits below.

A code line is neither blank nor a comment nor part of a docstring. Its characters are counted without indentation. The
contest programs are stimuli and are left out.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "lib" / "codestress"
CHARACTERS = 1_216_000
"""Limit of the characters of all code lines; lower it with every part that becomes smaller."""
PER_LINE = 40.0
"""Limit of the characters of a code line, on average."""
NODES = 8.33
"""Limit of the nodes of the syntax tree to a statement, on average: what packing raises, whatever the lines' width."""
LINES = 60
"""Limit of the lines of one function, its docstring included."""
BRANCHES = 20
"""Limit of the branches of one function: if, for, while, except, case, conditional expressions."""
LOOPS = 2
"""Limit of the loops of one comprehension."""
BRANCHING = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def counted(text: str) -> Counter[str]:
    """`lines` and `characters` of the code in a module's text, its `statements` and their `nodes`."""
    documentation, found = set[int](), Counter[str]()
    for node in ast.walk(ast.parse(text)):
        found["statements"] += isinstance(node, ast.stmt)
        found["nodes"] += not isinstance(node, ast.expr_context | ast.Module)
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone and isinstance(node.value.value, str):
            documentation.update(
                range(node.lineno, (node.end_lineno or node.lineno) + 1)
            )
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.strip()
        if code and not code.startswith("#") and number not in documentation:
            found["lines"] += 1
            found["characters"] += len(code)
    return found


def too_much(text: str) -> Iterator[tuple[int, str]]:
    """Functions that are too long or branch too often and comprehensions of too many loops: line and reason."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            branches = sum(isinstance(part, BRANCHING) for part in ast.walk(node))
            if lines > LINES:
                yield (
                    node.lineno,
                    f"{node.name} has {lines} lines, at most {LINES} are allowed",
                )
            if branches > BRANCHES:
                reason = f"{branches} branches, at most {BRANCHES} are allowed"
                yield node.lineno, f"{node.name} has {reason}"
        if isinstance(node, COMPREHENSIONS) and len(node.generators) > LOOPS:
            loops = len(node.generators)
            yield (
                node.lineno,
                f"a comprehension has {loops} loops, at most {LOOPS} are allowed",
            )


def modules() -> list[Path]:
    """The library's modules without the contest programs."""
    paths = sorted(LIBRARY.rglob("*.py"))
    parts = [path.relative_to(LIBRARY).parts for path in paths]
    own = [
        "contest" not in names and ".ipynb_checkpoints" not in names for names in parts
    ]
    return [path for path, kept in zip(paths, own, strict=True) if kept]


def main() -> int:
    """Prints the size of each room and what is over a limit; 1 if anything is."""
    rooms: dict[str, Counter[str]] = {}
    faults = list[str]()
    for path in modules():
        text = path.read_text(encoding="utf-8")
        room, *rest = path.relative_to(LIBRARY).parts
        if room == "papers" and len(rest) > 1:
            room = f"papers/{rest[0]}"
        rooms.setdefault(room if rest else "codestress", Counter()).update(
            counted(text)
        )
        faults += [
            f"{path.relative_to(LIBRARY)}:{line}: {why}" for line, why in too_much(text)
        ]
    total = sum(rooms.values(), Counter[str]())
    for room, found in sorted(rooms.items(), key=lambda item: -item[1]["characters"]):
        print(f"{room:20}{found['characters']:12,} characters{found['lines']:8,} lines")
    nodes = total["nodes"] / total["statements"]
    per_line = total["characters"] / total["lines"]
    print(
        f"{'all':20}{total['characters']:12,} characters, {per_line:.2f} a line, {nodes:.2f} nodes a statement"
    )
    if total["characters"] > CHARACTERS:
        faults.append(
            f"{total['characters']:,} characters, at most {CHARACTERS:,} are allowed"
        )
    if per_line > PER_LINE:
        faults.append(
            f"{per_line:.3f} characters a line, at most {PER_LINE:g} are allowed"
        )
    if nodes > NODES:
        faults.append(f"{nodes:.2f} nodes a statement, at most {NODES:g} are allowed")
    print("\n".join(faults), end="\n" if faults else "")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
