"""Where a run is not as the paper's: its protocol is params/PAPER/ARTEFACT.yaml over the defaults of its schema."""

from __future__ import annotations

from typing import NamedTuple

from codestress.parameters import Facts
from codestress.paths import PARAMS, shown
from codestress.validation import read_yaml

FREE = {"artefact", "models", "rule", "seed", "failures", "confidence", "resamples", "recheck"}
"""No part of a protocol: what is drawn or computed of the same answers, and seeds, which no paper states. A number is
stated of models by name, so that other models' answers are no deviation either."""
PRESENTATION = {"relative", "show", "metrics"}


class Deviation(NamedTuple):
    """A parameter that is not the paper's."""

    parameter: str
    models: tuple[str, ...]
    """Of which it is so."""
    told: str
    """Both values in words."""


def deviations(given: Facts) -> list[Deviation]:
    """What is not the paper's for a model that is asked, each model beside what the paper had for it; empty for a run
    as the paper's."""
    path = PARAMS / f"{given.artefact}.yaml"
    free = given.model_dump(include=FREE)  # a profile may name the models
    stated = {**free, **read_yaml(path).get("parameters", {}), "models": given.models}
    if "per_model" in stated:
        stated["per_model"] = {name: own for name, own in stated["per_model"].items() if name in given.models}
    paper = given.__class__.checked(stated, shown(path))
    found: dict[tuple[str, str, str], list[str]] = {}
    for model in given.models:
        ours, theirs = given.of_model(model).model_dump(), paper.of_model(model).model_dump()
        for name in ours:
            if name not in FREE | PRESENTATION and ours[name] != theirs[name]:
                found.setdefault((name, in_words(ours[name]), in_words(theirs[name])), []).append(model)
    deviating = []
    for (name, own, its), models in found.items():
        of = "" if len(models) == len(given.models) else f" for {' and '.join(models)}"
        deviating.append(Deviation(name, tuple(models), f"{name} {own}{of} (paper: {its})"))
    return deviating


def stamp(given: Facts) -> str:
    """`as the paper`, or `deviates: …`."""
    found = deviations(given)
    return "deviates: " + ", ".join(one.told for one in found) if found else "as the paper"


def in_words(value: object) -> str:
    """A parameter's value as a person says it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(in_words(one) for one in value) if isinstance(value, list) else str(value)
