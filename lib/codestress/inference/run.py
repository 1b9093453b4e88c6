"""`run`: asks what the store lacks, judges every answer, loses none."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import itertools
import sys
import threading
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from tqdm import tqdm

from codestress.errors import EngineError, IncompleteError
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.engines.base import BatchEngine, Engine, RequestFailed
from codestress.inference.ordering import Schedule, chain, prefix_order
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY, ModelEntry, find_models, load_registry, open_engine
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import Reason, Request, Response, Score, Trial, Trials, Usage

CHUNK = 256
"""Requests rendered at a time: what bounds the memory of a run."""
WINDOW = 8
"""How far ahead of the first open request others are taken, in multiples of the concurrency."""
LOCK_PAUSE_S = 0.2
FAILURES_IN_A_ROW = 20
"""Failed requests, with no answer between them, after which a server counts as gone."""

Result = TypeVar("Result")


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


@dataclass(frozen=True)
class Results:
    """All answers of a run, one for each trial and model, in the order of the trials."""

    answers: list[Answer]
    models: list[ModelEntry]
    asked: int
    """Requests that the store lacked."""

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


@dataclass(frozen=True)
class Asked:
    """A request of a trial that is due."""

    index: int
    """Of the trial."""
    request: Request
    earlier: tuple[tuple[str, Response], ...] = ()
    """The trial's earlier requests that were answered: keys and responses."""


def request_of(trials: Trials, trial: Trial, entry: ModelEntry) -> Request:
    """The first request of a trial for a model."""
    return Request(entry.id, entry.identity, trials.render(trial), trial.sample)


def again(trials: Trials, request: Request) -> Request:
    """A refused request asked once more, at the temperature for repetitions."""
    temperature = trials.retry_temperatures[request.attempt]
    prompt = replace(request.prompt, sampling=replace(request.prompt.sampling, temperature=temperature))
    return replace(request, prompt=prompt, attempt=request.attempt + 1)


def following(trials: Trials, entry: ModelEntry, asked: Asked, response: Response) -> Asked | None:
    """The trial's next request after this response: the same again after a refusal, or its next step."""
    request = asked.request
    if response.refused and request.attempt < len(trials.retry_temperatures):
        return replace(asked, request=again(trials, request))
    if trials.follow_up is None:
        return None
    trial = trials.items[asked.index]
    earlier = (*asked.earlier, (request.key, response))
    prompt = trials.follow_up(trial, tuple(one for _, one in earlier))
    if prompt is None:
        return None
    return Asked(asked.index, Request(entry.id, entry.identity, prompt, trial.sample), earlier)


def stored_requests(trials: Trials, entry: ModelEntry, store: Store) -> Iterator[tuple[Request, Response]]:
    """All requests of the trials that have a response, later ones of a trial included, in the trials' order."""
    for chunk in chunks(trials, entry):
        stored = store.get([request.key for _, request in chunk])
        for index, first in chunk:
            asked: Asked | None = Asked(index, first)
            response = stored.get(first.key)
            while asked is not None and response is not None:
                yield asked.request, response
                asked = following(trials, entry, asked, response)
                response = store.get([asked.request.key]).get(asked.request.key) if asked is not None else None


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
    bar = nullcontext(progress) if progress else Progress(len(trials.items) * len(entries), "answers")
    with Store(store) as responses, bar as shown:
        return run_coroutine(_run(trials, entries, responses, failures, shown, budget or Budget.from_environment()))


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """The responses to requests, by key: for what looks into their texts."""
    with Store(store) as responses:
        return responses.get(list(keys))


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs it to its end, in a thread of its own where an event loop is running already (a notebook's kernel)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[Result] = []
    errors: list[BaseException] = []
    ready = threading.Event()
    control: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Result]]] = []

    async def watched() -> Result:
        task = asyncio.ensure_future(coroutine)
        control.append((asyncio.get_running_loop(), task))
        ready.set()
        return await task

    def target() -> None:
        try:
            outcome.append(asyncio.run(watched()))
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=target, name="codestress-run")
    thread.start()
    outer = asyncio.current_task()
    try:
        while thread.is_alive():
            thread.join(0.2)
            if outer is not None and outer.cancelling():  # `asyncio.run` turns Ctrl-C into a cancellation
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        ready.wait()
        for loop, task in control:
            with contextlib.suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return outcome[0]


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
    results = Results(answers, entries, sum(one.requests for one in asked))
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


