"""Limits on what one command line may spend: it stops at the line, before a request that could cross it.

Every request that goes out counts, tries after the first included. The sum lies in a file beside the store before a
request is sent: a command line that was killed, or stopped, goes on from its sum when it is started again. The sum is
forgotten when the command line ends with every question answered, or by `codestress store budget --reset`.
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
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference.engines.base import Engine
from codestress.literals import parse_json
from codestress.paths import STORE, shown
from codestress.types import Request, Response

if TYPE_CHECKING:
    from codestress.inference.registry import ModelEntry

FEWEST_CHARACTERS_PER_TOKEN = 2
"""For the most that a prompt can cost: no tokenizer makes more tokens than that of code and English."""
UNFINISHED: set[Path] = set()
"""Files of sums that outlive this process, because something ended before its questions were answered."""
TIME_IS_OVER = "the time is over"
LIMITS = ("BUDGET_USD", "BUDGET_TOKENS", "MAX_REQUESTS")
LENGTH = 200
"""Bytes of a file with a sum, written at once."""
SUMS = "budget-*.json"
"""Names of files with sums, after that of the store."""
SUM = "CODESTRESS_BUDGET_SUM"
"""Environment variable that names the file of a build's sum to the notebooks of the same build."""


class BudgetReached(IncompleteError):
    """The next request could have crossed a limit; everything answered before is in the store."""


class Sum(NamedTuple):
    """What was spent, or set aside."""

    requests: int = 0
    tokens: int = 0
    usd: float = 0.0

    def plus(self, other: Sum, times: int = 1) -> Sum:
        return Sum(*(mine + times * theirs for mine, theirs in zip(self, other, strict=True)))  # type: ignore[arg-type]


@runtime_checkable
class MeteredEngine(Engine, Protocol):
    """An engine that may send several requests for one answer, and has the budget count each."""

    budget: Budget


@dataclass
class Budget:
    """What may be spent, and what was. A request reserves the most that it can cost until its real cost is known."""

    usd: float | None = None
    tokens: int | None = None
    """Of prompts and answers together, as the servers count them."""
    requests: int | None = None
    file: Path | None = None
    """Where the sum is kept; None: nowhere."""
    until: float | None = None
    """When the last request may be sent, by `time.monotonic`."""
    failed: int = 0
    """Requests of servers that were refused for overload, or brought no reply."""
    _total: Sum = field(default=Sum(), repr=False)
    """All that was spent or set aside, here or, where a file is shared, elsewhere."""
    _reserved: Sum = field(default=Sum(), repr=False)
    """Set aside here."""
    _returned: asyncio.Event | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, store: Path = STORE) -> Budget:
        """From BUDGET_USD, BUDGET_TOKENS and MAX_REQUESTS; unset or empty: no limit. The sum lies beside the store."""

        def limit(name: str) -> float | None:
            text = environment.get(name, "").replace("_", "").replace(",", "").strip()
            if not text:
                return None
            try:
                value = float(text)
            except ValueError:
                value = -1.0
            if not 0 <= value < float("inf"):
                raise ParameterError(f"{name}={environment[name]!r}: must be a number from 0 on, for instance {name}=5")
            return value

        usd, tokens, requests = map(limit, LIMITS)
        budget = cls(usd, None if tokens is None else int(tokens), None if requests is None else int(requests))
        if budget.limited:
            given = environment.get(SUM)
            budget.file = Path(given) if given else sum_of_this_command_line(store)
            if not given:
                atexit.register(budget._forget, os.getpid())
        return budget

    @property
    def limited(self) -> bool:
        return any(limit is not None for limit in (self.usd, self.tokens, self.requests, self.until))

    @property
    def made(self) -> int:
        """Requests that went out, those in flight included."""
        return self._total.requests

    @property
    def spent_tokens(self) -> int:
        return self._total.plus(self._reserved, -1).tokens

    @property
    def spent_usd(self) -> float:
        return max(0.0, self._total.plus(self._reserved, -1).usd)

    async def answer(self, engine: Engine, entry: ModelEntry, request: Request) -> Response:
        """The engine's answer, paid from this budget: each of its requests where it sends several, else this one."""
        if isinstance(engine, MeteredEngine):
            engine.budget = self
        if isinstance(engine, MeteredEngine) or request.key in engine.submitted:
            return await engine.answer(request)
        most = most_tokens(request)
        async with self.paying(one_request(entry, *most)) as paid:
            response = await engine.answer(request)
            said = response.usage.prompt_tokens, response.usage.completion_tokens
            paid.append(one_request(entry, *said_or_most(said, most)))
            return response

    @asynccontextmanager
    async def paying(self, most: Sum) -> AsyncIterator[list[Sum]]:
        """Around one request: the most that it can cost, until what it did cost is appended; `BudgetReached` before it
        where that could cross a limit, with nothing in flight that may give something back."""
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
        """Around the asking: what ends in an error leaves the sum to whoever tries again."""
        try:
            yield
        except BaseException:
            if self.file is not None:
                UNFINISHED.add(self.file)
            raise

    @contextmanager
    def shared(self) -> Iterator[None]:
        """The processes that this one starts meanwhile spend from the same sum."""
        if self.file is None or SUM in os.environ:
            yield
            return
        os.environ[SUM] = str(self.file)
        try:
            yield
        finally:
            del os.environ[SUM]

    def check(self, entry: ModelEntry) -> None:
        """`EngineError` where dollars are limited and nobody knows what the model costs."""
        if self.usd is not None and entry.price is None and entry.needs_key:
            raise EngineError(
                f"{entry.name}: BUDGET_USD is set, and params/models.yaml has no price for this model.\n"
                "Add `price: {input: …, output: …, date: …}` (dollars per million tokens) to its row, "
                "or limit BUDGET_TOKENS or MAX_REQUESTS instead."
            )

    def set_aside(self, amount: Sum) -> bool:
        """Sets aside the most that a request can cost; False where that could cross a limit."""
        if self.until is not None and time.monotonic() > self.until:
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
        """What was set aside was really that much."""
        with self._counted():
            self._total = self._total.plus(amount, -1).plus(real)
        self._reserved = self._reserved.plus(amount, -1)
        if self._returned is not None:
            self._returned.set()
            self._returned = None

    def reached(self) -> str:
        """What was spent of what."""
        if self.until is not None and time.monotonic() > self.until:
            return TIME_IS_OVER
        parts = []
        if self.requests is not None:
            parts.append(f"{self.made:,} of {self.requests:,} requests (MAX_REQUESTS)")
        if self.tokens is not None:
            parts.append(f"{self.spent_tokens:,} of {self.tokens:,} tokens (BUDGET_TOKENS)")
        if self.usd is not None:
            parts.append(f"${self.spent_usd:.4f} of ${self.usd:.2f} (BUDGET_USD)")
        reset = "; `codestress store budget --reset` begins again from 0" if self.file else ""
        return f"stopped at the budget: {', '.join(parts)} spent{reset}"

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """`_total` as the file has it, and afterwards the file as `_total` is: killed between, it has the more."""
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
        if self.file is not None and self.file not in UNFINISHED and os.getpid() == process:
            self.file.unlink(missing_ok=True)


