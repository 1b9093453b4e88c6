"""Prompts rendered as text by a model's own chat template (a file in params/templates), for servers
that continue any text."""

from __future__ import annotations

from jinja2 import FileSystemLoader, StrictUndefined, TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment

from codestress.errors import EngineError
from codestress.paths import PARAMS, shown, visible
from codestress.validation import nearest

TEMPLATES = PARAMS / "templates"
ENVIRONMENT = ImmutableSandboxedEnvironment(
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
    loader=FileSystemLoader(TEMPLATES),
)


def render(template: str, messages: list[dict[str, str]]) -> str:
    """Returns `messages` as one text, up to where the answer begins, rendered by the chat template
    in the file `template` of params/templates. Raises `EngineError` where the file is missing or
    the template fails."""
    try:
        compiled = ENVIRONMENT.get_template(template)
        return compiled.render(messages=messages, add_generation_prompt=True)
    except TemplateNotFound:
        names = [file.name for file in visible(TEMPLATES, "*.jinja")]
        raise EngineError(
            f"settings.chat_template = {template!r}: not in {shown(TEMPLATES)}{nearest(template, names)}"
        ) from None
    except Exception as error:  # whatever a template's code raises
        raise EngineError(
            f"{shown(TEMPLATES / template)}: cannot render the prompt: {error}"
        ) from None
