"""A Python program while it is rewritten: its tree, and the places in it that perturbations ask for."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
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
HARMLESS = frozenset("len abs min max sum ord chr int str bool float any all sorted isinstance range set list".split())  # noqa: SIM905
"""Functions that may be called twice."""
HARMLESS_METHODS = frozenset(
    """
    count index find startswith endswith isalpha isdigit isupper islower isalnum isspace upper lower strip split join
    get keys values items replace
    """.split()  # noqa: SIM905
)


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

    def __init__(self, problem: Problem, original: Problem | None = None) -> None:
        self.problem = problem
        self.original = original or problem

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
        """What the program tells about itself, before it was perturbed."""
        return guards.known(self.original)

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
        for node, named in _conditions(self.tree.body, []):
            put = partial(_put_condition, node)
            yield Place(node.test.lineno, named, put, ast.unparse(node.test), _templates(node.test, reads_underscore))

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
        self.tree.body[index:index] = _at(text, 1)

    def places(self) -> list[Place]:
        """Where a statement may stand inside functions: before each statement, and after one that goes on."""
        return list(_places(self.tree.body[:-1], None))

    # --- MCC, MPS, MHC

    def message_sites(self) -> Iterator[MessageSite]:
        """All sites of a program that was unparsed (a statement a line), in the order of the text."""
        returns = itertools.count()
        for statement in _statements(self.tree.body[:-1]):
            yield from _sites(statement, returns)

    def returns(self) -> list[int]:
        """The lines on which the called function's own returns end, not those of functions inside it."""
        own = _statements(self.called_function().body, functions=False)
        return [statement.end_lineno or 0 for statement in own if isinstance(statement, ast.Return)]

    def body(self) -> tuple[int, int, int]:
        """First line, last line and indent of the called function's body."""
        body = self.called_function().body
        return first_line(body[0]), body[-1].end_lineno or 0, body[0].col_offset

    # --- running it

    def traced(self) -> Problem:
        """Its call gives what `tracing.NOTING` notes: of returns, of the sites that notes stand before."""
        tracing.Notes(self.names, self.facts).add(self.tree)
        returns = [statement for statement in _statements(self.tree.body) if isinstance(statement, ast.Return)]
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


def _function_of(scope: Scope) -> Scope | None:
    """The scope around comprehensions."""
    here: Scope | None = scope
    while here is not None and here.kind == "comprehension":
        here = here.parent
    return here


def _at(text: str, line: int) -> list[ast.stmt]:
    """New statements, which count as standing on a line of the program as it was given."""
    module = ast.parse(text)
    for node in ast.walk(module):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    return module.body


