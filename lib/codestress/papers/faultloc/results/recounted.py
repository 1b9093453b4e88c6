"""Numbers that the text of Fault Localizability states about its own tables and
figures, recomputed from the published cells.

If the paper's words have several meanings, each meaning is a reading, with a number of
its own.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.report.published import published_cells

from . import paper

Number = tuple[str, str, float]
"""Name of a number, reading of the paper's words (empty if there is only one), value.
"""
OPEN = ["llama-3.1-8b", "phi-4", "qwen2.5-coder-7b", "qwq-32b"]
"""Models with open weights; all other models are closed."""
CLAUDE = ["claude-sonnet-4-5-20250929", "claude-3-7-sonnet-20250219"]
LEADING = [*CLAUDE, "gemini-1.5-pro-002"]
"""Models that lead according to section V-A of Fault Localizability."""
FUNCTIONS = 17
"""Accuracy that function shuffling leaves, in % (section V-B2 of Fault Localizability:
shuffling costs 83)."""


def recounted() -> pd.DataFrame:
    """Return the numbers that the paper's text states about its own tables and figures,
    recomputed from the published cells.

    There is a row for each number and reading of the paper's words. Columns: number
    (its name), reading (empty if there is only one), value (percentage points, % or a
    count).
    """
    rows = [*_table_two(), *_mutations(), *_languages(), *_strengths()]
    rows += [*_places(), *_totals()]
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def _ahead(values: pd.Series, first: list[str]) -> float:
    """Return the lowest of `values` with a label in `first`, minus the highest of all
    other values."""
    return float(values[first].min() - values.drop(first).max())


def _table_two() -> Iterator[Number]:
    """Yield the numbers that the text states about the leaders in Table II.

    There are two readings: all tasks pooled, or all cells with the same weight.
    """
    every = paper.published_localization()
    every["family"] = every["model"].str.split("-").str[0]
    readings = {"its tasks together": every, "its cells alike": every.assign(of=1)}
    for reading, cells in readings.items():
        by_language = paper.accuracy(cells, ["family", "language"]).unstack()
        for language, values in by_language.items():
            yield f"Claude ahead, {language}", reading, _ahead(values, ["claude"])
        others = paper.accuracy(cells, ["family"]).drop("claude")
        yield "Gemini ahead of all but Claude", reading, _ahead(others, ["gemini"])
        models = paper.accuracy(cells, ["model"])
        yield "leading models ahead", reading, _ahead(models, LEADING)
        yield (
            "GPT-4o next",
            reading,
            _ahead(models.drop(LEADING), ["gpt-4o-2024-05-13"]),
        )
        yield "Phi-4 ahead of open models", reading, _ahead(models[OPEN], ["phi-4"])
        wide = paper.accuracy(cells, ["model", "language"]).unstack()
        more = wide["java"] - wide["python"]
        worse = more.drop(CLAUDE) < 0
        yield "better in Python, but Claude", reading, worse.sum()
        yield "Java - Python", reading, more.mean()
    best = every.groupby(["language", "fault"])["value"].idxmax()
    closed = ~every["model"][best].isin(OPEN)
    yield "best models that are closed", "", closed.sum()


def _mutations() -> Iterator[Number]:
    """Yield the numbers that the text states about the paper's Figure 6, as means over
    models."""
    cells = published_cells("faultloc/fig06", "model", "spm")
    bars = cells.groupby("spm")["value"].mean()
    single = bars[["names", "comments", "dead_code"]]
    for spm, value in single.items():
        yield f"accuracy under {spm}", "", value
    two = bars["comments+names"]
    three = bars["comments+names+dead_code"]
    yield "names - comments", "", bars["names"] - bars["comments"]
    yield "comments - dead code", "", bars["comments"] - bars["dead_code"]
    yield "one - two", "", bars["comments"] - two
    yield "two - three", "", two - three
    loss = 100 - single
    others = 1 - loss["names"] / loss.sum()
    yield "share of comments and dead code", "", 100 * others
    yield "lost", "its three single mutations", loss.mean()
    yield "lost", "its five bars", 100 - bars.mean()
    six = np.mean([*bars, FUNCTIONS])
    yield "lost", "its five bars and function shuffling", 100 - six


def _languages() -> Iterator[Number]:
    """Yield the numbers that the text states about the paper's Figure 7: the gaps
    between Java and Python, and between closed and open models.

    Figure 7's third bars (after mutations) are divided by the first (all tasks) and by
    the second (localized before). Neither is certain to be a share: the paper does not
    say which tasks the third bars count.
    """
    counts = paper.published_counts()
    counts["label"] = paper.registry_names(counts["label"])
    wide = counts.pivot(index="label", columns="language")
    localized = wide["pf_localized"]
    after = wide["pf_spm_localized"]
    closed = ~wide.index.isin(OPEN)
    readings = {"third bars by the first": wide["total"]}
    readings["third bars by the second"] = localized
    for reading, of in readings.items():
        kept = 100 * after / of
        gap = kept["python"] - kept["java"]
        yield "worse in Java", reading, (gap > 0).sum()
        wider = gap[closed].mean() - gap[~closed].mean()
        yield "wider gap of closed models", reading, wider
        of_closed = kept[closed].mean()
        of_open = kept[~closed].mean()
        yield "closed - open", reading, of_closed.mean() - of_open.mean()
        loss = (100 * (localized - after) / of).mean()
        yield "lost, Java - Python", reading, loss["java"] - loss["python"]
    tasks = paper.published_localization().eval("right = value * of / 100")
    right = tasks.groupby(["model", "language"])["right"].sum().unstack()
    apart = (right - localized).abs()
    # A bar that lacks a kind of fault does not count the tasks of Table II.
    same = wide["lacks"].isna() & (apart < 1)
    for language in ("python", "java"):
        name = f"models alike in Table II and Figure 7, {language}"
        yield name, "", same[language].sum()


def _strengths() -> Iterator[Number]:
    """Yield the numbers that the text states about the red line in the paper's Figure
    8.

    Yield also the falls that the text computes from its own values for both ends of the
    line.
    """
    cells = published_cells("faultloc/fig08", "language", "strength")
    for language, part in cells.groupby("language"):
        first, *_, last = part["value"]
        yield f"accuracy at strength 1, {language}", "", first
        yield f"accuracy at strength 8, {language}", "", last
        slope, _ = np.polyfit(part["strength"], part["value"], 1)
        yield f"slope, {language}", "", slope
    falls = {"java": 15.82 - 8.57, "python": 42.88 - 29.34}
    for language, fall in falls.items():
        yield f"fall, {language}", "", fall
        yield f"fall a step, {language}", "", fall / 7


def _places() -> Iterator[Number]:
    """Yield the numbers that the text states about the paper's Figures 9 to 11.

    They show faults and quarters of programs (9), categories of models (10) and
    versions of models (11).
    """
    heat = paper.published_heat()
    heat = heat.pivot(index="row", columns="column", values="accuracy")
    first, *_, last = heat.columns
    best = heat.idxmax(axis=1) == first
    yield "best in the first quarter", "", best.sum()
    worst = heat.idxmin(axis=1) == last
    yield "worst in the last quarter", "", worst.sum()
    falls = np.diff(heat) < 0
    yield "falls to the next quarter", "", falls.sum()
    ahead = 100 * _ahead(heat[first], ["OffByOne"])
    yield "OffByOne ahead in the first quarter", "", ahead
    kinds = published_cells("faultloc/fig10", "kind").set_index("kind")["value"]
    ahead = _ahead(kinds, ["reasoning", "multimodal"])
    yield "reasoning and multimodal ahead", "", ahead
    versions = published_cells("faultloc/fig11", "label").set_index("label")["value"]
    gemini = versions["Gemini 2.5 Flash"] - versions["Gemini 2.0 Flash"]
    yield "gain, Gemini", "", gemini
    claude = versions["Claude 4.5 Sonnet"] - versions["Claude 3.7 Sonnet"]
    yield "gain, Claude", "", claude


def _totals() -> Iterator[Number]:
    """Yield the numbers that the text states about the paper's Figure 5 (programs) and
    Table IV (tokens, lines)."""
    bars = published_cells("faultloc/fig05", "language", "lines")
    for language, part in bars.groupby("language")["value"]:
        yield f"programs, {language}", "", part.sum()
    yield "programs", "", bars["value"].sum()
    values = paper.published_statistics()
    billions = values["total_tokens"] / 10**9
    yield "total_tokens", "rounded", round(billions, 1)
    yield "total_tokens", "cut off", np.floor(10 * billions) / 10
    millions = values["total_loc"] / 10**6
    yield "total_loc", "rounded", round(millions)
    yield "total_loc", "cut off", np.floor(millions)
