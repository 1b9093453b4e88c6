"""Types that all other modules use: trials, requests, responses and scores. These types
are the contract of the package.

The order of the kit's pipeline is problems -> mutate -> inference -> scoring -> fitting
-> report.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Literal

Scalar = str | int | float | bool | None
Language = Literal["python", "javascript", "java"]
"""Language of a program."""
LANGUAGE_NAMES: Mapping[str, str] = {
    "python": "Python",
    "javascript": "JavaScript",
    "java": "Java",
}
Task = Literal["input", "output"]
"""Question about a call: `input` asks for its arguments, `output` for the value that it returns."""
CHARACTERS_PER_TOKEN = 4
"""Rough number of characters per token, used if no tokenizer is at hand: in plans, for
contexts of equal length, and by simulated readers."""


class Source(StrEnum):
    """Origin of a program: the kit or a stranger. The origin decides whether the
    program may run without a sandbox. No file can claim an origin."""

    KIT = "the kit's own"
    """Programs made by this package: generated, contest and Java programs, and programs
    that simulated readers piece together from the kit's programs."""
    STRANGER = "a stranger's"
    """Untrusted programs: those from data sets, models, files and submissions, and
    every program of unknown origin."""


class Outcome(StrEnum):
    """Outcome of a request or trial, such as correct, refused or skipped. The counts of all
    outcomes add up to the number of trials."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNPARSABLE = "unparsable"
    """The completion is whole, but has no answer in the required form."""
    SYNTAX_ERROR = "syntax error"
    TRUNCATED = "truncated"
    """`max_tokens` cut the completion off before the answer."""
    REFUSED = "refused"
    """The model declined or returned nothing, also after all retries."""
    ONLY_REASONING = "only reasoning"
    """The response consists of reasoning, without any text after the reasoning."""
    MISSING = "missing"
    """An answer is missing from a file of answers that should have it."""
    RAISED = "raised"
    """A program that the scorer ran ended in an exception."""
    STEP_LIMIT = "step limit"
    """A program that the scorer ran did not end within the limit on its steps."""
    TIMEOUT = "timed out"
    """The request, or a program that the scorer ran, exceeded its time limit, which
    stands behind all other limits."""
    DOES_NOT_FIT = "does not fit"
    """The prompt is longer than the model's context, or than its server accepts."""
    OVERLOADED = "overloaded"
    """The server asked for fewer requests (HTTP 429, 503 or 529), also after all retries."""
    CUT_REPLY = "cut reply"
    """The connection broke within the server's reply, also after all retries, or the reply is an
    incomplete JSON text."""
    SKIPPED = "skipped"
    """The request was not sent. Either an earlier response of the same trial ruled the
    request out (`detail` says why), or the build's minutes or budget ended before
    (`Results.not_asked` counts these requests)."""
    HARNESS_ERROR = "harness error"
    """The request failed for another reason that is not the model's: the server, the
    network or a quota."""

    @property
    def code(self) -> str:
        """Name of the outcome in `codestress score --json`: `right` for CORRECT and `wrong` for
        INCORRECT, else the outcome's value."""
        return {"correct": "right", "incorrect": "wrong"}.get(self.value, self.value)


