"""Sense and Sensitivity: RoPE bases against the bound (Table 4), lengths of prompts (Figures 11 to 14)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, HATCHES, use_style


def rope_bases(table: pd.DataFrame, context: int) -> Figure:
    """Horizontal bars of each model's RoPE base on a logarithmic scale, with the bound for the longest context.

    Columns used: name, rope_base (None where unknown), smallest_base, lowest_bound, highest_bound, reaches_bound.
    """
    use_style()
    figure = Figure(figsize=(7.0, 0.28 * len(table) + 0.9))
    ax = figure.subplots()
    for place, row in enumerate(table.itertuples()):
        if pd.notna(row.rope_base):
            short = row.reaches_bound == "no"
            ax.barh(place, row.rope_base, color=COLOURS[int(short)], hatch=HATCHES[int(short)], edgecolor="white")
        else:
            ax.annotate("not published", (1.2e3, place), va="center", fontsize=7, color="#555555")
    bound, *ends = table[["smallest_base", "lowest_bound", "highest_bound"]].iloc[0]
    ax.axvline(bound, color="black", linestyle="--", linewidth=1)
    ax.annotate(
        f"bound for {context:,} tokens: {bound:,.0f} ({ends[0]:,} to {ends[1]:,} for what rounds to 31k)",
        (bound, -0.75),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        fontsize=7,
    )
    ax.set_xscale("log")
    ax.set_xlim(1e3, 3e6)
    ax.set_yticks(range(len(table)), table["name"])
    ax.set_ylim(len(table) - 0.4, -1.1)
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
    ax.set_xlabel("base of RoPE (hatched: below the bound)")
    return figure


def prompt_lengths(table: pd.DataFrame) -> Figure:
    """Characters of each task's prompt, a group of bars for each number of distractors."""
    use_style()
    figure = Figure(figsize=(7.0, 2.6))
    ax = figure.subplots()
    tasks, counts = (list(dict.fromkeys(table[name])) for name in ("task", "distractors"))
    width = 0.8 / len(counts)
    for number, count in enumerate(counts):
        part = table[table["distractors"] == count].set_index("task").reindex(tasks)
        places = [place - 0.4 + (number + 0.5) * width for place in range(len(tasks))]
        bars = ax.bar(
            places,
            part["characters"],
            width * 0.94,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="white",
            label=f"{count} distractors",
        )
        ax.bar_label(bars, [f"{n:,.0f}" for n in part["characters"]], fontsize=6.5, padding=1)
    ax.set_yscale("log")
    ax.set_xticks(range(len(tasks)), tasks)
    ax.set_ylabel("characters in the prompt")
    figure.legend(loc="outside upper center", ncols=len(counts))
    return figure
