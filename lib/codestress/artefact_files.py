"""Read the files of params/: artefacts, profiles, and the parameters that an artefact
has under a profile.

The parameters of an artefact come first from params/PAPER/ARTEFACT.yaml, then from the
profile's matching patterns in order. Later values win. Settings of single models
(`per_model`) are replaced one by one. A later layer that names `models` drops the
earlier settings of models that it does not name.
"""

import fnmatch
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from .errors import ParameterError
from .paths import PARAMS, shown, visible
from .validation import Strict, check, nearest, read_yaml

PROFILES = PARAMS / "profiles"


class ArtefactFile(Strict):
    """Content of a file params/PAPER/ARTEFACT.yaml, which describes one artefact (a
    figure or a table): its title, notebook, study and parameters."""

    title: str
    notebook: str
    """Path of the artefact's notebook, relative to notebooks/."""
    study: str
    """Name of the study as PAPER.NAME: an entry of `STUDIES` in codestress.papers.PAPER.studies."""
    parameters: dict[str, Any] = {}
    left_open: list[str] = []
    """Names of parameters that the paper leaves open for this artefact alone. The
    values of these parameters are the kit's choice, explained in docs/PAPER.md."""
    width: Literal["column", "page"] = "page"
    """Width at which the figure is drawn and printed: a column of a paper (3.3 inches)
    or a page (7 inches)."""
    leaderboard: bool = False
    """Whether the report ranks the paper's models with this artefact's accuracies."""
    seen: str = ""
    """Markdown sentences on the demo's results for this artefact; empty for none. The
    sentences replace the notebook's own ending if the ending describes another artefact
    of the same notebook."""


class Profile(Strict):
    """Content of a file params/profiles/PROFILE.yaml: patterns of artefacts to build,
    parameters that it changes, and a time limit."""

    description: str
    timeout_s: float | None = Field(default=None, gt=0)
    """Time limit of a notebook's execution, in seconds; None for no limit. Models are
    asked before the execution, so their time does not count."""
    artefacts: list[str] = ["*"]
    """Patterns (fnmatch) of the names of the artefacts that this profile builds."""
    parameters: dict[str, dict[str, Any]] = {}
    """Dict from a pattern of artefact names to the parameters that replace an
    artefact's own, applied in order."""


def artefact_names() -> list[str]:
    """Return the names of all artefacts (PAPER/ARTEFACT), sorted by paper, then by
    name."""
    return [
        f"{file.parent.name}/{file.stem}"
        for file in visible(PARAMS, "*/*.yaml")
        if file.parent != PROFILES
    ]


def profile_names() -> list[str]:
    return [file.stem for file in visible(PROFILES, "*.yaml")]


def load_profile(name: str) -> Profile:
    """Return the profile `name`, read from params/profiles/NAME.yaml and validated.

    Raises `ParameterError` for an unknown profile or invalid content, and for a pattern
    that matches no artefact, so that a typo cannot silently do nothing.
    """
    if name not in profile_names():
        raise ParameterError(
            f"profile {name!r}: no file in {shown(PROFILES)}{nearest(name, profile_names())}"
        )
    path = PROFILES / f"{name}.yaml"
    profile = check(Profile, read_yaml(path), shown(path))
    known = artefact_names()
    for pattern in [*profile.artefacts, *profile.parameters]:
        if not fnmatch.filter(known, pattern):
            raise ParameterError(
                f"{shown(path)}: {pattern!r} matches no artefact{nearest(pattern, known)}"
            )
    return profile


def artefact_path(name: str) -> Path:
    """Return the path of the file params/PAPER/ARTEFACT.yaml for the artefact `name`
    (PAPER/ARTEFACT). The file need not exist."""
    return PARAMS / f"{name}.yaml"


def read_artefact(name: str) -> ArtefactFile:
    path = artefact_path(name)
    return check(ArtefactFile, read_yaml(path), shown(path))


class Layers:
    """Parameters merged from several mappings (layers): the `values`, and the `sources`
    (the file or option that set each value). A later layer wins.

    `per_model` ({model: {setting: value}}) is merged setting by setting. A layer that
    names other `models` drops the settings of models that are no longer asked.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, str] = {}

    def put(self, layer: Mapping[str, Any], source: str) -> None:
        earlier, own = self.values.get("per_model", {}), layer.get("per_model", {})
        both = f"{self.sources.get('per_model')}, {source}"
        asked = layer.get("models", earlier)
        self.values.update(layer)
        self.sources.update(dict.fromkeys(layer, source))
        # The schema rejects other forms than dictionaries later.
        with suppress(AttributeError, TypeError):
            kept = {model: earlier[model] for model in earlier if model in asked}
            if kept and own:
                self.sources["per_model"] = both
            for model in own:
                kept[model] = {**kept.get(model, {}), **own[model]}
            if earlier or own:
                self.values["per_model"] = kept


def file_layers(
    name: str, file: ArtefactFile, profile: Profile, profile_name: str
) -> Layers:
    """Return the parameters of an artefact as `Layers`, not validated yet, each with
    the file that set it.

    `name` (PAPER/ARTEFACT) becomes the parameter `artefact`. The values of the
    artefact's `file` come first, then those of each pattern of `profile` that matches
    the name. `profile_name` is used only for the name of the profile's file.
    """
    layers = Layers()
    layers.put({"artefact": name, **file.parameters}, shown(artefact_path(name)))
    for pattern, layer in profile.parameters.items():
        if fnmatch.fnmatch(name, pattern):
            layers.put(layer, f"{shown(PROFILES / profile_name)}.yaml")
    return layers


def demo_layers(name: str) -> Layers:
    """Return the parameters of the artefact `name` (PAPER/ARTEFACT) in the profile demo
    as `Layers`, not validated yet. Raises `ParameterError` for an unknown artefact."""
    if name not in artefact_names():
        raise ParameterError(
            f"artefact = {name!r}: not in {shown(PARAMS)}{nearest(name, artefact_names())}"
        )
    return file_layers(name, read_artefact(name), load_profile("demo"), "demo")
