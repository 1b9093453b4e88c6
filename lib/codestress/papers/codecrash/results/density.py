"""CodeCrash: what more and more misleading messages cost, and how long answers become (Figure 4, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from codestress.fitting.proportions import clustered_mean
from codestress.papers.codecrash.results.conditions import CELL, SETTING, cells, named
from codestress.papers.codecrash.results.differences import POINTS, RELATIVE, TRUE, differences
from codestress.papers.codecrash.studies import MESSAGES
from codestress.types import Response


def by_density(answers: pd.DataFrame, texts: Mapping[str, Response], *, rule: str, confidence: float) -> pd.DataFrame:
    """For each model, setting, perturbation and density (0: vanilla): Pass@1, difference to vanilla and tokens.

    Columns of `differences`, and tokens, tokens_low, tokens_high: the mean length of the whole answer as its server
    counts it (with what was thought before it), over questions; true_tokens, as in `answers`.
    """
    table = differences(answers, rule=rule, confidence=confidence)
    vanilla = answers[answers["perturbation"] == "VAN"]
    starts = [vanilla.assign(perturbation=name) for name in MESSAGES if name in set(answers["perturbation"])]
    lengths = pd.concat([answers[answers["perturbation"] != "VAN"], *starts])
    lengths = lengths.assign(tokens=[_length(row.key, row.completion_tokens, texts) for row in lengths.itertuples()])
    rows = []
    for cell, part in cells(lengths):
        mean, (low, high), *_ = clustered_mean(part["tokens"], part["question"], confidence=confidence)
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        tokens = {"tokens": mean, "tokens_low": low, "tokens_high": high}
        tokens |= {"true_tokens": part["true_tokens"].mean(skipna=False)}
        rows.append(cell | tokens | {"pass_at_1_pct": 100 * float(scores.mean())})
    merged = pd.DataFrame(rows).merge(table.drop(columns="pass_at_1_pct"), on=CELL, how="left")
    merged.loc[merged["density"] == 0, [*POINTS, *RELATIVE]] = 0.0
    return merged.sort_values(CELL, kind="stable", ignore_index=True)


def _length(key: str, tokens: float | None, texts: Mapping[str, Response]) -> float:
    if tokens is not None and tokens == tokens:
        return float(tokens)
    return len(texts[key].text) / 4 if key in texts else float("nan")


def density_points(table: pd.DataFrame, *, show: str, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, density, value, low, high, true (no difference without messages is)."""
    columns = ("tokens", "tokens_low", "tokens_high") if show == "tokens" else RELATIVE if relative else POINTS
    true = table["true_tokens"] if show == "tokens" else table[TRUE[columns]].where(table["density"] > 0)
    alone = not any(table[name].nunique() > 1 for name in ("dataset", *SETTING))
    panels = table["perturbation"] if alone else table["perturbation"] + ", " + named(table)["panel"]
    points = table.assign(panel=panels, true=true)[["model", "panel", "density", *columns, "true"]]
    return points.set_axis(["model", "panel", "density", "value", "low", "high", "true"], axis=1)


def describe_density(points: pd.DataFrame, unit: str) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(
            f"{panel}, {model}: {ordered['value'].iloc[0]:.1f} {unit} without messages, "
            f"{ordered['value'].iloc[-1]:.1f} at p = {ordered['density'].iloc[-1]:g}"
        )
    return "Against the density of misleading messages. " + "; ".join(parts) + "."
