"""The protocols of engines, and the error of a request that failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol, runtime_checkable

from codestress.inference.registry import ModelEntry
from codestress.types import Outcome, Prompt, Request, Response


class Engine(Protocol):
    """An engine: answers requests for one model, one by one. The function `open_engine` of an
    engine's module makes it from a registry row."""

    concurrency: int
    """Maximum number of requests in flight at the same time."""
    submitted: set[str] = frozenset()  # type: ignore[assignment]
    """Keys of requests that were paid in an earlier run."""

    async def answer(self, request: Request) -> Response:
        """Returns the response to `request`. Raises `RequestFailed` where this request alone fails,
        and `EngineError` when no request can succeed."""
        ...

    async def close(self) -> None:
        """Closes the connections and processes that the engine opened."""
        return


@runtime_checkable
class BatchEngine(Protocol):
    """An engine that answers many requests for one model in one call: an engine in this process, a
    cluster or a provider's batch mode."""

    batch: int
    """Maximum number of requests in one call."""

    def answers(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """Yields each of `requests` as a pair with its response or its failure (`RequestFailed`),
        in the order in which they come. Raises `EngineError` when no request can succeed."""
        ...

    def submitted(self) -> set[str]:
        """Returns the keys of requests that an earlier run sent and that still wait for their
        responses: the engine finds them again, so that nobody pays twice. Empty for most
        engines."""
        return set()

    async def close(self) -> None:
        """Closes the connections and processes that the engine opened."""
        return


class RequestFailed(Exception):
    """Raised for one request that failed for a reason that is not the model's, after the engine's
    own retries. Its `outcome` says which: `timed out`, `does not fit`, `overloaded`, `cut reply`,
    else `harness error`."""

    def __init__(self, message: str, outcome: Outcome = Outcome.HARNESS_ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class AnswerTooLong(RequestFailed):
    """Raised where the server allows no answer of as many tokens as a request asks for (its
    `max_tokens`), whatever the prompt."""


def conversation(prompt: Prompt, begun: str = "") -> list[dict[str, str]]:
    """Returns the messages of `prompt` in the form that servers take, dictionaries of `role` and
    `content`. The text `begun`, a begun answer that the model is to continue, is added as the
    assistant's last message, unless it is empty."""
    messages = [
        {"role": message.role, "content": message.content}
        for message in prompt.messages
    ]
    return messages + ([{"role": "assistant", "content": begun}] if begun else [])


def own_settings(entry: ModelEntry) -> dict[str, Any]:
    """Returns the settings with which the server of the registry row `entry` is asked: the row's
    own, or, for the engine `ray`, those of its workers."""
    settings: dict[str, Any] = entry.settings
    if "worker" in settings:
        settings = settings["worker"].get("settings", {})
    return settings


def served_identity(entry: ModelEntry) -> str:
    """Returns a served model's part of its requests' keys: the revision of the registry row
    `entry`, then, where the settings of its engine or workers name them, the omitted parameters,
    another field for the longest answer, the reasoning effort and the chat template."""
    settings = own_settings(entry)
    identity = entry.revision
    if omitted := settings.get("omit"):
        identity += f" without {', '.join(omitted)}"
    if (limit := settings.get("max_tokens_field", "max_tokens")) != "max_tokens":
        identity += f" with {limit}"
    if effort := settings.get("reasoning_effort"):
        identity += f" effort {effort}"
    if template := settings.get("chat_template"):
        identity += f" {template}"
    return identity
