"""The check of the library's size counts what it says, and no ceiling rises."""

from __future__ import annotations

import ast

from density import (
    COLUMNS,
    OTHERS,
    above,
    counted,
    lowered,
    packed,
    raised,
    read,
    written,
)

PACKED = '''
def packed(rows):
    """A docstring counts
    in no line."""
    # Nor does a comment.
    return [a for b in rows for a in b]
'''


def row(characters: float, nodes: float = 7.0) -> dict[str, float]:
    return {**dict.fromkeys(COLUMNS, 0.0), "characters": characters, "nodes": nodes}


CEILINGS = {"report": row(100), "scoring": row(50), OTHERS: row(20)}


def test_docstrings_comments_and_indentation_do_not_count() -> None:
    code = "def packed(rows):", "return [a for b in rows for a in b]"
    assert counted(PACKED)["characters"] == sum(map(len, code))


def test_what_packing_raises_is_counted() -> None:
    plain, dense = counted("if a:\n    b = a\nc = b\n"), counted("c = a if a else b\n")
    assert plain["statements"] == 3
    assert plain["syntax"] / plain["statements"] < dense["syntax"] / dense["statements"]


def test_loops_long_functions_and_large_modules_are_counted_and_named() -> None:
    [(column, line, why)] = packed(ast.parse(PACKED))
    assert (column, line, "2 loops" in why) == ("loops", 6, True)
    lines = "def long():\n" + "    a()\n" * 40
    branches = "def branching():\n" + "    if a: b()\n" * 13
    assert (counted(lines)["long"], counted(branches)["long"]) == (1, 1)
    assert counted("def short():\n" + "    a()\n" * 39)["long"] == 0
    assert counted("a = 1\n" * 1_700)["large"] == 0
    assert counted("a = 1\n" * 1_701)["large"] == 1


def test_a_value_above_its_ceiling_is_named_and_a_new_room_has_one_too() -> None:
    rooms = {"report": row(101), "scoring": row(50, nodes=7.01), "fifth": row(20)}
    assert above(rooms, CEILINGS) == [("report", "characters"), ("scoring", "nodes")]
    assert above({"fifth": row(21)}, CEILINGS) == [("fifth", "characters")]


def test_ceilings_fall_and_never_rise() -> None:
    lower = lowered(CEILINGS, {"report": row(90), "scoring": row(60)})
    assert (lower["report"], lower["scoring"]) == (row(90), row(50))
    assert raised(lower, CEILINGS) == []
    assert raised(CEILINGS, lower) == ["characters"]
    moved = {"report": row(60), "scoring": row(90), OTHERS: row(20)}
    assert raised(moved, CEILINGS) == []
    assert set(lowered(CEILINGS, {"report": row(90)})) == {"report", OTHERS}


def test_the_file_of_ceilings_reads_as_written() -> None:
    assert read(written(CEILINGS)) == CEILINGS
