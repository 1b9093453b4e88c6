"""Syntax of JavaScript programs: the names that they declare, the parts in which these
names are known, and the places at which a message may stand."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from tree_sitter import Node, Query, QueryCursor

from codestress.sandbox.runtimes import grammar, nodes, text_of

from .edits import MessageSite, stimuli

SYNTAX = stimuli("javascript")
"""Queries for nodes, types of nodes, and kinds of places for messages
(javascript.yaml)."""
FUNCTIONS, IDENTIFIERS, BLOCKS, NOT_MOVED = SYNTAX["types"].values()
"""Types of nodes: functions; names of variables; nodes to which `let` and `const`
belong; nodes that a condition must not contain if it is to be rewritten."""


@cache
def query_cursor(*queries: str) -> QueryCursor:
    """Return a cursor that finds the nodes of some queries of javascript.yaml; cached."""
    text = "".join(SYNTAX[query] for query in queries)
    return QueryCursor(Query(grammar("javascript"), text))


def kinds_of(root: Node, query: str) -> dict[Node, str]:
    """Return a dict from the nodes that a query of javascript.yaml finds to their kinds,
    in the order of the text.

    Each capture is a kind. If a node has several, the last in the list `kinds` counts;
    nodes of the kind `none` are left out.
    """
    kinds: dict[Node, str] = {}
    captures = query_cursor(query).captures(root)
    for kind in SYNTAX["kinds"]:
        kinds.update(dict.fromkeys(captures.get(kind, ()), kind))
    nodes = sorted(kinds, key=lambda node: node.start_byte)
    return {node: kinds[node] for node in nodes if kinds[node] != "none"}


def part(node: Node | None, *fields: str) -> Node | None:
    """Return the first child of a syntax-tree node under one of the field names
    `fields`, tried in order.

    Return None if there is no such child or `node` is None.
    """
    children = [node.child_by_field_name(field) for field in fields] if node else []
    return next(filter(None, children), None)


def text_at(node: Node | None, *fields: str) -> str:
    """Return the text of the child of `node` that `part` finds under `fields`; empty
    without such a child."""
    return text_of(part(node, *fields))


def line_of(node: Node) -> int:
    """Return the line on which a node begins, from 1."""
    return node.start_point[0] + 1


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """Return the nearest node whose type is in `types`, from `node` itself outwards;
    None without such a node."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Return the names that the parameters of a function's node bind; empty if
    `function` is None."""
    return bound(part(function, "parameter", "parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Return the names that the node of a pattern binds, without names in default
    values; empty if `pattern` is None.

    A pattern is a parameter, or the left side of an assignment.
    """
    if pattern is None:
        return []
    match pattern.type:
        case "identifier" | "shorthand_property_identifier_pattern":
            return [text_of(pattern)]
        case "assignment_pattern" | "object_assignment_pattern":
            return bound(part(pattern, "left"))
        case "pair_pattern":
            return bound(part(pattern, "value"))
    return [*chain.from_iterable(map(bound, pattern.named_children))]


def declared(root: Node) -> Iterator[tuple[str, str, int]]:
    """Yield each declared name, its kind of declaration, and the id of the node inside
    which the name is known.

    Kinds are `function`, `variable`, `class`, and `expression` for the own name of a
    class or generator expression. A variable whose value is a function is yielded
    twice, with the kinds `function` and `variable`.
    """
    within = {"hoisted": (*FUNCTIONS, "program"), "block": BLOCKS}
    for capture, captured in query_cursor("declarations").captures(root).items():
        kind, _, where = capture.partition("_")
        # The order of one capture's nodes differs between processes.
        for node in sorted(captured, key=lambda node: (node.start_byte, node.end_byte)):
            place = node.parent
            if where and place is not None:
                place = around(place.parent, within[where])
            if place is not None:
                yield from ((name, kind, place.id) for name in bound(node))


def free_names(root: Node) -> set[str]:
    """Return the names that are used outside the scope of any declaration of the name:
    globals and undefined names."""
    scopes: dict[str, set[int]] = {}
    for name, _, place in declared(root):
        scopes.setdefault(name, set()).add(place)
    free = set()
    for node in nodes(root):
        if node.type in IDENTIFIERS:
            name = text_of(node)
            scope: Node | None = node
            while scope is not None and scope.id not in scopes.get(name, ()):
                scope = scope.parent
            if scope is None:
                free.add(name)
    return free


# --- places for messages ---


def message_sites(root: Node, code: str) -> Iterator[MessageSite]:
    """Yield the places at which a message may stand on a line of its own, in the order
    of the text.

    `root` is the syntax tree of the program `code`.
    """
    kinds = kinds_of(root, "sites")
    inside = set[int]()
    for node in nodes(root):
        if node.type in ("template_string", "comment", "string"):
            inside.update(range(node.start_point[0] + 1, node.end_point[0] + 1))
    lines = code.split("\n")
    ordinal = -1
    for node in nodes(root):
        kind = kinds.get(node, "")
        if kind == "call":
            name = text_at(part(node, "function"), "property")
            kind = SYNTAX["methods"].get(name, "")
        ordinal += kind == "return"
        site = _site(node, kind, ordinal) if kind else None
        if site is None or inside & {site.line, site.print_line - 1}:
            continue
        if not lines[site.print_line - 1][: site.print_indent].strip():
            yield site


def _site(node: Node, kind: str, ordinal: int) -> MessageSite | None:
    """Return the place for messages at a node; None if no line of its own can stand
    there."""
    if kind in ("function", "while", "for", "condition"):
        block = part(node, "body", "consequence")
        if block is None or (inside := _inside(block)) is None:
            return None
        line = inside[0] if kind in ("while", "for") else line_of(block)
        return MessageSite(kind, line, *inside)
    statement = _statement(node)
    if statement is None:
        return None
    above = line_of(statement), statement.start_point[1]
    if kind == "return":
        return MessageSite(kind, node.end_point[0] + 1, *above, ordinal=ordinal)
    return MessageSite(kind, _header(statement), *above)


def _statement(node: Node) -> Node | None:
    """Return the statement that holds a node and stands directly in a block or at the
    top level.

    Return None for a node in the head of a function (except an arrow function), before
    which no line can stand.
    """
    while (above := node.parent) and above.type not in ("statement_block", "program"):
        if above.type in FUNCTIONS and above.type != "arrow_function":
            return None
        node = above
    return node


def _header(statement: Node) -> int:
    """Return the number of the line on which a statement's head ends, before the block.

    If the statement has no block, return the number of its last line.
    """
    blocks = (node for node in nodes(statement) if node.type == "statement_block")
    block = part(statement, "body", "consequence") or next(blocks, None)
    return (block.start_point[0] if block is not None else statement.end_point[0]) + 1


def _inside(block: Node) -> tuple[int, int] | None:
    """Return the line (from 1) and the indentation in spaces of a block's first
    statement.

    Return None if the block has no braces or no statement, or if the statement begins
    on the block's own first line.
    """
    statements = [child for child in block.named_children if child.type != "comment"]
    if block.type != "statement_block" or not statements:
        return None
    row, indent = statements[0].start_point
    return (row + 1, indent) if row != block.start_point[0] else None
