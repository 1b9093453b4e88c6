"""Prompts rendered as text by a model's own chat template (a file in params/templates), for servers
that continue any text."""

from __future__ import annotations

from functools import cache

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from codestress.errors import EngineError
from codestress.paths import PARAMS, shown, visible
from codestress.validation import nearest

TEMPLATES = PARAMS / "templates"


def render(template: str, messages: list[dict[str, str]]) -> str:
    """Returns `messages` as one text, up to where the answer begins, rendered by the chat template
    in the file `template` of params/templates. Raises `EngineError` where the file is missing or
    the template fails."""
    try:
        return _template(template).render(messages=messages, add_generation_prompt=True)
    except Exception as error:  # whatever a template's code raises
        if isinstance(error, EngineError):
            raise
        path = shown(TEMPLATES / template)
        raise EngineError(
            f"{path}: this chat template cannot render the prompt: {error}"
        ) from None


@cache
def _template(name: str) -> Template:
    path = TEMPLATES / name
    if not path.is_file():
        names = [file.name for file in visible(TEMPLATES, "*.jinja")]
        raise EngineError(
            f"settings.chat_template = {name!r}: not in {shown(TEMPLATES)}{nearest(name, names)}"
        )
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    try:
        return environment.from_string(path.read_text(encoding="utf-8"))
    except (TemplateError, OSError, ValueError, RecursionError) as error:
        raise EngineError(f"{shown(path)}: is no chat template: {error}") from None
