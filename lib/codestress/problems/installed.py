"""Python text that is the same on every machine with the kit: files of packages that requirements.lock pins.

They come with the kit's set-up, hash-checked, for every platform and every Python; the standard library's files differ
from one version of Python to the next.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path

from codestress.paths import ROOT

PACKAGES = (
    *("jinja2", "click", "packaging", "attrs", "requests", "traitlets", "pyparsing", "urllib3", "lark", "babel"),
    "prompt-toolkit",
)
"""Pure Python, the same version for every Python."""


@cache
def installed_modules(package: str) -> dict[str, str]:
    """The text of each module of a package by its dotted name, in the order of their paths; no tests.

    Warns where the package is not the one that the lock file pins: other text makes other questions.
    """
    pinned, here = pins()[package], version(package)
    if here != pinned:
        warnings.warn(
            f"{package} {here} is installed, the kit's is {pinned}, and prompts are others; `rm -r .venv && make` "
            "brings the kit's back",
            stacklevel=2,
        )
    files = [file for file in distribution(package).files or [] if file.suffix == ".py" and ".." not in file.parts]
    return {
        ".".join(file.with_suffix("").parts).removesuffix(".__init__"): Path(file.locate()).read_text(encoding="utf-8")
        for file in sorted(files, key=lambda file: file.as_posix())
        if not any(part.startswith("test") for part in file.parts)
    }


@cache
def pins() -> dict[str, str]:
    """The version of each package in requirements.lock, those that depend on the platform left out."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    named = [line.split("==") for line in lines if "==" in line and ";" not in line]
    return dict((name, pinned) for name, pinned in named)
