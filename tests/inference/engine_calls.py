"""Requests to the engine `openai`, and the outcomes that a server on loopback gives them."""

from __future__ import annotations

from typing import Any

import pytest

from codestress.types import Message, Prompt, Request, Response, Sampling
from openai_server import Behaviour, OpenAIServer, Received, Reply, completion, echo
from served import entry, responses
from told import names

WHOLE = completion("4").body
"""Body of a reply that is a completion."""


def question(
    text: str = "What is 6 × 7?", prefill: str = "", **sampling: Any
) -> Request:
    messages = (Message("system", "Be brief."), Message("user", text))
    return Request("served-1", "r1", Prompt(messages, Sampling(**sampling), prefill))


def ask(
    server: OpenAIServer | str, *requests: Request, **settings: Any
) -> list[Response]:
    """Send all requests at once and return their responses; raise the first failure."""
    row = entry(server, **settings)
    return responses(row, *(requests or [question()]), at_once=True)


def answer(reply: Reply | Behaviour, **settings: Any) -> Response:
    """Return the response to one question, which a server answers by `reply`."""
    behaviour = reply if callable(reply) else lambda _: reply
    with OpenAIServer(behaviour) as server:
        [response] = ask(server, **settings)
    return response


def error_of(
    reply: Reply,
    kind: type[Exception],
    *parts: object,
    tries: int = 1,
    **settings: Any,
) -> Any:
    """Return the error, with `parts` in its message, of a question whose every try gets `reply`."""
    with OpenAIServer(lambda _: reply) as server, pytest.raises(kind) as caught:
        ask(server, **settings)
    assert len(server.requests) == tries
    names(caught.value, "served", "served-1", server.base_url, *parts)
    return caught.value


def first_then(reply: Reply, times: int = 1) -> Behaviour:
    """Return a behaviour: `reply` for the first `times` requests with a prompt, then an echo."""

    def behaviour(received: Received) -> Reply:
        return reply if received.seen < times else echo(received)

    return behaviour
