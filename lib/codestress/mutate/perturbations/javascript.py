"""JavaScript programs that perturbations rewrite (CodeCrash, section 4.2), by edits of
the text at nodes that tree-sitter finds.

The paper prints templates for Python alone; the templates here are their counterparts.
A vanilla JavaScript program keeps the layout of its author. Problems hold their
arguments as JSON texts, in the order of the parameters.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tree_sitter import Node

from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, syntax_fault, text_of

from ..edits import Edit, Lines, edited
from .edits import (
    MessageSite,
    NotPerturbed,
    Place,
    stimuli,
    without,
)
from .javascript_syntax import (
    FUNCTIONS,
    NOT_MOVED,
    around,
    declared,
    free_names,
    kinds_of,
    line_of,
    message_sites,
    parameters,
    part,
    text_at,
)


class JavaScriptProgram:
    """Program of a JavaScript problem, with a list of edits of its text, which must not
    overlap.

    Raises `NotPerturbed` if the program does not parse.
    """

    truths = ("true", "false")
    comment, printed = "// {}", "console.log({!r});"
    noted, declared = "noteRan({});", "var {name} = {value};"
    index = "i"
    texts = stimuli("rewriting")["javascript"]

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.root = parser("javascript").parse(problem.code.encode()).root_node
        if fault := syntax_fault(self.root):
            raise NotPerturbed(f"the program does not parse as JavaScript: {fault}")
        self.lines = Lines(problem.code)
        self.edits: list[Edit] = []

    def edit(self, start: int, end: int, text: str) -> None:
        """Add an edit that replaces the characters from index `start` to before `end`
        with `text`."""
        self.edits.append(Edit(start, end, text))

    def rename(self, node: Node, name: str) -> None:
        """Add an edit that replaces the identifier `node` with `name`; a shorthand
        property `{old}` becomes `{old: NAME}`."""
        key = "" if node.type == "identifier" else f"{text_of(node)}: "
        self.edit(*self.lines.span(node), key + name)

    def changed(self) -> Problem:
        """Return the problem with all edits made; edits at the same index are made in
        their order."""
        return replace(self.problem, code=edited(self.problem.code, self.edits))

    # --- what may be done

    def called_function(self) -> Node:
        """Return the definition of the function that the problem calls.

        Raises `NotPerturbed` if the top level has no such function.
        """
        name = self.problem.function
        for node in self.root.named_children:
            if node.type == "function_declaration" and text_at(node, "name") == name:
                return node
        raise NotPerturbed(f"no function {name} at the program's top level")

    # --- REN, RTF, GBC

    def used_names(self) -> set[str]:
        """Return the names that stand in the program as identifiers."""
        return {text_of(node) for node in nodes(self.root) if node.type == "identifier"}

    def conditions(self) -> Iterator[Place]:
        """Yield the conditions of if and while, in the order of the text.

        Each is a `Place` with RTF's templates for its kind. Conditions that contain a
        node of `NOT_MOVED` are left out.
        """
        for inner, kind in kinds_of(self.root, "conditions").items():
            if any(child.type in NOT_MOVED for child in nodes(inner)):
                continue
            put = partial(self.edit, *self.lines.span(inner))
            named = parameters(around(inner, FUNCTIONS))
            text = text_of(inner)
            if inner.type == "sequence_expression" or text.startswith("{"):
                text = f"({text})"
            yield Place(line_of(inner), named, put, text, self.texts[kind])

    def places(self) -> list[Place]:
        """Return the places at which a statement may be put: before each statement
        inside functions."""
        places = []
        for block in nodes(self.root):
            function = around(block, FUNCTIONS)
            if block.type != "statement_block" or function is None:
                continue
            for statement in block.named_children:
                if statement.type != "comment":
                    put = partial(self._put_before, statement)
                    places.append(Place(line_of(statement), parameters(function), put))
        return places

    def _put_before(self, statement: Node, text: str) -> None:
        """Add an edit that puts the lines `text` before a statement, with the
        statement's indentation."""
        start = self.lines.span(statement)[0]
        indent = self.lines.indent(line_of(statement))
        indent += " " * (statement.start_point[1] - len(indent))
        feed = f"{self.lines.feed}{indent}"
        self.edit(start, start, f"{text}\n".replace("\n", feed))

    def hidden_names(self) -> tuple[list[str], list[str]]:
        """Return two lists of names that a new global variable may have without effect:
        of parameters, and of local variables.

        Names of functions, classes, top-level declarations and globals are left out.
        """
        excluded = free_names(self.root)
        params, local = list[str](), list[str]()
        for function in nodes(self.root):
            if function.type in FUNCTIONS:
                params += parameters(function)
        for name, kind, place in declared(self.root):
            if kind in ("function", "class") or place == self.root.id:
                excluded.add(name)
            if kind == "variable":
                local.append(name)
        return without(params, excluded), without(local, excluded)

    def put_first(self, text: str) -> None:
        """Add an edit that puts `text` on a line before the program."""
        self.edit(0, 0, f"{text}{self.lines.feed}")

    # --- MCC, MPS, MHC

    def message_sites(self) -> Iterator[MessageSite]:
        """Return the places at which a message may stand on a line of its own, in the
        order of the text."""
        return message_sites(self.root, self.problem.code)

    def returns(self) -> list[int]:
        """Return the numbers of the lines on which the called function's own return
        statements end.

        Return statements of functions inside the called one do not count.
        """
        function = self.called_function()
        ends = []
        for node in nodes(function):
            if node.type == "return_statement" and around(node, FUNCTIONS) == function:
                ends.append(node.end_point[0] + 1)
        return ends

    def body(self) -> tuple[int, int, int]:
        """Return first line, last line and indentation (in spaces) of the called
        function's body.

        Raises `NotPerturbed` if the body is empty.
        """
        block = part(self.called_function(), "body")
        if block is None or not block.named_children:
            raise NotPerturbed(f"{self.problem.function} has no body")
        first, last = block.named_children[0], block.named_children[-1]
        return line_of(first), last.end_point[0] + 1, first.start_point[1]

    # --- running it

    def note_returns(self) -> None:
        """Add the edits after which the program, when it runs, records the value of
        each return statement as a JSON text."""
        returns = [node for node in nodes(self.root) if node.type == "return_statement"]
        values = [node.named_children[0] for node in returns if node.named_children]
        for ordinal, value in enumerate(values):
            start, end = self.lines.span(value)
            self.edit(start, start, f"noteReturn({ordinal}, (")
            self.edit(end, end, "))")
