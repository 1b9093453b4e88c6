"""CodeCrash: outcomes of perturbations."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.mutate.perturbations.checking import Checked
from codestress.mutate.perturbations.variants import Variant
from codestress.papers.codecrash.results.conditions import spelled
from codestress.papers.codecrash.studies import (
    Perturbed,
    checked_problems,
    made_variants,
)
from codestress.types import Language

STATUSES = ("applied", "unchanged", "refused", "rejected")


def variant_counts(given: Perturbed) -> pd.DataFrame:
    """Returns the numbers of variants (problems after a perturbation) of the study with the
    parameters `given` by status: a row for each data set, language, perturbation and density.

    Columns: dataset, language, perturbation, density, problems, applied, unchanged, refused,
    rejected (these four add up to problems), doubtful (applied although a rule refuses),
    drawn_again (drawn more than once), sites (mean number of changed places), left_out (problems
    that no condition uses), reasons (of refusals and doubts, counted), why (of problems left out or
    rejected, cut to 500 characters).
    """
    rows = []
    for source, language, perturbation, density, found in made_variants(given):
        _, whys = _checked(given, source, language)
        left_out = len(whys)
        made = found.values()
        counts = Counter[str](one.status for one in made)
        reasons = Counter(one.why for one in made if one.status == "refused")
        reasons += Counter(one.doubt for one in made if one.doubt)
        rejected = [name for name in found if found[name].status == "rejected"]
        whys = whys | {name: found[name].why for name in rejected}
        row: dict[str, object] = {"dataset": source, "language": language}
        row |= {"perturbation": perturbation, "density": density}
        row["problems"] = len(made)
        row |= {status: counts[status] for status in STATUSES}
        row["doubtful"] = sum(bool(one.doubt) for one in made)
        row["drawn_again"] = sum(one.attempts > 1 for one in made)
        row["sites"] = sum(len(one.sites) for one in made) / max(len(made), 1)
        row["left_out"] = left_out
        told = [f"{why} ({count})" for why, count in reasons.most_common()]
        row["reasons"] = "; ".join(told)
        row["why"] = "; ".join(f"{name}: {why}" for name, why in whys.items())[:500]
        rows.append(row)
    return pd.DataFrame(rows)


def _checked(
    given: Perturbed, source: str, language: Language
) -> tuple[list[Checked], dict[str, str]]:
    """Returns the usable problems of a `source` in `language`, and a dict of the others' faults by
    id (`checked_problems`)."""
    return checked_problems(
        source, language, given.n_problems, given.translations, given.seed
    )


def headline(table: pd.DataFrame) -> str:
    """Returns the title of the figure of `variant_counts`: how many perturbations are applied to
    every program, and which leaves most of them unchanged."""
    rows = table[table["problems"] > 0]
    left = rows["problems"] - rows["applied"]
    whole = left.groupby(rows["perturbation"]).sum() == 0
    title = f"{whole.sum()} of {len(whole)} perturbations are applied to every program"
    shares = (rows["unchanged"] / rows["problems"]).groupby(rows["perturbation"]).max()
    if not shares.max() > 0:
        return title
    return f"{title}; {spelled(shares.idxmax())} leave up to {100 * shares.max():.0f} % as they are"


def unchanged_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the table of `variant_counts` with the columns accuracy (share of unchanged programs,
    0 to 1), low, high (Wilson, 95 %); rows without problems are left out."""
    return with_accuracy(table[table["problems"] > 0], "unchanged", "problems")


def told_variant(perturbation: str, variant: Variant) -> str:
    """Returns a text to read about a `variant` under the perturbation named `perturbation`: this
    name, status, number of changed places, reason of a refusal, rejection or doubt, program and
    call."""
    head = f"=== {perturbation}: {variant.status}, {len(variant.sites)} sites {variant.why}{variant.doubt}".rstrip()
    return "\n".join([head, variant.problem.code, f">>> {variant.problem.call}", ""])
