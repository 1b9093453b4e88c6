"""Averages that the text of Fault Localizability states, recomputed from the answers of
all of the paper's models."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import pandas as pd

from codestress.fitting.influence import Moved, mean, share
from codestress.report.published import read_published

from .localization import with_seed
from .robustness import asked_again

SINGLE = ("dead_code", "comments", "names")
"""Single mutations, the hardest first, as the paper ranks them."""
STEPS = 7
"""Number of steps between strengths 1 and 8."""

Number = tuple[str, str, str, Moved]
"""Language (`both` for two), name of a number, reading of the paper's words, estimate.
"""


def stated_numbers(
    answers: pd.DataFrame, programs: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return the numbers that the paper's text states, recomputed from `answers`, a
    table of answers.

    There is a row for each number, language and reading of the paper's words. A number
    of several models is left out unless all of them were asked. Columns: number (its
    name), language (`both` for two), reading, value, low, high (0 to 1; at level
    `confidence`, programs as clusters), programs (number asked about), of (the names in
    `programs`, the programs' sources).
    """
    answers = with_seed(answers).rename(columns={f"value_{rule}": "value"})
    answers = answers.set_index("seed_program", drop=False)
    again = asked_again(answers, rule)
    rows = []
    for family, models in read_published("faultloc")["groups"].items():
        own = answers.query("model in @models")
        if not set(models) <= set(own["model"]):
            continue
        plain = own.query("spm == 'none'")
        mutated = again.query("model in @models")
        if family != "all":
            numbers = _gain(plain, mutated, family, models)
        else:
            numbers = chain(_over_all(plain, mutated), _over_strengths(mutated))
        for language, number, reading, estimate in numbers:
            asked = own
            if language != "both":
                asked = own.query("language == @language")
            count = asked.index.nunique()
            ends = estimate.interval(count, confidence)
            rows.append((number, language, reading, estimate.value, *ends, count))
    columns = ["number", "language", "reading", "value", "low", "high", "programs"]
    table = pd.DataFrame(rows, columns=columns).dropna(subset="value")
    return table.assign(of=" ".join(sorted(programs)))


def _mean(part: pd.DataFrame, *levels: str) -> Moved:
    """Return the mean of the column value of `part`.

    With `levels` (names of columns), groups by the first level have the same weight,
    and within each group the mean is taken over the next level. The mean is `NOTHING`
    without rows.
    """
    if not levels:
        return share(part["value"])
    return mean([_mean(group, *levels[1:]) for _, group in part.groupby(levels[0])])


def _over_all(plain: pd.DataFrame, again: pd.DataFrame) -> Iterator[Number]:
    """Yield the numbers over all models.

    The numbers are faults lost after mutations and the quarters of localized faults,
    then accuracy by mutation and the differences. `plain` has the answers before
    mutations, `again` those after.
    """
    loss = again.assign(value=1 - again["value"])
    shuffled = loss.query("spm == 'functions' and language == 'java'")
    numbers = {"lost": loss, "lost under functions": shuffled}
    localized = plain.query("value > 0")
    for quarter in (1, 4):
        placed = (localized["quarter"] == quarter).astype(float)
        numbers[f"found in quarter {quarter}"] = localized.assign(value=placed)
    readings = {"all answers together": [], "mean over models": ["model"]}
    for reading, levels in readings.items():
        for name, part in numbers.items():
            yield "both", name, reading, _mean(part, *levels)
    readings = {"languages together": ["model"]}
    if again["language"].nunique() > 1:
        readings["mean of two languages"] = ["model", "language"]
    for reading, levels in readings.items():
        single = {}
        for spm in SINGLE:
            single[spm] = _mean(again.query("spm == @spm"), *levels)
            yield "both", f"accuracy under {spm}", reading, single[spm]
        for easier, harder in pairwise(SINGLE[::-1]):
            apart = single[easier] - single[harder]
            yield "both", f"{easier} - {harder}", reading, apart


def _over_strengths(again: pd.DataFrame) -> Iterator[Number]:
    """Yield accuracy at the lowest and highest strength, the fall from first to last,
    and the fall a step (section V-B3 of Fault Localizability).

    Each number is for one language and one of two readings. `again` has the answers
    after mutations.
    """
    readings = {
        "mutations together": ["model"],
        "mean of the mutations": ["model", "spm"],
    }
    for language, part in again.groupby("language"):
        for reading, levels in readings.items():
            first = _mean(part.query("strength == 1"), *levels)
            last = _mean(part.query("strength == 8"), *levels)
            fall = first - last
            numbers = {
                "accuracy at strength 1": first,
                "accuracy at strength 8": last,
                "fall": fall,
                "fall a step": fall / STEPS,
            }
            for name, estimate in numbers.items():
                yield str(language), f"{name}, {language}", reading, estimate


def _gain(
    plain: pd.DataFrame, again: pd.DataFrame, family: str, models: Sequence[str]
) -> Iterator[Number]:
    """Yield the accuracy of the later of the two `models` of `family` minus that of the
    earlier one.

    There is a number for answers before mutations (`plain`) and one for answers after
    (`again`), since the paper does not say which is meant. Yield nothing without
    answers after mutations.
    """
    if again.empty:
        return
    for reading, part in (("as they are", plain), ("after mutations", again)):
        earlier, later = (_mean(part.query("model == @model")) for model in models)
        yield "both", f"gain, {family}", reading, later - earlier
