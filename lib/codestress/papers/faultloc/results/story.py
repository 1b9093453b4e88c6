"""Fault Localizability: the story of one program (Figures 1 to 3): its fault, its mutations, and the lines named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from codestress.inference.run import Answer, stored_responses
from codestress.papers.faultloc.scoring import named_line
from codestress.papers.faultloc.studies import Localization, asked_about, tasks_of
from codestress.paths import STORE
from codestress.scoring.judging import said
from codestress.types import LANGUAGE_NAMES

CONDITIONS = {"none": "as it is", "unchanged": "unchanged", "blank_line": "blank line"}
COLUMNS = ["language", "problem", "condition", "model", "faulty_line", "faulty", "named_line", "named", "found"]


def story(
    given: Localization, answers: Iterable[Answer], problems: Iterable[str], rule: str, store: Path = STORE
) -> tuple[pd.DataFrame, list[str]]:
    """What was answered about some tasks, in the order of the answers, skipped trials left out; and the programs that
    were asked about, each once, with > before the faulty line.

    Columns: language, problem, condition (what was done to the program, in words), model, faulty_line, faulty (its
    text), named_line (none: not read), named (its text), found (0 or 1).
    """
    wanted = set(problems)
    answers = [one for one in answers if one.trial.problem in wanted and not one.error]
    texts = stored_responses([key for one in answers for key in (one.key, *one.earlier)], store)
    tasks = {source: tasks_of(given, source) for source in given.programs}
    rows, listings = [], dict[str, str]()
    for answer in answers:
        response = replace(texts[answer.key], earlier=tuple(texts[key] for key in answer.earlier))
        trial, factors = answer.trial, answer.trial.factors
        task = tasks[factors["source"]][trial.problem]  # type: ignore[index]
        program = asked_about(given.of_model(answer.model), task, trial, response)
        if isinstance(program, str):
            continue
        lines = dict(enumerate(program.code.split("\n"), start=1))
        named, _ = named_line(said(response.text)) or (None, None)
        condition = CONDITIONS.get(str(factors["spm"]), f"{factors['spm']}, {factors['strength']}")
        condition += ", accusing" if factors["said"] == "accuses elsewhere" else ""
        told = (program.line, lines.get(program.line, "").strip(), named, lines.get(named or 0, "").strip())
        language = LANGUAGE_NAMES[str(factors["language"])]
        rows.append((language, trial.problem, condition, answer.model, *told, answer.scores[rule].value))
        shown = [f"{'>' if number == program.line else ' '} {number:3} {line}" for number, line in lines.items()]
        head = f"=== {trial.problem}, {condition}: fault in line {program.line}"
        listings.setdefault(program.code, "\n".join([head, *shown]))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"named_line": "Int64"}), list(listings.values())


def story_cells(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A heat map for each program: a row for each condition, a column for each model, the line that was named."""
    cells = table.assign(row=table["condition"], column=table["model"], accuracy=table["found"])
    cells["text"] = [_words(row.named_line, row.faulty_line, row.found) for row in table.itertuples()]
    programs = cells.groupby(["language", "problem"], sort=False)
    # Program and fault of a task, without its number among them.
    return {f"{language}: {', '.join(str(task).split('/')[:2])}": part for (language, task), part in programs}


def _words(named: object, faulty: object, found: object) -> str:
    if pd.isna(named):
        return "no line"
    return f"line {named}" if found else f"line {named}\nnot {faulty}"
