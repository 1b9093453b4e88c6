"""Servers that speak a dialect of the protocol: asked as they want to be, said once, and under other keys."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference import ask as asking_module, registry
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.dialects import DIALECTS, adapted, shown_to
from codestress.inference.registry import ModelEntry, keep, load_registry
from codestress.inference.requests import request_of
from codestress.inference.served import checked, served_at
from codestress.inference.store import Store
from codestress.types import (
    Message,
    Prompt,
    Response,
    Sampling,
    Trials,
)
from conftest import ROOT, some
from openai_server import (
    Behaviour,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    echo,
)
from served import Served, entry, prompt, responses, trials_of
from told import names, refused

SYSTEM, USER = Message("system", "Be brief."), Message("user", "What is 6 × 7?")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(registry, "SERVED", tmp_path / "served.yaml")
    for module in (registry, asking_module):
        monkeypatch.setattr(module, "REGISTRY", tmp_path / "models.yaml")


def ask(server: OpenAIServer | str, *messages: Message, **sampling: Any) -> Response:
    asked = Prompt(messages or (SYSTEM, USER), Sampling(**sampling))
    [response] = responses(entry(server), asked)
    return response


def answered(reply: Reply, **sampling: Any) -> Response:
    with OpenAIServer(lambda _: reply) as server:
        return ask(server, **sampling)


def failing(status: int, words: object) -> Reply:
    return as_json({"error": words}, status=status)


# The dialects of requests, each with what its server refuses


def knows_no_max_tokens(body: dict[str, Any]) -> bool:
    return "max_tokens" in body


def takes_one_of_two(body: dict[str, Any]) -> bool:
    return {"temperature", "top_p"} <= body.keys()


def takes_no_temperature(body: dict[str, Any]) -> bool:
    return "temperature" in body


def has_no_system_role(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def wants_other_roles_in_turn(body: dict[str, Any]) -> bool:
    roles = [
        message["role"] for message in body["messages"] if message["role"] != "system"
    ]
    return any(role == after for role, after in itertools.pairwise(roles))


def wants_user_and_assistant_alone(body: dict[str, Any]) -> bool:
    """As templates of Mistral's first models: no system message, and roles alternate."""
    return has_no_system_role(body) or wants_other_roles_in_turn(body)


WORDINGS: dict[str, tuple[Callable[[dict[str, Any]], bool], list[str]]] = {
    "max_completion_tokens": (
        knows_no_max_tokens,
        [
            "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "未知参数 max_tokens",
            "max_tokens is deprecated since 2024-09-12, see https://errors.example/2.10/v/1234",
        ],
    ),
    "temperature": (
        takes_no_temperature,
        [
            "温度参数非法",
            "Die Temperatur ist fest",
            "sampling parameters are not supported",
            "'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
        ],
    ),
    "top_p": (
        takes_one_of_two,
        [
            "Solo uno: temperature o top_p",
            "temperature: conflicts with nucleus sampling",
        ],
    ),
    "system": (
        has_no_system_role,
        [
            "Developer instruction is not enabled for models/gemma-3",
            "The conversation must begin with a user prompt",
            "chat template error: raise_exception was called",
            "不支持该角色",
            "システムロールは使用できません",
            "시스템 역할은 지원되지 않습니다",
            "Le rôle « système » est inconnu",
            "Сообщения такого вида не поддерживаются",
        ],
    ),
    "turns": (
        wants_other_roles_in_turn,
        [
            "Conversation roles must alternate user/assistant/user/assistant/...",
            "messages: los turnos deben alternarse",
            "角色必须交替",
            "Auf eine Nutzernachricht muss eine Antwort folgen",
        ],
    ),
}
STRUCTURES: dict[str, Callable[[str], object]] = {
    "object": lambda words: {"error": {"message": words, "type": "invalid"}},
    "text": lambda words: {"error": words},
    "list": lambda words: {"detail": [{"loc": ["body"], "msg": words}]},
    "nested": lambda words: {"errors": {"0": {"cause": words}}, "status": 400},
    "echo": lambda words: {
        "detail": words,
        "input": {"temperature": 0, "max_tokens": 9},
    },
}


def refusing(refuses: Callable[[dict[str, Any]], bool], reply: Reply) -> Behaviour:
    return lambda received: reply if refuses(received.body) else echo(received)


