"""Progress of a run: answers, rate, failures, time left."""

from __future__ import annotations

import io
import os
import sys
import time
from typing import Self

from tqdm.auto import tqdm

LOG_S = 10.0
"""Seconds between two lines of progress in a file."""
QUIET_S = 0.5
"""Seconds in which a short run shows no progress."""


def in_minutes(seconds: float) -> str:
    """Return a time left in words, to the whole minute."""
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes > 0 else "less than a minute left"


class Progress:
    """Progress over the answers of a run, stored ones included: a bar on a terminal or in
    JupyterLab, whole lines in a file or a pipe, nothing within a build's notebooks or
    where `silent`."""

    def __init__(
        self,
        total: int,
        label: str,
        until: float | None = None,
        *,
        silent: bool = False,
    ) -> None:
        self.label = label
        self.until = until
        """End of a limited time (monotonic seconds)."""
        self.count = 0
        self.failed = 0
        self._words = ""
        # A build has asked before it executes a notebook: there a bar would only be noise
        # in the result, and the explorers' pages would keep its place when it is gone.
        silent = silent or "CODESTRESS_STAGING" in os.environ
        silent = silent or "TQDM_DISABLE" in os.environ
        # JupyterLab's standard error is of another type, and shows a widget.
        file = isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty()
        self._log = file and not silent
        self._began = time.monotonic()
        self._next = self._began + QUIET_S
        """Time from which on the next line may be written to a file."""
        self._bar = tqdm(
            total=total,
            desc=label,
            unit="answer",
            mininterval=0.2,
            delay=QUIET_S,
            leave=False,
            disable=silent or file,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
        if time.monotonic() - self._began > QUIET_S:
            self._next = 0.0
            self._write()

    def answered(self) -> None:
        self.count += 1
        if self.until is not None:
            self._describe()
        self._bar.update()
        self._write()

    def failure(self) -> None:
        self.failed += 1
        self._bar.set_postfix(failed=self.failed, refresh=False)
        self.answered()

    def skip(self, answers: int) -> None:
        """Lower the total by a number of answers that will not be asked for."""
        self._bar.total = (self._bar.total or 0) - answers

    def beside(self, words: str) -> None:
        """Show words behind the label, in place of earlier ones, when the bar is next
        drawn."""
        self._words = f", {words}"
        self._describe()

    def refresh(self) -> None:
        """Redraw the bar; in a file, add a line where it is time for one."""
        self._bar.refresh()
        self._write()

    def _describe(self) -> None:
        """Set the text before the bar."""
        left = ""
        if self.until is not None:
            left = f", {in_minutes(self.until - time.monotonic())}"
        self._bar.set_description(f"{self.label}{self._words}{left}", refresh=False)

    def _write(self) -> None:
        """Write a line to a file, unless one was written within the last seconds."""
        now = time.monotonic()
        if not self._log or now < self._next:
            return
        self._next = now + LOG_S
        self._describe()
        line = self._bar.desc.removesuffix(": ")
        if self._bar.total:
            line = tqdm.format_meter(
                self.count,
                self._bar.total,
                now - self._began,
                ncols=0,
                prefix=self._bar.desc,
                unit="answer",
                postfix=f"failed={self.failed}" if self.failed else None,
            )
        print(line, file=sys.stderr, flush=True)
