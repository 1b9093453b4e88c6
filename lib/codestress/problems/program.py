"""A problem: a program, a call of one of its functions, and what the call returns."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from codestress.types import Language, Source


@dataclass(frozen=True)
class Problem:
    """A program with what is known of it."""

    id: str
    code: str
    function: str
    """The function that is called."""
    arguments: str
    """Source text of the call's arguments, as between its parentheses."""
    output: str
    """The value that the call returns, as a Python literal."""
    language: Language = "python"
    source: Source = Source.STRANGER
    """The kit's own generators alone say otherwise. What puts other text into a problem uses `from_stranger`."""
    question: str = ""
    """What it was made of together with others (LiveCodeBench has 479 samples of 92 questions); empty: nothing."""

    @property
    def call(self) -> str:
        """The call as an expression."""
        return f"{self.function}({self.arguments})"


def from_stranger(problem: Problem, **changes: Any) -> Problem:
    """The problem with parts that came from outside: a model's program, a file's value."""
    return replace(problem, **changes, source=Source.STRANGER)


def literal_text(value: Any, language: Language) -> str:
    """How a value is written out in a language: Python's `repr`, or JSON."""
    return repr(value) if language == "python" else json.dumps(value, ensure_ascii=False)
