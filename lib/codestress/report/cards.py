"""The papers' numbers on the report: a card for each paper, and all ledgers as one
table."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from codestress.artefact_files import read_artefact
from codestress.fitting.proportions import Interval
from codestress.fitting.significance import LEVEL, holm
from codestress.fitting.verdicts import Verdict, p_value

from .claims import COLUMNS, CONTRARY, NO_VERDICT, NONE, ORDERS, SIGNS, SOURCES
from .published import read_published, version_of
from .statements import statements


def fronts(
    papers: Sequence[str], built: Sequence[str], claims: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the data of a card for each paper of `papers` that has a headline, in their order.

    `built` names the build's artefacts, `claims` is their ledger (`all_claims`). A card has the
    headline's `number` ("" where only a figure that was not built has it), what it counts (`told`),
    its verdict (`says`) and rows (`query`; empty without any), verdicts on `all` numbers, rows that
    are not as printed (`contrary`), a `figure`, and what `make` is given to run it (`rerun`).
    """
    cards = []
    for paper in papers:
        if not (headline := read_published(paper).get("headline")):
            continue
        figure = headline["figure"]
        text = headline["stated"]
        own = claims[claims["artefact"].str.startswith(f"{paper}/")]
        named = own["statement"].str.contains(text, regex=False)
        # Orders are statements too, but no numbers.
        stated = own[named & ~own["relation"].isin(ORDERS)]
        query = {"paper": paper, "search": text}
        rows = stated[stated["statement"] == text]
        if rows.empty:
            rows = stated[[figure in names for names in stated["artefacts"]]]
            query["figure"] = figure
        card: dict[str, Any] = {**headline, "paper": paper}
        if figure not in built:
            card["figure"] = next(
                name for name in built if name.startswith(f"{paper}/")
            )
        card["version"] = version_of(paper)
        card["query"] = {} if rows.empty else query
        card["number"] = _number(_printed(figure, text) if rows.empty else rows)
        card["says"] = _verdict(rows, stated)
        card["all"] = _by_evidence(own)
        card["contrary"] = own[own["verdict"].isin(CONTRARY)].to_dict("records")
        model = read_artefact(figure).parameters["models"][0]
        card["rerun"] = f"{figure} PROFILE=paper MODELS={model}"
        cards.append(card)
    return cards


def _printed(figure: str, text: str) -> pd.DataFrame:
    """Return the numbers in the paper's own statements with `text` on `figure`, as a
    table with the ledger's columns `published` and `unit`."""
    numbers = []
    for stated in statements(*figure.split("/")):
        if text in stated.statement and not isinstance(stated.value, str):
            numbers.append((stated.value, stated.unit))
    return pd.DataFrame(numbers, columns=["published", "unit"])


def _number(rows: pd.DataFrame) -> str:
    """Return the published numbers of the ledger's `rows` as one number or a span; ""
    without rows."""
    if rows.empty:
        return ""
    low = rows["published"].min()
    high = rows["published"].max()
    number = f"{low:.4g}"
    if low < high:
        number += f" to {high:.4g}"
    return f"{number} {rows['unit'].iloc[0]}"


def _by_evidence(rows: pd.DataFrame) -> list[tuple[str, str, Counter[str]]]:
    """Return a triple for each class of evidence in the ledger's `rows`: its name, its
    description, and its counts of verdicts.

    Numbers that were only quoted or not run are left out.
    """
    rows = rows[~rows["verdict"].isin([NO_VERDICT, NONE])]
    classes = []
    for evidence, part in rows.groupby("evidence", sort=False):
        name = str(evidence)
        classes.append((name, SOURCES.get(name, name), Counter(part["verdict"])))
    return classes


