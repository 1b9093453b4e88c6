"""Reading of the replies of OpenAI-compatible servers: a response, token counts, an
error that came with status 200, and the limit that a refused request crosses.

The limit is the prompt's length, the answer's length or another limit, such as a rate.
Some refusals only say that something exceeds a limit. The limit is recognised by signs
(params/refusals.yaml): regular expressions for the words, codes and field names of
refusals, in the languages that servers use.
"""

import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from codestress.literals import parse_json
from codestress.paths import PARAMS
from codestress.types import (
    FinishReason,
    Outcome,
    Prompt,
    Response,
    Usage,
    now,
)
from codestress.validation import read_yaml

from ..network import Secret
from .dialects import DIALECTS, words_of

FINISHED: tuple[FinishReason, ...] = ("stop", "length", "content_filter")
"""OpenAI's finish reasons of a completion without tools."""
ENDINGS = (
    "stop_reason",
    "finishReason",
    "done_reason",
    "native_finish_reason",
    "stop_type",
)
"""Fields of other APIs, in a choice, that say why its text ended."""
TOKENS = (
    ("prompt_tokens",),
    ("completion_tokens",),
    ("completion_tokens_details", "reasoning_tokens"),
    ("prompt_tokens_details", "cached_tokens"),
)
"""Fields of a reply's `usage`, in the order of the fields of `Usage`."""
THOUGHT = re.compile("reasoning|think|thought|summary")
"""Regular expression for the names of fields and content parts with thoughts."""
MESSAGE = "choices.0.message"
"""Place of the model's message in a reply, as error messages name it."""
OVERLOADED = (429, 503, 529)
"""HTTP statuses with which servers ask for fewer requests."""
MAYBE_DIALECT = (400, 403, 404, 405, 406, 409, 415, 422, 500, 501, 502, 503)
"""HTTP statuses of refusals that may mean that the server speaks a dialect of the
protocol."""
TOO_LARGE = 413
"""HTTP status with which servers say that a request is too large."""
SUSPICIOUS = (400, TOO_LARGE, 422)
"""HTTP statuses with which servers refuse a prompt that is too long, and requests
with other faults."""
OUTCOMES = {
    "load": Outcome.OVERLOADED,
    "prompt": Outcome.DOES_NOT_FIT,
    "excess": Outcome.DOES_NOT_FIT,
}
"""Outcome of a refused request, by the limit that it crosses (`limit_of`). For any
other limit, and for none, the outcome is `harness error`."""
REMEDIES: dict[Any, str] = read_yaml(Path(__file__).with_name("remedies.yaml"))
"""Advice on faults that fail every request, by HTTP status or by name (remedies.yaml).
"""
LONGEST_WORDS = 1000
"""Maximum number of characters of a refusal that are read; the rest may repeat the
prompt."""
SMALLEST_CONTEXT = 128
"""Smallest context in tokens: a smaller number in a refusal is not the limit of a
prompt."""
SIGNS = PARAMS / "refusals.yaml"
"""File of the table of signs: for each limit, regular expressions by their source.

The limits are `money`, `rate`, `memory`, `key`, `filter`, `prompt`, `answer` and
`other`; `excess` means an unnamed limit. `size` is not a limit: signs of `answer` count
only beside a sign of `size`.
"""
NAMES_ERROR = re.compile("err|detail|mess|msg|code|status|base_resp")
"""Regular expression for the fields of a reply that tell of an error."""
LACKS_ITS_END = re.compile(r"Unterminated|Expecting (?!value: line \d+ column 1 )")
"""Regular expression for the parser's errors on JSON whose end is missing."""


class NoTextError(ValueError):
    """Raised for a reply that has no text and does not say why."""


