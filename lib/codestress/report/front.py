"""What the report says of all figures together: what the build did, a card for each paper (its question, its headline
number, what the build says of it), and which models answered how much right, each paper on one artefact's questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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


def fronts(papers: Sequence[str], built: Sequence[str], claims: pd.DataFrame) -> list[dict[str, Any]]:
    """A card for each paper that has something built, in the order of `papers`: its headline `number` as published
    (empty where no figure of this build states it), what that is (`told`), the ledger's words on it and on `all`
    numbers of the paper, a figure, and what to type to have that of a model."""
    headlines: Mapping[str, Headline] = offered_by("headline", "HEADLINE")
    return [_front(paper, headlines[paper], built, claims) for paper in papers if paper in headlines]


def _front(paper: str, headline: Headline, built: Sequence[str], claims: pd.DataFrame) -> dict[str, Any]:
    own = claims[claims["artefact"].str.startswith(f"{paper}/")]
    rows = own[own["statement"].str.contains(headline.stated, regex=False)]
    if len(plain := rows[rows["statement"] == headline.stated]):
        rows = plain
    elif len(shown := rows[[headline.figure in names for names in rows["artefacts"]]]):
        rows = shown
    number = " to ".join(f"{end:.4g}" for end in sorted({rows["published"].min(), rows["published"].max()}))
    # Of the first model that the paper asks: what it would cost, then the figure itself.
    models = read_yaml(PARAMS / f"{headline.figure}.yaml").get("parameters", {}).get("models", [])
    ask = f"{headline.figure} MODELS={models[0] if models else 'MODEL'}"
    return {
        **{"paper": paper, "title": headline.title, "question": headline.question, "told": headline.told},
        "number": f"{number} {rows['unit'].iloc[0]}" if len(rows) else "",
        "says": _counted(rows) or "not stated in what was built",
        "all": _counted(own) or "none in what was built",
        "figure": headline.figure if headline.figure in built else next(n for n in built if n.startswith(f"{paper}/")),
        "commands": (f"make plan {ask}", f"make {ask} BUDGET_USD=5"),
    }


def _counted(rows: pd.DataFrame) -> str:
    """How many numbers have which verdict, on which evidence; a single one without its count; empty without any."""
    plain = rows["verdict"].isin(["not run", "no verdict"])
    counts = Counter(rows["verdict"].where(plain, rows["verdict"] + " (" + rows["evidence"] + ")"))
    if len(rows) == 1:
        row = rows.iloc[0]
        here = f": {row['regenerated']:.4g} {row['unit']}" if row["regenerated"] == row["regenerated"] else ""
        return f"{next(iter(counts))}{here}"
    return ", ".join(f"{count:,} {word}" for word, count in counts.items())


def leaderboards(manifests: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One for each artefact whose YAML says so and that a model answered, from manifests by artefact, with the models'
    `places`, best first (model, correct, n, accuracy, and Wilson's low and high, 95 %, as if independent); simulated
    readers and the others of `INSTRUMENTS` have no rank.

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
            own = {"paper": name.split("/")[0], "artefact": name, "title": manifest["title"]}
            found.append({**own, "places": ranked.to_dict("records")})
    return found
