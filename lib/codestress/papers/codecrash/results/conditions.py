"""CodeCrash: columns that distinguish conditions, and the names of conditions in figures and
tables."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from codestress.fitting.proportions import effective_number
from codestress.mutate.perturbations.variants import NEUTRAL, TAGGED
from codestress.types import LANGUAGE_NAMES

from ..programs import MESSAGES
from ..studies import Questions

SETTING = ["language", "task", "mode", "ignore", "refactor"]
"""Columns that say how a question is asked."""
CELL = ["model", "dataset", *SETTING, "perturbation", "density"]
"""Columns whose values name a condition: model, data set, setting, perturbation and density of
messages."""
MERGE = "merge"
"""Name of all data sets together, in which every problem has the same weight (the paper's Merge).
"""
NAMES = {
    "cruxeval": "CRUXEval",
    "livecodebench": "LiveCodeBench",
    "generated": "generated problems",
    "contest": "contest programs",
    MERGE: "all problems",
}
"""Names in figures of the data sets."""
KINDS = {
    "VAN": "no perturbation",
    "REN": "other names",
    "RTF": "reformatted conditions",
    "GBC": "unused code",
    "PSC-ALL": "structural changes",
    "MCC": "misleading comments",
    "MPS": "misleading prints",
    "MHC": "misleading hints",
}
"""Names in figures and titles of the paper's perturbations, by code."""
SPELLED = {
    "AGAIN": "asked again",
    "BLANK": "one blank line",
    NEUTRAL: "neutral comments (NCC)",
    **{name: ", ".join(tagged) for name, tagged in TAGGED.items()},
}
"""Names in figures of the conditions that are not the paper's."""
MODES = {"direct": "direct", "cot": "chain of thought"}
WORDS: dict[str, Mapping[Any, str]] = {
    "dataset": NAMES,
    "language": LANGUAGE_NAMES,
    "task": {"output": "output prediction", "input": "input prediction"},
    "mode": MODES,
}
"""Words in the names of panels, by factor and its value; a value without an entry is its own word.
"""
Row = Mapping[Any, Any]
DEFENCES = {"ignore": ", told to ignore", "refactor": ", cleaned up"}
"""Words that follow a condition's name where it is asked with the defence."""


def scores_by_problem(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Returns a row for each condition and problem in `answers`, with the columns `CELL` (the
    condition), problem, score (share of correct answers by `rule`), status (of the perturbed
    program) and question (the cluster of problems made from one question). Where answers are of
    several data sets, rows of all together are added as the data set `MERGE`."""
    if answers["dataset"].nunique() > 1:
        merged = answers.assign(dataset=MERGE)
        for name in ("problem", "question"):
            merged[name] = answers["dataset"] + "/" + answers[name]
        answers = pd.concat([answers, merged])
    grouped = answers.groupby([*CELL, "problem"], sort=False, as_index=False)
    return grouped.agg(
        score=(f"value_{rule}", "mean"),
        status=("status", "first"),
        question=("question", "first"),
    )


def question_counts(questions: pd.Series) -> dict[str, Any]:
    """Returns the numbers of different `questions`, the clusters of answers, and of answers that
    are independent (`effective_number`), as a dict: questions, independent."""
    return {
        "questions": questions.nunique(),
        "independent": effective_number(questions),
    }


def undefended(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the table `rows` that were asked without a defence: its columns `ignore`
    (the model is told to ignore comments) and `refactor` (it cleans up the program first) are both
    false."""
    return rows[~rows[["ignore", "refactor"]].astype(bool).any(axis=1)]


def plain_vanilla(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the table `rows` about unperturbed programs, without a defence."""
    return undefended(rows.query("perturbation == 'VAN'"))


def panel_name(row: Row, varying: Sequence[str]) -> str:
    """Returns the name of a row's panel: the words for its values in the columns `varying`, in a
    fixed order; the data set's name where `varying` is empty."""
    parts = []
    for name, words in WORDS.items():
        if name in (varying or ["dataset"]):
            value = row[name]
            parts.append(words.get(value, str(value)))
    return ", ".join(parts)


def condition_name(row: Row) -> str:
    """Returns the name of a row's condition: perturbation, density below 1, and defences."""
    kind = row["perturbation"]
    name = SPELLED.get(kind, str(kind))
    if kind in MESSAGES and row["density"] < 1:
        name = f"{kind} (p = {row['density']:g})"
    for defence, words in DEFENCES.items():
        if row.get(defence):
            name += words
    return name


def cells(
    frame: pd.DataFrame, by: Sequence[str] = CELL
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yields each condition of a frame, as a dict of its values in the columns `by`, with the
    frame's rows of this condition."""
    for group, part in frame.groupby(by, sort=False):
        yield dict(zip(by, group, strict=True)), part


def cell_of(row: Row) -> dict[Hashable, Any]:
    """Returns the values of `CELL` that select the answers behind `row` (`report/marks.py`), as a
    dict: those of its columns that are in `CELL`; the data set `MERGE` is left out, which selects
    all."""
    return {name: row[name] for name in CELL if row.get(name, MERGE) != MERGE}


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the table with three more columns: `panel` (name of a figure's panel, from what varies
    in the table: data set, language, task or mode), `condition` (the name of perturbation and
    defence in a figure) and `cell` (values that select the answers behind the row)."""
    varying = []
    for name in WORDS:
        if name in table and table[name].nunique() > 1:
            varying.append(name)
    rows = table.to_dict("records")
    table = table.assign(panel=[panel_name(row, varying) for row in rows])
    table["condition"] = list(map(condition_name, rows))
    table["cell"] = list(map(cell_of, rows))
    return table


def spelled(condition: str, *, code: bool = False) -> str:
    """Returns the name of a condition with its perturbation's name (`KINDS`) in place of the code
    it begins with, followed by the code in parentheses if `code`."""
    short = re.split("[ ,]", condition, maxsplit=1)[0]
    if short not in KINDS:
        return condition
    name = KINDS[short]
    if code:
        name += f" ({short})"
    return name + condition.removeprefix(short)


def row_names(conditions: Sequence[str]) -> list[str]:
    """Returns the names of a panel's rows: each perturbation's name and code stand in its first
    row, and `…` in their place in further ones (`… told to ignore`)."""
    names: list[str] = []
    seen = set[str]()
    for condition in conditions:
        kind, _, rest = condition.partition(", ")
        name = spelled(condition, code=True)
        if rest and kind in seen:
            name = f"… {rest}"
        names.append(name)
        seen.add(kind)
    return names


def most(values: pd.Series, verb: str, form: str) -> str:
    """Returns a sentence on the largest mean of `values`, indexed by the name of a condition:
    `verb` says what happens most under it, `form` formats the number. Where several names differ
    from the condition's in what follows a comma, it has the mean of each."""
    means = values.groupby(level=0, sort=False).mean()
    if means.isna().all():
        return f"{verb}: not known"
    if means.max() <= 0:
        return f"{verb} under no condition"
    top, _, _ = str(means.idxmax()).partition(",")
    parts = []
    for name, mean in means.items():
        condition, _, rest = str(name).partition(",")
        if condition == top:
            parts.append(form.format(mean) + rest)
    if len(parts) == 1:
        parts[0] += " on average"
    return f"{verb} most under {spelled(top)} ({', '.join(parts)})"


def share_points(table: pd.DataFrame, share: str, *hollow: str) -> pd.DataFrame:
    """Returns the points that `share_dots` draws, from the column `share` (0 to 1) of `table`, with
    the interval in the columns `low` and `high`: model, panel, condition, cell, value, low, high
    (in %), and hollow, from the column `hollow` (in %), if any."""
    points = named(table).rename(
        columns={share: "value"} | dict.fromkeys(hollow, "hollow")
    )
    points[["value", "low", "high"]] *= 100
    names = ["model", "panel", "condition", "cell", "value", "low", "high"]
    return points.filter([*names, "hollow"])


def prompt_files(given: Questions) -> list[str]:
    """Returns the names of the prompt files that the study with the parameters `given` uses; their
    hashes go into the manifest."""
    names = ["system", "question"]
    for mode in given.modes:
        examples = f"examples.{given.task}.{mode}"
        names.append(f"{given.task}.{mode}")
        names += [f"{examples}.{language}" for language in given.languages]
    for defence in DEFENCES:
        if any(getattr(given, defence)):
            names.append(defence)
    return [f"codecrash.{name}" for name in names]
