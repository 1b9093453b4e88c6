"""Validation of YAML files and command line options with pydantic models. The error
messages name the remedy."""

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from .errors import ParameterError
from .paths import shown


class Strict(BaseModel):
    """Base of all schemas for params/. Unknown keys and wrong types are errors; values
    are never converted to another type."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, defer_build=True
    )


Checked = TypeVar("Checked", bound=BaseModel)


class UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C, ten times as fast
    """YAML loader that fails if a key appears twice in a mapping; plain YAML would drop
    the first value."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        scalars = [
            key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)
        ]
        for key, count in Counter(scalars).items():
            if count > 1 and key != "<<":
                raise yaml.YAMLError(f"the key {key!r} appears twice {node.start_mark}")
        return dict(super().construct_mapping(node, deep=deep))


DEEPEST = 100
"""Largest number of levels of nested collections in a file."""


def _check_depth(text: str) -> None:
    """Raise `YAMLError` if collections in the YAML `text` are nested more than
    `DEEPEST` levels deep, which would crash the parser written in C."""
    depth = 0
    for event in yaml.parse(text, Loader=UniqueKeys):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels {event.start_mark}")


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return advice for the end of an error message about the unknown `name`.

    The advice is `; did you mean 'x'?` with the most similar name in `valid`, or `;
    valid names: …` with all of them if none is similar.
    """
    names = sorted(valid)
    for close in difflib.get_close_matches(name, names, n=1, cutoff=0.5):
        return f"; did you mean {close!r}?"
    return f"; valid names: {', '.join(names)}"


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in the YAML file at `path`; an empty file gives an empty
    mapping. Raises `ParameterError` if the file cannot be read, is not valid YAML, or
    does not hold a mapping."""
    try:
        text = path.read_text("utf-8")
        _check_depth(text)
        content = yaml.load(text, Loader=UniqueKeys)
    except Exception as error:  # the parser raises many kinds
        reason = " ".join(str(error).split())
        raise ParameterError(
            f"{shown(path)}: cannot be read as YAML: {reason}"
        ) from None
    if not isinstance(content, dict | None):
        raise ParameterError(
            f"{shown(path)}: must be a mapping of keys to values, not {type(content).__name__}"
        )
    return content or {}


def read_if_there(path: Path) -> dict[str, Any]:
    """Return the mapping in the YAML file at `path` (`read_yaml`); empty if the file
    does not exist."""
    return read_yaml(path) if path.is_file() else {}


def read_rows(path: Path, model: type[Checked]) -> dict[str, Checked]:
    """Return a dict from row name to row of the YAML file at `path`, each row validated
    with the schema `model`. Empty if the file does not exist. Raises `ParameterError`
    for an unreadable file or an invalid row."""
    return {
        name: check(model, row, f"{shown(path)}: {name}")
        for name, row in read_if_there(path).items()
    }


def one_of(what: str, kits: Iterable[str], file: Callable[[], Path]) -> Any:
    """Return a validator (for `Annotated`) of a parameter that must be a known name.

    Known names are those in `kits` and those of the rows in the user's YAML file, whose
    path `file()` returns. `what` names the kind of thing in the message. The validator
    raises `ValueError` with the nearest name for an unknown one.
    """

    def known(name: str) -> str:
        names = (*kits, *read_if_there(file()))
        if name not in names:
            raise ValueError(
                f"no such {what}{nearest(name, names)}; your own are rows of {shown(file())}"
            )
        return name

    return AfterValidator(known)


def check(
    model: type[Checked], values: Any, sources: Mapping[str, str] | str
) -> Checked:
    """Return the mapping `values` as an instance of the schema `model`.

    `sources` maps each top-level key to the place (file or option) that set it, or is
    the one place of all keys. Raises `ParameterError` with all complaints, each with
    place, key, value and nearest valid name.
    """
    if not isinstance(values, Mapping):
        raise ParameterError(
            f"{sources}: must be a mapping of keys to values, not {values!r:.60}"
        )
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        lines = []
        for problem in error.errors(include_url=False):
            source = sources
            if isinstance(sources, Mapping):
                # An error about several keys together has no key: name all places.
                keys = problem["loc"][:1] or sources
                places = [sources.get(str(key), "default") for key in keys]
                source = ", ".join(dict.fromkeys(places))
            lines.append(f"{source}: {_complaint(problem, model)}")
        raise ParameterError("\n".join(lines)) from None


def _complaint(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    """Return pydantic's error `problem` with the schema `model` in words: key, value
    and message. An error about several keys gives the message alone."""
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "missing":
        return f"{name}: required, but not given"
    message: str = problem["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if not name:
        return message
    if problem["type"] == "extra_forbidden":
        message = "unknown key"
        if len(problem["loc"]) == 1:
            message += nearest(name, model.model_fields)
    return f"{name} = {problem['input']!r}: {message}"
