"""Names in plain words of the faults, mutations and controls, for figures and titles."""

from __future__ import annotations

WORDS = {
    "OffByOne": "off by one",
    "MisplacedReturn": "misplaced return",
    "IncorrectBooleanLogic": "boolean logic",
    "OperatorSwap": "operator swap",
    "comments": "misleading comments",
    "names": "misleading names",
    "dead_code": "dead code",
    "functions": "shuffled functions",
    "blank_line": "a blank line",
    "unchanged": "no change",
}


def spoken(name: str) -> str:
    """Returns the words for `name`: those in `WORDS` for a fault, mutation or control (what follows
    `, ` is kept); for a composition such as `names+dead_code` its parts with spaces for `_` and
    around +. A name that is neither a composition nor in `WORDS` is returned unchanged."""
    if "+" in name and " " not in name:
        return name.replace("_", " ").replace("+", " + ")
    first, comma, rest = name.partition(", ")
    return WORDS.get(first, first) + comma + rest
