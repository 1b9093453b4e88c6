"""List of plain English words, at least 6,003, from the standard library's documentation.

That documentation differs between versions of Python and results must not, so the list was made
once (words.txt), by `python bench/words.py`.
"""

from functools import cache
from importlib.resources import files


@cache
def word_list() -> tuple[str, ...]:
    """Words of the kit's list of English words (words.txt), in alphabetical order."""
    text = (files(__package__) / "words.txt").read_text("utf-8")
    return tuple(
        line for line in text.splitlines() if line and not line.startswith("#")
    )
