"""A paper's main experiment at a size for minutes: what `codestress try` asks of any model, and what is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from codestress.types import Trial


class Reach(NamedTuple):
    """What a model can take."""

    context: int | None
    """Tokens; None where nobody says."""
    prefill: bool
    """Whether it continues a begun answer."""


@dataclass(frozen=True)
class Headline:
    """What is asked, in which cells its answers are counted, and what the paper publishes for them."""

    title: str
    question: str
    study: str
    """One of the paper's STUDIES."""
    parameters: Callable[[Reach], Mapping[str, Any]]
    """What differs from the schema's values, which are the paper's."""
    deviates: Callable[[Reach], tuple[str, ...]]
    """In words: what is not as in the paper, and why."""
    cell: Callable[[Trial], str]
    cells: tuple[str, ...]
    """From left to right."""
    axis: str
    published: Callable[[], pd.DataFrame]
    """Columns model, cell, share (0 to 1), n (answers behind it)."""
    source: str
    """Where the paper has them, and of which questions."""
    figure: str
    """The artefact that shows it best: PAPER/ARTEFACT."""
    stated: str
    """What the ledger's rows of the paper's headline number say, in one figure or in several."""
    told: str
    """What that number, or the span of those numbers, is."""
    cluster: Callable[[Trial], str] = lambda trial: trial.problem
    """What hangs together: trials of one program, or of one list."""
