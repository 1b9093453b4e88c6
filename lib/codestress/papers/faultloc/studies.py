"""Studies of Fault Localizability: does a model that localized a fault localize it
again after neutral mutations?

To localize a fault is to name the faulty line. The same run asks about each localized
task again, under mutations that are proved to keep the program's meaning.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from codestress.mutate.draw import Draw
from codestress.mutate.faults.kinds import CONTROLS, Control, Spm
from codestress.mutate.faults.neutral import (
    Content,
    FaultyProgram,
    Put,
    Said,
    bank,
    mutate,
    quarter_of,
)
from codestress.mutate.faults.trees import NotNeutral
from codestress.parameters import Facts, Interval, Recomputed
from codestress.paths import ROOT
from codestress.prompts import filled, prompt_text
from codestress.scoring.forms import text_lists, without_thoughts
from codestress.seeding import rng
from codestress.types import (
    LANGUAGE_NAMES,
    Language,
    Outcome,
    Prompt,
    Response,
    Scalar,
    Score,
    Trial,
)

from .printed import Naming, Printed
from .scoring import TOLERANCES, score_location
from .tasks import Programs, Task, mutations_of, tasks_of

Factors = dict[str, Scalar]
"""Dict from the name of a trial's factor to its value."""
ATTEMPTS = 4
"""Number of draws of a mutation's place before the mutation is given up."""


class ProgramsFigure(Programs):
    """Parameters of the figure of the programs themselves: their lengths (the paper's
    Figure 5) or statistics (Table IV)."""

    show: Literal["sizes", "statistics"] = "sizes"
    """Picture of the programs: their sizes, or a table of statistics."""


class Mutations(Programs):
    """Parameters of the misleading comments that mutations insert: what the comments
    say, and at which places (section IV-C of Fault Localizability)."""

    comments: Put = "replace"
    """Whether misleading comments replace those that are there, or are inserted."""
    said: list[Said] = Field(["describes"], min_length=1)
    """Content of misleading comments."""


def conditions(given: Mutations, language: Language) -> Iterator[Factors]:
    """Yield the factors spm, strength and said of every mutation of a task in
    `language`, at every strength.

    `said` is what misleading comments say; empty for mutations without comments.
    """
    for spm in mutations_of(given, language):
        for said in given.said if "comments" in spm else [""]:
            for strength in given.strengths:
                yield {"spm": spm, "strength": strength, "said": said}


def mutated(
    given: Mutations, task: Task, factors: Mapping[str, Any], text: str | None = None
) -> FaultyProgram | str:
    """Return the program of `task` under the mutation or control that `factors` name.

    The texts to insert are those in the model's response `text`, or the kit's own if
    `text` is None. Return a text with the reason if no mutation is possible.
    """
    language = task.correct.language
    said: Said = factors["said"] or "describes"
    content = bank(language, said, given.comments)
    if text is not None:
        content = read_content(text, said, given.comments)
    how = (factors["spm"], factors["strength"] or 1, content, given.seed)
    return drawn_mutation(task.program, language, task.id, *how)


