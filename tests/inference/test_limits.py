"""Limits are told apart: the prompt's length, the answer's, the server's load, a reply that breaks off.

Each sign of the table, by the words of many servers, against a real server on loopback.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from codestress.errors import IncompleteError
from codestress.inference.ask import DOES_NOT_FIT, ask
from codestress.inference.budget import Budget
from codestress.inference.engines.base import AnswerTooLong, RequestFailed
from codestress.inference.engines.replies import limit_of, status_in
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.paths import PARAMS
from codestress.types import Outcome, Trials
from codestress.validation import read_yaml
from conftest import some
from openai_server import (
    Behaviour,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
)
from served import Served, counts_of, entry, outcomes, prompt, trials_of
from told import names, refused

TABLE = read_yaml(PARAMS / "refusals.yaml")
WHOLE = completion("4").body
LONG = "some words of a program " * 300
"""7,200 characters, about 1,600 tokens."""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def error(message: str, status: int = 400, **fields: Any) -> Reply:
    """A refusal in OpenAI's form."""
    return as_json({"error": {"message": message, **fields}}, status=status)


def refusal(status: int = 400, **body: Any) -> Reply:
    return as_json(body, status=status)


def errors(status: int, *messages: str) -> dict[str, Reply]:
    return {message: error(message, status) for message in messages}


# How servers say that a prompt of 1,600 tokens is too long for 1,500, with answers of at most 1,024.
PROMPTS = {
    "OpenAI": error(
        "This model's maximum context length is 1500 tokens. However, you requested 2624 tokens (1600 in the "
        "messages, 1024 in the completion). Please reduce the length of the messages or completion.",
        code="context_length_exceeded",
    ),
    "OpenAI, text": error(
        "Invalid 'messages[0].content': string too long.",
        code="string_above_max_length",
    ),
    "a code alone": error("Bad Request", code="context_length_exceeded"),
    "vLLM": refusal(
        object="error",
        message="This model's maximum context length is 1500 tokens. However, you requested 1024 output tokens "
        "and your prompt contains at least 1600 input tokens, for a total of at least 2624 tokens.",
        code=400,
    ),
    "llama.cpp": error(
        "request (1600 tokens) exceeds the available context size (1500 tokens), try increasing it",
        type="exceed_context_size_error",
        n_prompt_tokens=1600,
        n_ctx=1500,
    ),
    "TGI": refusal(
        422,
        error="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1500. Given: 1600 `inputs` "
        "tokens and 1024 `max_new_tokens`",
    ),
    "LM Studio": refusal(
        error="Trying to keep the first 1600 tokens when context the overflows. However, the model is loaded "
        "with context length of only 1500 tokens. Try to provide a shorter input"
    ),
    "Anthropic": refusal(
        type="error",
        error={"message": "prompt is too long: 1600 tokens > 1500 maximum"},
    ),
    "Gemini": as_json(
        [{"error": {"message": "The input token count (1600) exceeds the maximum"}}],
        status=400,
    ),
    "Cohere": refusal(
        message="too many tokens: total number of tokens in the prompt cannot exceed 1500 - received 1600. Try "
        "using a shorter prompt"
    ),
    "Baidu, status 200": refusal(
        200, error_code=336103, error_msg="prompt tokens too long"
    ),
    "status alone": Reply(b"", 413),
    "status 200": refusal(
        200, error={"message": "error", "metadata": {"raw": "prompt is too long"}}
    ),
    "a choice with an error": refusal(
        200, choices=[{"error": {"message": "prompt is too long", "code": 400}}]
    ),
    "no finish reason, no text": completion("", None),
    "no choices": refusal(200, choices=[]),
    "the prompt is repeated": refusal(
        422, detail="invalid", input={"prompt": "a quota of requests per minute"}
    ),
    "Chinese": error("提示词超长,请缩短后重试", code="1261"),
    "Chinese, escaped": Reply(json.dumps({"error": "输入内容过长"}).encode(), 400),
    "nothing": Reply(b"", 400),
    **errors(
        400,
        "The input (1600 tokens) is longer than the model's context length (1500 tokens).",
        "Prompt length (1600) exceeds maximum input length (1500). Set truncate_input",
        "Request length 1600 exceed session_len 1500",
        "input length and `max_tokens` exceed context limit: 1600 + 1024 > 1500, decrease input length or `max_tokens`",
        "Range of input length should be [1, 1500]",
        "This model's maximum prompt length is 1500 but the request contains 1600 tokens.",
        "Conversation too long",
        "La entrada supera la ventana de contexto.",
        "输入与输出总长度超过模型上下文长度 1500",
        "輸入超出模型的長度限制",
        "Die Eingabe überschreitet das Kontextfenster von 1500 Token.",
        "Der Text ist zu lang.",
        "La requête dépasse la longueur maximale du contexte (1500 jetons).",
        "El mensaje es demasiado largo: excede el límite de 1500 tokens.",
        "入力がコンテキスト長(1500トークン)を超えています。",
        "プロンプトが長すぎます。",
        "Żądanie odrzucone: 1600 / 1500",
    ),
    **errors(
        500,
        "Requested tokens (1600) exceed context window of 1500",
        "context shift is disabled",
        "KV cache exhausted: 1600 slots needed, 1500 available",
        "Il testo è troppo lungo",
        "O prompt é muito longo",
        "Запрос слишком длинный",
        "Prompt jest za długi",
        "De prompt is te lang",
        "Prompten är för lång",
        "프롬프트가 너무 깁니다",
    ),
}


