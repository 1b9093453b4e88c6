"""The requests that trials make to a model, the order in which they are sent, the lock
with which only one run at a time sends them, and the replies.

A trial makes a first request, a retry after a refusal, then its next step. Requests are
sorted by the hashes of their prompts' blocks, so that a server with prefix caching
computes each shared prefix once.

The store records the server's address beside each response, and responses of another
server are refused. No key depends on the address. A server may move, through the row's
`base_url_env` or to another port of this machine. A server that moved keeps its
responses if the row names a revision; without a revision nothing says that the model is
the same.
"""

import asyncio
import contextlib
import fcntl
import itertools
import zlib
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from codestress.errors import EngineError, IncompleteError
from codestress.types import Prompt, Request, Response, Trial, Trials

from .engines.base import RequestFailed, own_settings
from .engines.dialects import shown_to
from .progress import say
from .registry import ModelEntry, engine_module
from .store import Belongs, Store, chunks

KEPT_CHARACTERS = 50_000_000
"""Number of characters of rendered prompts that a run keeps for its next model: a bound
on its memory (law 2 of docs/architecture.md)."""
BLOCK = 128
"""Number of bytes of a prompt's block. Servers cache blocks of 16 or more tokens;
sorting by shorter prefixes saves nothing."""
WIDTH = 4
"""Number of bytes of a block's hash."""
LOCK_PAUSE_S = 0.2
BY = " by "
"""Separator between an address and the environment variable that gave the address."""


@dataclass(frozen=True)
class Step:
    """A request of a trial: the first, a retry or a follow-up."""

    index: int
    """Index of the trial in `Trials.items`."""
    request: Request
    earlier: tuple[tuple[str, Response], ...] = ()
    """Key and response of each of the trial's earlier requests."""


class Prompts:
    """The first prompts of trials, by model and the trial's index.

    Prompts are kept for the next models until `KEPT_CHARACTERS` are used up; later
    prompts are rendered at each use.
    """

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.room = KEPT_CHARACTERS
        self.kept: dict[tuple[int, int], Prompt] = {}

    def first(self, index: int, entry: ModelEntry) -> Step:
        """Return the first request of the trial with this index to a model."""
        trials = self.trials.of(entry.name)
        trial = trials.items[index]
        place = id(trials), index
        prompt = self.kept.get(place) or trials.render(trial)
        if place not in self.kept and self.room > 0:
            self.room -= prompt.characters
            self.kept[place] = prompt
        return Step(index, request_for(entry, prompt, trial.sample))


def request_for(entry: ModelEntry, prompt: Prompt, sample: int = 0) -> Request:
    """Return the request that sends a prompt to the model of a registry row; `sample`
    is its index among repeated samples of the prompt.

    A larger `max_tokens` of the row replaces the prompt's, for every paper: a model
    that thinks before it answers would be cut off within its thoughts.
    """
    sampling = prompt.sampling
    if sampling.max_tokens < entry.max_tokens:
        sampling = replace(sampling, max_tokens=entry.max_tokens)
        prompt = replace(prompt, sampling=sampling)
    return as_sent(Request(entry.id, entry.identity, prompt, sample), entry)


def as_sent(request: Request, entry: ModelEntry) -> Request:
    """Return a request as the row's server gets it, in the dialect (form of requests)
    that the row's settings name.

    The request's key is therefore the key of what is really sent.
    """
    prompt = shown_to(request.prompt, own_settings(entry).get("roles", "any"))
    return replace(request, revision=entry.identity, prompt=prompt)


def request_of(trials: Trials, trial: Trial, entry: ModelEntry) -> Request:
    """Return the first request of a trial to a model.

    The prompt is rendered by the model's own trials if it has some (`Trials.own`).
    """
    return request_for(entry, trials.of(entry.name).render(trial), trial.sample)