@pytest.mark.parametrize(
    ("name", "words"),
    some([(name, text) for name, row in WORDINGS.items() for text in row[1]], 5),
)
def test_a_dialect_is_found_by_the_first_refusal(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refuses = WORDINGS[name][0]
    messages = (SYSTEM, USER, Message("assistant", "…"), USER)
    if name == "turns":
        messages = (SYSTEM, USER, Message("user", "Say it."))
    for status, (structure, made) in zip(
        (400, 404, 422, 500, 400), STRUCTURES.items(), strict=True
    ):
        if status == 404 and not re.search(r"[a-z]_[a-z]|emperature|ol|yst", words):
            continue  # a 404 in other letters means an unknown address or model
        reply = as_json(made(words), status=status)
        with OpenAIServer(refusing(refuses, reply)) as server:
            response = ask(server, *messages)
        assert response.dialects == (name,), structure
        assert not refuses(server.requests[-1].body)
        assert response.text.startswith("echo ")
        [line] = capsys.readouterr().err.splitlines()
        names(line, "served", DIALECTS[name].line)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((status, "unknown: max_tokens") for status in (403, 406, 415, 501, 502, 503)),
        (422, {"param": "max_tokens", "code": "unsupported_parameter"}),
        (422, [{"loc": ["body", "max_tokens"], "msg": "no", "input": 64}]),
        (422, {"max_tokens": ["desconocido"]}),
    ],
)
def test_a_dialect_is_found_by_any_status_and_by_the_field_that_names_it(
    status: int, body: object
) -> None:
    refuses = refusing(knows_no_max_tokens, failing(status, body))
    with OpenAIServer(refuses) as server:
        assert ask(server).dialects == ("max_completion_tokens",)
    assert "max_tokens" not in server.requests[-1].body
    assert server.requests[-1].body["max_completion_tokens"] == 1024


def test_several_dialects_at_once() -> None:
    def speaks_all(received: Received) -> Reply:
        for name, (refuses, words) in WORDINGS.items():
            if name != "temperature" and refuses(received.body):
                return failing(400, words[0])
        return echo(received)

    asked = (SYSTEM, USER, Message("user", "Say it."))
    with OpenAIServer(speaks_all) as server:
        response = ask(server, *asked)
    assert response.dialects == ("max_completion_tokens", "top_p", "system")
    text = "Be brief.\n\nWhat is 6 × 7?\n\nSay it."
    assert server.requests[-1].body == {
        "model": "served-1",
        "temperature": 0.0,
        "max_completion_tokens": 1024,
        "messages": [{"role": "user", "content": text}],
    }
    words = "After the beginning, conversation roles must alternate user/assistant"
    reply = failing(500, words)
    with OpenAIServer(refusing(wants_user_and_assistant_alone, reply)) as server:
        assert ask(server, *asked).dialects == ("system",)


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

    def picky(received: Received) -> Reply:
        for word, name in zip(words, ("temperature", "top_p"), strict=True):
            if name in received.body:
                return failing(400, word)
        return echo(received)

    with OpenAIServer(picky) as server:
        assert ask(server).dialects == order


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "max_tokens is too large: 1024. This model supports at most 512 tokens"),
        (400, "max_tokens: the limit is 512"),
        (400, "maximum context length is 2048 tokens; reduce max_tokens or messages"),
        (400, "the model has no such ability"),
        (400, "rate limit of this user reached"),
        (400, "该用户请求频率超过限制"),
        (403, "forbidden: this key has no access"),
        (403, "该密钥没有权限"),
    ],
)
def test_another_refusal_is_no_dialect(status: int, words: str) -> None:
    error = EngineError if status == 403 else RequestFailed
    reply = failing(status, {"message": words})
    with OpenAIServer(lambda _: reply) as server, refused(error, words[:40]):
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, "sampling failed: the probabilities hold nan"),
        (502, "error while reading messages"),
        (500, "temperature sensor"),
    ],
)
def test_an_error_that_passes_is_no_dialect(status: int, words: str) -> None:
    reply = failing(status, words)
    with OpenAIServer(
        lambda received: echo(received) if received.seen else reply
    ) as server:
        assert ask(server).dialects == ()
    assert server.requests[-1].body == server.requests[0].body


def test_a_change_that_does_not_help_is_not_kept() -> None:
    reply = failing(400, "temperature, top_p, max_tokens and roles are wrong")
    with (
        OpenAIServer(lambda _: reply) as server,
        refused(RequestFailed, "served", "400", "temperature, top_p"),
    ):
        ask(server)
    assert len(server.requests) <= 20
    assert server.requests[0].body.keys() >= {"temperature", "top_p", "max_tokens"}


