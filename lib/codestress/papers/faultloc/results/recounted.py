"""Numbers that the text of Fault Localizability states about its own tables and figures, recomputed
from the published cells."""

import numpy as np
import pandas as pd

from codestress.report.published import published_cells

from . import paper

Numbers = dict[tuple[str, str], float]
"""Values by name of a number and reading of the paper's words (empty if they have only one)."""
OPEN = ["llama 3.1", "phi 4", "qwen 2.5 coder", "qwen qwq"]
LEADING = ["claude 4.5 sonnet", "claude 3.7 sonnet", "gemini 1.5 pro"]
"""Models that lead according to section V-A of Fault Localizability."""
LANGUAGES = ("python", "java")
FUNCTIONS = 17
"""Accuracy that function shuffling leaves, in % (section V-B2 of Fault Localizability: shuffling
costs 83)."""


def recounted() -> pd.DataFrame:
    """Returns the numbers that the paper's text states about its own tables and figures, recomputed
    from the published cells, a row for each number and reading of the paper's words: number (its
    name), reading (empty if there is only one), value (points, % or a count)."""
    found: Numbers = {}
    _table_two(found)
    _mutations(found)
    _languages(found)
    _strengths(found)
    _places(found)
    _totals(found)
    rows = [(*name, value) for name, value in found.items()]
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def _localization() -> pd.DataFrame:
    """The paper's Table II (`published_localization`) with the models in one spelling."""
    cells = paper.published_localization()
    return cells.assign(model=paper.spelled(cells["label"]))


def _ahead(values: pd.Series, first: list[str]) -> float:
    """Lowest of the `values` with a label in `first` minus the highest of all others."""
    return float(values[first].min() - values.drop(first).max())


def _table_two(found: Numbers) -> None:
    every = _localization()
    every["family"] = every["model"].str.split().str[0]
    readings = {"its tasks together": every, "its cells alike": every.assign(of=1)}
    for reading, cells in readings.items():
        families = paper.accuracy(cells, ["family"])
        models = paper.accuracy(cells, ["model"])
        by_language = paper.accuracy(cells, ["family", "language"]).unstack()
        for language, values in by_language.items():
            found[f"Claude ahead, {language}", reading] = _ahead(values, ["claude"])
        others = families.drop("claude")
        found["Gemini ahead of all but Claude", reading] = _ahead(others, ["gemini"])
        found["leading models ahead", reading] = _ahead(models, LEADING)
        found["GPT-4o next", reading] = _ahead(models.drop(LEADING), ["gpt 4o"])
        found["Phi-4 ahead of open models", reading] = _ahead(models[OPEN], ["phi 4"])
        wide = paper.accuracy(cells, ["model", "language"]).unstack()
        more = wide["java"] - wide["python"]
        worse = more.filter(regex="^(?!claude)") < 0
        found["better in Python, but Claude", reading] = worse.sum()
        found["Java - Python", reading] = more.mean()
    best = every.loc[every.groupby(["language", "fault"])["value"].idxmax(), "model"]
    found["best models that are closed", ""] = (~best.isin(OPEN)).sum()


def _mutations(found: Numbers) -> None:
    """Adds the numbers that the text states about the paper's Figure 6, as means over models."""
    cells = published_cells("faultloc/fig06", "model", "spm")
    bars = cells.groupby("spm")["value"].mean()
    single = bars[["names", "comments", "dead_code"]]
    for spm, value in single.items():
        found[f"accuracy under {spm}", ""] = value
    two = bars["comments+names"]
    three = bars["comments+names+dead_code"]
    found["names - comments", ""] = bars["names"] - bars["comments"]
    found["comments - dead code", ""] = bars["comments"] - bars["dead_code"]
    found["one - two", ""] = bars["comments"] - two
    found["two - three", ""] = two - three
    lost = 100 - single
    of_names = lost["names"] / lost.sum()
    found["share of comments and dead code", ""] = 100 * (1 - of_names)
    found["lost", "its three single mutations"] = lost.mean()
    found["lost", "its five bars"] = 100 - bars.mean()
    six = np.mean([*bars, FUNCTIONS])
    found["lost", "its five bars and function shuffling"] = 100 - six


