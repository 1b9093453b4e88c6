"""Artefacts and profiles from params/, checked before anything runs.

An artefact's parameters come from the schema's defaults, the files that artefact_files.py reads,
`--models` and `--set`; later values win. Every error names the place that wrote the value.
"""

import fnmatch
import importlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codestress.artefact_files import (
    ArtefactFile,
    Profile,
    artefact_names,
    artefact_path,
    file_layers,
    load_profile,
    read_artefact,
)
from codestress.errors import ParameterError
from codestress.inference.registry import ModelEntry, find_models, load_registry
from codestress.parameters import Facts, questions
from codestress.paths import MINE, NOTEBOOKS, OUTPUTS, PARAMS, shown, visible
from codestress.rooms import module_of
from codestress.types import Trials
from codestress.validation import nearest

from .variants import Change, parse_setting, short_name, typed, wording


@dataclass(frozen=True)
class Artefact:
    """A figure or table to build: its file, models, profile, and checked, complete parameters."""

    name: str
    """Name of the artefact, PAPER/ARTEFACT."""
    file: ArtefactFile
    parameters: Facts
    models: list[ModelEntry]
    profile: str
    changed: tuple[Change, ...] = ()
    """Parameters that the command line changed; empty when all are the profile's."""

    @property
    def label(self) -> str:
        """Name of the artefact, followed by @ and its changed parameters where it has any, such as
        `origin/fig04@seed=1`."""
        if not self.changed:
            return self.name
        return f"{self.name}@{short_name(self.profile, self.changed)}"

    @property
    def notebook(self) -> Path:
        return NOTEBOOKS / self.file.notebook

    @property
    def model_names(self) -> list[str]:
        return [model.name for model in self.models]

    @property
    def paper(self) -> str:
        return self.name.partition("/")[0]

    @property
    def shelf(self) -> str:
        """Name of the folder in outputs/ that holds this artefact: its profile's, or `mine` when
        the command line changed parameters."""
        return MINE if self.changed else self.profile

    @property
    def folder(self) -> Path:
        return OUTPUTS / self.shelf / self.label

    @property
    def unchanged(self) -> Path:
        """Output folder of this artefact when built without the command line's changes."""
        return OUTPUTS / self.profile / self.name

    @property
    def marks(self) -> dict[str, Any]:
        """Entry in the manifest on the command line's changes; empty without changes. Keys: `told`
        (in words), `unchanged` (the folder in outputs/ of the artefact without changes), `remove`
        (the shell command that deletes its own folder)."""
        if not self.changed:
            return {}
        return {
            "told": wording(self.profile, self.changed),
            "unchanged": str(self.unchanged.relative_to(OUTPUTS)),
            "remove": f"rm -r {shlex.quote(shown(self.folder))}",
        }

    @property
    def command(self) -> str:
        """Shell command, as text, that builds this artefact again with its profile and changes."""
        if not self.changed:
            return f"make {self.name} PROFILE={self.profile}"
        return self.typed("build")

    def typed(self, verb: str) -> str:
        """Shell command, as text, that runs the subcommand `verb` of the console script on this
        artefact, with its profile and changes."""
        models, settings = typed(self.changed)
        words = [verb, self.name, "--profile", self.profile]
        if models:
            words += ["--models", " ".join(models)]
        for setting in settings:
            words += ["--set", setting]
        return shlex.join([".venv/bin/codestress", *words])

    def trials(self) -> Trials:
        return questions(self.parameters)

    def ask(self, trials: Trials, progress: Any, budget: Any) -> Any:
        """Sends those requests of `trials` that the store lacks, within a `Budget`, and returns the
        `Replies`; a bar (`Progress`) shows how far it is. Without the parameter `failures`, a
        request that fails for good is an error."""
        from codestress.inference.ask import ask  # here: all of it takes long to import

        failures: Any = getattr(self.parameters, "failures", "raise")
        return ask(
            trials,
            self.model_names,
            failures=failures,
            progress=progress,
            budget=budget,
        )


