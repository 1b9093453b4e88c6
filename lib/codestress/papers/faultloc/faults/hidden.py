"""What nobody can see of a program's text: its lines, the names of local variables, the order of methods.

Programs that look at their own text are known by what they name.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from codestress.generation.edits import Lines
from codestress.generation.scopes import FunctionNode, Names, Scope, names_of, parameters, reads_message
from codestress.papers.faultloc.faults.trees import (
    JAVA_CLASSES,
    JAVA_TYPES,
    NotNeutral,
    around,
    java_root,
    tree_of,
    words_of,
)
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Aspect = Literal["lines", "names", "order"]
TRACES = (
    *("exc_info", "format_exc", "print_exc", "format_exception", "print_exception", "TracebackException"),
    *("format_exception_only", "currentframe", "getsource", "getsourcelines", "getframeinfo", "f_code", "__code__"),
    *("settrace", "setprofile", "inspect", "builtins", "__builtins__"),
)
NAMED: dict[Aspect, set[str]] = {
    "names": {
        *(*TRACES, "f_locals", "__annotations__", "signature", "getfullargspec", "getcallargs", "getargvalues"),
        *("get_type_hints", "dis", "co_varnames"),
    },
    "lines": {
        *(*TRACES, "f_lineno", "tb_lineno", "extract_stack", "extract_tb", "format_tb", "format_stack", "walk_tb"),
        *("print_stack", "print_tb", "walk_stack", "__file__", "getline", "getlines", "f_lasti", "stack_info"),
    },
    "order": {"__dict__", "getmembers", "classify_class_attrs", "co_firstlineno", *TRACES},
}
DYNAMIC: dict[Aspect, set[str]] = {
    "names": {"locals", "vars", "eval", "exec", "dir"},
    "lines": set(),
    "order": {"locals", "vars", "eval", "exec"},
}
"""Functions that see the names of variables."""
JAVA: dict[Aspect, set[str]] = {
    "lines": {"getStackTrace", "StackWalker", "getLineNumber", "dumpStack"},
    "names": {"getParameters"},
    "order": {"getMethods", "getDeclaredMethods", "getStackTrace", "StackWalker", "getLineNumber"},
}


@lru_cache(maxsize=2048)
def looks_at(aspect: Aspect, code: str, language: Language) -> str:
    """What a program names by which it sees its lines, its variables' names or its methods' order; empty for nothing.

    In Java a stack trace counts where it is printed anywhere but on the standard error.
    """
    if language == "java":
        printed = {"printStackTrace(…)"} if re.search(r"\bprintStackTrace\s*\(\s*[^\s)]", code) else set()
        return min(words_of(code) & JAVA[aspect] | printed, default="")
    tree = tree_of(code)
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                found |= {name} & (DYNAMIC[aspect] | NAMED[aspect])
            case ast.Attribute(value=value, attr=name):
                instance = name == "__dict__" and isinstance(value, ast.Name) and value.id == "self"
                found |= set() if instance else {name} & NAMED[aspect]
            case ast.alias(name=name):
                found |= set(name.split(".")) & NAMED[aspect]
            case ast.Constant(value=str(text)):
                found |= {text} & NAMED[aspect]
                if aspect == "lines" and ("(lineno)" in text or "{lineno" in text):
                    found.add("lineno")
            case ast.ExceptHandler() if aspect == "names" and reads_message(node):
                found.add(f"the message of {node.name}")
    return min(found, default="")


# --- Names of variables -----------------------------------------------------------------------------------------------

Spans = dict[str, list[tuple[int, int]]]
"""By name: first character and the one behind the last of each occurrence, in the order of the text."""


@lru_cache(maxsize=512)
def variables(code: str, language: Language) -> Spans:
    """The occurrences of each variable that may be renamed; `NotNeutral` where the program sees names."""
    if seen := looks_at("names", code, language):
        raise NotNeutral(f"the program sees names of variables ({seen})")
    return _python_variables(code) if language == "python" else _java_variables(code)


def _python_variables(code: str) -> Spans:
    """Not: parameters that a caller may give by their names; names that occur as keywords, as whole texts, in f-strings
    (whose positions are unreliable before Python 3.12), in `global`, `except … as` or patterns; names that stand for
    several variables or for a function, class or module too."""
    tree = tree_of(code)
    names = names_of(tree)
    lines = Lines.of(code)
    free = _free_names(tree, names)
    spans: Spans = {}
    for occurrence in names.occurrences:
        name, node = occurrence.name, occurrence.node
        if name in free and isinstance(node, ast.Name | ast.arg):
            start = lines.at(node.lineno, node.col_offset)
            spans.setdefault(name, []).append((start, start + len(name)))
    return {name: sorted(found) for name, found in spans.items()}


def _free_names(tree: ast.Module, names: Names) -> set[str]:
    barred = {part.arg for part in ast.walk(tree) if isinstance(part, ast.keyword) and part.arg is not None}
    barred |= _named_by_callers(tree, names)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            barred |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            barred.add(node.value)  # getattr, __all__, format strings
    owners: dict[str, set[Scope | None]] = {}
    for occurrence in names.occurrences:
        if not isinstance(occurrence.node, ast.Name | ast.arg):
            barred.add(occurrence.name)
        owners.setdefault(occurrence.name, set()).add(names.binding(occurrence))
    found = set()
    for name, scopes in owners.items():
        inside = [one for one in scopes if one is not None and one.kind in ("function", "comprehension")]
        plain = len(inside) == len(scopes) and all(one.bound[name] <= {"parameter", "variable"} for one in inside)
        if plain and name not in barred and name not in ("self", "cls") and not name.startswith("__"):
            found.add(name)
    return found


def _named_by_callers(tree: ast.Module, names: Names) -> set[str]:
    """Parameters that a caller may give by their names: keyword-only ones; all of a decorated function; and those not
    before a `/` of lambdas, of functions that are not private or local, that are ever used but to be called, and of all
    where the program calls anything with `**`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    spread = any(keyword.arg is None for call in calls for keyword in call.keywords)
    called = {id(call.func) for call in calls}
    uses = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called)
    used = {node.id if isinstance(node, ast.Name) else node.attr for node in uses}
    found = set[str]()
    for scope in names.scopes:
        function = scope.node
        if not isinstance(function, FunctionNode | ast.Lambda):
            continue
        given = function.args
        found |= {one.arg for one in given.kwonlyargs}
        if spread or isinstance(function, ast.Lambda) or function.name in used or _is_public(function, scope):
            found |= {one.arg for one in given.args}
        if not isinstance(function, ast.Lambda) and function.decorator_list:
            found |= {one.arg for one in (*given.posonlyargs, *given.args, given.vararg, given.kwarg) if one}
    return found


