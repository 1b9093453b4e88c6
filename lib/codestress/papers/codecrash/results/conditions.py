"""CodeCrash: columns that distinguish conditions, and the names of conditions in
figures and tables.

A condition is a combination of model, data set, setting, perturbation and density of
messages. A defence is a request to ignore comments, or a clean-up of the program before
the question. A question, as a cluster, is a group of problems made from one question,
such as the samples of a LiveCodeBench question.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from codestress.fitting.proportions import effective_number
from codestress.mutate.perturbations.kinds import MESSAGES, NEUTRAL, TAGGED
from codestress.report.findings import listed
from codestress.types import LANGUAGE_NAMES

if TYPE_CHECKING:
    from ..studies import Questions

SETTING = ["language", "task", "mode", "ignore", "refactor"]
"""Columns that say how a question is asked."""
CELL = ["model", "dataset", *SETTING, "perturbation", "density"]
"""Columns whose values identify a condition: model, data set, setting, perturbation and
density of messages."""
MERGE = "merge"
"""Name of all data sets together, with the same weight for every problem (the paper's
Merge)."""
NAMES = {
    "cruxeval": "CRUXEval",
    "livecodebench": "LiveCodeBench",
    "generated": "generated problems",
    "contest": "contest programs",
    MERGE: "all problems",
}
"""Dict from data set to its name in figures."""
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
"""Dict from the code of a perturbation of the paper to its name in figures and titles.
"""
SPELLED = {
    "AGAIN": "asked again",
    "BLANK": "one blank line",
    NEUTRAL: "neutral comments (NCC)",
    **{name: ", ".join(tagged) for name, tagged in TAGGED.items()},
}
"""Dict from the code of a condition that the paper does not have to its name in
figures."""
MODES = {"direct": "direct", "cot": "chain of thought"}
WORDS: dict[str, Mapping[Any, str]] = {
    "dataset": NAMES,
    "language": LANGUAGE_NAMES,
    "task": {"output": "output prediction", "input": "input prediction"},
    "mode": MODES,
}
"""Words in the names of panels: a dict from factor to a dict from value to words. A
value without an entry is shown as it is."""
Row = Mapping[Any, Any]
DEFENCES = {"ignore": ", told to ignore", "refactor": ", cleaned up"}
"""Dict from a defence to the words that follow a condition's name if the question is
asked with it."""


def scores_by_problem(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return the score of each problem under each condition in `answers`, a row for
    each. If `answers` are of several data sets, rows of all together are added as the
    data set `MERGE`.

    Columns: `CELL` (the condition), problem, score (share of correct answers, 0 to 1,
    under the scoring rule `rule`), status (of the perturbed program), question (the
    cluster of problems).
    """
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
    """Return the number of distinct `questions`, and of independent answers
    (`effective_number`), as a dict with the keys questions and independent. `questions`
    names the cluster of each answer."""
    return {
        "questions": questions.nunique(),
        "independent": effective_number(questions),
    }


