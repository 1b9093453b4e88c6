"""The page of answers beside each figure: some of the answers behind each of its bars and points.

Charts name the cell of each mark (`report/marks.py`). Models that no mark counts get cells too, one
for each of their conditions. The page has no script, and all model text is escaped.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from codestress.inference.results import Answer, Results, last_prompt
from codestress.inference.store import stored_responses
from codestress.literals import printable
from codestress.paths import STORE
from codestress.report.marks import Box, Factors
from codestress.report.notebook_page import page_environment, resource
from codestress.report.published import provenance
from codestress.types import Outcome

MOST_CELLS = 600
MOST_ANSWERS = 240
"""Maximum number of answers on one page; each cell shows at least one answer, and at most
`MOST_OF_A_CELL`."""
MOST_OF_A_CELL = 4
PROMPT_END, COMPLETION = 280, 420
"""Characters shown: the end of a prompt; of a completion, the first third and the last two thirds
of the limit."""
MOST_NAMES = 24
"""Maximum number of different texts of a factor that makes conditions: a factor with more values
distinguishes questions, not conditions."""


class Cell(NamedTuple):
    """The answers that a bar, a point or a field of the figure counts."""

    name: str
    """Anchor of the cell on the page."""
    told: str
    n: int
    correct: int
    rows: tuple[int, ...]
    """Indices into the results' answers."""

    def __str__(self) -> str:
        if not self.n:
            return self.told
        return f"{self.told}: {self.correct:,} of {self.n:,} correct"


class Cells:
    """The cells (groups of answers) of a page: `find` adds a cell once, and numbers cells in the
    order in which they were requested."""

    def __init__(self, answers: pd.DataFrame, results: Results, rule: str) -> None:
        """Makes an empty set of cells for a page. `answers`: rows of `answers_frame(results)`, with
        their index; `rule`: the scoring rule by which answers are correct."""
        self.answers, self.results, self.rule = answers, results, rule
        self.by_rows: dict[tuple[int, ...], Cell] = {}
        self.rows = cache(self._rows)
        self.varies = cache(lambda name: answers[name].nunique() > 1)

    def find(self, factors: Factors) -> Cell | None:
        """Returns the cell of the answers that have the values `factors` (a value by column), and
        adds it to the set where it is new; None where no answer has them, or the page is full."""
        rows = tuple(self.rows(tuple(factors)).get(tuple(factors.values()), ()))
        if rows and rows not in self.by_rows and len(self.by_rows) < MOST_CELLS:
            correct = sum(
                self.results.answers[row].scores[self.rule].outcome == Outcome.CORRECT
                for row in rows
            )
            name = f"c{len(self.by_rows) + 1}"
            self.by_rows[rows] = Cell(
                name, self._told(factors), len(rows), correct, rows
            )
        return self.by_rows.get(rows)

    def _rows(self, names: tuple[Any, ...]) -> dict[tuple[Any, ...], list[int]]:
        """Returns, for each combination of values in the columns `names` of the answers, the row
        numbers of the answers that have it."""
        rows = defaultdict(list)
        values = self.answers[list(names)].itertuples(index=False, name=None)
        for row, key in zip(self.answers.index, values, strict=True):
            rows[key].append(int(row))
        return rows

    def _told(self, factors: Factors) -> str:
        parts = [str(factors.get("model", "all models"))]
        for name, value in factors.items():
            if name != "model" and self.varies(name):
                parts.append(f"{str(name).replace('_', ' ')} {value}")
        return ", ".join(parts)

    def add_conditions(self, models: Iterable[str]) -> None:
        """Adds cells for the answers of `models`: one for each combination of model and values of
        the trials' factors. A factor that has too many values for the page's room is passed
        over."""
        answers = self.answers[self.answers["model"].isin(list(models))]
        factors = {
            name: None
            for answer in self.results.answers
            for name in answer.trial.factors
        }
        names, count = ["model"], answers["model"].nunique()
        for name in factors:
            words = answers[name].map(lambda value: isinstance(value, str)).any()
            wider = answers.groupby([*names, name]).ngroups
            if words and answers[name].nunique() > MOST_NAMES:
                continue
            if count < wider <= MOST_CELLS - len(self.by_rows):
                names, count = [*names, name], wider
        for condition in answers[names].drop_duplicates().to_dict("records"):
            self.find(condition)


