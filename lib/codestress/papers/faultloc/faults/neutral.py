"""Semantic-preserving mutations of a faulty program (Table I): comments, names, dead code, the order of functions.

Made on the text, so that layout and the other lines stay as they are, and the faulty line's number follows each edit.
Each mutation is proved as far as the language allows: `neutral_fault` says what is wrong, and `mutate` refuses it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import yaml

from codestress.generation.scopes import FunctionNode, Names, Scope, names_of
from codestress.papers.faultloc.faults.proof import neutral_fault
from codestress.papers.faultloc.faults.text import Lines
from codestress.papers.faultloc.faults.trees import NotNeutral, java_root, tree_of, words_of
from codestress.problems.generated.drawing import Draw
from codestress.sandbox.runtimes import nodes
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Spm = Literal["comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code"]
SPMS: tuple[Spm, ...] = ("comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code")
"""The four mutations and the two compositions, which are applied from the right: dead code, then names, comments."""
QUARTERS = 4


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
        for function in ast.walk(tree_of(code)):
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
    for node in nodes(java_root(code)):
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
    used = words_of(program.code).union(*(words_of(text) for _, text in edits.inserted))
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


Spans = dict[str, list[tuple[int, int, int]]]
"""By name: line, first character and last of each occurrence, in the order of the text."""


@lru_cache(maxsize=512)
def _python_variables(code: str) -> Spans:
    """Local variables and parameters that may be renamed by their text alone.

    Not: names that occur as keywords, in f-strings (whose positions are unreliable before Python 3.12), in `global`,
    `except … as` or patterns; names that stand for several variables or for a function, class or module too.
    """
    tree = tree_of(code)
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
    root = java_root(code)
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
    for node in ast.walk(tree_of(code)):
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
    for node in nodes(java_root(code)):
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
