"""Plain English words, at least 6,003 of them, from text that every machine has: the standard library's documentation.

That text differs between versions of Python and results must not, so the list was made once (words.txt), by
`python bench/words.py`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

TARGET_WORDS = frozenset({"workbench", "dad", "admire"})
"""The paper's own target chain; never among the others."""


@cache
def word_list() -> tuple[str, ...]:
    """The embedded list, in alphabetical order."""
    text = (files("codestress.problems") / "words.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))
