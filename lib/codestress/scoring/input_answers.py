"""Answers to "for which input?": a call of the function or its arguments, in a closed
kind of expressions without side effects.

Arguments are literal values, or expressions of the closed kind: values, operators,
comprehensions, lambdas, some functions without side effects, methods of built-in types.
CRUXEval's own inputs need that much (`''.join(['A'] * 20)`, `lambda x: x < 2`). No
other name is allowed, and no attribute leads from a value to the interpreter. So
nothing in an answer can touch the process that reports the function's value.
"""

import ast
import builtins
from contextlib import suppress
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple

from codestress.literals import (
    LONGEST_TEXT,
    NotLiteral,
    literal_of,
    parse_literal,
    parse_program,
    same_value,
)
from codestress.problems.program import Problem
from codestress.validation import read_yaml

TABLE = read_yaml(Path(__file__).with_name("closed.yaml"))
FUNCTIONS = frozenset(TABLE["functions"])
TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, range)
METHODS = {name for name in set[str]().union(*map(dir, TYPES)) if name[0] != "_"}
METHODS -= {"format", "format_map"}
"""Methods that an answer may call. Formatting methods are excluded, because they read
attributes by name."""
BOUND = "bound_in_the_answer_"
"""Beginning of the new names of variables that an answer binds; no program has it."""
PLAIN = tuple(getattr(ast, name) for name in TABLE["nodes"])
"""Types of nodes that may be in the syntax tree of an argument that is run; names are
checked one by one."""


class NotArguments(ValueError):
    """Error for an answer that is not a call, or contains something that must not be
    run. The message names the fault."""


class Arguments(NamedTuple):
    """Arguments of a call, positional and by keyword, that are literal values, and
    whether they contain arithmetic (`unresolved`)."""

    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    unresolved: bool


def parse_arguments(text: str, problem: Problem) -> Arguments | str:
    """Return the arguments in the answer `text` to `problem`.

    Arguments that are literal values are returned as `Arguments`. If they are other
    expressions of the closed kind (`_Closing`), the source of the call is returned.

    Raises `NotArguments` for any other answer.
    """
    call = _call(text, problem)
    named = {item.arg: item.value for item in call.keywords if item.arg}
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    if starred or len(named) < len(call.keywords):
        raise NotArguments("* or ** in place of arguments, or one that is given twice")
    try:
        # One tuple of all arguments, so that one bound on size holds for the whole text.
        parts = ast.Tuple([*call.args, *named.values()], ast.Load())
        values, unresolved = literal_of(parts)
    except NotLiteral:
        return _closed(call, problem.code)
    count = len(call.args)
    keywords = dict(zip(named, values[count:], strict=True))
    return Arguments(tuple(values[:count]), keywords, unresolved)


def _call(text: str, problem: Problem) -> ast.Call:
    """Return, as a syntax tree, the one call of the problem's function that makes up
    the whole `text`.

    Bare arguments are put between the parentheses of a call. An assertion that the call
    returns the problem's output counts as that call. Raises `NotArguments` for any
    other text.
    """
    stripped = text.strip()
    if not stripped:
        raise NotArguments("no answer")
    why = ""
    for source in (stripped, f"{problem.function}({stripped}\n)"):
        try:
            node = asserted_expression(source)
        except SyntaxError as error:
            why = str(error)
            continue
        sides = asserted(node, problem.function)
        # A value that would have to be run is not the output.
        with suppress(NotLiteral):
            output = parse_literal(problem.output).value
            if sides and same_value(literal_of(sides[1]).value, output):
                node = sides[0]
        match node:
            case ast.Call(ast.Name(problem.function)):
                return node
        why = f"not a call of {problem.function}"
    raise NotArguments(why)


def asserted(node: ast.expr, function: str) -> tuple[ast.Call, ast.expr] | None:
    """Return the call and the value in `f(…) == VALUE` or `VALUE == f(…)`, if `f` is
    `function`; None for any other expression. `is` counts as `==` before None, True and
    False."""
    match node:
        case ast.Compare(left, [ast.Eq()], [right]) | ast.Compare(
            left, [ast.Is()], [ast.Constant(None | True | False) as right]
        ):
            for side, value in ((left, right), (right, left)):
                match side:
                    case ast.Call(ast.Name(name)) as call if name == function:
                        return call, value
    return None


def asserted_expression(text: str) -> ast.expr:
    """Return the syntax tree of the one expression that a text consists of or asserts.
    Raises `SyntaxError` for any other text, and for one of more than `LONGEST_TEXT`
    characters."""
    if len(text) > LONGEST_TEXT:
        raise SyntaxError(f"longer than {LONGEST_TEXT:,} characters")
    match parse_program(text.strip()).body:
        case [
            ast.Assert(test=node, msg=None | ast.Constant(str()) | ast.JoinedStr())
        ] | [ast.Expr(value=node)]:
            return node
    raise SyntaxError("neither an expression nor an assertion")


def _closed(call: ast.Call, code: str) -> str:
    """Return the source of a call whose arguments are expressions of the closed kind
    (`_Closing`). Raises `NotArguments` for others."""
    try:
        closing = _Closing(call, code)
        call.args = list(map(closing.visit, call.args))
        call.keywords = list(map(closing.visit, call.keywords))
        return ast.unparse(call)
    except (RecursionError, ValueError) as error:
        raise NotArguments(str(error)) from None


class _Closing(ast.NodeTransformer):
    """Transformer of an argument's syntax tree that accepts only the closed kind:
    values, operators, comprehensions, lambdas, and calls of `FUNCTIONS` and `METHODS`.

    A name to which the program `code` assigns a literal is replaced by that value, so
    that an answer cannot change it; CRUXEval's own inputs have such names. A name that a
    lambda or a comprehension binds is renamed: outside of these it then
    means nothing, while a name such as `exec` would mean the builtin. Raises
    `NotArguments` for anything else.
    """

    def __init__(self, call: ast.Call, code: str) -> None:
        self.values = _constants(code)
        self.bound = set[str]()
        for node in ast.walk(call):
            match node:
                case ast.arg(name) | ast.Name(name, ast.Store()):
                    self.bound.add(name)

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.arg(name):
                return ast.arg(BOUND + name)
            case ast.Name(name, context) if name in self.bound:
                return ast.Name(BOUND + name, context)
            case ast.Name(name) if name in self.values or name in FUNCTIONS:
                return self.values.get(name, node)
            case ast.Name(name) | ast.Attribute(attr=name) if name not in METHODS:
                raise NotArguments(f"the name {name}, which an argument may not use")
            case ast.Call(func=func) if not isinstance(func, ast.Name | ast.Attribute):
                raise NotArguments("a call of something that has no name")
            case ast.Constant(EllipsisType()):
                raise NotArguments("... in place of an argument")
            case ast.comprehension(is_async=1):
                raise NotArguments("async in an argument")
        if not isinstance(node, PLAIN):
            raise NotArguments(f"{type(node).__name__} in an argument")
        return self.generic_visit(node)


def _constants(code: str) -> dict[str, ast.expr]:
    """Return a dict from the names to which the program `code` assigns a literal at its
    top level to the syntax trees of the literals.

    Names of builtins are left out. The dict is empty if the program does not parse.
    """
    values: dict[str, ast.expr] = {}
    with suppress(SyntaxError):
        for statement in parse_program(code).body:
            match statement:
                case ast.Assign([ast.Name(name)], value) if not hasattr(builtins, name):
                    with suppress(NotLiteral):
                        literal_of(value)
                        values[name] = value
    return values
