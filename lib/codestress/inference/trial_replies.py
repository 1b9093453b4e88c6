"""The replies of a run: for each model and trial, the keys of the stored responses, or
the reason why there are none; and the error if requests failed."""

from collections import Counter
from dataclasses import dataclass

from codestress.errors import IncompleteError

from .engines.base import RequestFailed
from .registry import ModelEntry


@dataclass(frozen=True, slots=True)
class Reply:
    """Result of one trial with one model: the keys of its responses in the store, or
    the reason why it has none."""

    key: str
    """Key of the trial's last request; empty if the trial was not asked because time
    ran out."""
    attempts: int
    """Number of times that the last request was sent: more than 1 after refusals, 0 if
    time ran out before the first."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests."""
    failure: RequestFailed | None = None
    """Reason why the last request failed for good; None if it did not."""
    left_out: str = ""
    """Reason why the trial was not asked, in a run whose time is limited; else empty.
    """


@dataclass(frozen=True)
class Replies:
    """The replies of a run: a list for each model, in the order of the trials."""

    models: list[ModelEntry]
    replies: list[list[Reply]]
    requests: int
    """Number of requests that the store lacked and the run sent."""


def raise_failures(asked: Replies) -> None:
    """Raise `IncompleteError`, with the most frequent causes, if requests failed."""
    causes = Counter[str]()
    for entry, replies in zip(asked.models, asked.replies, strict=True):
        for reply in replies:
            if reply.failure and not reply.left_out:
                causes[f"{entry.name}: {reply.failure}"] += 1
    if not causes:
        return
    lines = [f"  {count} × {cause}\n" for cause, count in causes.most_common(5)]
    raise IncompleteError(
        f"{causes.total()} of {sum(map(len, asked.replies))} requests failed:\n"
        f"{''.join(lines)}"
        "What was answered is kept. Run the same command again to ask only the rest, "
        "or with --set failures=count to draw the figure with these counted as failures."
    )
