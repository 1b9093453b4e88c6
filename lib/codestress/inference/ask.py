"""`ask`: sends the requests that the store lacks and keeps every response; scoring is done
elsewhere."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from codestress.errors import EngineError, IncompleteError
from codestress.inference.archive import import_known
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.coroutines import first_error, run_coroutine
from codestress.inference.engines.base import AnswerTooLong, Engine, RequestFailed
from codestress.inference.engines.dialects import adapted
from codestress.inference.opening import (
    FAILURES_IN_A_ROW,
    Together,
    open_engine,
)
from codestress.inference.progress import Progress
from codestress.inference.registry import (
    REGISTRY,
    ModelEntry,
    find_models,
    keep,
    load_registry,
)
from codestress.inference.requests import (
    Asked,
    Prompts,
    as_sent,
    following,
    in_order,
    looked_up,
    only_run,
)
from codestress.inference.servers import belongs, server_of
from codestress.inference.store import Store
from codestress.notes import remember, remembered
from codestress.paths import STORE
from codestress.types import Outcome, Response, Trials

FAILED = "failed"
"""Name under which a build's notes (`codestress.notes`) keep failed requests, where failures count
as results: the same build does not send them again."""
DOES_NOT_FIT = "the model has no room for such long prompts"
LAST_S = 30.0
"""Seconds to wait, after a build's time limit, for responses that are under way."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of one trial with one model: keys of its responses in the store, or why it has
    none: its failure, or the reason for which it was not asked."""

    key: str
    """Key of the trial's last request."""
    attempts: int
    """Number of times that the trial's last request was sent: more than 1 after refusals, 0 where
    the trial was not asked."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests, where a trial makes several."""
    failure: RequestFailed | None = None
    """The reason for a missing response, where the request failed for good."""
    left_out: str = ""
    """The reason why the trial counts as not asked, in a run whose time is limited; else empty."""


@dataclass(frozen=True)
class Replies:
    """The replies (`Reply`) of a run, by model and in the order of the trials, with the models'
    registry rows and the number of requests that were sent."""

    models: list[ModelEntry]
    replies: list[list[Reply]]
    """Replies by model, each model's in the order of the trials."""
    requests: int
    """Number of requests that the store lacked and the run sent."""


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
    """Returns the replies of all `models`, given by name, to all `trials`, after sending the
    requests that the file `store` lacks; a response counts only once it is on disk.

    Requests that fail for good do not stop the others. With `failures="raise"`, `IncompleteError`
    then says how many failed and why; with "count", the failed trials' replies hold the failures.
    Raises `EngineError` where no request of a model can succeed (key, server, model id),
    `ParameterError` for a name that the file `registry` lacks, and `StoreError` for faults of the
    store's file. Raises `BudgetReached` before a request that could cross a limit of `budget`
    (default: the environment's BUDGET_USD, BUDGET_TOKENS, MAX_REQUESTS); in a budget with a time
    limit (its `until`), the replies of trials that were not asked give the reason instead.
    """
    entries = find_models(list(models), load_registry(registry), "run", registry)
    import_known(entries, store)
    bar = (
        nullcontext(progress) if progress else Progress(trials.total(models), "answers")
    )
    budget = budget or Budget.from_environment(store=store)
    with Store(store) as responses, bar as shown, budget.kept_after_errors():
        counted = failures == "count"
        asked = run_coroutine(
            ask_each(trials, entries, responses, shown, budget, counted)
        )
        for entry in asked.models if registry == REGISTRY else ():
            if entry not in entries:  # later runs begin in the dialect of its server
                keep(entry)
        if not counted:
            _raise_failures(asked)
        if any(reply.left_out for row in asked.replies for reply in row):
            budget.keep_sum()
    return asked


