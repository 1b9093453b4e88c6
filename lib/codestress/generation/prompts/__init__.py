"""The papers' prompts, one file each, to the letter; tests hold them against full literal strings."""

import hashlib
from functools import cache
from importlib.resources import files


@cache
def prompt_text(name: str) -> str:
    """The text of prompts/NAME.txt without the final line break of the file."""
    return (files(__name__) / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")


def prompt_hash(name: str) -> str:
    """First 12 hexadecimal digits of the prompt's SHA-256: printed beside every number it produced."""
    return hashlib.sha256(prompt_text(name).encode()).hexdigest()[:12]
