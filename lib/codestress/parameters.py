"""What a notebook's parameters are: a schema, the study that uses it, and the notebook's cell made from it."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from codestress.types import Prompt, Sampling, Trials
from codestress.validation import Strict, check


class Facts(Strict):
    """What every notebook has in common."""

    artefact: str = Field(description="the figure or table, which names the folder in outputs/")
    models: list[str] = Field(min_length=1, description="names from params/models.yaml")
    rule: Literal["strict", "reference"] = Field("strict", description="how answers are judged; both are reported")

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> Self:
        """The parameters among a notebook's names, `globals()`; `ParameterError` where one is wrong."""
        return check(cls, {name: names[name] for name in cls.model_fields}, "the parameters cell")


class Seeded(Facts):
    """Notebooks that draw something."""

    seed: int = Field(0, ge=0, description="of everything random")


class Asked(Seeded):
    """Notebooks that ask models."""

    failures: Literal["raise", "count"] = Field("raise", description="what to do with requests that fail for good")


class Interval(Asked):
    """Notebooks that ask models and give intervals."""

    confidence: float = Field(0.95, gt=0, lt=1, description="of all intervals")


class Parameters(Interval):
    """Notebooks whose intervals are by the bootstrap."""

    resamples: int = Field(2000, ge=100, description="of the bootstrap")


@dataclass(frozen=True)
class Study:
    """A way to make trials, and the schema of the notebooks that use it."""

    parameters: type[Facts]
    trials: Callable[[Any], Trials]
    """From an instance of the schema."""
    files: Callable[[Any], list[Path]] = lambda _: []
    """Files beside the kit's own on which trials with these parameters depend."""
    lab_models: tuple[str, ...] = ("sim-near", "sim-edges", "sim-flat", "sim-wide", "sim-wordy")
    """What a notebook asks when it is opened in JupyterLab and run as it is: offline."""
    lab: Mapping[str, Any] = field(default_factory=dict)
    """What else differs from the paper's there, so that nothing but the kit is needed."""


def no_questions(_: Facts) -> Trials:
    """For tables of facts, and of what was made: nothing is asked."""
    return Trials([], lambda _: Prompt((), Sampling()), {})


def parameters_cell(schema: type[Facts], defaults: Mapping[str, Any]) -> str:
    """The source of a notebook's `parameters` cell: name, type, value and meaning, one line each.

    `defaults` overrides the schema's own; every field needs one of the two.
    """
    lines = []
    for name, one in schema.model_fields.items():
        value = defaults.get(name, one.default)
        lines.append(f"{name}: {_type_name(one.annotation)} = {_literal(value)}  # {one.description}")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | list) else repr(value)
    return text.replace("true", "True").replace("false", "False") if isinstance(value, list) else text


def _type_name(annotation: Any) -> str:
    """`int`, `list[str]`, …; a choice of literals shows as the type of its values."""
    if typing.get_origin(annotation) is Literal:
        return type(typing.get_args(annotation)[0]).__name__
    if typing.get_origin(annotation) is Annotated:
        return _type_name(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is list:
        return f"list[{_type_name(typing.get_args(annotation)[0])}]"
    return str(annotation.__name__)
