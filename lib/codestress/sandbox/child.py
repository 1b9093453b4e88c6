"""Running of Python programs in a child of the forkserver, which writes their results.
Only the standard library is imported.

This process does not know the expected value, so that a program that walks every frame
and object cannot find it. The process counts a program's steps and ends at the limit. A
program that turns the counter off is ended by the limit of CPU time instead.
"""

import itertools
import json
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from .data import OUTPUT_BYTES, NotData, TooLarge, decode, encode

FILENAME = "<program>"
LONGEST_MESSAGE = 200
Tracer = Callable[[FrameType, str, Any], Any]

LIBRARY = (*(f"{folder}/" for folder in sys.path), "<frozen ")
"""Prefixes of the library's file names: Python's, the packages' and the kit's."""


def run_program(
    program: dict[str, Any], limits: dict[str, Any], token: str, result: int
) -> None:
    """Run a program and write its outcome to the descriptor `result` as a line
    (`token`, then JSON); end the process at the limit of steps."""

    def report(*outcome: object) -> None:
        text = json.dumps(outcome)
        if len(text) > OUTPUT_BYTES:
            text = json.dumps(["output limit", f"more than {OUTPUT_BYTES:,} bytes"])
        line = f"{token} {text}\n".encode()
        while line:
            line = line[os.write(result, line) :]

    try:
        code = _compiled(program["source"])
        call = compile(program["call"] or "None", FILENAME, "eval", dont_inherit=True)
        inputs = decode([program["arguments"], program["keywords"]])
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
        OverflowError,
    ) as error:
        report("syntax error", _message(error))
        return
    sys.settrace(step_counter(limits["steps"], result, token))
    try:
        value = _value(code, call, program["function"], inputs)
        sys.settrace(None)
        report("returned", encode(value))
    except NotData as error:
        report("not data", str(error))
    except TooLarge as error:
        report("output limit", str(error))
    except BaseException as error:  # whatever a program raises is its outcome
        report(
            "raised", type.__getattribute__(type(error), "__name__"), _message(error)
        )


@lru_cache(maxsize=1)
def _compiled(source: str) -> CodeType:
    """Return the code object of the Python text `source`.

    The last code object is cached, because neighbouring programs often differ in their
    calls alone. Raises the errors of `compile`.
    """
    return compile(source, FILENAME, "exec", dont_inherit=True)


def _value(code: CodeType, call: CodeType, function: str, inputs: Any) -> Any:
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(code, names)
    if not function:
        return eval(call, names)
    arguments, keywords = inputs
    return names[function](*arguments, **keywords)


def _message(error: BaseException) -> str:
    try:
        return str.__str__(str(error))[:LONGEST_MESSAGE]
    # Its own __str__ may fail.
    except BaseException:
        return ""


def step_counter(steps: int, result: int, token: str) -> Tracer:
    """Return a trace function for `sys.settrace` that counts executed lines of code
    outside the library, backward jumps included.

    After `steps` lines, at the next line, the function writes this outcome to the
    descriptor `result`, as a line with `token`, and ends the process.
    """
    text = json.dumps(["step limit", f"more than {steps:,} steps"])
    last = f"{token} {text}\n".encode()
    left = itertools.repeat(True, steps)
    following, write, leave = next, os.write, os._exit

    def lines(_frame: FrameType, event: str, _argument: Any) -> None:
        if event == "line" and not following(left, False):
            write(result, last)
            leave(0)

    def calls(frame: FrameType, _event: str, _argument: Any) -> Tracer | None:
        return None if frame.f_code.co_filename.startswith(LIBRARY) else lines

    return calls