def test_messages_without_a_system_role_and_in_turn() -> None:
    user, model = Message("user", "u"), Message("assistant", "a")
    prompt = Prompt((SYSTEM, user, user, model, SYSTEM, model), Sampling(), "It is")
    folded = shown_to(prompt, "no system")
    user_first, user_later = (
        Message("user", text) for text in ("Be brief.\n\nu\n\nu", "Be brief.")
    )
    assert folded == replace(prompt, messages=(user_first, model, user_later, model))
    merged = shown_to(prompt, "alternating").messages
    assert merged == (SYSTEM, Message("user", "u\n\nu"), model, SYSTEM, model)
    assert shown_to(prompt, "any") is prompt
    assert shown_to(folded, "no system") is folded


# The dialects of replies


REASONS: dict[str, list[str | None]] = {
    "stop": [None, "", "eos", "stop_sequence", "COMPLETE", "done", "fertig", "OTHER"],
    "length": [
        *("max_tokens", "model_length", "incomplete"),
        *("TOKEN_LIMIT_REACHED", "len", "exhausted", "num_predict"),
    ],
    "content_filter": [
        *("SAFETY", "content-filter", "refusal"),
        *("ERROR_TOXIC", "SPII", "LANGUAGE", "high_risk"),
    ],
}


@pytest.mark.parametrize(
    ("said", "expected"),
    some([(word, end) for end, words in REASONS.items() for word in words], 3),
)
def test_a_finish_reason_of_another_api(
    said: str | None, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    response = answered(completion("42", said))
    assert (response.text, response.finish_reason) == ("42", expected)
    assert response.dialects == ("finish_reason",)
    [line] = capsys.readouterr().err.splitlines()
    names(line, "served", DIALECTS["finish_reason"].line)


@pytest.mark.parametrize(
    ("choice", "tokens", "expected"),
    [
        ({}, 5, "stop"),
        ({}, 64, "length"),  # as many as were asked for: cut off
        ({"stop_reason": "max_tokens"}, 5, "length"),
        ({"finishReason": "MAX_TOKENS"}, 5, "length"),
        ({"done_reason": "length"}, 5, "length"),
        ({"finish_reason": "", "native_finish_reason": "SAFETY"}, 5, "content_filter"),
        ({"finish_reason": None, "stop_reason": 128009}, 5, "stop"),
    ],
)
def test_a_missing_finish_reason(
    choice: dict[str, Any], tokens: int, expected: str
) -> None:
    choice = {"message": {"content": "42"}, **choice}
    body = {"choices": [choice], "usage": {"completion_tokens": tokens}}
    assert answered(as_json(body), max_tokens=64).finish_reason == expected


INCOMPLETE = [
    *("tool_calls", "error", "cancelled", "network_error", {"a": "fail"}),
    *("preempted", "evicted", "disconnected", "shutdown", "internal", "killed"),
    *("in_progress", "running", "not_finished", "connection_refused"),
]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(("", said) for said in (None, "eos")),
        *(("42", said) for said in some(INCOMPLETE, 4)),
        ([{"type": "text", "content": "4"}], "content.text must be a text"),
    ],
)
def test_no_text_or_an_incomplete_one_is_no_answer(content: object, said: Any) -> None:
    named = "finish_reason" if isinstance(content, str) else said
    with refused(RequestFailed, named):
        answered(completion(content, said))


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Six sevens."}]}
TEXT = {"type": "text", "text": "4"}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([TEXT, {"type": "output_text", "text": "2"}], ("42", "stop")),
        ([THOUGHT, TEXT], ("4", "stop")),
        ([THOUGHT], ("", "reasoning")),
        ([], ("", "stop")),
        (["4", "2"], ("42", "stop")),
        (TEXT, ("4", "stop")),
        ([{"type": "reasoning_text", "text": "Six sevens."}, TEXT], ("4", "stop")),
    ],
)
def test_an_answer_in_parts(parts: object, expected: tuple[str, str]) -> None:
    response = answered(completion(parts))
    assert (response.text, response.finish_reason) == expected
    assert response.dialects == ("parts",)


# A whole run


def questions(count: int) -> Trials:
    texts = [Message("user", str(number)) for number in range(count)]
    return trials_of(*[Prompt((SYSTEM, text), Sampling()) for text in texts])


