"""The page of answers beside each figure: some of the answers behind each of its bars
and points.

Charts name the cell (group of answers) of each mark (`report/marks.py`). A model whose
answers no mark counts gets a cell with all its answers. The page has no script, and all
model text is escaped.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from codestress.inference.results import Results
from codestress.inference.store import stored_responses
from codestress.paths import STORE
from codestress.types import Outcome

from .marks import Box, Factors
from .notebook_page import render
from .published import provenance

MOST_CELLS = 600
MOST_ANSWERS = 240
"""Maximum number of answers on one page, unless the page has more cells. Each cell
shows at least one answer, and at most `MOST_OF_A_CELL`."""
MOST_OF_A_CELL = 4
PROMPT_END, COMPLETION = 280, 420
"""Numbers of characters shown: of a long prompt the last `PROMPT_END`; of a long
completion the first third and the last two thirds of `COMPLETION`."""


class Cell(NamedTuple):
    """A group of answers: those that a bar, a point or a field of the figure counts."""

    name: str
    """Anchor of the cell on the page."""
    label: str
    n: int
    correct: int
    rows: tuple[int, ...]
    """Index labels of the answers in the results' table of answers."""

    def __str__(self) -> str:
        if not self.n:
            return self.label
        return f"{self.label}: {self.correct:,} of {self.n:,} correct"


class Cells:
    """The cells (groups of answers) of a page, numbered in the order in which `find`
    first returned them."""

    def __init__(self, answers: pd.DataFrame, results: Results, rule: str) -> None:
        """Make an empty set of cells.

        `answers` are rows of `results.answers`, with their index; `rule` is the scoring
        rule by which answers are correct.
        """
        self.answers = answers
        self.outcomes = results.column(f"outcome_{rule}")
        self.by_rows: dict[tuple[int, ...], Cell] = {}
        self.rows = cache(self._rows)
        self.varies = cache(lambda name: answers[name].nunique() > 1)

    def find(self, factors: Factors) -> Cell | None:
        """Return the cell of the answers that have the values in `factors`, a dict from
        column to value. A new cell is added to the set.

        None if no answer has the values, or if the page is full.
        """
        rows = self.rows(tuple(factors)).get(tuple(factors.values()), ())
        if rows and rows not in self.by_rows and len(self.by_rows) < MOST_CELLS:
            correct = int((self.outcomes[[*rows]] == Outcome.CORRECT).sum())
            name = f"c{len(self.by_rows) + 1}"
            cell = Cell(name, self._words(factors), len(rows), correct, rows)
            self.by_rows[rows] = cell
        return self.by_rows.get(rows)

    def _rows(self, names: tuple[Any, ...]) -> dict[Any, tuple[int, ...]]:
        """Return a dict from each combination of values in the columns `names` to the
        row numbers of the answers with these values."""
        groups = self.answers.groupby([*names], sort=False)
        return {values: tuple(part.index) for values, part in groups}

    def _words(self, factors: Factors) -> str:
        parts = [str(factors.get("model", "all models"))]
        for name, value in factors.items():
            if name != "model" and self.varies(name):
                parts.append(f"{str(name).replace('_', ' ')} {value}")
        return ", ".join(parts)


def sample(cell: Cell, outcomes: pd.Series, most: int) -> list[int]:
    """Return the rows of at most `most` answers of `cell`, chosen to show as many
    outcomes as possible.

    The order is one answer of each outcome, then a second answer of each, and so on. In
    each round, incorrect answers come before correct answers. `outcomes` has the
    outcome of every answer.
    """
    own = outcomes[[*cell.rows]]
    seen = own.groupby(own).cumcount()
    order = sorted(zip(seen, own == Outcome.CORRECT, cell.rows, strict=True))
    return [row for _, _, row in order[:most]]


