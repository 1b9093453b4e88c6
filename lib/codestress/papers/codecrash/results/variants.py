"""CodeCrash: statuses of perturbed programs."""

from collections import Counter
from typing import Any

import pandas as pd

from ..programs import CONDITION, Perturbed, checked_problems, made_variants

COUNTS = ("applied", "unchanged", "refused", "rejected", "doubtful", "drawn_again")
"""Columns with numbers of variants: their statuses, then two further counts."""


def variant_counts(given: Perturbed) -> pd.DataFrame:
    """Return the numbers of variants (programs after a perturbation) with each status, in the study
    with the parameters `given`. There is a row for each data set, language, perturbation and
    density.

    Columns: dataset, language, perturbation, density; problems, applied, unchanged, refused,
    rejected (the last four add up to problems); doubtful (applied although a rule refuses the
    program); drawn_again (drawn more than once); sites (mean number of changed places); left_out
    (number of problems that no condition uses); reasons (of refusals and doubts, counted); why (of
    problems left out or rejected, cut to 500 characters).
    """
    rows = []
    for *condition, variants in made_variants(given):
        row: dict[str, Any] = dict(zip(CONDITION, condition, strict=True))
        settings = given.n_problems, given.translations, given.seed
        _, whys = checked_problems(row["dataset"], row["language"], *settings)
        left_out = [f"{name}: {why}" for name, why in whys.items()]
        counts = Counter[str]()
        reasons = Counter[str]()
        for name, variant in variants.items():
            counts[variant.status] += 1
            counts["drawn_again"] += variant.attempts > 1
            counts["sites"] += len(variant.sites)
            if variant.status == "refused":
                reasons[variant.why] += 1
            if variant.doubt:
                counts["doubtful"] += 1
                reasons[variant.doubt] += 1
            if variant.status == "rejected":
                left_out.append(f"{name}: {variant.why}")
        row["problems"] = len(variants)
        for name in COUNTS:
            row[name] = counts[name]
        row["sites"] = counts["sites"] / max(len(variants), 1)
        row["left_out"] = len(whys)
        counted = [f"{why} ({count})" for why, count in reasons.most_common()]
        row["reasons"] = "; ".join(counted)
        row["why"] = "; ".join(left_out)[:500]
        rows.append(row)
    return pd.DataFrame(rows)
