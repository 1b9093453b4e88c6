"""Dead code of a closed grammar (Fault Localizability, section IV-C): what it does not know, it does not let in.

A snippet is one statement: a condition of written-out values that is false, or a loop over nothing, and below it
statements that name nothing but variables of their own, what the language has built in and, in Python, what the program
has. In Java all of it is typed, so that what is let in compiles.
"""

from __future__ import annotations

import ast
import builtins
import operator
import re
import textwrap
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codestress.generation.scopes import names_of
from codestress.literals import NotLiteral, literal_of
from codestress.papers.faultloc.faults.hidden import looks_at
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
    try:
        return bool(_held(test))
    except (NotLiteral, TypeError, RecursionError):
        return None


def _held(node: ast.expr) -> Any:
    """The value of a part of a condition; `NotLiteral` where it is not known."""
    match node:
        case ast.BoolOp(values=values):
            parts = [_held(value) for value in values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        case ast.UnaryOp(op=ast.Not()):
            return not _held(node.operand)
        case ast.Compare(ops=[sign], comparators=[right]) if type(sign) in COMPARED:
            return COMPARED[type(sign)](_held(node.left), _held(right))
        case ast.Call(func=ast.Name(id="len" | "bool" as name), args=[argument], keywords=[]):
            return (len if name == "len" else bool)(_held(argument))
    if any(isinstance(part, ast.Name | ast.Compare | ast.BoolOp) for part in ast.walk(node)):
        raise NotLiteral("not written out")
    return literal_of(node).value


# --- Java -----------------------------------------------------------------------------------------------------------

TOKENS = re.compile(
    r'"[^"\\\n]*"(?:\.length\(\)|\.isEmpty\(\))?|\b(?:true|false|\d{1,9})\b|&&|\|\||!(?!=)'
    r"|(?:[<>]=?|[=!]=|\()\s*-?|\)|\s+"
)
"""What conditions of written-out values are made of."""
IN_PYTHON = {"true": "True", "false": "False", "&&": " and ", "||": " or ", "!": " not "}
LITERALS = {
    **{"true|false": "boolean", r'"[^"\\\n]*"': "String", r"\d+\.\d*|\.\d+": "double"},
    **{r"0|[1-9]\d{0,8}": "int", r"(?:0|[1-9]\d{0,7})[lL]": "long"},
}
WIDTH = {"int": 0, "long": 1, "double": 2}
"""Numeric types, each of which the later ones hold."""
NUMBER, TRUTH, TEXT, ANY = "<(int|long|double)>&?", "<boolean>&?", "<String>&?", r"<(?!void>)\S+>&?"
GIVEN = NUMBER.replace("(", "(?:")
SHAPES = {
    **{r"\( <((?!void>)\S+)>&? \)": "", r"<(\S+)\[\]>&? \[ <int>&? \]": "", r"<\S+\[\]>&? \. length": "int"},
    **{rf"{NUMBER} [-+*/%] {NUMBER}": "", rf"[-+] {NUMBER}": ""},
    **{rf"{NUMBER} (?:[<>]=?|[=!]=) {NUMBER}": "boolean", rf"{TRUTH} (?:&&|\|\|) {TRUTH}|! {TRUTH}": "boolean"},
    rf"<(int|long|double)>& (?:\+\+|--|[-+*/]= {GIVEN})|(?:\+\+|--) <(int|long|double)>&": "",
    r"<((?!void>)\S+)>& = <\1>&?|<(long)>& = <int>&?|<(double)>& = <(?:int|long)>&?": "",
    **{rf"{TEXT} \+ {ANY}|{ANY} \+ {TEXT}": "String", rf"<String>& \+= {ANY}": "String"},
    rf"{TEXT} \. (?:(?:to(?:Upper|Lower)Case|trim|toString) \(|concat \( {TEXT}|repeat \( <int>&?) \)": "String",
    **{r"<String(?:Builder)?>&? \. length \( \)": "int", rf"{TEXT} \. isEmpty \( \)": "boolean"},
    r"<StringBuilder>&? \. toString \( \)": "String",
    rf"new StringBuilder \((?: {TEXT})? \)|<StringBuilder>&? \. (?:reverse \(|append \( {ANY}) \)": "StringBuilder",
    rf"Math \. (?:(?:sqrt|floor|ceil|sin|cos|exp|log) \( {GIVEN}|pow \( {GIVEN} , {GIVEN}) \)": "double",
    rf"System\.out \. print(?:ln)? \( {ANY} \)": "void",
}
"""Expressions by their parts, and their types; where there is none, that of the part, the widest of several. A part is
its type, with & where it may be given a value."""
CLASSES = ("String", "StringBuilder", "Math", "System")
EXPRESSIONS = ("assignment_expression", "update_expression", "method_invocation")
"""Those that may be statements."""
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
    _read(statements[0], {})
    declarators = (node for node in nodes(root) if node.type == "variable_declarator")
    return frozenset(text_of(node.child_by_field_name("name")) for node in declarators)


def java_never_runs(node: Node) -> bool:
    """A condition of written-out values without `else`, or a loop that counts from its end on, with a block."""
    inside = {"if_statement": "consequence", "for_statement": "body"}.get(node.type)
    body = node.child_by_field_name(inside) if inside else None
    if body is None or body.type != "block":
        return False
    condition, start = text_of(node.child_by_field_name("condition")), node.child_by_field_name("init")
    if node.type == "for_statement":
        counters = start.children_by_field_name("declarator") if start is not None else []
        name, value = (text_of(counters[0].child_by_field_name(one)) for one in ("name", "value")) if counters else "  "
        condition, count = re.subn(rf"^{re.escape(name)}(?=\W)", lambda _: f"({value})", condition)
        if len(counters) != count or count != 1 or '"' in value:
            return False
    return node.child_by_field_name("alternative") is None and _java_value(condition) is False


def _java_value(condition: str) -> bool | None:
    """Whether a condition of values that are all written out is true; None for any other: Python's, which compares
    several at once where Java takes two, and then none is known."""
    if not re.fullmatch(f"(?:{TOKENS.pattern})+", condition):
        return None
    python = TOKENS.sub(lambda found: _in_python(found[0]), condition)
    try:
        [test] = tree_of(f"({python})").body
    except NotNeutral:
        return None
    return _value(test.value) if isinstance(test, ast.Expr) else None


def _in_python(token: str) -> str:
    text, quote, method = token.rpartition('"')
    if quote and method:
        return str(len(text) - 1 if "length" in method else len(text) == 1)
    return IN_PYTHON.get(token, token)


def _unknown(node: Node) -> NotNeutral:
    return NotNeutral(f"dead code has {text_of(node)[:40]!r}, which the grammar does not know")


def _read(node: Node, own: Types) -> None:
    """Reads a statement of the grammar and adds the variables that it declares; `NotNeutral` for any other."""
    parts = node.named_children
    condition = node.child_by_field_name("condition")
    match node.type:
        case "block" | "if_statement" | "for_statement":
            own = dict(own)
            endless = node.type == "for_statement" and _java_value(text_of(condition)) is not None
            if endless or node.child_by_field_name("alternative") or (condition is None) != (node.type == "block"):
                raise _unknown(node)
            for part in parts:
                if part.type in EXPRESSIONS and part != condition and node.type == "for_statement":
                    _type(part, own)
                elif part != condition:
                    _read(part, own)
                elif _type(part, own) != "boolean":
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


def _must_hold(kind: str, value: Node, own: Types) -> None:
    """Whether a variable of a type may be given this value."""
    if value.type == "array_initializer" and kind.endswith("[]"):
        for one in value.named_children:
            _must_hold(kind[:-2], one, own)
    else:
        _shaped(f"<{kind}>& = <{_type(value, own)}>", value)


def _type(node: Node, own: Types) -> str:
    """The type of an expression of the grammar; `NotNeutral` for any other."""
    text = text_of(node)
    if node.type == "identifier" and text in own:
        return own[text]
    if kind := next((kind for form, kind in LITERALS.items() if re.fullmatch(form, text)), ""):
        return kind
    parts = (part for one in node.children for part in (one.children if one.type == "argument_list" else [one]))
    return _shaped(" ".join(_part(part, own) for part in parts), node)


def _part(node: Node, own: Types) -> str:
    """A part of an expression as `SHAPES` has it."""
    text = text_of(node)
    unknown = node.type in ("identifier", "type_identifier") and text not in own
    if unknown or not node.is_named or text == "System.out":
        return text
    return f"<{_type(node, own)}>" + "&" * (node.type in ("identifier", "array_access"))


def _shaped(shape: str, node: Node) -> str:
    for form, kind in SHAPES.items():
        if found := re.fullmatch(form, shape):
            return kind or max(filter(None, found.groups()), key=lambda one: WIDTH.get(one, 0))
    raise _unknown(node)