def _verdict(rows: pd.DataFrame, stated: pd.DataFrame) -> str:
    """Return, in words, the verdict on a paper's headline number.

    `rows` are the ledger's rows of the number itself. If none of these rows was run,
    the verdicts on `stated` follow: rows with the same statement on other data of the
    paper.
    """
    if rows.empty:
        return "not stated in what was built"
    if rows["regenerated"].notna().any():
        return _counted(rows)
    others = stated.dropna(subset="regenerated")
    if others.empty:
        return "not re-run on a model"
    return f"not re-run on a model; {_counted(others)}"


def _counted(rows: pd.DataFrame) -> str:
    """Return, in words, the number of the ledger's `rows` with each verdict.

    For a single row, the text has its verdict, source and regenerated number, with the
    reason if the number is undecided. If the paper's words have several readings and
    the verdict is not `reproduced`, the text has the numbers of all readings instead.
    """
    if len(rows) != 1:
        counts = Counter(rows["verdict"])
        return ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    row = rows.iloc[0]
    verdict = row["verdict"]
    if source := SOURCES.get(row["evidence"]):
        verdict = f"{verdict} ({source})"
    if row["verdict"] != "reproduced" and row["readings"]:
        return f"{verdict}, by how its words are read: {row['readings']}"
    words = f"{verdict}: {row['regenerated']:.4g} {row['unit']}"
    if row["undecided"]:
        words += f"; {row['undecided']}"
    return words


def all_claims(ledgers: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of `ledgers` as one table, decided rows first, with each number
    once.

    If a number of a paper has several rows, the first stays, so that a decided row
    wins. The table has the columns `COLUMNS`, and `artefacts`: the names of all
    artefacts that state the number. Numbers of artefacts that the command line changed,
    PAPER/ARTEFACT@CHANGES, are kept apart for each set of changes.
    """
    if not ledgers:
        return pd.DataFrame(columns=[*COLUMNS, "artefacts"])
    rows = pd.concat(ledgers, ignore_index=True)
    rows["paper"] = rows["artefact"].str.replace("/[^@]*", "", regex=True)
    order = rows["verdict"].map(list(SIGNS).index)
    rows = rows.iloc[np.argsort(order, kind="stable")]
    number = ["paper", "statement", "published", "unit"]
    names = rows.groupby(number, sort=False)["artefact"].agg(list).rename("artefacts")
    return rows.drop_duplicates(number).merge(names, on=number).drop(columns="paper")


def judged(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Return, for each paper in the ledger `claims`, counts of the numbers that chance
    can move.

    `judged` counts the numbers judged by the errors of both the paper and the kit.
    `expected` is the count that would differ by chance if everything replicated (in
    clumps, since numbers share items). `differ` counts the numbers that differ,
    `after_holm` the numbers that still differ after Holm's correction for the number of
    comparisons. Claims on orders are left out: an order that holds is far from its
    bound.
    """
    equal = claims["relation"] == "equal"
    measured = claims["verdict"].isin(list(Verdict)) & claims["difference_low"].notna()
    sampled = claims[equal & measured]
    papers = sampled["artefact"].str.split("/").str[0]
    counts = []
    for paper, part in sampled.groupby(papers):
        ends = part[["difference_low", "difference_high"]].to_numpy(float)
        chances = [p_value(Interval(*both)) for both in ends]
        # A number without a p-value was looked at, too.
        corrected = holm(np.nan_to_num(chances, nan=1.0))
        row = {"paper": paper, "judged": len(part), "expected": LEVEL * len(part)}
        row["differ"] = (part["verdict"] == Verdict.DIFFERS).sum()
        row["after_holm"] = (corrected <= LEVEL).sum()
        counts.append(row)
    return counts


def folded(claims: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return a dict from each artefact to the rows of the ledger `claims` whose numbers
    were not run (`waiting`)."""
    folds = claims[waiting(claims)].groupby("artefact")
    return {str(artefact): part.to_dict("records") for artefact, part in folds}


def waiting(claims: pd.DataFrame) -> pd.Series:
    """Return, for each row of the ledger `claims`, whether a paper's number is still to
    be run."""
    return (claims["verdict"] == NONE) & (claims["evidence"] != "finding")