async def ask_each(
    trials: Trials,
    entries: Sequence[ModelEntry],
    store: Store,
    progress: Progress,
    budget: Budget,
    counted: bool,
) -> Replies:
    """Asks all models (`entries`) at the same time and returns their replies to `trials`, failures
    included; raises `EngineError`, `StoreError` and `BudgetReached` as `ask` does.

    `counted`: failures count as results, and are remembered for the rest of the build. After
    `FAILURES_IN_A_ROW` a model is out of reach, and `EngineError` is raised; not for an engine that
    works in batches (`Together`).
    """
    prompts = Prompts(trials)
    own = {model: Prompts(part, 0) for model, part in trials.own.items()}
    runs = [
        _ModelRun(own.get(entry.name, prompts), entry, store, progress, budget, counted)
        for entry in entries
    ]
    seconds = None if budget.until is None else budget.until - time.monotonic() + LAST_S
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for run in runs:
                group.create_task(run.run())
    except TimeoutError:
        pass  # what has no answer yet is left out
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    if budget.until is not None:
        for run in runs:
            run.leave_out(budget.reached())
    elif any(run.stopped for run in runs):
        lines = [
            f"  {run.entry.name}: {len(run.replies):,} of {len(run.trials.items):,} answered"
            for run in runs
        ]
        advice = (
            "What was answered is kept: raise the limit and run the same command again."
        )
        raise BudgetReached("\n".join([budget.reached(), *lines, advice]))
    replies = [[reply for _, reply in sorted(run.replies.items())] for run in runs]
    return Replies(
        [run.entry for run in runs], replies, sum(run.requests for run in runs)
    )


