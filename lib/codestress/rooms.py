"""Access to the papers' packages in `papers/` by name; other code imports no paper
directly.

A paper is a folder with `studies.py` (its parameters and trials, as `STUDIES`).
Optional modules are `reading.py` (the tasks of simulated readers: `TASKS`),
`commands.py` (`COMMANDS` of the console script) and `headline.py` (numbers of correct
answers that the paper prints: `published`). A fifth paper would be a fifth folder: this
module names no paper.
"""

import importlib
from functools import cache
from typing import Any

from .paths import PAPERS, visible


@cache
def papers() -> tuple[str, ...]:
    """Return the names of the papers (folders in papers/ with a studies.py) in
    alphabetical order."""
    return tuple(path.parent.name for path in visible(PAPERS, "*/studies.py"))


def module_of(paper: str, part: str) -> str:
    """Return the dotted name of the module `part` of `paper`:
    codestress.papers.PAPER.PART."""
    return f"codestress.papers.{paper}.{part}"


@cache
def offered_by(part: str, name: str) -> dict[str, Any]:
    """Return a dict from paper to the value of the attribute `name` in its module
    `part` (such as `studies`). Papers without such a module or attribute are left out.
    """
    values = {}
    for paper in papers():
        if (PAPERS / paper / f"{part}.py").is_file():
            module = importlib.import_module(module_of(paper, part))
            if hasattr(module, name):
                values[paper] = getattr(module, name)
    return values
