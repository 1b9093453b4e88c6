"""Deviations of a run from the paper's protocol: the parameters in
params/PAPER/ARTEFACT.yaml and, for parameters that this file does not set, the schema's
defaults."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from codestress.artefact_files import read_artefact
from codestress.parameters import Facts, in_words

FREE = {
    "answers",
    "rule",
    "seed",
    "failures",
    "confidence",
    "resamples",
    "relative",
    "show",
    "metrics",
}
"""Parameters outside a protocol: choices of drawing or computing from the same answers, a file of
answers, and seeds, which no paper states."""


class Deviation(NamedTuple):
    """A parameter of a run that differs from the paper's, with the models for which it
    differs."""

    parameter: str
    models: tuple[str, ...]
    """Models for which the parameter differs."""
    text: str
    """The run's value and the paper's, in words."""


def deviations(given: Facts) -> list[Deviation]:
    """Return the parameters in `given`, a run's, that differ from those in
    params/PAPER/ARTEFACT.yaml, which are the paper's, compared model by model; empty for a run by
    the paper's protocol. Other models are no deviation, for a paper's number names its models."""
    stated = {**read_artefact(given.artefact).parameters, "artefact": given.artefact}
    # A profile may name the models.
    stated["models"] = given.models
    for name in [*stated.get("per_model", {})]:
        if name not in given.models:
            del stated["per_model"][name]
    paper = given.checked(stated, f"params/{given.artefact}.yaml")
    models_of: dict[tuple[str, str, str], list[str]] = {}
    for model in given.models:
        theirs = paper.of_model(model).model_dump()
        for difference in _differences(given.of_model(model), theirs):
            models_of.setdefault(difference, []).append(model)
    deviating = []
    for (name, value, source), models in models_of.items():
        of = "" if len(models) == len(given.models) else f" for {' and '.join(models)}"
        text = f"{name} {value}{of} ({source})"
        deviating.append(Deviation(name, tuple(models), text))
    return deviating


def _differences(
    given: Facts, theirs: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield, for each parameter of `given` that deviates from `theirs` (the values for
    one model), its name, its value, and the paper's value in words.

    A parameter without effect or outside a protocol (`FREE`) does not deviate, and
    neither does a part of the paper's questions, or another file. A combination of
    values that `given.ALIKE` declares equal to the paper's does not deviate; any other
    counts as one parameter.
    """
    ours = given.model_dump(exclude={*FREE, *given.idle()})
    differing = []
    for name, value in ours.items():
        if value == theirs[name]:
            continue
        # Another file is no deviation: its path depends on the user.
        both = str(value), str(theirs[name])
        files = all(text.endswith((".jsonl", ".yaml")) for text in both)
        part = name in given.PARTS and set(value) <= set(theirs[name])
        if not files and not part:
            differing.append(name)
    for alike in given.ALIKE:
        names = set().union(*alike.combinations)
        together = [name for name in differing if name in names]
        if not together or not alike.has(theirs):
            continue
        differing = [name for name in differing if name not in names]
        if not alike.has(ours):
            values = ", ".join(f"{name} {in_words(ours[name])}" for name in together)
            first, _, rest = values.partition(" ")
            yield first, rest, f"paper: {alike.paper}"
    left_open = {*given.OPEN, *read_artefact(given.artefact).left_open}
    for name in differing:
        # Where the paper is silent, the other value is no error: the reader must see whose choice the default is.
        source = "left open by the paper; default" if name in left_open else "paper"
        yield name, in_words(ours[name]), f"{source}: {in_words(theirs[name])}"


def stamp(given: Facts) -> str:
    """Return, in words, the relation of the run `given` to the paper: `as the paper`,
    `beyond the paper`, or `deviates: …` with each deviation.

    `beyond the paper` stands for an artefact that no paper has.
    """
    if deviating := deviations(given):
        return "deviates: " + ", ".join(deviation.text for deviation in deviating)
    title = read_artefact(given.artefact).title
    # So begin the titles of artefacts that no paper has.
    if title.startswith("Beyond the paper"):
        return "beyond the paper"
    return "as the paper"
