"""Unrelated functions to surround a target with (Sense and Sensitivity, section 3.1).

`codesearchnet` is the data set that the paper draws from (here its part in CoSQA, whose functions are shorter);
`installed` are functions of the standard library and of click: at hand on every machine, the same for the same
versions of Python and of the lock file.
"""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import re
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from codestress.problems.datasets import data_file

Source = Literal["installed", "codesearchnet"]

CODESEARCHNET = "codesearchnet-python/cosqa_codesearchnet_python.jsonl.gz"
MODULES = tuple(
    """
    argparse ast bdb calendar cmd configparser contextlib csv dataclasses datetime difflib doctest email.message enum
    fractions ftplib functools html.parser http.client http.cookies imaplib inspect ipaddress json.decoder
    logging logging.handlers mailbox optparse pathlib pdb pickle pickletools plistlib pprint random shlex shutil
    smtplib socket ssl statistics string tarfile textwrap threading tokenize traceback typing unittest.mock
    urllib.parse urllib.request uuid weakref zipfile click.core click.formatting click.termui click.types
    """.split()  # noqa: SIM905
)
USES_F = re.compile(r"\bf\b(?!['\"])")
"""The name of every target; `f"…"` is none."""
QUARTILES = (0.25, 0.75)
"""Shorter and longer functions are outliers to the paper."""


@cache
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return isinstance(ast.parse(code).body[0], ast.FunctionDef)
        except (SyntaxError, ValueError, IndexError):
            return False


def _codesearchnet() -> Iterator[str]:
    text = gzip.decompress(data_file("codesearchnet-python", CODESEARCHNET).read_bytes()).decode("utf-8")
    for line in text.splitlines():
        yield textwrap.dedent(json.loads(line)["code"].expandtabs(4)).strip("\n")


def _installed() -> Iterator[str]:
    for module in MODULES:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None or not spec.has_location:
            continue  # another version of Python has it no longer, or frozen
        text = Path(spec.origin).read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                yield textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))
