"""Find the Origin's main experiment (section 4, Figure 2): right answers against the length of the list, d = 15."""

from __future__ import annotations

import pandas as pd

from codestress.papers.origin.published import STEP, by_size
from codestress.report.headline import Headline
from codestress.report.published import published_models

LENGTHS = {"16–63": 64, "64–127": 128, "128–255": 256, "256–511": 512, "512–944": 945}
"""Lines of a list: what is drawn, and the first number of lines beyond."""
LISTS = 20


def length(lines: int) -> str:
    """The cell of a list with so many lines."""
    return next(name for name, beyond in LENGTHS.items() if lines < beyond)


def _published() -> pd.DataFrame:
    table = by_size("fig02")
    cells = table.groupby(["model", table["lines"].map(length).rename("cell")], sort=False)
    shares = cells["right"].agg(share="mean", n="size").reset_index()
    return shares.assign(model=shares["model"].map(lambda label: published_models("origin").get(label, label)))


HEADLINE = Headline(
    title="Find the Origin",
    question="Can it follow two links in a list of links when the list grows? The links stand 15 lines apart.",
    study="outcomes",
    parameters=lambda _: {"d": [15], "step": STEP, "lists": LISTS},
    deviates=lambda _: (
        f"the kit's own words in {LISTS} lists, not the authors' one list",
        "answers up to 1,024 tokens, as the paper's text has it; the authors' harness cut them at 256",
    ),
    cell=lambda trial: length(int(trial.factors["lines"] or 0)),
    cells=tuple(LENGTHS),
    axis="lines in the list",
    published=_published,
    source="Figure 2, decoded: one question at each of 117 lengths and for each model",
    figure="origin/fig02",
    stated="share of right answers",
    told="of each model’s answers are right where the links stand 15 lines apart",
    cluster=lambda trial: f"list {trial.factors['list']}",
)
