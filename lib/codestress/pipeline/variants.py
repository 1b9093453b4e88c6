"""Changes that the command line makes to an artefact, and their name and description.

An artefact that `--models` or `--set` changes is a separate artefact. The changed
artefact is built in outputs/mine under a name made from the changes, so that every
profile's outputs stay as they are. A value that the profile already has is not a
change.
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
"""Largest number of characters in a folder's name; longer names are cut and end with a
hash."""
WORD = re.compile(r"[\w.@-]+", re.ASCII)
"""Pattern of texts that stay unchanged in a folder's name and in YAML."""
UNSAFE = re.compile(r"[^\w.=,@+-]+", re.ASCII)
"""Pattern of characters that a folder's name replaces with a hyphen."""


def parse_setting(text: str) -> tuple[str, Any]:
    """Return the parameter's name and its value, from a `text` KEY=VALUE with the value
    in YAML.

    Raises `ParameterError` if `text` has another form.
    """
    name, equals, written = text.partition("=")
    name = name.strip()
    if not (equals and name):
        raise ParameterError(
            f"--set {text!r}: expected KEY=VALUE, such as seed=1 or 'd=[1, 15]'"
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
    """Value in the profile; None if the profile has none."""


def short_name(profile: str, changes: Sequence[Change]) -> str:
    """Return a reproducible folder name for `changes`, such as `seed=1,step=16`, or
    `sim-wide` for changed models.

    The name begins with `profile` (`paper,my-model`), unless that is demo. The name
    ends with a hash if it would be too long, or if other values could give the same
    name.
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
    """Return whether `value` is a word or a number that a folder's name shows
    unchanged."""
    return isinstance(value, str | int | float) and bool(WORD.fullmatch(_text(value)))


def wording(profile: str, changes: Sequence[Change]) -> str:
    """Return the text of `changes` in words, such as `seed 1 (demo: 0)`.

    Each value is followed, in parentheses, by the name `profile` and the profile's
    value, if the profile has one.
    """
    texts = []
    for change in changes:
        text = f"{change.key} {_short(change.now)}"
        if change.before is not None:
            text += f" ({profile}: {_short(change.before)})"
        texts.append(text)
    return ", ".join(texts)


def typed(changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models and the settings (texts KEY=VALUE) that stand for `changes` on
    the command line. There are no models if the models did not change."""
    now = {change.key: change.now for change in changes}
    models = now.pop("models", [])
    settings = [f"{key}={json.dumps(value)}" for key, value in now.items()]
    return tuple(models), tuple(settings)


def _short(value: Any) -> str:
    return shorten(in_words(value), 60, placeholder=" …")
