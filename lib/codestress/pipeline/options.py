"""Options that commands of the console script and of papers share, and the artefacts,
models and factors that these options name."""

import json
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

import click

from codestress.artefact_files import load_profile
from codestress.literals import printable

from .artefacts import Artefact, resolve, select

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


Factors = dict[str, str]


def _factors(_context: object, _option: object, texts: Iterable[str]) -> Factors:
    """Return a dict from factor to value, from the texts FACTOR=VALUE of the option
    `--where`."""
    factors = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r}: expected FACTOR=VALUE, such as d=15")
        factors[name] = value
    return factors


WHERE = click.option(
    "--where",
    multiple=True,
    metavar="FACTOR=VALUE",
    callback=_factors,
    help="Only questions with this factor, e.g. d=15; of one model, for instance model=sim-near.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ARTEFACT = click.argument("artefact", metavar="PAPER/ARTEFACT")
ARTEFACTS = click.argument("artefacts", nargs=-1, metavar="[PAPER | PAPER/ARTEFACT]…")


LONGEST_MINUTES = 24 * 60


def minutes_of(text: str) -> float:
    """Return the number in `text`, for options `--minutes`: above 0 and at most
    `LONGEST_MINUTES`."""
    minutes = float(text)
    # A comparison with nan is never true.
    if not 0 < minutes <= LONGEST_MINUTES:
        raise click.BadParameter(
            f"{text}: must be above 0 and at most {LONGEST_MINUTES}"
        )
    return minutes


class Knobs(NamedTuple):
    """Options of a command line as typed: the profile, models, a model's id and key
    variable, and changed settings."""

    profile: str
    models: str = ""
    """Models to ask, separated by spaces or commas: names from params/models.yaml,
    URLs, or FILE.py:FUNCTION. Empty: the models in the artefact's parameters."""
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
    """Return `command` with the added options `--profile`, `--models`, `--id`,
    `--key-env` and `--set`.

    The command gets these options together as its argument `knobs`, a `Knobs`.
    """

    @wraps(command)
    def wrapped(**options: Any) -> None:
        command(knobs=Knobs(*map(options.pop, Knobs._fields)), **options)

    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def resolved(
    artefacts: tuple[str, ...], knobs: Knobs, *, ask: bool = False
) -> list[Artefact]:
    """Return the artefacts named in `artefacts` (empty: all of the profile), with
    parameters checked and changed by `knobs`.

    `ask` says whether short requests may be sent to try models named by a URL or as
    FILE.py:FUNCTION. Raises `ParameterError` for unknown names.
    """
    from codestress.inference.served import name_of

    models = []
    for model in knobs.models.replace(",", " ").split():
        models.append(name_of(model, knobs.model_id, knobs.key_env, ask=ask))
    names = select(artefacts, load_profile(knobs.profile))
    return resolve(names, knobs.profile, models, knobs.settings)


def exit_where(failed: object) -> None:
    """End the command with exit status 1 if `failed` is true or not empty."""
    if failed:
        raise click.exceptions.Exit(1)


def print_json(content: object, escaped: bool = True) -> None:
    """Print `content` as JSON, with non-ASCII characters escaped if `escaped`."""
    click.echo(json.dumps(content, indent=1, ensure_ascii=escaped))


def warn(message: str) -> None:
    """Print `message` on standard error, with its control characters spelled out."""
    click.echo(printable(message), err=True)
