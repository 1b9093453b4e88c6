"""The `openai` engine against a real server on loopback that behaves well, badly and worse."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import socket
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest
from pydantic import ValidationError

import served
from codestress.errors import EngineError
from codestress.inference.budget import Budget
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import Settings, open_engine
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
from conftest import ran, slow, some
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
entry = functools.partial(served.entry, key_env="TEST_KEY")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("TEST_KEY", KEY)


def question(
    text: str = "What is 6 × 7?", prefill: str = "", **sampling: Any
) -> Request:
    messages = (Message("system", "Be brief."), Message("user", text))
    return Request("served-1", "r1", Prompt(messages, Sampling(**sampling), prefill))


def ask(
    server: OpenAIServer | str, *requests: Request, **settings: Any
) -> list[Response]:
    """All at once; the first failure is raised."""
    row = entry(server, **settings)
    return served.responses(row, *(requests or [question()]), at_once=True)


def outcomes(
    server: OpenAIServer, texts: Iterable[str], **settings: Any
) -> list[Response | RequestFailed]:
    return served.outcomes(entry(server, **settings), *map(question, texts))


def answer(reply: Reply | Behaviour, **settings: Any) -> Response:
    """The answer that a server's reply is, or is made of."""
    behaviour = reply if callable(reply) else lambda _: reply
    with OpenAIServer(behaviour) as server:
        [response] = ask(server, **settings)
    return response


def fails(
    reply: Reply,
    error: type[Exception],
    *named: object,
    tries: int = 1,
    **settings: Any,
) -> Any:
    """A question, to which a server gives but this reply, ends in this error, which names these."""
    with OpenAIServer(lambda _: reply) as server, pytest.raises(error) as caught:
        ask(server, **settings)
    assert len(server.requests) == tries
    names(caught.value, "served", "served-1", server.base_url, *named)
    return caught.value


def first_then(first: Reply, times: int = 1) -> Behaviour:
    """`first` for the first `times` requests with a prompt, then an echo."""
    return lambda received: first if received.seen < times else echo(received)


# What is sent


