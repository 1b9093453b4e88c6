"""Fault Localizability: the story of one program (Figures 1 to 3): its fault, its mutations, and the lines named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from codestress.inference.run import Answer, stored_responses
from codestress.papers.faultloc.faults.neutral import FaultyProgram
from codestress.papers.faultloc.scoring import named_line
from codestress.papers.faultloc.studies import Localization, asked_about, tasks_of
from codestress.paths import STORE
from codestress.scoring.judging import said
from codestress.types import LANGUAGE_NAMES


@dataclass(frozen=True)
class Told:
    """An answer, the program that it speaks of, and the line that it names."""

    answer: Answer
    program: FaultyProgram
    named: int | None

    @property
    def condition(self) -> str:
        """What was done to the program, in words."""
        factors = self.answer.trial.factors
        plain = {"none": "as it is", "unchanged": "unchanged", "blank_line": "blank line"}
        accuse = ", accusing" if factors["said"] == "accuses elsewhere" else ""
        spm = str(factors["spm"])
        return plain.get(spm, f"{spm}, {factors['strength']}") + accuse


def story(given: Localization, answers: Iterable[Answer], problems: Iterable[str], store: Path = STORE) -> list[Told]:
    """What was answered about some tasks, in the order of the answers; skipped trials are left out."""
    wanted = set(problems)
    answers = [one for one in answers if one.trial.problem in wanted and not one.error]
    texts = stored_responses([key for one in answers for key in (one.key, *one.earlier)], store)
    tasks = {source: tasks_of(given, source) for source in given.programs}
    found = []
    for answer in answers:
        response = replace(texts[answer.key], earlier=tuple(texts[key] for key in answer.earlier))
        trial = answer.trial
        task = tasks[trial.factors["source"]][trial.problem]  # type: ignore[index]
        program = asked_about(given.of_model(answer.model), task, trial, response)
        if isinstance(program, FaultyProgram):
            named = named_line(said(response.text))
            found.append(Told(answer, program, named[0] if named else None))
    return found


def story_table(told: Iterable[Told], rule: str) -> pd.DataFrame:
    """A row for each answer: language, problem, condition, model, faulty_line, faulty (its text), named_line (none: not
    read), named (its text), found (0 or 1)."""
    return pd.DataFrame(
        [
            {
                "language": LANGUAGE_NAMES[str(one.answer.trial.factors["language"])],
                "problem": one.answer.trial.problem,
                "condition": one.condition,
                "model": one.answer.model,
                "faulty_line": one.program.line,
                "faulty": _line(one.program, one.program.line),
                "named_line": one.named,
                "named": _line(one.program, one.named),
                "found": one.answer.scores[rule].value,
            }
            for one in told
        ]
    ).astype({"named_line": "Int64"})


def _line(program: FaultyProgram, number: int | None) -> str:
    lines = program.code.split("\n")
    return lines[number - 1].strip() if number and 1 <= number <= len(lines) else ""


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


def listings(told: Iterable[Told]) -> Iterator[str]:
    """The programs that were asked about, each once, with > before the faulty line."""
    seen = set[str]()
    for one in told:
        if one.program.code not in seen:
            seen.add(one.program.code)
            lines = enumerate(one.program.code.split("\n"), start=1)
            shown = [f"{'>' if number == one.program.line else ' '} {number:3} {line}" for number, line in lines]
            yield "\n".join(
                [f"=== {one.answer.trial.problem}, {one.condition}: fault in line {one.program.line}", *shown]
            )