def write_answers(
    folder: Path,
    artefact: str,
    results: Results,
    rule: str,
    marks: Sequence[tuple[Box, Factors]],
    alt: str,
    answers: pd.DataFrame | None = None,
    store: Path = STORE,
) -> list[tuple[Box, Cell]]:
    """Write answers.html and spots.json into the artefact's `folder`, and links into the figure.svg there; return the
    places that open something.

    `marks` are places of the figure, each with a dict from columns of `answers` to values. `answers` is a table like
    `results.answers` (None: `results.answers`). The places that have answers or a published number are returned, each
    with the cell (group of answers) that a click opens. A model whose answers no mark counts gets a cell of its own.
    `rule` is the scoring rule, `alt` describes the figure, and `store` has the texts. API keys in texts are blanked.
    """
    source = provenance(artefact) or "the paper"
    published = Cell("published", f"published number, from: {source}", 0, 0, ())
    spots = [(box, published) for box, factors in marks if not factors]
    if answers is None:
        answers = results.answers
    cells = Cells(answers, results, rule)
    if len(results.answers):
        spots += _opened(cells, marks)
    page = render(
        "answers.html",
        artefact=artefact,
        label=os.environ.get("CODESTRESS_LABEL", artefact),
        alt=alt,
        rule=rule,
        source=source,
        spots=spots,
        **_shown(cells, results, store),
    )
    (folder / "answers.html").write_text(page, "utf-8", "backslashreplace")
    _write_spots(folder, spots)
    return spots


def _write_spots(folder: Path, spots: Sequence[tuple[Box, Cell]]) -> None:
    """Write `spots` into spots.json of `folder`, in thousandths of the picture's width
    and height, and as links over the figure.svg there."""
    places = []
    for box, cell in spots:
        sides = [round(1000 * side) for side in box]
        places.append([*sides, cell.name, str(cell)])
    text = json.dumps(places, separators=(",", ":"))
    (folder / "spots.json").write_text(f"{text}\n", "utf-8")
    figure = folder / "figure.svg"
    drawing = figure.read_text("utf-8").removesuffix("</svg>\n")
    links = render("links.html", places=places)
    figure.write_text(f"{drawing}{links}\n", "utf-8")


def _opened(
    cells: Cells, marks: Sequence[tuple[Box, Factors]]
) -> list[tuple[Box, Cell]]:
    """Add the cells of `marks` and of models whose answers no mark counts. Return the
    places of `marks` that have answers, each with its cell."""
    spots = []
    for box, factors in marks:
        if factors and (cell := cells.find(factors)):
            spots.append((box, cell))
    models = cells.answers["model"]
    counted = set[int]().union(*cells.by_rows)
    known = set(models.loc[[*counted]])
    for model in models.unique():
        if model not in known:
            cells.find({"model": model})
    return spots


def _shown(cells: Cells, results: Results, store: Path) -> dict[str, Any]:
    """Return the content of the page about the answers: facts on all answers, and a
    sample of each cell."""
    most = max(1, min(MOST_OF_A_CELL, MOST_ANSWERS // max(1, len(cells.by_rows))))
    samples = {}
    keys = set[str]()
    for cell in cells.by_rows.values():
        rows = results.answers.loc[sample(cell, cells.outcomes, most)]
        samples[cell] = rows.to_dict("records")
        for answer in samples[cell]:
            if not answer["error"]:
                keys.update((answer["key"], *answer["earlier"]))
    texts = stored_responses(keys, store)
    plain = _without_keys(results)
    views = {}
    for cell, rows in samples.items():
        views[cell] = [_view(row, results, texts, plain) for row in rows]
    return {
        "cells": views.items(),
        "plain": plain,
        "longest": COMPLETION,
        "most": most,
        "asked": len(results.answers),
        "simulated": all(entry.simulated for entry in results.models),
    }


def _without_keys(results: Results) -> Callable[[str], str]:
    """Return a function that replaces the models' API keys in a text by `[key]`.

    The keys are the values of the environment variables that the models' registry rows
    name.
    """
    keys = []
    for entry in results.models:
        name = str(entry.settings.get("key_env", "OPENAI_API_KEY"))
        key = os.environ.get(name, "").strip()
        if len(key) >= 8:
            keys.append(key)

    def plain(text: str) -> str:
        for key in keys:
            text = text.replace(key, "[key]")
        return text

    return plain


def _view(
    answer: dict[str, Any],
    results: Results,
    texts: Mapping[str, Any],
    plain: Callable[[str], str],
) -> dict[str, Any]:
    """Return the content of the page about one answer, without keys (`plain`)."""
    # Blank keys before texts are cut: half a key would not be recognised.
    key = answer["key"]
    text = plain(texts[key].text if key in texts else answer["error"])
    if len(text) > COMPLETION:
        text = f"{text[: COMPLETION // 3]} […] {text[-2 * COMPLETION // 3 :]}"
    message = results.prompt_of(answer, texts).messages[-1]
    prompt = plain(message.content)
    if len(prompt) > PROMPT_END:
        prompt = f"[…] {prompt[-PROMPT_END:]}"
    return {
        "prompt": prompt,
        "text": text,
        "answer": answer,
        "trial": results.trial_of(answer),
    }
