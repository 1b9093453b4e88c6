"""Numbers that the text of Fault Localizability states about its own tables and figures, recomputed
from the published cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.papers.faultloc.results.paper import (
    published_counts,
    published_heat,
    published_localization,
    published_statistics,
)
from codestress.report.published import published_cells

Number = tuple[str, str, float]
"""Name of a number, reading of the paper's words (empty if they have only one), value."""
OPEN = ("llama 3.1", "phi 4", "qwen 2.5 coder", "qwen qwq")
LEADING = ["claude 4.5 sonnet", "claude 3.7 sonnet", "gemini 1.5 pro"]
"""Models that lead according to section V-A of Fault Localizability."""
TOGETHER, CELLS = "its tasks together", "its cells alike"
BY_FIRST, BY_SECOND = "third bars by the first", "third bars by the second"
"""Ratios of Figure 7's third bars (after mutations) to its first (all tasks) or second (localized
before). Neither is certain to be a share: the paper does not say which tasks the third bars
count."""
FUNCTIONS = 17
"""Accuracy that function shuffling leaves, in % (section V-B2 of Fault Localizability: shuffling
costs 83)."""


def recounted() -> pd.DataFrame:
    """Returns the numbers that the paper's text states about its own tables and figures, recomputed
    from the published cells, a row for each number and reading of the paper's words: number (its
    name), reading (empty if there is only one), value (points, % or a count)."""
    rows = [
        *_table_two(),
        *_mutations(),
        *_languages(),
        *_strengths(),
        *_places(),
        *_kinds(),
        *_totals(),
    ]
    return pd.DataFrame(rows, columns=["number", "reading", "value"])


def _named(labels: pd.Series) -> pd.Series:
    """The names of models in `labels` in one spelling (lower case, no hyphens), since the paper's
    tables and figures spell them in several ways."""
    return labels.str.replace("-", " ").str.lower()


def _localization() -> pd.DataFrame:
    """The paper's Table II (`published_localization`), with added columns: model (in one spelling),
    family (its first word), right (number of localized tasks)."""
    cells = published_localization()
    cells = cells.assign(
        model=_named(cells["label"]), right=cells["value"] * cells["of"] / 100
    )
    return cells.assign(family=cells["model"].str.split().str[0])


def _accuracies(cells: pd.DataFrame, by: list[str]) -> dict[str, pd.Series]:
    """Accuracy in % for each combination of values of the columns `by` of `cells` (from
    `_localization`), by the name of the reading of an average: `TOGETHER` (all tasks count alike)
    and `CELLS` (all cells count alike)."""
    sums = cells.groupby(by)[["right", "of"]].sum()
    return {
        TOGETHER: 100 * sums["right"] / sums["of"],
        CELLS: cells.groupby(by)["value"].mean(),
    }


def _ahead(
    values: pd.Series, first: list[str], left_out: tuple[str, ...] = ()
) -> float:
    """Lowest of the `values` with a label in `first` minus the highest of all other values, those
    with a label in `left_out` not counted."""
    return float(values[first].min() - values.drop([*first, *left_out]).max())


def _table_two() -> Iterator[Number]:
    cells = _localization()
    for reading, families in _accuracies(cells, ["language", "family"]).items():
        for language in ("python", "java"):
            yield (
                f"Claude ahead, {language}",
                reading,
                _ahead(families[language], ["claude"]),
            )
    for reading, families in _accuracies(cells, ["family"]).items():
        yield (
            "Gemini ahead of all but Claude",
            reading,
            _ahead(families, ["gemini"], ("claude",)),
        )
    for reading, models in _accuracies(cells, ["model"]).items():
        yield "leading models ahead", reading, _ahead(models, LEADING)
        yield "GPT-4o next", reading, _ahead(models, ["gpt 4o"], tuple(LEADING))
        yield (
            "Phi-4 ahead of open models",
            reading,
            _ahead(models[list(OPEN)], ["phi 4"]),
        )
    for reading, shares in _accuracies(cells, ["model", "language"]).items():
        wide = shares.unstack()
        others = wide[~wide.index.str.startswith("claude")]
        yield (
            "better in Python, but Claude",
            reading,
            int((others["python"] > others["java"]).sum()),
        )
        yield "Java - Python", reading, float((wide["java"] - wide["python"]).mean())
    best = cells.loc[cells.groupby(["language", "fault"])["value"].idxmax(), "model"]
    yield "best models that are closed", "", int((~best.isin(OPEN)).sum())


def _mutations() -> Iterator[Number]:
    """Yields the numbers that the text states about the paper's Figure 6, as means over models."""
    bars = (
        published_cells("faultloc/fig06", "model", "spm").groupby("spm")["value"].mean()
    )
    single = bars[["names", "comments", "dead_code"]]
    for spm, value in single.items():
        yield f"accuracy under {spm}", "", float(value)
    yield "names - comments", "", float(bars["names"] - bars["comments"])
    yield "comments - dead code", "", float(bars["comments"] - bars["dead_code"])
    yield "one - two", "", float(bars["comments"] - bars["comments+names"])
    yield (
        "two - three",
        "",
        float(bars["comments+names"] - bars["comments+names+dead_code"]),
    )
    lost = 100 - single
    yield (
        "share of comments and dead code",
        "",
        100 * float(1 - lost["names"] / lost.sum()),
    )
    yield "lost", "its three single mutations", float(lost.mean())
    yield "lost", "its five bars", float(100 - bars.mean())
    yield (
        "lost",
        "its five bars and function shuffling",
        float(100 - np.mean([*bars, FUNCTIONS])),
    )


