"""Artefacts and profiles: what params/ says, checked before anything runs; and artefacts as they were built, whatever
files and profiles say by now.

An artefact's parameters come, later ones winning, from the schema's defaults, params/PAPER/ARTEFACT.yaml, the
profile's patterns in their order, `--models` and `--set`. Settings of one model (`per_model`) win one by one, and go
with their model where a later place names others. Every complaint names the place that wrote the value.
"""

from __future__ import annotations

import fnmatch
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from codestress.errors import CodestressError, DataError, ParameterError
from codestress.inference.registry import ModelEntry, find_models, load_registry
from codestress.parameters import Facts, Study
from codestress.paths import MINE, NOTEBOOKS, OUTPUTS, PARAMS, shown
from codestress.pipeline.variants import Change, Key, Layers, command, nested, parse_setting, short_name, typed
from codestress.report.checked import read_manifest
from codestress.rooms import module_of
from codestress.types import Trials
from codestress.validation import Strict, check, nearest, read_yaml

PROFILES = PARAMS / "profiles"
NOT_PAPERS = {"profiles", "published"}


class ArtefactFile(Strict):
    """params/PAPER/ARTEFACT.yaml."""

    title: str
    notebook: str
    """Below notebooks/."""
    study: str
    """PAPER.NAME: an entry of `STUDIES` in codestress.papers.PAPER.studies."""
    parameters: dict[str, Any] = {}
    leaderboard: bool = False
    """Whether the report ranks the paper's models by it."""


class Profile(Strict):
    """params/profiles/PROFILE.yaml."""

    description: str
    timeout_s: float | None = Field(default=None, gt=0)
    """Longest execution of a notebook; answers are asked before and do not count. null: no limit."""
    artefacts: list[str] = ["*"]
    """Patterns of what this profile builds."""
    parameters: dict[str, dict[str, Any]] = {}
    """Overrides by pattern of artefact names, applied in order."""


@dataclass(frozen=True)
class Artefact:
    """A figure or table with its parameters, checked and complete."""

    name: str
    """PAPER/ARTEFACT."""
    title: str
    notebook: Path
    study_name: str
    study: Study
    parameters: Facts
    models: list[ModelEntry]
    profile: str
    leaderboard: bool
    changed: tuple[Change, ...] = ()
    """What the command line changed of it; empty where it is the profile's."""

    @property
    def label(self) -> str:
        """PAPER/ARTEFACT, and what was changed: `origin/fig04@seed=1`."""
        return f"{self.name}@{short_name(self.profile, self.changed)}" if self.changed else self.name

    @property
    def shelf(self) -> str:
        """The folder of outputs in which it lies: its profile's, or `MINE`."""
        return MINE if self.changed else self.profile

    @property
    def folder(self) -> Path:
        return OUTPUTS / self.shelf / self.label

    @property
    def unchanged(self) -> Path:
        """Where the profile's lies."""
        return OUTPUTS / self.profile / self.name

    @property
    def command(self) -> str:
        """What builds it again."""
        return command(self.name, self.profile, self.changed)

    def trials(self) -> Trials:
        return self.study.trials(self.parameters)


@dataclass(frozen=True)
class Overrides:
    """What the command line says."""

    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """KEY=VALUE, the value in YAML."""


def artefact_names() -> list[str]:
    """All artefacts, by paper, in the order of their names."""
    papers = sorted(folder for folder in PARAMS.iterdir() if folder.is_dir() and folder.name not in NOT_PAPERS)
    return [f"{paper.name}/{file.stem}" for paper in papers for file in sorted(paper.glob("*.yaml"))]


