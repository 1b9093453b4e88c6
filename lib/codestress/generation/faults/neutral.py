"""Semantic-preserving mutations of a faulty program (Table I): comments, names, dead code, the order of functions.

Made on the text, so that layout and the other lines stay as they are, and the faulty line's number follows each edit.
Each mutation is proved as far as the language allows: `neutral_fault` says what is wrong, and `mutate` refuses it.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import yaml

from codestress.generation.faults.text import Lines
from codestress.generation.scopes import FunctionNode, Names, Scope, names_of
from codestress.literals import NotLiteral, literal_of
from codestress.problems.generated.drawing import Draw
from codestress.sandbox.runtimes import nodes, parser
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Spm = Literal["comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code"]
SPMS: tuple[Spm, ...] = ("comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code")
"""The four mutations and the two compositions, which are applied from the right: dead code, then names, comments."""
QUARTERS = 4


class NotNeutral(ValueError):
    """The mutation cannot be made on this program, or cannot be proved neutral; the message says why."""


@dataclass(frozen=True)
class Content:
    """What mutations put in: from the kit's bank, or written by the model under test."""

    comments: tuple[str, ...]
    """One line each, without comment signs."""
    names: tuple[str, ...]
    dead_code: tuple[str, ...]
    """Statements without effect, to be indented."""


@dataclass(frozen=True)
class Labelled:
    """A program and its faulty line, from 1 on."""

    code: str
    line: int


@dataclass(frozen=True)
class Edits:
    """What a mutation changes in a program, by the program's own lines and characters."""

    inserted: tuple[tuple[int, str], ...] = ()
    """Whole lines, each text with the line before which it is put in; of two at one line the later stands above."""
    renamed: tuple[tuple[int, int, str], ...] = ()
    """First character, last and the new text, within one line."""

    def apply(self, program: Labelled) -> Labelled:
        """The program with the edits made; the label follows its line."""
        code = program.code
        for start, end, new in sorted(self.renamed, reverse=True):
            code = code[:start] + new + code[end:]
        lines, label = code.split("\n"), program.line
        for line, text in sorted(self.inserted, key=lambda one: -one[0]):
            new_lines = text.split("\n")
            lines[line - 1 : line - 1] = new_lines
            label += len(new_lines) if line <= program.line else 0
        return Labelled("\n".join(lines), label)


@cache
def bank(language: Language) -> Content:
    """The kit's own content."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "bank.yaml").read_text(encoding="utf-8"))
    dead = content["dead_code_java" if language == "java" else "dead_code_python"]
    names = [_camel(name) for name in content["names"]] if language == "java" else content["names"]
    return Content(tuple(content["comments"]), tuple(names), tuple(dead))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def mutate(
    program: Labelled,
    spm: Spm,
    language: Language,
    draw: Draw,
    *,
    strength: int,
    quarter: int,
    content: Content,
    prove: bool = True,
) -> Labelled:
    """The program with `strength` applications of a mutation in a quarter (0 to 3) of its lines.

    `NotNeutral` where there are fewer places than that, or where the result is not proved to mean the same. Without
    `prove` it is only made: for who proves it later.
    """
    if spm == "functions":
        mutated = _functions(program, language, draw, strength, quarter)
    else:
        edits = Edits()
        for part in reversed(spm.split("+")):
            make = {"comments": _comments, "names": _names, "dead_code": _dead_code}[part]
            edits = make(edits, program, language, draw, strength, quarter, content)
        mutated = edits.apply(program)
    why = neutral_fault(program.code, mutated.code, spm, language) if prove else ""
    if why:
        raise NotNeutral(f"{spm}: {why}")
    return mutated


# --- where lines may be put in --------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _statement_lines(code: str, language: Language) -> tuple[tuple[int, str], ...]:
    """Lines before which a statement may stand inside a function, with their indents, in the order of the text."""
    lines = Lines.of(code)
    found: dict[int, str] = {}
    if language == "python":
        for function in ast.walk(_tree(code)):
            if not isinstance(function, FunctionNode):
                continue
            docstring = ast.get_docstring(function, clean=False) is not None
            for block in _blocks(function):
                for statement in block[1:] if docstring and block is function.body else block:
                    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
                    indent = lines.indent(first)
                    own = lines.text[lines.starts[first - 1] + len(indent) :]
                    column = statement.col_offset if first == statement.lineno else len(indent.encode())
                    alone = column == len(indent.encode()) and not lines.continued(first)
                    if alone and not own.startswith(("global ", "nonlocal ", "elif ", "elif(")):
                        found[first] = indent
        return tuple(sorted(found.items()))
    for node in nodes(_java_root(code)):
        if node.type not in ("block", "constructor_body") or not _in_method(node):
            continue
        last_row = node.start_point[0]
        for child in node.named_children:
            row = child.start_point[0]
            explicit = child.type == "explicit_constructor_invocation"
            if row > last_row and not explicit and "comment" not in child.type:
                indent = lines.indent(row + 1)
                if len(indent.encode()) == child.start_point[1]:
                    found[row + 1] = indent
            last_row = child.end_point[0]
    return tuple(sorted(found.items()))


def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NotNeutral(f"does not parse: {error}") from None


def _java_root(code: str) -> Node:
    root = parser("java").parse(code.encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        raise NotNeutral("does not parse")
    return root


def _blocks(function: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements of a function, without those of functions and classes inside it."""
    found = []
    for name in ("body", "orelse", "finalbody"):
        block = getattr(function, name, None)
        if isinstance(block, list) and block:
            found.append(block)
            for statement in block:
                if not isinstance(statement, FunctionNode | ast.ClassDef):
                    found += _blocks(statement)
    for part in [*getattr(function, "handlers", []), *getattr(function, "cases", [])]:
        found += _blocks(part)
    return found


