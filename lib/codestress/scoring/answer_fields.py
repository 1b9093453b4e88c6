"""Fields of rows in files of answers: the problem's id, and the texts of the answers, which an
API's response may hold."""

from collections.abc import Sequence
from typing import Any


def field_at(row: Any, path: str) -> Any:
    """Returns the field of `row` at `path`; None without it, and for the `output` of a problem."""
    if path == "output" and ("input" in row or "code" in row):
        return None
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def id_text(value: Any) -> str:
    """Returns a problem's id, a text or a whole number, as text; empty for any other value."""
    if isinstance(value, float) and value.is_integer():
        # pandas writes whole numbers as floats in a column with gaps.
        value = int(value)
    return str(value) if type(value) in (str, int) else ""


def warning(fault: str, names: Sequence[str]) -> str:
    """Returns a warning of a `fault` in the rows `names`; it names the first five of more."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{fault}: {', '.join(names[:5])}{more}"


def answer_texts(value: Any) -> list[str | None]:
    """Returns the answers in a field: a text, a list of texts, or an API's response with one for
    each choice; None marks a missing one and one that is no text."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if str(field_at(value, "status_code") or "").startswith(("4", "5")):
        # An error message of the server is no model's text.
        return [None]
    for name in ("body", "choices", "candidates"):
        value = field_at(value, name) or value
    return list(map(_text, value if isinstance(value, list) else [value])) or [None]


def _text(message: Any) -> str | None:
    """Returns the text of an API's message, its text parts without reasoning; None without any."""
    match message:
        case str(text) | [str(text)]:
            return text
        case {"type": "reasoning" | "thinking"} | {"thought": True}:
            return None
        case dict():
            for name in ("message", "content", "parts", "text", "output", "completion"):
                # OpenAI's responses repeat the settings of a text as `text`.
                if answer := _text(message.get(name)):
                    return answer
        case [*parts] if all(isinstance(part, dict) for part in parts):
            return "".join(filter(None, map(_text, parts))) or None
    return None
