"""How far a run is: rate, failures, time left."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Self

from tqdm.auto import tqdm


class Progress:
    """A progress bar over the answers of a run, stored ones included."""

    def __init__(self, total: int, label: str, bar: Callable[..., tqdm[Any]] = tqdm) -> None:
        self.failed = 0
        # In JupyterLab the bar is a widget, on a terminal a line; in a log file a line every ten seconds. A build
        # has asked before it executes a notebook, so that there a bar would only be noise in the result; the explorers'
        # pages would keep its place when it is gone.
        interval = 0.2 if sys.stderr.isatty() else 10
        silent = "CODESTRESS_STAGING" in os.environ or "TQDM_DISABLE" in os.environ
        self._bar = bar(
            total=total, desc=label, unit="answer", mininterval=interval, delay=0.5, leave=False, disable=silent
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def answered(self) -> None:
        self._bar.update()

    def failure(self) -> None:
        self.failed += 1
        self._bar.set_postfix(failed=self.failed, refresh=False)
        self._bar.update()

    def refresh(self) -> None:
        """Shows how far it is, on a terminal: a file would get a line each time."""
        if sys.stderr.isatty():
            self._bar.refresh()

    def skip(self, answers: int) -> None:
        """That many will not be asked for."""
        self._bar.total = (self._bar.total or 0) - answers
