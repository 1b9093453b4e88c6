"""Python programs that perturbations rewrite: the syntax tree, and the places in the
tree that perturbations may change."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial

from codestress.problems.program import Problem

from ..edits import first_line
from ..scopes import (
    FunctionNode,
    Names,
    blocks,
    names_of,
    outside,
    parameter_names,
    statements,
)
from .edits import (
    MessageSite,
    NotPerturbed,
    Place,
    stimuli,
    unused,
    without,
)
from .python_sites import message_sites, noted


class PythonProgram:
    """Program and call of a Python problem as one syntax tree, so that a name changes
    in program and call alike.

    Edits change the tree, not the problem.
    """

    truths = ("True", "False")
    comment, printed = "# {}", "print({!r})"
    noted, declared = "note_ran({})", "{name} = {value}"
    texts = stimuli("rewriting")["python"]

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree of the program, with its call as the last statement.

        Raises `NotPerturbed` if the problem's text does not make a call, `SyntaxError`
        if it does not parse.
        """
        problem = self.problem
        tree = ast.parse(f"{problem.code}\n{problem.function}({problem.arguments}\n)")
        match tree.body[-1]:
            case ast.Expr(ast.Call(ast.Name(problem.function))):
                return tree
        raise NotPerturbed(f"{problem.call} is no call of {problem.function}")

    @property
    def call(self) -> ast.Call:
        """Call of the problem, as it stands in the tree."""
        return self.tree.body[-1].value  # type: ignore[attr-defined, no-any-return]

    @property
    def code(self) -> str:
        """Text of the program from the tree as it is now, without the call."""
        return ast.unparse(ast.Module(self.tree.body[:-1], []))

    def changed(self) -> Problem:
        """Return the problem with the tree as it is now.

        The call keeps its text, except for names that the tree renames in it
        (CodeCrash, appendix B.1.1). Raises `NotPerturbed` if such a name cannot be
        found in the text.
        """
        function, called = ast.unparse(self.call.func), f"{self.problem.function}("
        text = renamed_names(f"{called}{self.problem.arguments}\n)", self.call)
        arguments = text.removeprefix(f"{function}(").removesuffix("\n)")
        return replace(
            self.problem, code=self.code, function=function, arguments=arguments
        )

    # --- what may be done

    def called_function(self) -> FunctionNode:
        """Return the definition of the function that the problem calls.

        Raises `NotPerturbed` if the top level has no such function.
        """
        name = self.problem.function
        for statement in reversed(self.tree.body):
            if isinstance(statement, FunctionNode) and statement.name == name:
                return statement
        raise NotPerturbed(f"no function {name} at the program's top level")

    def parameters(self) -> list[str]:
        """Return the names of the called function's parameters."""
        return parameter_names(self.called_function())

    # --- RTF

    def conditions(self) -> Iterator[Place]:
        """Yield the conditions of if, elif and while, in the order of the text.

        Each is a `Place` with RTF's templates for its kind. Conditions in class bodies
        are left out.
        """
        for node, owner in statements(self.tree.body):
            # a lambda does not see a class body's names
            if not isinstance(node, ast.If | ast.While) or isinstance(
                owner, ast.ClassDef
            ):
                continue
            kind = "general"
            match node.test:
                case ast.Compare():
                    kind = "comparison"
                case ast.Constant(bool()):
                    kind = "constant"
            named = parameter_names(owner) if owner else []
            put = partial(_put_condition, node)
            text = ast.unparse(node.test)
            yield Place(node.test.lineno, named, put, text, self.texts[kind])

    # --- GBC

    @cached_property
    def names(self) -> Names:
        """Scopes and occurrences of names in the tree as it was when this property was
        first read."""
        return names_of(self.tree)

    def used_names(self) -> set[str]:
        """Return the names that occur in the program or its call."""
        return {occurrence.name for occurrence in self.names.occurrences}

    @property
    def index(self) -> str:
        """Name for a loop variable in inserted code: `i`, with underscores added if a
        function uses an `i` from the code around it."""
        shared = any(
            use.name == "i" and use.binding not in (use.scope, outside(use.scope))
            for use in self.names.occurrences
        )
        return unused("i", self.used_names()) if shared else "i"

    def hidden_names(self) -> tuple[list[str], list[str]]:
        """Return two lists of names that a new global variable may have without effect:
        of parameters, and of local variables.

        The names nowhere mean a global or a built-in. Left out are `self`, `cls` and
        names that a class body binds.
        """
        excluded = {"self", "cls"} | bound_in_classes(self.names)
        for occurrence in self.names.occurrences:
            owner = occurrence.binding
            if owner is None or owner.kind == "module":
                excluded.add(occurrence.name)
        params, local = list[str](), list[str]()
        for node in ast.walk(self.tree):
            if isinstance(node, FunctionNode):
                params += parameter_names(node)
        for scope in self.names.scopes:
            if scope.kind in ("function", "comprehension"):
                bound = scope.bound.items()
                local += [name for name, kinds in bound if kinds <= {"variable"}]
        return without(params, excluded), without(local, excluded)

    def put_first(self, text: str) -> None:
        """Put the statements in `text` after the program's docstring and its imports
        from `__future__`."""
        index = int(ast.get_docstring(self.tree) is not None)
        while getattr(self.tree.body[index], "module", "") == "__future__":
            index += 1
        self.tree.body[index:index] = ast.parse(text).body

    def places(self) -> list[Place]:
        """Return the places inside functions at which a statement may be put.

        They are before each statement, and at the end of each block that does not end
        in return, raise, break or continue. Places beside an `elif` are left out, since
        the `elif` would become an `else` and an `if`.
        """
        elifs = set[int]()
        for node in ast.walk(self.tree):
            match node:
                case ast.If(orelse=[ast.If()] as block):
                    elifs.add(id(block))
        places = list[Place]()
        for block, owner in blocks(self.tree.body[:-1]):
            if isinstance(owner, FunctionNode) and id(block) not in elifs:
                places += _places(block, owner)
        return places

    # --- MCC, MPS, MHC

    def message_sites(self) -> Iterator[MessageSite]:
        """Return the places at which a message may stand, in the order of the text.

        The program must be written as `ast.unparse` writes it, with each statement on a
        line.
        """
        return message_sites(self.tree.body[:-1])

    def returns(self) -> list[int]:
        """Return the numbers of the lines on which the called function's own return
        statements end.

        Return statements of functions inside the called one do not count.
        """
        ends = []
        for statement, owner in statements(self.called_function().body):
            if isinstance(statement, ast.Return) and owner is None:
                ends.append(statement.end_lineno or 0)
        return ends

    def body(self) -> tuple[int, int, int]:
        """Return first line, last line and indentation (in spaces) of the called
        function's body."""
        body = self.called_function().body
        return first_line(body[0]), body[-1].end_lineno or 0, body[0].col_offset

    # --- running it

    def note_returns(self) -> None:
        """Put code into the tree that records the values of return statements, and whether values
        at the places for messages change."""
        for block, _ in [*blocks(self.tree.body)]:
            block[:] = noted(block)
        pairs = statements(self.tree.body)
        returns = [node for node, _ in pairs if isinstance(node, ast.Return)]
        for ordinal, node in enumerate(returns):
            arguments = [ast.Constant(ordinal), node.value or ast.Constant(None)]
            node.value = ast.Call(ast.Name("note_return", ast.Load()), arguments, [])


