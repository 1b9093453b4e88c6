"""Reading of replies of OpenAI-compatible servers: a response, token counts, an error that came
with status 200, and the limit that a refused request crosses.

Servers say which limit that is by signs: the limit of the prompt's length, that of the answer's
length, or another one, such as a rate; or that something they do not name exceeds one. A sign is a
regular expression for the words, codes and field names of a refusal, in the languages that servers
speak (params/refusals.yaml).
"""

import json
import re
from dataclasses import replace
from functools import cache
from typing import Any

from codestress.literals import parse_json
from codestress.paths import PARAMS
from codestress.types import (
    CHARACTERS_PER_TOKEN,
    FinishReason,
    Outcome,
    Prompt,
    Response,
    Usage,
    now,
)
from codestress.validation import read_yaml

from ..network import Secret
from . import dialects

FINISHED: tuple[FinishReason, ...] = ("stop", "length", "content_filter")
"""OpenAI's finish reasons of a completion without tools."""
ENDINGS = (
    "stop_reason",
    "finishReason",
    "done_reason",
    "native_finish_reason",
    "stop_type",
)
"""Fields of other APIs in a choice that say why its text ended."""
THOUGHT = re.compile("reason|think|thought|summary")
"""Regular expression for the types of parts that hold thoughts."""
NAMES_ERROR = re.compile("err|detail|mess|msg|code|base_resp")
"""Regular expression for the fields of a reply that tell of an error."""
MESSAGE = "choices.0.message"
"""Name of the only choice's message in errors."""
OVERLOADED = (429, 503, 529)
"""Statuses by which servers ask for fewer requests."""
TOO_LARGE = 413
"""Status by which servers say that a request is too large."""
SUSPICIOUS = (400, TOO_LARGE, 422)
"""Statuses with which servers refuse a prompt that is too long, and other faults of a request."""
LONGEST_WORDS = 1000
"""Maximum number of characters of a refusal that are read; what follows may repeat the prompt."""
SHORT = 100
"""Maximum number of characters of each message in a shortened prompt."""
SMALLEST_CONTEXT = 128
"""Smallest context in tokens; smaller numbers in a refusal are no limit of a prompt."""
SIGNS = PARAMS / "refusals.yaml"
"""The table of signs: regular expressions by the limit that they name (`prompt`, `answer`, `other`,
or `excess` for none) and by their source."""

SIZE = re.compile(
    r"\b(?!50\d\b)\d{2,}|max|limit|too |exceed|long|über|höchst|trop|dépass|demasiad|supera"
    "|[长長]|超|[过過]|[范範]|макс|초과",
    re.I,
)
"""Regular expression for words of size; a refusal without any is none of an answer's length."""


class NoTextError(ValueError):
    """Raised for a reply without a text that gives no reason for it."""


def response_of(
    body: Any, seconds: float, secret: Secret, most: int | None = None
) -> Response:
    """Returns the response in the JSON body `body` of a reply that took `seconds`, with the key of
    `secret` replaced in its texts. Raises `ValueError`, with the reason, where the body is no valid
    reply or has another number of choices than one.

    `most` is the largest number of tokens that was asked for: a completion of so many tokens is cut
    off where the server does not say why it ended.
    """
    if value_at(body, "error") is not None:
        raise ValueError("error")
    choices = value_at(body, "choices")
    if choices == []:
        raise NoTextError("no choices")
    if not isinstance(choices, list) or len(choices) != 1:
        number = len(choices) if isinstance(choices, list) else "no list of"
        raise ValueError(f"{number} choices, not 1 as asked")
    [choice] = choices
    text, reason = _text_and_reason(choice)
    usage = _usage(body)
    spoken = []
    if value_at(choice, "finish_reason") not in FINISHED:
        spoken.append("finish_reason")
        full = most is not None and (usage.completion_tokens or 0) >= most
        if full and reason == "stop":
            reason = "length"
    if isinstance(value_at(choice, "message", "content"), list):
        spoken.append("parts")
    names = [_text(body, "model"), _text(body, "system_fingerprint")]
    return Response(
        text=secret.out_of(text),
        finish_reason=reason,
        usage=usage,
        seconds=seconds,
        answered_by=secret.out_of(" ".join(filter(None, names))),
        answered_at=now(),
        dialects=tuple(spoken),
    )


