"""Aspects of a program's text that the program itself usually cannot see: its lines, the names of
local variables, the order of methods.

Rules look for constructs by which a program sees an aspect; a mutation of a visible aspect is
rejected.
"""

from functools import lru_cache
from typing import Literal

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..refusals import python_constructs, refusal, rule
from .trees import Node, NotNeutral, field_text, java_root, tree_of

Aspect = Literal["lines", "names", "order"]
RULES = (
    rule(
        ["lines", "names"],
        "the program sees the stack or the source",
        "import inspect, import builtins, __builtins__, __code__, .f_code, .exc_info, .format_exc, .print_exc, "
        ".format_exception, .print_exception, .TracebackException, .format_exception_only, .currentframe, ._getframe, "
        ".getsource, .getsourcelines, .getframeinfo, .settrace, .setprofile",
    ),
    rule(
        ["names"],
        "the program sees names of variables",
        "locals, vars, eval, exec, dir, .f_locals, __annotations__, .signature, .getfullargspec, .getcallargs, "
        ".getargvalues, .get_type_hints, .dis, import dis, .co_varnames, the message of an exception, getParameters",
    ),
    rule(
        ["lines"],
        "the program sees the numbers of its lines",
        "lineno, .f_lineno, .tb_lineno, .f_lasti, .extract_stack, .extract_tb, .format_tb, .format_stack, .walk_tb, "
        ".print_stack, .print_tb, .walk_stack, .getline, .getlines, .stack_info, stack_info=, __file__, getStackTrace, "
        "StackWalker, getLineNumber, dumpStack, printStackTrace(…)",
    ),
    rule(
        ["order"],
        "the program sees the order of methods",
        "getMethods, getDeclaredMethods, getStackTrace, StackWalker, getLineNumber",
    ),
)


def refuse_seen(aspect: Aspect, code: str, language: Language) -> None:
    """Raises `NotNeutral` if the program `code` does not parse, or may see an aspect of its own
    text (`lines`, `names` of variables or `order` of methods); else returns nothing."""
    if why := refusal(RULES, aspect, constructs(code, language)):
        raise NotNeutral(why)


@lru_cache(maxsize=2048)
def constructs(code: str, language: Language) -> frozenset[str]:
    """Constructs of a program for `RULES`, as a set of texts. Python: those of `python_constructs`.
    Java: identifiers, contents of strings, and `NAME(…)` for each call with arguments.

    In Java `printStackTrace` counts only with arguments: else it prints on the standard error.
    Raises `NotNeutral` if the program does not parse.
    """
    if language == "python":
        return python_constructs(tree_of(code))
    node: Node
    found = set[str]()
    for node in nodes(java_root(code)):
        if node.type in ("identifier", "type_identifier", "string_fragment"):
            found.add(text_of(node))
        elif node.type == "method_invocation":
            given = node.child_by_field_name("arguments")
            if given.named_children:
                found.add(f"{field_text(node, 'name')}(…)")
    return frozenset(found)