def test_a_run_adapts_once_and_keeps_answers_under_what_was_sent(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = failing(400, "role system unknown; temperature and top_p are exclusive")

    def refuses(body: dict[str, Any]) -> bool:
        return has_no_system_role(body) or takes_one_of_two(body)

    with OpenAIServer(refusing(refuses, reply)) as server:
        plain = load_registry(served.rows(server))["served"]
        results = served.run(questions(20))
        first = len(server.requests)
        # In its own process it would read the same file.
        again = served.run(questions(20))
        assert len(server.requests) == first
    assert {*results.answers["error"]} == {""}
    [row] = results.models
    assert (row.settings["roles"], row.settings["omit"]) == ("no system", ["top_p"])
    assert row.adapted == {name: DIALECTS[name].line for name in ("top_p", "system")}
    assert again.models == results.models == [load_registry(served.registry)["served"]]
    told = capsys.readouterr().err
    assert [told.count(line) for line in row.adapted.values()] == [1, 1]
    # Who writes the settings into the row has the same questions; the plain row has others.
    fixed = plain.settings | {"omit": ["top_p"], "roles": "no system"}
    written = ModelEntry(**plain.model_dump() | {"settings": fixed})
    trials = questions(20)
    sent, keys, unsent = (
        {request_of(trials, trial, model).key for trial in trials.items}
        for model in (row, written, plain)
    )
    with Store(served.store) as store:
        assert store.get(sent).keys() == sent == keys == {*results.answers["key"]}
        assert not store.get(unsent)


def test_answers_of_an_open_server_are_not_those_of_a_picky_one(served: Served) -> None:
    with OpenAIServer() as server:
        served.rows(server)
        served.run(questions(2))
        server.behaviour = refusing(knows_no_max_tokens, failing(400, "max_tokens"))
        mixed = {*served.run(questions(4)).answers["key"]}
        results = served.run(questions(4))  # the first two in the dialect as well
    assert (len(mixed), len(mixed & {*results.answers["key"]})) == (4, 2)
    assert results.models[0].adapted.keys() == {"max_completion_tokens"}
    bodies = [received.body for received in server.requests]
    assert sum("max_completion_tokens" in body for body in bodies) == 4


def test_a_changed_row_begins_in_its_own_words_again(served: Served) -> None:
    file = served.rows("http://127.0.0.1:9/v1")
    keep(adapted(load_registry(file)["served"], ["top_p", "of another version"]))
    row = load_registry(file)["served"]
    assert row.settings["omit"] == ["top_p"]
    assert row.adapted == {"top_p": DIALECTS["top_p"].line}
    served.rows("http://127.0.0.1:10/v1")
    assert "omit" not in load_registry(file)["served"].settings


def test_a_row_of_ray_passes_the_dialect_to_its_workers() -> None:
    settings = {"worker": {"engine": "openai", "settings": {"omit": ["temperature"]}}}
    row = ModelEntry(name="cluster", engine="ray", id="m", settings=settings)
    changed = adapted(row, ["top_p", "finish_reason"])
    assert changed.settings["worker"]["settings"]["omit"] == ["temperature", "top_p"]
    assert changed.identity != row.identity


# Connections that break during a probe


class Breaking(OpenAIServer):
    """A server that hangs up where a begun answer is tried."""

    def reply(self, *request: Any) -> Reply:
        if b"continue_final_message" in request[-1]:
            return Reply(b"", hang_up=True)
        return super().reply(*request)


def test_the_first_probe_finds_the_dialect_and_survives_a_lost_connection() -> None:
    reply = failing(500, "System role not supported")
    with Breaking(refusing(has_no_system_role, reply)) as server:
        row = served_at(server.base_url, "", "")
        settings = row.settings | {"retries": 0}
        row = checked(row.model_copy(update={"settings": settings}))
        with refused(EngineError, "served", "connection", "SET=prefill=user"):
            responses(entry(server, prefill="vllm"), prompt("4?", "It is"))
    assert row.settings["roles"] == "no system"
    assert row.adapted == {"system": DIALECTS["system"].line}


# The table


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs" / "models.md").read_text()
    for dialect in DIALECTS.values():
        setting = f"`{dialect.setting}`" if dialect.setting else ""
        assert f"| {dialect.sign} | {dialect.done} | {setting} |" in text
    assert set(DIALECTS) == {*WORDINGS, "finish_reason", "parts"}
