"""Dead code of a closed grammar (Fault Localizability, section IV-C): what it does not know, it does not let in.

A snippet is one statement: a condition of written-out values that is false, or a loop over nothing, and below it
statements that name nothing but variables of their own, what the language has built in and, in Python, what the program
has. In Java all of it is typed, so that what is let in compiles.
"""

from __future__ import annotations

import ast
import builtins
import operator
import textwrap
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codestress.generation.scopes import names_of
from codestress.literals import NotLiteral, literal_of
from codestress.papers.faultloc.faults.itself import looks_at
from codestress.papers.faultloc.faults.trees import JAVA_WORDS, NotNeutral, java_root, named_in, tree_of, words_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


def check_snippet(snippet: str, program: str, language: Language) -> None:
    """`NotNeutral` where a snippet is not of the grammar, or changes this program by being there."""
    (_check_java if language == "java" else _check_python)(snippet, program)


# --- Python ---------------------------------------------------------------------------------------------------------

STATEMENTS = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.Pass, ast.If, ast.While, ast.For, ast.Return, ast.Break, ast.Continue),
    *(ast.Raise, ast.Assert),
)
"""Nothing that declares, imports or deletes."""
BARRED = ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await | ast.pattern
"""Expressions with effects on names, or on the kind of their function."""
CONDITION = (
    *(ast.Constant, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.Compare, ast.cmpop),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Call, ast.Name, ast.Load, ast.BinOp, ast.operator),
)
BUILTINS = frozenset(dir(builtins)) - {"super", "locals", "vars", "dir", "eval", "exec"}
CALLED = frozenset(("len", "bool", "range", "dict", "list", "set"))
"""Builtins in conditions that are false, and in loops over nothing."""
COMPARED: Mapping[type[ast.cmpop], Any] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda one, two: one in two},
}


def _check_python(snippet: str, program: str) -> None:
    bound, read, returns = _python_parts(snippet)
    known, declared = _bound_by(program)
    if own := sorted(read & CALLED & (CALLED if "*" in known else known)):
        raise NotNeutral(f"dead code relies on {own[0]!r}, which the program binds")
    if unknown := sorted(read - bound - BUILTINS - known):
        raise NotNeutral(f"dead code reads {unknown[0]!r}, which is nowhere")
    shared = (bound | read) & known
    if shared & declared or (shared and looks_at("names", program, "python")):
        raise NotNeutral("dead code names a variable of the program that is seen elsewhere")
    if returns and "async" in words_of(program):
        raise NotNeutral("dead code returns a value, and the program has async functions")


