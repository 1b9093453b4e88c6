"""Fault Localizability: the averages that its text states, from the answers of all of its models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from codestress.fitting.influence import NOTHING, Moved, combined, mean, share
from codestress.fitting.proportions import normal_quantile
from codestress.papers.faultloc.results.localization import with_seed
from codestress.papers.faultloc.results.robustness import asked_again
from codestress.report.published import read_published
from codestress.types import Outcome

SINGLE = ("dead_code", "comments", "names")
STEPS = 7
"""Between strengths 1 and 8."""
TOGETHER, OVER_MODELS = "all answers together", "mean over models"

Number = tuple[str, str, Moved]
"""Name, reading of the paper's words, estimate."""


def stated_numbers(answers: pd.DataFrame, programs: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """A row for each number of the text and reading of its words; programs are the clusters. A number of several models
    is there where all of them were asked.

    Columns: number, language (of two: both), reading, value, low, high (0 to 1), programs (asked about), of (their
    sources).
    """
    answers = with_seed(answers).set_index("seed_program", drop=False)
    groups = read_published("faultloc")["groups"]
    rows: list[tuple[object, ...]] = []

    def add(language: str, part: pd.DataFrame, numbers: Iterator[Number]) -> None:
        count = part.index.nunique()
        for name, reading, one in numbers:
            interval = one.interval(count, confidence)
            rows.append((name, language, reading, one.value, *interval, count, " ".join(sorted(programs))))

    for family in ("all", "Gemini", "Claude"):
        own = answers[answers["model"].isin(groups[family])]
        if set(groups[family]) <= set(own["model"]):
            add("both", own, _over_all(own, rule) if family == "all" else _gain(own, family, groups[family], rule))
            for language, part in own.groupby("language") if family == "all" else ():
                add(str(language), part, _over_strengths(part, str(language), rule))
    columns = ["number", "language", "reading", "value", "low", "high", "programs", "of"]
    return pd.DataFrame(rows, columns=columns).dropna(subset=["value"])


def _mean(part: pd.DataFrame, column: str, *levels: str) -> Moved:
    """The share of a column; over levels, the mean of the shares at each, from the inside out."""
    if not levels:
        return share(part[column])
    return mean([_mean(one, column, *levels[1:]) for _, one in part.groupby(levels[0])]) if len(part) else NOTHING


def _over_all(answers: pd.DataFrame, rule: str) -> Iterator[Number]:
    value = f"value_{rule}"
    again = asked_again(answers, rule)
    for number, part in (("lost", again), ("lost under functions", again[again["spm"] == "functions"])):
        yield number, TOGETHER, _lost(_mean(part, value))
        yield number, OVER_MODELS, _lost(_mean(part, value, "model"))
    for spm in SINGLE:
        part = again[again["spm"] == spm]
        yield f"accuracy under {spm}", "languages together", _mean(part, value, "model")
        if part["language"].nunique() > 1:
            yield f"accuracy under {spm}", "mean of two languages", _mean(part, value, "model", "language")
    plain = answers[(answers["spm"] == "none") & (answers[value] > 0)]
    for quarter in (1, 4):
        found = plain.assign(here=(plain["quarter"] == quarter).astype(float))
        yield f"found in quarter {quarter}", TOGETHER, _mean(found, "here")
        yield f"found in quarter {quarter}", OVER_MODELS, _mean(found, "here", "model")


def _lost(accuracy: Moved) -> Moved:
    return Moved(1 - accuracy.value, -accuracy.moved, accuracy.scale)


def _over_strengths(answers: pd.DataFrame, language: str, rule: str) -> Iterator[Number]:
    """Accuracy at both ends, the fall between them, and for each step (section V-B3: first to last)."""
    again = asked_again(answers, rule)
    for reading, levels in (("mutations together", ["model"]), ("mean of the mutations", ["model", "spm"])):
        ends = [_mean(again[again["strength"] == strength], f"value_{rule}", *levels) for strength in (1, 8)]
        fall = combined([(1.0, ends[0]), (-1.0, ends[1])])
        yield f"accuracy at strength 1, {language}", reading, ends[0]
        yield f"accuracy at strength 8, {language}", reading, ends[1]
        yield f"fall, {language}", reading, fall
        yield f"fall a step, {language}", reading, combined([(1 / STEPS, fall)])


def _gain(answers: pd.DataFrame, family: str, models: Sequence[str], rule: str) -> Iterator[Number]:
    """The later version minus the earlier one, before mutations and after them: the paper does not say which; nothing
    without both."""
    value = f"value_{rule}"
    again, plain = asked_again(answers, rule), answers[answers["spm"] == "none"]
    if again.empty:
        return
    for reading, part in (("as they are", plain), ("after mutations", again)):
        sides = [share(part.loc[part["model"] == model, value]) for model in models]
        yield f"gain, {family}", reading, combined([(1.0, sides[1]), (-1.0, sides[0])])


def run_totals(answers: pd.DataFrame, programs: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """Table IV's totals of a run of all of the paper's models: number (tasks, prompts, tokens), value, low, high,
    deviation, noise (0), programs, of; of programs that are drawn like these, tokens of the questions for lines alone.
    """
    columns = ["number", "value", "low", "high", "deviation", "noise", "programs", "of"]
    models = read_published("faultloc")["groups"]["all"]
    own = with_seed(answers[answers["model"].isin(models)])
    if set(own["model"]) != set(models):
        return pd.DataFrame(columns=columns)
    asked = own[own[f"outcome_{rule}"] != Outcome.SKIPPED.value]
    keys = own.assign(keys=[[*earlier, key] for earlier, key in zip(own["earlier"], own["key"], strict=True)])
    unique = keys.explode("keys").drop_duplicates(["model", "keys"])
    by_program = {
        "tasks": asked.groupby("seed_program").size(),
        "prompts": unique.groupby("seed_program").size(),
        "tokens": asked["prompt_tokens"].astype(float).groupby(asked["seed_program"]).sum(),
    }
    count = own["seed_program"].nunique()
    rows = []
    for name, sums in by_program.items():
        each = sums.reindex(own["seed_program"].unique(), fill_value=0).astype(float)
        total, deviation = float(each.sum()), float(each.std(ddof=0)) * count**0.5
        half = normal_quantile(confidence) * deviation
        rows.append((name, total, total - half, total + half, deviation, 0.0, count, " ".join(sorted(programs))))
    return pd.DataFrame(rows, columns=columns)
