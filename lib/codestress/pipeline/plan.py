"""Plan of a build before any call: the number of requests, and the requests exactly as a model
would get them."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import (
    CodestressError,
    EngineError,
    NotWrittenError,
    ParameterError,
)
from codestress.inference.archive import import_known
from codestress.inference.budget import cost
from codestress.inference.progress import Progress
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import (
    CHUNK,
    Asked,
    following,
    request_for,
    request_of,
)
from codestress.inference.servers import belongs, server_of
from codestress.inference.store import Belongs, Store
from codestress.pipeline.artefacts import Artefact
from codestress.types import (
    CHARACTERS_PER_TOKEN,
    Prompt,
    Request,
    Scalar,
    Trial,
    Trials,
)
from codestress.validation import nearest

RENDERED = 4_000
"""Largest number of prompts that a plan renders for a paper's largest artefact; for larger
artefacts it renders a sample of their problems."""
FEWEST_PROBLEMS = 10
"""Smallest number of problems in a sample."""


@dataclass(frozen=True)
class PlanRow:
    """Row of a plan: counts of the requests that one model would get for one artefact, with their
    price and time."""

    artefact: str
    model: str
    problems: int
    """Number of different problems that the model is asked about."""
    requests: int
    """Largest number of requests. Follow-up requests count until the store shows that they are not
    made."""
    answered: int
    """Number of requests with a stored response from the server in the model's registry row."""
    repeated: int
    """Number of requests equal to an earlier one, in this artefact or in a row above in the same
    plan; they are sent once."""
    characters: int
    """Characters in the messages of the requests still to be made."""
    longest: int
    """Number of tokens in all missing responses if each has its largest length."""
    later: int
    """Largest number of missing follow-up requests, since not all responses have a follow-up."""
    dollars_low: float | None
    """Price of the prompts alone in dollars, at one token per 4 characters; None without a price in
    the registry."""
    dollars_high: float | None
    """Price in dollars if every response has its largest length; None without a price in the
    registry."""
    seconds: float | None
    """Seconds at the rate of the model's last requests in the store; None without such requests."""
    too_long: int
    """Number of requests longer than the model's context window, at one token per 4 characters:
    they would fail."""
    unpriced: bool
    """Whether the model's server charges for responses while the registry has no price."""
    rendered: float
    """Share of the problems whose prompts were rendered. Below 1, all counts but `problems` and
    `requests` are estimates: the sample's, scaled to all requests."""

    @property
    def missing(self) -> int:
        """Number of requests still to be made: all but those answered or repeated."""
        return self.requests - self.answered - self.repeated


class Plan(NamedTuple):
    """Rows of a plan (`PlanRow`), with errors and notes by artefact."""

    rows: list[PlanRow]
    errors: dict[str, str]
    """Reasons why artefacts cannot be built, by artefact."""
    notes: dict[str, str]
    """Material that a model must write before the build, and the stand-in by which requests were
    counted, by artefact."""


@dataclass
class Planning:
    """State of a plan while its artefacts are counted: the open store, the progress bar, the
    errors, and the requests counted so far."""

    responses: Store
    progress: Progress
    errors: dict[str, str]
    planned: set[tuple[str, str | int]]
    """Server and key of each request counted so far. Two servers may have the same key, and neither
    responds for the other."""


def make_plan(
    artefacts: Sequence[Artefact], store: Path, *, exact: bool = False
) -> Plan:
    """Return the `Plan` of a build of `artefacts`: a row of counts for each artefact and model,
    from the trials and the responses in the file `store`. Nothing is asked.

    Prompts of large artefacts are rendered for a sample of problems only, the same problems in all
    artefacts of a paper, so that shared requests are found; `exact` renders all prompts.
    Repetitions after refusals are not foreseen. While a trial's first request is missing, its later
    requests count as missing too, with the same length. An artefact whose trials cannot be made, or
    whose stored responses are another server's, is named in the plan's `errors`.
    """
    errors: dict[str, str] = {}
    notes: dict[str, str] = {}
    trials_of: dict[str, Trials] = {}
    for artefact in artefacts:
        try:
            trials_of[artefact.label] = _countable_trials(artefact, notes)
        except CodestressError as error:
            errors[artefact.name] = str(error)
    countable = [artefact for artefact in artefacts if artefact.label in trials_of]
    largest: Counter[str] = Counter()
    for artefact in countable:
        prompts = _prompts(artefact, trials_of[artefact.label])
        largest[artefact.paper] = max(largest[artefact.paper], prompts)
    parts_of = {}
    for artefact in countable:
        share = 1.0 if exact else RENDERED / max(1, largest[artefact.paper])
        parts_of[artefact.label] = _parts(artefact, trials_of[artefact.label], share)
    parts = itertools.chain(*parts_of.values())
    total = sum(len(part.indices) * len(part.entries) for part in parts)
    import_known((entry for artefact in artefacts for entry in artefact.models), store)
    rows = []
    with Store(store) as responses, Progress(total, "prompts") as progress:
        planning = Planning(responses, progress, errors, set())
        for artefact in countable:
            rows += _rows(artefact, parts_of[artefact.label], planning)
    return Plan(rows, errors, notes)


