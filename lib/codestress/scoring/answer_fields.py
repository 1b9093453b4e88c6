"""Fields of rows in files of answers: the problem's id, and the texts of the answers,
possibly inside an API's response."""

from collections.abc import Sequence
from types import NoneType
from typing import Any

PROMPTING = ("system", "developer", "user", "tool")
"""Roles of messages that a model is sent."""
TEXTS = (
    "message",
    "content",
    "parts",
    "text",
    "output",
    "completion",
    "generated_text",
)
"""Fields of a message that hold its text, or lead to it."""


def field_at(row: Any, path: str) -> Any:
    """Return the field of `row` at `path`, in which a dot leads into an object. None if
    the field is missing, and for the `output` of a row that is a problem itself."""
    if path == "output" and ("input" in row or "code" in row):
        return None
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def id_text(value: Any) -> str:
    """Return a problem's id as text; empty for a value that is no id. A whole number
    loses its `.0`, which pandas writes in a column with gaps."""
    no_id = isinstance(value, bool | list | dict | None) or value != value  # nan
    text = "" if no_id else str(value)
    return text.removesuffix(".0") if text[:-2].isdigit() else text


def values_at(rows: Sequence[Any], path: str) -> list[Any]:
    """Return the values of the field at `path`. Raises `ValueError` if the field is for
    several answers, and each of its texts writes out a list of texts."""
    values = [field_at(row, path) for row in rows]
    texts = [value for value in values if isinstance(value, str)]
    several = path.endswith(("s", "_list"))
    if several and texts and all(text.startswith(("['", '["')) for text in texts):
        raise ValueError(
            f"each {path} is a text that writes out a list: give lists, as JSON Lines or "
            "Parquet have them, or rename the field to `answer` if each is one answer"
        )
    return values


def are_texts(value: Any) -> bool:
    """Return whether `value` is a list of texts, in which None may mark missing ones."""
    return isinstance(value, list) and {*map(type, value)} <= {str, NoneType}


def warning(fault: str, names: Sequence[str]) -> str:
    """Return the text of a warning of a `fault` in the rows `names`, which lists at
    most five of the names."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{fault}: {', '.join(names[:5])}{more}"


def answer_texts(value: Any) -> list[str | None]:
    """Return the answers in a field: a text, a list of texts, or an API's response with
    a text for each choice. None marks an answer that is missing or not a text."""
    match value:
        case {"status_code": code} if str(code).startswith(("4", "5")):
            # An error message of the server is no model's text.
            return [None]
        case (
            [[*inner]]
            | {"body": inner}
            | {"choices": [*inner]}
            | {"candidates": [*inner]}
        ):
            return answer_texts(inner)
    if not isinstance(value, list):
        value = [value]
    if any(field_at(part, "role") in PROMPTING for part in value):
        # A conversation, which ends with the answer.
        value = value[-1:]
    return list(map(_text, value)) or [None]


def _text(message: Any) -> str | None:
    """Return the text of an API's message: its text parts without reasoning. None if
    there is none."""
    match message:
        case str(text) | [str(text)]:
            return text
        case {"type": "reasoning" | "thinking"} | {"thought": True}:
            return None
        case {"role": role} if role in PROMPTING:
            return None
        case dict():
            for name in TEXTS:
                # OpenAI's responses repeat the settings of a text as `text`.
                if answer := _text(message.get(name)):
                    return answer
        case [*parts] if all(isinstance(part, dict) for part in parts):
            return "".join(filter(None, map(_text, parts))) or None
    return None