def lengths(limit: int, refusal: Reply) -> Behaviour:
    """A server with room for so many characters."""
    return lambda received: (
        refusal if len(received.prompt) > limit else completion("yes")
    )


def short_answers(refusal: Reply) -> Behaviour:
    """A server with room for answers of 4,096 tokens."""
    return lambda received: (
        refusal if received.body["max_tokens"] > 4096 else completion("yes")
    )


def failures(
    server: OpenAIServer, *texts: str, retries: int = 0, **sampling: Any
) -> list[RequestFailed | None]:
    """Failures of questions that are asked one after the other; None for an answered one."""
    prompts = [prompt(text, **sampling) for text in texts]
    found = outcomes(entry(server, retries=retries), *prompts)
    return [one if isinstance(one, RequestFailed) else None for one in found]


def outcomes_of(server: OpenAIServer, *texts: str) -> list[Outcome | None]:
    return [failure and failure.outcome for failure in failures(server, *texts)]


@pytest.mark.parametrize("name", some([*PROMPTS], 3))
def test_a_prompt_that_is_too_long_does_not_fit(name: str) -> None:
    with OpenAIServer(lengths(6000, PROMPTS[name])) as server:
        assert outcomes_of(server, "short", LONG) == [None, Outcome.DOES_NOT_FIT]


# How servers say that an answer of 8,000 tokens is too long for them.
ANSWERS = {
    "OpenAI": error(
        "max_tokens is too large: 8000. This model supports at most 4096 completion tokens, whereas you provided 8000.",
        param="max_tokens",
    ),
    "OpenAI, context": error(
        "This model's maximum context length is 4097 tokens. However, you requested 9600 tokens (1600 in the messages, "
        "8000 in the completion). Please reduce the length of the messages or completion.",
        code="context_length_exceeded",
    ),
    "TGI": refusal(
        422,
        error="Input validation error: `max_new_tokens` must be <= 512. Given: 8000",
    ),
    "Bedrock": refusal(
        message="The maximum tokens you requested exceeds the model limit of 4096."
    ),
    "FastAPI": refusal(
        422,
        detail=[
            {
                "loc": ["body", "max_tokens"],
                "msg": "Input should be less than or equal to 4096",
                "input": 8000,
            }
        ],
    ),
    "MiniMax": refusal(
        200, base_resp={"status_msg": "tokens_to_generate must be at most 4096"}
    ),
    **errors(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 "
        "tokens and your request has 1600 input tokens (8000 > 4096 - 1600).",
        "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307",
        "Unable to submit request because it has a maxOutputTokens value of 8000 but the supported range is from 1 "
        "(inclusive) to 4097 (exclusive).",
        "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the "
        "`context_window` for this model",
        "response length too long",
        "You asked for 8000 in the reply; this deployment allows 4096",
        "num_predict 8000 is more than 4096",
        "maxTokenCount: 8000 is not less or equal to 4096",
        "输出长度不能超过 4096",
        "Die Ausgabe darf höchstens 4096 Token lang sein.",
        "La sortie ne peut pas dépasser 4096 jetons.",
        "La respuesta no puede superar 4096 tokens.",
        "出力トークン数は 4096 を超えてはいけません。",
        "La risposta non può superare 4096 token.",
        "A resposta não pode ultrapassar 4096 tokens.",
        "Максимальная длина ответа — 4096 токенов.",
        "출력 토큰 수는 4096을 초과할 수 없습니다.",
    ),
}


