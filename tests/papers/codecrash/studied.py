"""Small studies of CodeCrash, as a file of parameters gives them."""

from __future__ import annotations

from typing import Any

from codestress.papers.codecrash import studies
from codestress.parameters import questions
from codestress.types import Trials

READERS = ["sim-careful", "sim-trusting"]


def given_of(**changes: Any) -> studies.Predictions:
    given = {"artefact": "codecrash/x", "models": READERS, "problems": ["contest"]}
    given |= {"n_problems": 6, "hints": "generated", "messages": "kit", **changes}
    return studies.Predictions.model_validate(given)


def trials_of(**changes: Any) -> Trials:
    given = given_of(**changes).model_dump(exclude={"relative", "confidence"})
    return questions(studies.Questions.model_validate(given))


def prompt_of(trials: Trials, number: int) -> str:
    """The last message of a question."""
    return trials.render(trials.items[number]).messages[-1].content
