"""Processes of the tests' own, which import what the tests do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATH = os.pathsep.join([str(HERE), str(HERE.parent)])


def started(
    code: str, *arguments: object, env: dict[str, str] | None = None, **how: Any
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": PATH} | (env or {})
    how = {"text": True, "stderr": subprocess.PIPE, **how}
    return subprocess.Popen(command, env=env, **how)
