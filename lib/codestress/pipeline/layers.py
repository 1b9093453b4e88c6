"""Parameters that several places write: files, profiles, options. Later ones win, each remembered by its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

import yaml

from codestress.errors import ParameterError


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
