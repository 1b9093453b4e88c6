"""The perturbations on JavaScript (CodeCrash, section 4.2), as edits of the text at what tree-sitter finds.

The paper prints templates for Python alone; these are their counterparts. A program keeps its layout: what is vanilla
is as its author wrote it. Problems hold their arguments as JSON texts, in the order of the parameters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codestress.papers.codecrash.perturbations.edits import NotPerturbed, Perturbed, Site
from codestress.papers.codecrash.perturbations.garbage import N_CONTROL_FLOW, N_DEAD_LOOPS, chosen, unused
from codestress.papers.codecrash.perturbations.messages import Format, MessageSite, drawn_messages, with_messages
from codestress.papers.codecrash.perturbations.renaming import fresh
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = (
    *("function_declaration", "function_expression", "generator_function_declaration"),
    *("method_definition", "arrow_function"),
)
BOTH = (
    "[{cond}][0]",
    "(() => {cond})()",
    "({cond}) === ({para} === {para})",
    "({cond}) !== ({para} !== {para})",
)
COMPARISON = (*BOTH, "Boolean(Number({cond}))")
CONSTANT = (*BOTH, "JSON.parse(String({cond}))")
GENERAL = ("!!({cond})", "({cond}) || false", "({cond}) && true", "[{cond}][0]")
COMPARING = {"<", "<=", ">", ">=", "==", "===", "!=", "!==", "in", "instanceof"}
FALSE_CONDITIONS = (
    *("false", "null", "0", '""', "{para} !== {para}"),
    *("!({para} === {para})", "console.log({para})"),
)
CONTROL_FLOW = (
    "if ({false}) {{\n  let {new} = {para};\n}}",
    "while ({false}) {{\n  let {new} = {para};\n}}",
    "for (let i = 0; i < 0; i++) {{\n  let {new} = {para};\n}}",
    "let {new} = {false} ? {para} : {para};",
)
DEAD_LOOPS = (
    "function {name}() {{\n  while (true) {{\n    let {new} = 1;\n  }}\n}}",
    "function {name}() {{\n  return {name}();\n}}",
    "function {name}() {{\n  let {new} = 1;\n  while ({new} > 0) {{\n    {new} += 1;\n  }}\n}}",
    "function {name}() {{\n  for (let {new} = 0; ; {new}++) {{\n    {new} -= 1;\n  }}\n}}",
    "function {name}({new} = 0) {{\n  while ({new} === {new}) {{\n    {new} -= 1;\n  }}\n  return {new};\n}}",
    "function {name}({new} = 1) {{\n  if ({new}) {{\n    return {name}({new} + 1);\n  }}\n  return {new};\n}}",
    "function {name}() {{\n  let {new} = [0];\n  for (const item of {new}) {{\n    {new}.push(item);\n  }}\n}}",
)
METHODS = {
    **{"push": "append", "concat": "extend", "splice": "insert", "unshift": "insert", "delete": "remove", "pop": "pop"},
    **{"sort": "sort", "reverse": "reverse", "set": "update", "add": "add", "split": "split", "join": "join"},
    **{"replace": "replace", "replaceAll": "replace", "toLowerCase": "lower", "toUpperCase": "upper"},
}
"""Methods of JavaScript, and whose messages they get."""
ARITHMETIC = {"+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>"}


@dataclass(frozen=True)
class Edit:
    """The bytes from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def edited(code: str, edits: Iterable[Edit]) -> str:
    """The text with its edits, which do not overlap; those at one place in their order."""
    source, parts, last = code.encode(), [], 0
    for edit in sorted(edits, key=lambda one: one.start):
        parts += [source[last : edit.start], edit.text.encode()]
        last = edit.end
    return b"".join([*parts, source[last:]]).decode()


def _tree(code: str) -> Node:
    root = parser("javascript").parse(code.encode()).root_node
    if root.has_error:
        raise NotPerturbed("the program does not parse as JavaScript")
    return root


