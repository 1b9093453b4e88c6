"""List of plain English words, at least 6,003, taken from the standard library's
documentation.

The list was made once (words.txt), by `python bench/words.py`: the documentation
differs between versions of Python, but results must not.
"""

from functools import cache
from importlib.resources import files


@cache
def word_list() -> tuple[str, ...]:
    """Return the kit's list of English words (words.txt), in alphabetical order."""
    text = (files(__package__) / "words.txt").read_text("utf-8")
    return tuple(
        line for line in text.splitlines() if line and not line.startswith("#")
    )
