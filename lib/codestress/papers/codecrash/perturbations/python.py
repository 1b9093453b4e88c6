"""A Python program while it is rewritten: its tree, and the places in it that perturbations ask for."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial

from codestress.generation.edits import first_line
from codestress.generation.scopes import FunctionNode, Names, Scope, names_of, parameters
from codestress.papers.codecrash.perturbations import guards, tracing
from codestress.papers.codecrash.perturbations.edits import MessageSite, NotPerturbed, Place, unused
from codestress.problems.program import Problem

BOTH = (
    "(_ := ({cond},)[0])",
    "(lambda: {cond})()",
    "({cond}) == ({para} == {para})",
    "({cond}) != ({para} != {para})",
    "bool(-~({cond})) == ({cond})",
)
"""Templates 1 to 5 of RTF, of comparisons and boolean constants alike."""
COMPARISON = (*BOTH, "bool(int({cond}))")
CONSTANT = (*BOTH, "eval(str({cond}))")
GENERAL = ("not not ({cond})", "({cond}) or False", "({cond}) and True", "(_ := ({cond},)[0])")
HARMLESS = guards.PURE_CALLS | guards.PURE_OF_CONTAINERS - {"tuple"} | {"range"}
"""Functions that may be called twice, as far as a template's text tells."""
HARMLESS_METHODS = guards.PURE_METHODS - {"rfind", "lstrip", "rstrip", "title"}
KINDS: dict[type[ast.stmt], str] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), "function"),
    **{ast.Return: "return", ast.While: "while", ast.For: "for", ast.AsyncFor: "for", ast.If: "condition"},
    ast.AugAssign: "operator",
}
"""Kinds of messages by the type of statement alone."""