def _text_and_reason(choice: Any) -> tuple[str, FinishReason]:
    """Returns the text of `choice`, the only choice of a reply, and the reason why it ended:
    `content_filter` for a refusal, `reasoning` for thoughts without a text, else the server's.
    Raises `ValueError` for an invalid choice or an incomplete text, and `NoTextError` for a choice
    without any answer or reason."""
    message = value_at(choice, "message")
    if message is None and value_at(choice, "text") is not None:
        message = {"content": choice["text"]}
    if not isinstance(message, dict):
        raise ValueError(f"the reply's {MESSAGE} must be a mapping")
    content = _text(message, f"{MESSAGE}.content")
    refusal = _text(message, f"{MESSAGE}.refusal")
    thought = message.get("reasoning_content") or message.get("reasoning")
    has_thought = bool(thought) or isinstance(message.get("content"), list)
    said = value_at(choice, "finish_reason")
    others = [value_at(choice, name) for name in ENDINGS]
    reason = dialects.ending(said, *others)
    problem = f"choices.0.finish_reason: {said!r}"
    if reason is None:
        raise ValueError(problem)
    if refusal:
        return refusal, "content_filter"
    if content.strip() or reason != "stop":
        return content, reason
    if has_thought:
        return content, "reasoning"
    if said != "stop":
        raise NoTextError(problem)
    return content, reason


def _text(body: Any, path: str) -> str:
    """Returns the text field of the mapping `body` with the last name of `path`. It may hold half a
    surrogate pair; empty where it is missing, and joined where it is a list of parts. Raises
    `ValueError`, which names `path`, where it is neither."""
    text = value_at(body, path.rpartition(".")[2])
    if isinstance(text, list):
        text = "".join(_text_of(part, path) for part in text)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ValueError(f"the reply's {path} must be a text")
    return text


def _text_of(part: Any, path: str) -> str:
    """Returns the text of `part`, one of the parts of an answer; empty for a thought, and for a
    part of another kind, such as an image. Raises `ValueError` where it has neither kind nor text."""
    usual = None if value_at(part, "text") is None else "text"
    kind = part.get("type", usual) if isinstance(part, dict) else None
    if not isinstance(kind, str):
        raise ValueError(f"the reply's {path} must be a text")
    if "text" not in kind or THOUGHT.search(kind):
        return ""
    return _text(part, f"{path}.text")


def value_at(body: Any, *path: str) -> Any:
    """Returns the value to which the keys `path` lead, one after the other, in `body` and the
    mappings inside; None where a key is missing or no mapping is there."""
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def count_at(body: Any, *path: str) -> int | None:
    """Returns the number of tokens to which the keys `path` lead in `body`, a negative one as 0;
    None where no integer is there."""
    count = value_at(body, *path)
    return max(0, count) if type(count) is int else None


def _usage(body: Any) -> Usage:
    usage = value_at(body, "usage")
    return Usage(
        prompt_tokens=count_at(usage, "prompt_tokens"),
        completion_tokens=count_at(usage, "completion_tokens"),
        reasoning_tokens=count_at(
            usage, "completion_tokens_details", "reasoning_tokens"
        ),
        cached_tokens=count_at(usage, "prompt_tokens_details", "cached_tokens"),
    )


def usage_in(content: bytes) -> Usage:
    """Returns the tokens that the reply `content` counts, whatever its other faults; none where it
    is no JSON."""
    try:
        return _usage(parse_json(content))
    except ValueError:
        return Usage()


def status_in(content: bytes) -> int | None:
    """Returns the HTTP status of the error in the reply `content`, which some servers send with
    status 200: the one that it names, or 400 where it names a limit of lengths; None for others."""
    if b'"choices"' in content and b'"error"' not in content:
        return None
    try:
        body = parse_json(content)
    except ValueError:
        return None
    error = _error_in(body)
    if not error:
        return None
    for source in (error, body):
        for name in ("code", "status"):
            code = value_at(source, name)
            if type(code) is int and 400 <= code < 600:
                return code
    words = dialects.words_of(json.dumps(error), numbers=True)
    named = signs(words)
    return 400 if named and "other" not in named else None


