"""Check of dead code (statements that never run) against a closed grammar (Fault Localizability,
section IV-C): code outside the grammar is rejected.

A snippet is one statement: a condition of literal values that is false, or a loop over nothing. The
statements inside name only variables of their own, the language's built-ins and, in Python, the
program's names. In Java all of the snippet is typed, so that an accepted snippet compiles.
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

from codestress.literals import NotLiteral, literal_of
from codestress.mutate.faults.hidden import seen
from codestress.mutate.faults.trees import (
    JAVA_WORDS,
    NotNeutral,
    field_text,
    java_root,
    named_in,
    tree_of,
    words_of,
)
from codestress.mutate.scopes import names_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


def check_snippet(snippet: str, program: str, language: Language) -> None:
    """Raises `NotNeutral` if the dead code `snippet` is outside the grammar of its language in this
    module, or if its presence could change what `program` does; else returns nothing."""
    (_check_java if language == "java" else _check_python)(snippet, program)


# --- Python ---------------------------------------------------------------------------------------------------------

STATEMENTS = (
    ast.Expr,
    ast.Assign,
    ast.AugAssign,
    ast.Pass,
    ast.If,
    ast.While,
    ast.For,
    ast.Return,
    ast.Break,
    ast.Continue,
    ast.Raise,
    ast.Assert,
)
"""Statements that a Python snippet may hold; none declares, imports or deletes anything."""
BARRED = ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await | ast.pattern
"""Expressions that a Python snippet must not hold, since they bind names or change the kind of
their function."""
BUILTINS = frozenset(dir(builtins)) - {"super", "locals", "vars", "dir", "eval", "exec"}
CALLED = frozenset(("len", "bool", "range", "dict", "list", "set"))
"""Built-ins that the false conditions and empty loops of snippets may call."""
COMPARED: Mapping[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
}


def _check_python(snippet: str, program: str) -> None:
    bound, read, returns = _python_parts(snippet)
    known, declared = _bound_by(program)
    if own := sorted(read & CALLED & (CALLED if "*" in known else known)):
        raise NotNeutral(f"dead code relies on {own[0]!r}, which the program binds")
    if unknown := sorted(read - bound - BUILTINS - known):
        raise NotNeutral(f"dead code reads {unknown[0]!r}, which is nowhere")
    shared = (bound | read) & known
    if shared & declared or (shared and seen("names", program, "python")):
        raise NotNeutral(
            "dead code names a variable of the program that is declared global or nonlocal, "
            "or whose name the program may see"
        )
    if returns and "async" in words_of(program):
        raise NotNeutral(
            "dead code returns a value, and the program has async functions"
        )


@lru_cache(maxsize=512)
def _python_parts(snippet: str) -> tuple[frozenset[str], frozenset[str], bool]:
    """Three values: names that a Python snippet binds, names that it reads, and whether it returns
    a value. Raises `NotNeutral` for a snippet outside the grammar (this module's docstring)."""
    body = tree_of(snippet).body
    if len(body) != 1 or not never_runs(body[0]):
        raise NotNeutral("dead code is not one statement that never runs")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(
                f"def _():\n{textwrap.indent(snippet, ' ')}",
                "snippet",
                "exec",
                dont_inherit=True,
            )
        except (SyntaxError, ValueError) as error:
            raise NotNeutral(f"dead code does not compile: {error}") from None
    if "#" in snippet:
        raise NotNeutral("dead code has a comment")
    bound, read, returns = set[str](), set[str](), False
    for part in ast.walk(body[0]):
        other = isinstance(part, ast.stmt) and not isinstance(part, STATEMENTS)
        if other or isinstance(part, BARRED):
            name = type(part).__name__.lower()
            raise NotNeutral(
                f"dead code has {name}, which may change what is around it"
            )
        match part:
            case ast.Name(name, ast.Load()):
                read.add(name)
            case ast.Name(name) | ast.arg(name):
                bound.add(name)
            case ast.Return(ast.expr()):
                returns = True
    return frozenset(bound), frozenset(read), returns


@lru_cache(maxsize=256)
def _bound_by(program: str) -> tuple[frozenset[str], frozenset[str]]:
    """Two sets: names that a Python program binds, and names in its `global` and `nonlocal`
    statements."""
    scopes = names_of(tree_of(program)).scopes
    bound = {name for scope in scopes for name in scope.bound}
    declared = [scope.global_names | scope.nonlocal_names for scope in scopes]
    return frozenset(bound), frozenset().union(*declared)


NOTHING = (
    "[]",
    "()",
    "{}",
    "''",
    "u''",
    "b''",
    "range(0)",
    "dict()",
    "list()",
    "set()",
)


def never_runs(node: ast.stmt) -> bool:
    """Whether a Python statement never runs its body: `if` or `while` with a condition that literal
    values make false, or `for` over a text of `NOTHING`, such as `[]`; False for those with
    `else`."""
    if isinstance(node, ast.If | ast.While):
        return not node.orelse and truth(node.test) is False
    return (
        isinstance(node, ast.For)
        and not node.orelse
        and ast.unparse(node.iter) in NOTHING
    )


def truth(test: ast.expr) -> bool | None:
    """Truth value of a Python condition that consists of literal values; None for any other
    condition."""
    try:
        return bool(_held(test))
    except (NotLiteral, TypeError, RecursionError):
        return None


def _held(node: ast.expr) -> Any:
    """Value of a Python condition, or of a part of it, that consists of literal values; raises
    `NotLiteral` if it does not."""
    match node:
        case ast.BoolOp(values=values):
            parts = [_held(value) for value in values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        case ast.UnaryOp(op=ast.Not()):
            return not _held(node.operand)
        case ast.Compare(ops=[sign], comparators=[right]) if type(sign) in COMPARED:
            return COMPARED[type(sign)](_held(node.left), _held(right))
        case ast.Call(
            func=ast.Name(id="len" | "bool" as name), args=[argument], keywords=[]
        ):
            return (len if name == "len" else bool)(_held(argument))
    if any(
        isinstance(part, ast.Name | ast.Compare | ast.BoolOp) for part in ast.walk(node)
    ):
        raise NotLiteral("not written out")
    return literal_of(node).value


# --- Java -----------------------------------------------------------------------------------------------------------

TOKENS = re.compile(
    r'"[^"\\\n]*"(?:\.length\(\)|\.isEmpty\(\))?|\b(?:true|false|\d{1,9})\b|&&|\|\||!(?!=)'
    r"|(?:[<>]=?|[=!]=|\()\s*-?|\)|\s+"
)
"""Pattern of a token in a Java condition of literal values."""
IN_PYTHON = {
    "true": "True",
    "false": "False",
    "&&": " and ",
    "||": " or ",
    "!": " not ",
}
LITERALS = {
    "true|false": "boolean",
    r'"[^"\\\n]*"': "String",
    r"\d+\.\d*|\.\d+": "double",
    r"0|[1-9]\d{0,8}": "int",
    r"(?:0|[1-9]\d{0,7})[lL]": "long",
}
WIDTH = {"int": 0, "long": 1, "double": 2}
"""Rank of numeric types: a type holds all values of types with a lower rank."""
NUMBER, TRUTH, TEXT, ANY = (
    "<(int|long|double)>&?",
    "<boolean>&?",
    "<String>&?",
    r"<(?!void>)\S+>&?",
)
GIVEN = NUMBER.replace("(", "(?:")
SHAPES = {
    r"\( <((?!void>)\S+)>&? \)": "",
    r"<(\S+)\[\]>&? \[ <int>&? \]": "",
    r"<\S+\[\]>&? \. length": "int",
    rf"{NUMBER} [-+*/%] {NUMBER}": "",
    rf"[-+] {NUMBER}": "",
    rf"{NUMBER} (?:[<>]=?|[=!]=) {NUMBER}": "boolean",
    rf"{TRUTH} (?:&&|\|\|) {TRUTH}|! {TRUTH}": "boolean",
    rf"<(int|long|double)>& (?:\+\+|--|[-+*/]= {GIVEN})|(?:\+\+|--) <(int|long|double)>&": "",
    r"<((?!void>)\S+)>& = <\1>&?|<(long)>& = <int>&?|<(double)>& = <(?:int|long)>&?": "",
    rf"{TEXT} \+ {ANY}|{ANY} \+ {TEXT}": "String",
    rf"<String>& \+= {ANY}": "String",
    rf"{TEXT} \. (?:(?:to(?:Upper|Lower)Case|trim|toString) \(|concat \( {TEXT}|repeat \( <int>&?) \)": "String",
    r"<String(?:Builder)?>&? \. length \( \)": "int",
    rf"{TEXT} \. isEmpty \( \)": "boolean",
    r"<StringBuilder>&? \. toString \( \)": "String",
    rf"new StringBuilder \((?: {TEXT})? \)|<StringBuilder>&? \. (?:reverse \(|append \( {ANY}) \)": "StringBuilder",
    rf"Math \. (?:(?:sqrt|floor|ceil|sin|cos|exp|log) \( {GIVEN}|pow \( {GIVEN} , {GIVEN}) \)": "double",
    rf"System\.out \. print(?:ln)? \( {ANY} \)": "void",
}
"""Types of Java expressions, by patterns of their parts. An empty type stands for the part's type,
the widest of several. A part is written as its type, with & if the part can be assigned to."""
CLASSES = ("String", "StringBuilder", "Math", "System")
EXPRESSIONS = ("assignment_expression", "update_expression", "method_invocation")
"""Types of Java expressions that may stand as statements."""
Types = dict[str, str]
"""Types of the Java variables in scope, by name."""


def _check_java(snippet: str, program: str) -> None:
    names = _java_parts(snippet)
    words = words_of(program)
    if shared := sorted(names & words):
        raise NotNeutral(f"dead code declares {shared[0]!r}, which the program has")
    if own := sorted(words_of(snippet) & set(CLASSES) & named_in(program)):
        raise NotNeutral(f"dead code relies on {own[0]!r}, which the program declares")


@lru_cache(maxsize=512)
def _java_parts(snippet: str) -> frozenset[str]:
    """Names of the variables that a Java snippet declares; raises `NotNeutral` for a snippet
    outside the grammar (this module's docstring)."""
    root = java_root(f"class Snippet {{ void snippet() {{\n{snippet}\n}} }}")
    if any("comment" in node.type for node in nodes(root)):
        raise NotNeutral("dead code has a comment")
    [declared] = root.named_children[:1]
    members = declared.named_children[-1].named_children
    body = (
        members[0].child_by_field_name("body")
        if len(root.named_children) == len(members) == 1
        else None
    )
    statements = body.named_children if body is not None else []
    if len(statements) != 1 or not java_never_runs(statements[0]):
        raise NotNeutral("dead code is not one statement that never runs")
    _read(statements[0], {})
    declarators = (node for node in nodes(root) if node.type == "variable_declarator")
    return frozenset(field_text(node, "name") for node in declarators)


def java_never_runs(node: Node) -> bool:
    """Whether a Java statement has a block that never runs: a false condition of literal values
    without `else`, or a loop whose counter starts at its end."""
    inside = {"if_statement": "consequence", "for_statement": "body"}.get(node.type)
    body = node.child_by_field_name(inside) if inside else None
    if body is None or body.type != "block":
        return False
    condition, start = field_text(node, "condition"), node.child_by_field_name("init")
    if node.type == "for_statement":
        counters = (
            start.children_by_field_name("declarator") if start is not None else []
        )
        if len(counters) != 1:
            return False
        name, value = field_text(counters[0], "name"), field_text(counters[0], "value")
        condition, count = re.subn(
            rf"^{re.escape(name)}(?=\W)", lambda _: f"({value})", condition
        )
        if not count or '"' in value:
            return False
    return (
        node.child_by_field_name("alternative") is None
        and java_truth(condition) is False
    )


def java_truth(condition: str) -> bool | None:
    """Truth value of the text of a Java condition of literal values; None for any other condition.
    Python evaluates the condition, so a chain of comparisons, which Java does not know, also gives
    None."""
    if not re.fullmatch(f"(?:{TOKENS.pattern})+", condition):
        return None
    python = TOKENS.sub(lambda found: _in_python(found[0]), condition)
    try:
        [test] = tree_of(f"({python})").body
    except NotNeutral:
        return None
    return truth(test.value) if isinstance(test, ast.Expr) else None


def _in_python(token: str) -> str:
    text, quote, method = token.rpartition('"')
    if quote and method:
        return str(len(text) - 1 if "length" in method else len(text) == 1)
    return IN_PYTHON.get(token, token)


def _unknown(node: Node) -> NotNeutral:
    return NotNeutral(
        f"dead code has {text_of(node)[:40]!r}, which the grammar does not know"
    )


def _read(node: Node, own: Types) -> None:
    """Checks a Java statement against the grammar and adds the types of the variables that it
    declares to the dictionary `own`; raises `NotNeutral` for any other statement."""
    parts = node.named_children
    condition = node.child_by_field_name("condition")
    match node.type:
        case "block" | "if_statement" | "for_statement":
            own = dict(own)
            endless = (
                node.type == "for_statement"
                and java_truth(text_of(condition)) is not None
            )
            if (
                endless
                or node.child_by_field_name("alternative")
                or (condition is None) != (node.type == "block")
            ):
                raise _unknown(node)
            for part in parts:
                if (
                    part.type in EXPRESSIONS
                    and part != condition
                    and node.type == "for_statement"
                ):
                    _type(part, own)
                elif part != condition:
                    _read(part, own)
                elif _type(part, own) != "boolean":
                    raise _unknown(node)
        case "local_variable_declaration" if parts[0].type != "modifiers":
            kind = field_text(node, "type")
            for one in parts[1:]:
                name, value = field_text(one, "name"), one.child_by_field_name("value")
                taken = name in {*own, *JAVA_WORDS, *CLASSES}
                if taken or value is None or len(one.named_children) > 2:
                    raise _unknown(node)
                _must_hold(kind, value, own)
                own[name] = kind
        case "expression_statement" if parts[0].type in EXPRESSIONS:
            _type(parts[0], own)
        case _:
            raise _unknown(node)


def _must_hold(kind: str, value: Node, own: Types) -> None:
    """Raises `NotNeutral` if a Java variable of type `kind` cannot take the expression `value`;
    `own` has the types of the variables in scope."""
    if value.type == "array_initializer" and kind.endswith("[]"):
        for one in value.named_children:
            _must_hold(kind[:-2], one, own)
    else:
        _shaped(f"<{kind}>& = <{_type(value, own)}>", value)


def _type(node: Node, own: Types) -> str:
    """Type of a Java expression of the grammar; raises `NotNeutral` for any other expression. `own`
    has the types of the variables in scope."""
    text = text_of(node)
    if node.type == "identifier" and text in own:
        return own[text]
    for form, kind in LITERALS.items():
        if re.fullmatch(form, text):
            return kind
    parts = (
        part
        for one in node.children
        for part in (one.children if one.type == "argument_list" else [one])
    )
    return _shaped(" ".join(_part(part, own) for part in parts), node)


def _part(node: Node, own: Types) -> str:
    """Part of a Java expression in the notation of `SHAPES`: its type as `<TYPE>`, with `&` if it
    can be assigned to; its text for signs, keywords and names that are not in `own`."""
    text = text_of(node)
    unknown = node.type in ("identifier", "type_identifier") and text not in own
    if unknown or not node.is_named or text == "System.out":
        return text
    return f"<{_type(node, own)}>" + "&" * (node.type in ("identifier", "array_access"))


def _shaped(shape: str, node: Node) -> str:
    for form, kind in SHAPES.items():
        if match := re.fullmatch(form, shape):
            return kind or max(
                filter(None, match.groups()), key=lambda part: WIDTH.get(part, 0)
            )
    raise _unknown(node)
