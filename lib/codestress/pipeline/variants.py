"""What the command line changed of an artefact, and the name, the words and the command that say so.

An artefact that `--models` or `--set` change is another one: it lies in outputs/mine under a name made of what was
changed, and touches no profile's outputs. A value that a profile has anyway is no change.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import yaml

from codestress.report.protocol import in_words

LONGEST = 48
"""Characters of a name; what is longer ends with a hash."""
WORD = re.compile(r"[\w.@-]+", re.ASCII)
"""What stands in a name, and in YAML, as it is."""
UNSAFE = re.compile(r"[^\w.=,@+-]+", re.ASCII)
"""What no folder's name has here."""


@dataclass(frozen=True)
class Change:
    """A parameter that the command line changed."""

    key: str
    """PARAMETER, or MODEL.PARAMETER for a setting of one model."""
    now: Any
    before: Any
    """By the profile; None where it says nothing."""
    of_model: bool = False


def short_name(profile: str, changes: Sequence[Change]) -> str:
    """A folder's name for these changes, always the same: `seed=1,step=16`, `sim-wide`, `paper,my-model`.

    It ends with a hash where it would be long, or where other values could look the same.
    """
    parts = [] if profile == "demo" else [profile]
    plain = True
    for change in changes:
        values = change.now if isinstance(change.now, list) and change.now else [change.now]
        texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
        plain = plain and all(isinstance(one, str | int | float) for one in values) and all(map(WORD.fullmatch, texts))
        parts.append(("" if change.key == "models" else f"{change.key}=") + "+".join(texts))
    name = UNSAFE.sub("-", ",".join(parts))
    if plain and len(name) <= LONGEST:
        return name
    exact = json.dumps([profile, [[change.key, change.now] for change in changes]])
    return f"{name[: LONGEST - 9].rstrip('-.,=+@')}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


def told(profile: str, changes: Sequence[Change]) -> str:
    """In words: `seed 1 (demo: 0)`."""
    return ", ".join(
        f"{one.key} {_short(one.now)}" + ("" if one.before is None else f" ({profile}: {_short(one.before)})")
        for one in changes
    )


def command(artefact: str, profile: str, changes: Sequence[Change]) -> str:
    """What builds it again, by `make` where its way of separating words lets it."""
    names, settings = typed(changes)
    models = " ".join(names)
    if any(re.search(r"[\s'$#]", text) for text in settings):
        words = ["--models", models] if models else []
        words += [word for text in settings for word in ("--set", text)]
        return shlex.join([".venv/bin/codestress", "build", artefact, "--profile", profile, *words])
    given = {"MODELS": models, "SET": " ".join(settings)}
    options = "".join(f" {name}={_quoted(text)}" for name, text in given.items() if text)
    return f"make {artefact} PROFILE={profile}{options}"


def typed(changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Models and settings as the command line has them."""
    models = tuple(name for one in changes if one.key == "models" for name in one.now)
    settings = [one for one in changes if one.key != "models"]
    return models, tuple(f"{'per_model.' if one.of_model else ''}{one.key}={written(one.now)}" for one in settings)


def _quoted(text: str) -> str:
    """For a shell, by double quotes where these do."""
    return shlex.quote(text) if re.search(r"[\"\\`!]", text) else f'"{text}"'


def written(value: Any) -> str:
    """A value in YAML, without a space where that can be."""
    if isinstance(value, list):
        return f"[{','.join(written(one) for one in value)}]"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    plain = isinstance(value, str | int | float) and WORD.fullmatch(text) and yaml.safe_load(text) == value
    return text if plain else json.dumps(value, separators=(",", ":"))


def _short(value: Any) -> str:
    return shorten(in_words(value), 60, placeholder=" …")
