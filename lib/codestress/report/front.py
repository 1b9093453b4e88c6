"""What the report says of all figures together: what the build did, a card for each paper (its question, its headline
number, what the build says of it), and which models answered how much right, each paper on one artefact's questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.paths import PARAMS
from codestress.report.findings import listed
from codestress.report.headline import Headline
from codestress.rooms import offered_by
from codestress.types import Outcome
from codestress.validation import read_yaml

INSTRUMENTS = {
    "simulated": "simulated reader (not a model)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Engines of what stands for no large language model, in words."""


class Front(NamedTuple):
    """A paper's card."""

    paper: str
    title: str
    question: str
    number: str
    """As published; empty where no figure of this build states it."""
    told: str
    """What that number is."""
    says: str
    """The ledger's words on it, with what they rest on."""
    all: str
    """The same of all numbers of the paper, as counts."""
    figure: str
    """Empty where nothing of the paper was built."""
    commands: tuple[str, ...]
    """What to type to have it of a model."""


def did(figures: int, papers: int, answers: int, models: Iterable[Mapping[str, Any]]) -> str:
    """What a build did, and what it did not, in a sentence. `models`: name, engine, answered_by."""
    asked = [model for model in models if model["answered_by"]]
    named = sorted(model["name"] for model in asked if model["engine"] not in INSTRUMENTS)
    kinds = {model["engine"] for model in asked} & {*INSTRUMENTS}
    words = {"simulated": "simulated readers (not models)"}
    others = listed([words.get(kind, told) for kind, told in INSTRUMENTS.items() if kind in kinds])
    drew = f"This build drew {figures} figures and tables of {papers} papers from {answers:,} answers"
    if not named:
        source = f" of {others}" if kinds else ""
        return (
            f"{drew}{source} and from the numbers that the papers publish; it asked no large language model, "
            "and none of its own answers says anything about one."
        )
    beside = f", and of {others}, which stand for no model" if kinds else ""
    return f"{drew} of {listed(named)}{beside}; of other models it says nothing."


def fronts(papers: Sequence[str], built: Sequence[str], claims: pd.DataFrame) -> list[Front]:
    """A card for each paper that has something built, in the order of `papers`."""
    headlines: Mapping[str, Headline] = offered_by("headline", "HEADLINE")
    return [_front(paper, headlines[paper], built, claims) for paper in papers if paper in headlines]


def _front(paper: str, headline: Headline, built: Sequence[str], claims: pd.DataFrame) -> Front:
    own = claims[claims["artefact"].str.startswith(f"{paper}/")]
    rows = own[own["statement"].str.contains(headline.stated, regex=False)]
    if len(plain := rows[rows["statement"] == headline.stated]):
        rows = plain
    elif len(shown := rows[[headline.figure in names for names in rows["artefacts"]]]):
        rows = shown
    figure = headline.figure if headline.figure in built else next(n for n in built if n.startswith(f"{paper}/"))
    number = " to ".join(f"{end:.4g}" for end in sorted({rows["published"].min(), rows["published"].max()}))
    says = _counted(rows) or "not stated in what was built"
    # Of the first model that the paper asks: what it would cost, then the figure itself.
    models = read_yaml(PARAMS / f"{headline.figure}.yaml").get("parameters", {}).get("models", [])
    ask = f"{headline.figure} MODELS={models[0] if models else 'MODEL'}"
    return Front(
        *(paper, headline.title, headline.question, f"{number} {rows['unit'].iloc[0]}" if len(rows) else ""),
        *(headline.told, says, _counted(own) or "none in what was built", figure),
        (f"make plan {ask}", f"make {ask} BUDGET_USD=5"),
    )


def _counted(rows: pd.DataFrame) -> str:
    """How many numbers have which verdict, on which evidence; a single one without its count; empty without any."""
    plain = rows["verdict"].isin(["not run", "no verdict"])
    counts = Counter(rows["verdict"].where(plain, rows["verdict"] + " (" + rows["evidence"] + ")"))
    if len(rows) == 1:
        row = rows.iloc[0]
        here = f": {row['regenerated']:.4g} {row['unit']}" if row["regenerated"] == row["regenerated"] else ""
        return f"{next(iter(counts))}{here}"
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())


class Leaderboard(NamedTuple):
    """The models of a paper, on the questions of one artefact."""

    paper: str
    artefact: str
    title: str
    places: list[dict[str, Any]]
    """Best first: model, correct, n, accuracy, low, high (Wilson, 95 %, as if independent)."""


def leaderboards(manifests: Mapping[str, Mapping[str, Any]]) -> list[Leaderboard]:
    """One for each artefact whose YAML says so and that a model answered, from manifests by artefact; simulated readers
    and the others of `INSTRUMENTS` have no rank.

    Only answers that are right by the artefact's rule count. Whatever else became of a question counts as not right;
    those that were skipped do not count, because they were not asked.
    """
    found = []
    for name, manifest in sorted(manifests.items()):
        engines = {model["name"]: model["engine"] for model in manifest["models"]}
        rows = [
            (
                model,
                counts.get(Outcome.CORRECT, counts.get(Outcome.CORRECT.code)),
                sum(counts.values()) - counts[Outcome.SKIPPED],
            )
            for model, counts in manifest["counts"].items()
            if manifest["leaderboard"] and engines.get(model) not in INSTRUMENTS
        ]
        if rows:
            table = pd.DataFrame(rows, columns=["model", "correct", "n"])
            shares = with_accuracy(table[table["n"] > 0], "correct", "n")
            ranked = shares.sort_values(["accuracy", "model"], ascending=[False, True])
            found.append(Leaderboard(name.split("/")[0], name, manifest["title"], ranked.to_dict("records")))
    return found