def _is_public(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
    """Whether somebody who reads no text but the program's interface can call it: a method, or a function of the
    module, without an underscore."""
    hidden = function.name.startswith("_") and not function.name.endswith("__")
    return not hidden and scope.parent is not None and scope.parent.kind != "function"


DECLARING = ("formal_parameter", "enhanced_for_statement", "resource", "catch_formal_parameter")
OTHERWISE = (
    *("lambda_expression", "inferred_parameters", "labeled_statement", "break_statement", "continue_statement"),
    *("method_reference", "element_value_pair", "switch_label", "annotation", "marker_annotation"),
)
"""Where an identifier may be something else than a variable."""
SCOPES = (
    *("block", "constructor_body", "for_statement", "enhanced_for_statement", "switch_block", "catch_clause"),
    *("try_with_resources_statement", "method_declaration", "constructor_declaration", "lambda_expression"),
)
"""In which a variable that is declared is known."""


def _java_variables(code: str) -> Spans:
    """Not: names that stand for anything else in the file (fields, methods, types, labels, components of records,
    elements of annotations), as whole texts, or where no declaration of a variable is around: an inherited field,
    perhaps, as in every class inside the declaration's scope."""
    lines = Lines.of(code)
    known: dict[str, list[tuple[Node, int]]] = {}
    others = set[str]()
    uses: dict[str, list[Node]] = {}
    for node in nodes(java_root(code)):
        if node.type == "string_literal":
            others.add(text_of(node)[1:-1])
        if node.type not in ("identifier", "type_identifier"):
            continue
        name = text_of(node)
        uses.setdefault(name, []).append(node)
        scope = _declared_in(node)
        if scope is not None:
            known.setdefault(name, []).append((scope, node.start_byte))
        elif _is_other(node):
            others.add(name)
    return {
        name: [lines.span(node) for node in uses[name]]
        for name, places in known.items()
        if name not in others and all(any(_sees(node, *place) for place in places) for node in uses[name])
    }


def _declared_in(node: Node) -> Node | None:
    """The scope of the variable that an identifier declares; None where it declares none."""
    parent = node.parent
    if parent is None or parent.child_by_field_name("name") != node:
        return None
    declaration = parent.parent if parent.type == "variable_declarator" else parent
    if declaration is None or declaration.type not in (*DECLARING, "local_variable_declaration"):
        return None
    scope = next((one for one in around(declaration) if one.type in (*SCOPES, *JAVA_TYPES)), None)
    return None if scope is None or scope.type in JAVA_TYPES else scope


def _is_other(node: Node) -> bool:
    parent = node.parent
    if parent is None or node.type == "type_identifier" or parent.type in OTHERWISE:
        return True
    return node in (parent.child_by_field_name("name"), parent.child_by_field_name("field"))


def _sees(node: Node, scope: Node, declared: int) -> bool:
    """Whether a use stands in a variable's scope, behind its declaration, and in no class inside it."""
    for one in around(node):
        if one == scope:
            return node.start_byte >= declared
        if one.type in JAVA_TYPES:
            return False
    return False


# --- The order of methods ---------------------------------------------------------------------------------------------

Methods = list[tuple[int, int]]
"""The first and last line of each."""


def movable(code: str, language: Language) -> list[Methods]:
    """The methods of each class that may change places, where there are two; `NotNeutral` where there are none."""
    if seen := looks_at("order", code, language):
        raise NotNeutral(f"the program sees the order of methods ({seen})")
    groups = [one for one in (_python_groups if language == "python" else _java_groups)(code) if len(one) > 1]
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups


@lru_cache(maxsize=256)
def _python_groups(code: str) -> list[Methods]:
    """For each class its methods, where each has a name of its own and no decorator, and where nothing that is
    evaluated while the class is made can tell their order."""
    groups = []
    lines = Lines.of(code)
    tree = tree_of(code)
    plain = _plain_classes(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or node.name not in plain:
            continue
        methods = {one: _evaluated(one) for one in node.body if isinstance(one, FunctionNode)}
        counts = Counter(one.name for one in methods)
        run: list[ast.AST] = [one for one in node.body if one not in methods]  # while the class is made
        run += [part for one, given in methods.items() for part in (*one.decorator_list, *given[0], *given[1])]
        every = [part for one in run for part in ast.walk(one)]
        used = {part.id for part in every if isinstance(part, ast.Name)}
        used |= {part.name for part in every if isinstance(part, FunctionNode | ast.ClassDef)}
        used |= {(part.asname or part.name) for part in every if isinstance(part, ast.alias)}
        acts = any(isinstance(part, ACTING) for part in every)
        changed = {part.id for part in every if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        changed |= {*counts, *(used if acts else ())}
        group = [
            (one.lineno, one.end_lineno or one.lineno)
            for one, (defaults, annotations) in methods.items()
            if counts[one.name] == 1
            and not one.decorator_list
            and one.name not in used
            and _still(defaults, STILL, changed)
            and _still(annotations, (*STILL, ast.Subscript, ast.BinOp, ast.BitOr), changed)
        ]
        if len({lines.indent(first) for first, _ in group}) == 1:
            groups.append(group)
    return groups


ACTING = (
    *(ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Delete, ast.Import, ast.ImportFrom, ast.With),
)
"""What may do something when it is evaluated."""
STILL = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop),
    ast.expr_context,
)
"""What gives the same whenever it is evaluated, as long as nothing changes its names."""
KNOWN_DECORATORS = {"dataclass", "total_ordering", "final", "unique", "runtime_checkable"}
KNOWN_BASES = {
    *(name for name, held in vars(builtins).items() if isinstance(held, type)),
    *("ABC", "Enum", "IntEnum", "Flag", "TestCase", "Thread", "Protocol", "Generic", "NodeVisitor", "NodeTransformer"),
    *("HTMLParser", "Cmd", "UserDict", "UserList", "Mapping", "MutableMapping", "Sequence", "MutableSequence"),
}
"""Classes that do not ask in which order the methods of those below them stand."""


def _plain_classes(tree: ast.Module) -> set[str]:
    """Classes without a metaclass or a decorator that is not known, below such classes alone."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    asking = {one.name for one in classes for part in one.body if getattr(part, "name", "") == "__init_subclass__"}
    counts = Counter(one.name for one in classes)
    known = (one for one in classes if not one.keywords and _named(one.decorator_list) <= KNOWN_DECORATORS)
    plain = {one.name: one for one in known if counts[one.name] == 1}
    while True:
        bases = (KNOWN_BASES - counts.keys()) | (plain.keys() - asking)
        left = {name: one for name, one in plain.items() if _named(one.bases) <= bases}
        if len(left) == len(plain):
            return set(plain)
        plain = left


def _named(parts: Sequence[ast.expr]) -> set[str]:
    """The last name of each: `Base` of `Base`, `module.Base` and `Base[int]`; the text of what is none of these."""
    found = set()
    for part in parts:
        held = part.func if isinstance(part, ast.Call) else part.value if isinstance(part, ast.Subscript) else part
        found.add(held.attr if isinstance(held, ast.Attribute) else ast.unparse(held))
    return found


def _evaluated(function: FunctionNode) -> tuple[list[ast.expr], list[ast.expr]]:
    """A method's defaults, and its annotations."""
    defaults = (*function.args.defaults, *function.args.kw_defaults)
    annotations = (function.returns, *(one.annotation for one in parameters(function)))
    return [one for one in defaults if one is not None], [one for one in annotations if one is not None]


def _still(parts: Sequence[ast.expr], kinds: tuple[type[ast.AST], ...], changed: set[str]) -> bool:
    """Whether expressions give the same wherever in the class they stand: nothing but these kinds, and no names that
    something changes."""
    every = [part for one in parts for part in ast.walk(one)]
    named = {one.id for one in every if isinstance(one, ast.Name)}
    return all(isinstance(one, kinds) for one in every) and named.isdisjoint(changed)


@lru_cache(maxsize=256)
def _java_groups(code: str) -> list[Methods]:
    """For each class its methods, where each begins and ends on lines of its own."""
    lines = Lines.of(code)
    groups = []
    for node in nodes(java_root(code)):
        if node.type not in JAVA_CLASSES:
            continue
        group = []
        for child in (one for one in node.named_children if one.type == "method_declaration"):
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            if whole.strip() == lines.text[slice(*lines.span(child))]:
                group.append((first, last))
        groups.append(group)
    return groups
