"""Keys go to their server alone, and into no message, log, answer or file."""

from __future__ import annotations

import json
import traceback

import pytest
from engine_calls import answer, ask, error_of

from codestress.errors import EngineError
from codestress.inference.engines.openai import open_engine
from codestress.types import Trials
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion_body,
    echo,
    failure,
)
from served import Served, entry, prompt, trials_of
from told import names, refused

KEY = "sk-not-a-real-key-0123456789"
ODD = """sk-a'b"c\\d/e.f+secret"""


def test_a_key_is_sent_without_the_line_break_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", f"{KEY}\n")
    with OpenAIServer() as server:
        ask(server, key_env="TEST_KEY")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TEST_KEY", " \n"),
        ("TEST_KEY", f"{KEY}\nsecond line"),
        ("TEST_KEY", f"{KEY}–"),
        ("TEST_URL", f"http://me:{KEY}@127.0.0.1/v1"),
        ("TEST_URL", f"http://127.0.0.1/v1?key={KEY}"),
        ("TEST_URL", KEY),
    ],
)
def test_a_key_in_a_wrong_value_or_place_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv(variable, value)
    variables = {"key_env": "TEST_KEY", "base_url_env": "TEST_URL"}
    with pytest.raises(EngineError) as caught:
        open_engine(entry("http://127.0.0.1:9/v1", **variables))
    names(caught.value, "served", variable)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "form"),
    [
        (KEY, f"Bearer {KEY}!"),
        (KEY, f"x{KEY}{KEY}y"),
        # The key as programs write it.
        (ODD, repr(ODD)),
        (ODD, json.dumps(ODD)),
        (ODD, ODD.replace("/", "\\/")),
    ],
)
def test_a_key_that_a_server_repeats_is_shown_nowhere(
    key: str,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TEST_KEY", key)
    caplog.set_level("DEBUG")
    end = key[-6:]
    server_names = {"model": f"m {form}", "system_fingerprint": form}
    body = completion_body(f"I saw {form} there") | server_names
    reply = as_json(body, headers={"X-Echo": form})
    response = answer(reply, key_env="TEST_KEY")
    assert "[key]" in response.text
    assert "[key]" in response.answered_by
    assert end not in repr(response)
    assert end not in repr(open_engine(entry("http://127.0.0.1:9/v1")))
    for status in (400, 401):
        words = f"<p>I saw {form}</p>".encode()
        refusal = Reply(words, status=status, headers={"X-Echo": form})
        error = error_of(refusal, Exception, "I saw", key_env="TEST_KEY")
        assert end not in str(error)
    assert end not in caplog.text


def test_a_redirect_is_named_without_the_key_in_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for place in ("v1/chat/completions?key=", ""):
        location = {"Location": f"https://there.example/{place}{KEY}"}
        redirect = failure(307, "moved", headers=location)
        parts = ("307", "https://there.example/")
        error = error_of(redirect, EngineError, *parts, key_env="TEST_KEY")
        assert KEY not in str(error)


def questions(count: int) -> Trials:
    return trials_of(*[prompt(f"question {number}") for number in range(count)])


def test_a_key_is_needed_only_when_something_must_be_asked(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        served.rows(server, key_env="TEST_KEY")
        with refused(EngineError, "served", "TEST_KEY", "export", "MODELS=sim-"):
            served.run(questions(10))
        assert server.requests == []
        monkeypatch.setenv("TEST_KEY", KEY)
        served.run(questions(10))
        monkeypatch.delenv("TEST_KEY")
        assert served.run(questions(10)).asked == 0


def test_a_wrong_key_ends_a_run_at_once_and_is_in_no_file(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses_later(received: Received) -> Reply:
        if len(server.requests) <= 10:
            return echo(received)
        key = received.headers["authorization"]
        return failure(401, f"Incorrect API key: {key}")

    monkeypatch.setenv("TEST_KEY", KEY)
    with OpenAIServer(refuses_later) as server:
        served.rows(server, key_env="TEST_KEY", retries=1)
        served.run(questions(10))
        with pytest.raises(EngineError) as caught:
            served.run(questions(100))
        assert len(server.requests) <= 10 + 4
    names(caught.value, "401", "TEST_KEY")
    assert caught.value.model == "served"
    assert KEY not in "".join(traceback.format_exception(caught.value))
    for file in served.folder.iterdir():
        assert KEY.encode() not in file.read_bytes(), file
