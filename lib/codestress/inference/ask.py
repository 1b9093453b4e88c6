"""Sending of requests: `ask` sends the requests that the store lacks and stores every
response, without scoring it."""

import asyncio
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from codestress.errors import EngineError
from codestress.notes import remember, remembered
from codestress.paths import STORE
from codestress.types import Outcome, Request, Response, Trials

from .archive import import_known
from .budget import Budget, BudgetReached
from .coroutines import run_coroutine, together
from .engines.base import (
    FAILURES_IN_A_ROW,
    AnswerTooLong,
    BatchEngine,
    Engine,
    RequestFailed,
    open_engine,
)
from .engines.dialects import adapted
from .progress import Progress
from .registry import (
    REGISTRY,
    ModelEntry,
    find_models,
    keep,
    load_registry,
)
from .requests import (
    Prompts,
    Replies,
    Reply,
    Step,
    as_sent,
    belongs,
    chain,
    following,
    looked_up,
    only_run,
    raise_failures,
    server_of,
)
from .store import Store

FAILED = "failed"
"""Name under which a build's notes (`codestress.notes`) keep failed requests, if
failures count as results: the same build does not send them again."""
DOES_NOT_FIT = "the model has no room for such long prompts"
LAST_S = 30.0
"""Seconds to wait, after a build's time limit, for the responses to requests that were
sent before the limit."""


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
    """Return the replies of the models with these names to all trials, after sending the requests that the store
    lacks.

    A response counts only once it is on disk. A request that fails for good does not stop the other requests. In the
    end, `failures="raise"` raises `IncompleteError`; with `failures="count"` the replies hold the failures. `budget`
    defaults to the limits in environment variables. In a budget with a time limit, the replies of trials that were
    not asked hold the reason. Raises `EngineError` if no request of a model can succeed, `ParameterError` for an
    unknown name, `StoreError` for faults of the store, and `BudgetReached` before a request that could cross a limit.
    """
    entries = find_models(list(models), load_registry(registry), "run", registry)
    import_known(entries, store)
    budget = budget or Budget.from_environment(store=store)
    counted = failures == "count"
    total = trials.total(models)
    bar = Progress(total, "answers") if progress is None else nullcontext(progress)
    with Store(store) as responses, bar as progress, ExitStack() as unless_complete:
        unless_complete.callback(budget.keep_sum)
        parts = trials, entries, responses, progress, budget, counted
        asked = run_coroutine(ask_each(*parts))
        if registry == REGISTRY:
            for entry in asked.models:
                if entry not in entries:  # later runs begin in its server's dialect
                    keep(entry)
        if not counted:
            raise_failures(asked)
        if not any(reply.left_out for reply in itertools.chain(*asked.replies)):
            unless_complete.pop_all()
    return asked


async def ask_each(
    trials: Trials,
    entries: Sequence[ModelEntry],
    store: Store,
    progress: Progress,
    budget: Budget,
    counted: bool,
) -> Replies:
    """Ask all models at the same time, and return their replies, failures included.

    If `counted`, failures count as results, and the rest of the build remembers them.
    Responses may come until `LAST_S` seconds after the budget's time limit. Raises as
    `ask` does.
    """
    parts = Prompts(trials), store, progress, budget, counted
    runs = [_ModelRun(entry, *parts) for entry in entries]
    # The event loop's clock is the budget's, `time.monotonic`.
    end = None if budget.until is None else budget.until + LAST_S
    with suppress(TimeoutError):  # what has no answer yet is left out
        async with asyncio.timeout_at(end):
            await together(run.run() for run in runs)
    if budget.until is None and any(run.stopped for run in runs):
        raise BudgetReached(
            f"{budget.reached()}\n{''.join(run.line() for run in runs)}"
            "What was answered is kept: raise the limit and run the same command again."
        )
    not_asked = Reply("", 0, left_out=budget.reached())
    replies = []
    for run in runs:
        indices = range(len(run.trials.items))
        replies.append([run.replies.get(index, not_asked) for index in indices])
    requests = sum(run.requests for run in runs)
    return Replies([run.entry for run in runs], replies, requests)


