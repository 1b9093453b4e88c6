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
from codestress.types import Outcome, Prompt, Response, Score, Trial, Trials
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
from served import Served, counts_of, entry, outcomes, prompt
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


# How servers say that a prompt of 1,600 tokens is too long for 1,500, with answers of at most 1,024.
PROMPTS = {
    "OpenAI": error(
        "This model's maximum context length is 1500 tokens. However, your messages resulted in 1600 tokens.",
        type="invalid_request_error",
        param="messages",
        code="context_length_exceeded",
    ),
    "OpenAI, both": error(
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
        type="BadRequestError",
        code=400,
    ),
    "llama.cpp": refusal(
        error={
            "code": 400,
            "message": "request (1600 tokens) exceeds the available context size (1500 tokens), try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 1600,
            "n_ctx": 1500,
        }
    ),
    "llama-cpp-python": error(
        "Requested tokens (1600) exceed context window of 1500", 500
    ),
    "TGI": refusal(
        422,
        error="Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1500. Given: 1600 `inputs` "
        "tokens and 1024 `max_new_tokens`",
        error_type="validation",
    ),
    "TGI, inputs": refusal(
        422,
        error="Input validation error: `inputs` must have less than 1500 tokens. Given: 1600",
    ),
    "SGLang": error(
        "The input (1600 tokens) is longer than the model's context length (1500 tokens)."
    ),
    "Ollama": error("the input length exceeds the context length", 500),
    "LM Studio": refusal(
        error="Trying to keep the first 1600 tokens when context the overflows. However, the model is loaded "
        "with context length of only 1500 tokens, which is not enough. Try to load the model with a larger context "
        "length, or provide a shorter input"
    ),
    "TensorRT-LLM": error(
        "Prompt length (1600) exceeds maximum input length (1500). Set truncate_input"
    ),
    "LMDeploy": error("Request length 1600 exceed session_len 1500"),
    "OpenRouter": error(
        "This endpoint's maximum context length is 1500 tokens. However, you requested about 2624 tokens (1600 of text "
        "input, 1024 in the output). Please reduce the length of either one, or use the middle-out transform.",
        code=400,
    ),
    "Anthropic": refusal(
        type="error",
        error={
            "type": "invalid_request_error",
            "message": "prompt is too long: 1600 tokens > 1500 maximum",
        },
    ),
    "Anthropic, both": error(
        "input length and `max_tokens` exceed context limit: 1600 + 1024 > 1500, decrease input length or `max_tokens`"
    ),
    "Anthropic, size": error(
        "Request exceeds the maximum size", 413, type="request_too_large"
    ),
    "Bedrock": refusal(message="Input is too long for requested model."),
    "Gemini": as_json(
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1600) exceeds the maximum number of tokens allowed (1500).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        status=400,
    ),
    "Mistral": refusal(
        object="error",
        message="Prompt contains 1600 tokens and 0 draft tokens, too large for model with 1500 maximum "
        "context length",
        code="3051",
    ),
    "Cohere": refusal(
        message="too many tokens: total number of tokens in the prompt cannot exceed 1500 - received 1600. Try "
        "using a shorter prompt"
    ),
    "DeepSeek": error(
        "This model's maximum context length is 1500 tokens. However, you requested 2624 tokens (1600 in the messages, "
        "1024 in the completion). Please reduce the length of the messages or completion.",
        type="invalid_request_error",
    ),
    "DashScope": error(
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 1500]",
        code="invalid_parameter_error",
    ),
    "xAI": error(
        "This model's maximum prompt length is 1500 but the request contains 1600 tokens."
    ),
    "GitHub": error(
        "Request body too large for gpt-4o model. Max size: 1500 tokens.",
        413,
        code="tokens_limit_reached",
    ),
    "a proxy": Reply(
        b"<html><title>413 Request Entity Too Large</title></html>", 413, "text/html"
    ),
    "status alone": Reply(b"", 413),
    "a long talk": error("Conversation too long"),
    "only so many": error("Prompt has 1600 tokens, but only 1500 tokens are supported"),
    "llama.cpp, context shift": error("context shift is disabled", 500),
    "Baidu, status 200": refusal(
        200, error_code=336103, error_msg="prompt tokens too long"
    ),
    "status 200": refusal(
        200,
        error={
            "message": "Provider returned error",
            "metadata": {"raw": "prompt is too long"},
        },
    ),
    "a choice with an error": refusal(
        200,
        choices=[
            {
                "error": {
                    "message": "prompt is too long: 1600 tokens > 1500",
                    "code": 400,
                },
                "finish_reason": "error",
                "message": {"content": ""},
            }
        ],
    ),
    "no finish reason, no text": completion("", None),
    "no choices": refusal(200, choices=[]),
    "the prompt is repeated": refusal(
        422, detail="invalid", input={"prompt": "a quota of requests per minute"}
    ),
    "Spanish, context": error("La entrada supera la ventana de contexto."),
    "Chinese": error("提示词超长,请缩短后重试", code="1261"),
    "Chinese, both": error("输入与输出总长度超过模型上下文长度 1500"),
    "Chinese, escaped": Reply(
        json.dumps({"error": {"message": "输入内容过长"}}, ensure_ascii=True).encode(),
        400,
    ),
    "traditional": error("輸入超出模型的長度限制"),
    "German": error("Die Eingabe überschreitet das Kontextfenster von 1500 Token."),
    "German, text": error("Der Text ist zu lang."),
    "French": error(
        "La requête dépasse la longueur maximale du contexte (1500 jetons)."
    ),
    "Spanish": error("El mensaje es demasiado largo: excede el límite de 1500 tokens."),
    "Japanese": error("入力がコンテキスト長(1500トークン)を超えています。"),
    "Japanese, text": error("プロンプトが長すぎます。"),
    "numbers alone": error("Żądanie odrzucone: 1600 / 1500"),
    "numbers alone, 500": error(
        "KV cache exhausted: 1600 slots needed, 1500 available", 500
    ),
    "an overflow": error("Body buffer overflow", 500),
    "Italian": error("Il testo è troppo lungo", 500),
    "Portuguese": error("O prompt é muito longo", 500),
    "Russian": error("Запрос слишком длинный", 500),
    "Polish": error("Prompt jest za długi", 500),
    "Dutch": error("De prompt is te lang", 500),
    "Swedish": error("Prompten är för lång", 500),
    "Korean": error("프롬프트가 너무 깁니다", 500),
    "a word alone": refusal(422, detail="Ugyldig forespørsel"),
    "nothing": Reply(b"", 400),
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
        code="invalid_value",
    ),
    "OpenAI, context": error(
        "This model's maximum context length is 4097 tokens. However, you requested 9600 tokens (1600 in the messages, "
        "8000 in the completion). Please reduce the length of the messages or completion.",
        code="context_length_exceeded",
    ),
    "vLLM": error(
        "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 "
        "tokens and your request has 1600 input tokens (8000 > 4096 - 1600)."
    ),
    "TGI": refusal(
        422,
        error="Input validation error: `max_new_tokens` must be <= 512. Given: 8000",
    ),
    "Anthropic": error(
        "max_tokens: 8000 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307"
    ),
    "Gemini": error(
        "Unable to submit request because it has a maxOutputTokens value of 8000 but the supported range is from 1 "
        "(inclusive) to 4097 (exclusive)."
    ),
    "Groq": error(
        "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the "
        "`context_window` for this model",
        param="max_tokens",
    ),
    "DeepSeek": error(
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]"
    ),
    "DashScope": error(
        "Range of max_tokens should be [1, 4096]", code="invalid_parameter_error"
    ),
    "Bedrock": refusal(
        message="The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum "
        "tokens value that is lower than 4096."
    ),
    "FastAPI": refusal(
        422,
        detail=[
            {
                "type": "less_than_equal",
                "loc": ["body", "max_tokens"],
                "msg": "Input should be less than or equal to 4096",
                "input": 8000,
                "ctx": {"le": 4096},
            }
        ],
    ),
    "English": error("response length too long"),
    "Ollama": error("num_predict 8000 is more than 4096"),
    "Chinese": error("输出长度不能超过 4096"),
    "German": error("Die Ausgabe darf höchstens 4096 Token lang sein."),
    "French": error("La sortie ne peut pas dépasser 4096 jetons."),
    "Spanish": error("La respuesta no puede superar 4096 tokens."),
    "Japanese": error("出力トークン数は 4096 を超えてはいけません。"),
    "Italian": error("La risposta non può superare 4096 token."),
    "Portuguese": error("A resposta não pode ultrapassar 4096 tokens."),
    "Russian": error("Максимальная длина ответа — 4096 токенов."),
    "Korean": error("출력 토큰 수는 4096을 초과할 수 없습니다."),
    "Titan": error("maxTokenCount: 8000 is not less or equal to 4096"),
    "MiniMax": refusal(
        200,
        base_resp={
            "status_code": 2013,
            "status_msg": "tokens_to_generate must be at most 4096",
        },
    ),
    "numbers alone": error(
        "You asked for 8000 in the reply; this deployment allows 4096"
    ),
    "status 200": refusal(
        200, error={"message": "max_tokens must be <= 4096", "code": 400}
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
    "time": error("the request took too long"),
    "no such field": error("Unrecognized request argument supplied: max_tokens"),
    "type": error("max_completion_tokens: must be a string"),
    "rate": error(
        "Request too large for this model on tokens per minute (TPM): Limit 1500, Requested 1600",
        413,
        code="rate_limit_exceeded",
    ),
    "filter": error(
        "The prompt triggered the content management policy.", code="content_filter"
    ),
    "field": error(
        "Unsupported value: 'temperature' does not support 0 with this model."
    ),
    "numbers": error("temperature 2048 must be below 2"),
    "broken": error("oops", 500),
    "Chinese rate": error("请求频率超过限制"),
    "Chinese concurrency": error("超过并发限制"),
    "Chinese balance": error("余额不足,超出限制"),
    "Japanese rate": error("1分あたりのリクエスト数の上限を超えています。"),
    "German rate": error(
        "Anfragelimit überschritten: höchstens 60 Anfragen pro Minute."
    ),
    "French rate": error("Vous avez dépassé la limite de requêtes par minute."),
    "Spanish quota": error("Ha excedido su cuota."),
    "no memory": error("CUDA out of memory. Tried to allocate 20.00 GiB", 500),
    "no memory, Chinese": error("显存不足", 503),
    "tokens a minute": error(
        "Token limit of 1500 tokens/min exceeded by this request of 1600"
    ),
    "a day": error("You exceeded your daily token limit of 1500 tokens"),
    "concurrency": error(
        "request reached max organization concurrency: 1500, current 1600"
    ),
    "budget": error("Budget has been exceeded! Current cost: 1600, Max budget: 1500"),
    "a stop": error(
        "Invalid 'stop': array too long. Expected an array with maximum length 4"
    ),
    "a key": error("API key string too long"),
    "no answer": error("Keine Antwort vom Modell", 500),
    "Chinese failure": error("模型生成失败", 500),
    "an excess in another language": error("excede el tamaño"),
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


def test_a_refusal_of_a_prompt_no_longer_than_an_answered_one_is_not_of_its_length() -> (
    None
):
    def picky(received: Received) -> Reply:
        refused = received.prompt.startswith("not")
        return Reply(b"", 400) if refused else completion("yes")

    with OpenAIServer(picky) as server:
        outcomes = outcomes_of(server, LONG, f"not {LONG[:7000]}")
    assert outcomes == [None, Outcome.HARNESS_ERROR]


@pytest.mark.parametrize("body", [{"choices": None}, {"msg": "upstream busy"}, {}])
def test_a_reply_without_choices_is_no_word_on_the_prompt(body: dict[str, Any]) -> None:
    with OpenAIServer(lambda _: as_json(body)) as server:
        assert outcomes_of(server, LONG) == [Outcome.HARNESS_ERROR]
    assert len(server.requests) == 1


# In a run


def judge(_: Trial, response: Response) -> Score:
    if response.refused:
        return Score(Outcome.REFUSED, 0)
    return Score(Outcome.CORRECT, 1)


def questions(lengths: list[int], max_tokens: int = 1024) -> Trials:
    def render(trial: Trial) -> Prompt:
        text = f"{trial.problem} ".ljust(int(str(trial.factors["length"])), "x")
        return prompt(text, max_tokens=max_tokens)

    items = [Trial(f"q{n}", {"length": length}) for n, length in enumerate(lengths)]
    return Trials(items, render, {"strict": judge})


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
    assert counts_of(results) == {"correct": 2, "refused": 1, "does not fit": 2}


def test_within_minutes_what_does_not_fit_counts_as_not_asked(served: Served) -> None:
    trials, store = questions([300, 9000]), served.store
    budget = Budget(until=time.monotonic() + 600)
    with OpenAIServer(lengths(6000, completion(""))) as server:
        path = served.rows(server)
        replies = ask(trials, ["served"], store=store, registry=path, budget=budget)
    results = score(trials, replies, store=store)
    assert counts_of(results) == {"correct": 1, "skipped": 1}
    assert [part.why for part in results.not_run] == [DOES_NOT_FIT]


def test_silence_on_every_prompt_is_a_refusal(asked: Callable[..., Results]) -> None:
    with OpenAIServer(lambda _: completion("")) as server:
        assert counts_of(asked(server, questions([300, 9000]))) == {"refused": 2}


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
        assert counts_of(asked(server, long)) == {"harness error": 50}
        assert len(server.requests) == 1
        words = "at most 4096 completion tokens"
        with refused(IncompleteError, "50 of 50", "served", words):
            asked(server, long, "raise")
        assert counts_of(asked(server, short)) == {"correct": 50}


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


def test_prompts_that_do_not_fit_end_no_run(asked: Callable[..., Results]) -> None:
    with OpenAIServer(lengths(6000, PROMPTS["OpenAI"])) as server:
        results = asked(server, questions([7000] * 50 + [300]))
    assert counts_of(results) == {"correct": 1, "does not fit": 50}


@pytest.mark.parametrize(
    "body",
    [
        {"content": [{"type": "text", "text": "hello, messages too long"}]},
        {"output": {"text": "a prompt of too long context length"}},
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
    assert limit_of(400, words, long) == "prompt"
