"""Options that several commands have, and what they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from codestress.errors import ParameterError

if TYPE_CHECKING:
    from codestress.pipeline.artefacts import Artefact


PROFILE = click.option("--profile", default="demo", show_default=True, help="A file in params/profiles/.")
SETTINGS = click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Overrides a parameter.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ARTEFACTS = click.argument("artefacts", nargs=-1, metavar="[PAPER | PAPER/ARTEFACT | PAPER/ARTEFACT@CHANGES]…")


@dataclass(frozen=True)
class Knobs:
    """What a command line says of parameters and models."""

    profile: str
    models: str = ""
    """Names and URLs."""
    settings: tuple[str, ...] = ()
    model_id: str = ""
    key_env: str = ""


OPTIONS = (
    PROFILE,
    click.option("--models", default="", help="Names from params/models.yaml, or URLs, separated by spaces or commas."),
    click.option("--id", "model_id", default="", help="Which model of a URL that offers several."),
    click.option("--key-env", default="", metavar="NAME", help="Environment variable with the key of a URL's server."),
    SETTINGS,
)


def with_knobs(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options to a command, which gets them as `knobs`."""

    @wraps(command)
    def taken(**given: Any) -> None:
        knobs = Knobs(**{field.name: given.pop(field.name) for field in fields(Knobs)})
        command(knobs=knobs, **given)

    for option in reversed(OPTIONS):
        taken = option(taken)
    return taken


def resolved(artefacts: tuple[str, ...], knobs: Knobs, *, ask: bool = False) -> list[Artefact]:
    """The artefacts with their parameters; `ask` says whether servers that URLs name may be asked something.

    PAPER/ARTEFACT@CHANGES has those of its manifest, and no others.
    """
    from codestress.inference.probe import row_at
    from codestress.inference.registry import load_registry
    from codestress.pipeline.artefacts import Overrides, again, load_profile, resolve, select

    mine = [name for name in artefacts if "@" in name]
    if mine and (knobs.models or knobs.settings):
        raise ParameterError(f"{mine[0]}: has parameters of its own; change those of {mine[0].partition('@')[0]}")
    found = [again(name) for name in mine]
    if mine and len(mine) == len(artefacts):
        return found
    models = [
        row_at(name, knobs.model_id, knobs.key_env, ask=ask).name if "://" in name else name
        for name in knobs.models.replace(",", " ").split()
    ]
    names = select([name for name in artefacts if name not in mine], load_profile(knobs.profile))
    return found + resolve(names, knobs.profile, Overrides(tuple(models), knobs.settings), load_registry())


def where_of(texts: tuple[str, ...]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ParameterError(f"--where {text!r}: expected FACTOR=VALUE, for instance --where d=15")
    return dict(text.split("=", 1) for text in texts)


def exit_where(failed: object) -> None:
    """Ends the command with 1 where something is wrong."""
    if failed:
        raise click.exceptions.Exit(1)
