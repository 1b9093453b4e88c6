"""The model registry, params/models.yaml: one row per model; a new model is a row, a new engine a module."""

import importlib
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from codestress.errors import ParameterError
from codestress.paths import OUTPUTS, PARAMS, shown, write_whole
from codestress.types import hash_of
from codestress.validation import Strict, check, nearest, read_yaml

REGISTRY = PARAMS / "models.yaml"
SERVED = OUTPUTS / "models.yaml"
"""File of registry rows for models that a command line named by their URL, and of copies of rows
that were adapted to their server's dialect. `load_registry` adds the former, and uses a copy as long
as the registry's own row has not changed since."""

ENGINES = {
    name: f"codestress.inference.engines.{name}"
    for name in ("function", "openai", "interpreter", "openai_batch", "vllm", "ray")
}
ENGINES |= {name: f"codestress.{name}.engine" for name in ("simulated", "nano")}
"""Module of each engine, by the engine's name in `ModelEntry.engine`; it is imported only when a
model needs it."""
LOCAL = ("simulated", "interpreter", "function", "nano")
"""Names of the engines that answer in this process, at no cost."""


class Price(Strict):
    """A model's prices in US dollars per million tokens, `input` for prompts and `output` for
    completions, as listed on `date`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str


class ModelEntry(Strict):
    """A model: one row of the registry, with the engine that answers for it and the engine's
    settings."""

    name: str
    """The model's name in the registry, which figures show."""
    engine: str
    id: str
    """The model's name at its server."""
    revision: str = ""
    """Revision of the weights or dated version; part of every request's key."""
    description: str = ""
    context: int | None = Field(default=None, gt=0)
    """Largest context, in the model's tokens."""
    max_tokens: int = Field(default=0, ge=0)
    """Smallest limit of tokens for a completion, thoughts included: a smaller limit of an artefact
    is raised to it. 0 for a model that does not think before it answers."""
    licence: str = ""
    architecture: dict[str, str | int | float] = {}
    price: Price | None = None
    serve: dict[str, Any] = {}
    """Settings of the engine `vllm` with which `make serve` serves the model."""
    settings: dict[str, Any] = {}
    """Settings of the model's engine, validated by the engine's own `Settings`."""
    adapted: dict[str, str] = {}
    """Sentences on the dialects to which requests are adapted, by the dialect's name: the kit writes
    them, for manifests. The settings that a dialect changes are in `settings`."""
    archive: Path | None = Field(default=None, strict=False, exclude=True)
    """Archive of known responses, which are not asked for again: a path relative to the registry's
    folder."""

    @property
    def simulated(self) -> bool:
        return self.engine == "simulated"

    @property
    def local(self) -> bool:
        """Whether the model's engine answers in this process, so that answers cost neither money
        nor a server's time."""
        return self.engine in LOCAL

    @property
    def needs_key(self) -> bool:
        """Whether the model's server asks for a key, so that somebody pays for its answers: its
        engine is `openai` or `openai_batch`, and a key is sent."""
        if not self.engine.startswith("openai"):
            return False
        settings = engine_module(self.engine).Settings.model_validate(self.settings)
        return bool(settings.key_variable)

    @cached_property
    def identity(self) -> str:
        """The model's part of every request's key: its revision, and the parameters that requests
        omit or add; for an engine in this process, its version and parameters."""
        from .engines.base import served_identity

        module = engine_module(self.engine)
        identity = getattr(module, "identity", served_identity)
        return str(identity(self))

    @property
    def fingerprint(self) -> str:
        """Hash of the row's `id` and `identity`, in 16 hexadecimal digits, for the names of files
        about the model's requests (locks, open batches); rows of the same model share it."""
        return hash_of(f"{self.id}\n{self.identity}", 8)


def engine_module(engine: str) -> Any:
    """Returns the module of the engine with the name `engine` in `ENGINES` (`KeyError` for another
    name); every such module has `Settings` and `open_engine`, and that of an engine in this process an
    `identity`."""
    return importlib.import_module(ENGINES[engine])


def load_registry(path: Path = REGISTRY) -> dict[str, ModelEntry]:
    """Returns all registry rows (`ModelEntry`) of the file `path` by name, in the file's order; for
    the default file, params/models.yaml, then the rows of the file `SERVED` with other names.

    Every row is validated, engine settings included; a fault raises `ParameterError`.
    """
    registry = {name: _entry(name, row, path) for name, row in read_yaml(path).items()}
    if path == REGISTRY and SERVED.is_file():
        from .engines.dialects import adapted

        for name, entry in load_registry(SERVED).items():
            changed = adapted(registry.setdefault(name, entry), entry.adapted)
            if changed.model_dump() == entry.model_dump():
                registry[name] = changed
    return registry


def _entry(name: str, row: Any, path: Path) -> ModelEntry:
    """Returns the validated row `name` of the registry in the file `path`."""
    source = f"{shown(path)}: {name}"
    if isinstance(row, dict):
        row = {"name": name, "id": name, **row}
    entry = check(ModelEntry, row, source)
    if entry.engine not in ENGINES:
        raise ParameterError(
            f"{source}: engine = {entry.engine!r}: unknown engine"
            f"{nearest(entry.engine, ENGINES)}"
        )
    if entry.simulated != name.startswith("sim-"):
        raise ParameterError(
            f"{source}: names that begin with 'sim-' are for simulated readers, and only "
            "for them"
        )
    check(engine_module(entry.engine).Settings, entry.settings, f"{source}: settings")
    if entry.serve:
        check(engine_module("vllm").Settings, entry.serve, f"{source}: serve")
    if entry.archive is None:
        return entry
    beside = path.parent / entry.archive
    if not beside.resolve().is_relative_to(path.parent.resolve()):
        raise ParameterError(
            f"{source}: archive = '{entry.archive}': must lie in {shown(path.parent)}"
        )
    return entry.model_copy(update={"archive": beside})


def keep(entry: ModelEntry) -> None:
    """Writes the registry row `entry`, without its archive, to the file `SERVED`, in place of an
    earlier row of its name."""
    rows = read_yaml(SERVED) if SERVED.is_file() else {}
    rows[entry.name] = entry.model_dump(exclude={"name"}, exclude_defaults=True)
    write_whole(SERVED, yaml.safe_dump(rows, allow_unicode=True, sort_keys=False))


def find_models(
    names: list[str],
    registry: dict[str, ModelEntry],
    source: str,
    path: Path = REGISTRY,
) -> list[ModelEntry]:
    """Returns the rows of `registry` with these `names`, in their order and each once; an unknown
    name raises `ParameterError` with the nearest valid name.

    `source` begins the message, and `path` is the registry's file that it names.
    """
    for name in names:
        if name not in registry:
            raise ParameterError(
                f"{source}: models = {name!r}: not in {shown(path)}{nearest(name, registry)}"
            )
    return [registry[name] for name in dict.fromkeys(names)]
