"""Tables of Fault Localizability's answers, scored by the published labels and by the
changed lines, by quarter of the program.

The answers are of the run's models, of a file, or of the perfect localizer. This
instrument names the line that really changed.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from codestress.errors import DataError, ParameterError
from codestress.fitting.influence import Moved, share
from codestress.paths import shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.types import Response, Trial
from codestress.validation import check

from ..scoring import TOLERANCES
from ..studies import Localization, Relabel
from .localization import ORACLE, QUARTERS, shares, with_seed

READINGS = {
    "strict": ("label", "quarter"),
    "reference": ("label, ±2", "quarter"),
    "changed": ("changed line", "changed_quarter"),
    "changed_reference": ("changed line, ±2", "changed_quarter"),
}
"""Dict from a scoring rule to two texts: the line that counts as faulty, in words, and
the factor with the quarter of that line."""
CHANGED = {"strict": "changed", "reference": "changed_reference"}
"""Dict from the rule for the label to the rule for the changed line with the same
tolerance."""
FORM = (
    '{"id": "29/MisplacedReturn/1", "line": 2, "model": "my model"} (line may be null)'
)
"""Sample row of a file of answers, for messages about faulty rows."""


Row = dict[str, Any]
"""Row of a table under construction."""
Named = tuple[str, Trial, int | None]
"""Model, trial (about an unmutated task), and the line that the model names there (None
if it names none)."""


def judged(given: Localization, answers: Iterable[Named]) -> pd.DataFrame:
    """Return a table of `answers`, scored with every rule of `given`.

    Each answer has a row: model, problem, the trial's factors, and for each scoring
    rule the columns value_RULE and outcome_RULE.
    """
    rows = []
    for model, trial, line in answers:
        row: Row = {"model": model, "problem": trial.problem, **trial.factors}
        response = Response(json.dumps({"line_number": line}), "stop")
        for rule in given.rules:
            score = given.score(trial, response, rule)
            row[f"value_{rule}"] = score.value
            row[f"outcome_{rule}"] = score.outcome.value
        rows.append(row)
    return pd.DataFrame(rows)


def perfect_answers(given: Localization, trials: Iterable[Trial]) -> pd.DataFrame:
    """Return the answers of the perfect localizer to the unmutated trials in `trials`
    (made from `given`), as a table in the form of `judged`.

    The perfect localizer names the first line that differs from the correct program.
    The scoring rules compare that line with the label in use, as for any model. So a
    wrong answer means that the label is not the changed line, or that no line changed.
    """
    named = []
    for trial in trials:
        if trial.factors["spm"] == "none":
            named.append((ORACLE, trial, given.task(trial).changed))
    return judged(given, named)


class Answer(BaseModel, strict=True):
    """Row of a file of answers: id of a task, line that was named (pandas writes it as
    2.0), model."""

    id: str
    line: float | None = Field(multiple_of=1, allow_inf_nan=False)
    model: str | None = Field(None, pattern=r"^\P{C}{0,80}$")  # no control characters


def read_answers(path: Path, given: Relabel) -> pd.DataFrame:
    """Return the answers to the trials of `given` in the file `path`, scored, as a
    table in the form of `judged`.

    The file is JSON Lines of id (of a task), line (the line number in the answer, or
    null) and, for several models, model (default: the file's name). Raises `DataError`
    for a row of another form, an unknown task, a second answer of a model to a task, an
    answer under the perfect localizer's name, or an empty file.
    """
    # A file that cannot be read is refused before the tasks are made.
    rows = list(numbered_lines(path))
    known = {trial.problem: trial for trial in given.every_trial()}
    lines: dict[tuple[str, str], int | None] = {}
    for number, text in rows:
        try:
            row = check(Answer, parse_row(text), "row")
            place = (row.model or path.name, row.id)
            if row.id not in known:
                raise ValueError(
                    f"no task has the id {row.id!r}; they look like {min(known)!r}, and `problem` in "
                    "answers.parquet of the artefact, built without a file of answers, has them all"
                )
            # The perfect localizer has answered every task.
            if place in lines or row.model == ORACLE:
                raise ValueError(
                    f"a second answer of {place[0]} to {row.id}; give one of each model"
                )
        except (ValueError, ParameterError) as error:
            raise DataError(
                f"{shown(path)}, line {number}: {error}; a row looks like {FORM}"
            ) from None
        lines[place] = None if row.line is None else int(row.line)
    if not lines:
        raise DataError(f"{shown(path)}: has no answers; give rows like {FORM}")
    named = [(model, known[task], line) for (model, task), line in lines.items()]
    return judged(given, named)


def by_quarter(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return accuracy by model, rule and quarter of the line that counts as faulty (the
    labelled or the changed line).

    `answers` is a table in the form of `judged`. Columns: model, rule, reading (the
    rule in words), quarter (1 to 4), cell (selects these answers), tasks, found,
    accuracy, low, high (0 to 1; Wilson at level `confidence`, programs as clusters).
    Tasks without a changed line are left out.
    """
    placed = answers.dropna(subset="changed_quarter").assign(counts=True)
    tables = []
    for _, own in placed.groupby("model", sort=False):
        for rule, (reading, place) in READINGS.items():
            table = shares(own, ["model", place], rule, confidence).sort_values(place)
            table["quarter"] = table[place].astype(int)
            tables.append(table.assign(rule=rule, reading=reading))
    columns = ["model", "rule", "reading", "quarter", "cell", "tasks", "found"]
    return pd.concat(tables)[[*columns, "accuracy", "low", "high"]]


def quarter_dots(table: pd.DataFrame) -> pd.DataFrame:
    """Return dots for `share_dots` from `table`, made by `by_quarter`, with a panel for
    each reading.

    Added columns: label (the quarter in words), condition (the model) and n (tasks).
    """
    dots = table.rename(columns={"reading": "panel", "model": "condition"})
    return dots.assign(label=dots["quarter"].map(QUARTERS), n=dots["tasks"])


def position_effects(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the fall of accuracy from the first quarter of programs to the last, by
    labels and by changed lines.

    There is a row for each model and tolerance. `answers` is a table as for
    `by_quarter`; tasks without a changed line are left out. Columns: model, tolerance
    (lines), answers, programs; fall, low, high (by the labels, a difference of shares);
    fall_changed, changed_low, changed_high (by the changed lines); by_labels,
    by_labels_low, by_labels_high (difference of both falls); verdict (whether the fall
    survives under the changed lines). All intervals are over programs, at level
    `confidence`.
    """
    placed = with_seed(answers.dropna(subset="changed_quarter"))
    rows = []
    for model, part in placed.set_index("seed_program").groupby("model", sort=False):
        programs = part.index.nunique()
        for rule, other in CHANGED.items():
            label = _fall(part, rule)
            changed = _fall(part, other)
            numbers = [model, TOLERANCES[rule], len(part), programs]
            for fall in (label, changed, label - changed):
                numbers += [fall.value, *fall.interval(programs, confidence)]
            rows.append(numbers)
    table = pd.DataFrame(rows, columns=EFFECT)
    return table.assign(verdict=table.apply(_verdict, axis=1))


EFFECT = ["model", "tolerance", "answers", "programs", "fall", "low", "high"]
EFFECT += ["fall_changed", "changed_low", "changed_high"]
EFFECT += ["by_labels", "by_labels_low", "by_labels_high"]
"""Columns of a position effect, before its verdict."""


def _fall(answers: pd.DataFrame, rule: str) -> Moved:
    """Return the accuracy in the first quarter of programs minus that in the last, by
    the scoring rule `rule`.

    The quarter is that of the line that counts as faulty under the rule.
    """
    _, place = READINGS[rule]
    value = answers[f"value_{rule}"]
    return share(value[answers[place] == 1]) - share(value[answers[place] == 4])


def _verdict(row: pd.Series) -> str:
    """Return, in words, whether the fall survives under the changed lines.

    The result is: not known, no fall under the labels, survives, does not survive, or
    not decided. `row` has the falls by the labels and by the changed lines, with their
    ends. The fall does not survive if the high end under the changed lines is below
    half of the labels' fall, which is the ledger's margin.
    """
    if math.isnan(row["fall"]):
        return "not known: a quarter has no tasks"
    if row["low"] <= 0:
        return "no fall is shown under the labels"
    if row["changed_low"] > 0:
        return "survives"
    gone = row["changed_high"] < row["fall"] / 2
    return "does not survive" if gone else "not decided"