@pytest.mark.parametrize("text", ["short", LONG], ids=["short", "long"])
@pytest.mark.parametrize("name", some([*ANSWERS], 3))
def test_a_limit_of_the_answer_is_no_word_on_the_prompt(name: str, text: str) -> None:
    with OpenAIServer(short_answers(ANSWERS[name])) as server:
        [failure] = failures(server, text, max_tokens=8000)
    assert isinstance(failure, AnswerTooLong)
    names(failure, "served", "SET=max_tokens")
    assert failure.outcome is Outcome.HARNESS_ERROR


# What has another reason, with long prompts too.
OTHERS = {
    "rate": error(
        "Request too large for this model on tokens per minute (TPM): Limit 1500, Requested 1600",
        413,
    ),
    **errors(
        400,
        "the request took too long",
        "Unrecognized request argument supplied: max_tokens",
        "max_completion_tokens: must be a string",
        "temperature 2048 must be below 2",
        "请求频率超过限制",
        "超过并发限制",
        "1分あたりのリクエスト数の上限を超えています。",
        "Anfragelimit überschritten: höchstens 60 Anfragen pro Minute.",
        "Vous avez dépassé la limite de requêtes par minute.",
        "Ha excedido su cuota.",
        "Token limit of 1500 tokens/min exceeded by this request of 1600",
        "You exceeded your daily token limit of 1500 tokens",
        "request reached max organization concurrency: 1500, current 1600",
        "Budget has been exceeded! Current cost: 1600, Max budget: 1500",
        "Invalid 'stop': array too long. Expected an array with maximum length 4",
    ),
    **errors(
        500,
        "oops",
        "CUDA out of memory. Tried to allocate 20.00 GiB",
        "显存不足",
        "Keine Antwort vom Modell",
        "模型生成失败",
    ),
}


@pytest.mark.parametrize("name", some([*OTHERS], 3))
def test_other_refusals_are_no_word_on_lengths(name: str) -> None:
    with OpenAIServer(lambda _: OTHERS[name]) as server:
        [failure] = failures(server, LONG)
    assert failure is not None
    assert failure.outcome is Outcome.HARNESS_ERROR
    assert not isinstance(failure, AnswerTooLong)


@pytest.mark.parametrize(
    ("limit", "source"),
    [(limit, source) for limit, rows in TABLE.items() for source in rows],
)
def test_each_row_of_signs_is_in_the_words_of_a_server(limit: str, source: str) -> None:
    tables = {"prompt": PROMPTS, "excess": PROMPTS, "answer": ANSWERS, "size": ANSWERS}
    tables["money"] = {"OpenAI": error("Pay", code="insufficient_quota")}
    tables["key"] = errors(400, "API key not valid.", "account deactivated")
    tables["filter"] = {"Azure": error("Filtered", code="content_filter")}
    replies = tables.get(limit, OTHERS)
    sign = re.compile(TABLE[limit][source], re.I | re.S)
    assert any(
        sign.search(reply.body.decode("unicode_escape")) for reply in replies.values()
    )


# A request that takes more of a minute's tokens than there are.
ABOVE = {
    "OpenAI": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 51234.",
    "German": "Angefragt 51.234 Token; Limit 30.000 Token pro Minute",
    "Chinese": "请求过大：每分钟令牌限制 30000，请求 51234。",
    "Spanish": "Se han solicitado 51234 tokens y el límite es de 30000",
    "fields": '{"limit_tokens": 30000, "requested_tokens": 51234}',
}
PASSES = {
    "OpenAI": "Limit 30000, Used 29000, Requested 2234. Try again in 20ms.",
    "requests": "Limit: 60 requests a minute; you requested 75",
    "ids": "limit for gpt-4-0613 reached; request 88123",
}


