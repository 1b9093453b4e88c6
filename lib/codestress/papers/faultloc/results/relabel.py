"""Tables of Fault Localizability's answers, scored by the published labels and by the changed
lines, by quarter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from codestress.errors import DataError
from codestress.fitting.influence import Moved, share
from codestress.fitting.proportions import clustered_share
from codestress.papers.faultloc.results.localization import ORACLE, with_seed
from codestress.papers.faultloc.scoring import TOLERANCES
from codestress.papers.faultloc.studies import Relabel, all_tasks
from codestress.paths import shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.types import Response

READINGS = {
    "strict": ("label", "quarter"),
    "reference": ("label, ±2", "quarter"),
    "changed": ("changed line", "changed_quarter"),
    "changed_reference": ("changed line, ±2", "changed_quarter"),
}
"""Readings by scoring rule: the line that counts as faulty, in words, and the factor with the
quarter of that line."""
CHANGED = {"strict": "changed", "reference": "changed_reference"}
"""Rule for the changed line, by the rule for the label with the same tolerance."""
Answers = dict[str, dict[str, Response]]
"""Responses by model and then by task id."""
FORM = '{"id": "29/MisplacedReturn/1", "line": 2, "model": "my model"}'


def read_answers(path: Path, given: Relabel) -> Answers:
    """Returns the answers to the trials of `given` in the file `path`, JSON Lines of id (of a
    task), line (the number answered, or null) and, for several models, model (default: the file's
    name), by model and then by task.

    Raises `DataError` for a row of another form, an unknown task, a second answer of a model to a
    task, or an empty file.
    """
    known = {trial.problem for trial in given.every_trial()}
    answers: Answers = {}
    for number, line in numbered_lines(path):
        where = f"{shown(path)}, line {number}"
        try:
            task, answered, model = _fields(line, path.name)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(
                f"{where}: is not a row of this form (line may be null): {FORM}"
            ) from None
        if task not in known:
            raise DataError(
                f"{where}: no task has the id {task!r}; they look like {min(known)!r}, and the artefact's tasks.csv, "
                "built without a file of answers, lists them all"
            )
        of_model = answers.setdefault(model, {})
        if task in of_model:
            raise DataError(
                f"{where}: a second answer of {model} to {task}; give one answer of a model to a task"
            )
        of_model[task] = Response(json.dumps({"line_number": answered}), "stop")
    if not answers:
        raise DataError(
            f"{shown(path)}: has no answers; give rows of this form: {FORM}"
        )
    return answers


def _fields(line: str, name: str) -> tuple[str, int | None, str]:
    """Returns the task, the answered line and the model (default: `name`) in the row `line` of a
    file of answers; raises `TypeError` or another error for a row of another form."""
    row = parse_row(line)
    task, answered, model = row["id"], row["line"], row.get("model", name)
    right = isinstance(task, str) and isinstance(model, str)
    if not right or isinstance(answered, bool) or not isinstance(answered, int | None):
        raise TypeError
    return task, answered, model


def judged(given: Relabel, answers: Answers) -> pd.DataFrame:
    """Returns a table of the answers in `answers` (by `read_answers`), scored by every rule of
    `given`, a row for each model and task: model, problem, the trial's factors, and for each rule
    the columns value_RULE and outcome_RULE."""
    by_task = {trial.problem: trial for trial in given.every_trial()}
    rows = []
    for model, of_tasks in answers.items():
        for task, response in of_tasks.items():
            trial = by_task[task]
            row: dict[str, Any] = {"model": model, "problem": task, **trial.factors}
            for rule in given.rules:
                score = given.score(trial, response, rule)
                row |= {
                    f"value_{rule}": score.value,
                    f"outcome_{rule}": score.outcome.value,
                }
            rows.append(row)
    return pd.DataFrame(rows)


def task_table(given: Relabel) -> pd.DataFrame:
    """Returns a row for each task of the sources in `given`: id, fault (its kind), lines (of its
    program), label (the faulty line's number), changed (first line that differs from the correct
    program; missing if none does)."""
    rows = [
        (task.id, task.kind, task.program.lines, task.program.line, task.changed)
        for tasks in all_tasks(given).values()
        for task in tasks.values()
    ]
    table = pd.DataFrame(rows, columns=["id", "fault", "lines", "label", "changed"])
    return table.astype({"changed": "Int64"})


def by_quarter(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns accuracy by model, rule and quarter of the line that counts as faulty (the labelled
    or the changed one), from `answers`, a table by `judged` or of the same columns: model, rule,
    reading (the rule in words), quarter (1 to 4), cell (selects these answers), tasks, found,
    accuracy, low, high (0 to 1; Wilson at level `confidence`, programs as clusters). Tasks without
    a changed line are left out."""
    placed = with_seed(answers[answers["changed_quarter"].notna()])
    rows = []
    for model, of_model in placed.groupby("model", sort=False):
        for rule, (reading, place) in READINGS.items():
            for quarter, part in of_model.groupby(place):
                value = part[f"value_{rule}"]
                found = clustered_share(value, part["seed_program"], confidence)
                counts = (len(part), int(value.sum()))
                cell = {"model": model, place: quarter}
                names = (model, rule, reading, int(quarter), cell)
                rows.append((*names, *counts, found.value, *found.interval))
    columns = ["model", "rule", "reading", "quarter", "cell", "tasks", "found"]
    return pd.DataFrame(rows, columns=[*columns, "accuracy", "low", "high"])