def _in_method(node: Node) -> bool:
    here: Node | None = node
    while here is not None:
        if here.type in ("method_declaration", "constructor_declaration"):
            return True
        here = here.parent
    return False


def quarter_of(line: int, lines: int) -> int:
    """The quarter (0 to 3) in which a line of so many stands."""
    return min(QUARTERS - 1, QUARTERS * (line - 1) // max(1, lines))


def _places(program: Labelled, language: Language, quarter: int, draw: Draw, strength: int) -> list[tuple[int, str]]:
    """`strength` different places of a quarter; where it has fewer, the nearest ones beside it."""
    total = program.code.count("\n") + 1
    places = list(_statement_lines(program.code, language))
    if len(places) < strength:
        raise NotNeutral(f"only {len(places)} places for {strength}")
    middle = (quarter + 0.5) * total / QUARTERS
    ranked = sorted(places, key=lambda one: (quarter_of(one[0], total) != quarter, abs(one[0] - middle)))
    inside = [one for one in ranked if quarter_of(one[0], total) == quarter]
    pool = inside if len(inside) >= strength else ranked[:strength]
    return [pool.pop(draw.integer(0, len(pool) - 1)) for _ in range(strength)]


# --- the mutations --------------------------------------------------------------------------------------------------


def _comments(
    edits: Edits, program: Labelled, language: Language, draw: Draw, strength: int, quarter: int, content: Content
) -> Edits:
    sign = "#" if language == "python" else "//"
    texts = _drawn(content.comments, strength, draw)
    places = _places(program, language, quarter, draw, strength)
    inserted = (
        (line, f"{indent}{sign} {' '.join(text.split())}") for (line, indent), text in zip(places, texts, strict=True)
    )
    return replace(edits, inserted=(*edits.inserted, *inserted))


def _dead_code(
    edits: Edits, program: Labelled, language: Language, draw: Draw, strength: int, quarter: int, content: Content
) -> Edits:
    snippets = _drawn(content.dead_code, strength, draw)
    places = _places(program, language, quarter, draw, strength)
    inserted = (
        (line, "\n".join(f"{indent}{part}" for part in snippet.split("\n")))
        for (line, indent), snippet in zip(places, snippets, strict=True)
    )
    return replace(edits, inserted=(*edits.inserted, *inserted))


def _drawn(items: Sequence[str], count: int, draw: Draw) -> list[str]:
    if len(items) < count:
        raise NotNeutral(f"only {len(items)} pieces of content for {count}")
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(count)]


