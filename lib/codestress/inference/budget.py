"""Limits on what one command may spend: it stops at the line, before a request that could cross it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.types import Request, Response

if TYPE_CHECKING:
    from codestress.inference.registry import ModelEntry

FEWEST_CHARACTERS_PER_TOKEN = 2
"""For the most that a prompt can cost: no tokenizer makes more tokens than that of code and English."""


class BudgetReached(IncompleteError):
    """The next request could have crossed a limit; everything answered before is in the store."""


@dataclass
class Budget:
    """What may be spent, and what was. A request reserves the most that it can cost until its real cost is known."""

    usd: float | None = None
    tokens: int | None = None
    """Of prompts and answers together, as the servers count them."""
    requests: int | None = None
    spent_usd: float = 0.0
    spent_tokens: int = 0
    made: int = 0
    _reserved_usd: float = 0.0
    _reserved_tokens: int = 0
    _in_flight: int = 0
    _returned: asyncio.Event | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Budget:
        """From BUDGET_USD, BUDGET_TOKENS and MAX_REQUESTS; unset or empty: no limit."""

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

        tokens, requests = limit("BUDGET_TOKENS"), limit("MAX_REQUESTS")
        return cls(
            limit("BUDGET_USD"),
            None if tokens is None else int(tokens),
            None if requests is None else int(requests),
        )

    @property
    def limited(self) -> bool:
        return not (self.usd is None and self.tokens is None and self.requests is None)

    def check(self, entry: ModelEntry) -> None:
        """`EngineError` where dollars are limited and nobody knows what the model costs."""
        if self.usd is not None and entry.price is None and entry.needs_key:
            raise EngineError(
                f"{entry.name}: BUDGET_USD is set, and params/models.yaml has no price for this model.\n"
                "Add `price: {input: …, output: …, date: …}` (dollars per million tokens) to its row, "
                "or limit BUDGET_TOKENS or MAX_REQUESTS instead.",
                entry.name,
            )

    def reserve(self, entry: ModelEntry, request: Request) -> bool:
        """Sets aside the most that a request can cost; False where that could cross a limit."""
        tokens = most_tokens(request)
        usd = cost(entry, *tokens)
        if (
            (self.requests is not None and self.made >= self.requests)
            or (self.usd is not None and self.spent_usd + self._reserved_usd + usd > self.usd)
            or (self.tokens is not None and self.spent_tokens + self._reserved_tokens + sum(tokens) > self.tokens)
        ):
            return False
        self.made += 1
        self._in_flight += 1
        self._reserved_usd += usd
        self._reserved_tokens += sum(tokens)
        return True

    def settle(self, entry: ModelEntry, request: Request, response: Response | None) -> None:
        """Gives back what was set aside and counts what the response did cost; None where none came."""
        tokens = most_tokens(request)
        self._in_flight -= 1
        self._reserved_usd -= cost(entry, *tokens)
        self._reserved_tokens -= sum(tokens)
        if response is not None:
            said = (response.usage.prompt_tokens, response.usage.completion_tokens)
            # Of a server that does not count, the most that it can have been: else no limit would ever hold.
            used = tuple(most if count is None else count for count, most in zip(said, tokens, strict=True))
            self.spent_tokens += sum(used)
            self.spent_usd += cost(entry, used[0], used[1])
        if self._returned is not None:
            self._returned.set()
            self._returned = None

    async def wait(self, entry: ModelEntry, request: Request) -> None:
        """`reserve`, once there is room; `BudgetReached` when there is none with nothing in flight."""
        while not self.reserve(entry, request):
            if not self._in_flight:
                raise BudgetReached(self.reached())
            event = self._returned = self._returned or asyncio.Event()
            await event.wait()

    def reached(self) -> str:
        """What was spent of what."""
        parts = []
        if self.requests is not None:
            parts.append(f"{self.made:,} of {self.requests:,} requests (MAX_REQUESTS)")
        if self.tokens is not None:
            parts.append(f"{self.spent_tokens:,} of {self.tokens:,} tokens (BUDGET_TOKENS)")
        if self.usd is not None:
            parts.append(f"${self.spent_usd:.4f} of ${self.usd:.2f} (BUDGET_USD)")
        return f"stopped at the budget: {', '.join(parts)} spent"


def most_tokens(request: Request) -> tuple[int, int]:
    """The most tokens that a prompt and its answer can have."""
    prompt = request.prompt
    characters = prompt.characters + len(prompt.prefill)
    return -(-characters // FEWEST_CHARACTERS_PER_TOKEN), prompt.sampling.max_tokens


def cost(entry: ModelEntry, prompt_tokens: float, answer_tokens: float) -> float:
    """In US dollars by the registry's price, 0 where it has none; batch mode costs half."""
    if entry.price is None:
        return 0.0
    share = 0.5 if entry.engine == "openai_batch" else 1.0
    return share * (prompt_tokens * entry.price.input + answer_tokens * entry.price.output) / 1e6
