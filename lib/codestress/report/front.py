"""The report's first screen: what the build did, and a card for each paper: its question, its headline number, what the
build says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from codestress.paths import PARAMS
from codestress.report.findings import listed
from codestress.report.headline import Headline
from codestress.report.leaderboard import INSTRUMENTS
from codestress.rooms import offered_by
from codestress.validation import read_yaml


@dataclass(frozen=True)
class Front:
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
    return Front(
        paper,
        headline.title,
        headline.question,
        _number(rows),
        headline.told,
        _counted(rows) if len(rows) else "not stated in what was built",
        _counted(own) if len(own) else "none in what was built",
        figure,
        _commands(headline.figure),
    )


def _number(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    low, high = rows["published"].min(), rows["published"].max()
    return f"{low:.4g} {rows['unit'].iloc[0]}" if low == high else f"{low:.4g} to {high:.4g} {rows['unit'].iloc[0]}"


def _counted(rows: pd.DataFrame) -> str:
    """How many numbers have which verdict, on which evidence; a single one without its count."""
    plain = rows["verdict"].isin(["not run", "no verdict"])
    counts = Counter(rows["verdict"].where(plain, rows["verdict"] + " (" + rows["evidence"] + ")"))
    if len(rows) == 1:
        row = rows.iloc[0]
        here = f": {row['regenerated']:.4g} {row['unit']}" if row["regenerated"] == row["regenerated"] else ""
        return f"{next(iter(counts))}{here}"
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())


def _commands(artefact: str) -> tuple[str, ...]:
    """Of the first model that the paper asks: what it would cost, then the figure itself."""
    file = PARAMS / f"{artefact}.yaml"
    models = read_yaml(file).get("parameters", {}).get("models", [])
    model = models[0] if models else "MODEL"
    ask = f"{artefact} MODELS={model}"
    return (f"make plan {ask}", f"make {ask} BUDGET_USD=5")
