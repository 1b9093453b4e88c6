"""Alternative text of a figure, made from its title and its table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import shorten

import pandas as pd

LONGEST_ALT = 500
"""Maximum number of characters of a picture's alternative text."""
REST = " … The rest is in the table."
VALUES = 3
"""Maximum number of different texts of a column that are listed."""
VALUE_CHARACTERS = 30
UNKNOWN = "(not known)"


def table_in_words(table: pd.DataFrame) -> str:
    """Return the number of rows of `table`, and of each column its texts or its range.

    A range has three decimals at most. A column without values is "(not known)".
    """
    columns = []
    for name, values in table.items():
        columns.append(f"{str(name).replace('_', ' ')} {_column(values)}")
    rows = "1 row" if len(table) == 1 else f"{len(table):,} rows"
    return f"Table of {rows}: {'; '.join(columns)}"


def _column(values: pd.Series) -> str:
    known = values.dropna()
    if known.empty:
        return UNKNOWN
    numeric = pd.api.types.is_numeric_dtype(known)
    if numeric and not pd.api.types.is_bool_dtype(known):
        low, high = _number(known.min()), _number(known.max())
        return low if low == high else f"{low} to {high}"
    texts = list(known.astype(str).unique())
    listed = []
    for text in texts[:VALUES]:
        listed.append(shorten(text, VALUE_CHARACTERS, placeholder=" …") or "none")
    if len(texts) > VALUES:
        listed.append(f"{len(texts) - VALUES} more")
    return ", ".join(listed)


def _number(value: float) -> str:
    text = f"{round(value, 3) + 0.0:,.3f}"  # no -0
    return text.rstrip("0").rstrip(".")


def worded(text: str) -> str:
    """Return `text` with "(not known)" for each nan, its sign and its per cent sign."""
    return re.sub(r"[+-]?\bnan\b( ?%)?", UNKNOWN, text)


def description(sentences: Sequence[str]) -> str:
    """Return `sentences`, joined, as alternative text of at most `LONGEST_ALT` characters.

    A longer text ends after a clause or a word, and says that the rest is in the table.
    """
    ended = [worded(sentence).rstrip(".") + "." for sentence in sentences]
    whole = " ".join(ended)
    if len(whole) <= LONGEST_ALT:
        return whole
    room = whole[: LONGEST_ALT - len(REST)]
    end = max(room.rfind(". "), room.rfind("; "))
    # A clause that ends in the first half would give too much away.
    if end <= LONGEST_ALT / 2:
        end = room.rfind(" ")
    return room[:end].rstrip(".,;:") + REST