def sample(cell: Cell, answers: Sequence[Answer], rule: str, most: int) -> list[Answer]:
    """Returns at most `most` answers of `cell` among `answers`: first one of each outcome under the
    scoring rule `rule`, then a second one of each, …; incorrect ones before correct ones."""
    seen: Counter[str] = Counter()
    order = []
    for row in cell.rows:
        outcome = answers[row].scores[rule].outcome
        order.append((seen[outcome], outcome == Outcome.CORRECT, row))
        seen[outcome] += 1
    return [answers[row] for *_, row in sorted(order)[:most]]


def write_answers(
    folder: Path,
    artefact: str,
    results: Results,
    rule: str,
    marks: Sequence[tuple[Box, Factors]],
    alt: str,
    answers: pd.DataFrame,
    store: Path = STORE,
) -> list[tuple[Box, Cell]]:
    """Writes answers.html into the artefact's `folder`; returns those places of `marks` that have
    answers or a published number, each with the cell (group of answers) that it opens.

    `marks` are places of the figure, each with values by column of `answers`, a table like
    `answers_frame(results)`. A model that no mark counts gets a cell for each of its conditions.
    `rule` is the scoring rule, `alt` describes the figure, `store` has the texts; API keys in texts
    are blanked.
    """
    source = provenance(artefact) or "the paper"
    published = Cell("published", f"published number, from: {source}", 0, 0, ())
    spots = [(box, published) for box, factors in marks if not factors]
    shown = list[Cell]()
    if results.answers:
        cells = Cells(answers, results, rule)
        for box, factors in marks:
            if factors and (cell := cells.find(factors)):
                spots.append((box, cell))
        opened = {results.answers[row].model for rows in cells.by_rows for row in rows}
        cells.add_conditions({answer.model for answer in results.answers} - opened)
        shown = list(cells.by_rows.values())
    most = max(1, min(MOST_OF_A_CELL, MOST_ANSWERS // max(1, len(shown))))
    samples = {cell.name: sample(cell, results.answers, rule, most) for cell in shown}
    sampled = itertools.chain(*samples.values())
    answered = [answer for answer in sampled if not answer.error]
    keys = {key for answer in answered for key in (answer.key, *answer.earlier)}
    texts = stored_responses(keys, store)
    # Values in the environment under the names that rows of the registry give to keys.
    names = {
        str(entry.settings.get("key_env", "OPENAI_API_KEY")) for entry in results.models
    }
    secrets = [os.environ.get(name, "").strip() for name in names if name]
    hidden = [secret for secret in secrets if len(secret) >= 8]

    def view(answer: Answer) -> dict[str, Any]:
        return _shown(answer, rule, results, texts, hidden)

    page = page_environment().from_string(resource("answers.html")).render(
        artefact=artefact,
        alt=alt,
        rule=rule,
        simulated=all(entry.simulated for entry in results.models),
        asked=len(results.answers),
        source=source,
        published=any(cell is published for _, cell in spots),
        spots=spots,
        cells=[(cell, [view(answer) for answer in samples[cell.name]]) for cell in shown],
        most=most,
        shares=lambda box: [f"{100 * one:.2f}%" for one in box],
        style=Markup(resource("page.css")),
    )  # fmt: skip
    (folder / "answers.html").write_text(
        page, encoding="utf-8", errors="backslashreplace"
    )
    return spots


def _shown(
    answer: Answer,
    rule: str,
    results: Results,
    texts: Mapping[str, Any],
    hidden: Sequence[str],
) -> dict[str, Any]:
    # Keys are taken out before anything is cut: half a key is one too.
    text = _plain(
        texts[answer.key].text if answer.key in texts else answer.error, hidden
    )
    asked = last_prompt(results.questions, answer, texts) if results.questions else None
    prompt = _plain(asked.messages[-1].content if asked else "", hidden)
    if len(text) > COMPLETION:
        text = f"{text[: COMPLETION // 3]} […] {text[-2 * COMPLETION // 3 :]}"
    score, trial = answer.scores[rule], answer.trial
    factors = [
        f"{name.replace('_', ' ')} {value}" for name, value in trial.factors.items()
    ]
    return {
        "told": _plain(", ".join([trial.problem, *factors]), hidden),
        "prompt": ("[…] " if len(prompt) > PROMPT_END else "") + prompt[-PROMPT_END:],
        "text": text,
        "read": _plain(score.detail, hidden)[:COMPLETION],
        "outcome": score.outcome.value,
        "answer": answer,
    }


def _plain(text: str, hidden: Sequence[str]) -> str:
    """Returns `text` with the API keys `hidden` replaced by `[key]` and its control characters
    spelled out."""
    for key in hidden:
        text = text.replace(key, "[key]")
    return printable(text)