def response_of(
    body: Any, seconds: float, secret: Secret, most: int | None = None
) -> Response:
    """Return the response in `body`, the JSON of a reply that took `seconds`, with the key of `secret` replaced in
    its texts.

    `most` is the request's `max_tokens`. If the server does not say why a completion ended, a completion of at least
    `most` tokens counts as cut off. Raises `ValueError`, with the reason, if the body is not a valid reply or does
    not have exactly one choice. Raises `NoTextError` if the body has neither an answer nor a reason for its absence.
    """
    if value_at(body, "error"):
        raise ValueError("error")
    choices = value_at(body, "choices")
    if choices == []:
        raise NoTextError("no choices")
    if isinstance(choices, list) and len(choices) > 1:
        raise ValueError(f"{len(choices)} choices, not 1 as asked")
    choice = value_at(choices, 0)
    text, reason = _text_and_reason(choice)
    usage = _usage(body)
    spoken = []
    if value_at(choice, "finish_reason") not in FINISHED:
        spoken.append("finish_reason")
        full = most is not None and (usage.completion_tokens or 0) >= most
        if full and reason == "stop":
            reason = "length"
    if isinstance(value_at(choice, "message", "content"), list | dict):
        spoken.append("parts")
    names = [value_at(body, "model"), value_at(body, "system_fingerprint")]
    return Response(
        text=secret.out_of(text),
        finish_reason=reason,
        usage=usage,
        seconds=seconds,
        answered_by=secret.out_of(" ".join(map(str, filter(None, names)))),
        answered_at=now(),
        dialects=tuple(spoken),
    )


def _text_and_reason(choice: Any) -> tuple[str, FinishReason]:
    """Return the text of `choice`, the only choice of a reply, and the reason why the
    text ended.

    The reason is `content_filter` for a refusal, `reasoning` for thoughts without a
    text, else the server's reason. Raises as `response_of` does.
    """
    message = value_at(choice, "message")
    if message is None and value_at(choice, "text") is not None:
        message = {"content": choice["text"]}
    if not isinstance(message, dict):
        raise ValueError(f"the reply's {MESSAGE} must be a mapping")
    content = message.get("content")
    text = _text_of(content, f"{MESSAGE}.content")
    refusal = _text_of(message.get("refusal"), f"{MESSAGE}.refusal")
    finish = choice.get("finish_reason")
    word = str(next(filter(None, [finish, *map(choice.get, ENDINGS)]), ""))
    endings = DIALECTS["finish_reason"].endings.items()
    reason = next(end for sign, end in endings if re.search(sign, word, re.I))
    fault = f"choices.0.finish_reason: {finish!r}"
    if reason is None:
        raise ValueError(fault)
    if refusal:
        return refusal, "content_filter"
    if text.strip() or reason != "stop":
        return text, reason
    thoughts = map(message.get, filter(THOUGHT.search, message))
    if any(thoughts) or THOUGHT.search(str(content)):
        return text, "reasoning"
    if finish != "stop":
        raise NoTextError(fault)
    return text, reason


def _text_of(content: Any, path: str) -> str:
    """Return the text of `content`: a text, a part, or a list of parts, whose thoughts
    and images are left out.

    None gives an empty text. A text may hold half of a surrogate pair. Raises
    `ValueError`, which names `path`, for any other content.
    """
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = value_at(part, "type") or (value_at(part, "text") and "text")
        if not isinstance(kind, str):
            raise ValueError(f"the reply's {path} must be a text")
        if "text" in kind and not THOUGHT.search(kind):
            # A part of text that lacks it is a fault, not an empty answer.
            texts.append(_text_of(part.get("text", 0), f"{path}.text"))
    return "".join(texts)


def value_at(body: Any, *path: str | int) -> Any:
    """Return the value in `body` to which `path` leads, a sequence of keys of mappings
    and indices of lists.

    None if a key or an index is missing.
    """
    for name in path:
        try:
            body = body[name]
        except (LookupError, TypeError):
            return None
    return body


def _usage(body: Any) -> Usage:
    """Return the tokens that the reply `body` counts.

    A negative number is read as 0; a count is None if there is no integer.
    """
    counts = [value_at(body, "usage", *path) for path in TOKENS]
    return Usage(*[max(0, n) if type(n) is int else None for n in counts])


def usage_in(content: bytes) -> Usage:
    """Return the tokens that the reply `content` counts, even if the reply is invalid
    in other ways.

    All counts are None if the content is not JSON.
    """
    try:
        return _usage(parse_json(content))
    except ValueError:
        return Usage()


def status_in(content: bytes) -> int | None:
    """Return the HTTP status of the error in `content`, the reply to a request for a
    completion; some servers send errors with status 200.

    The status is the one that the error names, or 400 if the error names a limit of
    lengths. None if there is no error or no such status.
    """
    try:
        body = parse_json(content)
    except ValueError:
        return None
    error = value_at(body, "error") or value_at(body, "choices", 0, "error")
    if not error and (value_at(body, "choices") or not isinstance(body, dict)):
        return None
    error = error or {name: body[name] for name in body if NAMES_ERROR.search(name)}
    for source, name in itertools.product((error, body), ("code", "status")):
        code = value_at(source, name)
        if type(code) is int and 400 <= code < 600:
            return code
    limit = limit_of(0, json.dumps(error))
    return 400 if limit not in ("", "other") else None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns = {}
    for limit, rows in read_yaml(SIGNS).items():
        patterns[limit] = re.compile("|".join(rows.values()), re.I | re.S)
    return patterns


