"""Limits on the spending of one command line, which stops before a request that could cross a
limit.

Every request that is sent counts, retries included. The sum is written to a file beside the store
before a request is sent: a command line that was killed or stopped continues from its sum when it
is started again. The sum is deleted when the command line ends with every request answered, or by
`codestress store budget --reset`.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference.engines.base import Engine
from codestress.inference.registry import ModelEntry
from codestress.literals import parse_json
from codestress.paths import STORE, exported, shown
from codestress.types import Request, Response

FEWEST_CHARACTERS_PER_TOKEN = 2
"""Smallest average number of characters in a prompt's tokens, for an upper bound of its cost: no
tokenizer makes more tokens of code and English."""
UNFINISHED: set[Path] = set()
"""Files of sums that are kept when this process ends, because a run ended before all its requests
were answered."""
TIME_IS_OVER = "the minutes are over"
LIMITS = ("BUDGET_USD", "BUDGET_TOKENS", "MAX_REQUESTS")
LENGTH = 200
"""Length of a sum's file in bytes, which are written at once."""
SUMS = "budget-*.json"
"""Pattern of the ending of the names of sums' files, after the store's name."""
SUM = "CODESTRESS_BUDGET_SUM"
"""Environment variable that gives a build's notebooks the path of the file with the build's sum."""
UNTIL = "CODESTRESS_ASK_UNTIL"
"""Environment variable that gives all processes of a build the end of its time limit, by
`time.monotonic`."""


class BudgetReached(IncompleteError):
    """Raised before a request that could cross a limit of the budget; every earlier response is in
    the store."""


class Sum(NamedTuple):
    """An amount that was spent or reserved: requests, tokens and US dollars."""

    requests: int = 0
    tokens: int = 0
    usd: float = 0.0

    def plus(self, other: Sum, times: int = 1) -> Sum:
        return Sum(
            self.requests + times * other.requests,
            self.tokens + times * other.tokens,
            self.usd + times * other.usd,
        )


@runtime_checkable
class MeteredEngine(Engine, Protocol):
    """An engine that may send several requests for one answer, and has its `budget` count each."""

    budget: Budget