def _names(
    edits: Edits, program: Labelled, language: Language, draw: Draw, strength: int, quarter: int, content: Content
) -> Edits:
    found = _python_variables(program.code) if language == "python" else _java_variables(program.code)
    if len(found) < strength:
        raise NotNeutral(f"only {len(found)} variables for {strength}")
    used = _words(program.code).union(*(_words(text) for _, text in edits.inserted))
    fresh = [name for name in content.names if name not in used and name.isidentifier()]
    total = program.code.count("\n") + 1
    inside = [name for name, spans in found.items() if quarter_of(spans[0][0], total) == quarter]
    pool = inside if len(inside) >= strength else [*inside, *(name for name in found if name not in inside)][:strength]
    chosen = [pool.pop(draw.integer(0, len(pool) - 1)) for _ in range(strength)]
    renamed = (
        (start, end, new)
        for old, new in zip(chosen, _drawn(fresh, strength, draw), strict=True)
        for _, start, end in found[old]
    )
    return replace(edits, renamed=(*edits.renamed, *renamed))


@lru_cache(maxsize=512)
def _words(code: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", code))


Spans = dict[str, list[tuple[int, int, int]]]
"""By name: line, first character and last of each occurrence, in the order of the text."""


@lru_cache(maxsize=512)
def _python_variables(code: str) -> Spans:
    """Local variables and parameters that may be renamed by their text alone.

    Not: names that occur as keywords, in f-strings (whose positions are unreliable before Python 3.12), in `global`,
    `except … as` or patterns; names that stand for several variables or for a function, class or module too.
    """
    tree = _tree(code)
    names = names_of(tree)
    lines = Lines.of(code)
    free = _free_names(tree, names)
    spans: Spans = {}
    for occurrence in names.occurrences:
        name, node = occurrence.name, occurrence.node
        if name in free and isinstance(node, ast.Name | ast.arg):
            start = lines.at(node.lineno, node.col_offset)
            spans.setdefault(name, []).append((node.lineno, start, start + len(name)))
    return {name: sorted(found) for name, found in spans.items()}


def _free_names(tree: ast.Module, names: Names) -> set[str]:
    barred = {part.arg for part in ast.walk(tree) if isinstance(part, ast.keyword) and part.arg is not None}
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
        kinds = [scope.bound[name] if scope is not None else {"unbound"} for scope in scopes]
        functions = all(scope is not None and scope.kind in ("function", "comprehension") for scope in scopes)
        plain = all(kind <= {"parameter", "variable"} for kind in kinds)
        if functions and plain and name not in barred and name not in ("self", "cls") and not name.startswith("__"):
            found.add(name)
    dynamic = any(
        isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval", "exec", "dir") for node in ast.walk(tree)
    )
    return set() if dynamic else found


@lru_cache(maxsize=512)
def _java_variables(code: str) -> Spans:
    """Local variables and parameters whose name stands for nothing else in the file: field, method, type or label."""
    source = code.encode()
    root = _java_root(code)
    lines = Lines.of(code)
    declared, others = set[str](), set[str]()
    spans: Spans = {}
    for node in nodes(root):
        if node.type not in ("identifier", "type_identifier"):
            continue
        name = node.text.decode() if node.text else ""
        parent = node.parent
        kind = parent.type if parent is not None else ""
        is_name = parent is not None and parent.child_by_field_name("name") == node
        if kind in ("formal_parameter", "enhanced_for_statement", "resource", "catch_formal_parameter") and is_name:
            declared.add(name)
        elif kind == "variable_declarator" and is_name:
            outer = parent.parent if parent is not None else None
            (declared if outer is not None and outer.type == "local_variable_declaration" else others).add(name)
        elif (
            kind == "lambda_expression"
            or kind == "inferred_parameters"
            or node.type == "type_identifier"
            or (is_name and kind != "variable_declarator")
            or (kind == "field_access" and parent is not None and parent.child_by_field_name("field") == node)
            or kind in ("labeled_statement", "break_statement", "continue_statement")
        ):
            others.add(name)
        start = node.start_byte if len(source) == len(code) else len(source[: node.start_byte].decode())
        spans.setdefault(name, []).append((lines.line_of(start), start, start + len(name)))
    return {name: found for name, found in spans.items() if name in declared - others}


def _functions(program: Labelled, language: Language, draw: Draw, strength: int, quarter: int) -> Labelled:
    """Methods of one class (in Java, or in Python where their order cannot matter) in another order: `strength`
    exchanges of neighbours in a list that begins in the quarter."""
    groups = _python_groups(program.code) if language == "python" else _java_groups(program.code)
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    total = program.code.count("\n") + 1
    inside = [group for group in groups if quarter_of(group[0][0], total) == quarter]
    group = draw.choice(inside or groups)
    order = list(range(len(group)))
    for _ in range(strength):
        at = draw.integer(0, len(order) - 2)
        order[at], order[at + 1] = order[at + 1], order[at]
    if order == sorted(order):
        order = order[1:] + order[:1]
    lines = program.code.split("\n")
    new: list[str] = []
    label, at = program.line, 1
    for slot, taken in enumerate(order):
        first, last = group[slot]
        new += lines[at - 1 : first - 1]
        start, end = group[taken]
        if start <= program.line <= end:
            label = len(new) + 1 + program.line - start
        elif at <= program.line < first:
            label = len(new) - (first - 1) + program.line
        new += lines[start - 1 : end]
        at = last + 1
    if program.line >= at:
        label = len(new) + 1 + program.line - at
    return Labelled("\n".join([*new, *lines[at - 1 :]]), label)


@lru_cache(maxsize=256)
def _python_groups(code: str) -> list[list[tuple[int, int]]]:
    """For each class the first and last lines of its methods, where each has a name of its own and no decorator."""
    groups = []
    lines = Lines.of(code)
    for node in ast.walk(_tree(code)):
        if not isinstance(node, ast.ClassDef):
            continue
        methods = [one for one in node.body if isinstance(one, FunctionNode)]
        counts = Counter(one.name for one in methods)
        used = {
            part.id
            for statement in node.body
            for part in ast.walk(
                statement
                if not isinstance(statement, FunctionNode)
                else ast.Module([ast.Expr(one) for one in [*statement.decorator_list, *statement.args.defaults]], [])
            )
            if isinstance(part, ast.Name)
        }
        group = [
            (one.lineno, one.end_lineno or one.lineno)
            for one in methods
            if counts[one.name] == 1 and not one.decorator_list and one.name not in used
        ]
        if len({lines.indent(first) for first, _ in group}) == 1:
            groups.append(group)
    return groups


@lru_cache(maxsize=256)
def _java_groups(code: str) -> list[list[tuple[int, int]]]:
    """For each class the first and last lines of its methods, where each begins and ends on lines of its own."""
    groups = []
    lines = code.split("\n")
    for node in nodes(_java_root(code)):
        if node.type not in ("class_body", "enum_body_declarations", "interface_body"):
            continue
        group = []
        for child in node.named_children:
            if child.type != "method_declaration":
                continue
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            head = lines[first - 1].encode()[: child.start_point[1]].strip()
            tail = lines[last - 1].encode()[child.end_point[1] :].strip()
            if not head and not tail:
                group.append((first, last))
        groups.append(group)
    return groups


# --- the proof ------------------------------------------------------------------------------------------------------


def neutral_fault(before: str, after: str, spm: str, language: Language) -> str:
    """Why a mutation is not neutral, by its syntax tree; empty where it is.

    Comments: the tree is the same. Names: the same with names mapped one to one. Dead code: the same without statements
    under a condition that is always false, and these change no name's variable and no function's kind. Functions: the
    same with methods sorted. Compositions: all of these at once.
    """
    parts = tuple(spm.split("+"))
    try:
        if language == "java":
            if _java_form(before, parts) != _java_form(after, parts):
                return "the syntax tree is another"
            return _java_dead_fault(before, after) if "dead_code" in parts else ""
        (old, old_dead), (new, new_dead) = _form(before, parts), _form(after, parts)
        return "the syntax tree is another" if old != new else _dead_fault(before, after, old_dead, new_dead)
    except NotNeutral as error:
        return str(error)


@lru_cache(maxsize=256)
def _form(code: str, parts: tuple[str, ...]) -> tuple[str, list[ast.AST]]:
    """What a mutation must not change in a program, and all nodes of its statements that never run."""
    tree = _tree(code)
    dead = _remove_dead(tree) if "dead_code" in parts else []
    if "functions" in parts:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.body.sort(key=lambda one: one.name if isinstance(one, FunctionNode) else "")
    if "names" in parts:
        numbers: dict[str, str] = {}
        for occurrence in names_of(tree).occurrences:
            occurrence.rename(numbers.setdefault(occurrence.name, f"name {len(numbers)}"))
    return ast.dump(tree), dead


def _remove_dead(tree: ast.AST) -> list[ast.AST]:
    """Takes the statements that never run out of a tree; all their nodes."""
    dead: list[ast.AST] = []
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(tree, field, None)
        if isinstance(block, list):
            for statement in block:
                if isinstance(statement, ast.stmt) and _never_runs(statement):
                    dead += ast.walk(statement)
                else:
                    dead += _remove_dead(statement)
            block[:] = [one for one in block if not (isinstance(one, ast.stmt) and _never_runs(one))]
    return dead


def _dead_fault(before: str, after: str, old: list[ast.AST], new: list[ast.AST]) -> str:
    """What code that never runs may change all the same, by being there; empty where it changes nothing.

    A function with `yield` is a generator; a name that is bound somewhere in a function is local in all of it.
    """
    for kind in (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal):
        if sum(isinstance(part, kind) for part in new) > sum(isinstance(part, kind) for part in old):
            return f"dead code has {kind.__name__.lower()}, which changes its function"
    if any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in new):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(after, "mutated", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return f"does not compile: {error}"
    if _words(before).isdisjoint(_bound(new)):
        return ""
    return "" if _variables(before) == _variables(after) else "dead code binds a name that the program has elsewhere"


def _bound(parts: Sequence[ast.AST]) -> set[str]:
    """Names that parts of a program bind, in whatever way."""
    found = set()
    for part in parts:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.alias):
            found.add((part.asname or part.name).split(".")[0])
        else:  # functions, classes, `except … as`, patterns
            found |= {name for name in (getattr(part, "name", None), getattr(part, "rest", None)) if name}
    return found


