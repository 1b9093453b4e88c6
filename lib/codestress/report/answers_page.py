"""From a bar to its answers: a page beside each figure with some of the answers behind each of its bars and points.

Its cells are found by what the figure shows (`report/drawn.py`): the model and the factors' values that are named
beside a bar, and the share that it has. Where nothing in the figure leads to a cell, cells are the models' and
conditions'.
The page has no script, and all that a model wrote is escaped.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from codestress.inference.run import Answer, Results, stored_responses
from codestress.literals import printable
from codestress.paths import STORE
from codestress.report.drawn import Drawn
from codestress.report.notebook_page import page_environment, resource
from codestress.types import Outcome, Scalar

MOST_CELLS = 600
MOST_ANSWERS = 240
"""On one page; each cell has one at least, and `MOST_OF_A_CELL` at most."""
MOST_OF_A_CELL = 4
PROMPT_END, COMPLETION = 280, 420
"""Characters that are shown: a prompt's last, and of a completion the first third and the last two."""
MOST_NAMES = 24
"""Values of a factor of names: one with more tells questions apart, not conditions."""
TRIED = 200
"""Combinations of values that are looked at for one bar."""
Items = tuple[tuple[str, Scalar], ...]


class Cell(NamedTuple):
    """Answers that a bar, a point or a field of the figure counts."""

    name: str
    """Its anchor on the page."""
    told: str
    n: int
    correct: int
    rows: tuple[int, ...]
    """Of the results' answers."""

    def __str__(self) -> str:
        return f"{self.told}: {self.correct:,} of {self.n:,} correct"


Spots = list[tuple[tuple[float, float, float, float], Cell]]
"""Where cells stand in the picture."""


