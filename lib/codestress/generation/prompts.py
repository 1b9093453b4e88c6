"""The papers' prompts, one file each, to the letter; tests hold them against full literal strings."""

import hashlib
from functools import cache

from codestress.rooms import PAPERS


@cache
def prompt_text(name: str) -> str:
    """The text of papers/PAPER/prompts/NAME.txt without the final line break; no two papers share a name."""
    [path] = PAPERS.glob(f"*/prompts/{name}.txt")
    return path.read_text(encoding="utf-8").removesuffix("\n")


def prompt_hash(name: str) -> str:
    """First 12 hexadecimal digits of the prompt's SHA-256: printed beside every number it produced."""
    return hashlib.sha256(prompt_text(name).encode()).hexdigest()[:12]
