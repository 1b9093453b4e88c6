"""The meaning of a server's refusals: a dialect of the protocol, which is searched for by changed
requests, or a prompt or an answer that is too long, which a shorter prompt decides in doubt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from openai import APIStatusError

from codestress.inference.engines import dialects, limits
from codestress.inference.engines.base import AnswerTooLong, RequestFailed
from codestress.inference.engines.openai import Settings, request_body
from codestress.inference.engines.replies import NoTextError
from codestress.types import Outcome, Request, Response

MAY_BE_DIALECT = (400, 403, 404, 405, 406, 409, 415, 422, 500, 501, 502, 503)
"""Statuses of refusals that may mean that the server speaks a dialect."""
MOST_TRIALS = 16
"""Maximum number of changed requests that are sent to find a server's dialects."""
OUTCOMES = {
    "load": Outcome.OVERLOADED,
    "prompt": Outcome.DOES_NOT_FIT,
    "": Outcome.HARNESS_ERROR,
}
"""Outcomes of a failed request by the limit that it crossed."""


class Adapter:
    """Sends requests in the dialects of one server, which it finds by the server's refusals.

    `send` sends a request in the dialects with the given names and returns the response; it raises
    `APIStatusError` where the server refuses.
    """

    def __init__(
        self,
        settings: Settings,
        send: Callable[[Request, tuple[str, ...]], Awaitable[Response]],
    ) -> None:
        self._settings = settings
        self._send = send
        self._spoken: tuple[str, ...] = ()
        """Names of the dialects to which requests are adapted, in the order in which they were
        found."""
        self._trials = 0
        self._searching = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Returns the response to `request`; where the server refuses it in a dialect, to the
        request as the dialect wants it, as all later ones are. Raises the client's errors."""
        while True:
            spoken = self._spoken
            try:
                return await self._send(request, spoken)
            except APIStatusError as error:
                refusal = error
            async with self._searching:
                if self._spoken != spoken:
                    continue  # another request has found a dialect meanwhile
                adapted = await self._adapted(request, refusal, spoken)
            if adapted is None:
                raise refusal
            return adapted

    async def _adapted(
        self, request: Request, refusal: APIStatusError, spoken: tuple[str, ...]
    ) -> Response | None:
        """Returns the response to `request` in the first dialect that the server answers, which is
        kept; None where none is answered.

        `refusal` is what the server said to the request in the dialects `spoken`. Where it says
        something else to a changed request, the change is kept and the next is looked for.
        """
        for change in self._changes(request, refusal, spoken):
            if self._trials == MOST_TRIALS:
                return None
            self._trials += 1
            trial = (*spoken, *change)
            try:
                response = await self._send(request, trial)
            except APIStatusError as error:
                new = error
            else:
                self._spoken = trial
                return response
            if change and not dialects.same_refusal(
                refusal.response.text, new.response.text
            ):
                adapted = await self._adapted(request, new, trial)
                if adapted is not None:
                    return adapted
        return None

    def _changes(
        self, request: Request, refusal: APIStatusError, spoken: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Returns the changes of `request`, which was refused in the dialects `spoken`, that are
        worth a try, each as names of dialects; empty where the refusal is about something else."""
        words, status = refusal.response.text, refusal.status_code
        named = limits.signs(dialects.words_of(words, numbers=True))
        if status not in MAY_BE_DIALECT or "prompt" in named or "other" in named:
            return []
        body = request_body(request, self._settings, spoken)
        usable = []
        for name in dialects.DIALECTS:
            if request_body(request, self._settings, (*spoken, name)) != body:
                usable.append(name)
        changes = dialects.changes_for(words, usable)
        if changes and status >= 500:
            # The error may have passed, and then is no dialect.
            changes.insert(0, ())
        return changes


class Lengths:
    """The lengths of prompts that one server has answered and refused. `answer` sends a request,
    the shortened ones of this class."""

    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer
        self._answered = 0
        """Characters of the longest prompt that was answered."""
        self._unfit: dict[int, int] = {}
        """Characters of the shortest prompt that proved too long, by the longest answer."""

    async def judged(
        self, failure: Exception, error: Exception, request: Request
    ) -> Exception:
        """Returns `failure`, the failure of `request` for which the client raised `error`, with the
        outcome that the server's refusal shows, or as `AnswerTooLong`. Where the refusal is open to
        doubt, a shorter prompt is sent first."""
        is_longest = request.prompt.characters > self._answered
        if not isinstance(failure, RequestFailed):
            return failure
        if isinstance(failure.__cause__, NoTextError):
            if is_longest and await self._fits_shorter(request):
                failure.outcome = Outcome.DOES_NOT_FIT
            return failure
        if not isinstance(error, APIStatusError):
            return failure
        words = error.body if isinstance(error.body, str) else json.dumps(error.body)
        words = dialects.words_of(words, numbers=True)
        limit, in_doubt = limits.crossed(
            error.status_code, words, request.prompt, is_longest
        )
        if in_doubt and await self._fits_shorter(request):
            limit = "prompt"
        if limit == "answer":
            longest = request.prompt.sampling.max_tokens
            return AnswerTooLong(
                f"{failure}\nThe server allows no answers of {longest:,} tokens: "
                "SET=max_tokens=… asks for shorter ones."
            )
        failure.outcome = OUTCOMES[limit]
        return failure

    async def check(self, request: Request, response: Response, who: str) -> None:
        """Records that `request` has a `response`. Raises `RequestFailed`, which begins with `who`,
        where its text is empty because the prompt is too long: longer than any that was answered,
        while a shorter one has an answer."""
        length = request.prompt.characters
        if response.text.strip():
            self._answered = max(length, self._answered)
            return
        stopped = response.finish_reason == "stop"
        if not stopped and response.usage.completion_tokens != 0:
            return
        if length > self._answered and await self._fits_shorter(request):
            reason = "the answer is empty, to a shorter prompt it is not"
            raise RequestFailed(f"{who}: {reason}", Outcome.DOES_NOT_FIT)

    async def _fits_shorter(self, request: Request) -> bool:
        """Whether the model answers `request` when its prompt is shortened; False, without a try,
        where it is short already, and True where a prompt that is no longer was tried before."""
        limit = request.prompt.sampling.max_tokens
        length = request.prompt.characters
        if limit in self._unfit and length >= self._unfit[limit]:
            return True
        shorter = limits.shortened(request.prompt)
        if shorter is None:
            return False
        with suppress(RequestFailed):
            response = await self._answer(replace(request, prompt=shorter))
            if not response.refused:
                self._unfit[limit] = length
                return True
        return False