def sum_of_this_command_line(store: Path) -> Path:
    """The file of its sum: another one for other arguments."""
    line = "\n".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    who = hashlib.blake2b(line.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return store.with_name(f".{store.name}.budget-{who}.json")


def sums(store: Path) -> dict[Path, Sum]:
    """What killed or stopped command lines have spent, by file."""
    return {path: _read(path, path.read_bytes()) for path in sorted(store.parent.glob(f".{store.name}.{SUMS}"))}


def _read(path: Path, content: bytes) -> Sum:
    try:
        requests, tokens, usd = parse_json(content or b"[0, 0, 0.0]")
        return Sum(int(requests), int(tokens), float(usd))
    except (ValueError, TypeError):
        raise ParameterError(
            f"{shown(path)}: holds no sum of a budget; `codestress store budget --reset` deletes it"
        ) from None


def most_tokens(request: Request) -> tuple[int, int]:
    """The most tokens that a prompt and its answer can have."""
    prompt = request.prompt
    characters = prompt.characters + len(prompt.prefill)
    return -(-characters // FEWEST_CHARACTERS_PER_TOKEN), prompt.sampling.max_tokens


def one_request(entry: ModelEntry, prompt_tokens: int, answer_tokens: int) -> Sum:
    """One request with so many tokens."""
    return Sum(1, prompt_tokens + answer_tokens, cost(entry, prompt_tokens, answer_tokens))


def said_or_most(said: tuple[int | None, int | None], most: tuple[int, int]) -> tuple[int, int]:
    """What a server counted, never less than 0; the most that it can have been where it did not count."""
    prompt, answer = (limit if count is None else max(0, count) for count, limit in zip(said, most, strict=True))
    return prompt, answer


def cost(entry: ModelEntry, prompt_tokens: float, answer_tokens: float) -> float:
    """In US dollars by the registry's price, 0 where it has none; batch mode costs half."""
    if entry.price is None:
        return 0.0
    share = 0.5 if entry.engine == "openai_batch" else 1.0
    return share * (prompt_tokens * entry.price.input + answer_tokens * entry.price.output) / 1e6
