"""Limits on what one command line may spend: the command line stops before a request
that could cross a limit.

Every request that is sent counts, retries included. The sum spent is written to a file
beside the store before a request is sent. A command line that was killed or stopped
therefore continues from its sum when it is started again. The sum is deleted when the
command line ends with every request answered, or by `codestress store budget --reset`.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import json
import math
import operator
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.literals import parse_json
from codestress.paths import STORE, exported, shown
from codestress.types import Request, Response, Usage, hash_of

from .engines.base import Engine
from .registry import ModelEntry

FEWEST_CHARACTERS_PER_TOKEN = 2
"""Smallest number of characters per token: no tokenizer makes more than one token of
two characters of code or English."""
LIMITS = ("MAX_REQUESTS", "BUDGET_TOKENS", "BUDGET_USD")
"""Environment variable of each limit, in the order of a `Sum`'s fields."""
SUM = "CODESTRESS_BUDGET_SUM"
"""Environment variable with the path of the file that keeps a build's sum: the build's
notebooks spend from the same sum."""
UNTIL = "CODESTRESS_ASK_UNTIL"
"""Environment variable with the end of a build's time, in seconds of `time.monotonic`.
"""
SUMS = "budget-*.json"
"""Pattern of the end of the names of sums' files, which follows the store's name."""
SUM_BYTES = 200
"""Length of a sum's file in bytes. Every write overwrites the file in full, so that a
reader never finds it empty."""
RESET = "codestress store budget --reset"
RESERVE_PAUSE_S = 0.05
"""Seconds between two checks of whether requests in flight have released reserved
amounts."""
_kept_sums: set[Path] = set()
"""Files of sums that are kept when this process ends, because not all its requests were
answered."""


class BudgetReached(IncompleteError):
    """Raised if the next request could cross a limit; every earlier response is in the
    store."""


class Sum(NamedTuple):
    """Amount that was spent or is reserved: requests, tokens and US dollars."""

    requests: float = 0
    tokens: float = 0
    usd: float = 0.0

    def plus(self, other: Sum, sign: int = 1) -> Sum:
        # Rounded: otherwise a sum of dollars would not come back to 0.
        pairs = zip(self, other, strict=True)
        sums = [round(own + sign * more, 12) for own, more in pairs]
        return Sum(*sums)


NOTHING = Sum()


