"""Validation of YAML files and command line options by pydantic models, with errors that name the
remedy."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from codestress.errors import ParameterError
from codestress.paths import shown


class Strict(BaseModel):
    """Base of all schemas for params/: unknown keys and wrong types are errors, never coerced."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, defer_build=True
    )


Checked = TypeVar("Checked", bound=BaseModel)


class UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C, ten times as fast
    """YAML loader that fails on a key that appears twice in a mapping; plain YAML would drop the
    first."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        keys = [
            key.value
            for key, _ in node.value
            if isinstance(key, yaml.ScalarNode) and key.value != "<<"
        ]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", node.start_mark
                )
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


DEEPEST = 100
"""Largest depth of nested collections in a file."""
SURELY_SHALLOW = 1000
"""Limit for a quick check: with fewer brackets, and fewer characters before a line's first key, a
file cannot be nested too deeply."""


def _check_depth(text: str) -> None:
    """Raises `YAMLError` where collections in the YAML `text` are nested more than `DEEPEST` levels
    deep, which would crash the parser written in C."""
    before = max(
        (len(line) - len(line.lstrip(" -?")) for line in text.splitlines()), default=0
    )
    if max(text.count("[") + text.count("{"), before) < SURELY_SHALLOW:
        return
    depth = 0
    for event in yaml.parse(text, Loader=UniqueKeys):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels {event.start_mark}")


def nearest(name: str, valid: Iterable[str]) -> str:
    """Advice for the end of an error message: `; did you mean 'x'?` with the name in `valid`
    closest to `name`, or `; valid names: …` with all of them when none is close."""
    names = sorted(valid)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return (
        f"; did you mean {close[0]!r}?"
        if close
        else f"; valid names: {', '.join(names)}"
    )


def read_yaml(path: Path) -> dict[str, Any]:
    """Mapping in the YAML file at `path`; empty for an empty file. `ParameterError` for a file that
    cannot be read, is not valid YAML or holds no mapping."""
    try:
        text = path.read_text(encoding="utf-8")
        _check_depth(text)
        content = yaml.load(text, Loader=UniqueKeys)
    except OSError as error:
        raise ParameterError(
            f"{shown(path)}: cannot be read: {error.strerror}"
        ) from None
    except (
        yaml.YAMLError,
        ValueError,
        RecursionError,
        AttributeError,
        KeyError,
    ) as error:  # as its parts fail
        raise ParameterError(
            f"{shown(path)}: is not valid YAML: {' '.join(str(error).split())}"
        ) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ParameterError(
            f"{shown(path)}: must be a mapping of keys to values, not {type(content).__name__}"
        )
    return content


def read_rows(path: Path, model: type[Checked]) -> dict[str, Checked]:
    """Rows of the YAML file at `path` by name, each validated by the schema `model`; empty where
    the file does not exist. `ParameterError` for an unreadable file or an invalid row."""
    rows = read_yaml(path) if path.is_file() else {}
    return {
        name: check(model, row, f"{shown(path)}: {name}") for name, row in rows.items()
    }


def one_of(what: str, kits: Iterable[str], file: Callable[[], Path]) -> Any:
    """Returns a validator (for `Annotated`) of a parameter that must be one of the names in `kits`,
    or the name of a row in the user's YAML file, whose path `file()` returns.

    The validator raises `ValueError` with the nearest name for any other; `what` says in the
    message what the parameter names.
    """

    def known(name: str) -> str:
        names = (*kits, *(read_yaml(file()) if file().is_file() else ()))
        if name not in names:
            raise ValueError(
                f"no such {what}{nearest(name, names)}; your own are rows of {shown(file())}"
            )
        return name

    return AfterValidator(known)


def check(
    model: type[Checked], values: Any, sources: Mapping[str, str] | str
) -> Checked:
    """Returns the mapping `values` as an instance of the schema `model`. `ParameterError` lists all
    complaints, each with source (file or option), key, value and nearest valid name.

    `sources` says where each top-level key was written, or is the one place of all keys.
    """
    if not isinstance(values, Mapping):
        place = (
            sources
            if isinstance(sources, str)
            else next(iter(sources.values()), "default")
        )
        raise ParameterError(
            f"{place}: must be a mapping of keys to values, not {values!r:.60}"
        )
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        lines = []
        for problem in error.errors(include_url=False):
            location = [str(part) for part in problem["loc"]]
            key = location[0] if location else ""
            source = (
                sources if isinstance(sources, str) else sources.get(key, "default")
            )
            if problem["type"] == "extra_forbidden":
                fields, now = _fields(model, location[:-1]), RENAMED.get(location[-1])
                advice = (
                    f"is called {now!r} now"
                    if now in fields
                    else "unknown key" + nearest(location[-1], fields)
                )
            elif problem["type"] == "missing":
                advice = "required, but not given"
            else:
                message = problem["msg"].removeprefix("Value error, ")
                advice = message[0].lower() + message[1:]
            value = (
                ""
                if problem["type"] == "missing" or not location
                else f" = {problem['input']!r}"
            )
            lines.append(
                f"{source}: {'.'.join(location) or 'the whole'}{value}: {advice}"
            )
        raise ParameterError("\n".join(lines)) from None


RENAMED = {
    "n_seeds": "n_programs",
    "place": "depth",
    "seeds": "programs",
    "target_place": "depth",
}
"""Current names of parameters, by their names in earlier versions."""


def _fields(model: type[BaseModel], location: list[str]) -> list[str]:
    for part in location:
        field = model.model_fields.get(part)
        annotation = field.annotation if field else None
        nested = [
            a
            for a in (annotation, *getattr(annotation, "__args__", ()))
            if isinstance(a, type)
        ]
        models = [a for a in nested if issubclass(a, BaseModel)]
        if models:
            model = models[0]
    return list(model.model_fields)