def following(
    trials: Trials, entry: ModelEntry, step: Step, response: Response
) -> Step | None:
    """Return the step that a trial makes after a response; None if the trial is done.

    A refusal leads to the same prompt at the next of the trials' retry temperatures,
    until all were used. Otherwise `Trials.follow_up` makes the next prompt from all
    responses.
    """
    request = step.request
    temperatures = trials.retry_temperatures
    if response.refused and request.attempt < len(temperatures):
        temperature = temperatures[request.attempt]
        sampling = replace(request.prompt.sampling, temperature=temperature)
        prompt = replace(request.prompt, sampling=sampling)
        retry = replace(request, prompt=prompt, attempt=request.attempt + 1)
        return replace(step, request=retry)
    trial = trials.items[step.index]
    earlier = (*step.earlier, (request.key, response))
    later = trials.follow_up(trial, tuple(response for _, response in earlier))
    if later is None:
        return None
    request = request_for(entry, later, trial.sample + later.repetition)
    return Step(step.index, request, earlier)


def server_of(entry: ModelEntry) -> str:
    """Return the address of the server of the registry row `entry`; empty for a model
    without a server.

    If an environment variable gives the address, " by " and the variable's name follow
    it.
    """
    engine = entry.settings.get("worker", {}).get("engine", entry.engine)
    if engine not in ("openai", "openai_batch"):
        return ""
    module = engine_module(engine)
    settings = module.Settings.model_validate(own_settings(entry))
    address = _address(settings.address)
    return f"{address}{BY}{settings.base_url_env}" if settings.override else address


def belongs(entry: ModelEntry, archive: str = "") -> Belongs:
    """Return a check (see `store.Belongs`) that raises `EngineError` for a response
    from another server than the registry row `entry` names.

    The error message names `archive` as the place of the response, or the store if
    `archive` is empty. A response of an unknown server passes, and so does every
    response if the row has no server.

    If the row names a revision, the row's own responses pass after its server moved:
    through the row's `base_url_env`, or to another port of this machine.
    """
    now = server_of(entry)
    address, _, override = now.partition(BY)

    def check(row: str, then: str) -> None:
        before, _, variable = then.partition(BY)
        if before in ("", address) or not address:
            return
        if row == entry.name and entry.revision:
            moves_by = own_settings(entry).get("base_url_env")
            if moves_by and moves_by in (variable, override):
                return
            old, new = urlsplit(before), urlsplit(address)
            # Another path of a gateway leads to another server.
            if old.hostname == new.hostname == "localhost" and old.path == new.path:
                return
        host = urlsplit(now).hostname or "elsewhere"
        place = archive or "the store"
        example = entry.revision or entry.id
        raise EngineError(
            f"{entry.name}: answers to the same questions are in {place} from another server: "
            f"{then} (row {row}); this row asks {now}.\n"
            f"Give {entry.name} a `revision` of its own in params/models.yaml, for instance revision: "
            f'"{example}, {host}", have it ask {before}, or name another file in CODESTRESS_STORE.'
        )

    return check


