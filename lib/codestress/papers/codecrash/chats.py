"""What nano sees of CodeCrash: programs that are perturbed."""

from __future__ import annotations

import numpy as np

from codestress.nano.chats import pick
from codestress.papers.codecrash.perturbations.edits import NotPerturbed
from codestress.papers.codecrash.perturbations.messages import Trace, insert_messages
from codestress.papers.codecrash.perturbations.rewriting import insert_garbage, reformat_conditions, rename
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem


def perturbed(random: np.random.Generator, problem: Problem) -> Problem:
    """By one of CodeCrash's perturbations, which keep what the program returns; the same where none can be made."""
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
                return insert_messages(problem, draw, style="comment", density=0.5, trace=Trace()).problem
    except NotPerturbed:
        return problem


REWRITE = perturbed
