"""Changes that the command line makes to an artefact, and the name and the words for them.

An artefact that `--models` or `--set` changes is a separate artefact: it lies in outputs/mine under
a name made of the changes, and leaves every profile's outputs alone. A value that the profile
already has is no change.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import yaml

from codestress.errors import ParameterError
from codestress.parameters import in_words

LONGEST = 48
"""Largest number of characters in a folder's name; longer names are cut and end with a hash."""
WORD = re.compile(r"[\w.@-]+", re.ASCII)
"""Pattern of texts that stay unchanged in a folder's name and in YAML."""
UNSAFE = re.compile(r"[^\w.=,@+-]+", re.ASCII)
"""Pattern of characters that are replaced in a folder's name."""


def parse_setting(text: str) -> tuple[str, Any]:
    """Returns the parameter's name and its value, from a `text` KEY=VALUE with the value in YAML;
    `ParameterError` for other texts."""
    name, _, written = text.partition("=")
    name = name.strip()
    if "=" not in text or not name:
        raise ParameterError(
            f"--set {text!r}: expected KEY=VALUE, for instance --set seed=1 or --set 'd=[1, 15]'"
        )
    try:
        return name, yaml.safe_load(written)
    except yaml.YAMLError:
        raise ParameterError(f"--set {text!r}: the value is not valid YAML") from None


@dataclass(frozen=True)
class Change:
    """A parameter that the command line changed, with its values before and now."""

    key: str
    now: Any
    before: Any
    """Value in the profile; None when the profile has none."""


def short_name(profile: str, changes: Sequence[Change]) -> str:
    """Reproducible folder name for `changes`, such as `seed=1,step=16`, or `sim-wide` for a changed
    choice of models. It begins with `profile` (`paper,my-model`), unless that is demo.

    The name ends with a hash when it would be too long, or when other values could look the same.
    """
    parts = [] if profile == "demo" else [profile]
    plain = True
    for change in changes:
        values = (
            change.now if isinstance(change.now, list) and change.now else [change.now]
        )
        plain = plain and all(map(_plain, values))
        text = "+".join(map(_text, values))
        parts.append(text if change.key == "models" else f"{change.key}={text}")
    name = UNSAFE.sub("-", ",".join(parts))
    if plain and len(name) <= LONGEST:
        return name
    exact = json.dumps([profile, [[change.key, change.now] for change in changes]])
    return f"{name[: LONGEST - 9].rstrip('-.,=+@')}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> bool:
    """Whether `value` is a word or a number that stays as it is in a folder's name."""
    return isinstance(value, str | int | float) and bool(WORD.fullmatch(_text(value)))


def wording(profile: str, changes: Sequence[Change]) -> str:
    """Text of `changes` in words, such as `seed 1 (demo: 0)`: the value now, and in parentheses the
    name `profile` and the value that the profile has, if any."""
    texts = []
    for change in changes:
        text = f"{change.key} {_short(change.now)}"
        if change.before is not None:
            text += f" ({profile}: {_short(change.before)})"
        texts.append(text)
    return ", ".join(texts)


def typed(changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Pair of the models and the settings (texts KEY=VALUE) that stand for `changes` on the command
    line; no models where they did not change."""
    now = {change.key: change.now for change in changes}
    models = now.pop("models", [])
    settings = [f"{key}={json.dumps(value)}" for key, value in now.items()]
    return tuple(models), tuple(settings)


def _short(value: Any) -> str:
    return shorten(in_words(value), 60, placeholder=" …")
