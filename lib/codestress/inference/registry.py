"""The model registry, params/models.yaml: one row per model; a new model is a row, a new engine a module."""

from __future__ import annotations

import hashlib
import importlib
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import Field

from codestress.errors import ParameterError
from codestress.inference.engines.base import BatchEngine, Engine
from codestress.paths import OUTPUTS, PARAMS, shown
from codestress.validation import Strict, check, nearest, read_yaml

REGISTRY = PARAMS / "models.yaml"
SERVED = OUTPUTS / "models.yaml"
"""Rows of models that a command line named by their URL (`at_url`); the registry has them too."""

ENGINES = {
    "simulated": "codestress.simulated.engine",
    "function": "codestress.inference.engines.function",
    "openai": "codestress.inference.engines.openai",
    "interpreter": "codestress.inference.engines.interpreter",
    "nano": "codestress.nano.engine",
    "openai_batch": "codestress.inference.engines.openai_batch",
    "vllm": "codestress.inference.engines.vllm",
    "ray": "codestress.inference.engines.ray",
}
"""Engine name to its module, imported only when a model needs it."""
LOCAL = ("simulated", "interpreter", "function", "nano")
"""Engines that answer for nothing, in this process."""


class Price(Strict):
    """US dollars per million tokens, as listed on `date`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str


class ModelEntry(Strict):
    """One model."""

    name: str
    """The registry's name, which figures show."""
    engine: str
    id: str
    """As its server knows it."""
    revision: str = ""
    """Weights or dated version; part of every request's key."""
    description: str = ""
    context: int | None = Field(default=None, gt=0)
    """Largest context, in the model's tokens."""
    licence: str = ""
    architecture: dict[str, str | int | float] = {}
    price: Price | None = None
    serve: dict[str, Any] = {}
    """How `make serve` serves it: the settings of the engine `vllm`."""
    settings: dict[str, Any] = {}
    """What its engine needs; validated by the engine's own `Settings`."""
    archive: Path | None = Field(None, strict=False, exclude=True)
    """Answers that need not be asked for; in the registry beside its own file."""

    @property
    def simulated(self) -> bool:
        return self.engine == "simulated"

    @property
    def local(self) -> bool:
        """Whether answers cost neither money nor a server's time."""
        return self.engine in LOCAL

    @property
    def needs_key(self) -> bool:
        """Whether somebody is paid for its answers."""
        return self.engine.startswith("openai") and self.settings.get("key_env", "OPENAI_API_KEY") != ""

    @cached_property
    def identity(self) -> str:
        """What enters keys: the revision, what requests omit or add; of what runs here its version and parameters."""
        return engine_module(self).identity(self)

    @property
    def fingerprint(self) -> str:
        """A name for files of what is asked of this model: other rows of the same model have the same."""
        return hashlib.blake2b(f"{self.id}\n{self.identity}".encode(), digest_size=8).hexdigest()


class EngineModule(Protocol):
    """A module in `engines/`."""

    Settings: type[Strict]

    def identity(self, entry: ModelEntry) -> str: ...

    def open_engine(self, entry: ModelEntry) -> Engine | BatchEngine: ...


def engine_module(entry: ModelEntry, engine: str = "") -> EngineModule:
    """The module that answers for this model, or that of another engine."""
    return cast(EngineModule, importlib.import_module(ENGINES[engine or entry.engine]))


def load_registry(path: Path = REGISTRY) -> dict[str, ModelEntry]:
    """All models by name, in the file's order; every row is validated, engine settings included."""
    registry = {}
    for name, row in read_yaml(path).items():
        source = f"{shown(path)}: {name}"
        if not isinstance(row, dict):
            raise ParameterError(f"{source}: must be a mapping (engine, id, …), not {row!r}")
        entry = check(ModelEntry, {"name": name, "id": name, **row}, source)
        if entry.engine not in ENGINES:
            raise ParameterError(f"{source}: engine = {entry.engine!r}: unknown engine{nearest(entry.engine, ENGINES)}")
        if entry.simulated != name.startswith("sim-"):
            raise ParameterError(f"{source}: names that begin with 'sim-' are for simulated readers, and only for them")
        check(engine_module(entry).Settings, entry.settings, f"{source}: settings")
        if entry.serve:
            check(engine_module(entry, "vllm").Settings, entry.serve, f"{source}: serve")
        if entry.archive:
            beside = path.parent / entry.archive
            if not beside.resolve().is_relative_to(path.parent.resolve()):
                raise ParameterError(f"{source}: archive = '{entry.archive}': must lie in {shown(path.parent)}")
            entry = entry.model_copy(update={"archive": beside})
        registry[name] = entry
    served = load_registry(SERVED) if path == REGISTRY and SERVED.is_file() else {}
    return registry | {name: entry for name, entry in served.items() if name not in registry}


def find_models(
    names: list[str], registry: dict[str, ModelEntry], source: str, path: Path = REGISTRY
) -> list[ModelEntry]:
    """The entries of these names, each once; an unknown one is an error with the nearest valid name."""
    for name in names:
        if name not in registry:
            raise ParameterError(f"{source}: models = {name!r}: not in {shown(path)}{nearest(name, registry)}")
    return [registry[name] for name in dict.fromkeys(names)]