@dataclass
class Budget:
    """Limits on dollars, tokens, requests and time, each None for no limit, and the sum spent. The
    most that a request can cost is reserved before it is sent, until its real cost is known."""

    usd: float | None = None
    tokens: int | None = None
    """Limit on the tokens of prompts and completions together, as the servers count them."""
    requests: int | None = None
    file: Path | None = None
    """The file that keeps the sum; None where no file does."""
    until: float | None = None
    """Time after which no request is sent, by `time.monotonic`; None for no end. With an end, every
    limit is a planned stop: `ask` counts the trials that it left out, and raises nothing."""
    _total: Sum = field(default=Sum(), repr=False)
    """The sum spent and reserved: by this process and, where a file is shared, by others."""
    _reserved: Sum = field(default=Sum(), repr=False)
    """The part of the sum that this process has reserved for requests under way."""
    _returned: asyncio.Event | None = field(default=None, repr=False)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, store: Path = STORE
    ) -> Budget:
        """Returns a budget with the limits BUDGET_USD, BUDGET_TOKENS and MAX_REQUESTS of
        `environment`; unset or empty means no limit. A time limit that `minutes_from_now` has set
        holds too.

        With one of the three limits, the sum is kept in a file beside the store at the path
        `store`. Raises `ParameterError` for a value that is no number from 0 on.
        """

        def limit(name: str) -> float | None:
            text = environment.get(name, "").replace("_", "").replace(",", "").strip()
            if not text:
                return None
            try:
                value = float(text)
            except ValueError:
                value = -1.0
            if not 0 <= value < float("inf"):
                raise ParameterError(
                    f"{name}={environment[name]!r}: must be a number from 0 on, for instance {name}=5"
                )
            return value

        usd, tokens, requests = map(limit, LIMITS)
        tokens = None if tokens is None else int(tokens)
        requests = None if requests is None else int(requests)
        budget = cls(usd, tokens, requests)
        if budget.limited:
            given = environment.get(SUM)
            budget.file = Path(given) if given else sum_of_this_command_line(store)
            if not given:
                atexit.register(budget._forget, os.getpid())
        if UNTIL in environment:
            budget.until = float(environment[UNTIL])
        return budget

    @property
    def limited(self) -> bool:
        return {self.usd, self.tokens, self.requests, self.until} != {None}

    @property
    def over(self) -> bool:
        """Whether the time limit `until` has passed; False without one."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def made(self) -> int:
        """Number of requests that the sum counts: sent or in flight, earlier attempts of the
        command line included."""
        return self._total.requests

    @property
    def spent_tokens(self) -> int:
        return self._total.plus(self._reserved, -1).tokens

    @property
    def spent_usd(self) -> float:
        return max(0.0, self._total.plus(self._reserved, -1).usd)

    async def answer(
        self, engine: Engine, entry: ModelEntry, request: Request
    ) -> Response:
        """Returns the response of `engine` to `request` and counts its cost in this budget, at the
        price in the registry row `entry`. A `MeteredEngine` counts each of the requests that it
        sends; for other engines one request is counted, or none where it is paid already
        (`Engine.submitted`).

        Raises `BudgetReached` where the request could cross a limit, and what the engine raises.
        """
        if isinstance(engine, MeteredEngine):
            engine.budget = self
        if isinstance(engine, MeteredEngine) or request.key in engine.submitted:
            return await engine.answer(request)
        most = most_tokens(request)
        async with self.paying(one_request(entry, *most)) as paid:
            response = await engine.answer(request)
            usage = response.usage
            tokens = said_or_most((usage.prompt_tokens, usage.completion_tokens), most)
            paid.append(one_request(entry, *tokens))
            return response

    @asynccontextmanager
    async def paying(self, most: Sum) -> AsyncIterator[list[Sum]]:
        """Context that reserves `most`, the most that one request can cost, and yields a list; the
        caller appends the real cost (a `Sum`), which is counted at the end. Without one, `most` is
        counted.

        Where the request could cross a limit, waits until requests in flight give back a part of
        their reserves; raises `BudgetReached` where none is in flight.
        """
        while not self.set_aside(most):
            if not self._reserved.requests:
                raise BudgetReached(self.reached())
            event = self._returned = self._returned or asyncio.Event()
            await event.wait()
        paid = [most]
        try:
            yield paid
        finally:
            self.count(most, paid[-1])

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Context of a run's requests: where an error ends it, the sum's file is kept for the next
        attempt; without an error it does nothing."""
        try:
            yield
        except BaseException:
            if self.file is not None:
                UNFINISHED.add(self.file)
            raise

    def shared(self) -> AbstractContextManager[None]:
        """Returns a context in which new child processes spend from this budget's sum; it does
        nothing where no file keeps the sum, or where a parent process already shares one with this
        process."""
        if self.file is None or SUM in os.environ:
            return nullcontext()
        return exported(SUM, str(self.file))

    def check(self, entry: ModelEntry) -> None:
        """Raises `EngineError` where dollars are limited and the registry row `entry`, of a model
        whose server asks for a key, has no price; else returns nothing."""
        if self.usd is not None and entry.price is None and entry.needs_key:
            raise EngineError(
                f"{entry.name}: BUDGET_USD is set, and params/models.yaml has no price for this model.\n"
                "Add `price: {input: …, output: …, date: …}` (dollars per million tokens) to its row, "
                "or limit BUDGET_TOKENS or MAX_REQUESTS instead."
            )

    def set_aside(self, amount: Sum) -> bool:
        """Reserves `amount`, the most that a request can cost, and returns True; False, with
        nothing reserved, where the request could cross a limit or the time is over."""
        if self.over:
            return False
        with self._counted():
            total = self._total.plus(amount)
            pairs = zip(total, (self.requests, self.tokens, self.usd), strict=True)
            if any(limit is not None and value > limit for value, limit in pairs):
                return False
            self._total = total
        self._reserved = self._reserved.plus(amount)
        return True

    def count(self, amount: Sum, real: Sum) -> None:
        """Replaces the reserved `amount` in the sum by the real cost `real`, and wakes the requests
        that wait for room."""
        with self._counted():
            self._total = self._total.plus(amount, -1).plus(real)
        self._reserved = self._reserved.plus(amount, -1)
        if self._returned is not None:
            self._returned.set()
            self._returned = None

    def reached(self) -> str:
        """Returns a message that says how much of each limit, of those that are set, was spent, or
        that the time is over."""
        if self.over:
            return TIME_IS_OVER
        parts = []
        if self.requests is not None:
            parts.append(f"{self.made:,} of {self.requests:,} requests (MAX_REQUESTS)")
        if self.tokens is not None:
            parts.append(
                f"{self.spent_tokens:,} of {self.tokens:,} tokens (BUDGET_TOKENS)"
            )
        if self.usd is not None:
            parts.append(f"${self.spent_usd:.4f} of ${self.usd:.2f} (BUDGET_USD)")
        reset = (
            "; `codestress store budget --reset` begins again from 0"
            if self.file
            else ""
        )
        return f"stopped at the budget: {', '.join(parts)} spent{reset}"

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Context that reads `_total` from the sum's file on entry, and writes a changed `_total`
        back on exit; does nothing without a file. Raises `ParameterError` where the file holds no
        sum.

        A process killed before it counts a request's real cost leaves the larger sum in the file.
        """
        if self.file is None:
            yield
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._total = before = _read(self.file, os.read(descriptor, LENGTH))
            yield
            if self._total != before:
                os.pwrite(descriptor, json.dumps(self._total).encode().ljust(LENGTH), 0)
        finally:
            os.close(descriptor)

    def _forget(self, process: int) -> None:
        if (
            self.file is not None
            and self.file not in UNFINISHED
            and os.getpid() == process
        ):
            self.file.unlink(missing_ok=True)


def minutes_from_now(minutes: float | None) -> AbstractContextManager[None]:
    """Returns a context that ends, `minutes` minutes from the call, every budget that this process
    and its new child processes make by `Budget.from_environment` within it.

    With None the context does nothing.
    """
    if minutes is None:
        return nullcontext()
    return exported(UNTIL, str(time.monotonic() + 60 * minutes))


def sum_of_this_command_line(store: Path) -> Path:
    """Returns the path of the file that keeps the sum spent by this command line, beside the store
    at the path `store`; a command line with other arguments has another file."""
    line = "\n".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    who = hashlib.blake2b(
        line.encode("utf-8", "surrogateescape"), digest_size=8
    ).hexdigest()
    return store.with_name(f".{store.name}.budget-{who}.json")


def sums(store: Path) -> dict[Path, Sum]:
    """Returns the sums (`Sum`) that killed or stopped command lines have spent, by the path of
    their file beside the store at the path `store`. Raises `ParameterError` for a file that holds
    no sum."""
    files = sorted(store.parent.glob(f".{store.name}.{SUMS}"))
    return {path: _read(path, path.read_bytes()) for path in files}


def _read(path: Path, content: bytes) -> Sum:
    try:
        requests, tokens, usd = parse_json(content or b"[0, 0, 0.0]")
        return Sum(int(requests), int(tokens), float(usd))
    except (ValueError, TypeError):
        raise ParameterError(
            f"{shown(path)}: holds no sum of a budget; `codestress store budget --reset` deletes it"
        ) from None


def most_tokens(request: Request) -> tuple[int, int]:
    """Returns upper bounds of a request's tokens, as a pair: of its prompt, by the number of
    characters, and of its completion, by the request's limit."""
    prompt = request.prompt
    characters = prompt.characters + len(prompt.prefill)
    return -(-characters // FEWEST_CHARACTERS_PER_TOKEN), prompt.sampling.max_tokens


def one_request(entry: ModelEntry, prompt_tokens: int, answer_tokens: int) -> Sum:
    """Returns the amount (`Sum`) that one request to the model of the registry row `entry` spends:
    1 request, `prompt_tokens` and `answer_tokens` together, and their price in US dollars."""
    return Sum(
        1, prompt_tokens + answer_tokens, cost(entry, prompt_tokens, answer_tokens)
    )


def said_or_most(
    said: tuple[int | None, int | None], most: tuple[int, int]
) -> tuple[int, int]:
    """Returns the tokens of prompt and completion as a pair: each as the server counted it in
    `said`, at least 0, or the limit in `most` where `said` has None for it."""
    prompt, answer = (
        limit if count is None else max(0, count)
        for count, limit in zip(said, most, strict=True)
    )
    return prompt, answer


def cost(entry: ModelEntry, prompt_tokens: float, answer_tokens: float) -> float:
    """Returns the price in US dollars of `prompt_tokens` and `answer_tokens` of the registry row
    `entry`'s model, half in batch mode (the engine `openai_batch`); 0 where the row has no
    price."""
    if entry.price is None:
        return 0.0
    share = 0.5 if entry.engine == "openai_batch" else 1.0
    return (
        share
        * (prompt_tokens * entry.price.input + answer_tokens * entry.price.output)
        / 1e6
    )
