"""Requests that fail: trouble that passes, failures of one request, and faults of every request."""

from __future__ import annotations

import socket

import pytest
from engine_calls import WHOLE, ask, error_of, first_then, question

from codestress.errors import EngineError
from codestress.inference.engines.base import RequestFailed
from codestress.types import Outcome
from conftest import slow
from openai_server import (
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
from served import Served, counts_of, prompt, trials_of
from told import names, refused

TROUBLE = {
    "408": failure(408, "too slow"),
    "500": failure(500, "oops"),
    "closed": Reply(b"", hang_up=True),
    "truncated": Reply(WHOLE, cut=len(WHOLE) // 2),
    "trickle": Reply(WHOLE, drip=0.02),
    "HTML": Reply(b"<html>busy</html>", content_type="text/html"),
    "error with 200": as_json({"error": {"message": "upstream is busy"}}),
    # A field that is named after billing is no spent quota.
    "429": as_json(
        {"error": {"message": "slow down", "billing_url": "https://a.example"}},
        status=429,
        headers={"retry-after-ms": "20"},
    ),
}


@pytest.mark.parametrize("name", slow(TROUBLE, "408", "trickle"))
def test_trouble_that_passes_is_tried_again(name: str) -> None:
    reply = TROUBLE[name]
    timeout_s = 3.0 if reply.drip else 60.0
    with OpenAIServer(first_then(reply)) as server:
        [response] = ask(server, question("again"), retries=1, timeout_s=timeout_s)
    assert response.text == echo_text("again")
    assert [received.seen for received in server.requests] == [0, 1]


OTHER_API = ("not a chat completion", "FILE.py:FUNCTION")
TWO_CHOICES = {"choices": completion_body("4")["choices"] * 2}
ERROR_BESIDE_AN_ANSWER = {"error": {"message": "died"}} | completion_body("4")


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        (as_json({"detail": [{"msg": "bad"}]}, status=422), ["422", '"bad"']),
        (Reply(b"<h1>Bad\n gate\x1b[31m", status=502), ["502", "<h1>Bad gate [31m"]),
        # Overload, and no model that is being loaded, which would be waited for.
        (failure(503, "Busy, or is not loaded"), ["503", "Busy"]),
        (Reply(b"", hang_up=True), ["connection"]),
        (Reply(WHOLE, cut=10), ["connection", "10 bytes"]),
        (Reply(WHOLE, headers={"Content-Encoding": "gzip"}), ["connection"]),
        (Reply(b'{"choices": "\xff"}'), ["choices"]),
        (Reply(b'{"a":' * 200_000), ["nested"]),
        (as_json({"text": "42"}), ["choices", '"text": "42"', *OTHER_API]),
        (as_json(TWO_CHOICES), ["2 choices, not 1"]),
        (completion(42), ["choices.0.message.content"]),
        (as_json(ERROR_BESIDE_AN_ANSWER), ["died"]),
    ],
)
def test_a_failed_request_is_never_an_answer(reply: Reply, parts: list[str]) -> None:
    error_of(reply, RequestFailed, *parts)


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (6, 3)])
def test_an_invalid_reply_is_tried_again_at_most_twice(
    retries: int, tries: int
) -> None:
    error_of(Reply(b"<html>"), RequestFailed, "<html>", retries=retries, tries=tries)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(WHOLE, drip=0.02),
        pytest.param(Reply(WHOLE, delay=60), marks=pytest.mark.slow),
    ],
)
def test_each_try_has_a_deadline(reply: Reply) -> None:
    settings = {"timeout_s": 1.5, "retries": 1}
    parts = ("1.5 s", "settings.timeout_s")
    error = error_of(reply, RequestFailed, *parts, tries=2, **settings)
    assert error.outcome is Outcome.TIMEOUT


def test_an_address_without_a_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    for address in (url, "http://no-such-host.invalid/v1"):
        with refused(RequestFailed, "served", address, "base_url"):
            ask(address)


def test_a_long_error_is_shortened() -> None:
    error = error_of(failure(400, "word " * 1000), RequestFailed)
    message, _, advice = str(error).partition("\n")
    assert len(message) < 400
    assert message.endswith("…")
    names(advice, "docs/models.md", "MODELS=FILE.py:FUNCTION")


def no_credit(**error: str | None) -> Reply:
    """Return the reply for a spent quota, which looks like a rate limit."""
    return as_json({"error": {"message": "Over your plan", **error}}, status=429)


FIREWALL = Reply(b"<html>Request blocked</html>", 403, "text/html")
SPENT = ["429", "Over your plan", "no credit left"]


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        (failure(401, "Incorrect API key"), ["401", "Incorrect API key", "TEST_KEY"]),
        (failure(400, "account deactivated"), ["400", "TEST_KEY"]),
        (failure(402, "Insufficient balance"), ["402", "Insufficient balance"]),
        (failure(403, "Country not supported"), ["403", "Country not supported"]),
        (FIREWALL, ["403", "the account's rights"]),
        (failure(404, "No model `m`"), ["404", "No model", "params/models.yaml"]),
        (failure(404, "Unknown request URL"), ["404", "request URL", "base_url"]),
        (Reply(b"", 304), ["304", "base_url"]),
        (as_json({"error": {"message": "no", "code": 402}}), ["402", "no"]),
        (no_credit(type="insufficient_quota", code=None), SPENT),
        (no_credit(type="requests", code="billing_not_active"), SPENT),
    ],
)
def test_a_fault_of_every_request_ends_the_run_without_a_retry(
    reply: Reply, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-0123456789")
    error_of(reply, EngineError, *parts, retries=3, key_env="TEST_KEY")


def test_a_server_that_wants_a_key_where_none_is_set_says_which_setting() -> None:
    error_of(failure(401, "No API key"), EngineError, "401", "settings.key_env")


@pytest.mark.parametrize("status", [302, 307])
def test_a_prompt_goes_to_no_other_server(status: int) -> None:
    with OpenAIServer() as other:
        location = {"Location": f"{other.base_url}/chat/completions"}
        redirect = failure(status, "moved", headers=location)
        parts = (status, other.base_url, "base_url")
        error_of(redirect, EngineError, *parts, retries=3)
    assert (other.counts.total(), other.connections_made) == (0, 0)


def test_a_prompt_that_a_firewall_refuses_costs_no_other_prompt(
    served: Served,
) -> None:
    def blocking(received: Received) -> Reply:
        return FIREWALL if "blocked" in received.prompt else echo(received)

    trials = trials_of(*map(prompt, ("first", "this is blocked", "last")))
    with OpenAIServer(blocking) as server:
        served.rows(server, concurrency=1)
        results = served.run(trials, failures="count")
    assert counts_of(results) == {"correct": 2, "harness error": 1}
    names(results.reasons("strict"), "status 403", "Request blocked")
