"""Semantic-preserving mutations of a faulty program (Table I): comments, names, dead code, the order of functions.

Made on the text, so that layout and the other lines stay as they are, and the faulty line's number follows each edit.
Each mutation is proved as far as the language allows: `equivalence_error` says what is wrong, and `mutate` refuses it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

import yaml

from codestress.generation.edits import Edit, Lines, edited, first_line
from codestress.generation.scopes import FunctionNode, Names, Scope, names_of, parameters, reads_message
from codestress.papers.faultloc.faults.proof import equivalence_error
from codestress.papers.faultloc.faults.trees import (
    JAVA_CLASSES,
    JAVA_METHODS,
    NotNeutral,
    around,
    blocks,
    java_root,
    tree_of,
    words_of,
)
from codestress.problems.generated.drawing import Draw
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

Spm = Literal["comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code"]
SPMS: tuple[Spm, ...] = ("comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code")
"""The four mutations and the two compositions, which are applied from the right: dead code, then names, comments."""
QUARTERS = 4
T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """What mutations put in: from the kit's bank, or written by the model under test."""

    comments: tuple[str, ...]
    """One line each, without comment signs."""
    names: tuple[str, ...]
    dead_code: tuple[str, ...]
    """Statements without effect, to be indented."""


@dataclass(frozen=True)
class FaultyProgram:
    """A program and its faulty line, from 1 on."""

    code: str
    line: int

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1

    def edited(self, edits: Sequence[Edit]) -> FaultyProgram:
        """With edits that keep the faulty line in one piece, of two at one place the later one first; the label
        follows its line."""
        start = Lines.of(self.code).starts[self.line - 1]
        above = [edit for edit in edits if edit.start <= start]
        moved = sum(edit.text.count("\n") - self.code.count("\n", edit.start, edit.end) for edit in above)
        return FaultyProgram(edited(self.code, reversed(edits)), self.line + moved)