def profile_names() -> list[str]:
    return sorted(file.stem for file in PROFILES.glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """The profile; patterns that match no artefact are errors, so that a typo cannot silently do nothing."""
    if name not in profile_names():
        raise ParameterError(f"profile {name!r}: no file in {shown(PROFILES)}{nearest(name, profile_names())}")
    path = PROFILES / f"{name}.yaml"
    profile = check(Profile, read_yaml(path), shown(path))
    known = artefact_names()
    for pattern in [*profile.artefacts, *profile.parameters]:
        if not fnmatch.filter(known, pattern):
            raise ParameterError(f"{shown(path)}: {pattern!r} matches no artefact{nearest(pattern, known)}")
    return profile


def select(wanted: Sequence[str], profile: Profile) -> list[str]:
    """Artefact names for what a person typed: nothing (the profile's), a paper, or PAPER/ARTEFACT."""
    known = artefact_names()
    if not wanted:
        return [name for name in known if any(fnmatch.fnmatch(name, pattern) for pattern in profile.artefacts)]
    papers = {name.split("/")[0] for name in known}
    chosen = []
    for name in wanted:
        if name not in known and name not in papers:
            raise ParameterError(f"artefact {name!r}: not in {shown(PARAMS)}{nearest(name, [*known, *papers])}")
        chosen += [k for k in known if name in (k, k.split("/")[0])]
    return list(dict.fromkeys(chosen))


def load_study(name: str, source: str) -> Study:
    """The study that a YAML file names."""
    module_name, _, study_name = name.partition(".")
    path = module_of(module_name, "studies")
    try:
        studies: Mapping[str, Study] = importlib.import_module(path).STUDIES
    except ModuleNotFoundError as error:
        if error.name not in (path, path.rpartition(".")[0]):
            raise
        raise ParameterError(f"{source}: study = {name!r}: there is no module {path}") from None
    if study_name not in studies:
        hint = nearest(name, [f"{module_name}.{known}" for known in studies])
        raise ParameterError(f"{source}: study = {name!r}: unknown study{hint}")
    return studies[study_name]


def read_artefact(name: str) -> ArtefactFile:
    path = PARAMS / f"{name}.yaml"
    return check(ArtefactFile, read_yaml(path), shown(path))


def resolve(
    names: Sequence[str], profile_name: str, overrides: Overrides, registry: Mapping[str, ModelEntry]
) -> list[Artefact]:
    """The artefacts with all parameters in place and checked."""
    profile = load_profile(profile_name)
    settings = [setting for text in overrides.settings for setting in parse_setting(text)]
    settings.sort(key=lambda setting: bool(setting[0].model))  # what one model has of its own after which are asked
    used: set[Key] = set()
    artefacts = []
    for name in names:
        path = PARAMS / f"{name}.yaml"
        file = read_artefact(name)
        study = load_study(file.study, shown(path))
        layers = Layers()
        layers.put({"artefact": name, **file.parameters}, shown(path))
        for pattern, layer in profile.parameters.items():
            if fnmatch.fnmatch(name, pattern):
                layers.put(layer, f"{shown(PROFILES / profile_name)}.yaml")
        plain = dict(layers.values)
        applied = [Key("models")] if overrides.models else []
        if overrides.models:
            layers.put({"models": list(overrides.models)}, "--models")
        for key, value in settings:
            if len(names) == 1 or (layers.asks(key.model) and key.parameter in study.parameters.model_fields):
                layers.put(nested(key, value), "--set")
                applied.append(key)
        used.update(applied)
        sources = layers.sources
        parameters = study.parameters.checked(layers.values, sources)
        models = find_models(parameters.models, dict(registry), sources.get("models", shown(path)))
        notebook = NOTEBOOKS / file.notebook
        if not notebook.is_file():
            known = [str(p.relative_to(NOTEBOOKS)) for p in NOTEBOOKS.rglob("*.ipynb")]
            raise ParameterError(
                f"{shown(path)}: notebook = {file.notebook!r}: no such file{nearest(file.notebook, known)}"
            )
        artefacts.append(
            Artefact(
                *(name, file.title, notebook, file.study, study, parameters, models, profile_name, file.leaderboard),
                changed=_changes(plain, parameters, applied),
            )
        )
    for key, value in settings:
        if key not in used:
            valid = {field for artefact in artefacts for field in artefact.study.parameters.model_fields}
            if key.parameter not in valid:
                hint = nearest(key.parameter, valid)
                raise ParameterError(f"--set: {key.parameter} = {value!r}: no chosen artefact has it{hint}")
            hint = nearest(key.model, {name for artefact in artefacts for name in artefact.parameters.models})
            raise ParameterError(f"--set: {key} = {value!r}: no chosen artefact asks this model{hint}")
    return artefacts


def _changes(plain: Mapping[str, Any], parameters: Facts, applied: Sequence[Key]) -> tuple[Change, ...]:
    """What values of the command line changed: models first, then by name; `plain` is what the places before it say."""
    found = {}
    for key in applied:
        if key.model:
            before = plain.get("per_model", {}).get(key.model, {}).get(key.setting)
            now = parameters.model_dump()["per_model"][key.model][key.setting]
        else:
            field = parameters.__class__.model_fields[key.parameter]
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            before, now = plain.get(key.parameter, default), parameters.model_dump()[key.parameter]
        if before != now:
            name = f"{key.model}.{key.setting}" if key.model else key.parameter
            found[name] = Change(name, now, before, bool(key.model))
    return tuple(sorted(found.values(), key=lambda one: (one.key != "models", one.key)))


def folder_of(name: str) -> Path | None:
    """The folder that PROFILE/PAPER/ARTEFACT names, or [mine/]PAPER/ARTEFACT@CHANGES; None where PAPER/ARTEFACT is all.

    `ParameterError` with the nearest name where there is none.
    """
    if "@" not in name and name.count("/") < 2:
        return None
    for folder in (OUTPUTS / name, OUTPUTS / MINE / name):
        if (folder / "manifest.json").is_file():
            return folder
    known = [str(path.parent.relative_to(OUTPUTS)) for path in OUTPUTS.glob("*/*/*/manifest.json")]
    sought = name if name.count("/") > 1 else f"{MINE}/{name}"
    raise ParameterError(f"{name}: nothing is built there, in {shown(OUTPUTS)}{nearest(sought, known)}")


def built(folder: Path) -> tuple[Artefact, dict[str, Any]]:
    """What lies in a folder, with the parameters that it was built with, and its manifest."""
    path = folder / "manifest.json"
    manifest = read_manifest(folder)
    name = "/".join(folder.parts[-2:]).partition("@")[0]
    file = read_artefact(name)
    study = load_study(file.study, shown(PARAMS / f"{name}.yaml"))
    try:
        parameters = study.parameters.checked({**manifest["parameters"], "artefact": name}, shown(path))
        models = find_models(parameters.models, load_registry(), shown(path))
    except CodestressError as error:
        raise DataError(f"{error}\nIt is of another version; build it again: {manifest['command']}") from None
    notebook = Path(file.notebook)
    artefact = Artefact(
        *(name, manifest["title"], notebook, file.study, study, parameters, models, manifest["profile"]),
        leaderboard=file.leaderboard,
        changed=changes_of(manifest),
    )
    return artefact, manifest


def changes_of(manifest: dict[str, Any]) -> tuple[Change, ...]:
    """What the command line changed."""
    return tuple(Change(**one) for one in (manifest["changed"] or {"changes": ()})["changes"])


def again(name: str) -> Artefact:
    """The artefact of PAPER/ARTEFACT@CHANGES as it would be built now: the same changes of the profile as it is."""
    folder = folder_of(name)
    assert folder is not None
    manifest = read_manifest(folder)
    plain = "/".join(folder.parts[-2:]).partition("@")[0]
    (artefact,) = resolve([plain], manifest["profile"], Overrides(*typed(changes_of(manifest))), load_registry())
    return artefact
