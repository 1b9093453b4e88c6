"""Writes which statements of the papers no run can decide into docs/ledger.md: `python docs/undecided.py`."""

from __future__ import annotations

from pathlib import Path

from codestress.paths import PUBLISHED
from codestress.report.statements import Statement, statements

PAGE = Path(__file__).with_name("ledger.md")
HEAD = "## What no run can decide\n"


def section() -> str:
    """The part of the page under `HEAD`, to its end."""
    found: list[tuple[str, Statement]] = [
        (path.stem, one)
        for path in sorted(PUBLISHED.glob("*.json"))
        for one in statements(path.stem)
    ]
    rows = [
        f"| {paper}/{one.artefacts[0]} | {one.statement} | {one.value} {one.unit} | {one.why} |"
        for paper, one in found
        if one.why
    ]
    told = (
        f"Of {len(found)} statements (one may be of many cells) these {len(rows)}: `python docs/undecided.py`\n"
        "writes the list. A test tries the others with synthetic answers that have, and that clearly have not, the\n"
        "published effect."
    )
    head = ["| where | statement | published | why not |", "| --- | --- | --- | --- |"]
    return "\n".join([HEAD, told, "", *head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(
        PAGE.read_text(encoding="utf-8").split(HEAD)[0] + section(), encoding="utf-8"
    )
