"""Build artefacts that are out of date: every request is sent once, for one artefact
after another, while notebooks are executed."""

import contextlib
import fcntl
import itertools
import time
from collections.abc import Iterator, Sequence

from codestress.errors import CodestressError, DataError, EngineError, StoreError
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.progress import Progress, in_minutes
from codestress.inference.requests import raise_failures
from codestress.notes import notes_kept
from codestress.paths import OUTPUTS
from codestress.program_counts import ProgramCounts, programs_so_far
from codestress.report.checked import changes_of_files, read_manifest
from codestress.report.published import read_published
from codestress.types import Trials

from .artefacts import Artefact
from .inputs import inputs_of
from .notebooks import check_parameters_cell, tell_ignored_values
from .options import warn
from .plan import check_windows
from .queue import NotebookQueue, Outcome, notebook_queue
from .turns import ask_by_turns


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """Return a context manager that waits for any other build to end, then holds the
    build lock of outputs/.

    Only one build runs at a time, because two builds would send the same requests
    twice. Raises `StoreError` if outputs/ cannot be written or locked.
    """
    try:
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        lock = (OUTPUTS / ".build.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            warn("another build is running here; waiting for it to end")
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
    """Return a pair: the reasons, as texts, why `artefact` must be built, and a dict
    from each part that its last build left out to the reason.

    Reasons are: not built yet, changed inputs or output files, questions not asked.
    There is no reason if the artefact is up to date. `inputs` is a dict from the name
    of an input to its present hash.
    """
    try:
        manifest = read_manifest(artefact.folder)
        stale = changes_of_files(artefact.folder, manifest)
        changed = manifest["inputs"].items() ^ inputs.items()
        stale += sorted({name for name, _ in changed})
        if manifest["not_asked"]:
            stale.append("some of its questions were not asked")
        return stale, manifest["not_run"]
    except DataError:
        return ["not built yet"], {}


def build(
    artefacts: Sequence[Artefact], *, jobs: int, force: bool, timeout_s: float | None
) -> list[Outcome]:
    """Bring all `artefacts` up to date and return an `Outcome` for each; a failed
    artefact does not stop the rest of the build.

    At most `jobs` notebooks are executed at the same time, each for at most `timeout_s`
    seconds (None: no limit). If `force` is true, artefacts that are up to date are
    built too. This process asks the models, for one artefact after another, so that
    every request is sent once. A notebook is executed as soon as its responses are in
    the store. In a context `minutes_from_now` (a time limit), all artefacts are asked
    in turns, and the figures show the responses so far.

    Raises `StoreError` if outputs/ or the store cannot be used, `ParameterError` if a
    notebook's parameters cell differs from its schema, and `DataError` if a paper's
    file of published numbers is faulty.
    """
    tell_ignored_values(artefacts)
    with build_lock():
        inputs = {artefact.label: inputs_of(artefact) for artefact in artefacts}
        outcomes, stale = [], []
        for artefact in artefacts:
            why, not_run = standing(artefact, inputs[artefact.label])
            if why or force:
                check_parameters_cell(artefact.notebook, type(artefact.parameters))
                # Read now: else a faulty file fails the notebook after models were asked.
                read_published(artefact.paper)
                stale.append(artefact)
            else:
                outcomes.append(Outcome(artefact.label, "up to date", not_run=not_run))
        if stale:
            # One budget for all artefacts, and for requests that their notebooks make.
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
    """Yield, for each artefact, the artefact, its trials, and the counts of programs
    that ran to make the trials.

    An artefact is recorded in `notebooks` instead, as failed, if its trials cannot be
    made, or if a prompt is too long for a model and `budget` has no time limit. An
    artefact is recorded as stopped if the time of `budget` is already over.
    """
    for number, artefact in enumerate(artefacts, 1):
        before = programs_so_far()
        try:
            if budget.over:
                raise BudgetReached(f"nothing was asked: {budget.reached()}")
            if budget.until is not None:
                left = in_minutes(budget.until - time.monotonic())
                place = f"{number} of {len(artefacts)}"
                warn(f"making the questions of {artefact.name} ({place}); {left}")
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
    """Send the missing requests of each artefact in turn; return all outcomes when the notebooks have ended.

    Requests are sent within the limits of `budget`. An artefact's notebook is queued in `notebooks` after the
    artefact's last response. A model that cannot be reached fails all artefacts that need the model, without another
    try for each. Only `StoreError` is raised; any other error fails its artefact.
    """
    questions = list(_questions_of(artefacts, notebooks, budget))
    total = sum(trials.total(artefact.model_names) for artefact, trials, _ in questions)
    unreachable: dict[str, CodestressError] = {}
    with Progress(total, "build", budget.until) as progress:
        shown_on = progress
        if budget.until is not None:
            ask_by_turns([question[:2] for question in questions], budget, progress)
            shown_on = Progress(0, "", silent=True)  # the questions were counted
        for artefact, trials, ran in questions:
            gone = unreachable.keys() & artefact.model_names
            if gone and trials.total(artefact.model_names):
                notebooks.fail(artefact, unreachable[min(gone)])
                continue
            before = programs_so_far()
            try:
                _ask(artefact, trials, shown_on, budget)
            except StoreError:
                raise
            except CodestressError as error:
                # Subclasses do not count: a server that cannot continue a begun answer
                # still answers the requests of other artefacts.
                if type(error) is EngineError:
                    unreachable[error.model] = error
                notebooks.fail(artefact, error)
            else:
                notebooks.execute(artefact, ran + programs_so_far() - before)
    return notebooks.wait()


def _ask(
    artefact: Artefact, trials: Trials, progress: Progress, budget: Budget
) -> None:
    """Send the missing requests of an artefact. Raises `BudgetReached` if no trial was
    answered within the limits of `budget`, and `IncompleteError` if every request
    failed, which makes no figure even where failures count."""
    asked = artefact.ask(trials, progress, budget)
    replies = [*itertools.chain(*asked.replies)]
    reasons = [reply.left_out for reply in replies]
    if replies and all(reasons):
        why = " and ".join(dict.fromkeys(reasons))
        raise BudgetReached(f"nothing was asked: {why}")
    if all(reply.failure for reply in replies):
        raise_failures(asked)