@lru_cache(maxsize=512)
def _python_parts(snippet: str) -> tuple[frozenset[str], frozenset[str], bool]:
    """The names that a snippet binds and reads, and whether it returns a value."""
    body = tree_of(snippet).body
    if len(body) != 1 or not never_runs(body[0]):
        raise NotNeutral("dead code is not one statement that never runs")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(f"def _():\n{textwrap.indent(snippet, ' ')}", "snippet", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise NotNeutral(f"dead code does not compile: {error}") from None
    if "#" in snippet:
        raise NotNeutral("dead code has a comment")
    parts = list(ast.walk(body[0]))
    for part in parts:
        if isinstance(part, BARRED) or (isinstance(part, ast.stmt) and not isinstance(part, STATEMENTS)):
            raise NotNeutral(f"dead code has {type(part).__name__.lower()}, which may change what is around it")
    named = [part for part in parts if isinstance(part, ast.Name)]
    bound = {part.id for part in named if not isinstance(part.ctx, ast.Load)}
    bound |= {part.arg for part in parts if isinstance(part, ast.arg)}
    read = {part.id for part in named if isinstance(part.ctx, ast.Load)}
    return frozenset(bound), frozenset(read), any(isinstance(one, ast.Return) and one.value for one in parts)


@lru_cache(maxsize=256)
def _bound_by(program: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a program binds somewhere, and those of its `global` and `nonlocal` statements."""
    scopes = names_of(tree_of(program)).scopes
    bound = {name for scope in scopes for name in scope.bound}
    return frozenset(bound), frozenset().union(*(one.global_names | one.nonlocal_names for one in scopes))


NOTHING = ("[]", "()", "{}", "''", "u''", "b''", "range(0)", "dict()", "list()", "set()")


def never_runs(node: ast.stmt) -> bool:
    """A condition or a loop without `else` whose body is never entered."""
    if isinstance(node, ast.If | ast.While):
        return not node.orelse and _value(node.test) is False
    return isinstance(node, ast.For) and not node.orelse and ast.unparse(node.iter) in NOTHING


def _value(test: ast.expr) -> bool | None:
    """Whether a condition of values that are all written out is true; None where it is not of that kind."""
    held = _held(test) if all(isinstance(part, CONDITION) for part in ast.walk(test)) else ()
    return bool(held[0]) if held else None


def _held(node: ast.expr) -> tuple[Any, ...]:
    """The value of a part of a condition, alone in a tuple; an empty one where it is not known."""
    match node:
        case ast.BoolOp():
            parts = [_held(value) for value in node.values]
            join = all if isinstance(node.op, ast.And) else any
            return (join(part[0] for part in parts),) if all(parts) else ()
        case ast.UnaryOp(op=ast.Not()):
            return tuple(not value for value in _held(node.operand))
        case ast.Compare(ops=[sign], comparators=[right]) if type(sign) in COMPARED:
            one, two = _held(node.left), _held(right)
            try:
                return (COMPARED[type(sign)](one[0], two[0]),) if one and two else ()
            except TypeError:
                return ()
        case ast.Call(func=ast.Name(id="len" | "bool" as name), args=[argument], keywords=[]):
            held = _held(argument)
            if name == "len":
                return (len(held[0]),) if held and hasattr(held[0], "__len__") else ()
            return tuple(map(bool, held))
    if any(isinstance(part, ast.Name | ast.Compare | ast.BoolOp) for part in ast.walk(node)):
        return ()
    try:
        return (literal_of(node).value,)
    except NotLiteral:
        return ()


# --- Java -----------------------------------------------------------------------------------------------------------

JAVA_COMPARED: Mapping[str, Any] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
}
NUMBERS = ("int", "long", "double")
"""Numeric types, each of which the later ones hold."""
METHODS: Mapping[tuple[str, str], tuple[tuple[str, ...], str]] = {
    **{("String", name): ((), "String") for name in ("toUpperCase", "toLowerCase", "trim", "toString")},
    **{("StringBuilder", name): ((), "StringBuilder") for name in ("reverse",)},
    **{("Math", name): (("double",), "double") for name in ("sqrt", "floor", "ceil", "sin", "cos", "exp", "log")},
    **{("System.out", name): (("any",), "void") for name in ("print", "println")},
    ("String", "length"): ((), "int"),
    ("String", "isEmpty"): ((), "boolean"),
    ("String", "concat"): (("String",), "String"),
    ("String", "repeat"): (("int",), "String"),
    ("StringBuilder", "length"): ((), "int"),
    ("StringBuilder", "toString"): ((), "String"),
    ("StringBuilder", "append"): (("any",), "StringBuilder"),
    ("Math", "pow"): (("double", "double"), "double"),
}
"""Methods that dead code may call: what they take and give."""
CLASSES = ("String", "StringBuilder", "Math", "System")
DECLARATOR = "variable_declarator"
Types = dict[str, str]
"""By name: the types of the variables that are there."""


def _check_java(snippet: str, program: str) -> None:
    names = _java_parts(snippet)
    words = words_of(program)
    if shared := sorted(names & words):
        raise NotNeutral(f"dead code declares {shared[0]!r}, which the program has")
    if own := sorted(words_of(snippet) & set(CLASSES) & named_in(program)):
        raise NotNeutral(f"dead code relies on {own[0]!r}, which the program declares")


@lru_cache(maxsize=512)
def _java_parts(snippet: str) -> frozenset[str]:
    """The variables that a snippet declares."""
    root = java_root(f"class Snippet {{ void snippet() {{\n{snippet}\n}} }}")
    if any("comment" in node.type for node in nodes(root)):
        raise NotNeutral("dead code has a comment")
    [declared] = root.named_children[:1]
    members = declared.named_children[-1].named_children
    body = members[0].child_by_field_name("body") if len(root.named_children) == len(members) == 1 else None
    statements = body.named_children if body is not None else []
    if len(statements) != 1 or not java_never_runs(statements[0]):
        raise NotNeutral("dead code is not one statement that never runs")
    _typed_statement(statements[0], {})
    return frozenset(text_of(node.child_by_field_name("name")) for node in nodes(root) if node.type == DECLARATOR)


def java_never_runs(node: Node) -> bool:
    """A condition of written-out values without `else`, or a loop that counts from its end on, with a block."""
    if node.type not in ("if_statement", "for_statement"):
        return False
    condition, start = node.child_by_field_name("condition"), node.child_by_field_name("init")
    body = node.child_by_field_name("consequence" if node.type == "if_statement" else "body")
    if condition is None or body is None or body.type != "block":
        return False
    if node.type == "if_statement":
        return node.child_by_field_name("alternative") is None and _java_value(condition) is False
    counters = start.children_by_field_name("declarator") if start is not None else []
    left = condition.child_by_field_name("left")
    if len(counters) != 1 or text_of(left) != text_of(counters[0].child_by_field_name("name")):
        return False
    compare = JAVA_COMPARED.get(text_of(condition.child_by_field_name("operator")))
    ends = (_java_value(counters[0].child_by_field_name("value")), _java_value(condition.child_by_field_name("right")))
    return compare is not None and all(type(end) is int for end in ends) and not compare(*ends)


def _java_value(node: Node | None) -> bool | int | str | None:
    """The value of an expression of values that are all written out; None for any other."""
    if node is None:
        return None
    text, inner = text_of(node), node.named_children
    match node.type:
        case "true" | "false":
            return text == "true"
        case "decimal_integer_literal" if text.isdigit() and len(text) < 10:
            return int(text)
        case "string_literal" if all(part.type == "string_fragment" for part in inner) and not text.startswith('"""'):
            return text[1:-1]
        case "parenthesized_expression" if len(inner) == 1:
            return _java_value(inner[0])
        case "unary_expression" if len(inner) == 1:
            value = _java_value(inner[0])
            if text.startswith("!") and isinstance(value, bool):
                return not value
            return -value if text.startswith("-") and type(value) is int else None
        case "method_invocation" if text.endswith((".length()", ".isEmpty()")) and len(inner) == 3:
            held = _java_value(node.child_by_field_name("object"))
            if not isinstance(held, str):
                return None
            return len(held) if text.endswith(".length()") else not held
        case "binary_expression":
            one, two = (_java_value(node.child_by_field_name(side)) for side in ("left", "right"))
            sign = text_of(node.child_by_field_name("operator"))
            if sign in ("&&", "||") and isinstance(one, bool) and isinstance(two, bool):
                return (one and two) if sign == "&&" else (one or two)
            if sign in JAVA_COMPARED and type(one) is type(two) is int:
                return bool(JAVA_COMPARED[sign](one, two))
    return None


def _unknown(node: Node) -> NotNeutral:
    return NotNeutral(f"dead code has {text_of(node)[:40]!r}, which the grammar does not know")


def _typed_statement(node: Node, own: Types) -> None:
    """Reads a statement of the grammar and adds the variables that it declares; `NotNeutral` for any other."""
    parts = node.named_children
    match node.type:
        case "block":
            scope = dict(own)
            for statement in parts:
                _typed_statement(statement, scope)
        case "if_statement" | "for_statement" if parts[-1].type == "block":
            scope = dict(own)
            condition = node.child_by_field_name("condition")
            for part in parts:
                if part.type in ("block", "local_variable_declaration"):
                    _typed_statement(part, scope)
                else:
                    _type(part, scope)
            endless = node.type == "for_statement" and _java_value(condition) is not None
            if node.child_by_field_name("alternative") or endless or _type(condition, scope) != "boolean":
                raise _unknown(node)
        case "local_variable_declaration" if parts[0].type != "modifiers":
            kind = text_of(node.child_by_field_name("type"))
            for one in parts[1:]:
                name, value = text_of(one.child_by_field_name("name")), one.child_by_field_name("value")
                if name in own or name in JAVA_WORDS or name in CLASSES or value is None or len(one.named_children) > 2:
                    raise _unknown(node)
                _must_hold(kind, value, own)
                own[name] = kind
        case "expression_statement" if parts[0].type in EXPRESSIONS:
            _type(parts[0], own)
        case _:
            raise _unknown(node)


EXPRESSIONS = ("assignment_expression", "update_expression", "method_invocation")
"""Those that may be statements."""


def _must_hold(kind: str, value: Node, own: Types) -> None:
    """Whether a variable of a type may be given this value."""
    if value.type == "array_initializer" and kind.endswith("[]"):
        for one in value.named_children:
            _must_hold(kind[:-2], one, own)
    elif not _holds(kind, _type(value, own)):
        raise _unknown(value)


def _holds(kind: str, given: str) -> bool:
    if kind in NUMBERS and given in NUMBERS:
        return NUMBERS.index(given) <= NUMBERS.index(kind)
    return kind == given and kind != "void"


def _type(node: Node | None, own: Types) -> str:
    """The type of an expression of the grammar; `NotNeutral` for any other."""
    if node is None:
        raise NotNeutral("dead code lacks an expression")
    text, inner = text_of(node), node.named_children
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = text_of(node.child_by_field_name("operator"))
    match node.type:
        case "true" | "false":
            return "boolean"
        case "decimal_integer_literal" if text.rstrip("lL").isdigit() and len(text) < 10:
            return "long" if text[-1] in "lL" else "int"
        case "decimal_floating_point_literal" if text.replace(".", "", 1).isdigit():
            return "double"
        case "string_literal" if all(part.type == "string_fragment" for part in inner) and not text.startswith('"""'):
            return "String"
        case "identifier" if text in own:
            return own[text]
        case "parenthesized_expression" if len(inner) == 1:
            return _type(inner[0], own)
        case "unary_expression" if len(inner) == 1:
            kind = _type(inner[0], own)
            if (text[0] == "!" and kind == "boolean") or (text[0] in "+-" and kind in NUMBERS):
                return kind
        case "update_expression" if inner[0].type == "identifier" and _type(inner[0], own) in NUMBERS:
            return _type(inner[0], own)
        case "array_access":
            array, index = (_type(node.child_by_field_name(part), own) for part in ("array", "index"))
            if array.endswith("[]") and index == "int":
                return array[:-2]
        case "field_access" if text_of(node.child_by_field_name("field")) == "length":
            if _type(node.child_by_field_name("object"), own).endswith("[]"):
                return "int"
        case "object_creation_expression" if text.startswith("new StringBuilder(") and len(inner) == 2:
            given = [_type(one, own) for one in inner[1].named_children]
            if given in ([], ["String"]):
                return "StringBuilder"
        case "binary_expression":
            one, two = _type(left, own), _type(right, own)
            numbers = one in NUMBERS and two in NUMBERS
            if sign == "+" and "String" in (one, two) and "void" not in (one, two):
                return "String"
            if sign in ("+", "-", "*", "/", "%") and numbers:
                return max(one, two, key=NUMBERS.index)
            if (sign in JAVA_COMPARED and numbers) or (sign in ("&&", "||") and one == two == "boolean"):
                return "boolean"
        case "assignment_expression" if left is not None and left.type in ("identifier", "array_access"):
            target, value = _type(left, own), _type(right, own)
            compound = sign in ("+=", "-=", "*=", "/=") and target in NUMBERS and value in NUMBERS
            joins = sign == "+=" and target == "String" and value != "void"
            if compound or joins or (sign == "=" and _holds(target, value)):
                return target
        case "method_invocation":
            return _called(node, own)
    raise _unknown(node)


def _called(node: Node, own: Types) -> str:
    holder, arguments = node.child_by_field_name("object"), node.child_by_field_name("arguments")
    if holder is None or arguments is None:
        raise _unknown(node)
    kind = text_of(holder) if text_of(holder) in ("Math", "System.out") else _type(holder, own)
    takes, gives = METHODS.get((kind, text_of(node.child_by_field_name("name"))), (None, ""))
    given = [_type(one, own) for one in arguments.named_children]
    if takes is None or len(given) != len(takes):
        raise _unknown(node)
    if not all(one != "void" if want == "any" else _holds(want, one) for want, one in zip(takes, given, strict=True)):
        raise _unknown(node)
    return gives