def text_of(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text else ""


def _line(node: Node) -> int:
    return node.start_point[0] + 1


# --- REN ------------------------------------------------------------------------------------------------------------


def rename(problem: Problem) -> Perturbed:
    """As `renaming.rename`. A name is renamed everywhere, which keeps the meaning as long as no variable is called like
    something that is used without a declaration."""
    root = _tree(problem.code)
    functions, variables, classes = _declared(root)
    kept = classes | {text_of(node) for node in nodes(root) if node.type == "identifier"} - functions - variables
    ordered = list(dict.fromkeys([problem.function, *(name for name in _in_order(root) if name in functions)]))
    new: dict[str, str] = {}
    for name in ordered:
        new[name] = "f" if name == problem.function else fresh("f", kept | set(new.values()))
    for name in sorted(variables - functions - classes):
        new[name] = fresh("Var_", kept | set(new.values()))
    if "f" in kept:
        raise NotPerturbed("the name f is taken")
    edits, sites = [], dict[str, Site]()
    for node in nodes(root):
        old = text_of(node)
        name = new.get(old, old)
        if name == old or node.type not in (
            "identifier",
            "shorthand_property_identifier",
            "shorthand_property_identifier_pattern",
        ):
            continue
        text = name if node.type == "identifier" else f"{old}: {name}"
        edits.append(Edit(node.start_byte, node.end_byte, text))
        kind = "function" if old in functions else "variable"
        sites.setdefault(name, Site(_line(node), kind, f"{old} → {name}"))
    changed = replace(problem, code=edited(problem.code, edits), function=new[problem.function])
    return Perturbed(changed, tuple(sites.values())) if sites else Perturbed(problem)


def _in_order(root: Node) -> list[str]:
    return [text_of(node) for node in nodes(root) if node.type == "identifier"]


def _declared(root: Node) -> tuple[set[str], set[str], set[str]]:
    """Names of functions, of variables and parameters, and of classes."""
    functions, variables, classes = set[str](), set[str](), set[str]()
    for node in nodes(root):
        name = node.child_by_field_name("name")
        if node.type in ("function_declaration", "generator_function_declaration", "function_expression"):
            functions |= {text_of(name)} - {""}
        elif node.type == "class_declaration":
            classes.add(text_of(name))
        elif node.type == "variable_declarator":
            value = node.child_by_field_name("value")
            is_function = value is not None and value.type in ("arrow_function", "function_expression")
            (functions if is_function else variables).update(_bound(name))
        elif node.type == "for_in_statement" and node.child_by_field_name("kind") is not None:
            variables.update(_bound(node.child_by_field_name("left")))
        elif node.type == "catch_clause":
            variables.update(_bound(node.child_by_field_name("parameter")))
        if node.type in FUNCTIONS:
            variables.update(parameters(node))
    return functions, variables, classes


def parameters(function: Node) -> list[str]:
    """Names that a function's parameters bind."""
    single = function.child_by_field_name("parameter")
    given = function.child_by_field_name("parameters")
    return [name for part in ([single] if single else given.named_children if given else []) for name in _bound(part)]


def _bound(pattern: Node | None) -> list[str]:
    """Names that a pattern binds; defaults in it are no names."""
    if pattern is None:
        return []
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return [text_of(pattern)]
    if pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        return _bound(pattern.child_by_field_name("left"))
    if pattern.type == "pair_pattern":
        return _bound(pattern.child_by_field_name("value"))
    return [name for part in pattern.named_children for name in _bound(part)]


# --- RTF ------------------------------------------------------------------------------------------------------------


def reformat_conditions(problem: Problem, draw: Draw) -> Perturbed:
    """As `conditions.reformat_conditions`."""
    edits, sites = [], []
    for node in nodes(_tree(problem.code)):
        if node.type not in ("if_statement", "while_statement"):
            continue
        condition = node.child_by_field_name("condition")
        inner = condition.named_children[0] if condition is not None and condition.named_children else None
        if inner is None or any(part.type in ("yield_expression", "await_expression") for part in nodes(inner)):
            continue
        templates: tuple[str, ...] = GENERAL
        if inner.type == "binary_expression" and text_of(inner.child_by_field_name("operator")) in COMPARING:
            templates = COMPARISON
        elif inner.type in ("true", "false"):
            templates = CONSTANT
        template = draw.choice(templates)
        text = template.format(cond=text_of(inner), para=draw.choice([*_seen(node), "true", "false"]))
        edits.append(Edit(inner.start_byte, inner.end_byte, text))
        sites.append(Site(_line(inner), "condition", f"{text_of(inner)} → {text}"))
    return Perturbed(replace(problem, code=edited(problem.code, edits)), tuple(sites))


def _seen(node: Node) -> list[str]:
    """Parameters of the function around a node."""
    here: Node | None = node
    while here is not None and here.type not in FUNCTIONS:
        here = here.parent
    return parameters(here) if here is not None else []


# --- GBC ------------------------------------------------------------------------------------------------------------


def insert_garbage(problem: Problem, draw: Draw) -> Perturbed:
    """As `garbage.insert_garbage`."""
    root = _tree(problem.code)
    used = set(_in_order(root))
    functions, _, classes = _declared(root)
    edits, sites = [], []
    places = [
        statement
        for node in nodes(root)
        if node.type == "statement_block" and _seen_function(node)
        for statement in node.named_children
        if statement.type != "comment"
    ]
    snippets = [*chosen(CONTROL_FLOW, N_CONTROL_FLOW, draw), *chosen(DEAD_LOOPS, N_DEAD_LOOPS, draw)]
    for number, template in enumerate(chosen(snippets, len(snippets), draw) if places else []):
        place = draw.choice(places)
        named = _seen(place)
        para = draw.choice(named) if named else "true"
        false = draw.choice(FALSE_CONDITIONS).format(para=para)
        new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
        text = template.format(false=false, para=para, new=new, name=name)
        indent = " " * place.start_point[1]
        edits.append(Edit(place.start_byte, place.start_byte, f"\n{indent}".join(text.split("\n")) + f"\n{indent}"))
        sites.append(Site(_line(place), "dead loop" if template in DEAD_LOOPS else "dead branch", text))
    top = {name for node in root.named_children for name in _top_names(node)}
    hidden = dict.fromkeys(name for node in nodes(root) if node.type in FUNCTIONS for name in parameters(node))
    candidates = [name for name in hidden if name not in top | functions | classes]
    for name in chosen(candidates, math.ceil(len(candidates) / 2), draw):
        text = f"var {name} = {draw.integer(1, 100)};"
        edits.append(Edit(0, 0, f"{text}\n"))
        sites.append(Site(1, "global", text))
    return Perturbed(replace(problem, code=edited(problem.code, edits)), tuple(sites))


def _seen_function(node: Node) -> bool:
    here: Node | None = node
    while here is not None:
        if here.type in FUNCTIONS:
            return True
        here = here.parent
    return False


def _top_names(node: Node) -> Iterator[str]:
    """Names that a statement of the top level declares."""
    if node.type in ("lexical_declaration", "variable_declaration"):
        for part in node.named_children:
            yield from _bound(part.child_by_field_name("name"))
    elif name := text_of(node.child_by_field_name("name")):
        yield name


# --- MCC, MPS -------------------------------------------------------------------------------------------------------


def insert_messages(
    problem: Problem, draw: Draw, *, style: Format, density: float, returned: Mapping[int, frozenset[str]]
) -> Perturbed:
    """As `messages.insert_messages`."""
    picked = drawn_messages(message_sites(problem.code), draw, density, returned, language="javascript")
    if not picked:
        return Perturbed(problem)
    code = with_messages(problem.code, picked, "// {}" if style == "comment" else "", "console.log({!r});")
    return Perturbed(replace(problem, code=code), tuple(Site(site.line, site.kind, text) for site, text in picked))


def message_sites(code: str) -> Iterator[MessageSite]:
    """All sites of a program that has one statement a line, in the order of the text."""
    ordinal = 0
    for node in nodes(_tree(code)):
        block = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        inside = _inside(block) if block is not None else None
        kind = _kind(node)
        statement = _statement(node)
        if kind in ("function", "while", "for", "condition"):
            if inside is not None and block is not None:
                own_line = kind in ("while", "for")
                line = inside[0] if own_line else block.start_point[0] + 1
                yield MessageSite(kind, line, *inside, own_line=own_line)
        elif kind == "return":
            if statement is not None:
                yield MessageSite(kind, node.end_point[0] + 1, *_start(statement), ordinal=ordinal)
            ordinal += 1
        elif kind and statement is not None:
            header = _header(statement)
            yield MessageSite(kind, header, *_start(statement))


def _kind(node: Node) -> str:
    """The kind of message that a node gets; empty where none."""
    if node.type in ("function_declaration", "generator_function_declaration", "method_definition"):
        return "function"
    if node.type == "return_statement":
        return "return" if node.named_children else ""
    if node.type == "while_statement":
        return "while"
    if node.type in ("for_statement", "for_in_statement"):
        return "for"
    if node.type == "if_statement":
        return "condition"
    if node.type == "augmented_assignment_expression":
        return "operator"
    if node.type in ("variable_declarator", "assignment_expression"):
        target = node.child_by_field_name("name") or node.child_by_field_name("left")
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if target is None or value is None or target.type != "identifier" or value.type in FUNCTIONS:
            return ""
        if node.parent is not None and node.parent.parent is not None and node.parent.parent.type == "for_statement":
            return ""  # the loop's own counter
        arithmetic = value.type == "binary_expression" and text_of(value.child_by_field_name("operator")) in ARITHMETIC
        return "operator" if arithmetic else "assignment"
    if node.type == "call_expression":
        called = node.child_by_field_name("function")
        if called is not None and called.type == "member_expression":
            return METHODS.get(text_of(called.child_by_field_name("property")), "")
    return ""


def _statement(node: Node) -> Node | None:
    """The statement around a node that stands in a block; None where a line of its own before it is impossible."""
    here: Node | None = node
    while here is not None and here.parent is not None:
        if here.parent.type in ("statement_block", "program"):
            return here
        if here.parent.type in FUNCTIONS and here.type != "statement_block":
            return None if here.parent.type != "arrow_function" else _statement(here.parent)
        here = here.parent
    return None


def _header(statement: Node) -> int:
    """The line on which what belongs to the statement itself ends."""
    for name in ("body", "consequence"):
        block = statement.child_by_field_name(name)
        if block is not None:
            return block.start_point[0] + 1
    inner = next((part for part in nodes(statement) if part.type == "statement_block"), None)
    return (inner.start_point[0] if inner is not None else statement.end_point[0]) + 1


def _start(node: Node) -> tuple[int, int]:
    return node.start_point[0] + 1, node.start_point[1]


def _inside(block: Node) -> tuple[int, int] | None:
    """Line and indent of the first statement in a block that has a line of its own."""
    statements = [child for child in block.named_children if child.type != "comment"]
    if block.type != "statement_block" or not statements or statements[0].start_point[0] == block.start_point[0]:
        return None
    return _start(statements[0])


# --- MHC ------------------------------------------------------------------------------------------------------------


def hint_output(problem: Problem, value: str) -> Perturbed:
    """As `hints.hint_output`, with the value as JSON."""
    body = called_function(problem).child_by_field_name("body")
    if body is None or not body.named_children:
        raise NotPerturbed(f"{problem.function} has no body")
    returns = [node for node in _own_nodes(body) if node.type == "return_statement"]
    text = f"The return value is {value}"
    lines = problem.code.split("\n")
    if len(returns) == 1:
        line = returns[0].end_point[0] + 1
        lines[line - 1] += f"  // {text}"
    else:
        line = body.named_children[-1].end_point[0] + 1
        lines.insert(line, " " * body.named_children[0].start_point[1] + f"// {text}")
    return Perturbed(replace(problem, code="\n".join(lines)), (Site(line, "hint", text),))


def _own_nodes(node: Node) -> Iterator[Node]:
    """The nodes of a function's body, not those of functions inside it."""
    for child in node.named_children:
        if child.type not in FUNCTIONS:
            yield child
            yield from _own_nodes(child)


def called_function(problem: Problem) -> Node:
    """The definition of the function that the problem calls; `NotPerturbed` when there is none."""
    for node in _tree(problem.code).named_children:
        if node.type == "function_declaration" and text_of(node.child_by_field_name("name")) == problem.function:
            return node
    raise NotPerturbed(f"no function {problem.function} at the program's top level")


def with_trace(code: str, function: str) -> str:
    """The program with `traced_returns(...)`: calls `function`, gives what each return gave, as JSON texts."""
    edits, ordinal = [], 0
    for node in nodes(_tree(code)):
        if node.type == "return_statement" and node.named_children:
            value = node.named_children[0]
            edits.append(Edit(value.start_byte, value.start_byte, f"noteReturn({ordinal}, ("))
            edits.append(Edit(value.end_byte, value.end_byte, "))"))
            ordinal += 1
    head = (
        "const notedReturns = {};\n"
        'function noteReturn(k, v) { const t = JSON.stringify(v) ?? "null"; '
        "(notedReturns[k] ??= new Set()).add(t); return v; }\n"
    )
    tail = (
        f"\nfunction traced_returns(...a) {{ {function}(...a); "
        "return Object.entries(notedReturns).map(([k, s]) => [Number(k), [...s]]); }"
    )
    return head + edited(code, edits) + tail


def json_arguments(arguments: str) -> tuple[object, ...]:
    """The arguments of a JavaScript problem as values."""
    return tuple(json.loads(f"[{arguments}]"))
