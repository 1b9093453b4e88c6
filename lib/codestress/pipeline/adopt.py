"""Answers that somebody else asked for and published, taken into the store as answers to an artefact's questions.

Whoever does it says that the questions were the same. What answered is recorded as the file and its hash, so that the
manifest of every figure made from it names them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codestress.errors import DataError
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import request_of
from codestress.inference.servers import belongs
from codestress.inference.store import Store
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.plan import matches
from codestress.types import Response, now


@dataclass(frozen=True)
class Adopted:
    """What became of the answers."""

    taken: int
    answered: int
    """Questions that had an answer of the model's server, which stays."""
    lacking: int
    """Questions to which the file has no answer."""
    unused: int
    """Answers of the file that no question asks for."""


def adopt(
    file: Path,
    answers: Mapping[str, Sequence[str | None]],
    artefact: Artefact,
    entry: ModelEntry,
    where: Mapping[str, str],
    store: Path,
    form: str = "{}",
) -> Adopted:
    """Takes the answers to the artefact's trials by problem and sample; `where` chooses among the trials' factors.

    Published answers are often cleaned: `form` says, with {} for the answer, how the artefact's questions want it.

    `DataError` where none of the questions has an answer in the file, `EngineError` where another server's answer to
    one is in the store. Which server gave the file's answers is unknown.
    """
    trials = artefact.trials().of(entry.name)
    said_by = f"{file.name} sha256 {hashlib.sha256(file.read_bytes()).hexdigest()[:16]}, taken over"
    taken = answered = lacking = 0
    used: set[tuple[str, int]] = set()
    belongs_here = belongs(entry)
    with Store(store) as responses:
        done = None
        for trial in trials.items:
            if not matches(trial, entry, where):
                continue
            texts = answers.get(trial.problem, ())
            request = request_of(trials, trial, entry)
            text = texts[trial.sample] if trial.sample < len(texts) else None
            if text is None:
                lacking += 1
                continue
            used.add((trial.problem, trial.sample))
            if not responses.missing([request.key], belongs_here):
                answered += 1
                continue
            response = Response(form.replace("{}", text), "stop", answered_by=said_by, answered_at=now())
            done = responses.put(request.key, entry.name, response)
            taken += 1
        if done is not None:
            done.result()
    if not used:
        raise DataError(
            f"{file}: no answer to any question of {artefact.name}: its problems are called "
            f"{trials.items[0].problem!r}, the file's {next(iter(answers), '')!r}; "
            f"see `codestress show {artefact.name}`"
        )
    return Adopted(taken, answered, lacking, sum(map(len, answers.values())) - len(used))
