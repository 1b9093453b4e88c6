"""Problems: a program, a call of one of its functions, and the value that the call returns."""

import json
from dataclasses import dataclass, replace
from typing import Any

from codestress.types import Language, Source


@dataclass(frozen=True)
class Problem:
    """A program, a call of one of its functions, and the call's output, with an id and the
    program's language and origin."""

    id: str
    code: str
    function: str
    """Name of the function that is called."""
    arguments: str
    """Source text of the call's arguments, without the parentheses."""
    output: str
    """Value that the call returns, as a Python literal."""
    language: Language = "python"
    source: Source = Source.STRANGER
    """Origin of the program. Only the kit's own generators set another origin than the
    default. Code that puts outside text into a problem uses `from_stranger`."""
    question: str = ""
    """Id of the question from which several problems were made (LiveCodeBench has 479
    problems from 92 questions). Empty if the problem shares its question with no other.
    """

    @property
    def call(self) -> str:
        """Source text of the problem's call, FUNCTION(ARGUMENTS)."""
        return f"{self.function}({self.arguments})"


def from_stranger(problem: Problem, **changes: Any) -> Problem:
    """Return a copy of `problem` whose origin is untrusted, with the fields `changes`
    replaced. The new values come from outside, such as a model's program or a file's
    value."""
    return replace(problem, **changes, source=Source.STRANGER)


def literal_text(value: Any, language: Language) -> str:
    """Return `value` as the text of a literal of `language`: Python's `repr` for
    `python`, else JSON."""
    if language == "python":
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