def limits_in(words: str) -> list[str]:
    """Return the limits that the words of a server name, in the order of the table
    `SIGNS`.

    `rate` is included only if the request takes more tokens than the rate allows in
    all. Only the first `LONGEST_WORDS` characters are read.
    """
    words = words[:LONGEST_WORDS]
    patterns = _patterns()
    limits = [limit for limit in patterns if patterns[limit].search(words)]
    for sizes in patterns["rate"].findall(words):
        largest, requested = map(_tokens_in, sizes)
        if not SMALLEST_CONTEXT <= largest < requested:
            limits.remove("rate")
    left_out = ("size",) if "size" in limits else ("answer",)
    return [limit for limit in limits if limit not in left_out]


def _tokens_in(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def limit_of(status: int, refusal: str, prompt: Prompt | None = None) -> str:
    """Return the limit that a request crosses, read from the HTTP `status` and the text
    of its refusal; empty if the refusal is not about a limit.

    The limit is `load` or one of the table `SIGNS`. Without a sign, the limit is
    `excess` if the text has a number that can be the length of `prompt`, and `answer`
    if it has the prompt's `max_tokens`, each beside a smaller number that can be its
    limit.
    """
    words = words_of(refusal)[:LONGEST_WORDS]
    limits = limits_in(words)
    if "rate" in limits and status not in (TOO_LARGE, *OVERLOADED):
        limits.remove("rate")
    first = limits[0] if limits else ""
    if first in ("money", "rate", "memory"):
        return first
    if status in OVERLOADED:
        return "load"
    if status == TOO_LARGE and not {"other", "answer"} & {*limits}:
        return "prompt"
    if first or prompt is None:
        return first
    asked, length = prompt.sampling.max_tokens, prompt.characters
    numbers = set(map(_tokens_in, re.findall(r"\d[\d,]*", words))) - {status}
    if _has_beyond(numbers - {asked}, length / 6, length / 1.5 + asked):
        return "excess"
    return "answer" if _has_beyond(numbers, asked, asked) else ""


def _has_beyond(numbers: set[int], fewest: float, most: float) -> bool:
    """Return whether `numbers` has a number from `fewest` to `most`, possibly a length
    in tokens, and a smaller number that may be the length's limit."""
    tokens = max((n for n in numbers if fewest <= n <= most), default=0)
    return any(SMALLEST_CONTEXT <= number < tokens for number in numbers)


def dialects_in(status: int, refusal: str) -> list[str]:
    """Return the names of the dialects whose signs a refusal bears; none if the refusal
    is about something else."""
    words = words_of(refusal)
    if status not in MAYBE_DIALECT or {"prompt", "other"} & {*limits_in(words)}:
        return []
    return [
        name
        for name, dialect in DIALECTS.items()
        if re.search(dialect.refusal, words, re.I | re.S)
    ]


def outcome_of(status: int, words: str) -> Outcome:
    """Return the outcome of a refusal, read from its HTTP `status` and its `words`
    alone.

    The outcome is `overloaded`, `does not fit`, or `harness error` if the two decide
    nothing.
    """
    return OUTCOMES.get(limit_of(status, words), Outcome.HARNESS_ERROR)


Texts = dict[int, tuple[int | None, str]]
"""Dict from the hash of a reply's id to a pair: the hash of the reply's time and text,
and the digest of its prompt. The pair is (None, "") if replies with the id had several
times or texts."""


def check_repeat(texts: Texts, name: str, text: str, prompt: str) -> None:
    """Raise `ValueError` if a reply with the same id and text has answered another
    prompt: a cache or proxy mixes replies up.

    `name` is the id, `text` the text together with its time, and `prompt` the prompt's
    digest; `texts` records the earlier replies. An id that comes with two times or
    texts does not identify a reply: some servers give all replies the same id.
    """
    key, answer = hash(name), (hash(text), prompt)
    earlier = texts.setdefault(key, answer)
    if earlier[0] != answer[0]:
        texts[key] = (None, "")
    elif earlier != answer:
        raise ValueError(REMEDIES["repeated"])
