"""CodeCrash: what tells conditions apart, and what they are called in figures and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from codestress.inference.run import Results
from codestress.papers.codecrash.further_readings import readings
from codestress.papers.codecrash.perturbations.variants import TAGGED
from codestress.papers.codecrash.studies import MESSAGES
from codestress.report import findings
from codestress.types import LANGUAGE_NAMES

CELL = ["model", "dataset", "language", "task", "mode", "ignore", "refactor", "perturbation", "density"]
"""What tells conditions apart."""
SETTING = ["language", "task", "mode", "ignore", "refactor"]
MERGE = "merge"
"""All data sets together, every problem with the same weight (the paper's Merge)."""
NAMES = {
    **{"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench", "generated": "generated problems"},
    **{"contest": "contest programs", MERGE: "all problems"},
}
SPELLED = {
    **{"AGAIN": "asked again", "BLANK": "one blank line"},
    **{name: f"{message}, {truth}" for name, (message, truth) in TAGGED.items()},
}
"""What conditions that are not the paper's are called in figures."""
MODES = {"direct": "direct", "cot": "chain of thought"}
WORDS: dict[str, Mapping[Any, str]] = {
    **{"dataset": NAMES, "language": LANGUAGE_NAMES, "mode": MODES},
    "task": {"output": "output prediction", "input": "input prediction"},
    "ignore": {True: "told to ignore comments", False: "not told"},
    "refactor": {True: "cleaned up first", False: "as it is"},
}
"""What tells panels apart, and what its values are called there; a value that is not here, by itself."""
SPOKEN: dict[str, Mapping[Any, str]] = {
    "perturbation": SPELLED,
    "mode": MODES,
    "ignore": {True: "told to ignore", False: ""},
    "refactor": {True: "cleaned up", False: ""},
}
"""What figures call the values of factors, where it is something else; empty: nothing."""


def scores_by_problem(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """One row for each condition and problem: `score` (the share of its candidates that are right), `true` (what that
    is of an instrument, nan where nobody knows), `candidates` (their number), `status`, and `question`, of which
    problems hang together."""
    known = rule == "strict" and "chance" in answers
    answers = answers.assign(true=answers["chance"] if known else math.nan)
    merged = answers.assign(
        dataset=MERGE, **{name: answers["dataset"] + "/" + answers[name] for name in ("problem", "question")}
    )
    both = pd.concat([answers, merged]) if answers["dataset"].nunique() > 1 else answers
    grouped = both.groupby([*CELL, "problem"], sort=False)
    return grouped.agg(
        **{"score": (f"value_{rule}", "mean"), "true": ("true", "first"), "candidates": ("true", "size")},
        **{"status": ("status", "first"), "question": ("question", "first")},
    ).reset_index()


def true_lengths(results: Results) -> pd.DataFrame:
    """true_tokens and true_thought of each answer, in tokens: the means of further readings; nan of models, and where
    the question was not read further. Rows as in `results`; of questions that are asked in one step."""
    settings = {entry.name: entry.settings for entry in results.models if entry.simulated and results.questions}
    found = []
    for answer in results.answers:
        known = None
        if results.questions and answer.model in settings:
            known = readings(settings[answer.model], results.questions.of(answer.model).render(answer.trial))
        found.append((known.tokens, known.thought) if known else (math.nan, math.nan))
    return pd.DataFrame(found, columns=["true_tokens", "true_thought"])


def panel_name(row: Mapping[Any, Any], varying: Sequence[str]) -> str:
    """What a panel shows, by what differs between panels."""
    shown = [name for name in ("dataset", *SETTING) if name in (varying or ["dataset"])]
    return ", ".join(WORDS[name].get(row[name], str(row[name])) for name in shown)


def own_panel(dataset: str) -> str:
    """The panel of a data set of the paper that was not asked about here."""
    return f"published: {'CRUXEval and LiveCodeBench' if dataset == MERGE else NAMES[dataset]}"


def condition_name(row: Mapping[Any, Any]) -> str:
    if row["perturbation"] in MESSAGES and row["density"] < 1:
        return f"{row['perturbation']} (p = {row['density']:g})"
    return SPELLED.get(row["perturbation"], str(row["perturbation"]))


def cells(frame: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each condition of a frame, and its rows."""
    for group, part in frame.groupby(CELL, sort=False):
        yield dict(zip(CELL, group, strict=True)), part


def named(table: pd.DataFrame, among: Sequence[str] = ("dataset", *SETTING)) -> pd.DataFrame:
    """The table with what its rows are called in figures: `panel`, by what differs `among` them, and `condition`."""
    varying = [name for name in among if table[name].nunique() > 1]
    rows = table.to_dict("records")
    panels, conditions = [panel_name(row, varying) for row in rows], [condition_name(row) for row in rows]
    return table.assign(panel=panels, condition=conditions)


def share_panels(table: pd.DataFrame, *columns: str) -> dict[str, pd.DataFrame]:
    """What `share_bars` draws of a table whose `columns` hold a share, both ends of its interval, and what is true."""
    drawn = ["label", "condition", "accuracy", "low", "high", "true"]
    titles = dict(zip(["perturbation", "model", *columns], drawn, strict=True))
    panels = named(table).drop(columns="condition").groupby("panel", sort=False)
    return {str(panel): part[list(titles)].rename(columns=titles) for panel, part in panels}


def told(head: str, table: pd.DataFrame, form: str) -> str:
    """A figure in words: each row in this form, which names columns."""
    return findings.told(head, table.replace({name: dict(words) for name, words in WORDS.items()}), form)


def prompt_files(task: str, modes: Sequence[str], languages: Sequence[str], ignore: bool, refactor: bool) -> list[str]:
    """The files that prompts were made from, whose hashes go into the manifest."""
    names = ["codecrash.system", "codecrash.question"]
    for mode in modes:
        names += [f"codecrash.{task}.{mode}", *(f"codecrash.examples.{task}.{mode}.{name}" for name in languages)]
    return names + (["codecrash.ignore"] if ignore else []) + (["codecrash.refactor"] if refactor else [])