class Localization(Mutations, Naming):
    """Parameters of the questions which line is faulty, before and after mutations
    (sections IV and V of Fault Localizability)."""

    PARTS = ("controls",)

    controls: list[Control] = list(CONTROLS)
    """Changes that do nothing, asked again like the mutations."""
    content: Literal["bank", "model"] = "model"
    """Content of mutations: the kit's bank, or a text by the model under test."""
    numbered: bool = False
    """Whether lines are shown with their numbers."""

    def trials(self) -> Iterator[Trial]:
        """Yield the trials that ask for the faulty line of every task: unmutated, under
        `controls`, and under every mutation at every strength.

        A control is no change, or a blank line. A trial with a mutation or control
        begins with the question about the unmutated task, which is asked once for all
        trials. The next question follows only if the model named exactly the faulty
        line. Otherwise, or if no neutral mutation can be made, the trial is skipped and
        counted.
        """
        plain: list[Factors] = [{"spm": "none", "strength": 0, "said": ""}]
        for control in self.controls if self.spms else []:
            plain.append({"spm": control, "strength": 1, "said": ""})
        for source in self.programs:
            for name, task in tasks_of(self, source).items():
                program = task.correct
                about: Factors = {
                    "source": source,
                    "language": program.language,
                    "relevance": program.relevance,
                    "fault": task.kind,
                    "quarter": task.program.quarter + 1,
                }
                for condition in (*plain, *conditions(self, program.language)):
                    factors = about | condition
                    if self.selection == "artifact":
                        factors["refused"] = task.refused
                    yield Trial(name, factors, self.seed)

    def task(self, trial: Trial) -> Task:
        """Return the task that `trial` is about."""
        return tasks_of(self, trial.factors["source"])[trial.problem]  # type: ignore[arg-type]

    def render(self, trial: Trial) -> Prompt:
        """Return the question about the unmutated task."""
        task = self.task(trial)
        return self.question(task, task.program.code)

    def question(self, task: Task, code: str) -> Prompt:
        """Return the prompt that asks for the faulty line of `code`, a faulty version
        of `task`.

        It is the question of section II of Fault Localizability, to be answered in
        JSON.
        """
        program = task.correct
        numbers = ""
        if self.numbered:
            lines = enumerate(code.split("\n"), start=1)
            code = "\n".join(f"{number}: {line}" for number, line in lines)
            numbers = prompt_text("localize.numbers")
        values = {
            "fence": program.language,
            "specification": program.specification,
            "code": code,
            "numbers": numbers,
        }
        return self.prompt(filled("localize", values))

    def steps(self, trial: Trial) -> int:
        """Return the number of requests of `trial` if the trial is not skipped.

        The number is 1 for an unmutated task, else 2, or 3 if the model writes the
        texts that the mutation inserts.
        """
        parts = str(trial.factors["spm"]).split("+")
        if parts == ["none"]:
            return 1
        return 2 if self.content == "bank" or set(WRITTEN).isdisjoint(parts) else 3

    def stage(
        self, trial: Trial, responses: tuple[Response, ...]
    ) -> Prompt | FaultyProgram | str:
        """Return the next question of `trial` after `responses`, or its end.

        The questions are for the texts to insert, if the model writes them, then for
        the faulty line of the mutated program. After the last response, return the
        faulty program that this response is about. If the trial is skipped, return the
        reason as text: the fault was not localized before, or no neutral mutation can
        be made.
        """
        task = self.task(trial)
        left = self.steps(trial) - len(responses)
        if trial.factors["spm"] == "none":
            return task.program
        if not _localized(task, responses[0]):
            return "not localized before"
        if left == 2:
            return self.prompt(content_question(task, trial))
        text = responses[1].text if self.steps(trial) == 3 else None
        program = mutated(self, task, trial.factors, text)
        if isinstance(program, str) or not left:
            return program
        repetition = int(trial.factors["spm"] == "unchanged")
        return replace(self.question(task, program.code), repetition=repetition)

    def follow_up(self, trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        """Return the next question of `trial` (see `stage`); None if there is none."""
        stage = self.stage(trial, responses)
        return stage if isinstance(stage, Prompt) else None

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        asked = self.stage(trial, (*response.earlier, response))
        if isinstance(asked, FaultyProgram):
            return score_location(response, asked.line, asked.code, TOLERANCES[rule])
        return Score(Outcome.SKIPPED, math.nan, str(asked))


@lru_cache(maxsize=20_000)
def _localized(task: Task, response: Response) -> bool:
    """Return whether `response` names exactly the faulty line of `task`; cached for
    each response."""
    program = task.program
    return score_location(response, program.line, program.code, 0).value == 1


@lru_cache(maxsize=20_000)
def drawn_mutation(
    program: FaultyProgram,
    language: Language,
    name: str,
    spm: Spm | Control,
    times: int,
    content: Content,
    seed: int,
) -> FaultyProgram | str:
    """Return `program`, in `language`, under the neutral mutation or control `spm` in a
    randomly drawn quarter.

    The result has the new number of its faulty line. Return a text with the reason if
    none of `ATTEMPTS` draws gives a neutral mutation. `times` is the number of
    applications; `content` has the texts to insert; `seed` and `name` decide the draws.
    """
    for attempt in range(ATTEMPTS):
        draw = Draw(rng(seed, "mutate", name, spm, times, attempt))
        quarter = draw.integer(0, 3)
        try:
            return mutate(
                program,
                spm,
                language,
                draw,
                strength=times,
                quarter=quarter,
                content=content,
            )
        except NotNeutral as error:
            why = str(error)
    return f"no neutral mutation: {why}"


def read_content(text: str, said: Said = "describes", put: Put = "replace") -> Content:
    """Return the `Content` (texts to insert) that a model wrote in its response `text`.

    The texts are the lists comments, names and dead_code in the last JSON object; a
    missing list is empty. `said` and `put` (what comments say and at which places) are
    stored with them.
    """
    lists = text_lists(without_thoughts(text), WRITTEN)
    comments, words, dead_code = (
        tuple(item.strip("\n") for item in lists.get(name, ())) for name in WRITTEN
    )
    return Content(comments, words, dead_code, said, put)


WRITTEN = ("comments", "names", "dead_code")
"""Mutations that insert texts, which the model under test may write."""


def content_question(task: Task, trial: Trial) -> str:
    """Return the question to the model under test for the texts that the mutation of
    `trial` inserts into the program of `task`.

    It asks for two comments, names or pieces of dead code for each application (section
    IV-C of Fault Localizability).
    """
    pieces = 2 * int(trial.factors["strength"] or 1)
    parts = []
    form = []
    for part in str(trial.factors["spm"]).split("+"):
        if part in WRITTEN:
            name = f"wanted.{part}"
            if part == "comments":
                name += f".{trial.factors['said']}".removesuffix(" elsewhere")
            parts.append(f"{pieces} {prompt_text(name)}")
            form.append(f'"{part}": ["…"]')
    language = task.correct.language
    values = {
        "language": LANGUAGE_NAMES[language],
        "fence": language,
        "wanted": f"{'; '.join(parts)}.",
        "form": f"{{{', '.join(form)}}}",
        "code": task.program.code,
    }
    return filled("localize.content", values)


class LocalizationFigure(Localization, Interval):
    """Parameters of the figures of section V of Fault Localizability, which share their
    questions; `show` chooses the figure."""

    show: Literal[
        "faults", "quarters", "categories", "versions", "spms", "models", "strengths"
    ] = "faults"
    """Groups that the figure compares."""


class Relabel(Localization, Interval):
    """Parameters of the comparison of two ways to score answers about unmutated tasks:
    by labels, and by changed lines.

    A label is the number of the line that is said to be faulty; a changed line is one
    that differs from the correct program.
    """

    FILES = {"answers": ("",)}

    answers: str = ""
    """Path of a file of answers (JSON Lines of id and line); empty: the models are
    asked."""
    spms: list[Spm] = Field([], max_length=0)
    """Mutations; none: tasks as they are."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Scoring rules: two by the label, then two by the line that differs from the
        correct program.

        The latter are `changed` and, within two lines of that line,
        `changed_reference`.
        """
        return tuple(TOLERANCES)

    def trials(self) -> Iterator[Trial]:
        """Yield the trials of `every_trial`; none if `answers` names a file, from which
        the answers are read instead."""
        return iter(()) if self.answers else self.every_trial()

    def every_trial(self) -> Iterator[Trial]:
        """Yield the trials that ask about unmutated tasks.

        The factor `changed_quarter` is the quarter, 1 to 4, of the line that differs
        from the correct program; None if no line differs.
        """
        for trial in super().trials():
            task = self.task(trial)
            lines = task.program.lines
            quarter = task.changed and quarter_of(task.changed, lines) + 1
            yield replace(trial, factors={**trial.factors, "changed_quarter": quarter})

    def score(self, trial: Trial, response: Response, rule: str) -> Score:
        """Return the score by the label or by the changed line (incorrect if no line
        differs)."""
        task = self.task(trial)
        tolerance = TOLERANCES[rule]
        line = task.changed if rule.startswith("changed") else task.program.line
        if line is None:
            return Score(Outcome.INCORRECT, 0.0, "no line of the program changed")
        return score_location(response, line, task.program.code, tolerance)

    def files(self) -> list[Path]:
        return [ROOT / self.answers] if self.answers else []


class Audit(Facts):
    """Parameters of the audit, which compares the labels of the public tasks with the
    lines that really changed; no model is asked."""

    tasks: Literal["public", "counted"] = "public"
    """Tasks: public (a data set), or counted: the numbers counted in them (tolerance 2).
    """
    tolerance: int = Field(2, ge=0)
    """Lines by which the artifact lets an answer be off."""


STUDIES = {
    "localization": LocalizationFigure,
    "printed": Printed,
    "models": Facts,
    "programs": ProgramsFigure,
    "mutations": Mutations,
    "published": Recomputed,
    "relabel": Relabel,
    "audit": Audit,
}
"""Dict from a study's name, which params/faultloc/*.yaml gives as `study:
faultloc.NAME`, to the study."""
