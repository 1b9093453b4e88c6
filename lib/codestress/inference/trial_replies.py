"""The replies of a run: for each model and trial, the keys of the stored responses, or the reason
why there are none; and the error where requests failed."""

from collections import Counter
from dataclasses import dataclass

from codestress.errors import IncompleteError

from .engines.base import RequestFailed
from .registry import ModelEntry


@dataclass(frozen=True, slots=True)
class Reply:
    """Result of one trial with one model: the keys of its responses in the store, or
    why it has none."""

    key: str
    """Key of the trial's last request."""
    attempts: int
    """Number of times that the last request was sent: more than 1 after refusals, 0 where
    the trial was not asked."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests."""
    failure: RequestFailed | None = None
    """Why the last request failed for good."""
    left_out: str = ""
    """Why the trial was not asked, in a run whose time is limited."""


@dataclass(frozen=True)
class Replies:
    """The replies of a run, by model and in the order of the trials."""

    models: list[ModelEntry]
    replies: list[list[Reply]]
    requests: int
    """Number of requests that the store lacked and the run sent."""


def raise_failures(asked: Replies) -> None:
    """Raise `IncompleteError`, with the most frequent causes, where requests failed."""
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
