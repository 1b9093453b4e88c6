"""A training run and what came of it, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from matplotlib import pyplot
from matplotlib.figure import Figure
from pydantic import BaseModel, ConfigDict, TypeAdapter

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.nano.chats import Task
from codestress.report.style import COLOURS, MARKERS, use_style


class _Step(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    tokens: int
    stage: int


_LOG = TypeAdapter(list[_Step])


def training_log(folder: Path) -> list[dict[str, Any]]:
    """What weights' manifest.json says of their training, a row for each evaluation; `DataError` where it is none."""
    path = folder / "manifest.json"
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        rows = _LOG.validate_python(content.get("log") if isinstance(content, dict) else None)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: has no log of a training: {' '.join(str(error).split()[:20])}") from None
    return [row.model_dump() for row in rows]


def training_figure(log: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> Figure:
    """Held-out accuracy over tokens, stages marked; retrieval by the part of the context in which the line stands."""
    use_style()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    for task, colour, marker in zip(get_args(Task), COLOURS, MARKERS, strict=False):
        rows = [row for row in log if task in row]
        if not rows:
            continue
        millions = [row["tokens"] / 1e6 for row in rows]
        shares = [100 * row[task] for row in rows]
        left.plot(millions, shares, label=task, color=colour, marker=marker, markersize=3, linewidth=1)
    for before, after in pairwise(log):
        if after["stage"] != before["stage"]:
            left.axvline(before["tokens"] / 1e6, linestyle=":", color="0.5", linewidth=0.8)
    left.set(xlabel="tokens seen (millions); dotted: a new stage", ylabel="held-out answers right (%)", ylim=(0, 104))
    left.legend(fontsize=6, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    rows = found["line_retrieval by place"]
    places = [row["part"] for row in rows]
    middle = [100 * row["share"] for row in rows]
    low = [100 * (row["share"] - row["low"]) for row in rows]
    high = [100 * (row["high"] - row["share"]) for row in rows]
    right.errorbar(places, middle, yerr=(low, high), color=COLOURS[0], marker=MARKERS[0], capsize=2)
    lines = rows[0]["lines"] if rows else 0
    right.set(xlabel=f"eighth of the context ({lines} lines)", ylabel="lines retrieved (%)", ylim=(0, 100))
    return figure
