"""`run`: asks what the store lacks, judges every answer, loses none."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from tqdm import tqdm

from codestress.errors import EngineError, IncompleteError
from codestress.inference.archive import import_known
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.coroutines import first_error, run_coroutine
from codestress.inference.engines.base import BatchEngine, Engine, RequestFailed
from codestress.inference.opening import open_engine
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY, ModelEntry, find_models, load_registry
from codestress.inference.requests import Asked, chunks, following, request_of
from codestress.inference.store import Store
from codestress.inference.work import InTurn, Ordered, Work, only_run
from codestress.paths import STORE
from codestress.types import NotRun, Reason, Request, Response, Score, Trial, Trials, Usage

FAILURES_IN_A_ROW = 20
"""Failed requests, with no answer between them, after which a server counts as gone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one trial with one model."""

    trial: Trial
    model: str
    """The registry's name."""
    key: str
    scores: dict[str, Score]
    """By scoring rule."""
    finish_reason: str
    usage: Usage
    seconds: float
    attempts: int
    """Requests made: more than 1 when refused answers were asked again."""
    answered_by: str
    error: str = ""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests, where it makes several."""


class Repeats(NamedTuple):
    """Requests that were made once more; those that neither gave the store's very text nor failed gave another."""

    asked: int
    same: int
    failed: int


@dataclass(frozen=True)
class Results:
    """All answers of a run, one for each trial and model, in the order of the trials."""

    answers: list[Answer]
    models: list[ModelEntry]
    asked: int
    """Requests that the store lacked."""
    repeats: dict[str, Repeats] = field(default_factory=dict)
    """By model: what came of asking again."""
    not_run: tuple[NotRun, ...] = ()
    """What the trials leave out because this machine cannot run it."""

    def answered_by(self) -> dict[str, list[str]]:
        """What servers said answers for each model: name and fingerprint. More than one means that it changed."""
        found: dict[str, set[str]] = {entry.name: set() for entry in self.models}
        for answer in self.answers:
            if answer.answered_by:
                found[answer.model].add(answer.answered_by)
        return {model: sorted(names) for model, names in found.items()}

    def counts(self, rule: str = "strict") -> dict[str, dict[str, int]]:
        """Answers by model and reason; every model's counts add up to its trials (checked)."""
        table = {entry.name: Counter[str]() for entry in self.models}
        for answer in self.answers:
            table[answer.model][answer.scores[rule].reason] += 1
        each = len(self.answers) // max(1, len(self.models))
        for model, counts in table.items():
            if sum(counts.values()) != each:
                raise AssertionError(f"{model}: {sum(counts.values())} outcomes of {each} trials: {dict(counts)}")
        return {model: {reason.value: counts[reason] for reason in Reason} for model, counts in table.items()}


