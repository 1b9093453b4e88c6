"""What a notebook's parameters are: a schema, the study that uses it, and the notebook's cell made from it."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, field_validator

from codestress.errors import ParameterError
from codestress.types import Prompt, Sampling, Trials
from codestress.validation import Strict, check, nearest


class Facts(Strict):
    """What every notebook has in common."""

    artefact: str = Field(description="the figure or table, which names the folder in outputs/")
    models: list[str] = Field(min_length=1, description="names from params/models.yaml")
    rule: Literal["strict", "reference"] = Field("strict", description="how answers are judged; both are reported")

    @field_validator("*", mode="before")
    @classmethod
    def _one_number(cls, value: Any) -> Any:
        """20.0 is 20: a number is what it is worth, however it is written."""
        if isinstance(value, list):
            return [cls._one_number(one) for one in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> Self:
        """The parameters among a notebook's names, `globals()`; `ParameterError` where one is wrong."""
        return cls.checked({name: names[name] for name in cls.model_fields}, "the parameters cell")

    @classmethod
    def checked(cls, values: Mapping[str, Any], sources: Mapping[str, str] | str) -> Self:
        """The values by the schema, those of single models too; `check` says what `sources` are."""
        given = check(cls, values, sources)
        given.check_single(sources)
        return given

    def check_single(self, sources: Mapping[str, str] | str) -> None:
        """`ParameterError` where settings of a single model are wrong; here there are none."""

    def of_model(self, model: str) -> Self:  # noqa: ARG002
        """The parameters as they are for one model."""
        return self


class Seeded(Facts):
    """Notebooks that draw something."""

    seed: int = Field(0, ge=0, description="of everything random")


class Recomputed(Facts):
    """Notebooks that compute with what a paper publishes; nothing is asked, and nothing drawn."""

    confidence: float = Field(0.95, gt=0, lt=1, description="of all intervals")
    rule: Literal["strict"] = Field("strict", description="nothing is judged")


class RecomputedByDraws(Recomputed, Seeded):
    """The same where a test or an interval is by draws."""


class Asked(Seeded):
    """Notebooks that ask models."""

    SINGLE: ClassVar[tuple[str, ...]] = ()
    """Parameters that may differ by model; those who make the trials say `for_each_model`."""

    failures: Literal["raise", "count"] = Field("raise", description="what to do with requests that fail for good")
    per_model: dict[str, dict[str, Any]] = Field(
        {}, description="settings of single models: {model: {parameter: value}}"
    )

    def check_single(self, sources: Mapping[str, str] | str) -> None:
        """`ParameterError` where `per_model` names a model that is not asked, or what is no setting of one model."""
        for model, settings in self.per_model.items():

            def source(name: str, model: str = model) -> str:
                if isinstance(sources, str):
                    return sources
                return sources.get(f"per_model.{model}.{name}", sources.get("per_model", "default"))

            told = f"per_model.{model}"
            if model not in self.models:
                where = source(next(iter(settings), ""))
                raise ParameterError(
                    f"{where}: {told} = {settings!r}: this model is not asked{nearest(model, self.models)}"
                )
            for name, value in settings.items():
                if name in type(self).model_fields and name not in self.SINGLE:
                    single = ", ".join(self.SINGLE) or "nothing"
                    raise ParameterError(
                        f"{source(name)}: {told}.{name} = {value!r}: is the same for all models of an artefact; "
                        f"what one model may have of its own: {single}"
                    )
            check(type(self), self._with(settings), {name: f"{source(name)}: {told}" for name in settings})

    def of_model(self, model: str) -> Self:
        """The parameters as they are for one model: its own settings are in place, and there are no others."""
        return type(self).model_validate(self._with(self.per_model.get(model, {})))

    def _with(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.model_dump(), "per_model": {}, **settings}


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


Given = TypeVar("Given", bound=Asked)


def for_each_model(trials: Callable[[Given], Trials]) -> Callable[[Given], Trials]:
    """Trials from parameters, and beside them those of each model that has settings of its own."""

    @wraps(trials)
    def made(given: Given) -> Trials:
        given.check_single("per_model")
        return replace(trials(given), own={model: trials(given.of_model(model)) for model in given.per_model})

    return made


def no_questions(_: Facts) -> Trials:
    """For tables of facts, and of what was made: nothing is asked."""
    return Trials([], lambda _: Prompt((), Sampling()), {})


PROTOCOL = "# the paper's protocol, as far as the demo keeps it"


def parameters_cell(schema: type[Facts], values: Mapping[str, Any], knobs: Mapping[str, str] | None = None) -> str:
    """The source of a notebook's `parameters` cell: name, type, value and meaning, one line each.

    `values` overrides the schema's defaults; every field needs one of the two. `knobs` stand on top, each under a
    sentence that says what turning it shows; the others follow under `PROTOCOL`.
    """

    def line(name: str) -> str:
        one = schema.model_fields[name]
        return f"{name}: {_type_name(one.annotation)} = {_literal(values.get(name, one.default))}  # {one.description}"

    top = [name for name in schema.model_fields if name in (knobs or {})]
    rest = [line(name) for name in schema.model_fields if name not in top]
    told = [text for name in top for text in (f"# {(knobs or {})[name]}", line(name))]
    return "\n".join([*told, "", PROTOCOL, *rest] if told else rest)


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(key)}: {_literal(one)}' for key, one in value.items())}}}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _type_name(annotation: Any) -> str:
    """`int`, `list[str]`, …; a choice of literals shows as the type of its values."""
    if typing.get_origin(annotation) is Literal:
        return type(typing.get_args(annotation)[0]).__name__
    if typing.get_origin(annotation) is Annotated:
        return _type_name(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is list:
        return f"list[{_type_name(typing.get_args(annotation)[0])}]"
    return str(annotation.__name__)
