"""Builds artefacts that are out of date: sends every request once, for one artefact after the other,
while their notebooks are executed."""

import contextlib
import fcntl
import itertools
import time
from collections.abc import Iterator, Sequence

import click

from codestress.errors import CodestressError, DataError, EngineError, StoreError
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.progress import Progress, in_minutes
from codestress.notes import notes_kept
from codestress.paths import OUTPUTS
from codestress.program_counts import ProgramCounts, programs_so_far
from codestress.report.checked import changes_of_files, read_manifest
from codestress.report.published import read_published
from codestress.types import Trials

from .artefacts import Artefact
from .inputs import changes, inputs_of
from .notebooks import (
    check_parameters_cell,
    tell_ignored_values,
)
from .plan import check_windows
from .queue import NotebookQueue, Outcome, notebook_queue
from .turns import ask_by_turns


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """Context manager that holds the build lock of outputs/, after waiting for another build to
    end. One build at a time: two would send the same requests twice. `StoreError` where outputs/
    cannot be written or locked."""
    try:
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        lock = (OUTPUTS / ".build.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo("another build is running here; waiting for it to end", err=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise StoreError(
            f"{OUTPUTS}: {error}; it must be writable and have locks: name a folder on a "
            "local disk in CODESTRESS_OUTPUTS"
        ) from None
    with lock:
        yield


def standing(
    artefact: Artefact, inputs: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Pair of the reasons, as texts, why `artefact` must be built (not built yet, changed inputs or
    output files, questions not asked; none when it is up to date), and the parts that its last
    build left out, with the reason. `inputs` are the hashes of today's inputs by name."""
    try:
        manifest = read_manifest(artefact.folder)
        stale = changes_of_files(artefact.folder, manifest)
        stale += changes(manifest["inputs"], inputs)
        if manifest["not_asked"]:
            stale.append("some of its questions were not asked")
        return stale, manifest["not_run"]
    except DataError:
        return ["not built yet"], {}


def build(
    artefacts: Sequence[Artefact], *, jobs: int, force: bool, timeout_s: float | None
) -> list[Outcome]:
    """Brings all `artefacts` up to date and returns an `Outcome` for each; a failed artefact does
    not stop the others. `StoreError` where outputs/ or the store cannot be used, `ParameterError`
    where a notebook's parameters cell differs from its schema, `DataError` where a paper's file of
    published numbers is faulty.

    `jobs` notebooks are executed at a time, each for at most `timeout_s` seconds (None: no limit);
    `force` builds also what is up to date. This process asks the models, one artefact after the
    other, so that every request is sent once. A notebook is executed as soon as its responses are
    in the store. In a context `minutes_from_now` (a time limit) all artefacts are asked in turns,
    and the figures show the responses so far.
    """
    tell_ignored_values(artefacts)
    with build_lock():
        inputs = {artefact.label: inputs_of(artefact) for artefact in artefacts}
        outcomes, stale = [], []
        for artefact in artefacts:
            why, not_run = standing(artefact, inputs[artefact.label])
            if why or force:
                check_parameters_cell(artefact.notebook, type(artefact.parameters))
                # A faulty file would only fail the notebook, after its questions were asked.
                read_published(artefact.paper)
                stale.append(artefact)
            else:
                outcomes.append(Outcome(artefact.label, "up to date", not_run=not_run))
        if stale:
            # One for all artefacts, and for what their notebooks ask.
            budget = Budget.from_environment()
            with (
                budget.shared(),
                notes_kept(),
                notebook_queue(stale, inputs, jobs, timeout_s) as notebooks,
            ):
                outcomes += ask_all(stale, notebooks, budget)
        return outcomes


def _questions_of(
    artefacts: Sequence[Artefact], notebooks: NotebookQueue, budget: Budget
) -> Iterator[tuple[Artefact, Trials, ProgramCounts]]:
    """Yields, for each artefact, its trials and the counts of programs that ran to make them. An
    artefact whose trials cannot be made is recorded in `notebooks` as failed; so is, unless
    `budget` limits the time, one with prompts too long for a model."""
    for number, artefact in enumerate(artefacts, start=1):
        before = programs_so_far()
        try:
            if budget.over:
                raise BudgetReached(f"nothing was asked: {budget.reached()}")
            if budget.until is not None:
                left = in_minutes(budget.until - time.monotonic())
                place = f"{number} of {len(artefacts)}"
                line = f"making the questions of {artefact.name} ({place}); {left}"
                click.echo(line, err=True)
            trials = artefact.trials()
            if budget.until is None:
                check_windows(artefact, trials)
        except CodestressError as error:  # such as a missing data set
            notebooks.fail(artefact, error)
        else:
            yield artefact, trials, programs_so_far() - before


def ask_all(
    artefacts: Sequence[Artefact], notebooks: NotebookQueue, budget: Budget
) -> list[Outcome]:
    """Sends the missing requests of each artefact in turn, within the limits of `budget`, then
    queues its notebook in `notebooks`; returns all outcomes when the notebooks have ended.

    A model that cannot be reached fails all artefacts that need it, without another try for each.
    Only `StoreError` is raised; other errors fail their artefact.
    """
    questions = list(_questions_of(artefacts, notebooks, budget))
    totals = [trials.total(artefact.model_names) for artefact, trials, _ in questions]
    unreachable: dict[str, CodestressError] = {}
    with Progress(sum(totals), "build", budget.until) as progress:
        notebooks.show(progress)
        shown_on = progress
        if budget.until is not None:
            ask_by_turns([question[:2] for question in questions], budget, progress)
            shown_on = Progress(0, "", silent=True)  # the questions were counted
        for (artefact, trials, ran), total in zip(questions, totals, strict=True):
            gone = unreachable.keys() & artefact.model_names
            if gone and total:
                progress.skip(total)
                notebooks.fail(artefact, unreachable[min(gone)])
                continue
            before = programs_so_far()
            try:
                _ask(artefact, trials, shown_on, budget)
            except StoreError:
                raise
            except CodestressError as error:
                # A server that continues no begun answers gives other artefacts theirs.
                if type(error) is EngineError:
                    unreachable[error.model] = error
                notebooks.fail(artefact, error)
            else:
                notebooks.execute(artefact, ran + programs_so_far() - before)
        progress.until = None  # what is left are figures
        notebooks.show(progress)
        return notebooks.wait()


def _ask(
    artefact: Artefact, trials: Trials, progress: Progress, budget: Budget
) -> None:
    """Sends the missing requests of an artefact; `BudgetReached` where none was answered within
    the limits of `budget`."""
    asked = artefact.ask(trials, progress, budget)
    reasons = [reply.left_out for reply in itertools.chain(*asked.replies)]
    if reasons and all(reasons):
        why = " and ".join(dict.fromkeys(reasons))
        raise BudgetReached(f"nothing was asked: {why}")
