"""Sentences of the report: what a build asked, and which models answered badly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from codestress.inference.results import REASONS, hardly_read, number_read
from codestress.literals import counted
from codestress.report.findings import listed
from codestress.types import Outcome

INSTRUMENTS = {
    "simulated": "simulated reader (not a model)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Engines that run no large language model, in words."""


def did(
    figures: int, papers: int, answers: int, models: Iterable[Mapping[str, Any]]
) -> str:
    """Return a sentence on what a build asked, and of which models it says nothing.

    `figures`, `papers` and `answers` are the build's numbers of them. `models` have the keys
    `name`, `engine` and `answered_by`: the names that servers gave, empty where the model was
    not asked.
    """
    names = []
    engines = set()
    for model in models:
        if not model["answered_by"]:
            continue
        if model["engine"] in INSTRUMENTS:
            engines.add(model["engine"])
        else:
            names.append(model["name"])
    words = {**INSTRUMENTS, "simulated": "simulated readers (not models)"}
    instruments = listed([words[engine] for engine in words if engine in engines])
    shown = "figure or table" if figures == 1 else "figures and tables"
    drew = (
        f"This build drew {figures} {shown} of {counted(papers, 'paper')} "
        f"from {counted(answers, 'answer')}"
    )
    if names:
        beside = f", and of {instruments}, which stand for no model" if engines else ""
        models_asked = listed(sorted(names))
        return f"{drew} of {models_asked}{beside}; of other models it says nothing."
    source = f" of {instruments}" if engines else ""
    return (
        f"{drew}{source} and from the numbers that the papers publish; it asked no large "
        "language model, and none of its own answers says anything about one."
    )


def added(
    manifests: Iterable[Mapping[str, Any]], field: str
) -> dict[str, Counter[str]]:
    """Return, by model, the sums of the counts that the manifests have in `field`."""
    totals: dict[str, Counter[str]] = {}
    for manifest in manifests:
        for model, counts in manifest[field].items():
            totals.setdefault(model, Counter()).update(counts)
    return totals


def shortfalls(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each model with no right answer, or hardly a readable one.

    It has the most frequent reasons and their numbers, all `manifests` together. Simulated
    readers are left out.
    """
    simulated = set[str]()
    for manifest in manifests:
        simulated.update(manifest["simulated"])
    reasons = added(manifests, "reasons")
    sentences = []
    for model, counts in added(manifests, "counts").items():
        if model not in simulated:
            why = reasons.get(model, Counter())
            sentences.append(_shortfall(model, counts, why))
    return list(filter(None, sentences))


def _shortfall(model: str, counts: Counter[str], reasons: Counter[str]) -> str:
    """Return the sentence on one model; empty where it has a right answer and most are read."""
    asked = counts.total() - counts[Outcome.SKIPPED]
    right = counts[Outcome.CORRECT]
    unread = hardly_read(counts)
    if not asked or (right and not unread):
        return ""
    wrong = number_read(counts) - right
    parts = [f"{number:,} × {why}" for why, number in reasons.most_common(REASONS)]
    if wrong == asked:
        parts = ["all were read, and none is correct"]
    elif wrong:
        parts.append(f"{wrong:,} read, and not correct")
    why = "; ".join(parts) or "no reason is recorded"
    if unread:
        why += f"; {unread}, so that it has no place among the papers' models"
    return f"{model}: {right} of {counted(asked, 'answer')} right: {why}."