@dataclass
class Budget:
    """Limits, each infinite for no limit, and the sum spent.

    The largest possible cost of a request is reserved before the request is sent, until
    its real cost is known.
    """

    requests: float = math.inf
    tokens: float = math.inf
    """Limit on the tokens of prompts and completions together, as the servers count
    them."""
    usd: float = math.inf
    file: Path | None = None
    """File that keeps the sum; None if the sum is kept in memory alone."""
    until: float | None = None
    """Time after which no request is sent, in seconds of `time.monotonic`.

    With a time limit, reaching any limit is a planned stop: `ask` counts the trials
    that it left out, and raises nothing.
    """
    spent: Sum = NOTHING
    """Amount that was spent or is reserved, including that of other processes that
    share the file and of earlier attempts of the command line."""
    refused: Sum = NOTHING
    """Largest possible cost of the last request that a limit stopped."""
    under_way: int = 0
    """Number of this process's requests that have a reserved amount."""

    @classmethod
    def from_environment(cls, store: Path = STORE) -> Budget:
        """Return a budget with the limits in the environment variables BUDGET_USD,
        BUDGET_TOKENS and MAX_REQUESTS; unset or empty means no limit.

        A time limit set by `minutes_from_now` holds too. If one of the three is set, a
        file keeps the sum: the one that the variable `SUM` names, else one beside the
        store. Raises `ParameterError` if a value is not a number of at least 0.
        """
        requests, tokens, usd = map(limit_of, LIMITS)
        budget = cls(requests, tokens, usd)
        if budget.limited and SUM in os.environ:
            budget.file = Path(os.environ[SUM])
        elif budget.limited:
            # Command lines with different arguments have different files.
            program, *arguments = sys.argv
            line = hash_of("\n".join([Path(program).name, *arguments]), 8)
            budget.file = store.with_name(f".{store.name}.budget-{line}.json")
            atexit.register(forget_sum, budget.file, os.getpid())
        if UNTIL in os.environ:
            budget.until = float(os.environ[UNTIL])
        return budget

    @property
    def limits(self) -> Sum:
        return Sum(self.requests, self.tokens, self.usd)

    @property
    def limited(self) -> bool:
        return min(self.limits) < math.inf or self.until is not None

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self.until is not None and time.monotonic() > self.until

    async def answer(
        self, engine: Engine, entry: ModelEntry, request: Request
    ) -> Response:
        """Return the engine's response, and pay for it at the price in the registry
        row.

        An engine that may send several requests for one answer has an attribute
        `budget`, and pays for each request itself. A request that an earlier run paid
        (`Engine.submitted`) costs nothing. Raises `BudgetReached` if the request could
        cross a limit, and any error of the engine.
        """
        if hasattr(engine, "budget"):
            engine.budget = self
        elif request.key not in engine.submitted:
            most = most_tokens(request)
            async with self.paying(entry, most) as costs:
                response = await engine.answer(request)
                costs.append(spent_on(entry, response.usage, most))
                return response
        return await engine.answer(request)

    @asynccontextmanager
    async def paying(
        self, entry: ModelEntry, tokens: tuple[int, int]
    ) -> AsyncIterator[list[Sum]]:
        """Reserve the largest possible cost of one request; `tokens` has the upper
        bounds of its prompt's and completion's tokens.

        The caller appends the real cost to the list; otherwise the largest cost is
        paid. If the request could cross a limit, wait until requests in flight release
        reserved amounts. Raises `BudgetReached` if this process has no request in
        flight.
        """
        most = one_request(entry, *tokens)
        while not self.set_aside(most):
            if not self.under_way:
                self.keep_sum()
                self.refused = most
                raise BudgetReached(self.reached())
            await asyncio.sleep(RESERVE_PAUSE_S)
        costs = [most]
        try:
            yield costs
        finally:
            self.count(most, costs[-1])

    def set_aside(self, amount: Sum) -> bool:
        """Reserve an amount and return True; return False, with nothing reserved, if
        the amount could cross a limit or the time is over."""
        if self.over:
            return False
        with self._counting():
            total = self.spent.plus(amount)
            if any(map(operator.gt, total, self.limits)):
                return False
            self.spent = total
        self.under_way += 1
        return True

    def count(self, amount: Sum, real: Sum) -> None:
        """Pay the real cost of a request in place of the reserved amount."""
        with self._counting():
            self.spent = self.spent.plus(amount, -1).plus(real)
        self.under_way -= 1

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Read the sum from its file, and write it back if the context has changed it.

        No other process uses the file in the meantime. A process that is killed leaves
        the larger sum.
        """
        if self.file is None:
            yield
            return
        self.file.touch()
        with self.file.open("r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = self.spent = read_sum(self.file)
            yield
            if self.spent != before:
                file.write(json.dumps(self.spent).ljust(SUM_BYTES).encode())

    def keep_sum(self) -> None:
        """Keep the file of the sum for the next attempt of this command line."""
        if self.file is not None:
            _kept_sums.add(self.file)

    def shared(self) -> AbstractContextManager[None]:
        """Return a context manager; child processes started in the context spend from
        this budget's sum."""
        return exported(SUM, str(self.file)) if self.file else nullcontext()

    def check(self, entry: ModelEntry) -> None:
        """Raise `EngineError` if dollars are limited and the model of a registry row
        needs a key and has no price."""
        if self.usd < math.inf and entry.price is None and entry.needs_key:
            raise EngineError(
                f"{entry.name}: BUDGET_USD is set, and this model has no price. Add "
                "`price: {input: …, output: …, date: …}`, dollars per million tokens, to "
                "its row in params/models.yaml, or limit BUDGET_TOKENS or MAX_REQUESTS."
            )

    def reached(self) -> str:
        """Return a message that says how much of each limit was spent, or that the time
        is over."""
        if self.over:
            return "the build's minutes are over"
        parts = []
        sums = zip(LIMITS, self.spent, self.limits, self.refused, strict=True)
        for name, spent, limit, most in sums:
            if limit < math.inf:
                parts.append(
                    f"{name}: {spent:,.10g} of {limit:,.10g} are spent, and the next "
                    f"request may take {most:,.10g}"
                )
        message = f"stopped at the budget: {'; '.join(parts)}"
        return f"{message}; `{RESET}` begins again from 0" if self.file else message