def test_sends_the_request_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")
    chosen = {"temperature": 0.3, "top_p": 0.9, "max_tokens": 50}
    with OpenAIServer() as server:
        ask(server, question(**chosen, stop=("\n",)))
        ask(server, prefill="vllm")
        ask(server, max_tokens_field="max_completion_tokens", omit=[*chosen][:2])
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 6 × 7?"},
    ]
    asked = {"model": "served-1", "messages": messages}
    plain, default, reasoning = [received.body for received in server.requests]
    assert plain == asked | chosen | {"stop": ["\n"]}
    assert default == asked | {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024}
    assert reasoning == asked | {"max_completion_tokens": 1024}
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_begun_answer_is_continued_by_vllm_alone() -> None:
    begun = question(prefill="The answer is")
    with OpenAIServer() as server:
        with refused(EngineError, "served", "settings.prefill", "SET=prefill=user"):
            ask(server, begun)
        assert not server.requests
        ask(server, begun, prefill="vllm")
    body = server.requests[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": "The answer is"}
    assert body["add_generation_prompt"] is False
    assert body["continue_final_message"] is True


# What comes back


def test_response() -> None:
    begun = datetime.now(UTC).replace(microsecond=0)
    text = "def ƒ(x):\r\n\treturn '😀\u2028' # ك \ud800 "
    response = answer(completion(text))
    assert (response.text, response.finish_reason) == (text, "stop")
    assert response.usage == Usage(12, 7, 3, 4)
    assert response.answered_by == "served-1 fp_loopback"
    assert response.seconds > 0
    answered = datetime.fromisoformat(response.answered_at)
    assert answered.utcoffset() == timedelta(0)
    assert begun <= answered <= datetime.now(UTC)


def test_answers_belong_to_their_questions() -> None:
    def slower_first(received: Received) -> Reply:
        delay = 0.002 * (40 - int(received.prompt))
        return completion(echo_text(received.prompt), delay=delay)

    prompts = [str(number) for number in range(40)]
    with OpenAIServer(slower_first) as server:
        responses = ask(server, *map(question, prompts), concurrency=8)
    assert [response.text for response in responses] == [*map(echo_text, prompts)]


@pytest.mark.slow
def test_connections_are_as_many_as_the_concurrency_and_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Five seconds of idleness pass on a busy machine.
    patient = functools.partial(httpx2.Limits, keepalive_expiry=600)
    monkeypatch.setattr(httpx2, "Limits", patient)

    async def waves() -> None:
        engine = open_engine(entry(server, concurrency=120))
        for wave in range(3):
            asked = [question(f"{wave} {number}") for number in range(150)]
            await asyncio.gather(*map(engine.answer, asked))
        await engine.close()

    def all_there() -> bool:
        return server.most_connections >= 120

    with OpenAIServer(lambda _: completion("4", until=all_there)) as server:
        asyncio.run(waves())
    assert server.most_connections == server.connections_made == 120


def test_refusals_are_answers_that_decline() -> None:
    words = "I can't help with that."
    response = answer(as_json(completion_body(None, refusal=words)))
    assert (response.text, response.finish_reason) == (words, "content_filter")
    assert response.refused
    for declining in (
        completion(None),
        failure(400, "The prompt was filtered", "content_filter"),
        failure(403, "Your input was flagged: your account may be suspended"),
    ):
        empty = answer(declining)
        assert (empty.text, empty.refused) == ("", True)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_without_an_answer_is_no_refusal(name: str) -> None:
    cases = {
        "stop": ("reasoning", Outcome.ONLY_REASONING),
        "length": ("length", Outcome.TRUNCATED),
    }
    for said, (ended, outcome) in cases.items():
        response = answer(as_json(completion_body("", said, **{name: "Well, …"})))
        assert (response.finish_reason, response.refused) == (ended, False)
        assert response.dialects == ()
        score = unanswered(response)
        assert score is not None
        assert score.outcome == outcome


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        ({"prompt_tokens": -5, "completion_tokens_details": None}, Usage(0)),
        ({"prompt_tokens": 5, "prompt_tokens_details": "none"}, Usage(5)),
        ("plenty", Usage()),
    ],
)
def test_usage_is_what_a_server_says_that_does_not_name_itself(
    usage: object, expected: Usage
) -> None:
    [choice] = completion_body("4")["choices"]
    body = {"choices": [choice], "usage": usage}
    response = answer(as_json(body, content_type="text/plain"))
    assert (response.answered_by, response.usage) == ("", expected)


# What passes when it is tried again

WHOLE = completion("4").body
TROUBLE = {
    "408": failure(408, "too slow"),
    "409": failure(409, "locked"),
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
    # A field that is named after billing is no spent quota.
    "429": as_json(
        {"error": {"message": "slow down", "billing_url": "https://a.example"}},
        status=429,
        headers={"retry-after-ms": "20"},
    ),
}


@pytest.mark.parametrize(
    "name", slow(TROUBLE, "408", "409", "headers only", "slow", "cut JSON")
)
def test_passing_trouble_is_tried_again(name: str) -> None:
    reply = TROUBLE[name]
    patience = 3.0 if reply.delay or reply.drip else 60.0
    with OpenAIServer(first_then(reply)) as server:
        [response] = ask(server, question("again"), retries=1, timeout_s=patience)
    assert response.text == echo_text("again")
    assert [received.seen for received in server.requests] == [0, 1]