@dataclass(frozen=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Sampling:
    """Settings with which a completion is sampled: temperature, `top_p`, largest length
    and stop texts. Every field changes the key of a request."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    """Largest length of the completion, in the model's tokens."""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """A rendered trial: messages and sampling settings, for any model."""

    messages: tuple[Message, ...]
    sampling: Sampling
    prefill: str = ""
    """Beginning of the assistant's turn that the model continues."""
    source: Source = Source.STRANGER
    """Origin of the program in the prompt, for engines that run the program. The model
    does not see the origin, and no key depends on the origin."""
    repetition: int = 0
    """Number of identical prompts that the trial has sent before. If a later step of
    the trial sends the prompt again, it asks for another sample. The model does not see
    this number."""

    @property
    def characters(self) -> int:
        """Number of characters in all messages of the prompt, without the prefill."""
        return sum(len(message.content) for message in self.messages)

    @cached_property
    def digest(self) -> str:
        """Hash of the prompt's messages, prefill and sampling (32 hexadecimal digits), computed
        once for all models."""
        return digest_of(
            {
                "messages": [vars(message) for message in self.messages],
                "prefill": self.prefill,
                "sampling": vars(self.sampling),
            }
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to a model: the item that it is about, and its factors (a mapping
    from name to value of each experimental condition).

    A trial is small, because its prompt is rendered only when needed.
    """

    problem: str
    """Id of the item. Conditions that are asked on the same item are paired by this id.
    """
    factors: Mapping[str, Scalar]
    seed: int = 0
    sample: int = 0
    """Index among repeated samples of the same question."""


@dataclass(frozen=True)
class Request:
    """Everything that an engine sees (law 1 of docs/architecture.md): never the
    expected answer, never the factors. `inference.requests.request_for` makes requests.
    """

    model: str
    """Id of the model as its server knows it."""
    revision: str
    """Identity of the model (`ModelEntry.identity`): the revision in its registry row,
    and the settings that change its requests. For an engine in this process it includes
    a hash or version of the engine's code or weights."""
    prompt: Prompt
    sample: int = 0
    """Index among repeated samples of the same prompt."""
    attempt: int = 0
    """Number of earlier requests with this prompt that were refused; 0 for the first
    try."""

    @cached_property
    def key(self) -> str:
        """Key under which the store keeps the response (law 4 of docs/architecture.md):
        a hash of all fields of the request, 32 hexadecimal digits.

        The key covers the prompt's messages, prefill and sampling (`Prompt.digest`).
        The key does not cover the server's address, which the store checks separately.
        """
        # `vars` has the fields alone: the cached key joins them only after this call.
        return digest_of(vars(self) | {"prompt": self.prompt.digest})


# One encoder for all keys: `json.dumps` would make a new one for each of some 100,000.
CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest_of(content: Mapping[str, object]) -> str:
    """Return the hash of the mapping `content` written as JSON: 32 hexadecimal digits,
    independent of the order of keys."""
    return hash_of(CANONICAL.encode(content))


def hash_of(text: str, size: int = 16) -> str:
    """Return the BLAKE2b hash of `text` in UTF-8: `size` bytes, each as two hexadecimal
    digits."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=size).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Numbers of tokens in a prompt and its completion, as the server reports them. A
    number is None if the server omits it."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


def now() -> str:
    """Return the current time in UTC, as ISO 8601 text with seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


FinishReason = Literal["stop", "length", "content_filter", "reasoning"]
"""Reason why a completion ended; `reasoning` means that the response has reasoning but
no text."""


@dataclass(frozen=True, slots=True)
class Response:
    """Response of a model to a request: the text, the reason why it ended, token
    counts, the time, and the model and server that answered."""

    text: str
    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    """Seconds from sending the request to the last byte of the response."""
    answered_by: str = ""
    """Model and fingerprint as the server names them; `simulated` for a simulated reader."""
    answered_at: str = ""
    """Time of the response in UTC, as ISO 8601 text."""
    server: str = ""
    """Address of the server (`inference.requests.server_of`); empty if the model has no
    server or the server is unknown."""
    earlier: tuple[Response, ...] = ()
    """Responses to earlier requests of the same trial, if a trial makes several
    requests. The store does not keep this field."""
    dialects: tuple[str, ...] = ()
    """Names of the dialects, which are the peculiarities of servers
    (`inference.engines.dialects`), that the engine found and adapted this request to.
    The store does not keep this field: the dialects change the request's key."""

    @property
    def refused(self) -> bool:
        """Whether the model refused: the server's filter declined, or the model stopped without any
        text or reasoning."""
        return self.finish_reason == "content_filter" or (
            self.finish_reason == "stop" and not self.text.strip()
        )


@dataclass(frozen=True, slots=True)
class Score:
    """Score of a response under one scoring rule: the outcome, a value from 0 to 1, and
    the answer that was read."""

    outcome: Outcome
    value: float
    """Score from 0 to 1; nan if the trial was not asked. docs/scoring.md has the value
    of each outcome."""
    detail: str = ""
    """Answer that was read from the response, or a note on what is missing."""
    unresolved: bool = False
    """Whether the answer contains arithmetic that the model did not work out (`81 -
    43`)."""


@dataclass(frozen=True)
class NotRun:
    """A part of a study (one value of a factor) that cannot run on this computer, with
    the reason. The remaining parts are built without it, and every output mentions the
    gap."""

    factor: str
    """Name of the factor with the omitted value."""
    value: str
    label: str
    """Readable text of the omitted value."""
    why: str


@dataclass(frozen=True)
class Trials:
    """Trials of a study, with the functions that render them as prompts and score the responses."""

    items: Sequence[Trial]
    render: Callable[[Trial], Prompt]
    judges: Mapping[str, Callable[[Trial, Response], Score]]
    """Scoring functions by rule name: `strict`, and `reference` if the paper's own
    harness scores differently. Each function returns the `Score` of a trial's response.
    """
    retry_temperatures: tuple[float, ...] = ()
    """Temperatures of the repeated requests after a refused or empty response, in
    order."""
    follow_up: Callable[[Trial, tuple[Response, ...]], Prompt | None] = lambda *_: None
    """Function from a trial and its responses so far to the prompt of its next request
    to the same model. The function returns None if the trial is done."""
    steps: Callable[[Trial], int] = lambda _: 1
    """Function that returns the number of requests that a trial makes if none fails;
    plans use it."""
    not_run: tuple[NotRun, ...] = ()
    own: Mapping[str, Trials] = field(default_factory=dict)
    """Trials by model name, for models with settings of their own. A model's own trials
    replace `items` and follow the same scoring rules."""

    def of(self, model: str) -> Trials:
        """Return the trials that `model` (a name) is asked: its entry in `own` if it
        has one, else these trials."""
        return self.own.get(model, self)

    def total(self, models: Iterable[str]) -> int:
        """Return the number of trials that all `models` (names) together are asked."""
        return sum(len(self.of(model).items) for model in models)