def _address(base_url: str) -> str:
    """Return the address `base_url` in the spelling of `network.base_of`, with an
    explicit port, and with `localhost` for every loopback address.

    A text that is not an address is returned unchanged.
    """
    try:
        parts = urlsplit(base_url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:  # not an address: the engine will say so
        return base_url
    host = parts.hostname or ""
    if host in ("::1", "0.0.0.0") or host.startswith("127."):
        host = "localhost"
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def looked_up(
    prompts: Prompts, entry: ModelEntry, store: Store
) -> Iterator[tuple[list[tuple[Step, Response]], Step | None]]:
    """Yield, for each trial in order, its steps with a stored response, each with the
    response, and its first unanswered step.

    None stands for the unanswered step if all steps are answered. Raises `StoreError`
    for a damaged response, and `EngineError` for a response from another server than
    the row names.
    """
    check = belongs(entry)
    trials = prompts.trials.of(entry.name)
    indices = range(len(trials.items))
    firsts = (prompts.first(index, entry) for index in indices)
    for chunk in chunks(firsts):
        stored = store.get([step.request.key for step in chunk], check)
        for first in chunk:
            answered = []
            step: Step | None = first
            while step is not None and step.request.key in stored:
                response = stored[step.request.key]
                answered.append((step, response))
                step = following(trials, entry, step, response)
                if step is not None:
                    stored |= store.get([step.request.key], check)
            yield answered, step


def stored_requests(
    trials: Trials, entries: Iterable[ModelEntry], store: Store
) -> Iterator[tuple[ModelEntry, Request, Response]]:
    """Yield every stored request of the trials to these models, each with the model's
    row and the response.

    Retries and later steps are included; the order is that of the trials. Raises as
    `looked_up` does.
    """
    for entry in entries:
        for answered, _ in looked_up(Prompts(trials), entry, store):
            for step, response in answered:
                yield entry, step.request, response


def chain(prompt: Prompt) -> bytes:
    """Return the hashes, of `WIDTH` bytes each, of a prompt's text up to the end of
    each block.

    Equal hashes mean equal prefixes, apart from rare collisions. Sorted chains are
    therefore in the order of a walk through the tree of prefixes. The text is that of
    all messages, with their roles, and of the begun answer.
    """
    parts = [f"{message.role}\n{message.content}\n" for message in prompt.messages]
    data = "".join([*parts, prompt.prefill]).encode("utf-8", "surrogatepass")
    hashes = array("I")
    value = 0
    for start in range(0, len(data), BLOCK):
        value = zlib.crc32(data[start : start + BLOCK], value)
        hashes.append(value)
    return hashes.tobytes()


@contextlib.asynccontextmanager
async def only_run(entry: ModelEntry, store: Path) -> AsyncIterator[None]:
    """Hold the lock of a model in a store: two runs at once would pay twice for the
    same responses.

    While another run holds the lock, wait without limit and say so.
    """
    path = store.with_name(f".{store.name}.{entry.fingerprint}.lock")
    with path.open("w") as lock:
        for tries in itertools.count():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if not tries:
                say(
                    f"{entry.name}: another run or registry row asks the same model; waiting"
                )
            await asyncio.sleep(LOCK_PAUSE_S)
        yield


@dataclass(frozen=True, slots=True)
class Reply:
    """Result of one trial with one model: the keys of its responses in the store, or
    the reason why it has none."""

    key: str
    """Key of the trial's last request; empty if the trial was not asked because time
    ran out."""
    attempts: int
    """Number of times that the last request was sent: more than 1 after refusals, 0 if
    time ran out before the first."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests."""
    failure: RequestFailed | None = None
    """Reason why the last request failed for good; None if it did not."""
    left_out: str = ""
    """Reason why the trial was not asked, in a run whose time is limited; else empty.
    """


@dataclass(frozen=True)
class Replies:
    """The replies of a run: a list for each model, in the order of the trials."""

    models: list[ModelEntry]
    replies: list[list[Reply]]
    requests: int
    """Number of requests that the store lacked and the run sent."""


def raise_failures(asked: Replies) -> None:
    """Raise `IncompleteError`, with the most frequent causes, if requests failed."""
    causes = Counter[str]()
    for replies in asked.replies:
        for reply in replies:
            if reply.failure and not reply.left_out:
                causes[str(reply.failure)] += 1
    if not causes:
        return
    lines = [f"  {count} × {cause}\n" for cause, count in causes.most_common(5)]
    failed = causes.total()
    total = sum(map(len, asked.replies))
    remedy = "Run the same command again to ask only the rest"
    if failed < total:
        remedy += ", or with --set failures=count to draw the figure with these counted as failures"
    raise IncompleteError(
        f"{failed} of {total} requests failed:\n{''.join(lines)}What was answered is kept. {remedy}."
    )