@pytest.mark.parametrize("wait", ["1.2", "", "1200ms", "1.2s"])
def test_retry_after_is_waited_for_and_no_part_of_an_answers_seconds(wait: str) -> None:
    def limited(received: Received) -> Reply:
        # A date has whole seconds.
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=2.2), usegmt=True)
        limit = failure(429, "slow down", headers={"Retry-After": wait or date})
        return echo(received) if received.seen else limit

    begun = time.monotonic()
    response = answer(limited, retries=1)
    # Without the header it would be 0.5 s at most.
    assert 0 < response.seconds < time.monotonic() - begun - 1.0


# What fails for one request


def choices(*choices: object) -> Reply:
    return as_json({"choices": choices})


OTHER_API = ["not a chat completion", "FILE.py:FUNCTION"]
SPENT = ["429", "Over your plan", "no credit left"]


def spent(**error: str | None) -> Reply:
    """A spent quota, though it looks like a rate limit."""
    return as_json({"error": {"message": "Over your plan", **error}}, status=429)


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (as_json({"detail": [{"msg": "bad"}]}, status=422), ["422", '"bad"']),
        (
            Reply(b"<h1>Bad\n gateway\x1b[31m</h1>", status=502),
            ["502", "<h1>Bad gateway [31m</h1>"],
        ),
        # A server that is overloaded, not one that loads its model, which is waited for.
        (failure(503, "Busy, or is not loaded"), ["503", "Busy"]),
        (Reply(b"", hang_up=True), ["connection"]),
        (Reply(WHOLE, cut=10), ["connection", "10 bytes"]),
        (Reply(WHOLE, headers={"Content-Encoding": "gzip"}), ["connection"]),
        (Reply(b"<html>Log in", content_type="text/html"), ["<html>Log in"]),
        (Reply(b'{"choices": [{"mess'), ['{"choices": [{"mess']),
        (Reply(b'{"choices": "\xff"}'), ["choices"]),
        (Reply(b"null"), ["reply", "null"]),
        (Reply(b'{"a":' * 200_000), ["nested"]),
        (as_json({"text": "42"}), ["choices", '"text": "42"', *OTHER_API]),
        (as_json([{"generated_text": "42"}]), OTHER_API),
        (choices(None), ["choices.0"]),
        (choices({"message": "4", "finish_reason": "stop"}), ["0.message"]),
        (choices(*completion_body("4")["choices"] * 2), ["2 choices, not 1"]),
        (completion([42]), ["choices.0.message.content"]),
        (completion(42), ["choices.0.message.content"]),
        (as_json({"error": {"message": "died"}, **completion_body("4")}), ["died"]),
    ],
)
def test_a_failed_request_is_never_an_answer(reply: Reply, named: list[str]) -> None:
    """Its outcomes are counted in test_limits.py."""
    fails(reply, RequestFailed, *named)


@pytest.mark.parametrize(
    ("retries", "tries"), [(0, 1), pytest.param(1, 2, marks=pytest.mark.slow), (6, 3)]
)
def test_garbage_is_tried_again_a_bounded_number_of_times(
    retries: int, tries: int
) -> None:
    fails(Reply(b"<html>"), RequestFailed, "<html>", retries=retries, tries=tries)


@pytest.mark.parametrize("name", slow(["slow", "trickle"], "slow"))
def test_time_out(name: str) -> None:
    named = ("1.5 s", "settings.timeout_s")
    settings = {"timeout_s": 1.5, "retries": 1}
    failed = fails(TROUBLE[name], RequestFailed, *named, tries=2, **settings)
    assert failed.outcome is Outcome.TIMEOUT


def test_no_server() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    for address in (url, "http://no-such-host.invalid/v1"):
        with refused(RequestFailed, "served", address, "base_url"):
            ask(address)


def test_a_long_error_is_shortened_and_half_a_surrogate_pair_not_sent() -> None:
    failed = fails(failure(400, "word " * 1000), RequestFailed)
    told, _, advice = str(failed).partition("\n")
    assert len(told) < 400
    assert told.endswith("…")
    names(advice, "docs/models.md", "MODELS=FILE.py:FUNCTION")
    with OpenAIServer() as server, refused(RequestFailed, "surrogate"):
        ask(server, question("\ud800"))