def run(
    trials: Trials,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Results:
    """Answers to all trials by all models; asks only what the store lacks.

    Plain call in scripts, notebooks and under papermill alike. A response counts only once it is on disk. When
    requests fail for good, the others are still asked, then `IncompleteError` says how many failed and why;
    `failures="count"` returns them as answers with the reasons `timed out` and `harness error` instead.
    `EngineError`: no request of a model can succeed (key, server, model id). `StoreError`: the store's file.
    `BudgetReached`: another request could have crossed a limit of the budget (default: the environment's BUDGET_USD,
    BUDGET_TOKENS, MAX_REQUESTS).
    """
    entries = find_models(list(models), load_registry(registry), "run", registry)
    import_known(entries, store)
    bar = nullcontext(progress) if progress else Progress(len(trials.items) * len(entries), "answers")
    with Store(store) as responses, bar as shown:
        return run_coroutine(_run(trials, entries, responses, failures, shown, budget or Budget.from_environment()))


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """The responses to requests, by key: for what looks into their texts."""
    with Store(store) as responses:
        return responses.get(list(keys))


async def _run(
    trials: Trials,
    entries: list[ModelEntry],
    store: Store,
    failures: Literal["raise", "count"],
    progress: Progress,
    budget: Budget,
) -> Results:
    asked = [_ModelRun(trials, entry, store, progress, budget) for entry in entries]
    try:
        async with asyncio.TaskGroup() as group:
            for one in asked:
                group.create_task(one.run())
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    if any(one.stopped for one in asked):
        lines = [f"  {one.entry.name}: {len(one.answers):,} of {len(trials.items):,} answered" for one in asked]
        raise BudgetReached(
            "\n".join(
                [budget.reached(), *lines, "What was answered is kept: raise the limit and run the same command again."]
            )
        )
    answers = [one.answers[index] for one in asked for index in range(len(trials.items))]
    results = Results(answers, entries, sum(one.requests for one in asked), not_run=trials.not_run)
    for model, names in results.answered_by().items():
        if len(names) > 1:
            tqdm.write(
                f"warning: {model}: its answers come from {len(names)} models or versions: {'; '.join(names)}. "
                "The figures mix them; CODESTRESS_STORE=… with another file asks one alone.",
                file=sys.stderr,
            )
    if failures == "raise":
        _raise_failures(results)
    return results


class _ModelRun:
    """One model's part of a run."""

    def __init__(self, trials: Trials, entry: ModelEntry, store: Store, progress: Progress, budget: Budget) -> None:
        self.trials = trials
        self.entry = entry
        self.store = store
        self.progress = progress
        self.budget = budget
        self.answers: dict[int, Answer] = {}
        self.requests = 0
        self.failed_in_a_row = 0
        self.in_flight: dict[str, asyncio.Future[Response]] = {}
        self.failures: dict[str, RequestFailed] = {}
        """By key: what failed for one trial has failed for all that ask the same."""
        self.stopped = False
        """The budget's limit was reached."""

    async def run(self) -> None:
        """Fills `answers`. The engine is opened only when something must be asked."""
        work = self.work()
        first = next(work, None)
        if first is None:
            return
        work = itertools.chain([first], work)
        self.budget.check(self.entry)
        engine = open_engine(self.entry)
        try:
            if self.entry.local and not isinstance(engine, BatchEngine):
                await self.ask_all(engine, InTurn(work))
                return
            async with only_run(self.entry, self.store.path):
                size = engine.batch if isinstance(engine, BatchEngine) else engine.concurrency
                ordered = Ordered(work, self.first, self.due_of, size)
                if isinstance(engine, BatchEngine):
                    await self.ask_batches(engine, ordered)
                else:
                    await self.ask_all(engine, ordered)
        except BaseExceptionGroup as errors:
            error = first_error(errors)
            if isinstance(error, EngineError):
                error.model = self.entry.name
            raise error from None
        except EngineError as error:
            error.model = self.entry.name
            raise
        finally:
            await engine.close()

    async def ask_all(self, engine: Engine, work: Work) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(engine.concurrency):
                group.create_task(self.worker(engine, work))

    def work(self) -> Iterator[Asked]:
        """Judges what the store has, a chunk at a time; yields what must be asked."""
        for chunk in chunks(self.trials, self.entry):
            stored = self.store.get([request.key for _, request in chunk])
            for index, first in chunk:
                asked = self.due(Asked(index, first), stored.get(first.key))
                if asked is not None:
                    yield asked

    def due(self, asked: Asked, response: Response | None) -> Asked | None:
        """The first of a trial's requests that the store lacks; None, and the trial judged, where it lacks none."""
        while response is not None:
            following = self.following(asked, response)
            if following is None:
                self.judge(asked, response)
                return None
            asked = following
            response = self.store.get([asked.request.key]).get(asked.request.key)
        return asked

    def due_of(self, index: int) -> Asked | None:
        """The same for the trial at an index, rendered anew."""
        first = self.first(index)
        return self.due(first, self.store.get([first.request.key]).get(first.request.key))

    def first(self, index: int) -> Asked:
        """The first request of the trial at an index."""
        return Asked(index, request_of(self.trials, self.trials.items[index], self.entry))

    def following(self, asked: Asked, response: Response) -> Asked | None:
        return following(self.trials, self.entry, asked, response)

    async def worker(self, engine: Engine, work: Work) -> None:
        while not self.stopped and (taken := await work.take()) is not None:
            position, asked = taken
            try:
                response = await self.respond(engine, asked.request)
                while (following := self.following(asked, response)) is not None:
                    asked = following
                    response = await self.respond(engine, asked.request)
            except RequestFailed as failure:
                self.fail(asked, failure)
            except BudgetReached:
                self.stopped = True
            else:
                self.judge(asked, response)
            finally:
                work.done(position)

    async def ask_batches(self, engine: BatchEngine, work: Ordered) -> None:
        """Asks as many at once as the engine takes; what follows on the answers comes with the next batch."""
        following: list[Asked] = []
        while True:
            batch: dict[str, list[Asked]] = {}
            while len(batch) < engine.batch and (asked := following.pop() if following else work.next()) is not None:
                key = asked.request.key
                if key in batch:
                    batch[key].append(asked)
                elif self.budget.reserve(self.entry, asked.request):
                    batch[key] = [asked]
                else:
                    self.stopped = True
                    break
            if not batch:
                return
            waiting = dict(batch)
            self.requests += len(batch)
            answered = 0
            try:
                async for request, outcome in engine.answers([same[0].request for same in batch.values()]):
                    same = waiting.pop(request.key)
                    response = outcome if isinstance(outcome, Response) else None
                    self.budget.settle(self.entry, request, response)
                    if response is not None:
                        await asyncio.wrap_future(self.store.put(request.key, self.entry.name, response))
                    for asked in same:
                        if isinstance(outcome, RequestFailed):
                            self.fail(asked, outcome)
                        else:
                            answered += 1
                            due = self.due(asked, outcome)
                            following += [due] if due is not None else []
            finally:
                for same in waiting.values():
                    self.budget.settle(self.entry, same[0].request, None)
            for same in waiting.values():
                for asked in same:
                    self.fail(asked, RequestFailed(f"{self.entry.name}: no answer came back for this request"))
            if not answered and len(batch) >= FAILURES_IN_A_ROW:
                raise EngineError(f"{self.entry.name}: none of {len(batch)} requests was answered; see the failures")
            if self.stopped:
                return

    async def respond(self, engine: Engine, request: Request) -> Response:
        """The stored response, else a new one, on disk before it is returned; equal requests are made once."""
        if stored := self.store.get([request.key]):
            return stored[request.key]
        if request.key in self.failures:
            raise self.failures[request.key]
        if request.key in self.in_flight:
            return await asyncio.shield(self.in_flight[request.key])
        future = self.in_flight[request.key] = asyncio.get_running_loop().create_future()
        try:
            await self.budget.wait(self.entry, request)
            self.requests += 1
            response = None
            try:
                response = await engine.answer(request)
            finally:
                self.budget.settle(self.entry, request, response)
            await asyncio.wrap_future(self.store.put(request.key, self.entry.name, response))
        except BaseException as error:
            if isinstance(error, RequestFailed):
                self.failed_in_a_row += 1
                self.failures[request.key] = error
            if not future.cancelled():
                future.set_exception(error if isinstance(error, Exception) else RequestFailed("interrupted"))
                future.exception()  # looked at, so that nobody is warned of it
            raise
        else:
            self.failed_in_a_row = 0
            future.set_result(response)
            return response
        finally:
            del self.in_flight[request.key]

    def judge(self, asked: Asked, response: Response) -> None:
        trial, request = self.trials.items[asked.index], asked.request
        if asked.earlier:
            response = replace(response, earlier=tuple(one for _, one in asked.earlier))
        self.answers[asked.index] = Answer(
            trial=trial,
            model=self.entry.name,
            key=request.key,
            scores={rule: judge(trial, response) for rule, judge in self.trials.judges.items()},
            finish_reason=response.finish_reason,
            usage=response.usage,
            seconds=response.seconds,
            attempts=request.attempt + 1,
            answered_by=response.answered_by,
            earlier=tuple(key for key, _ in asked.earlier),
        )
        self.progress.answered()

    def fail(self, asked: Asked, failure: RequestFailed) -> None:
        """Counts a failure; too many in a row, with no answer between them, end the run."""
        self.answers[asked.index] = Answer(
            trial=self.trials.items[asked.index],
            model=self.entry.name,
            key=asked.request.key,
            scores=dict.fromkeys(self.trials.judges, Score(failure.reason, 0.0, str(failure))),
            finish_reason="",
            usage=Usage(),
            seconds=0.0,
            attempts=asked.request.attempt + 1,
            answered_by="",
            error=str(failure),
        )
        self.progress.failure()
        if self.failed_in_a_row >= FAILURES_IN_A_ROW:
            raise EngineError(
                f"{self.entry.name}: {self.failed_in_a_row} requests in a row failed; the last: {failure}\n"
                "What was answered before is kept; run the same command again once the server is well."
            )


def _raise_failures(results: Results) -> None:
    errors = [(answer.model, answer.error) for answer in results.answers if answer.error]
    if not errors:
        return
    causes = "\n".join(f"  {n} × {model}: {error}" for (model, error), n in Counter(errors).most_common(5))
    raise IncompleteError(
        f"{len(errors)} of {len(results.answers)} requests failed:\n{causes}\n"
        "What was answered is kept. Run the same command again to ask only the rest, "
        "or with --set failures=count to draw the figure with these counted as failures."
    )
