"""The `openai` engine against a real server on loopback that behaves well, badly and worse."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import ValidationError

import openai_server
from codestress.errors import EngineError
from codestress.inference.budget import Budget
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.engines.openai import Settings, open_engine
from codestress.inference.registry import ModelEntry
from codestress.scoring.judging import unanswered
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Request,
    Response,
    Sampling,
    Usage,
)
from conftest import slow, some
from openai_server import (
    Behaviour,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    echo,
    echo_text,
    failure,
)
from told import names, refused

KEY = "sk-not-a-real-key-0123456789"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TEST_KEY", KEY)


def entry(base_url: str, **settings: Any) -> ModelEntry:
    settings = {"base_url": base_url, "key_env": "TEST_KEY", "retries": 0, **settings}
    return ModelEntry(name="served", engine="openai", id="served-1", settings=settings)


def question(
    text: str = "What is 6 × 7?", prefill: str = "", **sampling: Any
) -> Request:
    messages = (Message("system", "Be brief."), Message("user", text))
    return Request("served-1", "r1", Prompt(messages, Sampling(**sampling), prefill))


def ask(base_url: str, *requests: Request, **settings: Any) -> list[Response]:
    """All at once; the first failure is raised."""

    async def asking() -> list[Response]:
        engine = open_engine(entry(base_url, **settings))
        try:
            return await asyncio.gather(*map(engine.answer, requests or (question(),)))
        finally:
            await engine.close()

    return asyncio.run(asking())


def first_then(first: Reply, times: int = 1) -> Behaviour:
    """`first` for the first `times` requests with a prompt, then an echo."""
    return lambda received: first if received.seen < times else echo(received)


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


# What is sent


def test_sends_the_request_and_nothing_else() -> None:
    with OpenAIServer() as server:
        ask(
            server.base_url,
            question(temperature=0.3, top_p=0.9, max_tokens=50, stop=("\n",)),
        )
    [received] = server.requests
    assert received.body == {
        "model": "served-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is 6 × 7?"},
        ],
        "temperature": 0.3,
        "top_p": 0.9,
        "max_tokens": 50,
        "stop": ["\n"],
    }
    assert received.headers["authorization"] == f"Bearer {KEY}"


def test_defaults_send_no_stop() -> None:
    with OpenAIServer() as server:
        ask(server.base_url)
    body = server.requests[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.0, 1.0, 1024)
    assert "stop" not in body


def test_a_reasoning_model_gets_other_names_and_no_temperature() -> None:
    with OpenAIServer() as server:
        ask(
            server.base_url,
            max_tokens_field="max_completion_tokens",
            omit=["temperature", "top_p"],
        )
    assert server.requests[0].body.keys() == {
        "model",
        "messages",
        "max_completion_tokens",
    }


def test_vllm_continues_a_prefilled_answer() -> None:
    with OpenAIServer() as server:
        ask(server.base_url, question(prefill="The answer is"), prefill="vllm")
    body = server.requests[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": "The answer is"}
    assert body["add_generation_prompt"] is False
    assert body["continue_final_message"] is True


def test_without_a_prefill_vllm_is_asked_as_any_other() -> None:
    with OpenAIServer() as server:
        ask(server.base_url, prefill="vllm")
    assert server.requests[0].body["messages"][-1]["role"] == "user"
    assert "continue_final_message" not in server.requests[0].body


def test_a_prefill_that_cannot_be_continued_is_not_sent() -> None:
    with (
        OpenAIServer() as server,
        refused(EngineError, "served", "settings.prefill", "SET=prefill=user"),
    ):
        ask(server.base_url, question(prefill="The answer is"))
    assert not server.requests


def test_base_url_comes_from_the_environment_where_it_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("TEST_URL", server.base_url)
        ask("http://127.0.0.1:9/v1", base_url_env="TEST_URL")
        monkeypatch.delenv("TEST_URL")
        ask(server.base_url + "/", base_url_env="TEST_URL")
    assert [received.path for received in server.requests] == [
        "/v1/chat/completions"
    ] * 2


def test_a_server_without_key_never_gets_the_one_of_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer() as server:
        ask(server.base_url, key_env="")
    assert KEY not in json.dumps(server.requests[0].headers)


# What comes back


def test_response() -> None:
    begun = datetime.now(UTC).replace(microsecond=0)
    with OpenAIServer(lambda _: completion("42")) as server:
        [response] = ask(server.base_url)
    assert response.text == "42"
    assert response.finish_reason == "stop"
    assert response.usage == Usage(12, 7, 3, 4)
    assert response.answered_by == "served-1 fp_loopback"
    assert response.seconds > 0
    answered = datetime.fromisoformat(response.answered_at)
    assert answered.utcoffset() == timedelta(0)
    assert begun <= answered <= datetime.now(UTC)


def test_an_answer_in_any_script_comes_back_as_it_was() -> None:
    text = "def ƒ(x):\r\n\treturn '😀\u2028' # ك  "
    with OpenAIServer(lambda _: completion(text)) as server:
        assert ask(server.base_url)[0].text == text


def test_answers_belong_to_their_questions() -> None:
    def slower_first(received: Received) -> Reply:
        return completion(
            echo_text(received.prompt), delay=0.002 * (40 - int(received.prompt))
        )

    prompts = [str(number) for number in range(40)]
    with OpenAIServer(slower_first) as server:
        responses = ask(server.base_url, *map(question, prompts), concurrency=8)
    assert [response.text for response in responses] == [
        echo_text(prompt) for prompt in prompts
    ]


@pytest.mark.slow
def test_connections_are_as_many_as_the_concurrency_and_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Five seconds of idleness pass on a busy machine.
    patient = functools.partial(httpx2.Limits, keepalive_expiry=600)
    monkeypatch.setattr(httpx2, "Limits", patient)

    async def waves(base_url: str) -> None:
        engine = open_engine(entry(base_url, concurrency=120))
        for wave in range(3):
            await asyncio.gather(
                *(engine.answer(question(f"{wave} {number}")) for number in range(150))
            )
        await engine.close()

    def all_there() -> bool:
        return server.most_connections >= 120

    with OpenAIServer(lambda _: completion("4", until=all_there)) as server:
        asyncio.run(waves(server.base_url))
    assert server.most_connections == 120
    assert server.connections_made == 120


@pytest.mark.parametrize(
    ("said", "expected"),
    [("stop", "stop"), ("length", "length"), ("content_filter",) * 2],
)
def test_finish_reasons(said: str, expected: str) -> None:
    with OpenAIServer(lambda _: completion("4", said)) as server:
        assert ask(server.base_url)[0].finish_reason == expected


def test_a_refusal_is_an_answer_that_declines() -> None:
    body = completion_body(None, refusal="I can't help with that.")
    with OpenAIServer(lambda _: as_json(body)) as server:
        [response] = ask(server.base_url)
    assert (response.text, response.finish_reason) == (
        "I can't help with that.",
        "content_filter",
    )
    assert response.refused


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("said", "ended", "outcome"),
    [
        ("stop", "reasoning", Outcome.ONLY_REASONING),
        ("length", "length", Outcome.TRUNCATED),
    ],
)
def test_reasoning_without_an_answer_is_no_refusal(
    name: str, said: str, ended: str, outcome: Outcome
) -> None:
    with OpenAIServer(
        lambda _: as_json(completion_body("", said, **{name: "Well, …"}))
    ) as server:
        [response] = ask(server.base_url)
    score = unanswered(response)
    assert score is not None
    assert (response.finish_reason, response.refused, score.outcome) == (
        ended,
        False,
        outcome,
    )


def test_no_content_is_an_empty_answer() -> None:
    with OpenAIServer(lambda _: completion(None)) as server:
        [response] = ask(server.base_url)
    assert response.text == ""
    assert response.refused


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens_details": None,
                "prompt_tokens_details": "none",
            },
            Usage(5),
        ),
        ("plenty", Usage()),
    ],
)
def test_usage_is_what_the_server_says(usage: object, expected: Usage) -> None:
    with OpenAIServer(
        lambda _: as_json({**completion_body("4"), "usage": usage})
    ) as server:
        assert ask(server.base_url)[0].usage == expected


def test_a_server_need_not_name_itself() -> None:
    body = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}
    with OpenAIServer(lambda _: as_json(body, content_type="text/plain")) as server:
        [response] = ask(server.base_url)
    assert (response.text, response.answered_by, response.usage) == ("4", "", Usage())


# What passes when it is tried again

WHOLE = completion("4").body


TROUBLE = {
    "408": failure(408, "too slow"),
    "409": failure(409, "locked"),
    "429": failure(429, "slow down", headers={"retry-after-ms": "20"}),
    "500": failure(500, "oops"),
    "503": failure(503, "overloaded"),
    "closed": Reply(b"", hang_up=True),
    "headers only": Reply(WHOLE, cut=0),
    "truncated": Reply(WHOLE, cut=len(WHOLE) // 2),
    "slow": Reply(WHOLE, delay=60),
    "trickle": Reply(WHOLE, drip=0.02),
    "HTML": Reply(b"<html>busy</html>", content_type="text/html"),
    "cut JSON": Reply(WHOLE[:-9]),
    "error with 200": as_json({"error": {"message": "upstream is busy"}}),
}


@pytest.mark.parametrize(
    "name", slow(TROUBLE, "408", "409", "headers only", "slow", "cut JSON")
)
def test_passing_trouble_is_tried_again(name: str) -> None:
    reply = TROUBLE[name]
    patience = 3.0 if reply.delay or reply.drip else 60.0
    with OpenAIServer(first_then(reply)) as server:
        [response] = ask(
            server.base_url, question("again"), retries=1, timeout_s=patience
        )
    assert response.text == echo_text("again")
    assert [received.seen for received in server.requests] == [0, 1]


def test_three_errors_then_an_answer() -> None:
    with OpenAIServer(
        first_then(failure(500, "oops", headers={"retry-after-ms": "10"}), times=3)
    ) as server:
        ask(server.base_url, retries=3)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "header",
    [
        "Retry-After: 1.2",
        "Retry-After: ",
        "Retry-After: 1200ms",
        "Retry-After: 1.2s",
    ],
)
def test_retry_after_is_waited_for(header: str) -> None:
    def limited(received: Received) -> Reply:
        # A date has whole seconds.
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=2.2), usegmt=True)
        name, value = header.split(": ")
        limit = failure(429, "slow down", headers={name: value or date})
        return echo(received) if received.seen else limit

    with OpenAIServer(limited) as server:
        ask(server.base_url, retries=1)
    early, late = server.requests
    assert late.time - early.time > 1.0  # without the header it would be 0.5 s at most


def test_a_wait_of_hours_fails_at_once() -> None:
    limit = failure(429, "daily limit", headers={"Retry-After": "7200"})
    with (
        OpenAIServer(lambda _: limit) as server,
        refused(RequestFailed, "served", "429", "daily limit", "7200"),
    ):
        ask(server.base_url, retries=6)
    assert len(server.requests) == 1


def test_seconds_are_those_of_the_try_that_was_answered() -> None:
    begun = time.monotonic()
    with OpenAIServer(
        first_then(failure(500, "oops", headers={"Retry-After": "0.6"}))
    ) as server:
        [response] = ask(server.base_url, retries=1)
    assert 0 < response.seconds < time.monotonic() - begun - 0.6


# What fails for one request


HARNESS, UNFIT, CUT = Outcome.HARNESS_ERROR, Outcome.DOES_NOT_FIT, Outcome.CUT_REPLY
OVERFLOW = "maximum context length is 128 tokens"


@pytest.mark.parametrize(
    ("reply", "outcome", "named"),
    [
        (failure(400, OVERFLOW), UNFIT, ("400", OVERFLOW)),
        (
            as_json({"detail": [{"msg": "bad"}]}, status=422),
            HARNESS,
            ("422", '"msg": "bad"'),
        ),
        (failure(429, "slow down"), Outcome.OVERLOADED, ("429", "slow down")),
        (failure(500, "oops"), HARNESS, ("500", "oops")),
        (
            Reply(b"<h1>Bad\n gateway\x1b[31m</h1>", status=502),
            HARNESS,
            ("502", "<h1>Bad gateway [31m</h1>"),
        ),
        (Reply(b"", status=413), UNFIT, ("413",)),
        (Reply(b"", hang_up=True), HARNESS, ("connection",)),
        (Reply(WHOLE, cut=10), CUT, ("connection", "10 bytes")),
        (Reply(WHOLE, headers={"Content-Encoding": "gzip"}), HARNESS, ("connection",)),
        (
            Reply(b"<html>Log in</html>", content_type="text/html"),
            HARNESS,
            ("<html>Log in</html>",),
        ),
        (Reply(b""), HARNESS, ("reply",)),
        (Reply(b'{"choices": [{"mess'), CUT, ('{"choices": [{"mess',)),
        (Reply(b'{"choices": "\xff"}'), HARNESS, ("choices",)),
        (Reply(b'"42"'), HARNESS, ("reply", '"42"')),
        (
            as_json({"choices": [{"message": "hello", "finish_reason": "stop"}]}),
            HARNESS,
            ("choices.0.message",),
        ),
        (Reply(b"null"), HARNESS, ("reply", "null")),
        (as_json({"text": "42"}), HARNESS, ("choices", '"text": "42"')),
        (as_json({"choices": []}), HARNESS, ("choices",)),
        (as_json({"choices": [None]}), HARNESS, ("choices.0",)),
        (
            as_json({"choices": [{"message": None, "finish_reason": "stop"}]}),
            HARNESS,
            ("choices.0",),
        ),
        (completion([42]), HARNESS, ("choices.0.message.content",)),
        (completion(42), HARNESS, ("choices.0.message.content",)),
        (completion("", None), HARNESS, ("choices.0.finish_reason",)),
        (
            completion("42", "tool_calls"),
            HARNESS,
            ("choices.0.finish_reason", "tool_calls"),
        ),
        (as_json({"error": {"message": "upstream died"}}), HARNESS, ("upstream died",)),
        (
            as_json({"error": {"message": "died"}, **completion_body("4")}),
            HARNESS,
            ("died",),
        ),
    ],
)
def test_a_failed_request_is_never_an_answer(
    reply: Reply, outcome: Outcome, named: tuple[str, ...]
) -> None:
    with (
        OpenAIServer(lambda _: reply) as server,
        pytest.raises(RequestFailed) as caught,
    ):
        ask(server.base_url)
    assert caught.value.outcome is outcome
    names(caught.value, "served", "served-1", server.base_url, *named)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("retries", "tries"), [(0, 1), pytest.param(1, 2, marks=pytest.mark.slow), (6, 3)]
)
def test_garbage_is_tried_again_a_bounded_number_of_times(
    retries: int, tries: int
) -> None:
    with (
        OpenAIServer(lambda _: Reply(b"<html>")) as server,
        pytest.raises(RequestFailed, match="<html>"),
    ):
        ask(server.base_url, retries=retries)
    assert len(server.requests) == tries


@pytest.mark.parametrize("name", slow(["slow", "trickle"], "slow"))
def test_time_out(name: str) -> None:
    with (
        OpenAIServer(lambda _: TROUBLE[name]) as server,
        pytest.raises(RequestFailed) as caught,
    ):
        ask(server.base_url, timeout_s=1.5, retries=1)
    names(caught.value, "served", "1.5 s", "settings.timeout_s")
    assert caught.value.outcome == Outcome.TIMEOUT
    assert len(server.requests) == 2


def test_no_server() -> None:
    url = f"http://127.0.0.1:{unused_port()}/v1"
    with pytest.raises(RequestFailed) as caught:
        ask(url)
    names(caught.value, "served", url, "base_url")
    assert caught.value.outcome == Outcome.HARNESS_ERROR


def test_half_a_surrogate_pair_cannot_be_sent() -> None:
    with OpenAIServer() as server, pytest.raises(RequestFailed, match="surrogate"):
        ask(server.base_url, question("\ud800"))


def test_a_long_error_is_shortened() -> None:
    with (
        OpenAIServer(lambda _: failure(400, "word " * 1000)) as server,
        pytest.raises(RequestFailed) as caught,
    ):
        ask(server.base_url)
    told, _, advice = str(caught.value).partition("\n")
    assert len(told) < 400
    assert told.endswith("…")
    names(advice, "docs/models.md", "MODELS=FILE.py:FUNCTION")


def test_other_requests_go_on_when_one_fails() -> None:
    async def both(base_url: str) -> list[Response | BaseException]:
        engine = open_engine(entry(base_url))
        results = await asyncio.gather(
            *map(engine.answer, map(question, "ab")), return_exceptions=True
        )
        await engine.close()
        return results

    with OpenAIServer(
        lambda received: (
            failure(400, "no") if received.prompt == "a" else echo(received)
        )
    ) as server:
        bad, good = asyncio.run(both(server.base_url))
    assert isinstance(bad, RequestFailed)
    assert isinstance(good, Response)


# What no request can pass


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (failure(401, "Incorrect API key"), ("401", "Incorrect API key", "TEST_KEY")),
        (failure(402, "Insufficient balance"), ("402", "Insufficient balance")),
        (failure(403, "Country not supported"), ("403", "Country not supported")),
        (
            failure(404, "The model `served-1` does not exist"),
            ("404", "The model `served-1` does not exist", "params/models.yaml"),
        ),
        (
            as_json({"detail": "Not Found"}, status=404),
            ("404", '"Not Found"', "base_url"),
        ),
        (Reply(b"", 307), ("307", "base_url")),
        (Reply(b"", 304), ("304", "base_url")),
        (as_json({"error": {"message": "no", "code": 402}}), ("402", "no")),
    ],
)
def test_fatal(reply: Reply, named: tuple[str, ...]) -> None:
    with OpenAIServer(lambda _: reply) as server, pytest.raises(EngineError) as caught:
        ask(server.base_url, retries=3)
    names(caught.value, "served", "served-1", server.base_url, *named)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_prompt_goes_to_no_other_server(status: int) -> None:
    with OpenAIServer() as other:
        moved = failure(
            status, "moved", headers={"Location": f"{other.base_url}/chat/completions"}
        )
        with (
            OpenAIServer(lambda _: moved) as server,
            refused(EngineError, status, other.base_url, "base_url"),
        ):
            ask(server.base_url, retries=3)
        assert (len(server.requests), other.counts.total(), other.connections_made) == (
            1,
            0,
            0,
        )


@pytest.mark.parametrize(
    "error",
    [
        {"type": "insufficient_quota", "code": "insufficient_quota"},
        {"type": "insufficient_quota", "code": None},
        {"type": "requests", "code": "billing_not_active"},
        {"type": "exceeded_current_quota_error"},
    ],
)
def test_a_spent_quota_ends_a_run_at_once_though_it_looks_like_a_rate_limit(
    error: dict[str, Any],
) -> None:
    spent = as_json({"error": {"message": "Over your plan", **error}}, status=429)
    with (
        OpenAIServer(lambda _: spent) as server,
        refused(EngineError, "429", "Over your plan", "no credit left"),
    ):
        ask(server.base_url, retries=6)
    assert len(server.requests) == 1


def test_a_field_that_is_named_after_billing_is_no_spent_quota() -> None:
    error = {"message": "slow down", "billing_url": "https://a.example"}
    busy = as_json({"error": error}, status=429, headers={"retry-after-ms": "20"})
    with OpenAIServer(first_then(busy)) as server:
        ask(server.base_url, retries=1)
    assert len(server.requests) == 2


def test_a_server_that_wants_a_key_after_all() -> None:
    with (
        OpenAIServer(lambda _: failure(401, "No key")) as server,
        refused(EngineError, "401", "settings.key_env"),
    ):
        ask(server.base_url, key_env="")


def test_a_wrong_path_is_fatal() -> None:
    with (
        OpenAIServer() as server,
        refused(EngineError, "404", "Unknown request URL", "base_url", "/v1"),
    ):
        ask(server.base_url.removesuffix("/v1"))


def test_an_unknown_host_is_named() -> None:
    with refused(RequestFailed, "served", "no-such-host.invalid", "base_url"):
        ask("http://no-such-host.invalid/v1")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://localhost/v1",
        "http://",
        "http://[::1/v1",
        "http://a:b",
    ],
)
def test_no_address(url: str) -> None:
    with refused(EngineError, "served", "settings.base_url"):
        open_engine(entry(url))


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("TEST_KEY")
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with (
        OpenAIServer() as server,
        refused(EngineError, "served", "TEST_KEY", "export", "MODELS=sim-"),
    ):
        open_engine(entry(server.base_url))
    assert not server.requests


OTHER_APIS = {
    "Anthropic": {
        "content": [{"type": "text", "text": "42"}],
        "stop_reason": "end_turn",
    },
    "Gemini": {"candidates": [{"content": {"parts": [{"text": "42"}]}}]},
    "Ollama": {"message": {"role": "assistant", "content": "42"}, "done": True},
    "TGI": [{"generated_text": "42"}],
}


@pytest.mark.parametrize("name", some([*OTHER_APIS], 2))
def test_a_server_of_another_api_is_told_what_to_do(name: str) -> None:
    with (
        OpenAIServer(lambda _: as_json(OTHER_APIS[name])) as server,
        refused(RequestFailed, "served", "not a chat completion", "FILE.py:FUNCTION"),
    ):
        ask(server.base_url)
    unknown = failure(400, "enable_thinking must be false")
    with OpenAIServer(first_then(unknown)) as server:
        with refused(RequestFailed, "enable_thinking", "FILE.py:FUNCTION"):
            ask(server.base_url)
        ask(server.base_url)


def test_advice_on_another_api_is_for_servers_that_answered_nothing() -> None:
    async def both(base_url: str) -> str:
        engine = open_engine(entry(base_url))
        await engine.answer(question("a"))
        with pytest.raises(RequestFailed) as caught:
            await engine.answer(question("b"))
        await engine.close()
        return str(caught.value)

    with OpenAIServer(
        lambda received: (
            failure(400, "no") if received.prompt == "b" else echo(received)
        )
    ) as server:
        assert "FUNCTION" not in asyncio.run(both(server.base_url))


# The key


def test_the_key_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for status in (400, 401, 429, 200):
        told = Reply(f"<p>I saw {KEY}</p>".encode(), status=status)
        with OpenAIServer(lambda _, told=told: told) as server:
            with pytest.raises((EngineError, RequestFailed), match="I saw") as caught:
                ask(server.base_url)
            assert KEY not in repr(caught.value)
            assert KEY not in repr(open_engine(entry(server.base_url)))
    assert caplog.records
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "written", [repr, json.dumps, lambda key: key.replace("/", "\\/")]
)
def test_a_key_is_hidden_as_programs_write_it(
    monkeypatch: pytest.MonkeyPatch, written: Callable[[str], str]
) -> None:
    key = """sk-a'b"c\\d/e.f+1234"""
    monkeypatch.setenv("TEST_KEY", key)
    shown = written(key).strip("'").removeprefix('"').removesuffix('"')
    with (
        OpenAIServer(lambda _: failure(400, f"I saw {shown}.")) as server,
        pytest.raises(RequestFailed, match=r"I saw \[key\]\.") as caught,
    ):
        ask(server.base_url)
    assert "1234" not in str(caught.value).replace(server.base_url, "")
    with OpenAIServer(lambda _: completion(f"<{shown}>")) as server:
        assert ask(server.base_url)[0].text == "<[key]>"


