"""Import of published completions into the store, as responses to an artefact's
requests.

The person who imports the completions states that the prompts were the same. The file's
name and hash are recorded as the responding model, so that the manifest of every figure
names them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from codestress.errors import DataError
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import belongs, request_of
from codestress.inference.store import Store
from codestress.types import Response, Trial, now

from .artefacts import Artefact
from .inputs import digest
from .plan import matches


class Adopted(NamedTuple):
    """Counts of the completions that `adopt` imported and left out."""

    taken: int
    """Number of completions that were put into the store."""
    answered: int
    """Number of requests that already had a response from the model's own server, which
    stays, or that repeat another request of the trials."""
    lacking: int
    """Number of requests for which the file has no completion."""
    unused: int
    """Number of completions in the file that answer none of the requests."""


def adopt(
    file: Path,
    answers: Mapping[str, Sequence[str | None]],
    artefact: Artefact,
    entry: ModelEntry,
    where: Mapping[str, str],
    store: Path,
    form: str = "{}",
) -> Adopted:
    """Import a model's published completions into the store and return their counts.

    `answers` is a dict from problem to the completions of `file`, one for each sample (None: no completion). Only the
    name and the hash of `file` itself are used. `entry` is the model's registry row. `where` is a dict from factor to
    the value that the chosen trials have. `form`, with {} in place of a completion, restores the form that the
    prompts ask for, because published completions are often cleaned. Raises `DataError` if `form` lacks {} or no
    completion answers a request, and `EngineError` if the store has a response from another server.
    """
    if "{}" not in form:
        raise DataError(f"--form {form!r}: lacks {{}}, an answer's place")
    trials = artefact.trials().of(entry.name)
    origin = f"{file.name} sha256 {digest(file.read_bytes())}, taken over"
    chosen = [trial for trial in trials.items if matches(trial, entry.name, where)]
    pairs = list(_completed(chosen, answers))
    if not pairs:
        raise DataError(
            f"{file}: no answer to any question of {artefact.name}: its problems are called "
            f"{trials.items[0].problem!r}, the file's {next(iter(answers), '')!r}"
        )
    responses: dict[str, Response] = {}
    for trial, text in pairs:
        whole = form.replace("{}", text)
        response = Response(whole, "stop", answered_by=origin, answered_at=now())
        responses.setdefault(request_of(trials, trial, entry).key, response)
    with Store(store) as stored:
        known = stored.get(responses, belongs(entry))
        stored.put_all((key, entry.name, responses[key]) for key in responses)
    used = {(trial.problem, trial.sample) for trial, _ in pairs}
    taken = len(responses) - len(known)
    unused = sum(map(len, answers.values())) - len(used)
    return Adopted(taken, len(pairs) - taken, len(chosen) - len(pairs), unused)


def _completed(
    trials: list[Trial], answers: Mapping[str, Sequence[str | None]]
) -> Iterator[tuple[Trial, str]]:
    """Yield each of `trials` that has a completion in `answers`, and the completion."""
    for trial in trials:
        texts = dict(enumerate(answers.get(trial.problem, ())))
        text = texts.get(trial.sample)
        if text is not None:
            yield trial, text