@dataclass
class _ModelRun:
    """One model's part of a run: its requests, replies and failures."""

    prompts: Prompts
    entry: ModelEntry
    store: Store
    progress: Progress
    budget: Budget
    counted: bool
    replies: dict[int, Reply] = field(default_factory=dict)
    requests: int = 0
    failed_in_a_row: int = 0
    under_way: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )
    """Locks of requests under way, by key: equal requests are made once."""
    failures: dict[str, RequestFailed] = field(default_factory=dict)
    """Failures by request key: a request that failed for one trial has failed for all trials that
    make it, and, where failures count, for the rest of the build."""
    refused_lengths: dict[int, RequestFailed] = field(default_factory=dict)
    """Failures by a length of answers, in tokens, that the server does not allow."""
    stopped: bool = False
    """Whether a limit of the budget was reached."""
    rows: dict[tuple[str, ...], ModelEntry] = field(init=False)
    """The model's registry row as requests were adapted to dialects, by the dialects' names."""

    def __post_init__(self) -> None:
        self.trials = self.prompts.trials
        self.rows = {(): self.entry}
        self.belongs = belongs(self.entry)
        self.server = server_of(self.entry)

    async def run(self) -> None:
        """Asks the model for its responses to all trials and fills `replies`, by the trial's index.
        Raises the first error; an `EngineError` carries the model's name."""
        try:
            await self.ask_missing()
        except (EngineError, BaseExceptionGroup) as error:
            first = first_error(error)
            if isinstance(first, EngineError):
                first.model = self.entry.name
            raise first from None

    async def ask_missing(self) -> None:
        """Sends the requests of the trials that the store lacks; opens the engine only where some
        are missing. When the budget's time is over, none is sent, and only the failures of requests
        that failed earlier in the build are recorded."""
        missing = self.missing()
        if self.budget.over:
            for due in missing:
                if failed := self.failed_before(due.request.key):
                    self.fail(due, failed)
            return
        if (first := next(missing, None)) is None:
            return
        missing = itertools.chain([first], missing)
        self.budget.check(self.entry)
        engine = open_engine(self.entry)
        try:
            if self.entry.local:
                await self.ask_all(engine, missing)
                for _ in (
                    missing
                ):  # after a stop: what the store answers is noted all the same
                    pass
                return
            async with only_run(self.entry, self.store.path):
                await self.ask_all(engine, in_order(missing, self.first))
        finally:
            await engine.close()

    def missing(self) -> Iterator[Asked]:
        """Yields the next request (`Asked`) of each trial that the store does not answer in full;
        the replies to the other trials are added to `replies`."""
        for answered, due in looked_up(self.prompts, self.entry, self.store):
            if due is None:
                self.note(answered[-1][0])
            else:
                yield due

    def first(self, index: int) -> Asked:
        """Returns the first request (`Asked`) of the trial at the position `index` of the
        trials."""
        return Asked(index, self.prompts.request(index, self.entry))

    async def ask_all(self, engine: Engine, work: Iterator[Asked]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(engine.concurrency):
                group.create_task(self.worker(engine, work))

    async def worker(self, engine: Engine, work: Iterator[Asked]) -> None:
        while not self.stopped and (due := next(work, None)) is not None:
            asked: Asked | None = due
            try:
                while asked is not None:
                    due = asked
                    due, response = await self.respond(engine, due)
                    asked = following(self.trials, self.entry, due, response)
            except RequestFailed as failure:
                self.fail(due, failure)
                too_many = self.failed_in_a_row >= FAILURES_IN_A_ROW
                gone = too_many and not isinstance(engine, Together)
                if gone and not await self.answers_still(engine):
                    raise EngineError(
                        f"{self.entry.name}: {self.failed_in_a_row} requests in a row failed; the last: {failure}\n"
                        "What was answered before is kept; run the same command again once the server is well."
                    ) from None
            except BudgetReached:
                self.stopped = True
            else:
                self.note(due)

    async def respond(self, engine: Engine, due: Asked) -> tuple[Asked, Response]:
        """Returns the request `due` as it was sent, and its response: the stored one, else a new
        one of `engine`, which is on disk before the return; equal requests are sent once. Raises
        `RequestFailed` where the request fails or has failed before, and `BudgetReached` where it
        could cross a limit."""
        request = as_sent(due.request, self.entry)
        key = request.key
        async with self.under_way.setdefault(key, asyncio.Lock()):
            if stored := self.store.get([key], self.belongs):
                return replace(due, request=request), stored[key]
            longest = request.prompt.sampling.max_tokens
            if known := self.failed_before(key) or self.refused_lengths.get(longest):
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
                if isinstance(failed, AnswerTooLong):
                    self.refused_lengths[longest] = failed
                raise
            response = replace(response, server=response.server or self.server)
            if (spoken := response.dialects) not in self.rows:
                self.rows[spoken] = adapted(self.rows[()], spoken)
                self.entry = adapted(self.entry, spoken)  # for all later requests
            request = as_sent(request, self.rows[spoken])
            self.store.put(request.key, self.entry.name, response)
            self.failed_in_a_row = 0
            return replace(due, request=request), response

    def failed_before(self, key: str) -> RequestFailed | None:
        """Returns the failure of the request with the key `key` earlier in this run or, where
        failures count as results, in this build; None where it has not failed."""
        noted = remembered(FAILED, self.server, key) if self.counted else None
        failed: RequestFailed | None = self.failures.get(key) or noted
        return failed

    def note(self, asked: Asked) -> None:
        """Adds to `replies` the reply to a trial whose last request, `asked`, is answered."""
        earlier = tuple(key for key, _ in asked.earlier)
        self.replies[asked.index] = Reply(
            asked.request.key, asked.request.attempt + 1, earlier
        )
        self.progress.answered()

    def fail(self, asked: Asked, failure: RequestFailed) -> None:
        """Adds to `replies` that the trial of the request `asked` has no response, with `failure`
        as the reason.

        Where time is limited, a prompt that is too long for the model counts as not asked. Where
        failures count, the build remembers the failure.
        """
        key, attempts, left_out = asked.request.key, asked.request.attempt + 1, ""
        if failure.outcome is Outcome.DOES_NOT_FIT:
            self.failed_in_a_row = 0  # the server is there, and says why
            left_out = "" if self.budget.until is None else DOES_NOT_FIT
        earlier = tuple(key for key, _ in asked.earlier)
        self.replies[asked.index] = Reply(key, attempts, earlier, failure, left_out)
        self.progress.failure()
        if self.counted and remembered(FAILED, self.server, key) is None:
            remember(FAILED, self.server, key, failure)

    def leave_out(self, why: str) -> None:
        """Adds to `replies`, for every trial that has neither a response nor a failure, that it was
        not asked, for the reason `why`."""
        for index in range(len(self.trials.items)):
            self.replies.setdefault(index, Reply("", 0, left_out=why))

    async def answers_still(self, engine: Engine) -> bool:
        """Whether `engine` answers when a request that was answered before is sent once more, so
        that only the recent requests fail; False, without a try, where failures do not count as
        results or nothing was answered."""
        known = next(
            (index for index, reply in self.replies.items() if not reply.failure), None
        )
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
        if reply.failure and not reply.left_out
    ]
    if not failed:
        return
    causes = "\n".join(
        f"  {n} × {model}: {error}"
        for (model, error), n in Counter(failed).most_common(5)
    )
    raise IncompleteError(
        f"{len(failed)} of {sum(map(len, asked.replies))} requests failed:\n{causes}\n"
        "What was answered is kept. Run the same command again to ask only the rest, "
        "or with --set failures=count to draw the figure with these counted as failures."
    )