@cache
def bank(language: Language) -> Content:
    """The kit's own content."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "bank.yaml").read_text(encoding="utf-8"))
    names = [_camel(name) for name in content["names"]] if language == "java" else content["names"]
    return Content(tuple(content["comments"]), tuple(names), tuple(content[f"dead_code_{language}"]))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def mutate(
    program: FaultyProgram,
    spm: Spm,
    language: Language,
    draw: Draw,
    *,
    strength: int,
    quarter: int,
    content: Content,
    prove: bool = True,
) -> FaultyProgram:
    """The program with `strength` applications of a mutation in a quarter (0 to 3) of its lines.

    `NotNeutral` where there are fewer places than that, or where the result is not proved to mean the same. Without
    `prove` it is only made: for who proves it later.
    """
    if spm == "functions":
        mutated = _reordered(program, language, draw, strength, quarter)
    else:
        edits: list[Edit] = []
        for part in reversed(spm.split("+")):
            if part == "names":
                edits += _renamed(program, language, draw, strength, quarter, content.names, edits)
            else:
                edits += _inserted(program, language, draw, strength, quarter, part, content)
        mutated = program.edited(edits)
    why = equivalence_error(program.code, mutated.code, spm, language) if prove else ""
    if why:
        raise NotNeutral(f"{spm}: {why}")
    return mutated


def quarter_of(line: int, lines: int) -> int:
    """The quarter (0 to 3) in which a line of so many stands."""
    return min(QUARTERS - 1, QUARTERS * (line - 1) // max(1, lines))


def _taken(items: Sequence[T], count: int, draw: Draw, what: str) -> list[T]:
    """So many different ones, drawn."""
    if len(items) < count:
        raise NotNeutral(f"only {len(items)} {what} for {count}")
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(count)]


# --- comments and dead code: lines that are put in ------------------------------------------------------------------


def _inserted(
    program: FaultyProgram, language: Language, draw: Draw, strength: int, quarter: int, part: str, content: Content
) -> list[Edit]:
    """Comments or snippets at different places of a quarter; where it has fewer, at the nearest ones beside it."""
    if part == "comments":
        sign = "#" if language == "python" else "//"
        texts = [f"{sign} {' '.join(text.split())}" for text in content.comments]
    else:
        texts = list(content.dead_code)
    texts = _taken(texts, strength, draw, "pieces of content")
    lines = Lines.of(program.code)
    places = (_python_places if language == "python" else _java_places)(program.code)
    middle = (quarter + 0.5) * program.lines / QUARTERS
    ranked = sorted(places, key=lambda line: (quarter_of(line, program.lines) != quarter, abs(line - middle)))
    inside = [line for line in ranked if quarter_of(line, program.lines) == quarter]
    pool = inside if len(inside) >= strength else ranked[:strength]
    edits = []
    for line, text in zip(_taken(pool, strength, draw, "places"), texts, strict=True):
        block = "".join(f"{lines.indent(line)}{one}\n" for one in text.split("\n"))
        edits.append(Edit(lines.starts[line - 1], lines.starts[line - 1], block))
    return edits


NO_PLACE = ("global ", "nonlocal ", "elif ", "elif(")


@lru_cache(maxsize=512)
def _python_places(code: str) -> list[int]:
    """Lines before which a statement may stand inside a function, in the order of the text."""
    lines = Lines.of(code)
    found: set[int] = set()
    for function in ast.walk(tree_of(code)):
        if not isinstance(function, FunctionNode):
            continue
        docstring = ast.get_docstring(function, clean=False) is not None
        for _, block in blocks(function):
            for statement in block[1:] if docstring and block is function.body else block:
                first = first_line(statement)
                indent = lines.indent(first)
                own = lines.text[lines.starts[first - 1] + len(indent) : lines.end(first)]
                alone = first < statement.lineno or statement.col_offset == len(indent.encode())
                if alone and not lines.continued(first) and not own.startswith(NO_PLACE):
                    found.add(first)
    return sorted(found)


@lru_cache(maxsize=512)
def _java_places(code: str) -> list[int]:
    """As `_python_places`, before statements that begin a line."""
    lines = Lines.of(code)
    found: set[int] = set()
    for node in nodes(java_root(code)):
        if node.type not in ("block", "constructor_body") or all(one.type not in JAVA_METHODS for one in around(node)):
            continue
        last_row = node.start_point[0]
        for child in node.named_children:
            row, column = child.start_point
            fixed = child.type == "explicit_constructor_invocation" or "comment" in child.type
            if row > last_row and not fixed and len(lines.indent(row + 1).encode()) == column:
                found.add(row + 1)
            last_row = child.end_point[0]
    return sorted(found)


# --- names ----------------------------------------------------------------------------------------------------------

Spans = dict[str, list[tuple[int, int]]]
"""By name: first character and the one behind the last of each occurrence, in the order of the text."""


def _renamed(
    program: FaultyProgram,
    language: Language,
    draw: Draw,
    strength: int,
    quarter: int,
    names: Sequence[str],
    edits: Sequence[Edit],
) -> list[Edit]:
    """Variables that appear first in a quarter, else others too, with names that neither program nor edits have."""
    found = (_python_variables if language == "python" else _java_variables)(program.code)
    used = words_of(program.code).union(*(words_of(edit.text) for edit in edits))
    fresh = [name for name in names if name not in used and name.isidentifier()]
    lines = Lines.of(program.code)
    first = {name: quarter_of(lines.line_of(spans[0][0]), program.lines) for name, spans in found.items()}
    inside = [name for name in found if first[name] == quarter]
    pool = inside if len(inside) >= strength else [*inside, *(name for name in found if name not in inside)][:strength]
    chosen = _taken(pool, strength, draw, "variables")
    return [
        Edit(*span, new)
        for old, new in zip(chosen, _taken(fresh, strength, draw, "pieces of content"), strict=True)
        for span in found[old]
    ]


@lru_cache(maxsize=512)
def _python_variables(code: str) -> Spans:
    """Local variables and parameters that may be renamed by their text alone.

    Not: parameters that a caller elsewhere may give by their names; names that occur as keywords, in f-strings (whose
    positions are unreliable before Python 3.12), in `global`, `except … as` or patterns; names that stand for several
    variables or for a function, class or module too.
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
            spans.setdefault(name, []).append((start, start + len(name)))
    return {name: sorted(found) for name, found in spans.items()}