# What no request can pass


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (failure(401, "Incorrect API key"), ["401", "Incorrect API key", "TEST_KEY"]),
        (failure(400, "API key not valid."), ["400", "API key", "TEST_KEY"]),
        (failure(403, "Your account has been flagged"), ["403", "TEST_KEY"]),
        (failure(400, "account deactivated"), ["400", "TEST_KEY"]),
        (failure(403, "organization flagged"), ["403", "TEST_KEY"]),
        (failure(402, "Insufficient balance"), ["402", "Insufficient balance"]),
        (failure(403, "Country not supported"), ["403", "Country not supported"]),
        (
            failure(404, "No model `served-1`"),
            ["404", "No model", "params/models.yaml"],
        ),
        (failure(404, "Unknown request URL"), ["404", "request URL", "base_url"]),
        (as_json({"detail": "Not Found"}, status=404), ['"Not Found"', "base_url"]),
        (Reply(b"", 304), ["304", "base_url"]),
        (as_json({"error": {"message": "no", "code": 402}}), ["402", "no"]),
        (spent(type="insufficient_quota", code=None), SPENT),
        (spent(type="requests", code="billing_not_active"), SPENT),
        (spent(type="exceeded_current_quota_error"), SPENT),
    ],
)
def test_fatal(reply: Reply, named: list[str]) -> None:
    fails(reply, EngineError, *named, retries=3)
    if reply.status == 401:
        fails(reply, EngineError, "401", "settings.key_env", key_env="")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_prompt_goes_to_no_other_server(status: int) -> None:
    with OpenAIServer() as other:
        location = {"Location": f"{other.base_url}/chat/completions"}
        moved = failure(status, "moved", headers=location)
        fails(moved, EngineError, status, other.base_url, "base_url", retries=3)
    assert (other.counts.total(), other.connections_made) == (0, 0)


@pytest.mark.parametrize("url", ["", "localhost:8", "ftp://localhost/v1", "http://a:b"])
def test_no_address(url: str) -> None:
    with refused(EngineError, "served", "settings.base_url"):
        open_engine(entry(url))


def test_advice_on_another_api_is_for_servers_that_answered_nothing() -> None:
    unknown = failure(400, "enable_thinking must be false")
    with OpenAIServer(first_then(unknown)) as server:
        with refused(RequestFailed, "enable_thinking", "FILE.py:FUNCTION"):
            ask(server)
        server.behaviour = lambda received: (
            unknown if received.prompt == "b" else echo(received)
        )
        _, failed = outcomes(server, "ab")
    assert "FUNCTION" not in str(failed)


# The key


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TEST_KEY", " \n"),
        ("TEST_KEY", f"{KEY}\nsecond line"),
        ("TEST_KEY", f"{KEY} copied"),
        ("TEST_KEY", f"{KEY}–"),
        ("TEST_URL", f"http://me:{KEY}@127.0.0.1/v1"),
        ("TEST_URL", f"http://127.0.0.1/v1?key={KEY}"),
        ("TEST_URL", KEY),
    ],
)
def test_a_key_in_a_wrong_value_or_place_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(EngineError) as caught:
        open_engine(entry("http://127.0.0.1:9/v1", base_url_env="TEST_URL"))
    names(caught.value, "served", variable)
    assert KEY not in str(caught.value)


# Settings


@pytest.mark.parametrize(
    "wrong",
    [{"concurrency": 0}, {"timeout_s": 0}, {"retries": -1}, {"key": KEY}],
)
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with refused(ValidationError, *wrong):
        Settings.model_validate(wrong)


def test_settings_do_not_load_the_client() -> None:
    code = "import sys, codestress.inference.engines.openai; "
    code += "sys.exit(bool({'openai', 'httpx2'} & {*sys.modules}))"
    assert ran(sys.executable, "-c", code).returncode == 0


