"""The report's summary of all figures and ledgers.

It says what the build did, and shows a card for each paper. It gives each published number once,
the verdicts to expect by chance, the runs that are missing and their costs: tokens as `codestress
plan` counts them, times the registry's prices. No model is asked and no prompt rendered:
params/plans.csv has the plans' counts (`python bench/plans.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import holm
from codestress.fitting.verdicts import Verdict, p_value
from codestress.inference.budget import cost
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.results import REASONS, hardly_read, number_read
from codestress.literals import counted
from codestress.paths import PARAMS
from codestress.report.claims import COLUMNS, SOURCES
from codestress.report.findings import listed
from codestress.report.headline import Headline
from codestress.report.published import version_of
from codestress.rooms import offered_by
from codestress.types import CHARACTERS_PER_TOKEN, Outcome
from codestress.validation import read_yaml

INSTRUMENTS = {
    "simulated": "simulated reader (not a model)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Engines that run no large language model, in words."""
SIGNS = {
    "reproduced": "✓",
    "differs": "✗",
    "inconclusive": "?",
    "not comparable": "∦",
    "consistent": "=",
    "inconsistent": "≠",
    "follows": "⊢",
    "does not follow": "⊬",
    "no verdict": "·",
    "not run": "–",
}
"""Sign of each verdict, in the order of the ledger, decided ones first: colour is never the only
cue."""
CONTRARY = ("differs", "inconsistent", "does not follow")
"""Verdicts on numbers that are not as the paper prints them."""
PLANS = PARAMS / "plans.csv"
PLAN_COLUMNS = [
    "artefact",
    "model",
    "part",
    "basis",
    "requests",
    "characters",
    "longest",
]
"""Columns of params/plans.csv, for the paper profile. part: a data set where an artefact has
several; basis: how the numbers were found, empty where they were counted; requests: different
questions; characters: of all prompts; longest: tokens of all completions if each is as long as
allowed."""


def did(
    figures: int, papers: int, answers: int, models: Iterable[Mapping[str, Any]]
) -> str:
    """Returns a sentence on what a build did and did not do, from its numbers of figures, papers
    and answers. `models` are mappings with the keys `name`, `engine` and `answered_by`, the names
    that servers gave; a model without those was not asked."""
    asked = [model for model in models if model["answered_by"]]
    named = sorted(
        model["name"] for model in asked if model["engine"] not in INSTRUMENTS
    )
    kinds = {model["engine"] for model in asked} & {*INSTRUMENTS}
    words = {"simulated": "simulated readers (not models)"}
    others = listed(
        [words.get(kind, told) for kind, told in INSTRUMENTS.items() if kind in kinds]
    )
    shown = "1 figure or table" if figures == 1 else f"{figures} figures and tables"
    drew = f"This build drew {shown} of {counted(papers, 'paper')} from {counted(answers, 'answer')}"
    if not named:
        source = f" of {others}" if kinds else ""
        return (
            f"{drew}{source} and from the numbers that the papers publish; it asked no large language model, "
            "and none of its own answers says anything about one."
        )
    beside = f", and of {others}, which stand for no model" if kinds else ""
    return f"{drew} of {listed(named)}{beside}; of other models it says nothing."


def added(
    manifests: Iterable[Mapping[str, Any]], field: str
) -> dict[str, Counter[str]]:
    """Returns, by model, the sums of the counts that the manifests have in the field `field`."""
    totals: dict[str, Counter[str]] = {}
    for manifest in manifests:
        for model, counts in manifest[field].items():
            totals.setdefault(model, Counter()).update(counts)
    return totals


