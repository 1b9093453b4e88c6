"""Programs that look at their own text: by what they name it can be seen where they do."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Literal

from codestress.generation.scopes import reads_message
from codestress.papers.faultloc.faults.trees import tree_of, words_of
from codestress.types import Language

Aspect = Literal["lines", "names", "order"]
TRACES = (
    *("exc_info", "format_exc", "print_exc", "format_exception", "print_exception", "TracebackException"),
    *("format_exception_only", "currentframe", "getsource", "getsourcelines", "getframeinfo", "f_code", "__code__"),
    *("settrace", "setprofile", "inspect", "builtins", "__builtins__"),
)
NAMED: dict[Aspect, set[str]] = {
    "names": {
        *(*TRACES, "f_locals", "__annotations__", "signature", "getfullargspec", "getcallargs", "getargvalues"),
        *("get_type_hints", "dis", "co_varnames"),
    },
    "lines": {
        *(*TRACES, "f_lineno", "tb_lineno", "extract_stack", "extract_tb", "format_tb", "format_stack", "walk_tb"),
        *("print_stack", "print_tb", "walk_stack", "__file__", "getline", "getlines", "f_lasti", "stack_info"),
    },
    "order": {"__dict__", "getmembers", "classify_class_attrs", "co_firstlineno", *TRACES},
}
DYNAMIC: dict[Aspect, set[str]] = {
    "names": {"locals", "vars", "eval", "exec", "dir"},
    "lines": set(),
    "order": {"locals", "vars", "eval", "exec"},
}
"""Functions that see the names of variables."""
JAVA: dict[Aspect, set[str]] = {
    "lines": {"getStackTrace", "StackWalker", "getLineNumber", "dumpStack"},
    "names": {"getParameters"},
    "order": {"getMethods", "getDeclaredMethods", "getStackTrace", "StackWalker", "getLineNumber"},
}


@lru_cache(maxsize=2048)
def looks_at(aspect: Aspect, code: str, language: Language) -> str:
    """What a program names by which it sees its lines, its variables' names or its methods' order; empty for nothing.

    In Java a stack trace counts where it is printed anywhere but on the standard error.
    """
    if language == "java":
        printed = {"printStackTrace(…)"} if re.search(r"\bprintStackTrace\s*\(\s*[^\s)]", code) else set()
        return min(words_of(code) & JAVA[aspect] | printed, default="")
    tree = tree_of(code)
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                found |= {name} & (DYNAMIC[aspect] | NAMED[aspect])
            case ast.Attribute(value=value, attr=name):
                instance = name == "__dict__" and isinstance(value, ast.Name) and value.id == "self"
                found |= set() if instance else {name} & NAMED[aspect]
            case ast.alias(name=name):
                found |= set(name.split(".")) & NAMED[aspect]
            case ast.Constant(value=str(text)):
                found |= {text} & NAMED[aspect]
                if aspect == "lines" and ("(lineno)" in text or "{lineno" in text):
                    found.add("lineno")
            case ast.ExceptHandler() if aspect == "names" and reads_message(node):
                found.add(f"the message of {node.name}")
    return min(found, default="")
