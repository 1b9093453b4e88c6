"""Bodies of the requests that the engine `openai` sends, begun answers and completions among them."""

from __future__ import annotations

from typing import Any

import pytest
from engine_calls import ask, question
from pydantic import ValidationError

from codestress.errors import EngineError
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import Settings, open_engine
from codestress.types import Outcome, Response
from openai_server import (
    OpenAIServer,
    Reply,
    echo_text,
    failure,
)
from served import entry, outcomes
from told import names, refused


def test_only_the_request_is_sent() -> None:
    sampling = {"temperature": 0.3, "top_p": 0.9, "max_tokens": 50}
    with OpenAIServer() as server:
        ask(server, question(**sampling, stop=("\n",)))
        ask(server, prefill="vllm")
        omit = ["temperature", "top_p"]
        ask(server, max_tokens_field="max_completion_tokens", omit=omit)
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 6 × 7?"},
    ]
    common = {"model": "served-1", "messages": messages}
    full, default, reasoning = [received.body for received in server.requests]
    assert full == common | sampling | {"stop": ["\n"]}
    assert default == common | {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024}
    assert reasoning == common | {"max_completion_tokens": 1024}
    with refused(RequestFailed, "surrogate"), OpenAIServer() as server:
        ask(server, question("\ud800"))


def test_a_begun_answer_is_continued_only_with_the_setting_for_it() -> None:
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


@pytest.mark.parametrize(
    ("prefill", "part"), [("ignored", "12 tokens"), ("refused", "422")]
)
def test_a_server_that_does_not_continue_begun_answers_is_refused(
    prefill: Any, part: str
) -> None:
    begun = question(prefill="The answer is")
    with (
        OpenAIServer(prefill=prefill) as server,
        refused(EngineError, "served", part, "SET=prefill=user"),
    ):
        ask(server, begun, prefill="vllm")
    assert not server.requests


def test_an_overloaded_server_is_asked_about_begun_answers_again() -> None:
    class Busy(OpenAIServer):
        checks = 0

        def reply(self, *request: Any) -> Reply:
            self.checks += b'"Count."' in request[-1]
            wait = failure(429, "later", headers={"Retry-After": "150"})
            return wait if self.checks == 1 else super().reply(*request)

    begun = [question(text, prefill="The answer is") for text in "abc"]
    with Busy() as server:
        failed, *answered = outcomes(entry(server, prefill="vllm"), *begun)
        assert server.checks == 3
    assert isinstance(failed, RequestFailed)
    assert failed.outcome is Outcome.OVERLOADED
    names(failed, "served", "429", "150")
    assert all(isinstance(response, Response) for response in answered)


def test_the_endpoint_of_completions_gets_the_prompt_as_a_template_renders_it() -> None:
    begun = question(prefill="It is")
    completions = {"endpoint": "completions"}
    with OpenAIServer() as server:
        [response] = ask(server, begun, **completions, chat_template="chatml.jinja")
        with refused(EngineError, "chat_template", "'chatm'", "chatml"):
            ask(server, **completions, chat_template="chatm")
    [received] = server.requests
    assert received.path == "/v1/completions"
    assert "messages" not in received.body
    assert received.body["prompt"] == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nWhat is 6 × 7?<|im_end|>\n"
        "<|im_start|>assistant\nIt is"
    )
    assert response.text == echo_text(received.body["prompt"])
    with refused(ValidationError, "chat_template", "endpoint"):
        Settings(endpoint="completions")


@pytest.mark.parametrize("url", ["", "localhost:8", "ftp://localhost/v1", "http://a:b"])
def test_a_text_that_is_no_address_is_refused(url: str) -> None:
    with refused(EngineError, "served", "settings.base_url"):
        open_engine(entry(url))
