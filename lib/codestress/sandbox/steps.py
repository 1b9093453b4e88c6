"""Counts the steps of a Python program in its own process, and ends the process at the limit.

A program that turns the counter off is ended by the limit of CPU time instead.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Tracer = Callable[[FrameType, str, Any], Any]
End = Callable[[], None]

LIBRARY = (*(f"{folder}/" for folder in sys.path), "<frozen ")
"""Prefixes of the library's file names: Python's, the packages' and the kit's."""


def ending(result: int, token: str, *outcome: str) -> End:
    """Return a function that writes `token` and `outcome` as a line to the descriptor `result` and
    ends the process."""
    line = f"{token} {json.dumps(outcome)}\n".encode()
    write, leave = os.write, os._exit

    def end() -> None:
        write(result, line)
        leave(0)

    return end


def counter(steps: int, end: End) -> Tracer:
    """Return a trace function for `sys.settrace` that counts executed lines of code outside the
    library, backward jumps included; when `steps` lines are counted, the next one calls `end`."""
    left = itertools.repeat(True, steps)
    following = next

    def lines(_frame: FrameType, event: str, _argument: Any) -> None:
        if event == "line" and not following(left, False):
            end()

    def calls(frame: FrameType, _event: str, _argument: Any) -> Tracer | None:
        return None if frame.f_code.co_filename.startswith(LIBRARY) else lines

    return calls
