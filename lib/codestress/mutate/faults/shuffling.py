"""Order of the methods in a Java class, which the program usually cannot see."""

from codestress.sandbox.runtimes import nodes
from codestress.types import Language

from ..edits import Lines
from .hidden import refuse_seen
from .trees import JAVA_CLASSES, NotNeutral, java_root

Methods = list[tuple[int, int]]
"""First and last line of each method, from 1."""


def movable(code: str, language: Language) -> list[Methods]:
    """Returns, for each Java class with at least two methods that may change places, a list with
    the first and last line of each such method, from 1; methods that share a line with other code
    may not. Raises `NotNeutral` if there is no such class, if the program may see the order, and
    for Python, whose methods the paper leaves in place (Table I)."""
    if language == "python":
        raise NotNeutral("functions are shuffled in Java alone")
    refuse_seen("order", code, language)
    lines = Lines.of(code)
    groups = []
    for node in nodes(java_root(code)):
        group = []
        for child in node.named_children if node.type in JAVA_CLASSES else ():
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            alone = whole.strip() == lines.text[slice(*lines.span(child))]
            if child.type == "method_declaration" and alone:
                group.append((first, last))
        if len(group) > 1:
            groups.append(group)
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups
