"""Runs Python programs in a child of the forkserver and writes their results; standard library
only.

This process does not know the expected value: a program that walks every frame and object finds
nothing worth knowing.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import sys
from functools import lru_cache
from types import CodeType
from typing import Any

from . import steps
from .data import NotData, TooLarge, decode, encode

FILENAME = "<program>"
LONGEST_MESSAGE = 200


def run_programs(
    programs: list[dict[str, Any]], limits: dict[str, Any], token: str, result: int
) -> None:
    """Runs the programs one after the other, writes the outcome of each to the descriptor `result`
    as a line (`token`, then JSON), and ends the process. Each program gets the CPU time of `limits`
    anew.
    """
    for number, program in enumerate(programs):
        if number:
            used = resource.getrusage(resource.RUSAGE_SELF)
            seconds = math.ceil(used.ru_utime + used.ru_stime) + limits["cpu_s"]
            ceiling = resource.getrlimit(resource.RLIMIT_CPU)[1]
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, ceiling))
        _run(program, limits, token, result)
    os._exit(0)


def _run(
    program: dict[str, Any], limits: dict[str, Any], token: str, result: int
) -> None:
    def report(*outcome: object) -> None:
        text = json.dumps(outcome)
        most = limits["output_bytes"]
        if len(text) > most:
            text = json.dumps(["output limit", f"more than {most:,} bytes"])
        line = f"{token} {text}\n".encode()
        while line:
            line = line[os.write(result, line) :]

    try:
        code = _compiled(decode(program["source"]))
        call = None
        if expression := decode(program["call"]):
            call = compile(expression, FILENAME, "eval", dont_inherit=True)
        arguments = decode(program["arguments"])
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
        OverflowError,
    ) as error:
        report("syntax error", _told(error))
        return
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    reason = f"more than {limits['steps']:,} steps"
    end = steps.ending(result, token, "step limit", reason)
    sys.settrace(steps.counter(limits["steps"], end))
    try:
        value = _value(code, call, program["function"], arguments, names)
        report("returned", encode(value))
    except NotData as error:
        report("not data", str(error))
    except TooLarge as error:
        report("output limit", str(error))
    except BaseException as error:  # whatever a program raises is its outcome
        report("raised", type.__getattribute__(type(error), "__name__"), _told(error))


@lru_cache(maxsize=1)
def _compiled(source: str) -> CodeType:
    """Returns the code object of the Python text `source`; the last one is cached, because
    neighbouring programs often differ in their calls alone. Raises the errors of `compile`."""
    return compile(source, FILENAME, "exec", dont_inherit=True)


def _value(
    code: CodeType,
    call: CodeType | None,
    function: str,
    arguments: Any,
    names: dict[str, Any],
) -> Any:
    exec(code, names)
    if call is not None:
        return eval(call, names)
    if function:
        positional, keywords = arguments
        return names[function](*positional, **keywords)
    return None


def _told(error: BaseException) -> str:
    try:
        return str.__str__(str(error))[:LONGEST_MESSAGE]
    except BaseException:  # its own __str__ fails
        return ""
