"""Counts the steps of a Python program in its own process, and ends a program that reaches for the
counter.

A program could look at every object and replace every name. The functions of this module therefore
use no global name, no builtin and no closure: they need only their defaults, which cannot be
replaced unseen or turned back. They also neither compare nor call a program's objects, whose code
would run uncounted.
"""

from __future__ import annotations

import _imp
import ctypes
import functools
import gc
import itertools
import json
import marshal
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any

Tracer = Callable[[FrameType, str, Any], Any]
End = Callable[[], None]

LIBRARY = (*(f"{folder}/" for folder in sys.path), "<frozen ")
"""Prefixes of the library's file names: Python's, the packages' and the kit's."""
REACHING = frozenset(
    (
        "sys.settrace",
        "sys.setprofile",
        "sys.addaudithook",
        "sys._current_frames",
        "gc.get_objects",
        "gc.get_referrers",
        "gc.get_referents",
        "sys.monitoring.register_callback",
    )
)
"""Audit events of a program that looks for the counter of its steps, turns it off, or runs code
where nothing counts."""
MADE = frozenset(("code.__new__", "marshal.loads", "marshal.load"))
"""Audit events of code that is made from no text; the library itself may cause them."""
OTHER_INTERPRETERS = frozenset(
    ("_xxsubinterpreters", "_interpreters", "_testcapi", "_testinternalcapi")
)


def ending(result: int, token: str, *outcome: str) -> End:
    """Returns a function that writes `token` and `outcome` as a line to the descriptor `result` and
    ends the process, even if the program replaced modules and builtins."""
    line = f"{token} {json.dumps(outcome)}\n".encode()

    def end(
        write: Callable[[int, bytes], int] = os.write,
        leave: Callable[[int], Any] = os._exit,
        result: int = result,
        line: bytes = line,
    ) -> None:
        write(result, line)
        leave(0)

    return end


@functools.cache
def codes(
    name: str,
    code_type: type = CodeType,
    kind: type = type,
    read: Callable[..., Any] = open,
    loads: Callable[[bytes], Any] = marshal.loads,
    compiled: Callable[..., Any] = compile,
    frozen: Callable[[str], Any] = _imp.get_frozen_object,
    tag: str = f".{sys.implementation.cache_tag}.pyc",
    status: Callable[[str], os.stat_result] = os.stat,
    fails: tuple[type[BaseException], ...] = (OSError, ImportError),
    unchanging: Callable[[list[CodeType]], frozenset[CodeType]] = frozenset,
) -> frozenset[CodeType]:
    """Returns all code objects of the library file `name`, also those inside functions and classes.
    They are read from the file's bytecode cache where that belongs to its present content (PEP
    552), else compiled. Empty for a file that cannot be read. Other arguments stay at their
    defaults."""
    folder, _, file = name.rpartition("/")
    found: list[CodeType] = []
    try:
        if not folder:  # <frozen importlib._bootstrap> is called otherwise
            module = name[8:-1]
            found = [
                frozen(
                    "_frozen_importlib" + module[20:]
                    if module[:20] == "importlib._bootstrap"
                    else module
                )
            ]
        else:
            source = status(name)
            made_of = [0, source.st_mtime_ns // 10**9 % 2**32, source.st_size % 2**32]
            with read(f"{folder}/__pycache__/{file[:-3]}{tag}", "rb") as cached:
                content = cached.read()
            if content[4:16] == b"".join(
                [number.to_bytes(4, "little") for number in made_of]
            ):
                found = [loads(content[16:])]
    except fails:  # by no other name: nothing here may be looked up
        pass
    if not found or found[0].co_filename != name:
        try:
            with read(name, "rb") as text:
                found = [compiled(text.read(), name, "exec", 0, True)]
        except fails:
            pass
    for one in found:
        found += [part for part in one.co_consts if kind(part) is code_type]
    return unchanging(found)


@functools.cache
def of_library(
    code: CodeType,
    codes: Callable[[str], frozenset[CodeType]] = codes,
    kind: type = type,
    text: type = str,
    begins: Callable[..., bool] = str.startswith,
    library: tuple[str, ...] = LIBRARY,
) -> bool:
    """Whether `code` is really a code object of the library file that it names as its own: a
    program can give any name to its code. Other arguments stay at their defaults."""
    name = code.co_filename
    return kind(name) is text and begins(name, library) and code in codes(name)


def counter(steps: int, end: End) -> Tracer:
    """Returns a trace function for `sys.settrace` that counts executed lines of code outside the
    library, backward jumps included; when `steps` lines are counted, the next one calls `end`."""
    left = itertools.repeat(True, steps)

    def lines(
        _frame: FrameType,
        event: str,
        _argument: Any,
        left: Any = left,
        following: Callable[[Any, bool], bool] = next,
        end: End = end,
    ) -> None:
        if event == "line" and not following(left, False):
            end()

    def calls(
        frame: FrameType,
        _event: str,
        _argument: Any,
        lines: Tracer = lines,
        of_library: Callable[[CodeType], bool] = of_library,
        too_deep: type[BaseException] = RecursionError,
    ) -> Any:
        try:
            return None if of_library(frame.f_code) else lines
        except too_deep:
            return lines

    return calls


def prepare(*modules: ModuleType) -> None:
    """Prepares the counting of steps in this process, once, for all children forked later.

    The frames' attributes that could turn line events off are removed, because no audit event
    reports such a change; the code of `modules`, which run beside programs, is read.
    """
    for name in ("f_trace", "f_trace_lines", "f_trace_opcodes"):
        del gc.get_referents(FrameType.__dict__)[0][name]
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(FrameType))
    for module in modules:
        for code in codes(str(module.__file__)):
            of_library(code)


def guard(tracer: Tracer, end: End) -> None:
    """Watches this process from now on, by an audit hook that cannot be removed, and calls `end`
    when the program touches the trace function `tracer` that counts its steps, or other means to
    run uncounted (such as the audit events `REACHING`)."""
    mine = (
        tracer,
        *getattr(tracer, "__defaults__", ()),
        end,
        of_library.__wrapped__,
        codes.__wrapped__,
    )

    def hook(
        event: str,
        arguments: tuple[Any, ...],
        mine: tuple[object, ...] = mine,
        reaching: frozenset[str] = REACHING,
        others: frozenset[str] = OTHER_INTERPRETERS,
        kind: type = type,
        text: type = str,
        sources: tuple[type, ...] = (str, bytes, type(None)),
        made: frozenset[str] = MADE,
        frame: Callable[[int], FrameType] = sys._getframe,
        of_library: Callable[[CodeType], bool] = of_library,
        end: End = end,
        tracer: Tracer = tracer,
    ) -> None:
        if (
            event == "sys.settrace"
            and of_library(frame(1).f_code)
            and frame(1).f_locals.get("save_trace")
            is tracer  # doctest puts back what it found
        ):
            return
        if (
            event in reaching
            or event[:6] == "ctypes"
            or (
                event == "import"
                and kind(arguments[0]) is text
                and arguments[0] in others
            )
            # A tree may have no lines, and so may code that is made otherwise.
            or (event == "compile" and kind(arguments[0]) not in sources)
            or (event in made and not of_library(frame(1).f_code))
        ):
            end()
        elif event == "object.__setattr__":
            for one in mine:
                if arguments[0] is one:
                    end()

    sys.addaudithook(hook)