class Behind:
    """The answers of a figure by model and factors."""

    def __init__(self, results: Results, rule: str, spoken: Mapping[str, Mapping[Any, str]] | None = None) -> None:
        """`spoken`: what the figure calls the values of factors, where it is something else; of `model`, kinds of
        models."""
        answers, self.results, self.rule = results.answers, results, rule
        self.kinds = (spoken or {}).get("model", {})
        self.table = pd.DataFrame([{**answer.trial.factors, "model": answer.model} for answer in answers])
        if self.kinds:
            self.table["kind"] = self.table["model"].map(self.kinds)
        # The longest names first, so that none is found within another.
        self.models = sorted({answer.model for answer in answers}, key=lambda name: (-len(name), name))
        self.right = {
            name: np.array([answer.scores[name].outcome == Outcome.CORRECT for answer in answers])
            for name in answers[0].scores
        }
        self.rows = cache(self._rows)
        self._find_factors(spoken or {})

    def _find_factors(self, spoken: Mapping[str, Mapping[Any, str]]) -> None:
        """Those that vary, with their values in order, and with these as a figure may call them; what differs from
        answer to answer is none, nor what says the same as another in other words."""
        found: dict[str, list[Scalar]] = {}
        ways: dict[str, list[Mapping[Any, Any]]] = {}
        for name in self.table.columns.drop("model"):
            values = list(dict.fromkeys(self.table[name].dropna()))
            numbers = all(isinstance(one, int | float | np.number) for one in values)
            if not 1 < len(values) <= (MOST_CELLS if numbers else MOST_NAMES):
                continue
            pairs = (self.table[[one, name]].drop_duplicates() for one in found if len(found[one]) == len(values))
            if (same := next((those for those in pairs if len(those) == len(values)), None)) is not None:
                ways[same.columns[0]].append(dict(same.itertuples(index=False)))
            else:
                found[name] = sorted(values) if numbers else values
                ways[name] = [spoken.get(name, {})]
        self.factors = found
        self.called = {
            name: [tuple(way.get(value, value) for value in values) for way in ways[name]]
            for name, values in found.items()
        }

    def _rows(self, model: str, items: Items) -> NDArray[np.intp]:
        """Of a model's answers (of all without a name) those with these values."""
        wanted = [*items, *([("model", model)] if model else [])]
        known = [self.table[name].eq(value).to_numpy() for name, value in wanted]
        return np.flatnonzero(np.logical_and.reduce(known)) if known else np.arange(len(self.table))

    def cell(self, number: int, model: str, items: Items) -> Cell:
        rows = self.rows(model, items)
        parts = [model or "all models", *(f"{name.replace('_', ' ')} {value}" for name, value in items)]
        correct = int(self.right[self.rule][rows].sum())
        return Cell(f"c{number}", ", ".join(parts), len(rows), correct, tuple(map(int, rows)))

    def find(self, one: Drawn) -> tuple[str, Items] | None:
        """What a bar counts: the model and the values that stand beside it. Several readings of the words are told
        apart by the share that the bar shows; where they are not, it counts none for sure."""
        model = self._model(one.words)
        told = [picks for name in self.factors if (picks := self._told(name, one))]
        placed = one.value == one.value or any(sure == 2 for picks in told for *_, sure in picks)
        if model is None or not placed or math.prod(1 + len(picks) for picks in told) > TRIED:
            return None
        agreeing: list[tuple[int, Items]] = []
        for chosen in itertools.product(*([None, *picks] for picks in told)):
            picked = [pick for pick in chosen if pick is not None]
            items = tuple((name, value) for name, value, _ in picked)
            if self._shows(model, items, one.value):
                agreeing.append((sum(sure for *_, sure in picked), items))
        if not agreeing and all(len(picks) == 1 for picks in told) and sum(picks[0][2] == 1 for picks in told) <= 1:
            plain = tuple((name, value) for ((name, value, _),) in told)
            return (model, plain) if len(self.rows(model, plain)) else None
        best = max((score for score, _ in agreeing), default=0)
        likely = {tuple(self.rows(model, items)): items for score, items in reversed(agreeing) if score == best}
        return (model, next(iter(likely.values()))) if len(likely) == 1 else None

    def _model(self, words: str) -> str | None:
        found = [name for name in self.models if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", words)]
        if found:
            return found[0] if all(name in found[0] for name in found) else None
        if len(self.models) == 1 and "published" not in words.casefold():
            return self.models[0]
        return "" if any(kind in words for kind in ("mean over models", *self.kinds.values())) else None

    def _told(self, name: str, one: Drawn) -> list[tuple[str, Scalar, int]]:
        """The values of a factor that may be meant, each with how surely: 3 in words, 2 by its place, 1 by its rank."""
        values = self.factors[name]
        for words in self.called[name]:
            if worded := _worded(one.words, name, words) or {""} & {*words}:
                return [(name, value, 3) for value, word in zip(values, words, strict=True) if word in worded]
        if one.at != one.at:
            return []
        if any(isinstance(value, str | bool | np.bool_) for value in values):
            return []
        near = [value for value in values if abs(float(value or 0) - one.at) <= 0.16]
        if near and name in re.findall(r"\w+", one.words.casefold()):
            return [(name, near[0], 2)]
        rank, count = one.rank
        return [(name, values[rank], 1)] if count == len(values) else []

    def _shows(self, model: str, items: Items, value: float) -> bool:
        rows = self.rows(model, items)
        if not len(rows) or value != value:
            return bool(len(rows))
        shares = [right[rows].mean() for right in self.right.values()]
        return any(abs(scale * share - value) < 1e-4 for share in shares for scale in (100, 1))


@cache
def _worded(words: str, name: str, values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """The values that stand in the words; numbers only beside their factor's name."""
    plain = words.casefold().replace("_", " ").replace("−", "-")
    spoken = re.escape(name.replace("_", " "))
    found = []
    for value in values:
        text = re.escape(str(value).casefold().replace("_", " "))
        pattern = rf"(?<!\w){text}(?!\w)"
        if not isinstance(value, str):
            pattern = rf"(?<!\w){spoken}\W{{1,3}}{text}(?![\w.]*\d)|(?<![\w.-]){text} {spoken}(?!\w)"
        if text and re.search(pattern, plain):
            found.append(value)
    longest = [value for value in found if not any(value != other and str(value) in str(other) for other in found)]
    return tuple(longest)


def spots(behind: Behind, places: Sequence[Drawn]) -> Spots:
    """The bars and points whose cells are known; every cell has one number, however often it is drawn."""
    numbers: dict[tuple[int, ...], Cell] = {}
    found = []
    for one in places:
        if (what := behind.find(one)) is not None and len(numbers) < MOST_CELLS:
            rows = tuple(map(int, behind.rows(*what)))
            if rows not in numbers:
                numbers[rows] = behind.cell(len(numbers) + 1, *what)
            found.append((one.box, numbers[rows]))
    return found


def cells(behind: Behind, found: Spots) -> list[Cell]:
    """All that the page shows: what the figure leads to, then, of models that it leads not to, all conditions."""
    shown = list(dict.fromkeys(cell for _, cell in found))
    covered = {behind.results.answers[row].model for cell in shown for row in cell.rows}
    names: list[str] = []
    left = [model for model in reversed(behind.models) if model not in covered]
    for name, values in behind.factors.items():
        if len(left) * math.prod(len(behind.factors[one]) for one in names) * len(values) <= MOST_CELLS - len(shown):
            names.append(name)
    for model in left:
        for chosen in itertools.product(*(behind.factors[name] for name in names)):
            items: Items = tuple(zip(names, chosen, strict=True))
            if len(behind.rows(model, items)):
                shown.append(behind.cell(len(shown) + 1, model, items))
    return shown


def sample(cell: Cell, answers: Sequence[Answer], rule: str, most: int) -> list[Answer]:
    """Some of a cell's answers, one of each outcome first, those that are not correct before the others."""
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
    places: Sequence[Drawn],
    alt: str,
    spoken: Mapping[str, Mapping[Any, str]],
    store: Path = STORE,
) -> Spots:
    """Writes answers.html into the artefact's folder; returns what of the figure leads where."""
    found, shown = Spots(), list[Cell]()
    if results.answers:
        behind = Behind(results, rule, spoken)
        found = spots(behind, places)
        shown = cells(behind, found)
    most = max(1, min(MOST_OF_A_CELL, MOST_ANSWERS // max(1, len(shown))))
    samples = {cell.name: sample(cell, results.answers, rule, most) for cell in shown}
    texts = stored_responses({one.key for part in samples.values() for one in part if not one.error}, store)
    # What the environment holds under the names that rows of the registry give to keys.
    names = {str(entry.settings.get("key_env", "OPENAI_API_KEY")) for entry in results.models}
    hidden = [value for name in names if name and len(value := os.environ.get(name, "").strip()) >= 8]
    page = page_environment().from_string(resource("answers.html")).render(
        artefact=artefact,
        alt=alt,
        rule=rule,
        simulated=all(entry.simulated for entry in results.models),
        asked=len(results.answers),
        spots=found,
        cells=[(cell, [_shown(one, rule, results, texts, hidden) for one in samples[cell.name]]) for cell in shown],
        most=most,
        shares=lambda box: [f"{100 * one:.2f}%" for one in box],
        style=Markup(resource("page.css")),
    )  # fmt: skip
    (folder / "answers.html").write_text(page, encoding="utf-8", errors="backslashreplace")
    return found


def _shown(
    answer: Answer, rule: str, results: Results, texts: Mapping[str, Any], hidden: Sequence[str]
) -> dict[str, Any]:
    # Keys are taken out before anything is cut: half a key is one too.
    text = _plain(texts[answer.key].text if answer.key in texts else answer.error, hidden)
    asked = results.questions.of(answer.model).render(answer.trial).messages[-1].content if results.questions else ""
    prompt = _plain(asked, hidden)
    if len(text) > COMPLETION:
        text = f"{text[: COMPLETION // 3]} […] {text[-2 * COMPLETION // 3 :]}"
    score = answer.scores[rule]
    factors = [f"{name.replace('_', ' ')} {value}" for name, value in answer.trial.factors.items()]
    return {
        "told": _plain(", ".join([answer.trial.problem, *factors]), hidden),
        "prompt": ("[…] " if len(prompt) > PROMPT_END else "") + prompt[-PROMPT_END:],
        "text": text,
        "outcome": score.outcome.value,
        "read": _plain(score.detail, hidden)[:COMPLETION],
        "found": score.outcome in (Outcome.CORRECT, Outcome.INCORRECT),
        "rules": "; ".join(f"{name}: {one.outcome.value}" for name, one in answer.scores.items()),
        "ended": answer.finish_reason,
    }


def _plain(text: str, hidden: Sequence[str]) -> str:
    """Without the keys of this environment, control characters spelled out."""
    for key in hidden:
        text = text.replace(key, "[key]")
    return printable(text)
