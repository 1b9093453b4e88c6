"""`ask`: asks what the store lacks, loses no answer, and knows nothing of what an answer is worth."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from codestress.errors import EngineError, IncompleteError
from codestress.inference.archive import import_known
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.coroutines import first_error, run_coroutine
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.opening import FAILURES_IN_A_ROW, Together, open_engine, replayed
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY, ModelEntry, find_models, load_registry
from codestress.inference.requests import WINDOW, Asked, Prompts, Schedule, following, in_order, looked_up, only_run
from codestress.inference.servers import belongs, server_of
from codestress.inference.store import Store
from codestress.notes import remember, remembered
from codestress.paths import STORE
from codestress.types import Request, Response, Trials

FAILED = "failed"
"""Notes of requests that failed for good where that counts: in the same build nobody asks them again."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Where what came of one trial with one model lies in the store."""

    key: str
    """Of the trial's last request."""
    attempts: int
    """Requests made: more than 1 when refused answers were asked again."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests, where it makes several."""
    failure: RequestFailed | None = None
    """Why there is no response, where the request failed for good."""


@dataclass(frozen=True)
class Replies:
    """What came of all trials, by model and in the order of the trials."""

    models: list[ModelEntry]
    replies: list[list[Reply]]
    """For each model one for each trial."""
    requests: int
    """That the store lacked."""