def _countable_trials(artefact: Artefact, notes: dict[str, str]) -> Trials:
    """Return the trials of `artefact`. For material that a model has not written yet they have a
    stand-in, on which a text is put into `notes` by the artefact's name; other errors are
    raised."""
    try:
        return artefact.trials()
    except NotWrittenError as error:
        given = artefact.parameters.model_copy(update=error.stand_in)
        trials = replace(artefact, parameters=given).trials()
        settings = ", ".join(
            f"{name} = {value}" for name, value in error.stand_in.items()
        )
        notes[artefact.name] = f"counted as if {settings}; to be written first: {error}"
        return trials


@dataclass(frozen=True)
class Part:
    """Models of an artefact that are asked the same trials, these trials, and the indices of the
    sampled trials, whose prompts are rendered."""

    entries: list[ModelEntry]
    trials: Trials
    indices: list[int]
    """Indices in `trials` of the sampled trials."""
    rendered: float
    """Share of the problems in the sample."""
    nested: set[str]
    """Sampled problems that are in the sample of every artefact with these problems; they show
    which requests are repeated."""


def _parts(artefact: Artefact, trials: Trials, share: float) -> list[Part]:
    """Return one `Part` for the models of `artefact` with the common `trials`, then one for each
    model with trials of its own. `share` is the share of problems whose prompts are rendered (1 or
    more: all), but never fewer than `FEWEST_PROBLEMS`."""
    parts = []
    for entries in _groups(artefact.models, trials):
        own = trials.of(entries[0].name)
        rank = {
            problem: rank_of(problem)
            for problem in {trial.problem for trial in own.items}
        }
        nested = {problem for problem in rank if rank[problem] < share}
        sample = nested | set(sorted(rank, key=rank.__getitem__)[:FEWEST_PROBLEMS])
        indices = [
            index for index, trial in enumerate(own.items) if trial.problem in sample
        ]
        rendered = len(sample) / max(1, len(rank))
        parts.append(Part(entries, own, indices, rendered, nested or sample))
    return parts


def _groups(entries: Sequence[ModelEntry], trials: Trials) -> list[list[ModelEntry]]:
    """Return the models `entries` in groups: first all that are asked the common `trials`, if any,
    then each model for which `trials` has trials of its own."""
    common = [entry for entry in entries if entry.name not in trials.own]
    own = [[entry] for entry in entries if entry.name in trials.own]
    return [common, *own] if common else own


def rank_of(problem: str) -> float:
    """Return a number from 0 to 1, always the same for an id `problem` (by a hash). Problems whose
    number is below a limit are a random sample of all; a lower limit gives a part of the same
    sample."""
    name = problem.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=6).digest()) / 2**48


def _prompts(artefact: Artefact, trials: Trials) -> int:
    """Number of prompts of `artefact`: one for each common trial in `trials`, whatever the number
    of models, and one for each trial of the models with trials of their own."""
    return len(trials.items) + trials.total(
        entry.name for entry in artefact.models if entry.name in trials.own
    )


