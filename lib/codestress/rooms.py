"""The papers, each a room of its own below `papers/`: what they offer is reached from here, by name, and only so.

A paper is a folder there with `studies.py` (its parameters and trials, as `STUDIES`) and, where it has them,
`reading.py` (how simulated readers answer it: `TASKS`), `chats.py` (what nano learns of it: `WRITERS`), `commands.py`
(`COMMANDS` of the console script) and `headline.py` (what `codestress try` asks: `HEADLINE`). A fifth paper is a fifth
folder; nothing here knows any of them.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import Any

from codestress.paths import PACKAGE

PAPERS = PACKAGE / "papers"


@cache
def papers() -> tuple[str, ...]:
    """The papers' names, in the order of the alphabet."""
    return tuple(sorted(path.parent.name for path in PAPERS.glob("*/studies.py")))


def module_of(paper: str, part: str) -> str:
    """The dotted name of a paper's module."""
    return f"codestress.papers.{paper}.{part}"


@cache
def offered_by(part: str, name: str) -> dict[str, Any]:
    """The same as `offered`, by paper."""
    files = [paper for paper in papers() if (PAPERS / paper / f"{part}.py").is_file()]
    modules = {paper: importlib.import_module(module_of(paper, part)) for paper in files}
    return {paper: getattr(module, name) for paper, module in modules.items() if hasattr(module, name)}


def offered(part: str, name: str) -> tuple[Any, ...]:
    """What the papers' modules of this kind offer under a name; nothing from those that have none."""
    return tuple(offered_by(part, name).values())
