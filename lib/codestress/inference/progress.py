"""Progress of a run: rate, failures, time left."""

from __future__ import annotations

import io
import os
import sys
import time
from typing import Self

from tqdm.auto import tqdm


def in_minutes(seconds: float) -> str:
    """Returns `seconds`, the time left, in words, to the whole minute: `about 4 min left`, or,
    where that is 0, `less than a minute left`."""
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes > 0 else "less than a minute left"


LOG_S = 10.0
"""Seconds between two lines of progress in a file."""
QUIET_S = 0.5
"""Seconds in which a short run shows no progress."""


class Progress:
    """Progress over the answers of a run, stored ones included: a bar on a terminal or in
    JupyterLab, whole lines in a file or a pipe, nothing within a build's notebooks or where
    `silent`. `total` is the number of answers, `label` stands before, and `until` is the end of a
    limited time (None: no limit)."""

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
        """The moment when the run ends (monotonic seconds), where its time is limited; else
        None."""
        self._words = ""
        self.failed = 0
        self.count = 0
        # A build has asked before it executes a notebook, so that there a bar would only be noise in the result; the
        # explorers' pages would keep its place when it is gone.
        silent = silent or not {"CODESTRESS_STAGING", "TQDM_DISABLE"}.isdisjoint(
            os.environ
        )
        # JupyterLab's standard error is of another type, and shows a widget.
        file = isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty()
        self._log = file and not silent
        self._began = time.monotonic()
        self._next = self._began + QUIET_S
        """Moment (monotonic seconds) from which on the next line may be written to a file."""
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

    def _write(self) -> None:
        """Writes a line to a file, unless one was written within the last `LOG_S` seconds."""
        now = time.monotonic()
        if self._log and now >= self._next:
            self._next = now + LOG_S
            self._describe()
            total, prefix = self._bar.total or 0, self._bar.desc
            postfix = f"failed={self.failed}" if self.failed else None
            taken = now - self._began
            line = tqdm.format_meter(
                self.count,
                total,
                taken,
                ncols=0,
                prefix=prefix,
                unit="answer",
                postfix=postfix,
            )
            print(
                line if total else prefix.removesuffix(": "),
                file=sys.stderr,
                flush=True,
            )

    def answered(self) -> None:
        if self.until is not None:
            self._describe()
        self._update()

    def _update(self) -> None:
        self.count += 1
        self._bar.update()
        self._write()

    def beside(self, words: str) -> None:
        """Shows the text `words` behind the label, in place of an earlier one, from the next time
        the bar is drawn."""
        self._words = f", {words}"
        self._describe()

    def _describe(self) -> None:
        """Sets the text before the bar: the label, the words behind it and, where the time is
        limited, the minutes left."""
        left = ""
        if self.until is not None:
            left = f", {in_minutes(self.until - time.monotonic())}"
        self._bar.set_description(f"{self.label}{self._words}{left}", refresh=False)

    def failure(self) -> None:
        self.failed += 1
        self._bar.set_postfix(failed=self.failed, refresh=False)
        self._update()

    def refresh(self) -> None:
        """Redraws the bar; in a file, adds a line where it is time for one."""
        self._bar.refresh()
        self._write()

    def skip(self, answers: int) -> None:
        """Lowers the bar's total by `answers`, a number of answers that will not be asked for."""
        self._bar.total = (self._bar.total or 0) - answers
