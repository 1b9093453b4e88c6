"""The papers' prompts, one file each, unchanged to the letter. Tests compare the
prompts with full literal strings."""

import hashlib
from collections.abc import Mapping
from functools import cache
from string import Template

from .paths import PAPERS, visible


@cache
def prompt_text(name: str) -> str:
    """Return the text of the prompt `name`: papers/PAPER/prompts/NAME.txt without the
    final line break. No two papers share a name. Raises `ValueError` if there is no
    such file."""
    [path] = visible(PAPERS, f"*/prompts/{name}.txt")
    return path.read_text("utf-8").removesuffix("\n")


def filled(name: str, values: Mapping[str, str]) -> str:
    """Return the text of the prompt `name` with each `$placeholder` replaced by its
    text in `values`. Raises `KeyError` for a placeholder without a value."""
    return Template(prompt_text(name)).substitute(values)


def prompt_hash(name: str) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of the prompt `name`.
    Outputs print this hash beside every number that the prompt produced."""
    return hashlib.sha256(prompt_text(name).encode()).hexdigest()[:12]