@pytest.mark.parametrize("key", [f"{KEY}\nsecond line", f"{KEY} copied", f"{KEY}–"])
def test_a_value_that_cannot_be_a_key_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    with pytest.raises(EngineError) as caught:
        open_engine(entry("http://127.0.0.1:9/v1"))
    names(caught.value, "served", "TEST_KEY")
    assert KEY not in str(caught.value)


def test_a_line_break_after_the_key_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")
    with OpenAIServer() as server:
        ask(server.base_url)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", [f"http://me:{KEY}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={KEY}", KEY]
)
def test_a_key_in_the_address_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("TEST_URL", url)
    with pytest.raises(EngineError) as caught:
        open_engine(entry("http://127.0.0.1:9/v1", base_url_env="TEST_URL"))
    names(caught.value, "served", "TEST_URL")
    assert KEY not in str(caught.value)


# Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"concurrency": 0},
        {"timeout_s": 0},
        {"retries": -1},
        {"prefill": "yes"},
        {"key": KEY},
        {"omit": ["stop"]},
    ],
)
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with refused(ValidationError, *wrong):
        Settings.model_validate(wrong)


def test_settings_do_not_load_the_client() -> None:
    code = (
        "import sys, codestress.inference.engines.openai; "
        "sys.exit('openai' in sys.modules or 'httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The server as a process


def test_server_script() -> None:
    script = Path(openai_server.__file__)
    with subprocess.Popen(
        [sys.executable, script, "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            base_url = process.stdout.readline().strip()
            responses = ask(base_url, question("a"), question("b"), question("a"))
            assert [response.text for response in responses] == [
                echo_text(prompt) for prompt in "aba"
            ]
            with urllib.request.urlopen(
                base_url.removesuffix("/v1") + "/stats"
            ) as reply:
                assert json.load(reply) == {"requests": 3, "prompts": {"a": 2, "b": 1}}
            with urllib.request.urlopen(base_url + "/models") as reply:
                assert json.load(reply)["data"][0]["id"] == "served-1"
        finally:
            process.send_signal(signal.SIGTERM)


# What continues a begun answer


def test_a_prefill_is_probed_once_before_it_is_used() -> None:
    with (
        OpenAIServer(prefill="ignored") as server,
        refused(EngineError, "served", "12 tokens", "SET=prefill=user"),
    ):
        ask(server.base_url, question(prefill="The answer is"), prefill="vllm")
    with (
        OpenAIServer(prefill="refused") as server,
        refused(EngineError, "served", "422", "SET=prefill=user"),
    ):
        ask(server.base_url, question(prefill="The answer is"), prefill="vllm")
    with OpenAIServer() as server:
        requests = [
            question(f"{number}", prefill="The answer is") for number in range(20)
        ]
        assert len(ask(server.base_url, *requests, prefill="vllm")) == 20
        assert len(server.requests) == 20


def test_an_overloaded_server_says_nothing_of_begun_answers() -> None:
    """It is asked again for the next request."""
    begun = [question(text, prefill="The answer is") for text in "ab"]

    class Busy(OpenAIServer):
        checks = 0

        def reply(
            self, method: str, path: str, headers: dict[str, str], content: bytes
        ) -> Reply:
            if b'"Count."' in content:
                self.checks += 1
                if self.checks == 1:
                    return WAIT
            return super().reply(method, path, headers, content)

    async def both(engine: Engine) -> str:
        with pytest.raises(RequestFailed) as caught:
            await engine.answer(begun[0])
        assert caught.value.outcome is Outcome.OVERLOADED
        names(caught.value, "served", "429", "150")
        try:
            return (await engine.answer(begun[1])).text
        finally:
            await engine.close()

    with Busy() as server:
        engine = open_engine(entry(server.base_url, prefill="vllm"))
        assert asyncio.run(both(engine))
        assert server.checks == 3


def test_completions_get_the_prompt_rendered_here() -> None:
    template = {"endpoint": "completions", "chat_template": "chatml.jinja"}
    with OpenAIServer() as server:
        [response] = ask(
            server.base_url, question("What is 6 × 7?", prefill="It is"), **template
        )
    body = server.requests[0].body
    assert server.requests[0].path == "/v1/completions"
    assert body["prompt"] == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is 6 × 7?<|im_end|>\n"
        "<|im_start|>assistant\nIt is"
    )
    assert "messages" not in body
    assert response.text == echo_text(body["prompt"])
    with (
        refused(EngineError, "chat_template", "'chatm'", "chatml"),
        OpenAIServer() as server,
    ):
        ask(server.base_url, question(), endpoint="completions", chat_template="chatm")
    with refused(ValidationError, "chat_template", "endpoint"):
        Settings(endpoint="completions")


def test_repeated_samples_of_one_prompt_are_sent_one_by_one() -> None:
    requests = [
        Request("served-1", "", question("a").prompt, sample) for sample in range(10)
    ]

    def numbered(received: Received) -> Reply:
        return completion(f"{received.prompt} {received.seen}")

    with OpenAIServer(numbered) as server:
        responses = ask(server.base_url, *requests)
    assert not any("n" in received.body for received in server.requests)
    assert len({response.text for response in responses}) == 10
    assert {response.usage.completion_tokens for response in responses} == {7}
    two = completion_body("4")
    two["choices"] *= 2
    with (
        OpenAIServer(lambda _: as_json(two)) as server,
        refused(RequestFailed, "served", "2 choices", "not 1"),
    ):
        ask(server.base_url)


LOADING = failure(503, "Loading model", delay=0)


def test_a_server_that_loads_its_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with OpenAIServer(first_then(LOADING, 2)) as server:

        async def asking() -> None:
            engine = open_engine(entry(server.base_url))
            engine.budget = Budget(requests=1)
            assert (await engine.answer(question())).text
            await engine.close()

        asyncio.run(asking())
    assert len(server.requests) == 3
    assert capsys.readouterr().err.count("Loading model") == 1


def test_an_overloaded_server_is_not_waited_for() -> None:
    words = "The model is overloaded, or is not loaded"
    with (
        OpenAIServer(lambda _: failure(503, words)) as server,
        refused(RequestFailed, "503", words),
    ):
        ask(server.base_url)
    assert len(server.requests) == 1


def test_the_answer_to_another_request_is_none() -> None:
    kept: list[Reply] = []

    def cached(received: Received) -> Reply:
        kept.append(echo(received))
        return kept[0] if received.seen < 1 else kept[-1]

    with OpenAIServer(cached) as server:
        responses = ask(server.base_url, question("a"), question("b"), retries=1)
    assert [response.text for response in responses] == [echo_text("a"), echo_text("b")]
    with (
        OpenAIServer(lambda _: kept[0]) as server,
        refused(RequestFailed, "served", "another request", "an id of its own"),
    ):
        ask(server.base_url, question("a"), question("b"))


def test_a_server_that_gives_all_replies_one_id_is_asked() -> None:
    def answers(received: Received) -> Reply:
        text = "" if received.prompt == "empty" else received.prompt[:1]
        return as_json(completion_body(text) | {"id": "chatcmpl-123"})

    asked = [question(text) for text in ("a1", "b1", "a2", "b2", "a3")]
    with OpenAIServer(answers) as server:
        responses = ask(server.base_url, *asked)
        assert [response.text for response in responses] == list("ababa")
        empty = ask(server.base_url, question("empty"), question("empty"))
    assert [response.text for response in empty] == ["", ""]


# How many at once


def test_a_wall_of_429_gets_fewer_requests_and_loses_none() -> None:
    busy = {"now": 0, "most": 0, "refused": 0}

    def bears_four(_: Received) -> Reply:
        return (
            failure(429, "too many")
            if server_load(busy)
            else completion("4", delay=0.02)
        )

    def server_load(busy: dict[str, int]) -> bool:
        busy["most"] = max(busy["most"], len(server.connections))
        over = busy["now"] % 5 == 4
        busy["now"] += 1
        busy["refused"] += over
        return over

    with OpenAIServer(bears_four) as server:
        responses = ask(
            server.base_url,
            *(question(str(number)) for number in range(60)),
            retries=20,
            concurrency=32,
        )
    assert len(responses) == 60
    assert busy["refused"] > 0


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_requests_are_in_flight_than_the_concurrency(most: int) -> None:
    """Also where some fail and are sent again."""
    in_flight = {"now": 0, "most": 0}

    def counting(received: Received) -> Reply:
        in_flight["now"] += 1
        in_flight["most"] = max(in_flight.values())

        def ended() -> bool:
            in_flight["now"] -= 1
            return True

        oops = failure(500, "oops", headers={"retry-after-ms": "1"})
        reply = echo(received) if received.seen else oops
        return replace(reply, delay=0.01, until=ended)

    with OpenAIServer(counting) as server:
        ask(
            server.base_url,
            *map(question, "abcdefgh"),
            retries=2,
            concurrency=most,
        )
        assert len(server.requests) == 16
    assert in_flight == {"now": 0, "most": most}


def test_retry_after_holds_a_place_among_the_requests() -> None:
    def first_waits(received: Received) -> Reply:
        first = len(server.requests) == 1
        return (
            failure(429, "wait", headers={"Retry-After": "1"})
            if first
            else echo(received)
        )

    with OpenAIServer(first_waits) as server:
        ask(server.base_url, *map(question, "abcdef"), retries=2, concurrency=1)
    first, *others = [received.time for received in server.requests]
    assert len(others) == 6
    assert min(others) - first > 0.9


# What a server must not bring about


FORMS = [KEY, f"Bearer {KEY}!", f"{KEY}{KEY}", f"x{KEY}y"]


@pytest.mark.parametrize("form", FORMS)
def test_no_echo_of_the_key_is_kept(
    form: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    body = completion_body(f"I saw {form} there") | {
        "model": f"m {form}",
        "system_fingerprint": form,
    }
    with OpenAIServer(lambda _: as_json(body, headers={"X-Echo": form})) as server:
        [response] = ask(server.base_url)
        assert "[key]" in response.text
        assert "[key]" in response.answered_by
        assert KEY not in repr(response)
    for status in some((400, 401, 500), 3):
        with OpenAIServer(
            lambda _, status=status: failure(
                status, f"you sent {form}", headers={"X-Echo": form}
            )
        ) as server:
            with pytest.raises(
                (EngineError, RequestFailed), match="you sent"
            ) as caught:
                ask(server.base_url)
            assert KEY not in str(caught.value)
    assert KEY not in caplog.text


def test_a_long_reply_is_none_whatever_it_is_packed_in() -> None:
    whole = completion("x" * 3_000_000).body
    for reply in (
        Reply(whole),
        Reply(gzip.compress(whole), headers={"Content-Encoding": "gzip"}),
        Reply(whole, status=500),
    ):
        with (
            OpenAIServer(lambda _, reply=reply: reply) as server,
            pytest.raises(RequestFailed, match="max_reply_bytes"),
        ):
            ask(server.base_url, max_reply_bytes=1_000_000, retries=2)
        assert len(server.requests) == 1
    with OpenAIServer(
        lambda _: Reply(gzip.compress(whole), headers={"Content-Encoding": "gzip"})
    ) as server:
        assert ask(server.base_url)[0].text == "x" * 3_000_000
    for packed in ("br", "zstd", "gzip, gzip"):
        odd = Reply(b"1234", headers={"Content-Encoding": packed})
        with (
            OpenAIServer(lambda _, odd=odd: odd) as server,
            refused(RequestFailed, "served", packed),
        ):
            ask(server.base_url)


def test_a_wait_beyond_two_minutes_fails_at_once_and_holds_nobody_back() -> None:
    with OpenAIServer(
        lambda received: WAIT if received.prompt == "a" else echo(received)
    ) as server:
        with refused(RequestFailed, "served", "429", "later", "150"):
            ask(server.base_url, question("a"), timeout_s=20, retries=3)

        async def both() -> Response:
            engine = open_engine(entry(server.base_url, retries=3, timeout_s=20))
            with pytest.raises(RequestFailed):
                await engine.answer(question("a"))
            try:
                return await engine.answer(question("b"))
            finally:
                await engine.close()

        assert asyncio.run(both()).text == echo_text("b")
    assert len(server.requests) == 3


WAIT = failure(429, "later", headers={"Retry-After": "150"})


def test_half_a_surrogate_pair_in_an_answer_is_kept() -> None:
    body = json.dumps(completion_body("a \ud800 b"))
    assert "\\ud800" in body
    with OpenAIServer(lambda _: Reply(body.encode())) as server:
        assert ask(server.base_url)[0].text == "a \ud800 b"
    for nested in (b"[" * 200_000, b'{"a":' * 200_000):
        with (
            OpenAIServer(lambda _, nested=nested: Reply(nested)) as server,
            refused(RequestFailed, "served", "nested"),
        ):
            ask(server.base_url)
