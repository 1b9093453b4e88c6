"""Sentences of the report: on the questions that a build asked, and on models that
answered badly."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from codestress.inference.results import REASONS, hardly_read, number_read
from codestress.literals import counted
from codestress.types import Outcome

from .findings import listed

INSTRUMENTS = {
    "simulated": "simulated readers (not models)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Dict from each engine that runs no large language model to its description."""


def did(
    figures: int, papers: int, answers: int, models: Iterable[Mapping[str, Any]]
) -> str:
    """Return a sentence on the questions that a build asked, and on models of which the
    build says nothing.

    `figures`, `papers` and `answers` are the build's numbers of figures, papers and
    answers. `models` have the keys `name`, `engine` and `answered_by`: the names that
    servers returned, empty if the model was not asked.
    """
    engines = {
        model["name"]: model["engine"] for model in models if model["answered_by"]
    }
    names = sorted(name for name in engines if engines[name] not in INSTRUMENTS)
    instruments = [
        INSTRUMENTS[name] for name in INSTRUMENTS if name in engines.values()
    ]
    counts = f"{counted(figures, 'figure')} of {counted(papers, 'paper')}"
    asked = f"{counted(answers, 'answer')} of {listed(names + instruments)}"
    drew = f"This build drew {counts} from {asked}"
    if names:
        return f"{drew}; of other models it says nothing."
    return (
        f"{drew} and from the numbers that the papers publish; it asked no large "
        "language model, and none of its own answers says anything about one."
    )


def added(
    manifests: Iterable[Mapping[str, Any]], field: str
) -> dict[str, Counter[str]]:
    """Return a dict from model to the sums of the counts that the manifests have in
    `field`."""
    totals: dict[str, Counter[str]] = {}
    for manifest in manifests:
        for model, counts in manifest[field].items():
            totals.setdefault(model, Counter()).update(counts)
    return totals


def shortfalls(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each model without a correct answer, or of which hardly an
    answer could be read.

    A sentence has the most frequent reasons and their numbers, from all `manifests`
    together. Simulated readers are left out.
    """
    simulated = set[str]()
    for manifest in manifests:
        simulated.update(manifest["simulated"])
    reasons = added(manifests, "reasons")
    sentences = []
    for model, counts in added(manifests, "counts").items():
        asked = counts.total() - counts[Outcome.SKIPPED]
        right = counts[Outcome.CORRECT]
        read = number_read(counts)
        unread = hardly_read(counts)
        if model in simulated or not asked or (right and not unread):
            continue
        why = []
        for reason, number in reasons.get(model, Counter()).most_common(REASONS):
            why.append(f"{number:,} × {reason}")
        if read > right:
            why.append(f"{read - right:,} read, and not correct")
        if unread:
            why.append(f"{unread}, so that it has no place among the papers' models")
        count = f"{right} of {counted(asked, 'answer')} right"
        sentences.append(f"{model}: {count}: {'; '.join(why)}.")
    return sentences