def first_error(group: BaseException) -> BaseException:
    """The first error inside nested exception groups."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def chunks(trials: Trials, entry: ModelEntry) -> Iterator[list[tuple[int, Request]]]:
    """The first requests of all trials, rendered a chunk at a time (law 2), with the trials' indices."""
    numbered = enumerate(trials.items)
    while chunk := list(itertools.islice(numbered, CHUNK)):
        yield [(index, request_of(trials, trial, entry)) for index, trial in chunk]


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
                await self.ask_all(engine, _InTurn(work))
                return
            async with only_run(self.entry, self.store.path):
                ordered = _Ordered(self, work, engine.batch if isinstance(engine, BatchEngine) else engine.concurrency)
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

    async def ask_all(self, engine: Engine, work: _Work) -> None:
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
        request = request_of(self.trials, self.trials.items[index], self.entry)
        return self.due(Asked(index, request), self.store.get([request.key]).get(request.key))

    def following(self, asked: Asked, response: Response) -> Asked | None:
        return following(self.trials, self.entry, asked, response)

    async def worker(self, engine: Engine, work: _Work) -> None:
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

    async def ask_batches(self, engine: BatchEngine, work: _Ordered) -> None:
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


class _Work(Protocol):
    """What is to be asked, handed to several workers."""

    async def take(self) -> tuple[int, Asked] | None:
        """The next of it, with its position; None when no more is left."""
        ...

    def done(self, position: int) -> None: ...


class _InTurn:
    """In the order of the trials, rendered as it is taken."""

    def __init__(self, work: Iterator[Asked]) -> None:
        self.work = work

    async def take(self) -> tuple[int, Asked] | None:
        asked = next(self.work, None)
        return None if asked is None else (0, asked)

    def done(self, position: int) -> None:
        pass


class _Ordered:
    """In the order of shared prefixes. Rendered twice: for the order, of which only hashes stay, and when taken."""

    def __init__(self, model: _ModelRun, work: Iterator[Asked], concurrency: int) -> None:
        self.model = model
        self.indices = array("Q")
        chains = []
        for asked in work:
            self.indices.append(asked.index)
            chains.append(chain(asked.request.prompt))
        self.order = prefix_order(chains)
        self.schedule = Schedule(self.order.leaders, WINDOW * concurrency)
        self.position = 0

    async def take(self) -> tuple[int, Asked] | None:
        position = await self.schedule.take()
        if position is None:
            return None
        index = self.indices[self.order.requests[position]]
        return position, Asked(index, request_of(self.model.trials, self.model.trials.items[index], self.model.entry))

    def done(self, position: int) -> None:
        self.schedule.done(position)

    def next(self) -> Asked | None:
        """The next in order, whoever leads: for engines that take many at once."""
        while self.position < len(self.indices):
            self.position += 1
            asked = self.model.due_of(self.indices[self.order.requests[self.position - 1]])
            if asked is not None:
                return asked
        return None


@contextlib.asynccontextmanager
async def only_run(entry: ModelEntry, store: Path) -> AsyncIterator[None]:
    """One run at a time asks a model for one store: two would pay for the same answers twice."""
    who = hashlib.blake2b(f"{entry.id}\n{entry.identity}".encode(), digest_size=8).hexdigest()
    path = store.with_name(f".{store.name}.{who}.lock")
    with path.open("w") as lock:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    tqdm.write(
                        f"{entry.name}: another run, or another row of the registry, is asking the same model; waiting",
                        file=sys.stderr,
                    )
                    told = True
                await asyncio.sleep(LOCK_PAUSE_S)
        yield


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