READ_NAMES = ("__code__", "f_locals", "co_varnames", "__annotations__")
"""Attributes that hold names of variables."""


def _named_from_outside(names: Names) -> set[str]:
    """Parameters that somebody who reads no text but the program's interface may give by their names: keyword-only
    ones, and those of functions and methods that do not stand in a function and are not private."""
    found = set[str]()
    for scope in names.scopes:
        function = scope.node
        if not isinstance(function, FunctionNode):
            continue
        found |= {one.arg for one in function.args.kwonlyargs}
        around = scope.parent
        while around is not None and around.kind == "class":
            around = around.parent
        private = function.name.startswith("_") and not function.name.endswith("__")
        if around is not None and around.kind == "module" and not private:
            found |= {one.arg for one in function.args.args}
    return found


def _free_names(tree: ast.Module, names: Names) -> set[str]:
    barred = {part.arg for part in ast.walk(tree) if isinstance(part, ast.keyword) and part.arg is not None}
    barred |= _named_from_outside(names)
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
        (isinstance(node, ast.Name) and node.id in ("locals", "vars", "eval", "exec", "dir"))
        or (isinstance(node, ast.ExceptHandler) and reads_message(node))
        or (isinstance(node, ast.Attribute) and node.attr in READ_NAMES)
        for node in ast.walk(tree)
    )
    return set() if dynamic else found


@lru_cache(maxsize=512)
def _java_variables(code: str) -> Spans:
    """Local variables and parameters whose name stands for nothing else in the file: field, method, type or label."""
    lines = Lines.of(code)
    variables, others = set[str](), set[str]()
    spans: Spans = {}
    for node in nodes(java_root(code)):
        if node.type not in ("identifier", "type_identifier"):
            continue
        name, parent = text_of(node), node.parent
        kind = parent.type if parent is not None else ""
        is_name = parent is not None and parent.child_by_field_name("name") == node
        declared = is_name and kind in JAVA_DECLARING
        if is_name and parent is not None and parent.parent is not None and kind == "variable_declarator":
            declared = parent.parent.type == "local_variable_declaration"
        accessed = kind == "field_access" and parent is not None and parent.child_by_field_name("field") == node
        if declared:
            variables.add(name)
        elif is_name or accessed or node.type == "type_identifier" or kind in JAVA_OTHERWISE:
            others.add(name)
        spans.setdefault(name, []).append(lines.span(node))
    return {name: found for name, found in spans.items() if name in variables - others}


JAVA_DECLARING = ("formal_parameter", "enhanced_for_statement", "resource", "catch_formal_parameter")
JAVA_OTHERWISE = (
    *("lambda_expression", "inferred_parameters", "labeled_statement", "break_statement", "continue_statement"),
)


# --- functions ------------------------------------------------------------------------------------------------------

Methods = list[tuple[int, int]]
"""The first and last line of each."""


def _reordered(program: FaultyProgram, language: Language, draw: Draw, strength: int, quarter: int) -> FaultyProgram:
    """Methods of one class (in Java, or in Python where their order cannot matter) in another order: `strength`
    exchanges of neighbours in a list that begins in the quarter."""
    groups = (_python_groups if language == "python" else _java_groups)(program.code)
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    inside = [group for group in groups if quarter_of(group[0][0], program.lines) == quarter]
    group = draw.choice(inside or groups)
    order = list(range(len(group)))
    for _ in range(strength):
        at = draw.integer(0, len(order) - 2)
        order[at], order[at + 1] = order[at + 1], order[at]
    if order == sorted(order):
        order = order[1:] + order[:1]
    lines = list(enumerate(program.code.split("\n"), start=1))
    new: list[tuple[int, str]] = []
    done = 0
    for (first, last), taken in zip(group, order, strict=True):
        start, end = group[taken]
        new += lines[done : first - 1] + lines[start - 1 : end]
        done = last
    numbers, texts = zip(*new, *lines[done:], strict=True)
    return FaultyProgram("\n".join(texts), numbers.index(program.line) + 1)