def undefended(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table `rows` that were asked without a defence: `ignore`
    (the model is told to ignore comments) and `refactor` (the model cleans up the
    program first) are both false."""
    return rows[~rows[[*DEFENCES]].astype(bool).any(axis=1)]


def plain_vanilla(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table `rows` about unperturbed programs, asked without a
    defence."""
    return undefended(rows.query("perturbation == 'VAN'"))


def panel_name(row: Row, varying: Sequence[str]) -> str:
    """Return the name of the panel of `row`: the words for its values in the columns
    `varying`, in a fixed order, joined by commas. If `varying` is empty, the name is
    the data set's."""
    parts = []
    for name, words in WORDS.items():
        if name in (varying or ["dataset"]):
            value = row[name]
            parts.append(words.get(value, str(value)))
    return ", ".join(parts)


def condition_name(row: Row) -> str:
    """Return the name of the condition of `row`: perturbation, density if below 1, and
    defences."""
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
    """Yield each condition of `frame`, as a dict of its values in the columns `by`,
    together with the rows of `frame` under this condition."""
    for group, part in frame.groupby(by, sort=False):
        yield dict(zip(by, group, strict=True)), part


def cell_of(row: Row) -> dict[Hashable, Any]:
    """Return the values of `row` that select the answers behind it (`report/marks.py`),
    as a dict from column in `CELL` to value. Columns that `row` lacks are left out, and
    so is the data set `MERGE`, which selects all."""
    return {name: row[name] for name in CELL if row.get(name, MERGE) != MERGE}


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` with three more columns: panel, condition and cell.

    `panel` names a figure's panel, using the factors that vary in the table (data set,
    language, task, mode). `condition` names perturbation and defence in the figure.
    `cell` holds the values that select the answers behind the row.
    """
    numbers = table.filter(list(WORDS)).nunique()
    varying = list(numbers.index[numbers > 1])
    rows = table.to_dict("records")
    table = table.assign(panel=[panel_name(row, varying) for row in rows])
    table["condition"] = list(map(condition_name, rows))
    table["cell"] = list(map(cell_of, rows))
    return table


def spelled(condition: str, *, code: bool = False) -> str:
    """Return the name `condition` with the code at its start replaced by the
    perturbation's name (`KINDS`), followed by the code in parentheses if `code`. A name
    without a known code at its start is returned unchanged."""
    short = re.split("[ ,]", condition, maxsplit=1)[0]
    if short not in KINDS:
        return condition
    name = KINDS[short]
    if code:
        name += f" ({short})"
    return name + condition.removeprefix(short)


def row_names(conditions: Sequence[str]) -> list[str]:
    """Return the names of a panel's rows, one for each of `conditions`. A
    perturbation's first row shows its name and code; further rows show `…` instead (`…
    told to ignore`)."""
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
    """Return a sentence about the condition with the largest mean of `values`, which
    are indexed by the name of a condition. `verb` says what happens most under the
    condition, and `form` formats the number.

    What follows a comma in a name is a setting, and each setting has its own largest
    mean. If no mean is known, or none is positive, the sentence says this.
    """
    means = values.groupby(level=0, sort=False).mean()
    if means.isna().all():
        return f"{verb}: not known"
    settings = means.index.str.partition(", ").get_level_values(2)
    numbers: dict[str, list[str]] = {}
    for setting in settings.unique():
        own = means[settings == setting]
        if own.max() > 0:
            top, _, _ = str(own.idxmax()).partition(", ")
            number = form.format(own.max())
            if setting:
                number = f"{setting}: {number}"
            numbers.setdefault(spelled(top), []).append(number)
    tops = [f"{name} ({'; '.join(parts)})" for name, parts in numbers.items()]
    if not tops:
        return f"{verb} under no condition"
    if settings.nunique() == 1:
        tops[0] = tops[0].replace(")", " on average)")
    return f"{verb} most under {listed(tops)}"


def drawn_points(
    table: pd.DataFrame, numbers: Sequence[str], axis: str = "condition"
) -> pd.DataFrame:
    """Return the points that charts draw from `table`, a row for each of its rows.

    Columns: model, panel, `axis` and cell (see `named`), and the three or four columns
    `numbers` of `table`, renamed value, low, high and hollow.
    """
    names = ["model", "panel", axis, "cell"]
    ends = ["value", "low", "high", "hollow"][: len(numbers)]
    return named(table)[[*names, *numbers]].set_axis([*names, *ends], axis=1)


def prompt_files(given: Questions) -> list[str]:
    """Return the names of the prompt files that the study with the parameters `given`
    uses. The hashes of these files go into the manifest."""
    names = ["system", "question"]
    for mode in given.modes:
        examples = f"examples.{given.task}.{mode}"
        names.append(f"{given.task}.{mode}")
        names += [f"{examples}.{language}" for language in given.languages]
    for defence in DEFENCES:
        if any(getattr(given, defence)):
            names.append(defence)
    return [f"codecrash.{name}" for name in names]
