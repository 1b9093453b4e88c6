"""What the report says of all figures and ledgers together.

What the build did, a card for each paper, and which models answered how much right, each paper on one artefact's
questions; each number once, how many verdicts to expect, what was not run, and what those runs cost: tokens as
`codestress plan` counts them, times the registry's prices. Nothing is asked and nothing is rendered: params/plans.csv
has what plans counted (`python bench/plans.py`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import holm
from codestress.fitting.summaries import with_accuracy
from codestress.fitting.verdicts import Verdict, p_value
from codestress.inference.budget import cost
from codestress.inference.registry import ModelEntry, load_registry
from codestress.paths import PARAMS
from codestress.report.claims import COLUMNS
from codestress.report.findings import listed
from codestress.report.headline import Headline
from codestress.rooms import offered_by
from codestress.types import CHARACTERS_PER_TOKEN, Outcome
from codestress.validation import read_yaml

INSTRUMENTS = {
    "simulated": "simulated reader (not a model)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Engines of what stands for no large language model, in words."""
SIGNS = {
    **{"reproduced": "✓", "differs": "✗", "inconclusive": "?", "not comparable": "∦", "consistent": "="},
    **{"inconsistent": "≠", "follows": "⊢", "does not follow": "⊬", "no verdict": "·", "not run": "–"},
}
"""Of verdicts, what was decided first: never by colour alone."""
PLANS = PARAMS / "plans.csv"
PLAN_COLUMNS = ["artefact", "model", "part", "basis", "requests", "characters", "longest"]
"""Of the paper profile: a data set where an artefact has several; how the numbers were found, empty where they were
counted; different questions, characters of all prompts, and tokens of all answers if each is as long as it may be."""


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


def all_claims(ledgers: list[pd.DataFrame]) -> pd.DataFrame:
    """Each number of the papers once, what was decided first: `COLUMNS`, and `artefacts`, all that state it.

    Artefacts that the command line changed, PAPER/ARTEFACT@CHANGES, count by their changes."""
    if not ledgers:
        return pd.DataFrame(columns=[*COLUMNS, "artefacts"])
    rows = pd.concat(ledgers, ignore_index=True)
    rows["paper"] = rows["artefact"].str.replace("/[^@]*", "", regex=True)
    rows = rows.sort_values("verdict", key=lambda said: said.map(list(SIGNS).index), kind="stable")
    same = ["paper", "statement", "published", "unit"]
    where = rows.groupby(same, sort=False)["artefact"].agg(list).rename("artefacts")
    return rows.drop_duplicates(same).merge(where, on=same).drop(columns="paper")


def judged(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """For each paper with numbers that could differ by chance: how many were `judged` by both sides' errors, how many
    are `expected` to differ if everything replicates (in clumps, since numbers share items), how many do, and how many
    after correction for having looked at all of them."""
    found = []
    sampled = claims[claims["verdict"].isin(list(Verdict)) & claims["difference_low"].notna()]
    for paper, part in sampled.groupby(sampled["artefact"].str.split("/").str[0]):
        chances = [p_value(Interval(*ends)) for ends in part[["difference_low", "difference_high"]].to_numpy(float)]
        sure = holm(np.nan_to_num(chances, nan=1.0)) <= 0.05  # without ends: looked at, too
        differ = (part["verdict"] == Verdict.DIFFERS).sum()
        counts = {"judged": len(part), "expected": 0.05 * len(part), "differ": differ, "after_holm": sure.sum()}
        found.append({"paper": paper, **counts})
    return found


def not_run(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """What must be run, how many numbers of which artefacts wait for it, and how to ask for the first of those that has
    a plan, with its price; most first."""
    registry, waiting = load_registry(), claims[claims["verdict"] == "not run"]
    groups = []
    for needs, part in waiting.groupby("basis", sort=False):
        artefacts = sorted({name for names in part["artefacts"] for name in names})
        command, told = price(artefacts, str(needs), registry)
        groups.append({"needs": needs, "numbers": len(part), "artefacts": artefacts, "command": command, "price": told})
    return sorted(groups, key=lambda group: -group["numbers"])


@cache
def plans() -> list[dict[str, Any]]:
    """Rows by `PLAN_COLUMNS`; none without the file."""
    text = {"part": str, "basis": str}
    rows = pd.read_csv(PLANS, dtype=text, keep_default_na=False) if PLANS.is_file() else pd.DataFrame()
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def price(artefacts: Sequence[str], needs: str, registry: Mapping[str, ModelEntry]) -> tuple[str, str]:
    """The command that asks what `needs` names, models and a data set (all of an artefact's, where it names none), in
    the first artefact that has a plan, and its price; `price unknown` where nobody knows."""
    artefacts = [name.partition("@")[0] for name in artefacts]  # whatever command lines changed of them
    for artefact in artefacts:
        rows = [row for row in plans() if row["artefact"] == artefact]
        # Whole names: one may begin another's.
        models = {row["model"]: rf"(?<![\w.-]){re.escape(row['model'])}(?![\w-]|\.\w)" for row in rows}
        named = [model for model, pattern in models.items() if re.search(pattern, needs)]
        asked = [row for row in rows if row["model"] in named or not named]
        parts = list(dict.fromkeys(row["part"] for row in asked if row["part"] and row["part"] in needs.lower()))
        chosen = [row for row in asked if row["part"] in parts or not parts]
        if chosen:
            options = f' MODELS="{" ".join(named)}"' if named else ""
            if parts and len(parts) < len({row["part"] for row in rows}):
                options += f' SET="problems=[{",".join(parts)}]"'
            bases = itertools.groupby(sorted(chosen, key=itemgetter("basis")), itemgetter("basis"))
            told = "; ".join(_told(basis, list(part), registry) for basis, part in bases)
            return f"make {artefact} PROFILE=paper{options}", told
    return f"make {artefacts[0]} PROFILE=paper", "price unknown"


def _told(basis: str, rows: Sequence[Mapping[str, Any]], registry: Mapping[str, ModelEntry]) -> str:
    requests, characters, longest = (sum(row[name] for row in rows) for name in ("requests", "characters", "longest"))
    parts = [
        f"{requests:,} questions of {characters / CHARACTERS_PER_TOKEN / 1e6:,.2f} M tokens",
        f"answers of at most {longest / 1e6:,.2f} M",
    ]
    low = high = 0.0
    unknown, own = dict[str, None](), set()
    for row in rows:
        entry, tokens = registry.get(row["model"]), row["characters"] / CHARACTERS_PER_TOKEN
        if entry is not None and entry.price is not None:
            low, high = low + cost(entry, tokens, 0), high + cost(entry, tokens, row["longest"])
        elif entry is not None and not entry.needs_key:
            own.add(row["model"])
        else:
            unknown[row["model"]] = None
    parts += [f"${low:,.2f} to ${high:,.2f}"] if high else []
    parts += [f"{len(own)} model{'s' * (len(own) > 1)} on a machine of one's own"] if own else []
    parts += [f"price unknown for {', '.join(unknown)}"] if unknown else []
    return ", ".join(parts) + (f" ({basis})" if basis else "")
