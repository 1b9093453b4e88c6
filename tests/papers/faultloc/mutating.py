from __future__ import annotations

from codestress.mutate.draw import Draw
from codestress.mutate.faults.neutral import Content, FaultyProgram, bank, mutate
from codestress.seeding import rng
from codestress.types import Language


def mutated(
    program: FaultyProgram,
    spm: str,
    language: Language = "python",
    *names: str | int,
    strength: int = 1,
    quarter: int = 0,
    content: Content | None = None,
) -> FaultyProgram:
    """The program after a mutation, with the kit's own content and the draw of the names unless told otherwise."""
    return mutate(
        program,
        spm,  # type: ignore[arg-type]
        language,
        Draw(rng(*(names or (0,)))),
        strength=strength,
        quarter=quarter,
        content=content or bank(language),
    )