def _error_in(body: Any) -> Any:
    """Returns what tells of an error in `body`, the JSON of a reply: its field `error`, that of its
    first choice, or, without choices, all fields whose names speak of errors."""
    if error := value_at(body, "error"):
        return error
    choices = value_at(body, "choices")
    if choices:
        return value_at(choices[0], "error") if isinstance(choices, list) else None
    if not isinstance(body, dict):
        return None
    return {name: value for name, value in body.items() if NAMES_ERROR.search(name)}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns = {}
    for limit, rows in read_yaml(SIGNS).items():
        patterns[limit] = re.compile("|".join(rows.values()), re.I | re.S)
    return patterns


def signs(words: str) -> dict[str, int]:
    """Returns the limits that a server's `words` name by the table `SIGNS`, each with the place of
    its first sign; of longer words the first `LONGEST_WORDS` characters count."""
    words = words[:LONGEST_WORDS]
    places = {}
    for limit, pattern in _patterns().items():
        if match := pattern.search(words):
            places[limit] = match.start()
    if not SIZE.search(words):
        places.pop("answer", None)
    return places


def outcome_of(status: int, words: str) -> Outcome:
    """Returns the outcome of a refusal by its HTTP `status` and its `words` alone: `overloaded`,
    `does not fit`, or `harness error` where they decide nothing."""
    places = signs(words)
    if status in OVERLOADED:
        return Outcome.OVERLOADED
    if places.keys() <= {"prompt", "excess"} and (places or status == TOO_LARGE):
        return Outcome.DOES_NOT_FIT
    return Outcome.HARNESS_ERROR


def crossed(
    status: int, words: str, prompt: Prompt, is_longest: bool
) -> tuple[Outcome | None, bool]:
    """Returns the outcome of `prompt` by the HTTP `status` and the `words` of its refusal, None where
    it asks for too long an answer, and whether this is in doubt: where a shorter prompt is answered,
    the prompt is too long.

    `is_longest` says that no prompt of this length was answered before: then even a refusal without
    any sign may be about the length.
    """
    words = words[:LONGEST_WORDS]
    places = signs(words)
    if status in OVERLOADED:
        return Outcome.OVERLOADED, False
    if "other" in places:
        return Outcome.HARNESS_ERROR, False
    if "answer" in places and _blames_answer(places, prompt):
        return (None if status in SUSPICIOUS else Outcome.HARNESS_ERROR), True
    if places.keys() & {"answer", "prompt"} or status == TOO_LARGE:
        return Outcome.DOES_NOT_FIT, False
    if places:
        return Outcome.HARNESS_ERROR, True
    texts = re.findall(r"\d[\d,]*", words)
    numbers = {int(text.replace(",", "")) for text in texts} - {status}
    answer = prompt.sampling.max_tokens
    counts_prompt = _counts_prompt(numbers - {answer}, prompt)
    if status not in SUSPICIOUS:
        return Outcome.HARNESS_ERROR, counts_prompt
    if counts_prompt:
        return Outcome.DOES_NOT_FIT, False
    if answer in numbers and _has_limit(numbers, answer):
        return None, True
    return Outcome.HARNESS_ERROR, is_longest


def _has_limit(numbers: set[int], tokens: int) -> bool:
    """Whether one of `numbers` in a refusal can be a limit below `tokens`."""
    return any(SMALLEST_CONTEXT <= number < tokens for number in numbers)


def _counts_prompt(numbers: set[int], prompt: Prompt) -> bool:
    """Whether `numbers`, of a refusal, have one that can be the tokens of `prompt`, and a smaller
    one, which then is the limit."""
    fewest = prompt.characters / 6
    most = prompt.characters / 1.5 + prompt.sampling.max_tokens
    tokens = max((n for n in numbers if fewest <= n <= most), default=0)
    return _has_limit(numbers, tokens)


def _blames_answer(places: dict[str, int], prompt: Prompt) -> bool:
    """Whether a refusal of `prompt` with signs of the answer's length blames that length: it is the
    longer of the two, or named first. `places` are those that `signs` returns."""
    if prompt.sampling.max_tokens > prompt.characters / CHARACTERS_PER_TOKEN:
        return True
    return places["answer"] < places.get("prompt", LONGEST_WORDS)


def shortened(prompt: Prompt) -> Prompt | None:
    """Returns `prompt` with the first `SHORT` characters of each message; None where that is more
    than half of it."""
    messages = []
    for message in prompt.messages:
        messages.append(replace(message, content=message.content[:SHORT]))
    shorter = replace(prompt, messages=tuple(messages))
    return shorter if 2 * shorter.characters < prompt.characters else None
