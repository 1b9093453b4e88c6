"""Measures weights of nano on held-out prompts: `python bench/nano/measure.py FOLDER`.

Prints what they answer, with 95 % intervals; with --write also writes this as evaluation.json, and the course of their
training as curves.png, into the folder of the weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, get_args

import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chats import Task
from codestress.errors import CodestressError, DataError
from codestress.literals import parse_json
from codestress.nano.configuration import WEIGHTS
from codestress.report.style import COLOURS, MARKERS, use_style
from evaluate import BY_PLACE, evaluate


def training_log(folder: Path) -> pd.DataFrame:
    """The log in weights' manifest.json, a row for each evaluation; `DataError` where there is none."""
    path = folder / "manifest.json"
    try:
        log = pd.DataFrame(
            parse_json(path.read_text(encoding="utf-8"))["log"], dtype=float
        )
        return log.dropna(subset=["tokens", "stage"])
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise DataError(
            f"{path}: has no log of a training: {' '.join(str(error).split()[:20])}"
        ) from None


def training_figure(log: pd.DataFrame, evaluation: dict[str, Any]) -> Figure:
    """Held-out accuracy over tokens, and retrieval by the part of the context in which the line stands."""
    use_style()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    _draw_training(left, log)
    _draw_places(right, pd.DataFrame(evaluation[BY_PLACE]))
    return figure


def _draw_training(ax: Axes, log: pd.DataFrame) -> None:
    for task, colour, marker in zip(get_args(Task), COLOURS, MARKERS, strict=False):
        if task in log:
            rows = log.dropna(subset=[task])
            style = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 1}
            ax.plot(rows["tokens"] / 1e6, 100 * rows[task], label=task, **style)
    ends_a_stage = log["stage"].diff(-1).fillna(0) != 0
    for tokens in log["tokens"][ends_a_stage]:
        ax.axvline(tokens / 1e6, linestyle=":", color="0.5", linewidth=0.8)
    ax.set(
        xlabel="tokens seen (millions); dotted: a new stage",
        ylabel="held-out answers right (%)",
        ylim=(0, 104),
    )
    ax.legend(fontsize=6, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)


def _draw_places(ax: Axes, rows: pd.DataFrame) -> None:
    share, low, high = 100 * rows["share"], 100 * rows["low"], 100 * rows["high"]
    errors = (share - low, high - share)
    ax.errorbar(
        rows["part"], share, yerr=errors, color=COLOURS[0], marker=MARKERS[0], capsize=2
    )
    lines = rows["lines"].iloc[0]
    ax.set(
        xlabel=f"eighth of the context ({lines} lines)",
        ylabel="lines retrieved (%)",
        ylim=(0, 100),
    )


def print_rows(evaluation: dict[str, Any]) -> None:
    """Prints the rows of `evaluate`, a line each."""
    for name, rows in evaluation.items():
        if not isinstance(rows, list):
            print(f"{name}: {rows:.1%}")
            continue
        print(name)
        for row in rows:
            where = f"{row['lines']} lines"
            if "part" in row:
                where = f"part {row['part']} of {where}"
            counts = f"{row['right']} of {row['asked']}, {row['share']:.1%}"
            print(f"  {where}: {counts} ({row['low']:.1%} to {row['high']:.1%})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure weights of nano on held-out prompts."
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=WEIGHTS,
        help="weights (default: the kit's own)",
    )
    parser.add_argument(
        "--asked", type=int, default=300, help="held-out prompts of each kind (300)"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write evaluation.json and curves.png beside the weights",
    )
    given = parser.parse_args()
    try:
        log = training_log(given.folder)
        evaluation = evaluate(given.folder, given.asked)
    except CodestressError as error:
        sys.exit(f"error: {error}")
    print_rows(evaluation)
    if given.write:
        text = json.dumps(evaluation, indent=1) + "\n"
        (given.folder / "evaluation.json").write_text(text, encoding="utf-8")
        training_figure(log, evaluation).savefig(given.folder / "curves.png", dpi=150)


if __name__ == "__main__":
    main()