@lru_cache(maxsize=256)
def _variables(code: str) -> list[int]:
    """For each name in code that may run, in order, which variable it stands for: scopes numbered as they appear."""
    tree = _tree(code)
    names = names_of(tree)
    dead = {id(part) for part in _remove_dead(tree)}
    numbers: dict[object, int] = {}
    return [
        numbers.setdefault(id(scope) if (scope := names.binding(one)) is not None else None, len(numbers))
        for one in names.occurrences
        if id(one.node) not in dead
    ]


def _never_runs(node: ast.stmt) -> bool:
    """A condition or a loop without `else` whose body is never entered."""
    if isinstance(node, ast.If | ast.While):
        return not node.orelse and _never(node.test)
    if not isinstance(node, ast.For) or node.orelse:
        return False
    if isinstance(node.iter, ast.List | ast.Tuple | ast.Dict):
        return not (node.iter.keys if isinstance(node.iter, ast.Dict) else node.iter.elts)
    if isinstance(node.iter, ast.Constant):
        return node.iter.value in ("", b"")
    return isinstance(node.iter, ast.Call) and ast.unparse(node.iter) in ("range(0)", "dict()", "list()", "set()")


def _never(test: ast.expr) -> bool:
    """Whether a condition of written-out values is false. Nothing is evaluated that is not a value."""
    if isinstance(test, ast.BoolOp):
        parts = [_never(value) for value in test.values]
        return any(parts) if isinstance(test.op, ast.And) else all(parts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = _value(test.operand)
        return value is not None and bool(value)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        one, two = _value(test.left), _value(test.comparators[0])
        compare = COMPARED.get(type(test.ops[0]))
        if compare is None or one is None or two is None:
            return False
        try:
            return not compare(one, two)
        except TypeError:
            return False
    value = _value(test)
    return value is not None and not value


COMPARED: Mapping[type[ast.cmpop], Any] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda one, two: one in two},
}