def shortfalls(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a sentence for each model with no right answer, or with hardly a readable one, in all
    `manifests` together: the most frequent reasons, with their numbers. Simulated readers are left
    out."""
    reasons, sentences = added(manifests, "reasons"), []
    simulated = {name for manifest in manifests for name in manifest["simulated"]}
    for model, counts in added(manifests, "counts").items():
        right = counts[Outcome.CORRECT] + counts[Outcome.CORRECT.code]
        few, asked = hardly_read(counts), counts.total() - counts[Outcome.SKIPPED]
        if model in simulated or not asked or (right and not few):
            continue
        most = reasons.get(model, Counter()).most_common(REASONS)
        parts = [f"{n:,} × {reason}" for reason, n in most]
        wrong = number_read(counts) - right
        if wrong == asked:
            parts = ["all were read, and none is correct"]
        elif wrong:
            parts.append(f"{wrong:,} read, and not correct")
        why = "; ".join(parts) or "no reason is recorded"
        place = (
            f"; {few}, so that it has no place among the papers' models" if few else ""
        )
        sentences.append(
            f"{model}: {right} of {counted(asked, 'answer')} right: {why}{place}."
        )
    return sentences


def fronts(
    papers: Sequence[str], built: Sequence[str], claims: pd.DataFrame
) -> list[dict[str, Any]]:
    """Returns the data of a card on the report's first screen for each paper of `papers` that has a
    headline, in their order.

    `built` are the names of the build's artefacts, `claims` is their ledger as `all_claims` returns
    it. A card has the paper's headline `number` as published (empty where no figure of the build
    states it), a description (`told`), the ledger's verdict on it (`says`) and its rows there
    (`query`), the verdicts on `all` numbers of the paper, the rows that are not as printed
    (`contrary`), a `figure`, the `commands` that ask a model for the number, and what the `rest`
    takes.
    """
    headlines: Mapping[str, Headline] = offered_by("headline", "HEADLINE")
    return [
        _front(paper, headlines[paper], built, claims)
        for paper in papers
        if paper in headlines
    ]


def _front(
    paper: str, headline: Headline, built: Sequence[str], claims: pd.DataFrame
) -> dict[str, Any]:
    own = claims[claims["artefact"].str.startswith(f"{paper}/")]
    # Orders are statements too, but no numbers.
    numbers = own[~own["relation"].isin(["more than", "less than"])]
    stated = numbers[numbers["statement"].str.contains(headline.stated, regex=False)]
    rows, query = stated, {"paper": paper, "search": headline.stated}
    if len(plain := rows[rows["statement"] == headline.stated]):
        rows = plain
    elif len(shown := rows[[headline.figure in names for names in rows["artefacts"]]]):
        rows = shown
        query["figure"] = headline.figure
    number, figure = "", headline.figure
    if len(rows):
        ends = sorted({rows["published"].min(), rows["published"].max()})
        number = f"{' to '.join(f'{end:.4g}' for end in ends)} {rows['unit'].iloc[0]}"
    # Of the first model that the paper asks: what it would cost, then the figure itself.
    models = (
        read_yaml(PARAMS / f"{figure}.yaml").get("parameters", {}).get("models", [])
    )
    model = models[0] if models else "MODEL"
    ask = f"{figure} MODELS={model}"
    planned = plans()[plans()["artefact"] == figure]
    rest = {
        "command": f"make {figure} PROFILE=paper",
        "model": model,
        "price": _costs(planned[planned["model"] == model], load_registry()),
        "all": _costs(planned, load_registry()),
        "basis": _bases(planned),
        "waiting": int(
            ((own["verdict"] == "not run") & (own["evidence"] == "re-run")).sum()
        ),
    }
    if figure not in built:
        figure = next(name for name in built if name.startswith(f"{paper}/"))
    return {
        **vars(headline),
        "paper": paper,
        "version": version_of(paper),
        "number": number,
        "query": query,
        "says": _says(rows, stated),
        "all": _by_source(own),
        "contrary": own[own["verdict"].isin(CONTRARY)].to_dict("records"),
        "figure": figure,
        "commands": (f"make plan {ask}", f"make {ask} BUDGET_USD=5"),
        "rest": rest,
    }


def _by_source(rows: pd.DataFrame) -> list[tuple[str, str, dict[str, int]]]:
    """Returns a class of evidence, its words and its number of `rows` with each verdict, for each
    class in the ledger `rows` but numbers that were only quoted or not run."""
    rows = rows[~rows["verdict"].isin(["no verdict", "not run"])]
    counts = rows.groupby("evidence", sort=False)["verdict"]
    return [
        (
            str(evidence),
            SOURCES.get(str(evidence), str(evidence)),
            dict(Counter(verdicts)),
        )
        for evidence, verdicts in counts
    ]


def _says(rows: pd.DataFrame, stated: pd.DataFrame) -> str:
    """Returns, in words, the verdict on a paper's headline number: the ledger's `rows` of the number
    itself, or, where none of them was run, also those of `stated` that say the same of other data
    of the paper."""
    if rows.empty:
        return "not stated in what was built"
    if rows["regenerated"].notna().any():
        return _counted(rows)
    others = stated.dropna(subset="regenerated")
    return "; ".join(
        ["not re-run on a model", *([_counted(others)] if len(others) else [])]
    )


def _counted(rows: pd.DataFrame) -> str:
    """Returns, in words, the number of the ledger's `rows` with each verdict. For a single row it
    is the verdict with its source and the regenerated number by each reading of the paper's words,
    and why it is undecided."""
    if len(rows) != 1:
        return ", ".join(
            f"{n:,} {verdict}" for verdict, n in Counter(rows["verdict"]).items()
        )
    row = rows.iloc[0]
    source, undecided = SOURCES.get(row["evidence"]), row["undecided"]
    verdict = f"{row['verdict']} ({source})" if source else row["verdict"]
    if row["verdict"] != "reproduced" and pd.notna(row["readings"]) and row["readings"]:
        return f"{verdict}, by how its words are read: {row['readings']}"
    why = f"; {undecided}" if pd.notna(undecided) and undecided else ""
    return f"{verdict}: {row['regenerated']:.4g} {row['unit']}{why}"


def all_claims(ledgers: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns the rows of `ledgers` in one table, decided ones first, with each number of the
    papers once: of several rows the first stays, so a decided one before others. It has the columns
    `COLUMNS`, and `artefacts`, the names of all artefacts that state the number.

    Numbers of artefacts that the command line changed, PAPER/ARTEFACT@CHANGES, stand apart for each
    set of changes.
    """
    if not ledgers:
        return pd.DataFrame(columns=[*COLUMNS, "artefacts"])
    rows = pd.concat(ledgers, ignore_index=True)
    rows["paper"] = rows["artefact"].str.replace("/[^@]*", "", regex=True)
    rows = rows.sort_values(
        "verdict", key=lambda said: said.map(list(SIGNS).index), kind="stable"
    )
    same = ["paper", "statement", "published", "unit"]
    where = rows.groupby(same, sort=False)["artefact"].agg(list).rename("artefacts")
    return rows.drop_duplicates(same).merge(where, on=same).drop(columns="paper")