class PythonProgram:
    """A problem's program and call as one tree: names in both are resolved together. Edits change the tree."""

    truths = ("True", "False")
    comment, printed, noted, declared = "# {}", "print({!r})", "note_ran({})", "{name} = {value}"
    false_conditions = ("False", "None", "0", "''", "{para} != {para}", "not {para} == {para}", "print({para})")
    control_flow = (
        "if {false}:\n    {new} = {para}",
        "while {false}:\n    {new} = {para}",
        "for {index} in range(0):\n    {new} = {para}",
        "{new} = {para} if {false} else {para}",
    )
    dead_loops = (
        "def {name}():\n    while True:\n        {new} = 1",
        "def {name}():\n    return {name}()",
        "def {name}():\n    {new} = 1\n    while {new} > 0:\n        {new} += 1",
        "def {name}():\n    for {new} in iter(int, 1):\n        {new} += 1",
        "def {name}({new}=0):\n    while {new} == {new}:\n        {new} -= 1\n    return {new}",
        "def {name}({new}=1):\n    if {new}:\n        return {name}({new} + 1)\n    return {new}",
        "def {name}():\n    {new} = [0]\n    for item in {new}:\n        {new}.append(item)",
    )

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def tree(self) -> ast.Module:
        """The program, and its call as the last statement."""
        problem = self.problem
        tree = ast.parse(f"{problem.code}\n{problem.function}({problem.arguments}\n)")
        last = tree.body[-1]
        if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
            raise NotPerturbed(f"{problem.function}({problem.arguments}) is no call")
        return tree

    @property
    def call(self) -> ast.Call:
        return self.tree.body[-1].value  # type: ignore[attr-defined, no-any-return]

    @property
    def code(self) -> str:
        """The program as its tree is now, without the call."""
        return ast.unparse(ast.Module(self.tree.body[:-1], []))

    def changed(self) -> Problem:
        """The problem with the tree as it is now."""
        function = ast.unparse(self.call.func)
        arguments = ast.unparse(self.call)[len(function) + 1 : -1]
        return replace(self.problem, code=self.code, function=function, arguments=arguments)

    # --- what may be done

    @cached_property
    def facts(self) -> guards.Known:
        """What the program tells about itself."""
        return guards.known(self.problem)

    def called_function(self) -> FunctionNode:
        """The definition of the function that the problem calls; `NotPerturbed` when there is none."""
        for statement in reversed(self.tree.body):
            if isinstance(statement, FunctionNode) and statement.name == self.problem.function:
                return statement
        raise NotPerturbed(f"no function {self.problem.function} at the program's top level")

    def parameters(self) -> list[str]:
        """Names of the called function's parameters."""
        return [one.arg for one in parameters(self.called_function())]

    # --- RTF

    def conditions(self) -> Iterator[Place]:
        """The conditions of if, elif and while in the order of the text, with the templates that keep their meaning."""
        reads_underscore = any(
            (isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Global | ast.Nonlocal) and "_" in node.names)
            for node in ast.walk(self.tree)
        )
        for node, owner in _statements(self.tree.body):
            # a lambda does not see a class body's names
            if isinstance(node, ast.If | ast.While) and not isinstance(owner, ast.ClassDef):
                named = [one.arg for one in parameters(owner)] if owner else []
                put = partial(_put_condition, node)
                yield Place(
                    node.test.lineno, named, put, ast.unparse(node.test), _templates(node.test, reads_underscore)
                )

    # --- GBC

    @cached_property
    def names(self) -> Names:
        """As they stood when they were first asked for."""
        return names_of(self.tree)

    def used_names(self) -> set[str]:
        return {occurrence.name for occurrence in self.names.occurrences}

    @property
    def index(self) -> str:
        """A loop's variable: not one that a function shares with the code around it."""
        shared = any(
            one.name == "i" and self.names.binding(one) not in (one.scope, _function_of(one.scope))
            for one in self.names.occurrences
        )
        return unused("i", self.used_names()) if shared else "i"

    def hidden_names(self, used: set[str]) -> list[str]:
        """Parameters whose names are used and no global's."""
        owners = [(one.name, self.names.binding(one)) for one in self.names.occurrences]
        seen = {name for name, owner in owners if owner is None or owner.kind == "module"} | {"self", "cls"}
        seen |= read_in_classes(self.names)
        every = [one.arg for node in ast.walk(self.tree) if isinstance(node, FunctionNode) for one in parameters(node)]
        return [name for name in dict.fromkeys(every) if name in used - seen]

    def put_first(self, text: str) -> None:
        """Puts a statement after the docstring and what must come first."""
        index = 1 if ast.get_docstring(self.tree) is not None else 0
        while isinstance(part := self.tree.body[index], ast.ImportFrom) and part.module == "__future__":
            index += 1
        self.tree.body[index:index] = ast.parse(text).body

    def places(self) -> list[Place]:
        """Where a statement may stand inside functions: before each statement, and after one that goes on."""
        blocks = [(block, owner) for block, owner in _blocks(self.tree.body[:-1]) if isinstance(owner, FunctionNode)]
        return [place for block, owner in blocks for place in _places(block, owner)]

    # --- MCC, MPS, MHC

    def message_sites(self) -> Iterator[MessageSite]:
        """All sites of a program that was unparsed (a statement a line), in the order of the text."""
        returns = itertools.count()
        for statement, _ in _statements(self.tree.body[:-1]):
            yield from _sites(statement, returns)

    def returns(self) -> list[int]:
        """The lines on which the called function's own returns end, not those of functions inside it."""
        own = _own(self.called_function())
        return [statement.end_lineno or 0 for statement in own if isinstance(statement, ast.Return)]

    def body(self) -> tuple[int, int, int]:
        """First line, last line and indent of the called function's body."""
        body = self.called_function().body
        return first_line(body[0]), body[-1].end_lineno or 0, body[0].col_offset

    # --- running it

    def traced(self) -> Problem:
        """Its call gives what `tracing.NOTING` notes: of returns, of the sites that notes stand before."""
        returns = [statement for statement, _ in _statements(self.tree.body) if isinstance(statement, ast.Return)]
        tracing.Notes(self.names, self.facts).add(self.tree)
        for ordinal, node in enumerate(returns):
            value = node.value or ast.Constant(None)
            node.value = ast.Call(ast.Name("note_return", ast.Load()), [ast.Constant(ordinal), value], [])
        self.put_first(tracing.NOTING.replace("FUNCTION", self.problem.function))
        return replace(self.problem, code=self.code, function="traced_returns")


def read_in_classes(names: Names) -> set[str]:
    """Names that a class body both reads and binds: until it has bound them it sees the module's (`x = x`)."""
    return {
        occurrence.name
        for occurrence in names.occurrences
        if occurrence.scope.kind == "class"
        and occurrence.name in occurrence.scope.bound
        and isinstance(getattr(occurrence.node, "ctx", None), ast.Load)
    }


def _function_of(scope: Scope | None) -> Scope | None:
    """The scope around comprehensions."""
    return _function_of(scope.parent) if scope is not None and scope.kind == "comprehension" else scope


Owner = FunctionNode | ast.ClassDef | None
"""What a statement stands in; None at the top level."""


