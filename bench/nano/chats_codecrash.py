"""CodeCrash's perturbed programs in the training chats of nano, the kit's small transformer."""

from __future__ import annotations

import numpy as np

from chats import pick
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.edits import NotPerturbed
from codestress.mutate.perturbations.messages import Trace, insert_messages
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
    rename,
)
from codestress.problems.program import Problem


def perturbed(random: np.random.Generator, problem: Problem) -> Problem:
    """Returns `problem` under a perturbation of CodeCrash that `random` picks and that keeps what
    the program returns: new names (REN), rewritten conditions (RTF), unused code (GBC) or
    misleading comments (MCC). Returns `problem` itself where the picked perturbation cannot be
    made."""
    draw = Draw(random)
    try:
        match pick(random, ("REN", "RTF", "GBC", "MCC")):
            case "REN":
                return rename(problem).problem
            case "RTF":
                return reformat_conditions(problem, draw).problem
            case "GBC":
                return insert_garbage(problem, draw).problem
            case _:
                return insert_messages(
                    problem, draw, style="comment", density=0.5, trace=Trace()
                ).problem
    except NotPerturbed:
        return problem