def _languages() -> Iterator[Number]:
    """Yields the numbers that the text states about the paper's Figure 7: the gap between Java and
    Python, and between closed and open models."""
    counts = published_counts()
    wide = counts.assign(label=_named(counts["label"])).pivot(
        index="label", columns="language"
    )
    total, localized, after = (
        wide[name] for name in ("total", "pf_localized", "pf_spm_localized")
    )
    closed = ~wide.index.isin(OPEN)
    for reading, kept in (
        (BY_FIRST, 100 * after / total),
        (BY_SECOND, 100 * after / localized),
    ):
        gap = kept["python"] - kept["java"]
        yield "worse in Java", reading, int((gap > 0).sum())
        yield (
            "wider gap of closed models",
            reading,
            float(gap[closed].mean() - gap[~closed].mean()),
        )
        yield (
            "closed - open",
            reading,
            float(kept[closed].mean().mean() - kept[~closed].mean().mean()),
        )
    for reading, of in ((BY_FIRST, total), (BY_SECOND, localized)):
        lost = (100 * (localized - after) / of).mean()
        yield "lost, Java - Python", reading, float(lost["java"] - lost["python"])
    right = _localization().groupby(["model", "language"])["right"].sum().unstack()
    # A bar that lacks a kind of fault counts other tasks than Table II.
    complete = wide["lacks"].isna()
    for language in ("python", "java"):
        same = complete[language] & ((right[language] - localized[language]).abs() < 1)
        yield f"models alike in Table II and Figure 7, {language}", "", int(same.sum())


def _strengths() -> Iterator[Number]:
    """Yields the numbers that the text states about the red line in the paper's Figure 8, and the
    falls that it computes from its own values for both ends."""
    cells = published_cells("faultloc/fig08", "language", "strength")
    for language, part in cells.groupby("language"):
        values = part["value"].to_numpy()
        yield f"accuracy at strength 1, {language}", "", values[0]
        yield f"accuracy at strength 8, {language}", "", values[-1]
        yield (
            f"slope, {language}",
            "",
            float(np.polyfit(part["strength"], values, 1)[0]),
        )
    for language, first, last in (("java", 15.82, 8.57), ("python", 42.88, 29.34)):
        yield f"fall, {language}", "", first - last
        yield f"fall a step, {language}", "", (first - last) / 7


def _places() -> Iterator[Number]:
    """Yields the numbers that the text states about the paper's Figure 9 (faults and quarters of
    programs)."""
    heat = published_heat().pivot_table(
        index="row", columns="column", values="accuracy", sort=False
    )
    yield (
        "best in the first quarter",
        "",
        int((heat.to_numpy().argmax(axis=1) == 0).sum()),
    )
    yield (
        "worst in the last quarter",
        "",
        int((heat.to_numpy().argmin(axis=1) == 3).sum()),
    )
    yield "falls to the next quarter", "", int((np.diff(heat.to_numpy()) < 0).sum())
    yield (
        "OffByOne ahead in the first quarter",
        "",
        100 * _ahead(heat.iloc[:, 0], ["OffByOne"]),
    )


def _kinds() -> Iterator[Number]:
    """Yields the numbers that the text states about the paper's Figures 10 (categories of models)
    and 11 (versions)."""
    kinds = published_cells("faultloc/fig10", "kind").set_index("kind")["value"]
    yield (
        "reasoning and multimodal ahead",
        "",
        _ahead(kinds, ["reasoning", "multimodal"]),
    )
    versions = published_cells("faultloc/fig11", "label").set_index("label")["value"]
    yield (
        "gain, Gemini",
        "",
        float(versions["Gemini 2.5 Flash"] - versions["Gemini 2.0 Flash"]),
    )
    yield (
        "gain, Claude",
        "",
        float(versions["Claude 4.5 Sonnet"] - versions["Claude 3.7 Sonnet"]),
    )


def _totals() -> Iterator[Number]:
    """Yields the numbers that the text states about the paper's Figure 5 (programs) and Table IV
    (tokens, lines)."""
    programs = (
        published_cells("faultloc/fig05", "language", "lines")
        .groupby("language")["value"]
        .sum()
    )
    yield "programs, python", "", int(programs["python"])
    yield "programs, java", "", int(programs["java"])
    yield "programs", "", int(programs.sum())
    values = published_statistics()
    for name, unit, digits in (("total_tokens", 10**9, 1), ("total_loc", 10**6, 0)):
        exact = values[name] / unit
        yield name, "rounded", round(exact, digits)
        yield name, "cut off", np.floor(exact * 10**digits) / 10**digits