def ask(
    trials: Trials,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Replies:
    """Asks all models what the store lacks of all trials; a response counts only once it is on disk.

    When requests fail for good, the others are still asked, then `IncompleteError` says how many failed and why;
    with `failures="count"` their replies say it instead. `EngineError`: no request of a model can succeed (key, server,
    model id). `StoreError`: the store's file. `BudgetReached`: another request could have crossed a limit of the budget
    (default: the environment's BUDGET_USD, BUDGET_TOKENS, MAX_REQUESTS).
    """
    entries = find_models(list(models), load_registry(registry), "run", registry)
    import_known(entries, store)
    bar = nullcontext(progress) if progress else Progress(trials.total(models), "answers")
    budget = budget or Budget.from_environment(store=store)
    with Store(store) as responses, bar as shown, budget.spending():
        asked = run_coroutine(ask_each(trials, entries, responses, shown, budget, failures == "count"))
        if failures == "raise":
            _raise_failures(asked)
    return asked


async def ask_each(
    trials: Trials,
    entries: Sequence[ModelEntry],
    store: Store,
    progress: Progress,
    budget: Budget,
    counted: bool,
    patience: float = FAILURES_IN_A_ROW,
) -> Replies:
    """All models at once; `counted` says whether failures count, and do not end the run, and `patience` how many in a
    row mean that a model cannot be reached."""
    prompts = Prompts(trials)
    own = {model: Prompts(these, 0) for model, these in trials.own.items()}
    asked = [_ModelRun(own.get(one.name, prompts), one, store, progress, budget, counted, patience) for one in entries]
    try:
        async with asyncio.TaskGroup() as group:
            for one in asked:
                group.create_task(one.run())
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    if any(one.stopped for one in asked):
        lines = [f"  {one.entry.name}: {len(one.replies):,} of {len(one.trials.items):,} answered" for one in asked]
        kept = "What was answered is kept: raise the limit and run the same command again."
        raise BudgetReached("\n".join([budget.reached(), *lines, kept]))
    ordered = [[one.replies[index] for index in range(len(one.trials.items))] for one in asked]
    return Replies([*entries], ordered, sum(one.requests for one in asked))


class _ModelRun:
    """One model's part of a run."""

    def __init__(
        self,
        prompts: Prompts,
        entry: ModelEntry,
        store: Store,
        progress: Progress,
        budget: Budget,
        counted: bool,
        patience: float,
    ) -> None:
        self.prompts, self.trials, self.entry, self.store = prompts, prompts.trials, entry, store
        self.progress, self.budget, self.counted, self.patience = progress, budget, counted, patience
        self.belongs = belongs(entry)
        self.server = "" if replayed(entry) else server_of(entry)
        self.replies: dict[int, Reply] = {}
        self.requests = 0
        self.failed_in_a_row = 0
        self.under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Of requests, by key: equal ones are made once."""
        self.failures: dict[str, RequestFailed] = {}
        """By key: what failed for one trial has failed for all that ask the same, and where failures count, in this
        build."""
        self.stopped = False
        """The budget's limit was reached."""

    async def run(self) -> None:
        """Fills `replies`; an `EngineError` says of which model it is."""
        try:
            await self.ask_missing()
        except (EngineError, BaseExceptionGroup) as error:
            first = first_error(error)
            if isinstance(first, EngineError):
                first.model = self.entry.name
            raise first from None

    async def ask_missing(self) -> None:
        """The engine is opened only when something must be asked."""
        missing = self.missing()
        if (first := next(missing, None)) is None:
            return
        missing = itertools.chain([first], missing)
        self.budget.check(self.entry)
        engine = open_engine(self.entry)
        try:
            if self.entry.local:
                await self.ask_all(engine, Schedule(((-1, asked) for asked in missing), engine.concurrency))
                return
            async with only_run(self.entry, self.store.path):
                work, window = in_order(missing, self.first), WINDOW * engine.concurrency
                if isinstance(engine, Together):  # which has no use for leaders, and batches that fill the memory
                    work, window = ((-1, asked) for _, asked in work), engine.concurrency
                await self.ask_all(engine, Schedule(work, window))
        finally:
            await engine.close()

    def missing(self) -> Iterator[Asked]:
        """What must be asked; trials of which the store has all answers are noted."""
        for answered, due in looked_up(self.prompts, self.entry, self.store):
            if due is None:
                self.note(answered[-1][0])
            else:
                yield due

    def first(self, index: int) -> Asked:
        """The first request of the trial at an index."""
        return Asked(index, self.prompts.request(index, self.entry))

    async def ask_all(self, engine: Engine, work: Schedule[Asked]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(engine.concurrency):
                group.create_task(self.worker(engine, work))

    async def worker(self, engine: Engine, work: Schedule[Asked]) -> None:
        while not self.stopped and (taken := await work.take()) is not None:
            position, due = taken
            asked: Asked | None = due
            try:
                while asked is not None:
                    due = asked
                    asked = following(self.trials, self.entry, due, await self.respond(engine, due.request))
            except RequestFailed as failure:
                self.fail(due, failure)
                gone = self.failed_in_a_row >= self.patience and not isinstance(engine, Together)
                if gone and not await self.answers_still(engine):
                    raise EngineError(
                        f"{self.entry.name}: {self.failed_in_a_row} requests in a row failed; the last: {failure}\n"
                        "What was answered before is kept; run the same command again once the server is well."
                    ) from None
            except BudgetReached:
                self.stopped = True
            else:
                self.note(due)
            finally:
                work.done(position)

    async def respond(self, engine: Engine, request: Request) -> Response:
        """The stored response, else a new one, on disk before it is returned; equal requests are made once."""
        key = request.key
        async with self.under_way.setdefault(key, asyncio.Lock()):
            if stored := self.store.get([key], self.belongs):
                return stored[key]
            known: RequestFailed | None = self.failures.get(key)
            if known := known or (remembered(FAILED, self.server, key) if self.counted else None):
                raise known
            self.requests += 1
            try:
                response = await self.budget.answer(engine, self.entry, request)
            except BudgetReached:
                self.requests -= 1
                raise
            except RequestFailed as failed:
                self.failed_in_a_row += 1
                self.failures[key] = failed
                raise
            response = replace(response, server=response.server or self.server)  # an archive's tell their own
            await asyncio.wrap_future(self.store.put(key, self.entry.name, response))
            self.failed_in_a_row = 0
            return response

    def note(self, asked: Asked) -> None:
        """All requests of the trial are answered."""
        earlier = tuple(key for key, _ in asked.earlier)
        self.replies[asked.index] = Reply(asked.request.key, asked.request.attempt + 1, earlier)
        self.progress.answered()

    def fail(self, asked: Asked, failure: RequestFailed) -> None:
        """The trial has no answer, for this reason."""
        key = asked.request.key
        self.replies[asked.index] = Reply(key, asked.request.attempt + 1, failure=failure)
        self.progress.failure()
        if self.counted and remembered(FAILED, self.server, key) is None:
            remember(FAILED, self.server, key, failure)

    async def answers_still(self, engine: Engine) -> bool:
        """Where failures count: whether what was answered before is answered again, so that it is not the server that
        fails, but these requests."""
        known = next((index for index, reply in self.replies.items() if not reply.failure), None)
        if known is None or not self.counted:
            return False
        row, self.failed_in_a_row = self.failed_in_a_row, 0
        try:
            await self.budget.answer(engine, self.entry, self.first(known).request)
        except (RequestFailed, BudgetReached):
            self.failed_in_a_row = row
            return False
        return True


def _raise_failures(asked: Replies) -> None:
    failed = [
        (entry.name, str(reply.failure))
        for entry, replies in zip(asked.models, asked.replies, strict=True)
        for reply in replies
        if reply.failure
    ]
    if not failed:
        return
    causes = "\n".join(f"  {n} × {model}: {error}" for (model, error), n in Counter(failed).most_common(5))
    raise IncompleteError(
        f"{len(failed)} of {sum(map(len, asked.replies))} requests failed:\n{causes}\n"
        "What was answered is kept. Run the same command again to ask only the rest, "
        "or with --set failures=count to draw the figure with these counted as failures."
    )
