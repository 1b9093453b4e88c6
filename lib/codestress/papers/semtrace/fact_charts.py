"""Sense and Sensitivity: RoPE bases against the bound (Table 4), the prompts (Figures 11 to 14)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, HATCHES, styled_figure
from codestress.types import Prompt


def rope_bases(table: pd.DataFrame, context: int) -> Figure:
    """Horizontal bars of each model's RoPE base on a logarithmic scale, with the bound for the longest context.

    Columns used: name, rope_base (None where unknown), smallest_base, lowest_bound, highest_bound, reaches_bound.
    """
    figure = styled_figure(7.0, 0.28 * len(table) + 0.9)
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


def template_pages(prompts: Sequence[tuple[str, int, Prompt]]) -> Figure:
    """The templates as they are filled in, side by side, each with the least distractors, and how long it is with how
    many. `prompts`: task, distractors, prompt."""
    least = min(count for _, count, _ in prompts)
    pages = {task: _page(prompt) for task, count, prompt in prompts if count == least}
    down = -(-len(pages) // 2)
    lengths = [text.count("\n") + 3 for text in pages.values()]
    heights = [max(lengths[2 * row : 2 * row + 2]) for row in range(down)]
    figure = styled_figure(7.0, 0.45 * down + 0.094 * sum(heights))
    axes = list(figure.subplots(down, 2, squeeze=False, height_ratios=heights).flat)
    for ax, (task, text) in zip(axes, pages.items(), strict=False):
        characters = [f"{prompt.characters:,} with {count}" for name, count, prompt in prompts if name == task]
        ax.set_title(f"{task.replace('_', ' ')}\n", fontsize=8)
        told = f"characters: {', '.join(characters)} distractors"
        ax.annotate(told, (0, 1), xytext=(0, 4), xycoords="axes fraction", textcoords="offset points", fontsize=6.5)
        place = {"xycoords": "axes fraction", "xytext": (3, -3), "textcoords": "offset points", "va": "top"}
        ax.annotate(text, (0, 1), **place, family="monospace", fontsize=5.2, parse_math=False).set_in_layout(False)
        ax.set(xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(True)
    for ax in axes[len(pages) :]:
        ax.set_visible(False)
    return figure


def _page(prompt: Prompt, width: int = 72) -> str:
    """A prompt as text, long lines on several, and what is begun of the answer."""
    begun = f"\n--- the answer, begun ---\n{prompt.prefill}" if prompt.prefill else ""
    lines = (prompt.messages[-1].content + begun).split("\n")
    return "\n".join(part for line in lines for part in (textwrap.wrap(line, width, subsequent_indent="  ") or [""]))
