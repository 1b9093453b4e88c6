"""Options that several commands have, and what they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from codestress.errors import ParameterError

if TYPE_CHECKING:
    from codestress.pipeline.artefacts import Artefact


PROFILE = click.option("--profile", default="demo", show_default=True, help="A file in params/profiles/.")
MODELS = click.option("--models", default="", help="Names from params/models.yaml, separated by spaces or commas.")
SETTINGS = click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Overrides a parameter.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ARTEFACTS = click.argument("artefacts", nargs=-1, metavar="[PAPER | PAPER/ARTEFACT]…")


def resolved(artefacts: tuple[str, ...], profile: str, models: str, settings: tuple[str, ...]) -> list[Artefact]:
    from codestress.inference.registry import load_registry
    from codestress.pipeline.artefacts import Overrides, load_profile, resolve, select

    names = select(artefacts, load_profile(profile))
    overrides = Overrides(tuple(models.replace(",", " ").split()), settings)
    return resolve(names, profile, overrides, load_registry())


def where_of(texts: tuple[str, ...]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ParameterError(f"--where {text!r}: expected FACTOR=VALUE, for instance --where d=15")
    return dict(text.split("=", 1) for text in texts)


CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that tell a terminal to do something, or to show a text in another order."""


def printable(text: str) -> str:
    """The text with control characters spelled out, as `repr` does; lines and tabs stay."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