def _value(node: ast.expr) -> Any:
    """The value that a part of a condition writes out, its length counted where `len` is called; None for others."""
    if isinstance(node, ast.Constant) and node.value is None:
        return False  # as a condition the same
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        value = _value(node.args[0])
        if node.func.id == "len" and hasattr(value, "__len__"):
            return len(value)
        return bool(value) if node.func.id == "bool" and value is not None else None
    try:
        return literal_of(node).value
    except NotLiteral:
        return None


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> object:
    """What a mutation must not change in a program."""
    root = _java_root(code)
    return _java_words(root, parts) if "names" in parts else _java_shape(root, parts)


def _java_words(root: Node, parts: tuple[str, ...]) -> list[int | str]:
    """The leaves of the tree, with identifiers numbered in the order in which they appear."""
    numbers: dict[str, int] = {}
    words: list[int | str] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if "dead_code" in parts and _java_dead(node):
            continue
        children = node.children
        waiting += reversed(children)
        if not children and "comment" not in node.type:
            text = node.text.decode() if node.text else ""
            words.append(numbers.setdefault(text, len(numbers)) if node.type == "identifier" else text)
    return words


def _java_dead_fault(before: str, after: str) -> str:
    """Whether code that never runs declares a variable whose name the program has."""
    taken = sorted((_java_declared(_java_root(after)) - _java_declared(_java_root(before))) & _words(before))
    return f"dead code declares {taken[0]!r}, which the program has" if taken else ""