# What continues a begun answer


@pytest.mark.parametrize(
    ("prefill", "named"), [("ignored", "12 tokens"), ("refused", "422")]
)
def test_a_begun_answer_that_is_not_continued_is_refused(
    prefill: Any, named: str
) -> None:
    with (
        OpenAIServer(prefill=prefill) as server,
        refused(EngineError, "served", named, "SET=prefill=user"),
    ):
        ask(server, question(prefill="The answer is"), prefill="vllm")


WAIT = failure(429, "later", headers={"Retry-After": "150"})
ODD = """sk-a'b"c\\d/e.f+secret"""
ECHOES = [
    (KEY, f"Bearer {KEY}!"),
    (KEY, f"{KEY}{KEY}"),
    (KEY, f"x{KEY}y"),
    # A key as programs write it.
    (ODD, repr(ODD)),
    (ODD, json.dumps(ODD)),
    (ODD, ODD.replace("/", "\\/")),
]


def test_an_overloaded_server_says_nothing_of_begun_answers() -> None:
    """It is asked again for the next request, and no more when that tells."""

    class Busy(OpenAIServer):
        checks = 0

        def reply(self, *request: Any) -> Reply:
            self.checks += b'"Count."' in request[-1]
            return WAIT if self.checks == 1 else super().reply(*request)

    with Busy() as server:
        row = entry(server, prefill="vllm")
        begun = [question(text, prefill="The answer is") for text in "abc"]
        failed, *answered = served.outcomes(row, *begun)
        assert server.checks == 3
    assert isinstance(failed, RequestFailed)
    assert failed.outcome is Outcome.OVERLOADED
    names(failed, "served", "429", "150")
    assert all(isinstance(response, Response) for response in answered)


def test_completions_get_the_prompt_rendered_here() -> None:
    begun = question("What is 6 × 7?", prefill="It is")
    ask_by = functools.partial(ask, endpoint="completions")
    with OpenAIServer() as server:
        [response] = ask_by(server, begun, chat_template="chatml.jinja")
        with refused(EngineError, "chat_template", "'chatm'", "chatml"):
            ask_by(server, chat_template="chatm")
    [received] = server.requests
    assert received.path == "/v1/completions"
    assert received.body["prompt"] == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is 6 × 7?<|im_end|>\n"
        "<|im_start|>assistant\nIt is"
    )
    assert "messages" not in received.body
    assert response.text == echo_text(received.body["prompt"])
    with refused(ValidationError, "chat_template", "endpoint"):
        Settings(endpoint="completions")


def test_repeated_samples_of_one_prompt_are_sent_one_by_one() -> None:
    def numbered(received: Received) -> Reply:
        return completion(f"{received.prompt} {received.seen}")

    with OpenAIServer(numbered) as server:
        responses = ask(server, *[replace(question("a"), sample=n) for n in range(10)])
    assert not any("n" in received.body for received in server.requests)
    assert len({response.text for response in responses}) == 10


def test_a_server_that_loads_its_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loading = failure(503, "Loading model", delay=0)

    async def asking() -> None:
        engine = open_engine(entry(server))
        engine.budget = Budget(requests=1)
        assert (await engine.answer(question())).text
        await engine.close()

    with OpenAIServer(first_then(loading, 2)) as server:
        asyncio.run(asking())
    assert len(server.requests) == 3
    assert capsys.readouterr().err.count("Loading model") == 1


def test_the_answer_to_another_request_is_none() -> None:
    kept: list[Reply] = []

    def cached(received: Received) -> Reply:
        kept.append(echo(received))
        return kept[0] if received.seen < 1 else kept[-1]

    both = [question("a"), question("b")]
    with OpenAIServer(cached) as server:
        responses = ask(server, *both, retries=1)
    assert [response.text for response in responses] == [*map(echo_text, "ab")]
    with (
        OpenAIServer(lambda _: kept[0]) as server,
        refused(RequestFailed, "served", "another request", "an id of its own"),
    ):
        ask(server, *both)


