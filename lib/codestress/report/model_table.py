"""The report's table of models by task: each paper's main study, published and regenerated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.inference.results import hardly_read
from codestress.paths import write_whole
from codestress.rooms import offered_by
from codestress.types import Outcome

from .published import read_published
from .summary import INSTRUMENTS
from .tables import markdown_table

COLUMNS = ["model", "task", "source", "accuracy", "low", "high", "n"]
CELL = COLUMNS[:3]
INTERVAL = "Wilson's 95 %, as if answers were independent"


@dataclass(frozen=True)
class Printed:
    """Right answers that a paper prints for one of its figures or tables."""

    task: str
    """The artefact with the same questions: PAPER/ARTEFACT."""
    counts: pd.DataFrame
    """A row for each cell, with the columns model (the registry's name), correct and n (numbers of
    answers)."""
    counted: str
    """Description of the cells that are counted; the page shows it beside the task's title."""


def models_by_task(manifests: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the accuracy of every model on each task, published and regenerated.

    `manifests` are mappings by the artefact's name; tasks are those that ask for a leaderboard.
    The table has the columns `COLUMNS`: `source` is `published` or `here`; accuracy, low and high
    are in %, with Wilson's 95 % interval, as if answers were independent. An answer is correct by
    the artefact's scoring rule. Every other outcome counts as incorrect, except skipped
    questions, which were not asked and are not in n. Simulated readers, the other engines of
    `INSTRUMENTS` and models of which hardly an answer could be read have no row.
    """
    tasks = [name for name in sorted(manifests) if manifests[name]["leaderboard"]]
    printed = _printed(tasks)
    parts = [pd.DataFrame(columns=[*CELL, "correct", "n"])]
    for task in tasks:
        if task in printed:
            parts.append(printed[task].counts.assign(task=task, source="published"))
        regenerated = _regenerated(manifests[task])
        parts.append(regenerated.assign(task=task, source="here"))
    counts = pd.concat(parts).astype({"correct": float, "n": int})
    sums = counts.groupby(CELL, as_index=False)[["correct", "n"]].sum().round()
    table = with_accuracy(sums[sums["n"] > 0], "correct", "n")
    table[["accuracy", "low", "high"]] *= 100
    return table[COLUMNS]


def _printed(tasks: Iterable[str]) -> dict[str, Printed]:
    """Return, by artefact, the papers' own numbers of the artefacts `tasks`, where there are any."""
    offers = offered_by("headline", "published")
    by_task = {}
    for paper in {task.partition("/")[0] for task in tasks}:
        if paper in offers and read_published(paper):
            printed: Printed = offers[paper]()
            by_task[printed.task] = printed
    return by_task


def _regenerated(manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row (model, correct, n) for each model of a manifest that has a place."""
    engines = {model["name"]: model["engine"] for model in manifest["models"]}
    rows = []
    for model, counts in manifest["counts"].items():
        if engines.get(model) in INSTRUMENTS or hardly_read(counts):
            continue
        asked = sum(counts.values()) - counts[Outcome.SKIPPED]
        rows.append((model, counts[Outcome.CORRECT], asked))
    return pd.DataFrame(rows, columns=["model", "correct", "n"])


def board(table: pd.DataFrame) -> dict[str, Any]:
    """Return the data of the page's table from `table`, the result of `models_by_task`.

    `tasks` has by name what is counted, `models` the names in alphabetical order, `cells` the
    rows of `table` by model, task and source.
    """
    names = sorted(table["task"].unique())
    counted = {name: one.counted for name, one in _printed(names).items()}
    return {
        "tasks": {name: counted.get(name, "") for name in names},
        "models": sorted(table["model"].unique(), key=str.lower),
        "cells": {row[:3]: row for row in table.itertuples(index=False)},
    }


def write_board(table: pd.DataFrame, folder: Path) -> None:
    """Write models.csv and models.md into `folder`: a line for each number of `table`, the result of
    `models_by_task`, and what its intervals are."""
    table = table.round(2).assign(interval=INTERVAL)
    write_whole(folder / "models.csv", table.to_csv(index=False))
    write_whole(folder / "models.md", markdown_table(table))