@lru_cache(maxsize=256)
def _python_groups(code: str) -> list[Methods]:
    """For each class its methods, where each has a name of its own and no decorator, and where nothing that is
    evaluated while the class is made can tell their order."""
    groups = []
    lines = Lines.of(code)
    for node in ast.walk(tree_of(code)):
        if not isinstance(node, ast.ClassDef) or _order_is_seen(node):
            continue
        methods = [one for one in node.body if isinstance(one, FunctionNode)]
        counts = Counter(one.name for one in methods)
        run: list[ast.AST] = [one for one in node.body if not isinstance(one, FunctionNode)]  # while the class is made
        run += [part for one in methods for part in (*one.decorator_list, *_evaluated(one))]
        used = {part.id for one in run for part in ast.walk(one) if isinstance(part, ast.Name)}
        bound = {part.id for one in run for part in ast.walk(one) if isinstance(part, ast.Name) and _written(part)}
        bound |= {*counts, *(one.name for one in node.body if isinstance(one, ast.ClassDef))}
        bound |= {(part.asname or part.name) for one in run for part in ast.walk(one) if isinstance(part, ast.alias)}
        group = [
            (one.lineno, one.end_lineno or one.lineno)
            for one in methods
            if counts[one.name] == 1
            and not one.decorator_list
            and one.name not in used
            and _still(_evaluated(one), bound)
        ]
        if len({lines.indent(first) for first, _ in group}) == 1:
            groups.append(group)
    return groups


def _evaluated(function: FunctionNode) -> list[ast.expr]:
    """What is evaluated where a function is defined, but for decorators: defaults and annotations."""
    given = [*function.args.defaults, *function.args.kw_defaults, function.returns]
    given += [one.annotation for one in parameters(function)]
    return [one for one in given if one is not None]


def _written(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _still(parts: Sequence[ast.expr], bound: set[str]) -> bool:
    """Whether expressions give the same wherever in the class they stand: no calls, no names that the class binds."""
    every = [part for one in parts for part in ast.walk(one)]
    acting = ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
    return not any(isinstance(one, acting) or (isinstance(one, ast.Name) and one.id in bound) for one in every)


def _order_is_seen(node: ast.ClassDef) -> bool:
    """A metaclass, a decorator that is not known, or a body that looks at its own names."""
    known = {"dataclass", "total_ordering", "final", "unique", "runtime_checkable"}
    decorators = {part.id for one in node.decorator_list for part in ast.walk(one) if isinstance(part, ast.Name)}
    own = [part for one in node.body if not isinstance(one, FunctionNode) for part in ast.walk(one)]
    looking = {part.id for part in own if isinstance(part, ast.Name)} & {"vars", "locals", "dir", "eval", "exec"}
    return bool(node.keywords or decorators - known or looking)


@lru_cache(maxsize=256)
def _java_groups(code: str) -> list[Methods]:
    """For each class its methods, where each begins and ends on lines of its own."""
    lines = Lines.of(code)
    groups = []
    for node in nodes(java_root(code)):
        if node.type not in JAVA_CLASSES:
            continue
        group = []
        for child in node.named_children:
            if child.type == "method_declaration":
                (first, last), (start, end) = (child.start_point[0] + 1, child.end_point[0] + 1), lines.span(child)
                head, tail = lines.text[lines.starts[first - 1] : start], lines.text[end : lines.end(last)]
                if not head.strip() and not tail.strip():
                    group.append((first, last))
        groups.append(group)
    return groups