@dataclass(frozen=True)
class Overrides:
    """Parameters from the command line: `models` are the names of `--models`, `settings` the texts
    of `--set`."""

    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Texts KEY=VALUE, with the value in YAML."""


def select(wanted: Sequence[str], profile: Profile) -> list[str]:
    """Names of the artefacts that the words `wanted` stand for, without repetitions: each word is
    PAPER/ARTEFACT, or a paper for all its artefacts. No words stand for the artefacts of `profile`.
    `ParameterError` for any other word."""
    known = artefact_names()
    if not wanted:
        matching = [fnmatch.filter(known, text) for text in profile.artefacts]
        return sorted(set().union(*matching), key=known.index)
    papers = {name.split("/")[0] for name in known}
    chosen = []
    for name in wanted:
        if name not in known and name not in papers:
            hint = nearest(name, [*known, *papers])
            if "@" in name or name.count("/") > 1:
                hint = ": name PAPER/ARTEFACT, and give --profile, --models and --set"
            raise ParameterError(f"artefact {name!r}: not in {shown(PARAMS)}{hint}")
        chosen += [k for k in known if name in (k, k.split("/")[0])]
    return list(dict.fromkeys(chosen))


def load_study(name: str, source: str) -> type[Facts]:
    """Study of the `name` PAPER.NAME: a schema of parameters, or an `Experiment`. `ParameterError` for
    an unknown paper or study; the message begins with `source`, the place that names the study."""
    module_name, _, study_name = name.partition(".")
    path = module_of(module_name, "studies")
    try:
        studies: Mapping[str, type[Facts]] = importlib.import_module(path).STUDIES
    except ModuleNotFoundError as error:
        if error.name not in (path, path.rpartition(".")[0]):
            raise
        raise ParameterError(
            f"{source}: study = {name!r}: there is no module {path}"
        ) from None
    if study_name not in studies:
        hint = nearest(name, [f"{module_name}.{known}" for known in studies])
        raise ParameterError(f"{source}: study = {name!r}: unknown study{hint}")
    return studies[study_name]


def resolve(
    names: Sequence[str],
    profile_name: str,
    overrides: Overrides = Overrides(),
    registry: Mapping[str, ModelEntry] | None = None,
) -> list[Artefact]:
    """Artefacts of the `names` with complete and checked parameters: from their files, the profile
    `profile_name`, then the command line (`overrides`); an artefact ignores parameters of the command
    line that its schema does not have.
    `registry` has the known models by name (None: all registered). `ParameterError` for wrong values
    and names, and for a setting that no artefact takes."""
    profile = load_profile(profile_name)
    registry = load_registry() if registry is None else registry
    settings = [(*parse_setting(text), "--set") for text in overrides.settings]
    if overrides.models:
        settings.insert(0, ("models", list(overrides.models), "--models"))
    artefacts = [
        _resolved(name, profile, profile_name, settings, registry) for name in names
    ]
    valid = set[str]()
    for artefact in artefacts:
        valid.update(type(artefact.parameters).model_fields)
    for key, value, option in settings:
        if key not in valid:
            hint = nearest(key, valid)
            if key.startswith("per_model."):
                hint = "; write --set 'per_model={MODEL: {PARAMETER: V}}'"
            raise ParameterError(
                f"{option}: {key} = {value!r}: no chosen artefact has this parameter{hint}"
            )
    return artefacts


def _resolved(
    name: str,
    profile: Profile,
    profile_name: str,
    settings: Sequence[tuple[str, Any, str]],
    registry: Mapping[str, ModelEntry],
) -> Artefact:
    """The artefact `name`, with those of the command line's `settings` that its schema has. A
    setting is a parameter's name, its value, and the option that set it."""
    file = read_artefact(name)
    source = shown(artefact_path(name))
    schema = load_study(file.study, source)
    layers = file_layers(name, file, profile, profile_name)
    plain = schema.model_construct(**layers.values)
    keys = set[str]()
    for key, value, option in settings:
        if key in schema.model_fields:
            keys.add(key)
            layers.put({key: schema.from_root(key, value, Path())}, option)
    if not (NOTEBOOKS / file.notebook).is_file():
        files = visible(NOTEBOOKS, "**/*.ipynb")
        known = [str(path.relative_to(NOTEBOOKS)) for path in files]
        hint = nearest(file.notebook, known)
        raise ParameterError(
            f"{source}: notebook = {file.notebook!r}: no such file{hint}"
        )
    parameters = schema.checked(layers.values, layers.sources)
    asked_by = layers.sources.get("models", source)
    models = find_models(parameters.models, dict(registry), asked_by)
    changed = []
    for key in sorted(keys, key=lambda name: (name != "models", name)):
        before, now = getattr(plain, key, None), getattr(parameters, key)
        if before != now:
            changed.append(Change(key, now, before))
    return Artefact(name, file, parameters, models, profile_name, tuple(changed))
