"""Options that commands of the console script and of papers share, and the artefacts,
models and factors that these options name."""

import json
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, NamedTuple

import click

from codestress.artefact_files import load_profile
from codestress.errors import ParameterError
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


class Choice(NamedTuple):
    """Artefacts as a command line names and changes them: by a profile, models, a
    model's id and key variable, and settings."""

    artefacts: tuple[str, ...] = ()
    """Names of papers or artefacts; empty for all artefacts of the profile."""
    profile: str = "demo"
    models: str = ""
    """Models to ask, separated by spaces or commas: names from params/models.yaml,
    URLs, or FILE.py:FUNCTION. Empty: the models in the artefact's parameters."""
    settings: tuple[str, ...] = ()
    model_id: str = ""
    key_env: str = ""

    def resolved(self, *, ask: bool = False) -> list[Artefact]:
        """Return the artefacts, with parameters checked and changed.

        `ask` says whether short requests may be sent to try models named by a URL or as
        FILE.py:FUNCTION. Raises `ParameterError` for unknown names.
        """
        from codestress.inference.served import name_of

        models = []
        for model in self.models.replace(",", " ").split():
            models.append(name_of(model, self.model_id, self.key_env, ask=ask))
        names = select(self.artefacts, load_profile(self.profile))
        return resolve(names, self.profile, models, self.settings)

    def only(self) -> Artefact:
        """Return the only artefact. Raises `ParameterError` as `resolved` does, and for
        a name of several artefacts."""
        artefact, *others = self.resolved()
        if others:
            names = " ".join(self.artefacts)
            raise ParameterError(f"{names}: name one artefact, such as {artefact.name}")
        return artefact


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
Command = Callable[..., None]


def _choosing(command: Command, metavar: str, required: bool) -> Command:
    """Return `command` with an argument for artefacts and with `OPTIONS`. The command
    gets them together as its argument `choice`, a `Choice`."""

    @wraps(command)
    def wrapped(**options: Any) -> None:
        command(choice=Choice(*map(options.pop, Choice._fields)), **options)

    for option in reversed(OPTIONS):
        wrapped = option(wrapped)
    names = click.argument("artefacts", nargs=-1, metavar=metavar, required=required)
    return names(wrapped)


on_artefacts = partial(_choosing, metavar="[PAPER | PAPER/ARTEFACT]…", required=False)
"""Decorator of a command on artefacts; without names, all of the profile."""
on_artefact = partial(_choosing, metavar="PAPER/ARTEFACT", required=True)
"""Decorator of a command on one artefact."""


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
