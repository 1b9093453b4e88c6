"""A paper on the report's first screen: its question, its headline number, and the figure that shows it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """A paper on the report's first screen: its question, and the place of the number that it is
    known for."""

    title: str
    question: str
    figure: str
    """The artefact that shows the number best: PAPER/ARTEFACT."""
    stated: str
    """Text that the headline number's statements in the ledger contain; several figures may state
    the number."""
    told: str
    """Description of the headline number, or of the span of numbers."""