@dataclass
class _ModelRun:
    """One model's part of a run."""

    entry: ModelEntry
    """The registry row, adapted to the dialects of the protocol that its server was
    found to speak."""
    prompts: Prompts
    store: Store
    progress: Progress
    budget: Budget
    counted: bool
    replies: dict[int, Reply] = field(default_factory=dict)
    """Replies that have come, by the index of their trial."""
    requests: int = 0
    stopped: bool = False
    """Whether a limit of the budget was reached."""
    answered: Request | None = None
    """The last request that was answered; None before the first."""
    failed_in_a_row: int = 0
    failures: dict[str | int, RequestFailed] = field(default_factory=dict)
    """Failures by request key: a request fails for all trials that make it. A
    `max_tokens` that the server does not allow is a key too, with its failure."""

    def __post_init__(self) -> None:
        self.trials = self.prompts.trials.of(self.entry.name)
        self.rows: dict[tuple[str, ...], ModelEntry] = {(): self.entry}
        """Registry rows adapted to some dialects, by the names of these dialects."""
        self.belongs = belongs(self.entry)
        self.server = server_of(self.entry)
        self.locks = WeakValueDictionary[str, asyncio.Lock]()
        """Locks of requests in flight, by key: equal requests are sent once."""

    async def run(self) -> None:
        """Fill `replies`.

        Raises the first error; an `EngineError` gets the model's name.
        """
        try:
            await self.ask_missing()
        except EngineError as error:
            error.model = self.entry.name
            raise

    async def ask_missing(self) -> None:
        """Send the requests that the store lacks; open the engine only if there is such
        a request.

        Requests to a server are sorted, so that prompts with the same beginning follow
        each other. An engine in this process gets requests in the order of the trials.
        """
        work = missing = self.missing()
        if not self.entry.local:
            # Prompts are made again when they are due: only hashes stay in memory.
            chains = {}
            for step in missing:
                chains[step.index] = chain(step.request.prompt)
                await asyncio.sleep(0)  # an interrupt or the time's end comes through
            order = sorted(chains, key=chains.__getitem__)
            work = (self.prompts.first(index, self.entry) for index in order)
        first = next(work, None)
        if first is None:
            return
        self.budget.check(self.entry)
        work = itertools.chain([first], work)
        path = self.store.path
        async with nullcontext() if self.entry.local else only_run(self.entry, path):
            engine = open_engine(self.entry)  # it may read what another run has left
            try:
                workers = range(engine.concurrency)
                await together(self.ask_all(engine, work) for _ in workers)
            finally:
                await engine.close()
        deque(missing, 0)  # after a stop, what the store answers is noted all the same

    def missing(self) -> Iterator[Step]:
        """Yield the next step of each trial that the store does not answer in full, and
        note the replies to the other trials.

        When the budget's time is over, no step is yielded, and failures from earlier in
        the build are noted.
        """
        for answered, step in looked_up(self.prompts, self.entry, self.store):
            if step is None:
                self.note(answered[-1][0])
            elif not self.budget.over:
                yield step
            elif failure := self.failed_before(step.request):
                self.note(step, failure)

    async def ask_all(self, engine: Engine, work: Iterator[Step]) -> None:
        """Send the requests of each trial in `work` and those that follow, and note the
        trial's reply."""
        for step in work:
            pending: Step | None = step
            try:
                while pending is not None:
                    step = pending
                    step, response = await self.respond(engine, step)
                    pending = following(self.trials, self.entry, step, response)
                self.note(step)
            except RequestFailed as failure:
                self.note(step, failure)
                await self.check_server(engine, failure)
            except BudgetReached:
                self.stopped = True
            if self.stopped:
                return

    async def respond(self, engine: Engine, step: Step) -> tuple[Step, Response]:
        """Return a step, with its request as sent, and the response: the stored
        response if there is one, else a new one.

        A new response is on disk before this method returns. Equal requests are sent
        once. Raises `RequestFailed` if the request fails or has failed before, and
        `BudgetReached` if it could cross a limit.
        """
        request = as_sent(step.request, self.entry)
        key = request.key
        async with self.locks.setdefault(key, asyncio.Lock()):
            if stored := self.store.get([key], self.belongs):
                return replace(step, request=request), stored[key]
            if known := self.failed_before(request):
                raise known
            try:
                response = await self.budget.answer(engine, self.entry, request)
            except RequestFailed as failure:
                self.requests += 1
                self.failed_in_a_row += 1
                self.failures[key] = failure
                if isinstance(failure, AnswerTooLong):
                    self.failures[request.prompt.sampling.max_tokens] = failure
                raise
            self.requests += 1
            self.failed_in_a_row = 0
            response = replace(response, server=response.server or self.server)
            dialects = response.dialects
            if dialects not in self.rows:
                self.rows[dialects] = adapted(self.rows[()], dialects)
                self.entry = adapted(self.entry, dialects)
            request = as_sent(request, self.rows[dialects])
            self.store.put(request.key, self.entry.name, response)
            return replace(step, request=request), response

    def failed_before(self, request: Request) -> RequestFailed | None:
        """Return the failure of a request earlier in this run or, if failures count,
        earlier in this build.

        None if the request has not failed.
        """
        longest = request.prompt.sampling.max_tokens
        known = self.failures.get(request.key) or self.failures.get(longest)
        if known is None and self.counted:
            known = remembered(FAILED, self.server, request.key)
        return known

    def note(self, step: Step, failure: RequestFailed | None = None) -> None:
        """Note the reply to a trial, made from the trial's last step.

        If the budget has a time limit, a prompt that is too long for the model counts
        as not asked.
        """
        request = step.request
        earlier = tuple(key for key, _ in step.earlier)
        left_out = ""
        if failure is None:
            self.answered = request
            self.progress.update()
        else:
            if failure.outcome is Outcome.DOES_NOT_FIT:
                self.failed_in_a_row = 0  # the server works, and says why
                left_out = "" if self.budget.until is None else DOES_NOT_FIT
            if self.counted:
                remember(FAILED, self.server, request.key, failure)
            self.progress.failure()
        reply = Reply(request.key, request.attempt + 1, earlier, failure, left_out)
        self.replies[step.index] = reply

    async def check_server(self, engine: Engine, failure: RequestFailed) -> None:
        """Raise `EngineError` if too many requests in a row have failed; `failure` is
        that of the last.

        If failures count, the requests may be at fault. The engine then first repeats a
        request that it answered before, and nothing is raised if this request is
        answered. Nothing is checked for a `BatchEngine`, which checks each batch
        itself.
        """
        if self.failed_in_a_row < FAILURES_IN_A_ROW or isinstance(engine, BatchEngine):
            return
        self.failed_in_a_row = 0  # so that one request alone checks the server
        if self.counted and self.answered:
            with suppress(RequestFailed, BudgetReached):
                await self.budget.answer(engine, self.entry, self.answered)
                return
        raise EngineError(
            f"{self.entry.name}: {FAILURES_IN_A_ROW} requests in a row failed; the last: "
            f"{failure}\nWhat was answered before is kept; run the same command again "
            "once the server answers."
        )

    def line(self) -> str:
        answered, total = len(self.replies), len(self.trials.items)
        return f"  {self.entry.name}: {answered:,} of {total:,} answered\n"