@pytest.mark.parametrize("name", ABOVE)
def test_a_request_larger_than_its_rate_is_not_repeated(name: str) -> None:
    with OpenAIServer(lengths(6000, error(ABOVE[name], 429))) as server:
        [failure] = failures(server, LONG, retries=5)
        assert len(server.requests) == 1
    assert failure is not None
    names(failure, "served", "429", "30", "SET=max_tokens")
    assert failure.outcome is Outcome.HARNESS_ERROR


@pytest.mark.parametrize("name", PASSES)
def test_a_rate_that_passes_is_waited_for(name: str) -> None:
    busy = error(PASSES[name], 429)
    busy.headers["retry-after-ms"] = "1"
    with OpenAIServer(
        lambda received: busy if received.seen < 2 else completion("yes")
    ) as server:
        assert failures(server, LONG, retries=5) == [None]


@pytest.mark.parametrize("status", [500, 503, 200])
def test_want_of_memory_is_tried_with_a_shorter_prompt(status: int) -> None:
    full = error("CUDA out of memory. Tried to allocate 20.00 GiB", status)
    with OpenAIServer(lengths(6000, full)) as server:
        assert outcomes_of(server, LONG, "short") == [Outcome.DOES_NOT_FIT, None]
    with OpenAIServer(lambda _: full) as server:
        assert Outcome.DOES_NOT_FIT not in outcomes_of(server, LONG, "short")


def test_what_is_suspected_is_tried_once_with_a_shorter_prompt() -> None:
    with OpenAIServer(lengths(6000, Reply(b"", 400))) as server:
        outcomes = outcomes_of(server, LONG, f"{LONG}!", f"{LONG}?", LONG[:7000])
    assert outcomes == [Outcome.DOES_NOT_FIT] * 4
    lengths_of = [len(received.prompt) for received in server.requests]
    short = [length for length in lengths_of if length < 1000]
    assert lengths_of == [7200, short[0], 7201, 7201, 7000, short[1]]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [(Reply(b"", 400), Outcome.HARNESS_ERROR), (completion(""), None)],
)
def test_a_refusal_of_a_prompt_no_longer_than_an_answered_one_is_not_of_its_length(
    reply: Reply, outcome: Outcome | None
) -> None:
    def picky(received: Received) -> Reply:
        refused = received.prompt.startswith("not") and len(received.prompt) > 1000
        return reply if refused else completion("yes")

    with OpenAIServer(picky) as server:
        outcomes = outcomes_of(server, LONG, f"not {LONG[:7000]}")
    assert outcomes == [None, outcome]


@pytest.mark.parametrize("body", [{"choices": None}, {"msg": "upstream busy"}, {}])
def test_a_reply_without_choices_is_no_word_on_the_prompt(body: dict[str, Any]) -> None:
    with OpenAIServer(lambda _: as_json(body)) as server:
        assert outcomes_of(server, LONG) == [Outcome.HARNESS_ERROR]
    assert len(server.requests) == 1


# In a run


def questions(lengths: list[int], max_tokens: int = 1024) -> Trials:
    texts = [f"q{n} ".ljust(length, "x") for n, length in enumerate(lengths)]
    return trials_of(*[prompt(text, max_tokens=max_tokens) for text in texts])


@pytest.fixture
def asked(served: Served) -> Callable[..., Results]:
    def asked(server: OpenAIServer, trials: Trials, failures: str = "count") -> Results:
        served.rows(server, concurrency=1)
        return served.run(trials, failures=failures)

    return asked


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_silence_on_the_longest_prompts_means_that_they_do_not_fit(
    reason: str, asked: Callable[..., Results]
) -> None:
    def small(received: Received) -> Reply:
        if received.prompt.startswith("q3 "):
            return completion("")  # a refusal
        body = completion_body("", reason)
        body["usage"]["completion_tokens"] = 0
        return as_json(body) if len(received.prompt) > 5000 else completion("yes")

    trials = questions([4000, 9000, 9001, 300, 301])
    with OpenAIServer(small) as server:
        results = asked(server, trials)
        with refused(IncompleteError, "2 of 5", "served", "empty"):
            asked(server, trials, "raise")
        server.behaviour = lambda _: completion("")
        assert counts_of(asked(server, questions([310, 9010]))) == {"refused": 2}
    assert counts_of(results) == {"correct": 2, "refused": 1, "does not fit": 2}