def _blocks(statement: ast.stmt) -> tuple[list[list[ast.stmt]], list[list[ast.stmt]]]:
    """The lists of statements of a statement itself, its body first, and of its handlers and cases."""
    own = [block for name in ("body", "orelse", "finalbody") if (block := getattr(statement, name, None))]
    parts = [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return own, [part.body for part in parts]


def _statements(block: Sequence[ast.stmt], *, functions: bool = True) -> Iterator[ast.stmt]:
    """All statements of a list and inside them, in the order of the text; inside functions and classes if wanted."""
    for statement in block:
        yield statement
        if not functions and isinstance(statement, FunctionNode | ast.ClassDef):
            continue
        own, parts = _blocks(statement)
        for inner in (*own[:1], *parts, *own[1:]):
            yield from _statements(inner, functions=functions)


def _places(
    statements: list[ast.stmt], named: Sequence[str] | None, doubt: str = "", *, docstring: bool = False
) -> Iterator[Place]:
    """The places of a list and below it; `named`: parameters of the function around it, None where there is none."""
    if named is not None:
        first = int(docstring)
        while first < len(statements) and isinstance(statements[first], ast.Global | ast.Nonlocal):
            first += 1
        ends = isinstance(statements[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
        for before in [*statements[first:], *([] if ends else [None])]:
            line = (before or statements[-1]).lineno
            yield Place(line, named, partial(_put_before, statements, before, line), doubt=doubt)
    for statement in statements:
        if isinstance(statement, FunctionNode):
            inner = [one.arg for one in parameters(statement) if one.arg not in ("self", "cls")]
            docstring = ast.get_docstring(statement) is not None
            yield from _places(statement.body, inner, _kind_doubt(statement), docstring=docstring)
        else:
            own, parts = _blocks(statement)
            for block in (*own, *parts):
                yield from _places(block, None if isinstance(statement, ast.ClassDef) else named, doubt)


def _put_before(block: list[ast.stmt], before: ast.stmt | None, line: int, text: str) -> None:
    at = len(block) if before is None else block.index(before)
    block[at:at] = _at(text, line)


def _kind_doubt(function: FunctionNode) -> str:
    """Why nothing should be put into a function of its kind."""
    own = _statements(function.body, functions=False)
    parts = [part for one in own if not isinstance(one, FunctionNode | ast.ClassDef) for part in ast.walk(one)]
    generator = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parts)
    return "a generator" if generator else "a coroutine" if isinstance(function, ast.AsyncFunctionDef) else ""


def _put_condition(node: ast.If | ast.While, text: str) -> None:
    node.test = ast.parse(f"({text})", mode="eval").body


def _conditions(block: Sequence[ast.stmt], named: list[str]) -> Iterator[tuple[ast.If | ast.While, list[str]]]:
    """The if and while statements of a list and below it, in the order of the text, with the parameters they see."""
    for statement in block:
        if isinstance(statement, ast.If | ast.While):
            yield statement, named
        inner = [one.arg for one in parameters(statement)] if isinstance(statement, FunctionNode) else named
        (own, parts), in_class = _blocks(statement), isinstance(statement, ast.ClassDef)
        for below in (*own[:1], *parts, *own[1:]):
            # a lambda does not see a class body's names
            seen = [part for part in below if not in_class or isinstance(part, FunctionNode | ast.ClassDef)]
            yield from _conditions(seen, inner)


def _templates(condition: ast.expr, reads_underscore: bool) -> list[str]:
    """The templates that keep the meaning of this condition."""
    templates: tuple[str, ...] = GENERAL
    if isinstance(condition, ast.Compare):
        templates = COMPARISON
    elif isinstance(condition, ast.Constant) and isinstance(condition.value, bool):
        templates = CONSTANT
    parts = list(ast.walk(condition))
    bound_to_frame = any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        or (isinstance(part, ast.Name) and part.id in ("super", "locals", "vars", "dir", "__class__"))
        for part in parts
    )
    twice = all(_harmless(part) for part in parts) and not bound_to_frame
    return [
        template
        for template in templates
        if not (reads_underscore and "_ :=" in template)
        and not (bound_to_frame and "lambda" in template)
        and not (not twice and template.count("{cond}") > 1)
    ]


def _harmless(node: ast.AST) -> bool:
    """Whether evaluating the node twice is the same as once, as far as its text tells."""
    match node:
        case ast.Call(ast.Name(name)):
            return name in HARMLESS
        case ast.Call(ast.Attribute(_, name)):
            return name in HARMLESS_METHODS
    return not isinstance(node, ast.Call)


def _sites(statement: ast.stmt, returns: Iterator[int]) -> Iterator[MessageSite]:
    """The sites of one statement, without those of statements inside it."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    above = (first_line(statement), statement.col_offset)
    inside = above
    header_end = statement.end_lineno or statement.lineno
    if body:
        first = body[1] if _is_docstring(body[0]) and len(body) > 1 else body[0]
        inside = (first_line(first), first.col_offset)
        header_end = first_line(body[0]) - 1
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield MessageSite("function", header_end, *inside)
        case ast.Return():
            yield MessageSite("return", header_end, *above, ordinal=next(returns))
        case ast.While():
            yield MessageSite("while", inside[0], *inside, own_line=True)
        case ast.For() | ast.AsyncFor():
            yield MessageSite("for", inside[0], *inside, own_line=True)
        case ast.If():
            yield MessageSite("condition", header_end, *inside)
        case ast.AugAssign() | ast.Assign(targets=[ast.Name()], value=ast.BinOp()):
            yield MessageSite("operator", header_end, *above)
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name(), value=ast.expr()):
            yield MessageSite("assignment", header_end, *above)
    place = inside if isinstance(statement, ast.If | ast.While) else above
    for method in _methods(statement):
        yield MessageSite(method, header_end, *place)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _methods(statement: ast.stmt) -> list[str]:
    """Names of the methods with messages that a statement calls itself, each once, in the order of the text."""
    calls = [call.func for call in tracing.method_calls(statement)]
    found = sorted((one.end_lineno or 0, one.end_col_offset or 0, one.attr) for one in calls)  # type: ignore[attr-defined]
    return list(dict.fromkeys(name for *_, name in found))
