"""Aspects of a program's text that the program itself usually cannot see: its lines, the names of
local variables, the order of methods.

Rules (rules.yaml) look for constructs by which a program sees an aspect; a mutation of a visible
aspect is rejected.
"""

from functools import lru_cache
from typing import Literal

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..refusals import python_constructs, refusal
from .trees import RULES, Node, NotNeutral, field_text, java_root, tree_of

Aspect = Literal["lines", "names", "order"]


def refuse_seen(aspect: Aspect, code: str, language: Language) -> None:
    """Raises `NotNeutral` if the program `code` does not parse, or may see an aspect of its own
    text (`lines`, `names` of variables or `order` of methods); else returns nothing."""
    if why := refusal(RULES["seen"], aspect, constructs(code, language)):
        raise NotNeutral(why)


@lru_cache(maxsize=2048)
def constructs(code: str, language: Language) -> frozenset[str]:
    """Constructs of a program for the rules, as a set of texts. Python: those of
    `python_constructs`. Java: identifiers, contents of strings, and `NAME(…)` for each call with
    arguments.

    In Java `printStackTrace` counts only with arguments: else it prints on the standard error.
    Raises `NotNeutral` if the program does not parse.
    """
    if language == "python":
        return python_constructs(tree_of(code))
    node: Node
    texts = set[str]()
    for node in nodes(java_root(code)):
        if node.type in ("identifier", "type_identifier", "string_fragment"):
            texts.add(text_of(node))
        elif node.type == "method_invocation":
            arguments = node.child_by_field_name("arguments")
            if arguments.named_children:
                texts.add(f"{field_text(node, 'name')}(…)")
    return frozenset(texts)
