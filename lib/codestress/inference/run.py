"""`run`: asks what the store lacks, judges every answer, loses none."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from codestress.errors import EngineError, IncompleteError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY, ModelEntry, engine_module, find_models, load_registry
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import Reason, Request, Response, Score, Trial, Trials, Usage

CHUNK = 256
"""Requests rendered at a time: what bounds the memory of a run."""
FAILURES_IN_A_ROW = 20
"""Failed requests, with no answer between them, after which a server counts as gone."""

Result = TypeVar("Result")


@dataclass(frozen=True)
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


def run(
    trials: Trials,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
    progress: Progress | None = None,
) -> Results:
    """Answers to all trials by all models; asks only what the store lacks.

    Plain call in scripts, notebooks and under papermill alike. A response counts only once it is on disk. When
    requests fail for good, the others are still asked, then `IncompleteError` says how many failed and why;
    `failures="count"` returns them as answers with the reasons `timed out` and `harness error` instead.
    `EngineError`: no request of a model can succeed (key, server, model id). `StoreError`: the store's file.
    """
    entries = find_models(list(models), load_registry(registry), "run", registry)
    bar = nullcontext(progress) if progress else Progress(len(trials.items) * len(entries), "answers")
    with Store(store) as responses, bar as shown:
        return run_coroutine(_run(trials, entries, responses, failures, shown))


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
    trials: Trials, entries: list[ModelEntry], store: Store, failures: Literal["raise", "count"], progress: Progress
) -> Results:
    asked = [_ModelRun(trials, entry, store, progress) for entry in entries]
    try:
        async with asyncio.TaskGroup() as group:
            for one in asked:
                group.create_task(one.run())
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    answers = [one.answers[index] for one in asked for index in range(len(trials.items))]
    results = Results(answers, entries, sum(one.requests for one in asked))
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

    def __init__(self, trials: Trials, entry: ModelEntry, store: Store, progress: Progress) -> None:
        self.trials = trials
        self.entry = entry
        self.store = store
        self.progress = progress
        self.answers: dict[int, Answer] = {}
        self.requests = 0
        self.failed_in_a_row = 0
        self.in_flight: dict[str, asyncio.Future[Response]] = {}

    async def run(self) -> None:
        """Fills `answers`. The engine is opened only when something must be asked."""
        work = self.work()
        first = next(work, None)
        if first is None:
            return
        engine = engine_module(self.entry).open_engine(self.entry)
        rest = itertools.chain([first], work)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(engine.concurrency):
                    group.create_task(self.worker(engine, rest))
        except BaseExceptionGroup as errors:
            error = first_error(errors)
            if isinstance(error, EngineError):
                error.model = self.entry.name
            raise error from None
        finally:
            await engine.close()

    def work(self) -> Iterator[Asked]:
        """Judges what the store has, a chunk at a time; yields what must be asked."""
        for chunk in chunks(self.trials, self.entry):
            stored = self.store.get([request.key for _, request in chunk])
            for index, first in chunk:
                asked: Asked | None = Asked(index, first)
                response = stored.get(first.key)
                while asked is not None and response is not None:
                    following = self.following(asked, response)
                    if following is None:
                        self.judge(asked, response)
                    else:
                        response = self.store.get([following.request.key]).get(following.request.key)
                    asked = following
                if asked is not None:
                    yield asked

    def following(self, asked: Asked, response: Response) -> Asked | None:
        """The trial's next request after this response: the same again after a refusal, or its next step."""
        request = asked.request
        if response.refused and request.attempt < len(self.trials.retry_temperatures):
            return replace(asked, request=again(self.trials, request))
        if self.trials.follow_up is None:
            return None
        trial = self.trials.items[asked.index]
        earlier = (*asked.earlier, (request.key, response))
        prompt = self.trials.follow_up(trial, tuple(one for _, one in earlier))
        if prompt is None:
            return None
        return Asked(asked.index, Request(self.entry.id, self.entry.identity, prompt, trial.sample), earlier)

    async def worker(self, engine: Engine, work: Iterator[Asked]) -> None:
        for first in work:
            asked: Asked = first
            try:
                response = await self.respond(engine, asked.request)
                while (following := self.following(asked, response)) is not None:
                    asked = following
                    response = await self.respond(engine, asked.request)
            except RequestFailed as failure:
                self.fail(asked, failure)
            else:
                self.judge(asked, response)

    async def respond(self, engine: Engine, request: Request) -> Response:
        """The stored response, else a new one, on disk before it is returned; equal requests are made once."""
        if stored := self.store.get([request.key]):
            return stored[request.key]
        if request.key in self.in_flight:
            return await asyncio.shield(self.in_flight[request.key])
        future = self.in_flight[request.key] = asyncio.get_running_loop().create_future()
        try:
            self.requests += 1
            response = await engine.answer(request)
            await asyncio.wrap_future(self.store.put(request.key, self.entry.name, response))
            # Another row of the registry, or another process, may have been first: what the store holds counts.
            response = self.store.get([request.key]).get(request.key, response)
        except BaseException as error:
            if isinstance(error, RequestFailed):
                self.failed_in_a_row += 1
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
