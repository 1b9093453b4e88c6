"""Servers that speak a dialect of the protocol: found by their refusals, said once, and part of the keys."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.dialects import DIALECTS, shown_to
from codestress.types import Message, Prompt, Response, Sampling
from openai_server import Behaviour, OpenAIServer, Received, Reply, as_json, echo
from served import entry, responses
from told import names, refused

SYSTEM, USER = Message("system", "Be brief."), Message("user", "What is 6 × 7?")
Body = dict[str, Any]


def ask(server: OpenAIServer, *messages: Message) -> Response:
    [response] = responses(
        entry(server), Prompt(messages or (SYSTEM, USER), Sampling())
    )
    return response


def failing(status: int, error: object) -> Reply:
    return as_json({"error": error}, status=status)


def roles_of(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


def repeats_a_role(body: Body) -> bool:
    roles = [role for role in roles_of(body) if role != "system"]
    return any(role == after for role, after in itertools.pairwise(roles))


REFUSED: dict[str, Callable[[Body], bool]] = {
    "max_completion_tokens": lambda body: "max_tokens" in body,
    "temperature": lambda body: "temperature" in body,
    "top_p": lambda body: {"temperature", "top_p"} <= body.keys(),
    "system": lambda body: "system" in roles_of(body),
    "turns": repeats_a_role,
}
"""Requests that a server refuses, by the dialect that it speaks."""


def server_of(name: str, reply: Reply) -> Behaviour:
    """Return a server that speaks a dialect: it refuses other requests by `reply`."""
    return lambda received: reply if REFUSED[name](received.body) else echo(received)


@pytest.mark.parametrize(
    ("name", "status", "error"),
    [
        ("max_completion_tokens", 400, "未知参数 max_tokens"),
        ("max_completion_tokens", 404, "max_tokens: see https://a.example/2.10/v/1234"),
        ("max_completion_tokens", 403, "unknown: max_tokens"),
        ("max_completion_tokens", 503, "unknown: max_tokens"),
        ("max_completion_tokens", 422, {"param": "max_tokens", "code": "unsupported"}),
        ("max_completion_tokens", 422, [{"loc": ["max_tokens"], "input": 64}]),
        ("temperature", 400, "温度参数非法"),
        ("temperature", 500, "Die Temperatur ist fest"),
        ("temperature", 422, {"0": {"cause": "sampling parameters are fixed"}}),
        ("top_p", 400, "Solo uno: temperature o top_p"),
        ("top_p", 500, "temperature: conflicts with nucleus sampling"),
        ("system", 400, "Developer instruction is not enabled for models/gemma-3"),
        ("system", 500, "chat template error: raise_exception was called"),
        ("system", 400, "システムロールは使用できません"),
        ("system", 422, "Le rôle « système » est inconnu"),
        ("system", 400, {"message": "No role", "input": {"temperature": 0}}),
        ("turns", 400, "Conversation roles must alternate user/assistant/..."),
        ("turns", 500, "messages: los turnos deben alternarse"),
        ("turns", 400, "角色必须交替"),
    ],
)
def test_a_dialect_is_found_by_the_first_refusal_and_reported_once(
    name: str, status: int, error: object, capsys: pytest.CaptureFixture[str]
) -> None:
    last = Message("user", "Say it.") if name == "turns" else USER
    messages = [SYSTEM, USER, last]
    if name != "turns":
        messages.insert(2, Message("assistant", "…"))
    with OpenAIServer(server_of(name, failing(status, error))) as server:
        response = ask(server, *messages)
    assert response.dialects == (name,)
    assert response.text.startswith("echo ")
    [line] = capsys.readouterr().err.splitlines()
    names(line, "served", DIALECTS[name].line)


def test_a_server_may_speak_several_dialects() -> None:
    messages = (SYSTEM, USER, Message("user", "Say it."))
    words = {
        "max_completion_tokens": "use max_completion_tokens",
        "top_p": "temperature excludes top_p",
        "system": "unknown role",
    }

    def speaks_all(received: Received) -> Reply:
        for name, text in words.items():
            if REFUSED[name](received.body):
                return failing(400, text)
        return echo(received)

    with OpenAIServer(speaks_all) as server:
        assert ask(server, *messages).dialects == tuple(words)
    text = "Be brief.\n\nWhat is 6 × 7?\n\nSay it."
    assert server.requests[-1].body == {
        "model": "served-1",
        "temperature": 0.0,
        "max_completion_tokens": 1024,
        "messages": [{"role": "user", "content": text}],
    }


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (("temperature is fixed", "top_p is fixed"), ("temperature", "top_p")),
        (("temperature and top_p are fixed",) * 2, ("top_p", "temperature")),
    ],
)
def test_parameters_are_left_out_in_the_order_in_which_refusals_name_them(
    words: tuple[str, str], order: tuple[str, str]
) -> None:
    """The order is part of the keys of answers."""

    def takes_neither(received: Received) -> Reply:
        for text, name in zip(words, ("temperature", "top_p"), strict=True):
            if name in received.body:
                return failing(400, text)
        return echo(received)

    with OpenAIServer(takes_neither) as server:
        assert ask(server).dialects == order


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "max_tokens is too large: 1024. This model supports at most 512 tokens"),
        (400, "maximum context length is 2048 tokens; reduce max_tokens or messages"),
        (400, "rate limit of this user reached"),
        (400, "该用户请求频率超过限制"),
        (403, "forbidden: this key has no access"),
    ],
)
def test_another_refusal_is_no_dialect(status: int, words: str) -> None:
    error = EngineError if status == 403 else RequestFailed
    with OpenAIServer(lambda _: failing(status, words)) as server:
        with refused(error, words[:40]):
            ask(server)
        assert len(server.requests) == 1


def test_an_error_that_passes_is_no_dialect() -> None:
    reply = failing(502, "error while reading messages")
    with OpenAIServer(
        lambda received: echo(received) if received.seen else reply
    ) as server:
        assert ask(server).dialects == ()
    assert server.requests[-1].body == server.requests[0].body


def test_a_change_that_does_not_help_is_dropped() -> None:
    reply = failing(400, "temperature, top_p, max_tokens and roles are wrong")
    with OpenAIServer(lambda _: reply) as server:
        with refused(RequestFailed, "served", "400", "temperature, top_p"):
            ask(server)
        assert len(server.requests) <= 20
    assert server.requests[0].body.keys() >= {"temperature", "top_p", "max_tokens"}


def test_messages_take_the_form_that_the_setting_for_roles_names() -> None:
    user, model = Message("user", "u"), Message("assistant", "a")
    own = Prompt((SYSTEM, user, user, model, SYSTEM, model), Sampling(), "It is")
    merged = shown_to(own, "alternating").messages
    assert merged == (SYSTEM, Message("user", "u\n\nu"), model, SYSTEM, model)
    first, later = Message("user", "Be brief.\n\nu\n\nu"), Message("user", "Be brief.")
    folded = shown_to(own, "no system")
    assert folded == replace(own, messages=(first, model, later, model))
    assert shown_to(own, "any") is own
    assert shown_to(folded, "no system") is folded
