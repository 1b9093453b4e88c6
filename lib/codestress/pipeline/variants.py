"""What several places write of parameters, what of it the command line changed, and the name, the words and the command
that say so.

Files, profiles and options are layers: later ones win, each remembered by its place.

An artefact that `--models` or `--set` change is another one: it lies in outputs/mine under a name made of what was
changed, and touches no profile's outputs. A value that a profile has anyway is no change.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, NamedTuple, TypeGuard

import yaml

from codestress.errors import ParameterError
from codestress.report.protocol import in_words

LONGEST = 48
"""Characters of a name; what is longer ends with a hash."""
WORD = re.compile(r"[\w.@-]+", re.ASCII)
"""What stands in a name, and in YAML, as it is."""
UNSAFE = re.compile(r"[^\w.=,@+-]+", re.ASCII)
"""What no folder's name has here."""


class Key(NamedTuple):
    """A parameter, or a setting of one model."""

    parameter: str
    """`per_model` for a setting of one model."""
    model: str = ""
    setting: str = ""

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


class Layers:
    """Values, and who wrote them. Settings of one model win one by one, and go with it where others are asked."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, str] = {}

    def put(self, layer: Mapping[str, Any], source: str) -> None:
        earlier, own = self.values.get("per_model", {}), layer.get("per_model", {})
        self.values.update(layer)
        self.sources.update(dict.fromkeys(layer, source))
        if not (_by_model(earlier) and _by_model(own)):
            return
        self.sources.update({str(Key("per_model", m, name)): source for m in own for name in own[m]})
        kept = {m: settings for m, settings in earlier.items() if "models" not in layer or self.asks(m)}
        if kept or own:
            self.values["per_model"] = {m: {**kept.get(m, {}), **own.get(m, {})} for m in {**kept, **own}}
        else:
            self.values.pop("per_model", None)

    def asks(self, model: str) -> bool:
        """Whether this model is asked; true of the empty name."""
        models = self.values.get("models")
        return not model or (isinstance(models, list) and model in models)


def _by_model(value: Any) -> TypeGuard[dict[str, dict[str, Any]]]:
    """Whether it has the form of `per_model`; what has not is left for the schema to refuse."""
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(settings, dict) and all(isinstance(one, str) for one in settings)
        for name, settings in value.items()
    )


def nested(key: Key, value: Any) -> dict[str, Any]:
    """A layer of one value."""
    return {key.parameter: {key.model: {key.setting: value}} if key.model else value}


def parse_setting(text: str) -> list[tuple[Key, Any]]:
    """KEY=VALUE, the value in YAML; per_model.MODEL.PARAMETER=VALUE and per_model={MODEL: {PARAMETER: VALUE}} are
    settings of one model."""
    name, separator, written = text.partition("=")
    name = name.strip()
    if not separator or not name:
        raise ParameterError(f"--set {text!r}: expected KEY=VALUE, for instance --set seed=1 or --set 'd=[1, 15]'")
    try:
        value = yaml.safe_load(written)
    except yaml.YAMLError:
        raise ParameterError(f"--set {text!r}: the value is not valid YAML") from None
    if name == "per_model" and _by_model(value):
        return [(Key(name, model, setting), one) for model, own in value.items() for setting, one in own.items()]
    first, _, rest = name.partition(".")
    if first != "per_model" or not rest:
        return [(Key(name), value)]
    model, _, setting = rest.rpartition(".")
    if not model or not setting:
        raise ParameterError(f"--set {text!r}: expected per_model.MODEL.PARAMETER=VALUE")
    return [(Key(first, model, setting), value)]


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
