"""Makes the list of plain English words (problems/words.txt) from the running Python's documentation."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# Of the target chain in the paper of papers/origin; they are never among the other words.
TARGET_WORDS = frozenset({"workbench", "dad", "admire"})
_WORD = re.compile(
    r"(?<![\w.\-'`/\\@%<])[a-z]{3,12}(?=[ ,;]|\.(?:\s|$)|$)", re.MULTILINE
)
_CODE = re.compile(r"``.*?``|`.*?`|'.*?'|\".*?\"|^\s*(?:>>>|\.\.\.|:).*$", re.MULTILINE)


def collect() -> list[str]:
    """Words in the docstrings and comments of the standard library, in alphabetical order.

    A word counts when it stands in running text, is no keyword, builtin or identifier of the library, and has a
    vowel. Files are read, never imported. The same files give the same list.
    """
    root = Path(sysconfig.get_path("stdlib"))
    seen: Counter[str] = Counter()
    identifiers = set(keyword.kwlist) | {name.lower() for name in dir(builtins)}
    skipped = {
        "site-packages",
        "dist-packages",
        "test",
        "tests",
        "idle_test",
        "lib2to3",
        "__pycache__",
    }
    for path in sorted(root.rglob("*.py")):
        if skipped.isdisjoint(path.relative_to(root).parts):
            text = path.read_text(encoding="utf-8", errors="ignore")
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError):
                continue
            identifiers.update(_identifiers(tree))
            for prose in _prose(tree, text, topics=path.name == "topics.py"):
                seen.update(_WORD.findall(_CODE.sub(" ", prose)))
    words = {
        word
        for word, times in seen.items()
        if (word not in identifiers or times >= 3)
        and word not in TARGET_WORDS
        and re.search(r"[aeiouy]", word)
        and not re.search(
            r"(.)\1\1|[^aeiouy]{5}|^[^aeiouy]{4}|^(?:un)?(?:sub|get|set|str|sys|os|py|tk|ipv|utf|std)[^aeiouy]",
            word,
        )
    }
    return sorted(
        word for word in words if seen[word] >= 8 or not _is_compound(word, words)
    )


def _is_compound(word: str, words: set[str]) -> bool:
    """Two words run together, as identifiers are: `undobuffer`."""
    return any(word[:i] in words and word[i:] in words for i in range(4, len(word) - 3))


def _prose(tree: ast.AST, text: str, *, topics: bool) -> Iterator[str]:
    """Docstrings, comments, and in pydoc's topics every long string."""
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            yield ast.get_docstring(node) or ""
        elif (
            topics
            and isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and len(node.value) > 200
        ):
            yield node.value
    for line in text.splitlines():
        if line.lstrip().startswith("# "):
            yield line.lstrip()[2:]


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """Names that only code has: of functions and modules' parts that run words together or cut them short."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef):
            yield node.name


if __name__ == "__main__":
    print("\n".join(collect()))