def _java_declared(root: Node) -> set[str]:
    """Variables that dead code declares."""
    found = set()
    for node in nodes(root):
        if _java_dead(node):
            for part in nodes(node):
                name = part.child_by_field_name("name") if part.type == "variable_declarator" else None
                if name is not None and name.text:
                    found.add(name.text.decode())
    return found


def _java_shape(node: Node, parts: tuple[str, ...]) -> tuple[Any, ...] | str:
    """A tree of types and texts, without comments; for dead code without blocks under a condition that is always
    false; for functions with the members of classes sorted."""
    children = [child for child in node.children if "comment" not in child.type]
    if "dead_code" in parts:
        children = [child for child in children if not _java_dead(child)]
    if not children:
        return f"{node.type}:{node.text.decode() if node.text and not node.children else ''}"
    shapes = [_java_shape(child, parts) for child in children]
    if "functions" in parts and node.type in ("class_body", "enum_body_declarations", "interface_body"):
        shapes.sort(key=repr)
    return (node.type, *shapes)


def _java_dead(node: Node) -> bool:
    if node.type not in ("if_statement", "for_statement") or node.child_by_field_name("alternative") is not None:
        return False
    condition = node.child_by_field_name("condition")
    text = re.sub(r"\s+", "", condition.text.decode()) if condition is not None and condition.text else ""
    text = text.removeprefix("(").removesuffix(")") if node.type == "if_statement" else text
    if node.type == "for_statement":
        start = re.search(r"=\s*(-?\d+)\s*;", node.text.decode() if node.text else "")
        bound = re.fullmatch(r"\w+<(-?\d+)", text)
        return bool(start and bound and int(bound[1]) <= int(start[1]))
    if text in ("false", "!true", "Boolean.FALSE") or text.startswith(("false&&",)):
        return True
    empty = re.fullmatch(r'""\.length\(\)(>|!=|>=)(\d+)', text)
    if empty:
        return (empty[1] in (">", "!=") and int(empty[2]) == 0) or (empty[1] == ">=" and int(empty[2]) > 0)
    numbers = re.fullmatch(r"(-?\d+)(<|<=|>|>=|==|!=)(-?\d+)", text)
    if not numbers:
        return bool(re.fullmatch(r'"[^"]*"\.isEmpty\(\)', text)) and '""' not in text
    one, two = int(numbers[1]), int(numbers[3])
    results = {"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two, "==": one == two, "!=": one != two}
    return not results[numbers[2]]
