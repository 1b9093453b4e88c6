"""What an engine is, and how it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from codestress.types import Outcome, Prompt, Request, Response

if TYPE_CHECKING:
    from codestress.inference.registry import ModelEntry


class Engine(Protocol):
    """Answers requests for one model. Made by `open_engine(entry)` of its module."""

    concurrency: int
    """Requests in flight at once."""
    submitted: set[str] = frozenset()  # type: ignore[assignment]
    """Keys of requests that are paid already."""

    async def answer(self, request: Request) -> Response:
        """The response; raises `RequestFailed` for this request, `EngineError` when none can succeed."""
        ...

    async def close(self) -> None:
        """Ends what was opened."""
        return


@runtime_checkable
class BatchEngine(Protocol):
    """Answers many requests for one model at once: an engine in process, a cluster, a provider's batch mode."""

    batch: int
    """Requests in one call, at most."""

    def answers(self, requests: Sequence[Request]) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """Each request with what became of it, as they come; raises `EngineError` when none can succeed."""
        ...

    def submitted(self) -> set[str]:
        """Keys of requests whose outcomes are still to come from before: they are found again, and not paid twice."""
        return set()

    async def close(self) -> None:
        """Ends what was opened."""
        return


class RequestFailed(Exception):
    """One request failed for a reason that is not the model's, after the engine's own retries."""

    def __init__(
        self, message: str, reason: Literal[Outcome.TIMEOUT, Outcome.HARNESS_ERROR] = Outcome.HARNESS_ERROR
    ) -> None:
        super().__init__(message)
        self.outcome = reason


def conversation(prompt: Prompt, begun: str = "") -> list[dict[str, str]]:
    """The messages as servers take them, a begun answer as the last one."""
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    return messages + ([{"role": "assistant", "content": begun}] if begun else [])


def served_identity(entry: ModelEntry, asked_by: Mapping[str, Any] | None = None) -> str:
    """What enters the keys of a model on a server: its revision, and what requests to it omit or add, by the settings
    of its row or of the engine that it names."""
    settings = entry.settings if asked_by is None else asked_by
    omitted, effort, template = (settings.get(name) for name in ("omit", "reasoning_effort", "chat_template"))
    without = f" without {', '.join(omitted)}" if omitted else ""
    return f"{entry.revision}{without}{f' effort {effort}' if effort else ''}{f' {template}' if template else ''}"
