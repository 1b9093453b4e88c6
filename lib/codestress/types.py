"""The contract: trials, requests, responses and scores, the words everything else is written in.

problems -> generation -> inference -> scoring -> fitting -> report
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

Scalar = str | int | float | bool | None
Language = Literal["python", "javascript", "java"]
"""Of programs."""
LANGUAGE_NAMES: Mapping[str, str] = {"python": "Python", "javascript": "JavaScript", "java": "Java"}
CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for what has no tokenizer at hand: plans, contexts of equal length, simulated readers."""


class Source(StrEnum):
    """Whose a program is. It decides whether it may run where nothing isolates; no file can claim it."""

    KIT = "the kit's own"
    """Made by this package: generated, contest and Java programs, what its readers piece together of them."""
    STRANGER = "a stranger's"
    """All that came from outside: data sets, models, files, submissions. What nothing is known of is one."""


class Outcome(StrEnum):
    """What became of a question. Counts over all outcomes always add up to what was asked."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNPARSABLE = "unparsable"
    """The answer was complete, but no answer of the required form stands in it."""
    SYNTAX_ERROR = "syntax error"
    TRUNCATED = "truncated"
    """The answer was cut off by `max_tokens` before it said what was asked for."""
    REFUSED = "refused"
    """The model declined or sent nothing, also when asked again."""
    ONLY_REASONING = "only reasoning"
    """The model thought, and ended without a word to the one who asked."""
    MISSING = "missing"
    """An answer that a file of answers should have and does not."""
    RAISED = "raised"
    """What had to be run to judge the answer ended in an exception."""
    STEP_LIMIT = "step limit"
    """What had to be run did not end within the limit of steps."""
    TIMEOUT = "timed out"
    """The request, or what had to be run, took longer than the time that stands behind all other limits."""
    SKIPPED = "skipped"
    """Not asked, because an earlier question of the same trial decided that it must not be; `detail` says why."""
    HARNESS_ERROR = "harness error"
    """The request failed for a reason that is not the model's: server, network, quota."""

    @property
    def code(self) -> str:
        """As `codestress score --json` has always spelled it."""
        return {"correct": "right", "incorrect": "wrong"}.get(self.value, self.value)


@dataclass(frozen=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Sampling:
    """How the answer is drawn. Every field changes the key of a request."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    """Longest answer, in the model's tokens."""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """What a model is shown: a trial rendered, still for any model."""

    messages: tuple[Message, ...]
    sampling: Sampling
    prefill: str = ""
    """Beginning of the assistant's turn that the model continues."""
    source: Source = Source.STRANGER
    """Of the program that the prompt is about: for engines that run it. No model sees it, no key depends on it."""
    repetition: int = 0
    """How often its trial has asked the very same before: a later step asks it anew, as another sample of the request.
    No model sees it."""

    @property
    def characters(self) -> int:
        """Of all messages, without the begun answer."""
        return sum(len(message.content) for message in self.messages)

    @cached_property
    def digest(self) -> str:
        """Hash of all of it: computed once, however many models are asked."""
        sampling = self.sampling
        return _digest(
            {
                "messages": [{"role": message.role, "content": message.content} for message in self.messages],
                "prefill": self.prefill,
                "sampling": {field.name: getattr(sampling, field.name) for field in fields(sampling)},
            }
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """One question, by its factors; small, because the prompt is rendered only when it is needed."""

    problem: str
    """Names the item, so that conditions asked on the same item can be paired."""
    factors: Mapping[str, Scalar]
    seed: int = 0
    sample: int = 0
    """Index among repetitions of the same question."""


@dataclass(frozen=True)
class Request:
    """All that an engine sees (law 1): never the expected answer, never the factors."""

    model: str
    """The model's id as its server knows it."""
    revision: str
    prompt: Prompt
    sample: int = 0
    attempt: int = 0
    """0 for the first try; counts repetitions after a refusal."""

    @cached_property
    def key(self) -> str:
        """Hash of everything that could change the answer (law 4): 32 hexadecimal digits."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return _digest(named | {"prompt": self.prompt.digest})


def _digest(content: Mapping[str, object]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them; None where it does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


def now() -> str:
    """This moment as ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


FinishReason = Literal["stop", "length", "content_filter", "reasoning"]
"""Why a text ended; `reasoning`: before it began, after nothing but reasoning."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back for a request."""

    text: str
    finish_reason: FinishReason
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    """From sending to the last byte."""
    answered_by: str = ""
    """Model and fingerprint as the server names them; `simulated` for a simulated reader."""
    answered_at: str = ""
    """As `now` says."""
    server: str = ""
    """Its address (`inference.servers.server_of`); empty where there is none, or nobody knows it."""
    earlier: tuple[Response, ...] = ()
    """Responses to the trial's earlier requests, where it makes several; not part of what is stored."""

    @property
    def refused(self) -> bool:
        """Declined by the server's filter, or ended with nothing said or thought at all."""
        return self.finish_reason == "content_filter" or (self.finish_reason == "stop" and not self.text.strip())


@dataclass(frozen=True, slots=True)
class Score:
    """What a response is worth (0 to 1), and why."""

    outcome: Outcome
    value: float
    detail: str = ""
    """The extracted answer, or what was missing."""
    unresolved: bool = False
    """Arithmetic was left in the answer (`81 - 43`)."""


@dataclass(frozen=True)
class NotRun:
    """A part of a study that this machine cannot run: the others are built without it, and it is told everywhere."""

    factor: str
    """The factor whose value is left out."""
    value: str
    label: str
    """The value for people."""
    why: str


@dataclass(frozen=True)
class Trials:
    """The trials of a study, with what renders and what judges them."""

    items: Sequence[Trial]
    render: Callable[[Trial], Prompt]
    judges: Mapping[str, Callable[[Trial, Response], Score]]
    """Scoring rules by name: `strict`, and `reference` where the paper's own harness judged otherwise."""
    retry_temperatures: tuple[float, ...] = ()
    """Temperatures at which a refused or empty answer is asked again."""
    follow_up: Callable[[Trial, tuple[Response, ...]], Prompt | None] | None = None
    """The prompt of a trial's next request, from the responses so far, to the same model; None when it is done."""
    steps: Callable[[Trial], int] = lambda _: 1
    """Requests that a trial makes when all goes well: for plans."""
    chance: Callable[[Trial, Prompt, Mapping[str, Any]], float | None] | None = None
    """With which probability an instrument with these settings answers a trial right: what estimates are held against.
    It owes nothing to the answers that are scored. None where nobody can say."""
    known: str = "from their parameters"
    """Where `chance` is known from, in words."""
    not_run: tuple[NotRun, ...] = ()
    own: Mapping[str, Trials] = field(default_factory=dict)
    """By model: the trials of one with settings of its own, in place of these; judged by the same rules."""

    def of(self, model: str) -> Trials:
        """What a model is asked."""
        return self.own.get(model, self)

    def total(self, models: Iterable[str]) -> int:
        """How many trials several models have together."""
        return sum(len(self.of(model).items) for model in models)
