"""Unrelated functions to surround a target with (Sense and Sensitivity, section 3.1).

`codesearchnet` is the data set that the paper draws from (here its part in CoSQA, whose functions are shorter);
`installed` are functions of packages that the lock file pins: the same on every machine, whatever its Python.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Literal

from codestress.literals import parse_program
from codestress.notes import noted
from codestress.problems.datasets import data_file
from codestress.problems.installed import PACKAGES, installed_modules

Source = Literal["installed", "codesearchnet"]

CODESEARCHNET = "codesearchnet-python/cosqa_codesearchnet_python.jsonl.gz"
USES_F = re.compile(r"\bf\b(?!['\"])")
"""The name of every target; `f"…"` is none."""
QUARTILES = (0.25, 0.75)
"""Shorter and longer functions are outliers to the paper."""


@cache
@noted
def distractors(source: Source) -> tuple[str, ...]:
    """All functions of a source whose length in characters lies between its quartiles, in a fixed order.

    None that uses the name `f`, which every target has; none that does not parse; none twice.
    """
    found = filter(_parses, _codesearchnet()) if source == "codesearchnet" else _installed()
    functions = [code for code in dict.fromkeys(found) if not USES_F.search(code)]
    lengths = sorted(map(len, functions))
    low, high = (lengths[int(share * (len(lengths) - 1))] for share in QUARTILES)
    return tuple(code for code in functions if low <= len(code) <= high)


def _parses(code: str) -> bool:
    try:
        return isinstance(parse_program(code).body[0], ast.FunctionDef)
    except (SyntaxError, IndexError):
        return False


def _codesearchnet() -> Iterator[str]:
    text = gzip.decompress(data_file("codesearchnet-python", CODESEARCHNET).read_bytes()).decode("utf-8")
    for line in text.splitlines():
        yield textwrap.dedent(json.loads(line)["code"].expandtabs(4)).strip("\n")


def _installed() -> Iterator[str]:
    for package in PACKAGES:
        for text in installed_modules(package).values():
            lines = text.split("\n")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                    yield textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
