"""The dialects of OpenAI-compatible servers (dialects.yaml): ways in which servers
differ, each with the sign by which it is recognised and the remedy.

A dialect of requests is tried when a server refuses a request in a way that bears the
dialect's sign. A dialect is kept for the whole run only if the changed request is
answered. Signs are names of parameters and roles, because refusals come in many
wordings and languages.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from codestress.types import FinishReason, Message, Prompt
from codestress.validation import read_yaml

from ..registry import ModelEntry
from .base import own_settings


class Dialect(NamedTuple):
    """A way in which some servers differ from OpenAI's: a row of dialects.yaml, which
    explains the fields."""

    sign: str
    done: str
    refusal: str = "(?!)"  # matches nothing
    setting: str = ""
    endings: Mapping[str, FinishReason | None] = {}

    @property
    def line(self) -> str:
        """Sentence that reports the dialect, on the console and in manifests.

        The sentence says what is done about the dialect, and names the settings with
        which a registry row does the same from the start.
        """
        return f"{self.done} (settings.{self.setting})" if self.setting else self.done


DIALECTS = {
    name: Dialect(**row)
    for name, row in read_yaml(Path(__file__).with_suffix(".yaml")).items()
}
"""All dialects by name, in the order in which they are tried."""
CHANGES = {name: yaml.safe_load(row.setting) or {} for name, row in DIALECTS.items()}
"""Settings that each dialect changes, by the dialect's name."""
SHORT = 100
"""Maximum number of characters of each message in a shortened prompt."""
ECHOES = ("input", "body", "request")
"""Fields of a refusal in which servers repeat the request."""


def words_of(refusal: str) -> str:
    """Return the JSON of `refusal` with readable letters, without the fields that
    repeat the request.

    A refusal that is not JSON is returned unchanged.
    """
    try:
        body = json.loads(refusal, object_pairs_hook=_without_echoes)
    except (ValueError, RecursionError):
        return refusal
    return json.dumps(body, ensure_ascii=False)


def _without_echoes(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if name not in ECHOES}


def applied(settings: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return a copy of `settings`, a registry row's settings of the engine `openai`,
    changed by the dialects with these `names`."""
    changed = dict(settings)
    for name in names:
        for setting, value in CHANGES[name].items():
            if isinstance(value, list):
                earlier = changed.get(setting, [])
                value = list(dict.fromkeys([*earlier, *value]))
            changed[setting] = value
    return changed


def adapted(entry: ModelEntry, names: Iterable[str]) -> ModelEntry:
    """Return a copy of the registry row `entry` whose requests are adapted to the
    dialects with these `names`.

    The copy's `adapted` has the sentence on each dialect. Unknown names are left out.
    """
    known = [name for name in names if name in DIALECTS]
    settings = applied(own_settings(entry), known)
    if "worker" in entry.settings:
        worker = entry.settings["worker"] | {"settings": settings}
        settings = entry.settings | {"worker": worker}
    lines = entry.adapted | {name: DIALECTS[name].line for name in known}
    changed = {"archive": entry.archive, "settings": settings, "adapted": lines}
    return type(entry)(**entry.model_dump() | changed)


def shortened(prompt: Prompt) -> Prompt:
    """Return `prompt` with only the first `SHORT` characters of each message."""
    messages = []
    for message in prompt.messages:
        messages.append(replace(message, content=message.content[:SHORT]))
    return replace(prompt, messages=tuple(messages))


def shown_to(prompt: Prompt, roles: str) -> Prompt:
    """Return `prompt` with its messages in the form that a server with the setting
    `roles` takes.

    `roles` is "any", "alternating" or "no system" (see `openai.Settings.roles`).
    """
    if roles == "any":
        return prompt
    messages = list[Message]()
    for message in prompt.messages:
        role, content = message.role, message.content
        if roles == "no system" and role == "system":
            role = "user"
        if messages and messages[-1].role == role:
            content = f"{messages.pop().content}\n\n{content}"
        messages.append(Message(role, content))
    if prompt.messages == tuple(messages):
        return prompt
    return replace(prompt, messages=tuple(messages))