def _blocks(block: list[ast.stmt], owner: Owner = None) -> Iterator[tuple[list[ast.stmt], Owner]]:
    """A list of statements, and those below it, of each statement its own and then those of its handlers and cases."""
    yield block, owner
    for statement in block:
        parts = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
        own = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        for below in filter(None, (*own, *(part.body for part in parts))):
            yield from _blocks(below, statement if isinstance(statement, FunctionNode | ast.ClassDef) else owner)


def _statements(block: list[ast.stmt]) -> list[tuple[ast.stmt, Owner]]:
    """All statements of a list and inside them, in the order of the text."""
    every = [(statement, owner) for statements, owner in _blocks(block) for statement in statements]
    return sorted(every, key=lambda one: (one[0].lineno, one[0].col_offset))


def _own(function: FunctionNode) -> list[ast.stmt]:
    """A function's statements, not those of functions and classes inside it."""
    return [one for block, owner in _blocks(function.body, function) if owner is function for one in block]


def _places(block: list[ast.stmt], function: FunctionNode) -> Iterator[Place]:
    """The places of one list of a function's statements."""
    named = [one.arg for one in parameters(function) if one.arg not in ("self", "cls")]
    own = [part for one in _own(function) if not isinstance(one, FunctionNode | ast.ClassDef) for part in ast.walk(one)]
    generator = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own)
    doubt = "a generator" if generator else "a coroutine" if isinstance(function, ast.AsyncFunctionDef) else ""
    first = int(block is function.body and ast.get_docstring(function) is not None)
    while first < len(block) and isinstance(block[first], ast.Global | ast.Nonlocal):
        first += 1
    ends = isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
    for before in [*block[first:], *([] if ends else [None])]:
        yield Place((before or block[-1]).lineno, named, partial(_put_before, block, before), doubt=doubt)


def _put_before(block: list[ast.stmt], before: ast.stmt | None, text: str) -> None:
    at = len(block) if before is None else block.index(before)
    block[at:at] = ast.parse(text).body


def _put_condition(node: ast.If | ast.While, text: str) -> None:
    node.test = ast.parse(f"({text})", mode="eval").body


def _templates(condition: ast.expr, reads_underscore: bool) -> list[str]:
    """The templates that keep the meaning of this condition."""
    constant = isinstance(condition, ast.Constant) and isinstance(condition.value, bool)
    templates = COMPARISON if isinstance(condition, ast.Compare) else CONSTANT if constant else GENERAL
    parts = list(ast.walk(condition))
    bound_to_frame = any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        or (isinstance(part, ast.Name) and part.id in ("super", "locals", "vars", "dir", "__class__"))
        for part in parts
    )
    called = [part.func for part in parts if isinstance(part, ast.Call)]
    twice = not bound_to_frame and all(
        (isinstance(one, ast.Name) and one.id in HARMLESS)
        or (isinstance(one, ast.Attribute) and one.attr in HARMLESS_METHODS)
        for one in called
    )
    return [
        template
        for template in templates
        if not (reads_underscore and "_ :=" in template)
        and not (bound_to_frame and "lambda" in template)
        and (twice or template.count("{cond}") == 1)
    ]


def _sites(statement: ast.stmt, returns: Iterator[int]) -> Iterator[MessageSite]:
    """The sites of one statement, without those of statements inside it."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    above = inside = (first_line(statement), statement.col_offset)
    header_end = statement.end_lineno or statement.lineno
    if body:
        docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
        inside = (first_line(body[docstring]), body[docstring].col_offset)
        header_end = first_line(body[0]) - 1
    kind = KINDS.get(type(statement))
    match statement:
        case ast.Assign([ast.Name()], ast.BinOp()):
            kind = "operator"
        case ast.Assign([ast.Name()]) | ast.AnnAssign(ast.Name(), _, ast.expr()):
            kind = "assignment"
    if kind:
        loop, ordinal = kind in ("while", "for"), next(returns) if kind == "return" else -1
        yield MessageSite(kind, inside[0] if loop else header_end, *inside, ordinal=ordinal)
    calls = [call.func for call in tracing.method_calls(statement)]
    found = sorted((one.end_lineno or 0, one.end_col_offset or 0, one.attr) for one in calls)  # type: ignore[attr-defined]
    for method in dict.fromkeys(name for *_, name in found):
        yield MessageSite(method, header_end, *(inside if isinstance(statement, ast.If | ast.While) else above))
