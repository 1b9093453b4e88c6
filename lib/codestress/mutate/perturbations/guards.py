"""Rules by which perturbations refuse Python programs. Each row names rewritings, a reason and
constructs (refusals.py)."""

from __future__ import annotations

import ast
from functools import lru_cache

from codestress.problems.program import Problem

from ..refusals import python_constructs, rule

EVERY = ("REN", "RTF", "GBC", "PSC-ALL", "MCC", "NCC", "MPS", "MHC", "BLANK")
"""Names of whole perturbations; other rewritings in the rules are pieces of the texts that
perturbations insert."""
NAMES = ("REN", "PSC-ALL")
"""Perturbations that rename."""
GARBAGE = ("GBC", "PSC-ALL")
"""Perturbations that put garbage in."""
COMPARED = ("({cond}) ==", "({cond}) !=", "int(")
TWICE = "bool(-~"
"""Piece of the template that evaluates a condition twice; templates with a piece of `COMPARED`
compare the condition with a truth value."""
BUILTINS = (
    "bind bool, bind eval, bind int, bind iter, bind len, bind print, bind range, bind str, bind abs, bind ord, "
    "bind isinstance"
)
"""Builtins that inserted texts call, as names that a program binds."""
FOREIGN = "another's module"
"""Construct of programs that import from outside `PLAIN_MODULES`."""
CLASSES = f"ClassDef, type, __class__, {FOREIGN}"
"""Constructs by which values may be instances of classes that the kit does not know."""
PLAIN_MODULES = frozenset(
    """
    __future__ bisect collections copy datetime functools heapq itertools math operator random re string time typing
    """.split()  # noqa: SIM905
)
"""Modules whose values give booleans when they are compared, and are the same when they are
evaluated again."""
RULES = (
    rule(
        EVERY,
        "the program reads its own text",
        "import inspect, import traceback, import linecache, import dis, import ast, import tokenize, import trace, "
        "import symtable, import pdb, import bdb, import logging, import warnings, import tracemalloc, ._getframe, "
        ".exc_info, .settrace, .setprofile, .gi_frame, .cr_frame, .tb_lineno, .tb_frame, "
        ".co_varnames, .co_names, .with_traceback, __traceback__, __code__, __file__, "
        "__loader__, __globals__, __closure__, .get_type_hints",
    ),
    rule(
        [*NAMES, *GARBAGE, "_ :=", "lambda", "{para}"],
        "names are found by their texts",
        "locals, vars, globals, eval, exec, compile, dir, __import__, __builtins__, breakpoint, help, .modules, "
        "import importlib, import builtins, import __main__, import pickle, import marshal, import shelve, "
        "import unittest, import typing_extensions",
    ),
    rule(NAMES, "a star import", ".*"),
    rule(NAMES, "keywords that are not written out", "**"),
    rule(
        NAMES,
        "attributes are found by their texts",
        "getattr, hasattr, setattr, delattr, .attrgetter",
    ),
    rule(
        NAMES,
        "a function's own name may be read",
        "a function as a text, __name__, __qualname__, __defaults__, __kwdefaults__, __annotations__, __signature__, "
        "TypeVar, TypeAlias, ParamSpec, TypeVarTuple",
    ),
    rule(NAMES, "an exception names things", "the message of an exception"),
    rule(NAMES, "a name that classes mangle", "a mangled name"),
    rule(GARBAGE, "unbound names are expected", "NameError, UnboundLocalError"),
    rule(
        GARBAGE,
        "values that are missed",
        "import gc, import weakref, .getrefcount, __del__, bind __del__",
    ),
    rule(
        ["MPS", "print("],
        "stdout is looked at",
        ".stdout, __stdout__, .redirect_stdout, .fileno, .dup2, import subprocess, bind print, __doc__",
    ),
    rule(
        ["(int", "bool(", "eval(", "range(", "iter(", "print("],
        "a builtin that is bound",
        BUILTINS,
    ),
    rule(["_ :="], "the name _ is read", "_"),
    rule(
        ["lambda"],
        "the depth of recursion is looked at",
        "RecursionError, RuntimeError, .setrecursionlimit, .getrecursionlimit",
    ),
    rule(COMPARED, "a comparison that may be no bool", CLASSES),
    rule(
        ["{para} ==", "{para} !="],
        "a value that may be unequal to itself",
        f"{CLASSES}, a fraction, Div, Pow, float, complex, pow, import math, import operator, import random, "
        "import time, import datetime",
    ),
    rule(
        ["print({para})"],
        "a value that may not be printed",
        f"{CLASSES}, Pow, LShift, chr, .decode, pow, half a character, import math, import operator",
    ),
    rule(["{para}"], "a parameter that may be unbound", "del {para}"),
    rule(
        [TWICE],
        "a value that may be another the second time",
        f"{CLASSES}, .defaultdict, defaultdict",
    ),
)
"""Rules about whole programs."""
IN_CONDITIONS = (
    rule(
        [TWICE],
        "a condition that may change something",
        "a call, Starred, In, NotIn, NamedExpr, Await, Yield, YieldFrom, GeneratorExp, ListComp, SetComp, DictComp",
    ),
    rule(
        ["lambda"],
        "a condition of its own frame",
        "NamedExpr, Await, Yield, YieldFrom, super, __class__",
    ),
)
"""Rules about the condition that a text replaces."""


@lru_cache(maxsize=4096)
def python_problem_constructs(problem: Problem) -> frozenset[str]:
    """Constructs of a Python problem's program and call, as `python_constructs` gives them; with
    the text `FOREIGN` where the program imports from outside `PLAIN_MODULES`."""
    found = python_constructs(
        ast.parse(f"{problem.code}\n{problem.function}({problem.arguments}\n)")
    )
    modules = {
        one.removeprefix("import ") for one in found if one.startswith("import ")
    }
    return found if modules <= PLAIN_MODULES else found | {FOREIGN}
