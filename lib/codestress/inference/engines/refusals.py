"""The meaning of a server's refusals: a dialect of the protocol, which is searched for by changed
requests, or a prompt or an answer that is too long, which a shorter prompt decides in doubt."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from openai import APIStatusError

from codestress.types import Outcome, Request, Response

from . import dialects
from .base import AnswerTooLong, RequestFailed
from .openai import Settings, request_body
from .openai_client import Client
from .replies import NoTextError, crossed, shortened, signs

MAY_BE_DIALECT = (400, 403, 404, 405, 406, 409, 415, 422, 500, 501, 502, 503)
"""Statuses of refusals that may mean that the server speaks a dialect."""
MOST_TRIALS = 16
"""Maximum number of changed requests that are sent to find a server's dialects."""


class Dialogue:
    """Sends requests to one server in its dialects, which it finds by the server's refusals, and
    keeps the lengths of prompts that the server has answered and refused.

    `send` sends a request in the dialects with the given names and returns the response; it raises
    `APIStatusError` where the server refuses.
    """

    def __init__(
        self,
        settings: Settings,
        http: Client,
        send: Callable[[Request, tuple[str, ...]], Awaitable[Response]],
    ) -> None:
        self._settings = settings
        self._http = http
        self._send = send
        self._spoken: tuple[str, ...] = ()
        """Names of the dialects to which requests are adapted, in the order in which they were
        found."""
        self._trials = 0
        self._searching = asyncio.Lock()
        self._answered = 0
        """Characters of the longest prompt that was answered."""
        self._unfit: dict[int, int] = {}
        """Characters of the shortest prompt that proved too long, by the longest answer."""

    async def answer(self, request: Request) -> Response:
        """Returns the response to `request`. Raises `RequestFailed`, with the outcome that the
        server's refusal shows, where this request fails, `EngineError` where none can succeed, and
        `BudgetReached` before a limit is crossed.

        An empty answer shows that a prompt is too long where it is longer than any that was
        answered, while a shorter one has an answer.
        """
        try:
            response = await self._in_dialect(request)
        except Exception as error:
            raise await self._judged(error, request) from None
        length = request.prompt.characters
        if response.text.strip():
            self._answered = max(length, self._answered)
            return response
        ended = response.finish_reason == "stop"
        ended = ended or response.usage.completion_tokens == 0
        if ended and length > self._answered and await self._fits_shorter(request):
            reason = "the answer is empty, to a shorter prompt it is not"
            raise self._http.failed(reason, Outcome.DOES_NOT_FIT)
        return response

    async def _in_dialect(self, request: Request) -> Response:
        """Returns the response to `request`; where the server refuses it in a dialect, to the
        request as the dialect wants it, as all later ones are. Raises the client's errors."""
        while True:
            spoken = self._spoken
            try:
                return await self._send(request, spoken)
            except APIStatusError as error:
                refusal = error
            async with self._searching:
                # Another request may have found a dialect meanwhile.
                if self._spoken == spoken:
                    return await self._adapted(request, refusal, spoken)

    async def _adapted(
        self, request: Request, refusal: APIStatusError, spoken: tuple[str, ...]
    ) -> Response:
        """Returns the response to `request` in the first dialect that the server answers, which is
        kept; raises `refusal` where none is answered.

        `refusal` is the server's word on the request in the dialects `spoken`. Where it says
        something else to a changed request, the change is kept and the next is looked for.
        """
        for change in self._changes(request, refusal, spoken):
            if self._trials == MOST_TRIALS:
                break
            self._trials += 1
            trial = (*spoken, *change)
            try:
                response = await self._send(request, trial)
                self._spoken = trial
                return response
            except APIStatusError as error:
                new = error
            if change and not dialects.same_refusal(
                refusal.response.text, new.response.text
            ):
                with suppress(APIStatusError):
                    return await self._adapted(request, new, trial)
        raise refusal

    def _changes(
        self, request: Request, refusal: APIStatusError, spoken: tuple[str, ...]
    ) -> list[tuple[str, ...]]:
        """Returns the changes of `request`, which was refused in the dialects `spoken`, that are
        worth a try, each as names of dialects; empty where the refusal is about something else."""
        words, status = refusal.response.text, refusal.status_code
        named = signs(dialects.words_of(words, numbers=True))
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

    async def _judged(self, error: Exception, request: Request) -> Exception:
        """Returns the failure of `request` for which the client raised `error`, with the outcome
        that the server's refusal shows, or as `AnswerTooLong`. Where the refusal is open to doubt,
        a shorter prompt is sent first."""
        failure = self._http.failure(error)
        if not isinstance(failure, RequestFailed):
            return failure
        prompt = request.prompt
        is_longest = prompt.characters > self._answered
        outcome: Outcome | None = failure.outcome
        in_doubt = is_longest and isinstance(failure.__cause__, NoTextError)
        if isinstance(error, APIStatusError):
            words = dialects.words_of(error.response.text, numbers=True)
            status = error.status_code
            outcome, in_doubt = crossed(status, words, prompt, is_longest)
        if in_doubt and await self._fits_shorter(request):
            outcome = Outcome.DOES_NOT_FIT
        if outcome is None:
            return AnswerTooLong(
                f"{failure}\nThe server allows no answers of {prompt.sampling.max_tokens:,} "
                "tokens: SET=max_tokens=… asks for shorter ones."
            )
        failure.outcome = outcome
        return failure

    async def _fits_shorter(self, request: Request) -> bool:
        """Whether the model answers `request` when its prompt is shortened; False, without a try,
        where it is short already, and True where a prompt that is no longer was tried before."""
        limit = request.prompt.sampling.max_tokens
        length = request.prompt.characters
        if limit in self._unfit and length >= self._unfit[limit]:
            return True
        shorter = shortened(request.prompt)
        if shorter is None:
            return False
        with suppress(RequestFailed):
            response = await self.answer(replace(request, prompt=shorter))
            if not response.refused:
                self._unfit[limit] = length
                return True
        return False