def position_effects(answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns the fall of accuracy from the first quarter of programs to the last, by labels and by
    changed lines, a row for each model and tolerance. `answers` is a table as for `by_quarter`;
    tasks without a changed line are left out.

    Columns: model, tolerance (lines), answers, programs, fall (by the labels, 0 to 1), low, high,
    fall_changed, changed_low, changed_high (by the changed lines), by_labels, by_labels_low,
    by_labels_high (difference of both falls), verdict (whether the fall survives under the changed
    lines). All intervals are over programs, at level `confidence`.
    """
    placed = with_seed(answers[answers["changed_quarter"].notna()]).set_index(
        "seed_program"
    )
    rows = []
    for model, part in placed.groupby("model", sort=False):
        programs = part.index.nunique()
        for rule, other in CHANGED.items():
            label, changed = _fall(part, rule), _fall(part, other)
            row: list[Any] = [
                model,
                TOLERANCES[rule],
                len(part),
                programs,
            ]
            for fall in (label, changed, label - changed):
                row += [fall.value, *fall.interval(programs, confidence)]
            rows.append((*row, _verdict(row[4:10])))
    columns = ["model", "tolerance", "answers", "programs", "fall", "low", "high"]
    columns += ["fall_changed", "changed_low", "changed_high"]
    columns += ["by_labels", "by_labels_low", "by_labels_high"]
    return pd.DataFrame(rows, columns=[*columns, "verdict"])


def _fall(answers: pd.DataFrame, rule: str) -> Moved:
    """Accuracy of `answers` by the scoring rule `rule` in the first quarter of programs minus
    accuracy in the last, the quarter being that of the line that the rule takes as faulty."""
    first, last = (
        answers.loc[answers[READINGS[rule][1]] == quarter, f"value_{rule}"]
        for quarter in (1, 4)
    )
    return share(first) - share(last)


def _verdict(numbers: list[float]) -> str:
    """Returns in words whether the fall survives under the changed lines: not known, no fall under
    the labels, survives, does not survive, or not decided. `numbers`: the fall by the labels and
    its low and high, then the fall by the changed lines and its low and high. It does not survive
    if its high is below half of the labels' fall, the margin that the ledger takes."""
    fall, low, _, _, changed_low, changed_high = numbers
    if math.isnan(fall):
        return "not known: a quarter has no tasks"
    if low <= 0:
        return "no fall is shown under the labels"
    if changed_low > 0:
        return "survives"
    return "does not survive" if changed_high < fall / 2 else "not decided"


def headline(effects: pd.DataFrame, rule: str) -> str:
    """Return the finding in a sentence: what becomes of the perfect localizer's fall, and how many
    models' falls survive.

    `effects` is the table of `position_effects`. By the `rule` strict a line must be exact, by
    any other within two lines.
    """
    rows = effects[effects["tolerance"] == TOLERANCES[rule]]
    survives = rows.loc[rows["model"] != ORACLE, "verdict"] == "survives"
    parts = [
        f"A fall survives the changed lines for {survives.sum()} of {len(survives)} models"
    ]
    for row in rows[rows["model"] == ORACLE].itertuples():
        parts.append(
            f"the {ORACLE}'s goes from {100 * row.fall:.0f} to {100 * row.fall_changed:.0f} points"
        )
    return "; ".join(parts)


def curves(table: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
    """Returns tables for `relabelled_curves` by model, from `table` (made by `by_quarter`): the
    same columns, but the column model holds the reading (a curve each), and accuracy, low and high
    are in %."""
    percent = table.assign(model=table["reading"])
    percent[["accuracy", "low", "high"]] *= 100
    return {
        str(model): part for model, part in percent.groupby(table["model"], sort=False)
    }