def judged(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns, for each paper, a mapping with counts of the numbers in its ledger `claims` that
    could differ by chance (claims on orders are left out).

    `judged`: numbers judged by the errors of both sides; `expected`: those that would differ by
    chance if everything replicated (in clumps, since numbers share items); `differ`: those that do;
    `after_holm`: those that still differ after Holm's correction for the number of comparisons.
    """
    counts = []
    equal = claims["relation"] == "equal"  # an order that holds is far from its bound
    measured = claims["verdict"].isin(list(Verdict)) & claims["difference_low"].notna()
    sampled = claims[equal & measured]
    for paper, part in sampled.groupby(sampled["artefact"].str.split("/").str[0]):
        ends = part[["difference_low", "difference_high"]].to_numpy(float)
        chances = [p_value(Interval(*pair)) for pair in ends]
        sure = (
            holm(np.nan_to_num(chances, nan=1.0)) <= 0.05
        )  # without ends: looked at, too
        counts.append(
            {
                "paper": paper,
                "judged": len(part),
                "expected": 0.05 * len(part),
                "differ": (part["verdict"] == Verdict.DIFFERS).sum(),
                "after_holm": sure.sum(),
            }
        )
    return counts


def folded(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns a mapping for each artefact that numbers of the ledger `claims` wait for: its name
    (`artefact`), the numbers' `rows`, and the `command` and the `price` of the whole artefact."""
    registry, folds = load_registry(), []
    for artefact, part in claims[waiting(claims)].groupby("artefact"):
        name = str(artefact).partition("@")[0]
        run = {"artefact": artefact, "rows": part.to_dict("records")}
        planned = plans()[plans()["artefact"] == name]
        basis = f" ({_bases(planned)})" if _bases(planned) else ""
        costs = (_costs(planned, registry) or "price unknown") + basis
        folds.append({**run, "command": f"make {name} PROFILE=paper", "price": costs})
    return folds


def waiting(claims: pd.DataFrame) -> pd.Series:
    """Returns, for each row of the ledger `claims`, whether it is a paper's number that nothing was
    run for."""
    return (claims["verdict"] == "not run") & (claims["evidence"] != "finding")


@cache
def plans() -> pd.DataFrame:
    """Returns the table in params/plans.csv, with the columns `PLAN_COLUMNS`; without rows where
    the file is missing."""
    if not PLANS.is_file():
        return pd.DataFrame(columns=PLAN_COLUMNS)
    text = {"part": str, "basis": str}
    return pd.read_csv(PLANS, dtype=text, keep_default_na=False)


def _costs(rows: pd.DataFrame, registry: Mapping[str, ModelEntry]) -> str:
    """Returns, in words, the price of the runs in `rows` of the plans; empty without rows."""
    low = high = 0.0
    unknown, own = dict[str, None](), set[str]()
    for row in rows.itertuples():
        model, tokens = str(row.model), row.characters / CHARACTERS_PER_TOKEN
        entry = registry.get(model)
        if entry is not None and entry.price is not None:
            low, high = (
                low + cost(entry, tokens, 0),
                high + cost(entry, tokens, row.longest),
            )
        elif entry is not None and not entry.needs_key:
            own.add(model)
        else:
            unknown[model] = None
    digits = 2 if high < 100 else 0
    parts = [f"${low:,.{digits}f} to ${high:,.{digits}f}"] if high else []
    parts += [f"{counted(len(own), 'model')} on a machine of one's own"] if own else []
    parts += [f"price unknown for {', '.join(unknown)}"] if unknown else []
    return ", ".join(parts)


def _bases(rows: pd.DataFrame) -> str:
    """Returns, in words, how those numbers in `rows` of the plans were found that were not
    counted; empty where all were."""
    return "; ".join(basis for basis in rows["basis"].unique() if basis)
