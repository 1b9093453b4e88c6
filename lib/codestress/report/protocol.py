"""Where a run is not as the paper's: its protocol is params/PAPER/ARTEFACT.yaml over the defaults of its schema."""

from __future__ import annotations

from codestress.parameters import Facts
from codestress.paths import PARAMS, shown
from codestress.validation import check, read_yaml

FREE = {"artefact", "models", "rule", "seed", "failures", "confidence", "resamples", "recheck"}
"""No part of a protocol: what is drawn or computed of the same answers, and seeds, which no paper states. A number is
stated of models by name, so that other models' answers are no deviation either."""
PRESENTATION = {"relative", "show", "metrics"}


def deviations(given: Facts) -> dict[str, str]:
    """Each parameter that is not the paper's, and both values in words; empty for a run as the paper's."""
    path = PARAMS / f"{given.artefact}.yaml"
    free = given.model_dump(include=FREE)  # a profile may name the models
    stated = {**free, **read_yaml(path).get("parameters", {})}
    paper = check(given.__class__, stated, shown(path))
    ours, theirs = given.model_dump(), paper.model_dump()
    return {
        name: f"{name} {_shown(ours[name])} (paper: {_shown(theirs[name])})"
        for name in ours
        if name not in FREE | PRESENTATION and ours[name] != theirs[name]
    }


def stamp(given: Facts) -> str:
    """`as the paper`, or `deviates: …`."""
    found = deviations(given)
    return "deviates: " + ", ".join(found.values()) if found else "as the paper"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(_shown(one) for one in value) if isinstance(value, list) else str(value)
