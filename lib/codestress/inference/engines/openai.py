"""The engine of any OpenAI-compatible endpoint (the OpenAI API, `vllm serve`, others):
its settings and the bodies of its requests.

OpenAI's client takes a second to import, and is loaded only when an engine is opened.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from codestress.errors import EngineError
from codestress.paths import PARAMS, shown, visible
from codestress.types import Request
from codestress.validation import Strict, nearest

from ..network import base_of, is_openai
from ..progress import say
from ..registry import ModelEntry
from . import dialects
from .base import conversation

if TYPE_CHECKING:
    from .openai_engine import OpenAIEngine

TEMPLATES = PARAMS / "templates"


class Settings(Strict):
    """A registry row's `settings` for the engine `openai` (params/models.yaml)."""

    base_url: str = "https://api.openai.com/v1"
    base_url_env: str | None = None
    """Environment variable whose value, if set, replaces `base_url`."""
    key_env: str | None = None
    """Environment variable that holds the key; empty if the server needs no key. None
    means OPENAI_API_KEY at OpenAI's own address, and no key elsewhere."""
    endpoint: Literal["chat", "completions"] = "chat"
    """Endpoint of the server. With `completions`, `chat_template` renders the prompt in
    this process, and any server then continues a begun answer."""
    chat_template: str = ""
    """A file in params/templates/, for `endpoint: completions`: the model's own chat
    template, in Jinja."""
    prefill: Literal["none", "vllm"] = "none"
    """Way in which a chat endpoint continues a begun answer: not at all, or by vLLM's
    `continue_final_message`. Whether the server continues the answer is verified before
    the first request that needs it."""
    concurrency: int = Field(default=16, ge=1)
    """Maximum number of requests, and of connections, in flight at the same time."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest time for one try in seconds, from sending to the last byte."""
    max_reply_bytes: int = Field(default=16_000_000, ge=1)
    """Longest reply in bytes, unpacked."""
    retries: int = Field(default=6, ge=0)
    """Maximum number of retries after the first try."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the limit of a completion's tokens; OpenAI's reasoning
    models know only `max_completion_tokens`."""
    omit: list[Literal["temperature", "top_p"]] = []
    """Sampling parameters that the server does not let a request set, so that they are
    not sent. OpenAI's reasoning models need both omitted."""
    roles: Literal["any", "alternating", "no system"] = "any"
    """Roles of messages that the server takes.

    "any" means any order. "alternating" means that neighbouring messages never share a
    role, so that such messages are united. "no system" means the same as "alternating"
    and, in addition, that the system message's text is sent at the front of the user's
    turn.
    """
    reasoning_effort: Literal["", "low", "medium", "high"] = ""
    """Reasoning effort of OpenAI's reasoning models; not sent if empty."""

    @property
    def override(self) -> str:
        """Address that replaces `base_url`: the value of the environment variable that
        `base_url_env` names. Empty if `base_url_env` names no variable, or the variable
        is unset."""
        return os.environ.get(self.base_url_env or "", "")

    @property
    def address(self) -> str:
        """Address of the server, without an endpoint's path; an invalid address is left
        as it is."""
        url = self.override or self.base_url
        with suppress(ValueError):
            return base_of(url)
        return url

    @property
    def key_variable(self) -> str:
        """Environment variable that holds the key; empty if no key is sent."""
        if self.key_env is None:
            return "OPENAI_API_KEY" if is_openai(self.address) else ""
        return self.key_env

    @model_validator(mode="after")
    def _template_where_needed(self) -> Settings:
        if (self.endpoint == "completions") != bool(self.chat_template):
            raise ValueError(
                "`chat_template` belongs to `endpoint: completions`, and is needed there"
            )
        return self


def open_engine(entry: ModelEntry) -> OpenAIEngine:
    """Return an engine that asks the model of the registry row `entry`.

    Raises `EngineError`, before any request, if the key is unset or the address is
    invalid.
    """
    from .openai_engine import OpenAIEngine

    return OpenAIEngine(entry, Settings.model_validate(entry.settings))


def address_of(name: str, settings: Settings) -> str:
    """Return the address at which the server of the model `name` is asked, according to
    its `settings`.

    The address is printed if it differs from the address in the settings. Raises
    `EngineError` for an invalid address.
    """
    url = settings.override or settings.base_url
    try:
        address = base_of(url)
    except ValueError as fault:
        # An environment variable may hold a secret by mistake: its value is never shown.
        source = "settings.base_url"
        if settings.override:
            source = f"the environment variable {settings.base_url_env}"
        raise EngineError(f"{name}: {source} {fault}") from None
    if address != url.rstrip("/"):
        say(f"{name}: its server is asked at {address}")
    return address


def key_in(variable: str, who: str) -> str:
    """Return the key that the environment variable `variable` holds; empty if
    `variable` is empty.

    Raises `EngineError`, whose message begins with `who`, if the variable is unset or
    blank, or if a character within its value is a space, a line break or outside ASCII.
    """
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key or not all("!" <= character <= "~" for character in key):
        # A text that is not a variable's name may be the key itself.
        name = variable if variable.isupper() else "<key_env>"
        raise EngineError(
            f"{who}: the environment variable {name} holds no key, which is ASCII without "
            f"spaces.\nexport {name}=… with your key, or run offline with MODELS=sim-near"
        )
    return key


def request_body(
    request: Request, settings: Settings, spoken: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the JSON body that is sent for `request`, as a dictionary.

    For the chat endpoint, the body has messages. If `settings.endpoint` is
    `completions`, the body has one text, rendered with the chat template. `spoken`
    names dialects (forms of requests that some servers need, see `dialects`) to which
    the body is adapted beyond the settings. Raises `EngineError` if the template fails.
    """
    if spoken:
        changed = dialects.applied(vars(settings), spoken)
        settings = settings.model_copy(update=changed)
    prompt = dialects.shown_to(request.prompt, settings.roles)
    sampling = prompt.sampling
    body: dict[str, Any] = {"model": request.model}
    for name in ("temperature", "top_p"):
        if name not in settings.omit:
            body[name] = getattr(sampling, name)
    body[settings.max_tokens_field] = sampling.max_tokens
    if settings.reasoning_effort:
        body["reasoning_effort"] = settings.reasoning_effort
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if settings.endpoint == "completions":
        text = rendered(settings.chat_template, conversation(prompt))
        body["prompt"] = text + prompt.prefill
        return body
    body["messages"] = conversation(prompt, prompt.prefill)
    if prompt.prefill:
        # Without both flags vLLM closes the begun turn and starts another, silently.
        body["add_generation_prompt"] = False
        body["continue_final_message"] = True
    return body


def rendered(template: str, messages: list[dict[str, str]]) -> str:
    """Return `messages` as one text up to the beginning of the answer, rendered with
    the chat template in the file `template` of params/templates.

    Raises `EngineError` if the file is missing or the template fails.
    """
    try:
        compiled = _templates().get_template(template)
        return str(compiled.render(messages=messages, add_generation_prompt=True))
    except Exception as error:  # whatever a template's code raises
        fault = f"cannot render the prompt: {error}"
        if not (TEMPLATES / template).is_file():
            names = [file.name for file in visible(TEMPLATES, "*.jinja")]
            fault = f"not in {shown(TEMPLATES)}{nearest(template, names)}"
        raise EngineError(f"settings.chat_template = {template!r}: {fault}") from None


@cache
def _templates() -> Any:
    # Imported late: few servers need Jinja.
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=FileSystemLoader(TEMPLATES),
    )
