"""The report's table of models by task: each paper's main study, with published and
regenerated numbers."""

from collections.abc import Mapping
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


def models_by_task(manifests: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the accuracy of every model on each task, published and regenerated, as a
    table with the columns `COLUMNS`.

    `manifests` is a dict from artefact to manifest; tasks are the artefacts that ask
    for a leaderboard. Models are in alphabetical order, regardless of case. `source` is
    `published` or `here`. accuracy, low and high are in %; low and high are the ends of
    Wilson's 95 % interval, as if answers were independent.

    An answer is correct by the artefact's scoring rule. Every other outcome counts as
    incorrect, except skipped questions, which were not asked and are not in n. There is
    no regenerated row for simulated readers, the other engines of `INSTRUMENTS`, and
    models of which hardly an answer could be read.
    """
    published = offered_by("headline", "published")
    parts = [pd.DataFrame(columns=[*CELL, "correct", "n"])]
    for task in manifests:
        if not manifests[task]["leaderboard"]:
            continue
        if _counted(task):
            printed: pd.DataFrame = published[task.partition("/")[0]]()
            parts.append(printed.assign(task=task, source="published"))
        regenerated = _regenerated(manifests[task])
        parts.append(regenerated.assign(task=task, source="here"))
    counts = pd.concat(parts).astype({"correct": float, "n": int})
    sums = counts.groupby(CELL, as_index=False)[["correct", "n"]].sum().round()
    table = with_accuracy(sums[sums["n"] > 0], "correct", "n")
    table[["accuracy", "low", "high"]] *= 100
    return table[COLUMNS].sort_values(CELL, key=lambda cells: cells.str.lower())


def _counted(task: str) -> str:
    """Return, in words, the items that the paper's printed numbers for the artefact
    `task` count; empty without such numbers."""
    printed = read_published(task).get("leaderboard", {})
    return printed["counted"] if printed.get("task") == task else ""


def _regenerated(manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row (model, correct, n) for each model of a manifest that has a place in
    the table."""
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

    The data is a dict with three entries. `tasks`: a dict from each task to the items
    that its published numbers count, in words. `models`: names in the table's order.
    `cells`: a dict from (model, task, source) to a row of `table`.
    """
    names = sorted(table["task"].unique())
    return {
        "tasks": {name: _counted(name) for name in names},
        "models": list(table["model"].unique()),
        "cells": {row[:3]: row for row in table.itertuples(index=False)},
    }


def write_board(table: pd.DataFrame, folder: Path) -> None:
    """Write models.csv and models.md into `folder`. Each line has one number of
    `table` (the result of `models_by_task`) and the kind of the number's interval."""
    words = "Wilson's 95 %, as if answers were independent"
    table = table.round(2).assign(interval=words)
    write_whole(folder / "models.csv", table.to_csv(index=False))
    write_whole(folder / "models.md", markdown_table(table))
