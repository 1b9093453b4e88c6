"""The check of the library's size counts what it says: characters of code, and what is too long in one place."""

from __future__ import annotations

from density import counted, too_much

PACKED = '''
def packed(rows):
    """A docstring counts
    in no line."""
    # Nor does a comment.
    return [a for b in rows for c in b for a in c]
'''


def test_docstrings_comments_and_indentation_do_not_count() -> None:
    code = "def packed(rows):", "return [a for b in rows for c in b for a in c]"
    found = counted(PACKED)
    assert (found["lines"], found["characters"]) == (2, sum(map(len, code)))


def test_what_packing_raises_is_counted() -> None:
    plain, packed = counted("if a:\n    b = a\nc = b\n"), counted("c = a if a else b\n")
    assert plain["statements"] == 3
    assert plain["nodes"] / plain["statements"] < packed["nodes"] / packed["statements"]


def test_loops_lines_and_branches_have_limits() -> None:
    [(line, why)] = too_much(PACKED)
    assert line == 6
    assert "3 loops" in why
    long = "def long():\n" + "    if a: b()\n" * 61
    assert [why for _, why in too_much(long)] == [
        "long has 62 lines, at most 60 are allowed",
        "long has 61 branches, at most 20 are allowed",
    ]
