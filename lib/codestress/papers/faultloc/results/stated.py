"""Averages that the text of Fault Localizability states, recomputed from the answers of all of the
paper's models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from codestress.fitting.influence import Moved, mean, share
from codestress.papers.faultloc.results.localization import with_seed
from codestress.papers.faultloc.results.robustness import asked_again
from codestress.report.published import read_published

SINGLE = ("dead_code", "comments", "names")
FACTORS = ("model", "source", "problem", "language", "quarter", "spm", "strength")
STEPS = 7
"""Number of steps between strengths 1 and 8."""
TOGETHER, OVER_MODELS = "all answers together", "mean over models"

Number = tuple[str, str, Moved]
"""Name of a number, reading of the paper's words, estimate."""


def stated_numbers(
    answers: pd.DataFrame, programs: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the numbers that the paper's text states, recomputed from `answers`, a table of
    answers: a row for each number, language and reading of its words. A number of several models is
    left out unless all of them were asked.

    Columns: number (its name), language (`both` for two), reading, value, low, high (0 to 1; at
    level `confidence`, programs as clusters), programs (number asked about), of (the names in
    `programs`, the programs' sources).
    """
    value = f"value_{rule}"
    columns = [*FACTORS, value, f"outcome_{rule}"]
    answers = with_seed(answers[columns]).set_index("seed_program", drop=False)
    again = asked_again(answers, rule)
    rows: list[tuple[object, ...]] = []

    def add(language: str, part: pd.DataFrame, numbers: Iterator[Number]) -> None:
        count = part.index.nunique()
        for name, reading, estimate in numbers:
            interval = estimate.interval(count, confidence)
            rows.append((name, language, reading, estimate.value, *interval, count))

    for family, models in read_published("faultloc")["groups"].items():
        own, mutated = (
            table[table["model"].isin(models)] for table in (answers, again)
        )
        if not set(models) <= set(own["model"]):
            continue
        plain = own[own["spm"] == "none"]
        if family != "all":
            add("both", own, _gain(plain, mutated, family, models, value))
            continue
        add("both", own, _over_all(plain, mutated, value))
        for language, part in own.groupby("language"):
            of_language = mutated[mutated["language"] == language]
            add(str(language), part, _over_strengths(of_language, str(language), value))
    columns = ["number", "language", "reading", "value", "low", "high", "programs"]
    table = pd.DataFrame(rows, columns=columns).assign(of=" ".join(sorted(programs)))
    return table.dropna(subset=["value"])


def _mean(part: pd.DataFrame, column: str, *levels: str) -> Moved:
    """Mean of the column `column` of `part`. With `levels` (names of columns), the mean over the
    values of the first level of the means within each, and so on inwards; `NOTHING` without
    rows."""
    if not levels:
        return share(part[column])
    groups = part.groupby(levels[0])
    return mean([_mean(group, column, *levels[1:]) for _, group in groups])


def _over_all(plain: pd.DataFrame, again: pd.DataFrame, value: str) -> Iterator[Number]:
    shuffled = again[(again["spm"] == "functions") & (again["language"] == "java")]
    for number, part in (("lost", again), ("lost under functions", shuffled)):
        yield number, TOGETHER, 1 - _mean(part, value)
        yield number, OVER_MODELS, 1 - _mean(part, value, "model")
    readings = {"languages together": ["model"]}
    if again["language"].nunique() > 1:
        readings["mean of two languages"] = ["model", "language"]
    for reading, levels in readings.items():
        single = {
            spm: _mean(again[again["spm"] == spm], value, *levels) for spm in SINGLE
        }
        for spm, accuracy in single.items():
            yield f"accuracy under {spm}", reading, accuracy
        for easier, harder in (("names", "comments"), ("comments", "dead_code")):
            apart = single[easier] - single[harder]
            yield f"{easier} - {harder}", reading, apart
    localized = plain[plain[value] > 0]
    for quarter in (1, 4):
        placed = localized.assign(here=(localized["quarter"] == quarter).astype(float))
        yield f"found in quarter {quarter}", TOGETHER, _mean(placed, "here")
        yield f"found in quarter {quarter}", OVER_MODELS, _mean(placed, "here", "model")


def _over_strengths(again: pd.DataFrame, language: str, value: str) -> Iterator[Number]:
    """Yields accuracy at the lowest and highest strength, the fall between them, and the fall a
    step (section V-B3 of Fault Localizability: first to last), each under two readings. `again` has
    the answers after mutations to programs in `language`; `value` is the column with the score."""
    weakest, strongest = again[again["strength"] == 1], again[again["strength"] == 8]
    readings = {
        "mutations together": ["model"],
        "mean of the mutations": ["model", "spm"],
    }
    for reading, levels in readings.items():
        first, last = _mean(weakest, value, *levels), _mean(strongest, value, *levels)
        fall = first - last
        yield f"accuracy at strength 1, {language}", reading, first
        yield f"accuracy at strength 8, {language}", reading, last
        yield f"fall, {language}", reading, fall
        yield f"fall a step, {language}", reading, fall / STEPS


def _gain(
    plain: pd.DataFrame,
    again: pd.DataFrame,
    family: str,
    models: Sequence[str],
    value: str,
) -> Iterator[Number]:
    """Yields the accuracy of the later of the two `models` of `family` minus that of the earlier,
    before mutations (answers `plain`) and after (`again`), since the paper does not say which is
    meant. Yields nothing without answers after mutations. `value` is the column with the score."""
    if again.empty:
        return
    for reading, part in (("as they are", plain), ("after mutations", again)):
        earlier, later = (
            share(part.loc[part["model"] == model, value]) for model in models
        )
        yield f"gain, {family}", reading, later - earlier