def test_a_server_that_gives_all_replies_one_id_is_asked() -> None:
    def answers(received: Received) -> Reply:
        text = "" if received.prompt == "empty" else received.prompt[:1]
        body = completion_body(text) | {"id": "chatcmpl-123"}
        return as_json(body | {"created": len(server.requests)})

    with OpenAIServer(answers) as server:
        asked = map(question, ("a1", "a2", "b1", "b2", "a3"))
        responses = ask(server, *asked)
        responses += ask(server, question("empty"), question("empty"))
    assert [response.text for response in responses] == [*"aabba", "", ""]
    assert len(server.requests) == 7


# How many at once


def test_a_wall_of_429_gets_fewer_requests_and_loses_none() -> None:
    def bears_four(_: Received) -> Reply:
        refuses = len(server.requests) % 5 == 0
        return failure(429, "no") if refuses else completion("4", delay=0.02)

    asked = [question(str(number)) for number in range(60)]
    with OpenAIServer(bears_four) as server:
        assert len(ask(server, *asked, retries=20, concurrency=32)) == 60
    assert len(server.requests) > 60


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
        ask(server, *map(question, "abcdefgh"), retries=2, concurrency=most)
        assert len(server.requests) == 16
    assert in_flight == {"now": 0, "most": most}


def test_retry_after_holds_a_place_among_the_requests() -> None:
    wait = failure(429, "wait", headers={"Retry-After": "1"})

    def first_waits(received: Received) -> Reply:
        return wait if len(server.requests) == 1 else echo(received)

    with OpenAIServer(first_waits) as server:
        ask(server, *map(question, "abcdef"), retries=2, concurrency=1)
    first, *others = [received.time for received in server.requests]
    assert len(others) == 6
    assert min(others) - first > 0.9


# What a server must not bring about


@pytest.mark.parametrize(("key", "form"), ECHOES)
def test_no_echo_of_the_key_is_kept(
    key: str,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    caplog.set_level("DEBUG")
    end = key[-6:]
    named = {"model": f"m {form}", "system_fingerprint": form}
    body = completion_body(f"I saw {form} there") | named
    response = answer(as_json(body, headers={"X-Echo": form}))
    assert "[key]" in response.text
    assert "[key]" in response.answered_by
    assert end not in repr(response)
    assert end not in repr(open_engine(entry("http://127.0.0.1:9/v1")))
    for status in some((400, 401, 429, 500, 200), 3):
        words = f"<p>I saw {form}</p>".encode()
        echoed = Reply(words, status=status, headers={"X-Echo": form})
        assert end not in str(fails(echoed, Exception, "I saw"))
    assert end not in caplog.text


def test_a_long_reply_is_none_whatever_it_is_packed_in() -> None:
    whole = completion("x" * 3_000_000).body
    packed = Reply(gzip.compress(whole), headers={"Content-Encoding": "gzip"})
    least = {"max_reply_bytes": 1_000_000, "retries": 2}
    for reply in (Reply(whole), packed, Reply(whole, status=500)):
        fails(reply, RequestFailed, "max_reply_bytes", **least)
    assert answer(packed).text == "x" * 3_000_000
    for packing in ("br", "zstd", "gzip, gzip"):
        odd = Reply(b"1234", headers={"Content-Encoding": packing})
        fails(odd, RequestFailed, packing)


def test_a_wait_beyond_two_minutes_fails_at_once_and_holds_nobody_back() -> None:
    with OpenAIServer(
        lambda received: WAIT if received.prompt == "a" else echo(received)
    ) as server:
        failed, answered = outcomes(server, "ab", retries=3, timeout_s=20)
    names(failed, "served", "429", "later", "150")
    assert isinstance(answered, Response)
    assert len(server.requests) == 2
