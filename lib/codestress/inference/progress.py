"""Progress of a run: answers, rate, failures, and time left."""

import io
import os
import sys
import time
from typing import Any

from tqdm.auto import tqdm

LOG_S = 10.0
"""Seconds between two lines of progress in a file."""
QUIET_S = 0.5
"""Seconds at the start of a run in which no progress is shown."""


def say(line: str) -> None:
    """Print a line on standard error, above the bars of `Progress`."""
    tqdm.write(line, sys.stderr)


def in_minutes(seconds: float) -> str:
    """Return a time left in words, to the whole minute."""
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes > 0 else "less than a minute left"


class Progress(tqdm):  # type: ignore[type-arg]
    """Progress over the answers of a run, stored ones included.

    The progress is a bar on a terminal or in JupyterLab, whole lines in a file or a
    pipe, and nothing within a build's notebooks or if `silent`.
    """

    failed = 0
    _next = 0.0
    """Time from which on the next line may be written to a file."""

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
        """End of a limited time, in seconds of `time.monotonic`; None without a limit.
        """
        # In JupyterLab, standard error is of another type, and the bar is a widget.
        self._log = isinstance(sys.stderr, io.TextIOWrapper) and not sys.stderr.isatty()
        # A build asks before it executes a notebook. A bar in the notebook would only be
        # noise in the result, and the explorers' pages would keep an empty place for it.
        hidden = {"CODESTRESS_STAGING", "TQDM_DISABLE"} & os.environ.keys()
        width, file = (0, io.StringIO()) if self._log else (None, None)
        super().__init__(
            total=total,
            desc=label,
            unit="answer",
            mininterval=0.2,
            miniters=1,
            delay=QUIET_S,
            leave=False,
            ncols=width,
            file=file,
            disable=silent or bool(hidden),
        )

    def __exit__(self, *_: object) -> None:
        if self.format_dict["elapsed"] > QUIET_S:
            self._next = 0.0
            self.refresh()
        self.close()

    def display(self, *args: Any, **options: Any) -> Any:
        """Draw the bar; if progress goes to a file, write a line if the last line is
        `LOG_S` seconds old."""
        now = time.monotonic()
        label = self.label
        if self.until is not None:
            label += f", {in_minutes(self.until - now)}"
        self.set_description(label, refresh=False)
        if not self._log:
            return super().display(*args, **options)
        if now >= self._next:
            self._next = now + LOG_S
            line = str(self) if self.total else self.desc.removesuffix(": ")
            print(line, file=sys.stderr, flush=True)
        return True

    def failure(self) -> None:
        self.failed += 1
        self.set_postfix(failed=self.failed, refresh=False)
        self.update()
