"""The model registry, params/models.yaml: one row per model. A new model is a row; a
new engine is a module."""

import importlib
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from codestress.errors import ParameterError
from codestress.paths import OUTPUTS, PARAMS, shown, write_whole
from codestress.types import hash_of
from codestress.validation import Strict, check, nearest, read_if_there, read_yaml

REGISTRY = PARAMS / "models.yaml"
SERVED = OUTPUTS / "models.yaml"
"""File of registry rows for models that a command line named by a URL or a function,
and of copies of rows that were adapted to their server's dialect.

`load_registry` adds the rows, and uses a copy as long as the registry's own row has not
changed since the copy was made.
"""

ENGINES = {
    name: f"codestress.inference.engines.{name}"
    for name in ("function", "openai", "interpreter", "openai_batch", "vllm", "ray")
}
ENGINES |= {name: f"codestress.{name}.engine" for name in ("simulated", "nano")}
"""Module of each engine, by the engine's name in `ModelEntry.engine`; a module is
imported only when a model needs it."""
LOCAL = ("simulated", "interpreter", "function", "nano")
"""Names of the engines that answer in this process, at no cost."""


class Price(Strict):
    """A model's prices in US dollars per million tokens, `input` for prompts and
    `output` for completions, as listed on `date`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str


class ModelEntry(Strict):
    """A model: one row of the registry, with the engine that answers for it and the
    engine's settings."""

    name: str
    """The model's name in the registry, which figures show."""
    engine: str
    id: str
    """The model's name at its server."""
    revision: str = ""
    """Revision of the weights or dated version; part of every request's key."""
    description: str = ""
    context: int | None = Field(default=None, gt=0)
    """Largest context, in the model's tokens; None if unknown."""
    max_tokens: int = Field(default=0, ge=0)
    """Smallest `max_tokens` of the model's completions, thoughts included: a smaller
    limit of an artefact is raised to it. 0 for a model that does not think before it
    answers."""
    licence: str = ""
    architecture: dict[str, str | int | float] = {}
    price: Price | None = None
    serve: dict[str, Any] = {}
    """Settings of the engine `vllm` with which `make serve` serves the model."""
    settings: dict[str, Any] = {}
    """Settings of the model's engine, validated by the engine's own `Settings`."""
    adapted: dict[str, str] = {}
    """Sentences on the dialects of the protocol to which the model's requests are
    adapted, by the dialect's name.

    The kit writes the sentences, for manifests. The settings that a dialect changes are
    in `settings`.
    """
    archive: Path | None = Field(default=None, strict=False, exclude=True)
    """Archive of known responses, which are not asked for again: a path relative to the
    registry's folder."""

    @property
    def simulated(self) -> bool:
        return self.engine == "simulated"

    @property
    def local(self) -> bool:
        """Whether the model's engine answers in this process, so that answers cost
        neither money nor a server's time."""
        return self.engine in LOCAL

    @property
    def needs_key(self) -> bool:
        """Whether the model's server gets a key, so that somebody pays for its answers:
        the engine's settings have a `key_variable`, and it names one."""
        settings = engine_module(self.engine).Settings.model_validate(self.settings)
        return bool(getattr(settings, "key_variable", ""))

    @cached_property
    def identity(self) -> str:
        """The model's part of every request's key.

        For an engine in `LOCAL`, this part is the engine's version and parameters. For
        any other engine, this part is the row's revision, and the settings that omit
        parameters or add them.
        """
        from .engines.base import served_identity

        module = engine_module(self.engine)
        identity = getattr(module, "identity", served_identity)
        return str(identity(self))

    @property
    def fingerprint(self) -> str:
        """Hash of the row's `id` and `identity`, 16 hexadecimal digits, for the names
        of files about the model's requests (locks, open batches).

        Rows of the same model share the hash.
        """
        return hash_of(f"{self.id}\n{self.identity}", 8)


def engine_module(engine: str) -> Any:
    """Return the module of the engine named `engine` in `ENGINES`.

    Every such module has `Settings` and `open_engine`; the modules of the engines in
    `LOCAL` also have `identity`. Raises `KeyError` for an unknown name.
    """
    return importlib.import_module(ENGINES[engine])


def load_registry(path: Path = REGISTRY) -> dict[str, ModelEntry]:
    """Return a dict from name to row (`ModelEntry`) of the registry in the file `path`,
    in the file's order.

    For the default file, params/models.yaml, the rows of the file `SERVED` are added:
    those with other names, and the adapted copies of unchanged rows. Every row is
    validated, engine settings included. Raises `ParameterError` for a faulty row.
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
    """Return the validated row `name` of the registry in the file `path`.

    Raises `ParameterError` for a faulty row.
    """
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
    """Write the registry row `entry`, without its archive, to the file `SERVED`, in
    place of an earlier row with the same name."""
    rows = read_if_there(SERVED)
    rows[entry.name] = entry.model_dump(exclude={"name"}, exclude_defaults=True)
    write_whole(SERVED, yaml.safe_dump(rows, allow_unicode=True, sort_keys=False))


def find_models(
    names: list[str],
    registry: dict[str, ModelEntry],
    source: str,
    path: Path = REGISTRY,
) -> list[ModelEntry]:
    """Return the rows of `registry` with these `names`, in the order of `names` and
    each once.

    An unknown name raises `ParameterError` with the nearest valid name. `source` begins
    the message, and `path` is the registry file that the message names.
    """
    for name in names:
        if name not in registry:
            raise ParameterError(
                f"{source}: models = {name!r}: not in {shown(path)}{nearest(name, registry)}"
            )
    return [registry[name] for name in dict.fromkeys(names)]