def _languages(found: Numbers) -> None:
    """Adds the numbers that the text states about the paper's Figure 7: the gap between Java and
    Python, and between closed and open models.

    Its third bars (after mutations) are taken by the first (all tasks) and by the second (localized
    before). Neither is certain to be a share: the paper does not say which tasks the third bars
    count.
    """
    counts = paper.published_counts()
    names = paper.spelled(counts["label"])
    wide = counts.assign(label=names).pivot(index="label", columns="language")
    localized = wide["pf_localized"]
    after = wide["pf_spm_localized"]
    closed = ~wide.index.isin(OPEN)
    for reading, of in (
        ("third bars by the first", wide["total"]),
        ("third bars by the second", localized),
    ):
        kept = 100 * after / of
        gap = kept["python"] - kept["java"]
        found["worse in Java", reading] = (gap > 0).sum()
        wider = gap[closed].mean() - gap[~closed].mean()
        found["wider gap of closed models", reading] = wider
        more = kept[closed].mean().mean() - kept[~closed].mean().mean()
        found["closed - open", reading] = more
        lost = (100 * (localized - after) / of).mean()
        found["lost, Java - Python", reading] = lost["java"] - lost["python"]
    tasks = _localization().eval("right = value * of / 100")
    right = tasks.groupby(["model", "language"])["right"].sum().unstack()
    # A bar that lacks a kind of fault counts other tasks than Table II.
    same = wide["lacks"].isna() & ((right - localized).abs() < 1)
    for language in LANGUAGES:
        name = f"models alike in Table II and Figure 7, {language}"
        found[name, ""] = same[language].sum()


def _strengths(found: Numbers) -> None:
    """Adds the numbers that the text states about the red line in the paper's Figure 8, and the
    falls that it computes from its own values for both ends."""
    cells = published_cells("faultloc/fig08", "language", "strength")
    for language, part in cells.groupby("language"):
        values = part["value"].to_numpy()
        found[f"accuracy at strength 1, {language}", ""] = values[0]
        found[f"accuracy at strength 8, {language}", ""] = values[-1]
        slope, _ = np.polyfit(part["strength"], values, 1)
        found[f"slope, {language}", ""] = slope
    for language, fall in (("java", 15.82 - 8.57), ("python", 42.88 - 29.34)):
        found[f"fall, {language}", ""] = fall
        found[f"fall a step, {language}", ""] = fall / 7


def _places(found: Numbers) -> None:
    """Adds the numbers that the text states about the paper's Figures 9 (faults and quarters of
    programs), 10 (categories of models) and 11 (versions)."""
    heat = paper.published_heat().pivot(
        index="row", columns="column", values="accuracy"
    )
    cells = heat.to_numpy()
    found["best in the first quarter", ""] = (cells.argmax(axis=1) == 0).sum()
    found["worst in the last quarter", ""] = (cells.argmin(axis=1) == 3).sum()
    found["falls to the next quarter", ""] = (np.diff(cells) < 0).sum()
    ahead = 100 * _ahead(heat.iloc[:, 0], ["OffByOne"])
    found["OffByOne ahead in the first quarter", ""] = ahead
    kinds = published_cells("faultloc/fig10", "kind").set_index("kind")["value"]
    ahead = _ahead(kinds, ["reasoning", "multimodal"])
    found["reasoning and multimodal ahead", ""] = ahead
    versions = published_cells("faultloc/fig11", "label").set_index("label")["value"]
    gemini = versions["Gemini 2.5 Flash"] - versions["Gemini 2.0 Flash"]
    found["gain, Gemini", ""] = gemini
    claude = versions["Claude 4.5 Sonnet"] - versions["Claude 3.7 Sonnet"]
    found["gain, Claude", ""] = claude


def _totals(found: Numbers) -> None:
    """Adds the numbers that the text states about the paper's Figure 5 (programs) and Table IV
    (tokens, lines)."""
    bars = published_cells("faultloc/fig05", "language", "lines")
    for language, part in bars.groupby("language")["value"]:
        found[f"programs, {language}", ""] = part.sum()
    found["programs", ""] = bars["value"].sum()
    values = paper.published_statistics()
    for name, unit, digits in (("total_tokens", 10**9, 1), ("total_loc", 10**6, 0)):
        exact = values[name] / unit
        found[name, "rounded"] = round(exact, digits)
        found[name, "cut off"] = np.floor(exact * 10**digits) / 10**digits