def _rows(
    artefact: Artefact, parts: Sequence[Part], planning: Planning
) -> list[PlanRow]:
    """Return a `PlanRow` for each model of `artefact`, in its order, with the counts of the sampled
    trials in `parts` scaled to all requests; each prompt is rendered once for all models of a part.
    `planning` takes up errors and counted requests."""
    rows: dict[str, PlanRow] = {}
    for part in parts:
        problems = len({trial.problem for trial in part.trials.items})
        most = sum(part.trials.steps(trial) for trial in part.trials.items)
        sums = _counts(artefact, part, planning)
        for entry in part.entries:
            name, sample = entry.name, sums[entry.name]
            requests = most - round(most * sample["never"] / max(1, sample["steps"]))
            answered = round(requests * sample["answered"] / max(1, sample["requests"]))
            repeated = round(
                requests * sample["nested repeated"] / max(1, sample["nested"])
            )
            missing = requests - answered - repeated
            scale = missing / max(1, sample["missing"])
            characters = round(scale * sample["characters"])
            longest = round(scale * sample["longest"])
            tokens = characters / CHARACTERS_PER_TOKEN
            rate = None if entry.local else planning.responses.rate(name)
            rows[name] = PlanRow(
                artefact=artefact.name,
                model=name,
                problems=problems,
                requests=requests,
                answered=answered,
                repeated=repeated,
                characters=characters,
                longest=longest,
                later=round(scale * sample["later"]),
                dollars_low=cost(entry, tokens, 0) if entry.price else None,
                dollars_high=cost(entry, tokens, longest) if entry.price else None,
                seconds=missing / rate if rate else None,
                too_long=round(most * sample["too long"] / max(1, sample["steps"])),
                unpriced=entry.needs_key and entry.price is None,
                rendered=part.rendered,
            )
    return [rows[entry.name] for entry in artefact.models]


def _counts(
    artefact: Artefact, part: Part, planning: Planning
) -> dict[str, Counter[str]]:
    """Return sums over the sampled trials of `part`, by model and name of the sum: requests by
    kind, characters, longest responses. Errors on stored responses of `artefact` go to
    `planning.errors`."""
    sums = {entry.name: Counter[str]() for entry in part.entries}
    servers = {entry.name: server_of(entry) for entry in part.entries}
    checks = {
        entry.name: belongs(entry) if servers[entry.name] else None
        for entry in part.entries
    }
    refused: set[str] = set()
    for start in range(0, len(part.indices), CHUNK):
        indices = part.indices[start : start + CHUNK]
        chunk = [part.trials.items[index] for index in indices]
        prompts = [part.trials.render(trial) for trial in chunk]
        for entry in part.entries:
            shown = zip(chunk, prompts, strict=True)
            requests = [
                request_for(entry, prompt, trial.sample) for trial, prompt in shown
            ]
            keys = [request.key for request in requests]
            absent = set(keys)
            if entry.name not in refused:
                try:
                    absent = set(planning.responses.missing(keys, checks[entry.name]))
                except (
                    EngineError
                ) as error:  # another server's answers, which a build refuses
                    planning.errors[artefact.name] = str(error)
                    refused.add(entry.name)
            for index, trial, request in zip(indices, chunk, requests, strict=True):
                counts = sums[entry.name]
                steps = part.trials.steps(trial)
                missing = later = never = 0
                if request.key in absent:
                    missing, later = _still_missing(
                        trial, request, steps, servers[entry.name], planning.planned
                    )
                else:
                    answered, complete = 1, True
                    if steps > 1:
                        first = Asked(index, request)
                        try:
                            answered, complete = _answered(
                                part.trials,
                                entry,
                                first,
                                planning.responses,
                                checks[entry.name],
                            )
                        except EngineError as error:  # a later answer of another server
                            planning.errors[artefact.name] = str(error)
                            complete = False
                    never = max(0, steps - answered) if complete else 0
                    missing = later = 0 if complete else steps - answered
                    counts["answered"] += answered
                counts["steps"] += steps
                counts["never"] += never
                counts["requests"] += steps - never
                counts["too long"] += beyond_window(request.prompt, entry)
                counts["missing"] += missing
                counts["later"] += later
                counts["characters"] += missing * request.prompt.characters
                counts["longest"] += missing * request.prompt.sampling.max_tokens
                if trial.problem in part.nested:
                    counts["nested"] += steps
                    counts["nested repeated"] += (
                        steps - missing if request.key in absent else 0
                    )
                planning.progress.answered()
    return sums


