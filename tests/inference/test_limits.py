"""Limits are told apart: the prompt's length, the answer's, a rate, memory and load, by the words of many servers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from codestress.inference.engines.base import AnswerTooLong, RequestFailed
from codestress.inference.engines.replies import limit_of, status_in
from codestress.paths import PARAMS
from codestress.types import Outcome
from codestress.validation import read_yaml
from conftest import some
from openai_server import (
    Behaviour,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    failure,
)
from served import entry, outcomes, prompt
from told import names

LONG = "some words of a program " * 300
"""A prompt of 7,200 characters, about 1,600 tokens."""


def refusal(status: int = 400, **body: Any) -> Reply:
    return as_json(body, status=status)


def room_for(characters: int, reply: Reply) -> Behaviour:
    """Return a server that refuses prompts of more than `characters` by `reply`."""
    return lambda received: (
        reply if len(received.prompt) > characters else completion("yes")
    )


def failures_of(
    server: OpenAIServer, *texts: str, retries: int = 0, **sampling: Any
) -> list[RequestFailed | None]:
    """Ask one question after the other, and return their failures; None for an answered one."""
    prompts = [prompt(text, **sampling) for text in texts]
    failures: list[RequestFailed | None] = []
    for outcome in outcomes(entry(server, retries=retries), *prompts):
        failures.append(outcome if isinstance(outcome, RequestFailed) else None)
    return failures


def outcomes_of(server: OpenAIServer, *texts: str) -> list[Outcome | None]:
    return [failure and failure.outcome for failure in failures_of(server, *texts)]


PROMPTS = {
    "OpenAI": failure(
        400,
        "This model's maximum context length is 1500 tokens. However, you requested 2624 tokens (1600 in the "
        "messages, 1024 in the completion). Please reduce the length of the messages or completion.",
    ),
    "a code": failure(400, "Bad Request", "context_length_exceeded"),
    "llama.cpp": refusal(error={"n_prompt_tokens": 1600, "n_ctx": 1500}),
    "TGI": refusal(
        422,
        error="`inputs` tokens + `max_new_tokens` must be <= 1500. Given: 1600 `inputs` tokens and 1024 "
        "`max_new_tokens`",
    ),
    "Anthropic": failure(400, "prompt is too long: 1600 tokens > 1500 maximum"),
    "Cohere": refusal(
        message="tokens in the prompt cannot exceed 1500: a shorter input"
    ),
    "Baidu": refusal(200, error_code=336103, error_msg="prompt tokens too long"),
    "a choice": refusal(200, choices=[{"error": {"message": "prompt is too long"}}]),
    "no choices": refusal(200, choices=[]),
    "no text": completion("", None),
    "status alone": Reply(b"", 413),
    "nothing": Reply(b"", 400),
    "echo": refusal(422, detail="invalid", input="a quota of requests per minute"),
    "escaped": Reply(json.dumps({"error": "输入内容过长"}).encode(), 400),
    "numbers": failure(400, "Żądanie odrzucone: 1600 / 1500"),
    "shift": failure(500, "context shift is disabled"),
    "memory": failure(500, "KV cache exhausted: 1600 slots needed, 1500 available"),
    "Spanish": failure(400, "La entrada supera la ventana de contexto."),
    "Chinese": failure(400, "输入与输出总长度超过模型上下文长度 1500"),
    "German": failure(400, "Der Text ist zu lang."),
    "French": failure(400, "La requête dépasse la longueur maximale du contexte."),
    "Japanese": failure(400, "プロンプトが長すぎます。"),
    "Italian": failure(500, "Il testo è troppo lungo"),
    "Russian": failure(500, "Запрос слишком длинный"),
    "Dutch": failure(500, "De prompt is te lang"),
    "Korean": failure(500, "프롬프트가 너무 깁니다"),
}
"""How servers say that a prompt of 1,600 tokens is too long for 1,500, with answers of at most 1,024."""


@pytest.mark.parametrize("name", some([*PROMPTS], 2))
def test_a_prompt_that_is_too_long_does_not_fit(name: str) -> None:
    with OpenAIServer(room_for(6000, PROMPTS[name])) as server:
        assert outcomes_of(server, "short", LONG) == [None, Outcome.DOES_NOT_FIT]


ANSWERS = {
    "OpenAI": failure(
        400,
        "max_tokens is too large: 8000. This model supports at most 4096 completion tokens.",
    ),
    "OpenAI, context": failure(
        400,
        "This model's maximum context length is 4097 tokens. However, you requested 9600 tokens (1600 in the messages, "
        "8000 in the completion). Please reduce the length of the messages or completion.",
    ),
    "TGI": refusal(422, error="`max_new_tokens` must be <= 512. Given: 8000"),
    "Bedrock": refusal(message="The maximum tokens you requested exceeds 4096."),
    "FastAPI": refusal(
        422, detail=[{"loc": ["body", "max_tokens"], "msg": "at most 4096"}]
    ),
    "MiniMax": refusal(
        200, base_resp={"status_msg": "tokens_to_generate must be at most 4096"}
    ),
    "no numbers": failure(400, "response length too long"),
    "numbers": failure(400, "maxTokenCount: 8000 is not less or equal to 4096"),
    "Chinese": failure(400, "输出长度不能超过 4096"),
    "German": failure(400, "Die Ausgabe darf höchstens 4096 Token lang sein."),
    "Italian": failure(400, "La risposta non può superare 4096 token."),
    "Russian": failure(400, "Максимальная длина ответа — 4096 токенов."),
}
"""How servers say that an answer of 8,000 tokens is too long for them."""


def short_answers(reply: Reply) -> Behaviour:
    """Return a server that refuses answers of more than 4,096 tokens by `reply`."""
    return lambda received: (
        reply if received.body["max_tokens"] > 4096 else completion("yes")
    )


@pytest.mark.parametrize("text", ["short", LONG], ids=["short", "long"])
@pytest.mark.parametrize("name", some([*ANSWERS], 3))
def test_a_limit_of_the_answer_is_none_of_the_prompt(name: str, text: str) -> None:
    with OpenAIServer(short_answers(ANSWERS[name])) as server:
        [failure] = failures_of(server, text, max_tokens=8000)
    assert isinstance(failure, AnswerTooLong)
    names(failure, "served", "SET=max_tokens")
    assert failure.outcome is Outcome.HARNESS_ERROR


OTHERS = [
    (413, "Request too large on tokens per minute (TPM): Limit 1500, Requested 1600"),
    (400, "the request took too long"),
    (400, "Unrecognized request argument supplied: max_tokens"),
    (400, "temperature 2048 must be below 2"),
    (400, "超过并发限制"),
    (400, "1分あたりのリクエスト数の上限を超えています。"),
    (400, "Anfragelimit überschritten: höchstens 60 Anfragen pro Minute."),
    (400, "You exceeded your daily token limit of 1500 tokens"),
    (400, "Budget has been exceeded! Current cost: 1600, Max budget: 1500"),
    (400, "Invalid 'stop': array too long. Expected an array with maximum length 4"),
    (500, "CUDA out of memory. Tried to allocate 20.00 GiB"),
    (500, "显存不足"),
    (500, "Keine Antwort vom Modell"),
    # Its words name an answer's length, but its status clears the request.
    (500, "Failed to parse the completion: 1600 bytes"),
]
"""Refusals for other reasons, of prompts of any length."""


@pytest.mark.parametrize(("status", "words"), OTHERS)
def test_another_refusal_is_no_word_on_lengths(status: int, words: str) -> None:
    with OpenAIServer(lambda _: failure(status, words)) as server:
        [failed] = failures_of(server, LONG)
    assert failed is not None
    assert failed.outcome is Outcome.HARNESS_ERROR
    assert not isinstance(failed, AnswerTooLong)


@pytest.mark.parametrize("status", [200, 500, 503])
def test_want_of_memory_is_tried_with_a_shorter_prompt(status: int) -> None:
    full = failure(status, "CUDA out of memory. Tried to allocate 20.00 GiB")
    with OpenAIServer(room_for(6000, full)) as server:
        assert outcomes_of(server, LONG, "short") == [Outcome.DOES_NOT_FIT, None]
    with OpenAIServer(lambda _: full) as server:
        assert Outcome.DOES_NOT_FIT not in outcomes_of(server, LONG, "short")


def test_a_shorter_prompt_is_tried_once_for_all_prompts_of_a_length() -> None:
    texts = (LONG, f"{LONG}!", f"{LONG}?", LONG[:7000])
    with OpenAIServer(room_for(6000, Reply(b"", 400))) as server:
        assert outcomes_of(server, *texts) == [Outcome.DOES_NOT_FIT] * 4
    lengths = [len(received.prompt) for received in server.requests]
    short = [length for length in lengths if length < 1000]
    assert lengths == [7200, short[0], 7201, 7201, 7000, short[1]]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [(Reply(b"", 400), Outcome.HARNESS_ERROR), (completion(""), None)],
)
def test_a_prompt_no_longer_than_an_answered_one_is_not_too_long(
    reply: Reply, outcome: Outcome | None
) -> None:
    def picky(received: Received) -> Reply:
        is_refused = received.prompt.startswith("not") and len(received.prompt) > 1000
        return reply if is_refused else completion("yes")

    with OpenAIServer(picky) as server:
        assert outcomes_of(server, LONG, f"not {LONG[:7000]}") == [None, outcome]


@pytest.mark.parametrize("body", [{"choices": None}, {"msg": "upstream busy"}])
def test_a_reply_without_choices_is_no_word_on_the_prompt(body: dict[str, Any]) -> None:
    with OpenAIServer(lambda _: as_json(body)) as server:
        assert outcomes_of(server, LONG) == [Outcome.HARNESS_ERROR]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"type": "text", "text": "hello, messages too long"}]},
        {"candidates": [{"text": "max_tokens 512 is too large"}]},
    ],
)
def test_the_text_of_an_answer_is_no_word_on_lengths(body: dict[str, Any]) -> None:
    assert status_in(json.dumps(body).encode()) is None


@pytest.mark.parametrize("words", ["412,345 > 131,072", "request 405,000 of 200,000"])
def test_numbers_with_commas_tell_a_prompt_from_its_limit(words: str) -> None:
    long = prompt("word " * 280_000, max_tokens=100)
    assert limit_of(400, words, long) == "excess"


FURTHER = [
    *('"code": "insufficient_quota"', "API key not valid.", "account deactivated"),
    *("content_filter",),
]
"""Refusals for other reasons that are no harness errors, or end a run."""
SIGNS = read_yaml(PARAMS / "refusals.yaml")


@pytest.mark.parametrize(
    ("limit", "source"),
    [(limit, source) for limit, rows in SIGNS.items() for source in rows],
)
def test_every_sign_is_in_the_words_of_a_server(limit: str, source: str) -> None:
    replies = [*PROMPTS.values(), *ANSWERS.values()]
    texts = [reply.body.decode("unicode_escape") for reply in replies]
    texts += [*FURTHER, *(words for _, words in OTHERS)]
    sign = re.compile(SIGNS[limit][source], re.I | re.S)
    assert any(map(sign.search, texts))