def renamed_names(text: str, tree: ast.expr) -> str:
    """Return the expression `text` with the names of `tree`, which may differ from the
    text's syntax tree in names alone.

    Raises `NotPerturbed` if a name cannot be found in the text with certainty.
    """
    before = ast.parse(text, mode="eval").body
    for pair in zip(ast.walk(before), ast.walk(tree), strict=True):
        match pair:
            case ast.Name(old), ast.Name(new):
                text = re.sub(rf"\b{old}\b", new, text)
            case ast.keyword(str(old)), ast.keyword(str(new)):
                text = re.sub(rf"\b{old}\b(?=\s*=)", new, text)
    if ast.dump(ast.parse(text, mode="eval").body) != ast.dump(tree):
        raise NotPerturbed("a name in the call's text cannot be found")
    return text


def bound_in_classes(names: Names) -> set[str]:
    """Return the names that class bodies bind.

    A read in a class body, as in `x = x`, may come before the binding and see the
    module's name.
    """
    bodies = [scope.bound for scope in names.scopes if scope.kind == "class"]
    return set[str]().union(*bodies)


def _places(block: list[ast.stmt], function: FunctionNode) -> Iterator[Place]:
    """Yield the places at which a statement may be put in `block`, one of the lists of
    statements in `function`.

    No place is before the docstring, `global` or `nonlocal`, or behind a jump.
    """
    named = without(parameter_names(function), {"self", "cls"})
    first = int(block is function.body and ast.get_docstring(function) is not None)
    while first < len(block) and isinstance(block[first], ast.Global | ast.Nonlocal):
        first += 1
    before: list[ast.stmt | None] = [*block[first:]]
    if not isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
        before.append(None)
    for statement in before:
        put = partial(_put_before, block, statement)
        yield Place((statement or block[-1]).lineno, named, put)


def _put_before(block: list[ast.stmt], before: ast.stmt | None, text: str) -> None:
    """Put the statements in `text` into `block`, before the statement `before`, or at
    the end if `before` is None."""
    at = len(block) if before is None else block.index(before)
    block[at:at] = ast.parse(text).body


def _put_condition(node: ast.If | ast.While, text: str) -> None:
    """Replace the condition of `node` with the expression `text`."""
    node.test = ast.parse(f"({text})", mode="eval").body
