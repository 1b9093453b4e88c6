"""One row per model, one cell per prompt: right or wrong as the context grows (Find the Origin, Figures 1-3, 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from codestress.report.style import OTHER, RIGHT, WRONG, use_style
from codestress.types import Reason


@dataclass(frozen=True)
class OutcomeRow:
    """A model's outcomes, one for each size of the context, in order."""

    label: str
    lines: Sequence[int]
    """Lines of the list behind each outcome, in equal steps."""
    reasons: Sequence[str]

    @property
    def right(self) -> int:
        return sum(reason == Reason.RIGHT for reason in self.reasons)


LOOKS: dict[str, dict[str, Any]] = {
    "right": {"facecolor": RIGHT, "edgecolor": RIGHT, "hatch": ""},
    "wrong": {"facecolor": WRONG, "edgecolor": "#B0431A", "hatch": "////"},
    "other": {"facecolor": OTHER, "edgecolor": "#555555", "hatch": "...."},
}


def outcome_map(panels: dict[str, Sequence[OutcomeRow]]) -> Figure:
    """A panel for each source (published, regenerated); x is the number of lines in the list.

    Right is dark and plain, wrong light and hatched, anything else (cut off, declined, …) grey and dotted.
    """
    use_style()
    heights = [len(rows) for rows in panels.values()]
    figure = Figure(figsize=(7.0, 0.19 * sum(heights) + 0.45 * len(panels) + 0.5))
    axes = figure.subplots(len(panels), 1, height_ratios=heights, sharex=True, squeeze=False)
    ends = [place for rows in panels.values() for row in rows for place in (row.lines[0], row.lines[-1])]
    step = max(_step(row) for rows in panels.values() for row in rows)
    for ax, (title, rows) in zip(axes[:, 0], panels.items(), strict=True):
        for y, row in enumerate(rows):
            _draw_row(ax, y, row)
        ax.set_title(title)
        ax.set_yticks(range(len(rows)), [row.label for row in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(min(ends) - step / 2, max(ends) + step / 2)
        ax.grid(False)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        counts = ax.secondary_yaxis("right")
        counts.set_yticks(range(len(rows)), [f"{row.right}/{len(row.reasons)}" for row in rows])
        counts.tick_params(length=0)
        counts.spines["right"].set_visible(False)
    axes[-1, 0].set_xlabel("lines in the list")
    names = {"right": "right", "wrong": "wrong", "other": "no answer: cut off, declined, not readable, failed"}
    shown = {_look(reason) for rows in panels.values() for row in rows for reason in row.reasons}
    handles = [Patch(label=names[kind], **LOOKS[kind]) for kind in names if kind in shown]
    figure.legend(handles=handles, loc="outside upper right", ncols=3)
    return figure


def _look(reason: str) -> str:
    return reason if reason in ("right", "wrong") else "other"


def _step(row: OutcomeRow) -> int:
    return row.lines[1] - row.lines[0] if len(row.lines) > 1 else 8


def _draw_row(ax: Axes, y: int, row: OutcomeRow) -> None:
    """Neighbouring cells of one kind are drawn as one bar."""
    start, step = 0, _step(row)
    for kind, cells in groupby(row.reasons, key=_look):
        width = len(list(cells))
        left = row.lines[start] - step / 2
        edge = 0.0 if kind == "right" else 0.3
        ax.broken_barh([(left, width * step)], (y - 0.38, 0.76), linewidth=edge, **LOOKS[kind])
        start += width
