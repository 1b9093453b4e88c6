"""CodeCrash: outcomes of perturbations."""

from collections import Counter

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.mutate.perturbations.variants import Variant

from ..programs import Perturbed, checked_problems, made_variants

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
        settings = given.n_problems, given.translations, given.seed
        _, whys = checked_problems(source, language, *settings)
        variants = found.values()
        counts = Counter[str](one.status for one in variants)
        reasons = Counter(one.why for one in variants if one.status == "refused")
        reasons += Counter(one.doubt for one in variants if one.doubt)
        told = [f"{why} ({count})" for why, count in reasons.most_common()]
        left_out = [f"{name}: {why}" for name, why in whys.items()]
        for name, one in found.items():
            if one.status == "rejected":
                left_out.append(f"{name}: {one.why}")
        row: dict[str, object] = {"dataset": source, "language": language}
        row["perturbation"] = perturbation
        row["density"] = density
        row["problems"] = len(found)
        row |= {status: counts[status] for status in STATUSES}
        row["doubtful"] = sum(bool(one.doubt) for one in variants)
        row["drawn_again"] = sum(one.attempts > 1 for one in variants)
        row["sites"] = sum(len(one.sites) for one in variants) / max(len(found), 1)
        row["left_out"] = len(whys)
        row["reasons"] = "; ".join(told)
        row["why"] = "; ".join(left_out)[:500]
        rows.append(row)
    return pd.DataFrame(rows)


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
