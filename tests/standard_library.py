"""Sources of the standard library, which every machine has."""

from __future__ import annotations

import sysconfig
from pathlib import Path


def standard_source(module: str) -> str:
    return (Path(sysconfig.get_path("stdlib")) / f"{module}.py").read_text(
        encoding="utf-8"
    )
