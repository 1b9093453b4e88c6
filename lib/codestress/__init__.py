"""codestress: regenerate the tables and figures of four papers on what language models understand of code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__version__ = "0.1.0"


def try_model(ask: Callable[..., str], minutes: float = 10.0) -> Path:
    """Asks a function some minutes of each paper's main experiment; returns the page (`codestress try` has more).

    It is called as ask(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), messages being dictionaries
    of role and content, and returns the answer's text. It must stand in a file, by its own name: the file's content
    tells its answers from those of another version. `ParameterError` where it does not.
    """
    from codestress.tryout.commands import try_function

    return try_function(ask, minutes)
