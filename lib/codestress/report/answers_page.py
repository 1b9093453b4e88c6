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
from dataclasses import dataclass, field
from functools import cache, cached_property
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
MOST_FACTORS = 6
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


class Spot(NamedTuple):
    """Where a cell stands in the picture."""

    box: tuple[float, float, float, float]
    cell: Cell


@dataclass
class Behind:
    """The answers of a figure by model and factors."""

    results: Results
    rule: str
    spoken: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """What the figure calls the values of factors, where it is something else; of `model`, kinds of models."""
    others: dict[str, list[dict[Scalar, Scalar]]] = field(default_factory=dict)
    """Of `factors`: the values of others that say the same."""
    groups: dict[tuple[str, Items], NDArray[np.intp]] = field(default_factory=dict)

    @cached_property
    def table(self) -> pd.DataFrame:
        answers = self.results.answers
        table = pd.DataFrame([{**answer.trial.factors, "model": answer.model} for answer in answers])
        return table.assign(kind=table["model"].map(self.spoken["model"])) if "model" in self.spoken else table

    @cached_property
    def models(self) -> list[str]:
        """The longest names first, so that none is found within another."""
        return sorted({answer.model for answer in self.results.answers}, key=lambda name: (-len(name), name))

    @cached_property
    def factors(self) -> dict[str, list[Scalar]]:
        """Those that vary, with their values in order; what differs from answer to answer is none."""
        found: dict[str, list[Scalar]] = {}
        for name in self.table.columns.drop("model"):
            values = list(dict.fromkeys(self.table[name].dropna()))
            numbers = all(isinstance(one, int | float | np.number) for one in values)
            if not 1 < len(values) <= (MOST_CELLS if numbers else MOST_NAMES):
                continue
            for same in (one for one in found if len(found[one]) == len(values)):
                pairs = self.table[[same, name]].drop_duplicates()
                if len(pairs) == len(values):  # the same in other words
                    self.others.setdefault(same, []).append(dict(zip(pairs[same], pairs[name], strict=True)))
                    break
            else:
                found[str(name)] = sorted(values) if numbers else values
        fewest = sorted(found, key=lambda name: len(found[name]))[:MOST_FACTORS]
        return {name: found[name] for name in found if name in fewest}

    @cached_property
    def called(self) -> dict[str, list[tuple[Scalar, ...]]]:
        """The values of each factor as a figure may call them."""
        ways = {name: (self.spoken.get(name, {}), *self.others.get(name, ())) for name in self.factors}
        return {
            name: [tuple(way.get(value, value) for value in self.factors[name]) for way in those]
            for name, those in ways.items()
        }

    @cached_property
    def right(self) -> dict[str, NDArray[np.bool_]]:
        """By rule: which answers are correct."""
        answers = self.results.answers
        return {
            rule: np.array([answer.scores[rule].outcome == Outcome.CORRECT for answer in answers])
            for rule in (answers[0].scores if answers else ())
        }

    def rows(self, model: str, items: Items) -> NDArray[np.intp]:
        """Of a model's answers (of all without a name) those with these values."""
        if (model, items) not in self.groups:
            known = self.table["model"].eq(model).to_numpy() if model else np.ones(len(self.table), bool)
            for name, value in items:
                known = known & self.table[name].eq(value).to_numpy()
            self.groups[model, items] = np.flatnonzero(known)
        return self.groups[model, items]

    def cell(self, number: int, model: str, items: Items) -> Cell:
        rows = self.rows(model, items)
        parts = [model or "all models", *(f"{name.replace('_', ' ')} {value}" for name, value in items)]
        correct = int(self.right[self.rule][rows].sum())
        return Cell(f"c{number}", ", ".join(parts), len(rows), correct, tuple(map(int, rows)))

    def find(self, one: Drawn) -> tuple[str, Items] | None:
        """What a bar counts: the model and the values that stand beside it. Several readings of the words are told
        apart by the share that the bar shows; where they are not, it counts none for sure."""
        model = self._model(one.words)
        if model is None:
            return None
        told = {name: values for name in self.factors if (values := self._told(name, one))}
        if one.value != one.value and not any(pick == 2 for values in told.values() for _, pick in values):
            return None
        if math.prod(1 + len(values) for values in told.values()) > TRIED:
            return None
        agreeing: list[tuple[int, Items]] = []
        for chosen in itertools.product(*([None, *((name, *pick) for pick in told[name])] for name in told)):
            picked = [pick for pick in chosen if pick is not None]
            items = tuple((name, value) for name, value, _ in picked)
            if self._shows(model, items, one.value):
                agreeing.append((sum(sure for *_, sure in picked), items))
        if not agreeing and all(len(values) == 1 for values in told.values()):
            plain: Items = tuple((name, values[0][0]) for name, values in told.items())
            ranked = sum(values[0][1] == 1 for values in told.values())
            return (model, plain) if ranked <= 1 and len(self.rows(model, plain)) else None
        if not agreeing:
            return None
        best = max(score for score, _ in agreeing)
        likely = [items for score, items in agreeing if score == best]
        return (model, likely[0]) if len({tuple(self.rows(model, items)) for items in likely}) == 1 else None

    def _model(self, words: str) -> str | None:
        found = [name for name in self.models if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", words)]
        if found:
            return found[0] if all(name in found[0] for name in found) else None
        if len(self.models) == 1 and "published" not in words.casefold():
            return self.models[0]
        kinds = {"mean over models", *self.spoken.get("model", {}).values()}
        return "" if any(kind in words for kind in kinds) else None

    def _told(self, name: str, one: Drawn) -> list[tuple[Scalar, int]]:
        """The values of a factor that may be meant, each with how surely: 3 in words, 2 by its place, 1 by its rank."""
        values = self.factors[name]
        for words in self.called[name]:
            if worded := _worded(one.words, name, words):
                return [(value, 3) for value, word in zip(values, words, strict=True) if word in worded]
            if "" in words:
                return [(values[words.index("")], 3)]
        if one.at == one.at:
            if any(isinstance(value, str | bool | np.bool_) for value in values):
                return []
            near = [value for value in values if abs(float(value or 0) - one.at) <= 0.16]
            if near and name in re.findall(r"\w+", one.words.casefold()):
                return [(near[0], 2)]
            rank, count = one.rank
            if count == len(values):
                return [(values[rank], 1)]
        return []

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


def spots(behind: Behind, places: Sequence[Drawn]) -> list[Spot]:
    """The bars and points whose cells are known; every cell has one number, however often it is drawn."""
    numbers: dict[tuple[int, ...], Cell] = {}
    found = []
    for one in places:
        if (what := behind.find(one)) is not None and len(numbers) < MOST_CELLS:
            rows = tuple(map(int, behind.rows(*what)))
            if rows not in numbers:
                numbers[rows] = behind.cell(len(numbers) + 1, *what)
            found.append(Spot(one.box, numbers[rows]))
    return found


def cells(behind: Behind, found: Sequence[Spot]) -> list[Cell]:
    """All that the page shows: what the figure leads to, then, of models that it leads not to, all conditions."""
    shown = list({spot.cell.name: spot.cell for spot in found}.values())
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
) -> list[Spot]:
    """Writes answers.html into the artefact's folder; returns what of the figure leads where."""
    behind = Behind(results, rule, spoken)
    found = spots(behind, places) if results.answers else []
    shown = cells(behind, found) if results.answers else []
    most = max(1, min(MOST_OF_A_CELL, MOST_ANSWERS // max(1, len(shown))))
    samples = {cell.name: sample(cell, results.answers, rule, most) for cell in shown}
    texts = stored_responses({one.key for part in samples.values() for one in part if not one.error}, store)
    hidden = _keys(results)
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
    prompt = results.questions.of(answer.model).render(answer.trial).messages[-1].content if results.questions else ""
    if len(text) > COMPLETION:
        text = f"{text[: COMPLETION // 3]} […] {text[-2 * COMPLETION // 3 :]}"
    score = answer.scores[rule]
    factors = [f"{name.replace('_', ' ')} {value}" for name, value in answer.trial.factors.items()]
    return {
        "told": _plain(", ".join([answer.trial.problem, *factors]), hidden),
        "prompt": _plain(("[…] " if len(prompt) > PROMPT_END else "") + prompt[-PROMPT_END:], hidden),
        "text": text,
        "outcome": score.outcome.value,
        "read": _plain(score.detail, hidden)[:COMPLETION],
        "found": score.outcome in (Outcome.CORRECT, Outcome.INCORRECT),
        "rules": "; ".join(f"{name}: {one.outcome.value}" for name, one in answer.scores.items()),
        "ended": answer.finish_reason,
        "key": answer.key,
    }


def _plain(text: str, hidden: Sequence[str]) -> str:
    """Without the keys of this environment, control characters spelled out."""
    for key in hidden:
        text = text.replace(key, "[key]")
    return printable(text)


def _keys(results: Results) -> list[str]:
    """What the environment holds under the names that rows of the registry give to keys."""
    names = {str(entry.settings.get("key_env", "OPENAI_API_KEY")) for entry in results.models}
    return [value for name in names if name and len(value := os.environ.get(name, "").strip()) >= 8]
