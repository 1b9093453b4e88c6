"""Size and density of each room of the library: `python tests/density.py`.

It fails where a room is above its ceilings in tests/ceilings.csv. A ceiling may only
fall: `python tests/density.py --lower` writes today's values where they are lower.

characters  of code lines, without indentation, comments and docstrings
nodes       nodes of the syntax tree for each statement: what packing raises
loops       comprehensions with two or more `for`
long        functions of over 40 lines or 12 branches
large       modules of over 8,500 characters

The contest programs are stimuli and are left out.
"""

from __future__ import annotations

import ast
import csv
import io
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib" / "codestress"
CEILINGS = ROOT / "tests" / "ceilings.csv"
COLUMNS = ("characters", "nodes", "loops", "long", "large")
OTHERS = "another room"
"""The row of a room that has none of its own."""
LINES, BRANCHES, LARGE = 40, 12, 8_500
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHING = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.comprehension,
)
Rooms = Mapping[str, Mapping[str, float]]
"""For each room, a number for each column."""


def branches(function: ast.AST) -> int:
    """Return how often a function branches, functions inside it left out."""
    count = 0
    nodes = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        count += isinstance(node, BRANCHING)
        nodes.extend(ast.iter_child_nodes(node))
    return count


def packed(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield column, line and reason of each function and comprehension that counts."""
    for node in ast.walk(tree):
        if isinstance(node, COMPREHENSIONS) and len(node.generators) > 1:
            yield (
                "loops",
                node.lineno,
                f"a comprehension has {len(node.generators)} loops",
            )
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LINES or branches(node) > BRANCHES:
                size = f"{lines} lines and {branches(node)} branches"
                yield "long", node.lineno, f"{node.name} has {size}"


def counted(text: str) -> Counter[str]:
    """Return what one module holds: the columns, and `statements` and `syntax`."""
    tree = ast.parse(text)
    documentation = set[int]()
    counts = Counter[str](column for column, _, _ in packed(tree))
    for node in ast.walk(tree):
        counts["statements"] += isinstance(node, ast.stmt)
        counts["syntax"] += not isinstance(node, ast.expr_context | ast.Module)
        match node:
            case ast.Expr(ast.Constant(str()) as constant):
                end = constant.end_lineno or constant.lineno
                documentation.update(range(constant.lineno, end + 1))
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.strip()
        if number not in documentation and not code.startswith("#"):
            counts["characters"] += len(code)
    counts["large"] = int(counts["characters"] > LARGE)
    return counts


def modules(library: Path = LIBRARY) -> dict[Path, str]:
    """Return the library's modules, without the contest programs, with their rooms."""
    found = {}
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).parts
        if "contest" in parts or ".ipynb_checkpoints" in parts:
            continue
        if len(parts) == 1:
            found[path] = "core"
        elif parts[0] == "papers" and len(parts) > 2:
            found[path] = f"papers/{parts[1]}"
        else:
            found[path] = parts[0]
    return found


def measured(library: Path = LIBRARY) -> dict[str, dict[str, float]]:
    """Return each room's values, the largest room first."""
    sums: dict[str, Counter[str]] = {}
    for path, room in modules(library).items():
        sums.setdefault(room, Counter()).update(counted(path.read_text("utf-8")))
    rooms = {}
    for room, counts in sums.items():
        nodes = counts["syntax"] / max(counts["statements"], 1)
        rooms[room] = {column: float(counts[column]) for column in COLUMNS}
        rooms[room]["nodes"] = round(nodes, 2)
    return dict(sorted(rooms.items(), key=lambda row: -row[1]["characters"]))


def read(text: str) -> dict[str, dict[str, float]]:
    """Return the ceilings that a CSV file holds."""
    rooms = {}
    for row in csv.DictReader(io.StringIO(text)):
        rooms[row["room"]] = {column: float(row[column]) for column in COLUMNS}
    return rooms


def written(rooms: Rooms) -> str:
    """Return the CSV file of ceilings."""
    lines = [",".join(["room", *COLUMNS])]
    for room, values in rooms.items():
        lines.append(
            ",".join([room, *(f"{values[column]:.10g}" for column in COLUMNS)])
        )
    return "\n".join(lines) + "\n"


def above(rooms: Rooms, ceilings: Rooms) -> list[tuple[str, str]]:
    """Return room and column of each value above its ceiling."""
    found = []
    for room, values in rooms.items():
        ceiling = ceilings.get(room, ceilings[OTHERS])
        found += [
            (room, column) for column in COLUMNS if values[column] > ceiling[column]
        ]
    return found


def raised(ceilings: Rooms, before: Rooms) -> list[str]:
    """Return the columns whose ceilings rose, all rooms of both files together.

    One room may take what another gives: code moves between rooms.
    """
    both = set(ceilings) & set(before)
    found = []
    for column in COLUMNS:
        now = sum(ceilings[room][column] for room in both)
        then = sum(before[room][column] for room in both)
        if round(now, 2) > round(then, 2):
            found.append(column)
    return found


def lowered(ceilings: Rooms, rooms: Rooms) -> dict[str, dict[str, float]]:
    """Return the lower of ceiling and value; a room that is no more has no ceiling."""
    found = {}
    for room, values in ceilings.items():
        if room in rooms:
            found[room] = {c: min(values[c], rooms[room][c]) for c in COLUMNS}
    return {**found, OTHERS: dict(ceilings[OTHERS])}


def earlier() -> list[str]:
    """Return the file of ceilings at its two newest commits, as far as git knows them."""
    name = CEILINGS.relative_to(ROOT).as_posix()

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    try:
        commits = git("log", "-2", "--format=%h", "--", name).split()
        return [git("show", f"{commit}:{name}") for commit in commits]
    except FileNotFoundError:
        return []


def explained(room: str, column: str, rooms: Rooms, ceilings: Rooms) -> Iterator[str]:
    """Yield why a room is above a ceiling: its value, and the places that count."""
    ceiling = ceilings.get(room, ceilings[OTHERS])
    yield f"{room}: {rooms[room][column]:,g} {column}, at most {ceiling[column]:,g} are allowed"
    for path, own in modules().items():
        if own == room and column in ("long", "loops"):
            for kind, line, why in packed(ast.parse(path.read_text("utf-8"))):
                if kind == column:
                    yield f"  {path.relative_to(ROOT)}:{line}: {why}"


def main() -> int:
    """Print the size of each room and what is above its ceiling; return 1 if anything is."""
    rooms = measured()
    ceilings = read(CEILINGS.read_text("utf-8"))
    if sys.argv[1:] == ["--lower"]:
        ceilings = lowered(ceilings, rooms)
        CEILINGS.write_text(written(ceilings), encoding="utf-8")
    print(f"{'room':20}" + "".join(f"{column:>12}" for column in COLUMNS))
    for room, values in rooms.items():
        print(f"{room:20}" + "".join(f"{values[column]:12,g}" for column in COLUMNS))
    print(f"{'all':20}{sum(row['characters'] for row in rooms.values()):12,.0f}")
    faults = []
    for room, column in above(rooms, ceilings):
        faults += explained(room, column, rooms, ceilings)
    for text in earlier():
        for column in raised(ceilings, read(text)):
            faults.append(f"tests/ceilings.csv: {column} rose; a ceiling may only fall")
    print("\n".join(faults), end="\n" if faults else "")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