def limit_of(name: str) -> float:
    """Return the limit in an environment variable; infinite if the variable is unset or
    empty.

    Raises `ParameterError` if the value is not a number of at least 0.
    """
    setting = os.environ.get(name, "").strip()
    if not setting:
        return math.inf
    value = -1.0
    with suppress(ValueError):
        value = float(setting)
    if not 0 <= value < math.inf:
        raise ParameterError(
            f"{name}={setting!r}: must be a number from 0 on, for instance {name}=5"
        )
    return value


def minutes_from_now(minutes: float | None) -> AbstractContextManager[None]:
    """Return a context manager in which every new `Budget.from_environment` has a time
    limit, `minutes` from now.

    The limit also holds in the processes that this process starts. None means no time
    limit.
    """
    if minutes is None:
        return nullcontext()
    return exported(UNTIL, str(time.monotonic() + 60 * minutes))


def forget_sum(file: Path, process: int) -> None:
    """Delete a sum's file at the end of the process that made it, unless the sum is to
    be kept."""
    if file not in _kept_sums and os.getpid() == process:
        file.unlink(missing_ok=True)


def read_sum(path: Path) -> Sum:
    """Return the sum that a file holds; an empty file means 0.

    Raises `ParameterError`, which names the file, if it does not hold a sum.
    """
    try:
        requests, tokens, usd = parse_json(path.read_bytes() or b"[0, 0, 0.0]")
        return Sum(int(requests), int(tokens), float(usd))
    except (ValueError, TypeError):
        raise ParameterError(
            f"{shown(path)}: holds no sum of a budget; `{RESET}` deletes it"
        ) from None


def most_tokens(request: Request, text: str = "") -> tuple[int, int]:
    """Return the largest possible numbers of tokens of a request's prompt and
    completion.

    The first number follows from the characters of the prompt or, if it has more, of
    `text`: the prompt as a chat template renders it.
    """
    prompt = request.prompt
    characters = max(prompt.characters + len(prompt.prefill), len(text))
    return -(-characters // FEWEST_CHARACTERS_PER_TOKEN), prompt.sampling.max_tokens


def spent_on(entry: ModelEntry, usage: Usage, most: tuple[int, int]) -> Sum:
    """Return the `Sum` that one request spent, from the server's counts of tokens
    (`usage`).

    A negative count is read as 0, and a missing count as the upper bound in `most` (see
    `most_tokens`).
    """
    counts = usage.prompt_tokens, usage.completion_tokens
    pairs = zip(counts, most, strict=True)
    tokens = [top if count is None else max(0, count) for count, top in pairs]
    return one_request(entry, *tokens)


def one_request(entry: ModelEntry, prompt_tokens: int, answer_tokens: int) -> Sum:
    """Return the `Sum` that one request with these numbers of tokens spends."""
    usd = cost(entry, prompt_tokens, answer_tokens)
    return Sum(1, prompt_tokens + answer_tokens, usd)


def cost(entry: ModelEntry, prompt_tokens: float, answer_tokens: float) -> float:
    """Return the price of tokens in US dollars, from the model's registry row.

    The price is halved in batch mode, and is 0 if the row has no price.
    """
    if entry.price is None:
        return 0.0
    share = 0.5 if entry.engine == "openai_batch" else 1.0
    inputs = prompt_tokens * entry.price.input
    outputs = answer_tokens * entry.price.output
    return share * (inputs + outputs) / 1e6
