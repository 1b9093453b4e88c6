"""Artefacts and profiles from params/, checked before anything runs.

An artefact's parameters come from the schema's defaults, from the files that
artefact_files.py reads, from `--models` and from `--set`; a later source wins. Every
error names the file or option that set the value.
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
from codestress.rooms import module_of, papers
from codestress.types import Trials
from codestress.validation import nearest

from .variants import Change, parse_setting, short_name, typed, wording


@dataclass(frozen=True)
class Artefact:
    """A figure or table to build: its file, its models, its profile, and its complete,
    checked parameters."""

    name: str
    """Name of the artefact, PAPER/ARTEFACT."""
    file: ArtefactFile
    parameters: Facts
    models: list[ModelEntry]
    profile: str
    changed: tuple[Change, ...] = ()
    """Parameters that the command line changed; empty if all parameters are the
    profile's."""

    @property
    def label(self) -> str:
        """Name of the artefact, followed by @ and its changed parameters, if any, such
        as `origin/fig04@seed=1`."""
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
        """Name of the folder in outputs/ that holds this artefact: the profile's name,
        or `mine` if the command line changed parameters."""
        return MINE if self.changed else self.profile

    @property
    def folder(self) -> Path:
        return OUTPUTS / self.shelf / self.label

    @property
    def marks(self) -> dict[str, Any]:
        """Entry in the manifest on the command line's changes; empty without changes.

        Keys: `told` (the changes in words), `unchanged` (the folder in outputs/ of the
        artefact without changes), `remove` (the shell command that deletes the changed
        artefact's folder).
        """
        if not self.changed:
            return {}
        return {
            "told": wording(self.profile, self.changed),
            "unchanged": f"{self.profile}/{self.name}",
            "remove": f"rm -r {shlex.quote(shown(self.folder))}",
        }

    @property
    def command(self) -> str:
        """Shell command, as text, that builds this artefact again with its profile and
        changes."""
        if not self.changed:
            return f"make {self.name} PROFILE={self.profile}"
        return self.typed("build")

    def typed(self, verb: str) -> str:
        """Return the shell command, as text, that runs the subcommand `verb` of the
        console script on this artefact, with its profile and changes."""
        models, settings = typed(self.changed)
        words = [".venv/bin/codestress", verb, self.name, "--profile", self.profile]
        if models:
            words += ["--models", " ".join(models)]
        for setting in settings:
            words += ["--set", setting]
        return shlex.join(words)

    def trials(self) -> Trials:
        return questions(self.parameters)

    def ask(self, trials: Trials, progress: Any, budget: Any) -> Any:
        """Send the requests of `trials` that have no stored response, within the limits
        of `budget` (a `Budget`), and return the `Replies`.

        `progress` (a `Progress`) shows the number of responses on a bar. If the study
        has no parameter `failures`, a request that fails for good raises an error.
        """
        from codestress.inference.ask import ask  # here: all of it takes long to import

        failures: Any = getattr(self.parameters, "failures", "raise")
        return ask(
            trials,
            self.model_names,
            failures=failures,
            progress=progress,
            budget=budget,
        )


def select(wanted: Sequence[str], profile: Profile) -> list[str]:
    """Return the names of the artefacts that the words `wanted` select, without
    repetitions.

    Each word is PAPER/ARTEFACT, a pattern such as `origin/fig0*`, or a paper's name,
    which selects all artefacts of the paper. Without words, the patterns of `profile`
    select. Raises `ParameterError` for a word that selects nothing.
    """
    known = artefact_names()
    chosen = []
    for word in wanted or profile.artefacts:
        named = [name for name in known if name.startswith(f"{word}/")]
        named += fnmatch.filter(known, word)
        if not named:
            hint = nearest(word, [*known, *papers()])
            if "@" in word or word.count("/") > 1:
                hint = ": name PAPER/ARTEFACT, and give --profile, --models and --set"
            raise ParameterError(f"artefact {word!r}: not in {shown(PARAMS)}{hint}")
        chosen += named
    return list(dict.fromkeys(chosen))


def load_study(name: str, source: str) -> type[Facts]:
    """Return the study `name` (PAPER.NAME): a schema of parameters, or an `Experiment`.

    Raises `ParameterError` if the paper or the study is unknown. The message begins
    with `source`, the file that names the study.
    """
    module_name, _, study_name = name.partition(".")
    path = module_of(module_name, "studies")
    if module_name not in papers():
        raise ParameterError(f"{source}: study = {name!r}: there is no module {path}")
    studies: Mapping[str, type[Facts]] = importlib.import_module(path).STUDIES
    if study_name not in studies:
        hint = nearest(name, [f"{module_name}.{known}" for known in studies])
        raise ParameterError(f"{source}: study = {name!r}: unknown study{hint}")
    return studies[study_name]


def resolve(
    names: Sequence[str],
    profile_name: str,
    models: Sequence[str] = (),
    settings: Sequence[str] = (),
    registry: dict[str, ModelEntry] | None = None,
) -> list[Artefact]:
    """Return the artefacts named in `names`, with complete and checked parameters: from
    their files, from the profile `profile_name`, then from the command line's `models`
    and `settings` (texts KEY=VALUE, with the value in YAML).

    An artefact ignores parameters of the command line that its schema does not have.
    `registry` is a dict from model name to registry row (None: all registered models).
    Raises `ParameterError` for wrong values and names, and for a setting that no chosen
    artefact has.
    """
    profile = load_profile(profile_name)
    registry = load_registry() if registry is None else registry
    changes = [(*parse_setting(text), "--set") for text in settings]
    if models:
        changes.insert(0, ("models", list(models), "--models"))
    artefacts = [
        _resolved(name, profile, profile_name, changes, registry) for name in names
    ]
    valid = set[str]()
    for artefact in artefacts:
        valid.update(type(artefact.parameters).model_fields)
    for key, value, option in changes:
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
    registry: dict[str, ModelEntry],
) -> Artefact:
    """Return the artefact `name`, changed by those of the command line's `settings`
    that its schema has.

    A setting is a triple of a parameter's name, its value, and the option that set it.
    """
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
    models = find_models(
        parameters.models, registry, layers.sources.get("models", source)
    )
    changed = []
    for key in sorted(keys, key=lambda name: (name != "models", name)):
        before, now = getattr(plain, key, None), getattr(parameters, key)
        if before != now:
            changed.append(Change(key, now, before))
    return Artefact(name, file, parameters, models, profile_name, tuple(changed))
