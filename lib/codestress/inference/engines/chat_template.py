"""Prompts as text, for servers that continue whatever they get: written by a model's own chat template, a file of
params/templates."""

from __future__ import annotations

from functools import cache

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from codestress.errors import EngineError
from codestress.paths import PARAMS, shown
from codestress.validation import nearest

TEMPLATES = PARAMS / "templates"


def render(template: str, messages: list[dict[str, str]]) -> str:
    """The prompt as a model's own chat template writes it, up to where its answer begins."""
    try:
        return _template(template).render(messages=messages, add_generation_prompt=True)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise EngineError(f"{shown(TEMPLATES / template)}: cannot write this prompt: {error}") from None


@cache
def _template(name: str) -> Template:
    path = TEMPLATES / name
    if not path.is_file():
        names = sorted(one.name for one in TEMPLATES.glob("*.jinja"))
        raise EngineError(f"settings.chat_template = {name!r}: not in {shown(TEMPLATES)}{nearest(name, names)}")
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except (TemplateError, OSError, ValueError, RecursionError) as error:
        raise EngineError(f"{shown(path)}: is no chat template: {error}") from None
