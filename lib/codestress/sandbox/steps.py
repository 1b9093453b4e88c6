"""Counts the steps of a Python program in its own process, and ends the process at the limit.

A program that turns the counter off is ended by the limit of CPU time instead.
"""

import itertools
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Tracer = Callable[[FrameType, str, Any], Any]

LIBRARY = (*(f"{folder}/" for folder in sys.path), "<frozen ")
"""Prefixes of the library's file names: Python's, the packages' and the kit's."""


def counter(steps: int, result: int, last: bytes) -> Tracer:
    """Returns a trace function for `sys.settrace` that counts executed lines of code outside the
    library, backward jumps included; when `steps` lines are counted, the next one writes the line
    `last` to the descriptor `result` and ends the process."""
    left = itertools.repeat(True, steps)
    following, write, leave = next, os.write, os._exit

    def lines(_frame: FrameType, event: str, _argument: Any) -> None:
        if event == "line" and not following(left, False):
            write(result, last)
            leave(0)

    def calls(frame: FrameType, _event: str, _argument: Any) -> Tracer | None:
        return None if frame.f_code.co_filename.startswith(LIBRARY) else lines

    return calls
