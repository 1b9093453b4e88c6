"""Parameters of a notebook: their schema, the study that uses them, and the notebook
cell that sets them."""

import html
import json
import typing
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, field_validator
from pydantic.fields import FieldInfo

from .artefact_files import Layers, demo_layers
from .errors import ParameterError
from .paths import PAPERS, ROOT, shown, whole
from .types import NotRun, Prompt, Response, Sampling, Score, Trial, Trials
from .validation import Strict, check, nearest, read_if_there


class Alike(NamedTuple):
    """Combinations of parameters (each a mapping from name to value) that all agree
    with one statement of a paper."""

    paper: str
    """The paper's statement, in words."""
    combinations: tuple[Mapping[str, Any], ...]

    def has(self, values: Mapping[str, Any]) -> bool:
        """Return whether the parameters `values` (a mapping from name to value) contain
        all entries of at least one of the combinations."""
        return any(part.items() <= values.items() for part in self.combinations)


class Facts(Strict):
    """Parameters that every notebook has: artefact, models and scoring rule. This class
    is the base of the notebooks' schemas. The docstring under a parameter is its
    meaning in tables and in comments of notebooks."""

    model_config = ConfigDict(use_attribute_docstrings=True)
    ALIKE: ClassVar[tuple[Alike, ...]] = ()
    """Parts of the paper's protocol that several combinations of parameters follow
    equally well."""
    OPEN: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that the paper leaves open. The defaults of these parameters
    are the kit's choice, explained in docs/PAPER.md."""

    FILES: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Parameters that name a file, each with the words that it accepts instead of a
    path. Paths are stored relative to the project's root."""

    artefact: str
    """Name of the figure or table, and of its folder in outputs/."""
    models: list[str] = Field(min_length=1)
    """Names of models in params/models.yaml."""
    rule: Literal["strict", "reference"] = "strict"
    """Rule by which answers are judged in the figure; the tables report both."""
    PARTS: ClassVar[tuple[str, ...]] = ()
    """Names of list parameters that follow the paper's protocol even if the list has
    only some of the paper's values. The other values do not matter, because each value
    has its own requests."""

    @field_validator("*", mode="before")
    @classmethod
    def _one_number(cls, value: Any) -> Any:
        """Return `value` with floats without a fraction as integers, also inside lists,
        so that 20.0 and 20 are the same value. Other values are unchanged."""
        if isinstance(value, list):
            return [cls._one_number(item) for item in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> Self:
        """Return the validated parameters of a notebook: values from its first cell,
        the rest from the artefact's file and the profile demo.

        `names` are the notebook's `globals()`. A file's path is relative to the folder
        in which the notebook runs. Raises `ParameterError` if a value is wrong or
        `artefact` is missing.
        """
        cell = {}
        for name in cls.model_fields:
            if name in names:
                cell[name] = cls.from_root(name, names[name], Path())
        if "artefact" not in cell:
            raise ParameterError(
                'the parameters cell: artefact = "PAPER/ARTEFACT" is missing'
            )
        layers = Layers()
        if len(cell) < len(cls.model_fields):
            layers = demo_layers(cell["artefact"])
        layers.put(cell, "the parameters cell")
        return cls.checked(layers.values, layers.sources)

    @classmethod
    def from_root(cls, name: str, value: Any, folder: Path) -> Any:
        """Return the `value` of the parameter `name`, which a person typed in `folder`,
        with a file's path made relative to the project's root.

        A path outside the project becomes absolute. Values of parameters that take no
        file (`FILES`) are unchanged.
        """
        words = cls.FILES.get(name)
        if words is None or not isinstance(value, str) or value in words:
            return value
        return shown(whole(value, folder))

    @classmethod
    def checked(
        cls, values: Mapping[str, Any], sources: Mapping[str, str] | str
    ) -> Self:
        """Return the parameters made from `values` (a mapping from name to value),
        validated with the schema and, for settings of single models, with
        `check_single`.

        Files' paths become relative to the project's root (`from_root`). `sources` names
        the places that set the values, as in `validation.check`. Raises `ParameterError`
        with everything that is wrong.
        """
        paths = dict(values)
        for name in cls.FILES.keys() & values:
            paths[name] = cls.from_root(name, values[name], ROOT)
        facts = check(cls, paths, sources)
        facts.check_single(sources)
        return facts

    def check_single(self, sources: Mapping[str, str] | str) -> None:
        """Do nothing, because this base class has no settings of single models.

        A subclass with such settings raises `ParameterError` if a setting is wrong.
        `sources` names the places that set the values.
        """

    def not_run(self) -> tuple[NotRun, ...]:
        """Return the parts of the study that cannot run on this machine. The trials
        leave them out."""
        return ()

    def files(self) -> list[Path]:
        """Return the paths of files outside the kit on which the results depend."""
        return []

    def _repr_html_(self) -> str:
        """Return an HTML table of all parameters for Jupyter to show: name, value,
        meaning."""
        rows = "<tr><th>parameter</th><th>value</th><th>meaning</th></tr>"
        for name, field in type(self).model_fields.items():
            rows += f"<tr><td>{name}</td>"
            for text in (in_words(getattr(self, name)), meaning(field)):
                # Cells of this class wrap in the kit's pages.
                rows += f'<td class="text">{html.escape(text)}</td>'
            rows += "</tr>"
        return f"<table>{rows}</table>"

    def idle(self) -> set[str]:
        """Return the names of parameters without effect beside the values of the
        others, according to the file used.yaml of the paper's folder."""
        idle = set()
        paper = self.artefact.partition("/")[0]
        for name, users in read_if_there(PAPERS / paper / "used.yaml").items():
            uses = []
            for user in users.keys() & type(self).model_fields:
                own = getattr(self, user)
                values = own if isinstance(own, list) else [own]
                if users[user] != "any":
                    values = [value in users[user] for value in values]
                uses.append(any(values))
            if uses and not any(uses):
                idle.add(name)
        return idle

    def of_model(self, model: str) -> Self:  # noqa: ARG002
        """Return the parameters that hold for `model`: in this base class these
        parameters, the same for all models."""
        return self


class Seeded(Facts):
    """Parameters of notebooks that draw random numbers: those of `Facts` and the seed."""

    seed: int = Field(0, ge=0)
    """Seed of everything random."""


class Unjudged(Facts):
    """Parameters of notebooks that ask no model: those of `Facts`, with a single scoring rule."""

    rule: Literal["strict"] = "strict"
    """Rule by which answers are judged; without effect, since there are none."""


class Recomputed(Unjudged):
    """Parameters of notebooks that compute with a paper's published numbers, without asking models
    and without random numbers: those of `Unjudged`, and the level of confidence."""

    confidence: float = Field(0.95, gt=0, lt=1)
    """Confidence level of all intervals."""


class RecomputedByDraws(Recomputed, Seeded):
    """Parameters of notebooks that compute with a paper's published numbers and draw
    random numbers for a test or an interval."""


class Asked(Seeded):
    """Parameters of notebooks that ask models: those of `Seeded`, the treatment of
    failed requests, and settings of single models."""

    SINGLE: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that may differ between models."""

    failures: Literal["raise", "count"] = "raise"
    """Reaction to requests that fail for good: raise an error, or count them."""
    per_model: dict[str, dict[str, Any]] = {}
    """Settings of single models: {model: {parameter: value}}."""

    def check_single(self, sources: Mapping[str, str] | str) -> None:
        """Check the settings in `per_model`, each of which replaces a common parameter
        for one model. `sources` names the places that set the values, for the message.

        Raises `ParameterError` if `per_model` names a model that is not asked, or a
        parameter that is unknown, has a wrong value, or must be the same for all
        models.
        """
        source = sources
        if isinstance(sources, Mapping):
            source = sources.get("per_model", "default")
        for model, settings in self.per_model.items():
            place = f"{source}: per_model.{model}"
            if model not in self.models:
                raise ParameterError(
                    f"{place} = {settings!r}: this model is not asked"
                    f"{nearest(model, self.models)}"
                )
            for name, value in settings.items():
                if name in type(self).model_fields and name not in self.SINGLE:
                    single = ", ".join(self.SINGLE) or "nothing"
                    raise ParameterError(
                        f"{place}.{name} = {value!r}: must be the same for all models of "
                        f"an artefact; one model may set: {single}"
                    )
            check(type(self), self._with(settings), place)

    def of_model(self, model: str) -> Self:
        """Return the parameters that hold for `model`, with its settings from
        `per_model` in place of the common ones. The `per_model` of the result is empty.
        """
        return type(self).model_validate(self._with(self.per_model.get(model, {})))

    def _with(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.model_dump(), "per_model": {}, **settings}


class Interval(Asked):
    """Parameters of notebooks that ask models and compute intervals: those of `Asked`
    and the confidence level."""

    confidence: float = Field(0.95, gt=0, lt=1)
    """Confidence level of all intervals."""


class Parameters(Interval):
    """Parameters of notebooks that ask models and compute bootstrap intervals: those of
    `Interval` and the number of resamples."""

    resamples: int = Field(2000, ge=100)
    """Number of bootstrap resamples."""


class Experiment(Asked):
    """An experiment. Its fields are the parameters of its notebooks; its methods make
    the trials, render them as prompts and score the responses.

    The function `questions` makes the `Trials` that `run` takes from an experiment.
    """

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the scoring rules, which the parameter `rule` names: `strict`, and `reference`
        where the paper's own harness scores differently."""
        return typing.get_args(type(self).model_fields["rule"].annotation)

    def trials(self) -> Iterable[Trial]:
        """Return all trials, in a fixed order."""
        raise NotImplementedError

    def render(self, trial: Trial) -> Prompt:
        """Return the prompt of `trial`, the same for all models."""
        raise NotImplementedError

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        """Return the score of the `response` to `trial` with the scoring rule `rule`."""
        raise NotImplementedError

    def follow_up(self, trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:  # noqa: ARG002
        """Return the prompt of the next request of `trial` to the same model, after the
        `responses` so far. None if the trial is done."""
        return None

    def steps(self, trial: Trial) -> int:  # noqa: ARG002
        """Return the number of requests that `trial` makes if none fails."""
        return 1

    @property
    def retry_temperatures(self) -> tuple[float, ...]:
        """Temperatures of the repeated requests after a refused or empty response, in
        order."""
        return ()


def questions(study: Facts) -> Trials:
    """Return the trials of the parameters `study`, for `run`; no trials unless `study`
    is an `Experiment`.

    A model with settings of its own has trials made with these settings. Raises
    `ParameterError` if such settings are wrong.
    """
    if not isinstance(study, Experiment):
        return Trials([], lambda _: Prompt((), Sampling()), {}, not_run=study.not_run())
    study.check_single("per_model")
    own = {model: questions(study.of_model(model)) for model in study.per_model}
    judges = {rule: partial(study.score, rule=rule) for rule in study.rules}
    return Trials(
        list(study.trials()),
        study.render,
        judges,
        study.retry_temperatures,
        study.follow_up,
        study.steps,
        study.not_run(),
        own,
    )


REST = "Any parameter of the table below can be set here too, in a line like these."


def meaning(field: FieldInfo) -> str:
    """Return the docstring of the parameter `field` on one line."""
    return " ".join((field.description or "").split())


def parameters_cell(
    schema: type[Facts], values: Mapping[str, Any], knobs: Mapping[str, str]
) -> str:
    """Return the source of a notebook's `parameters` cell: a comment and a line `name:
    type = value  # meaning` for each knob, then for `artefact`.

    `knobs` maps each parameter that is worth changing to the comment above its line: a
    sentence on the effect of a change. `values` overrides the defaults of `schema`;
    every line needs a value from one of the two.
    """
    lines = []
    chosen = [name for name in schema.model_fields if name in knobs]
    for name in [*chosen, "artefact"]:
        field = schema.model_fields[name]
        kind = _type_name(field.annotation)
        value = _literal(values.get(name, field.default))
        lines.append(f"# {knobs.get(name, REST)}")
        lines.append(f"{name}: {kind} = {value}  # {meaning(field)}")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _type_name(annotation: Any) -> str:
    """Return the name of the type `annotation`, such as `int` or `list[str]`. A choice
    of literals has the name of its values' type."""
    origin = typing.get_origin(annotation)
    first = next(iter(typing.get_args(annotation)), None)
    if origin is Literal:
        return type(first).__name__
    if origin is Annotated:
        return _type_name(first)
    if origin is list:
        return f"list[{_type_name(first)}]"
    return str(annotation.__name__)


def in_words(value: object) -> str:
    """Return a parameter's `value` as people write it: on or off for a switch, a list's
    values separated by spaces, none for an empty value, else `str`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        value = " ".join(map(in_words, value))
    return str(value) or "none"