def _answered(
    trials: Trials, entry: ModelEntry, first: Asked, store: Store, check: Belongs | None
) -> tuple[int, bool]:
    """Return a pair: the number of a trial's requests, from `first` on, that `store` answers for
    the model `entry`, and whether no further request follows. `EngineError` when a response is not
    from the server that `check` expects (None: any server)."""
    count = 0
    asked: Asked | None = first
    while asked is not None:
        key = asked.request.key
        response = store.get([key], check).get(key)
        if response is None:
            return count, False
        # A refused request that is asked again is one question still.
        count += asked.request.attempt == 0
        asked = following(trials, entry, asked, response)
    return count, True


def _still_missing(
    trial: Trial,
    request: Request,
    steps: int,
    server: str,
    planned: set[tuple[str, str | int]],
) -> tuple[int, int]:
    """Return a pair for a `trial` whose first request has no response: the number of its requests
    that are not in `planned` yet, and how many of these follow the first. Add all to `planned`.

    `request` is the trial's first, `steps` the number of its requests, `server` the address of the
    model's server.
    """
    first = (server, request.key)
    # Trials may share their first request, not their later ones.
    whole = (
        server,
        hash((request.key, trial.problem, *trial.factors.values()))
        if steps > 1
        else request.key,
    )
    later = 0 if whole in planned else steps - 1
    missing = later + (first not in planned)
    planned |= {first, whole}
    return missing, later


def beyond_window(prompt: Prompt, entry: ModelEntry) -> bool:
    """Whether `prompt` is longer than the context window of the model `entry`, by an estimate of 4
    characters a token; False for a model without a known window."""
    return (
        entry.context is not None
        and prompt.characters > entry.context * CHARACTERS_PER_TOKEN
    )


def check_windows(artefact: Artefact, trials: Trials) -> None:
    """Raise `ParameterError` when prompts of `trials` do not fit the context window of one of the
    models of `artefact`; the message has the number of such prompts and an example. Nothing is
    asked."""
    limited = [entry for entry in artefact.models if entry.context is not None]
    too_long: dict[str, list[tuple[Trial, int]]] = {entry.name: [] for entry in limited}
    for entries in _groups(limited, trials):
        part = trials.of(entries[0].name)
        for trial in part.items:
            prompt = part.render(trial)
            for entry in entries:
                if beyond_window(prompt, entry):
                    too_long[entry.name].append((trial, prompt.characters))
    for entry in limited:
        if too_long[entry.name]:
            trial, length = too_long[entry.name][0]
            factors = ", ".join(
                f"{name} = {value}" for name, value in trial.factors.items()
            )
            total = trials.total([entry.name])
            raise ParameterError(
                f"{artefact.name}: {len(too_long[entry.name]):,} of {total:,} prompts are longer than the "
                f"window of {entry.name}, {entry.context:,} tokens; one has {length:,} characters ({factors}).\n"
                "Make them shorter (fewer distractors, for instance), or leave the model out with MODELS=…"
            )


def show_requests(
    artefact: Artefact, where: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yields the first request of each trial of `artefact` to each of its models, where the factors
    have the values in `where`: a dictionary of `factors`, `key`, and the request's fields.
    `ParameterError` for an unknown factor."""
    trials = artefact.trials()
    for entries in _groups(artefact.models, trials):
        for trial, entry in itertools.product(
            trials.of(entries[0].name).items, entries
        ):
            if matches(trial, entry, where):
                request = request_of(trials, trial, entry)
                yield {
                    "factors": factors_of(trial, entry),
                    "key": request.key,
                    **asdict(request),
                }


def factors_of(trial: Trial, entry: ModelEntry) -> dict[str, Scalar]:
    """Dictionary that identifies a `trial` asked of the model `entry`: `model`, `problem`,
    `sample`, and the trial's factors."""
    return {
        "model": entry.name,
        "problem": trial.problem,
        "sample": trial.sample,
        **trial.factors,
    }


def matches(trial: Trial, entry: ModelEntry, where: Mapping[str, str]) -> bool:
    """Whether a `trial` asked of the model `entry` has the values in `where`, by the names in
    `factors_of`, compared as text regardless of case; `ParameterError` with the nearest name for an
    unknown one."""
    known = factors_of(trial, entry)
    for name in where:
        if name not in known:
            raise ParameterError(
                f"--where {name}: no such factor{nearest(name, known)}"
            )
    return all(
        str(known[name]).lower() == value.lower() for name, value in where.items()
    )
