"""Requests of a build's artefacts, sent in turns, so that at any stop about equally
many problems of each artefact are answered."""

import math
from collections.abc import Sequence
from dataclasses import replace

from codestress.errors import CodestressError, StoreError
from codestress.inference.budget import Budget
from codestress.inference.progress import Progress
from codestress.types import Trials

from .artefacts import Artefact
from .plan import rank_of

GROWTH = 1.5
"""Factor by which the number of problems asked of each artefact grows from round to
round."""


def ask_by_turns(
    questions: Sequence[tuple[Artefact, Trials]],
    budget: Budget,
    progress: Progress,
) -> None:
    """Ask one problem of each artefact, then more of each, until all problems are asked
    or the time of `budget` is over.

    Responses go to the store, and `progress` shows their number. `questions` are the
    artefacts with their trials. A problem is asked in all its conditions, so that
    conditions have about equally many responses at any stop. Only `StoreError` is
    raised. Any other error ends the turns, and is raised again when the build next asks
    for the same artefact.
    """
    before, end = 0, 1
    most = max((len(trials.items) for _, trials in questions), default=0)
    while before < most and not budget.over:
        for artefact, trials in questions:
            turn = problems_between(trials, before, end)
            try:
                artefact.ask(turn, progress, budget)
            except StoreError:
                raise
            except CodestressError:
                return
        before, end = end, math.ceil(GROWTH * end)


def problems_between(trials: Trials, first: int, end: int) -> Trials:
    """Return a copy of `trials` with the trials of some problems only: the problems
    from index `first` up to, but without, `end` in a random, reproducible order.

    If a model has trials of its own (`trials.own`), its problems are ordered
    separately, and the problems at the same indices are kept.
    """
    problems = {trial.problem for trial in trials.items}
    chosen = set(sorted(problems, key=rank_of)[first:end])
    return replace(
        trials,
        items=[trial for trial in trials.items if trial.problem in chosen],
        own={
            model: problems_between(own, first, end)
            for model, own in trials.own.items()
        },
    )
