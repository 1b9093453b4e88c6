"""Options that several commands share, and the artefacts, models and factors that they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from codestress.artefact_files import load_profile
from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.pipeline.artefacts import Artefact, Overrides, resolve, select

MODEL_ID = click.option(
    "--id", "model_id", default="", help="Which model of a URL that offers several."
)
KEY_ENV = click.option(
    "--key-env",
    default="",
    metavar="NAME",
    help="Environment variable with the key of a URL's server.",
)
PROFILE = click.option(
    "--profile", default="demo", show_default=True, help="A file in params/profiles/."
)
SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Overrides a parameter.",
)
WHERE = click.option(
    "--where",
    multiple=True,
    metavar="FACTOR=VALUE",
    help="Only questions with this factor, e.g. d=15; of one model, for instance model=sim-near.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ARTEFACTS = click.argument("artefacts", nargs=-1, metavar="[PAPER | PAPER/ARTEFACT]…")


LONGEST_MINUTES = 24 * 60


def minutes_option(default: float | None, text: str) -> Callable[[Any], Any]:
    """Returns a decorator that adds the option `--minutes` to a command: a number above 0, at most
    `LONGEST_MINUTES`. `default` is its value when not given (None: no limit), `text` its help."""

    def checked(
        context: click.Context, option: click.Parameter, minutes: float | None
    ) -> float | None:
        # A comparison with nan is never true.
        if minutes is not None and not 0 < minutes <= LONGEST_MINUTES:
            raise click.BadParameter(
                f"{minutes:g}: must be above 0 and at most {LONGEST_MINUTES}",
                context,
                option,
            )
        return minutes

    return click.option(
        "--minutes",
        type=float,
        default=default,
        show_default=default is not None,
        callback=checked,
        help=text,
    )


@dataclass(frozen=True)
class Knobs:
    """Options of a command line as typed: profile, models, a model's id and key variable, and
    changed settings."""

    profile: str
    models: str = ""
    """Models to ask, separated by spaces or commas: names from params/models.yaml, URLs, or
    FILE.py:FUNCTION; empty: those in the artefact's parameters."""
    settings: tuple[str, ...] = ()
    model_id: str = ""
    key_env: str = ""


OPTIONS = (
    PROFILE,
    click.option(
        "--models",
        default="",
        help="Names from params/models.yaml, URLs, or FILE.py:FUNCTION, separated by spaces or commas.",
    ),
    MODEL_ID,
    KEY_ENV,
    SETTINGS,
)


def with_knobs(command: Callable[..., None]) -> Callable[..., None]:
    """Returns `command` with the added options `--profile`, `--models`, `--id`, `--key-env` and
    `--set`, which it gets together as its argument `knobs`, a `Knobs`."""

    @wraps(command)
    def taken(**given: Any) -> None:
        knobs = Knobs(**{field.name: given.pop(field.name) for field in fields(Knobs)})
        command(knobs=knobs, **given)

    for option in reversed(OPTIONS):
        taken = option(taken)
    return taken


def resolved(
    artefacts: tuple[str, ...], knobs: Knobs, *, ask: bool = False
) -> list[Artefact]:
    """Returns the artefacts that a person named in `artefacts`, with parameters checked and changed
    by `knobs`; none named: all of the profile. `ask` says whether short requests may try models
    given by URL or as FILE.py:FUNCTION. `ParameterError` for unknown names."""
    from codestress.inference.probe import name_of

    models = [
        name_of(model, knobs.model_id, knobs.key_env, ask=ask)
        for model in knobs.models.replace(",", " ").split()
    ]
    names = select(artefacts, load_profile(knobs.profile))
    overrides = Overrides(tuple(models), knobs.settings)
    return resolve(names, knobs.profile, overrides, load_registry())


def where_of(texts: tuple[str, ...]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ParameterError(
                f"--where {text!r}: expected FACTOR=VALUE, for instance --where d=15"
            )
    return dict(text.split("=", 1) for text in texts)


def exit_where(failed: object) -> None:
    """Ends the command with exit status 1 where `failed` is true or not empty."""
    if failed:
        raise click.exceptions.Exit(1)
