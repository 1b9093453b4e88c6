"""The report's table of models by task: each paper's main study, published and regenerated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.inference.results import hardly_read
from codestress.paths import write_whole
from codestress.report.published import read_published
from codestress.report.summary import INSTRUMENTS
from codestress.rooms import offered_by
from codestress.types import Outcome

COLUMNS = ["model", "task", "source", "accuracy", "low", "high", "n"]
SOURCES = ("published", "here")
"""Sources of a task's numbers, in the order of the columns."""


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
    """Returns the accuracy of every model on each task, published and regenerated: a table with the
    columns `COLUMNS`. Tasks are the artefacts whose manifest asks for a leaderboard; `manifests`
    are mappings by the artefact's name.

    `source` is `published` or `here`; accuracy, low and high are in %, with Wilson's 95 % interval,
    as if answers were independent. Simulated readers and the other engines of `INSTRUMENTS` have no
    row, nor has a model of which hardly an answer could be read. An answer is correct by the
    artefact's scoring rule; every other outcome counts as incorrect, except skipped questions,
    which are not in n because they were not asked.
    """
    tasks = [
        task for task, manifest in sorted(manifests.items()) if manifest["leaderboard"]
    ]
    printed = _printed(tasks)
    parts = [pd.DataFrame(columns=[*COLUMNS[:3], "correct", "n"])]
    for task in tasks:
        manifest = manifests[task]
        if task in printed:
            parts.append(printed[task].counts.assign(task=task, source="published"))
        parts.append(_regenerated(manifest).assign(task=task, source="here"))
    counts = pd.concat(parts).astype({"correct": float, "n": int})
    sums = counts.groupby(COLUMNS[:3], as_index=False)[["correct", "n"]].sum().round()
    table = with_accuracy(sums[sums["n"] > 0], "correct", "n")
    table[["accuracy", "low", "high"]] *= 100
    return table[COLUMNS]


def _printed(tasks: Iterable[str]) -> dict[str, Printed]:
    """Returns the papers' own numbers of the artefacts `tasks`, by artefact, where the files of
    published numbers have any."""
    papers = {task.partition("/")[0] for task in tasks}
    offers = offered_by("headline", "published")
    found = [offers[paper]() for paper in papers & set(offers) if read_published(paper)]
    return {printed.task: printed for printed in found}


def _regenerated(manifest: Mapping[str, Any]) -> pd.DataFrame:
    engines = {model["name"]: model["engine"] for model in manifest["models"]}
    rows = []
    for model, counts in manifest["counts"].items():
        if engines.get(model) in INSTRUMENTS or hardly_read(counts):
            continue
        # Manifests of earlier versions count by the outcome's code.
        correct = counts.get(Outcome.CORRECT, counts.get(Outcome.CORRECT.code))
        rows.append((model, correct, sum(counts.values()) - counts[Outcome.SKIPPED]))
    return pd.DataFrame(rows, columns=["model", "correct", "n"])


def board(table: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, Any]:
    """Returns the data of the page's table from `table`, the result of `models_by_task`: `tasks`
    with their `titles` (by name) and what is counted, and for each model a list of cells, a
    published and a regenerated one for each task, None where there is no number."""
    names = sorted(table["task"].unique())
    printed = _printed(names)
    tasks = []
    for task in names:
        counted = printed[task].counted if task in printed else ""
        tasks.append({"name": task, "title": titles[task], "counted": counted})
    cells = {tuple(row[:3]): row for row in table.itertuples(index=False)}
    columns = [(task["name"], source) for task in tasks for source in SOURCES]
    models = sorted(table["model"].unique(), key=str.lower)
    rows = {
        model: [cells.get((model, *column)) for column in columns] for model in models
    }
    return {"tasks": tasks, "models": rows}


def write_board(table: pd.DataFrame, shown: Mapping[str, Any], folder: Path) -> None:
    """Writes models.csv (a line for each number of `table`) and models.md (the page's table `shown`,
    the result of `board`) into `folder`."""
    write_whole(folder / "models.csv", table.round(2).to_csv(index=False))
    names = [
        f"{task['name']} {source}" for task in shown["tasks"] for source in SOURCES
    ]
    lines = [["model", *names], ["---", *("---:" for _ in names)]]
    for model, cells in shown["models"].items():
        lines.append([model, *(_in_words(cell) for cell in cells)])
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    write_whole(
        folder / "models.md",
        f"{text}\nIn %; Wilson's 95 %, as if answers were independent.\n",
    )


def _in_words(cell: Any) -> str:
    """Returns a row of `models_by_task` as accuracy, interval and number of answers; empty for
    None."""
    if cell is None:
        return ""
    return f"{cell.accuracy:.1f} [{cell.low:.1f}, {cell.high:.1f}] n={cell.n:,}"
