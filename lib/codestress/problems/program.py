"""A problem: a program, a call of one of its functions, and what the call returns."""

from __future__ import annotations

from dataclasses import dataclass

from codestress.types import Language


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

    @property
    def call(self) -> str:
        """The call as an expression."""
        return f"{self.function}({self.arguments})"
