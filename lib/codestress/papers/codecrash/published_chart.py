"""What the published Pass@1 says, as a picture."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.forest import forest
from codestress.report.style import styled_figure


def published_chart(
    ranks: pd.DataFrame, alike: pd.DataFrame, vanilla: pd.DataFrame, datasets: pd.DataFrame, names: dict[str, str]
) -> Figure:
    """Ranks of the models on unperturbed programs, how alike perturbations order them, what goes with the vanilla
    score, and the difference between the data sets.

    The tables of `results/published.py`; `names` are those of the data sets, two. Hollow: not decided.
    """
    figure = styled_figure(7.0, 8.4)
    above, below = figure.subfigures(2, 1, height_ratios=[1.25, 1.0], squeeze=False)[:, 0]
    left, right = above.subplots(1, 2, width_ratios=[1.0, 1.15])
    plain = ranks[ranks["perturbation"] == "VAN"].assign(series=ranks["dataset"].map(names))
    models = plain[plain["dataset"] == next(iter(names))].sort_values("rank")["label"].tolist()
    left.set_xlim(0.5, len(models) + 0.5)
    forest(left, plain.rename(columns={"rank": "value"}), models, series="series")
    left.set(title="ranks that tests leave open", xlabel="rank on unperturbed programs")
    left.set_xticks(range(1, len(models) + 1, 4))
    above.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    perturbations = list(datasets["perturbation"])
    _matrix(right, alike, perturbations, list(names))
    first, second = names.values()
    right.set(title="do perturbations order models alike?", xlabel=f"Spearman; below: {first}, above: {second}")
    left, right = below.subplots(1, 2, sharey=True)
    left.set_xlim(-1, 1)
    shown = vanilla.rename(columns={"perturbation": "label", "correlation": "value"})
    forest(left, shown.assign(series=shown["dataset"].map(names)), perturbations, series="series", decided=True)
    left.set(title="share lost and vanilla score", xlabel="correlation over models")
    shown = datasets.rename(columns={"perturbation": "label", "difference": "value"})
    numbers = ["value", "low", "high"]
    right.set_xlim(-20, 30)
    forest(right, shown.assign(**100 * shown[numbers]), perturbations, decided=True)
    right.set(title=f"{second} - {first}", xlabel="share lost, paired by model (points)")
    for ax in (left, right):
        ax.axvline(0, color="#999999", linewidth=0.6)
    note = (
        "REN names, RTF conditions, GBC unused code, PSC-ALL structural (all three), MCC misleading comments, "
        "MPS misleading prints,\nMHC misleading hint. Filled, or bold: decided (Holm). Hollow: not."
    )
    figure.text(0.005, -0.005, note, fontsize=6.5, va="top", color="#555555")
    return figure


def _matrix(ax: Axes, alike: pd.DataFrame, names: list[str], datasets: list[str]) -> None:
    """Correlations of the first data set below the diagonal, of the second above."""
    cells = np.full((len(names), len(names)), np.nan)
    for row in alike.itertuples():
        ends = sorted((names.index(str(row.first)), names.index(str(row.second))))
        x, y = ends if row.dataset == datasets[0] else reversed(ends)
        cells[y, x] = row.correlation
        weight = "bold" if row.decided else "normal"
        colour = "white" if abs(row.correlation) > 0.6 else "black"
        ax.text(x, y, f"{row.correlation:.2f}", ha="center", va="center", color=colour, fontsize=6.5, fontweight=weight)
    ax.imshow(cells, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    ax.set_xticks(range(len(names)), names, rotation=60)
    ax.set_yticks(range(len(names)), names)
    ax.grid(False)