@pytest.mark.parametrize("reply", [completion(""), PROMPTS["OpenAI"]])
def test_within_minutes_what_does_not_fit_counts_as_not_asked(
    reply: Reply, served: Served
) -> None:
    trials, store = questions([300, 9000]), served.store
    budget = Budget(until=time.monotonic() + 600)
    with OpenAIServer(lengths(6000, reply)) as server:
        path = served.rows(server)
        replies = ask(trials, ["served"], store=store, registry=path, budget=budget)
    results = score(trials, replies, store=store)
    assert counts_of(results) == {"correct": 1, "skipped": 1}
    assert [part.why for part in results.not_run] == [DOES_NOT_FIT]


def test_overload_and_cut_replies_are_two_counts(asked: Callable[..., Results]) -> None:
    replies = [
        error("slow down", 429),
        error("busy", 503),
        error("slow down", 429, code="context_length_exceeded"),
        as_json({"error": {"message": "Provider returned error", "code": 429}}),
        Reply(WHOLE, cut=0),
        Reply(WHOLE, cut=10),
        Reply(WHOLE[:-9]),
        Reply(WHOLE[:-1]),
        Reply(b"", hang_up=True),
        Reply(b"<html>"),
        Reply(WHOLE + b"x"),
        Reply(b""),
        completion("4"),
    ]
    with OpenAIServer(
        lambda received: replies[int(received.prompt.split()[0][1:])]
    ) as server:
        results = asked(server, questions([10] * len(replies)))
    assert counts_of(results) == {
        "correct": 1,
        "overloaded": 4,
        "cut reply": 4,
        "harness error": 4,
    }


def test_a_limit_of_answers_ends_no_other_paper(asked: Callable[..., Results]) -> None:
    """More refusals than a server may fail in a row; all but the first are spared."""
    long, short = questions([10] * 50, 8000), questions([10] * 50)
    with OpenAIServer(short_answers(ANSWERS["OpenAI"])) as server:
        results = asked(server, long)
        assert counts_of(results) == {"harness error": 50}
        assert "SET=max_tokens" in str(results.reasons("strict"))
        assert len(server.requests) == 1
        words = "at most 4096 completion tokens"
        with refused(IncompleteError, "50 of 50", "served", words):
            asked(server, long, "raise")
        assert counts_of(asked(server, short)) == {"correct": 50}
        server.behaviour = lengths(6000, PROMPTS["OpenAI"])
        results = asked(server, questions([7000] * 50))
    assert counts_of(results) == {"does not fit": 50}


def test_an_error_of_the_server_on_one_answer_stops_no_other(
    asked: Callable[..., Results],
) -> None:
    """Its words name an answer's length, and its status says that the request is not to blame."""
    broken = error("Failed to parse the completion: 1600 bytes", 500)

    def one(received: Received) -> Reply:
        return broken if received.prompt.startswith("q3 ") else completion("yes")

    with OpenAIServer(one) as server:
        counts = counts_of(asked(server, questions([10] * 20)))
    assert counts == {"correct": 19, "harness error": 1}


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"type": "text", "text": "hello, messages too long"}]},
        {"candidates": [{"text": "max_tokens 512 is too large"}]},
    ],
)
def test_the_text_of_an_answer_is_no_word_on_lengths(body: dict[str, Any]) -> None:
    assert status_in(json.dumps(body).encode()) is None


@pytest.mark.parametrize(
    "words",
    ["412,345 > 131,072", "412,345 tokens > 400,000", "request 405,000 window 200,000"],
)
def test_numbers_with_commas_tell_a_prompt_from_its_limit(words: str) -> None:
    long = prompt("word " * 280_000, max_tokens=100)
    assert limit_of(400, words, long) == "excess"
