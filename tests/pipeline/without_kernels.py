"""The console script with one thing exchanged: what executes a notebook. `python without_kernels.py build …`

For tests of what a build does around its notebooks: no kernel is started, no page is written, and a notebook leaves
what was there before, or empty files. One with the cell `1 / 0` fails; while the project has a file `hold`, none ends.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from types import ModuleType

from codestress.cli import main
from codestress.paths import FILES, OUTPUTS, ROOT
from codestress.pipeline import builder
from codestress.report.checked import sha256_of_files


class Executor:
    """In the place of the process that executes notebooks."""

    dead = False

    def execute(self, spec: dict[str, object], _: float | None) -> str:
        while (ROOT / "hold").exists():
            time.sleep(0.05)
        if "1 / 0" in Path(str(spec["notebook"])).read_text(encoding="utf-8"):
            return "ZeroDivisionError: division by zero"
        changed = spec["changed"]
        unchanged = (
            changed["unchanged"]
            if isinstance(changed, dict)
            else f"{spec['profile']}/{spec['artefact']}"
        )
        staging, before = Path(str(spec["staging"])), OUTPUTS / unchanged
        if before.exists():
            shutil.copytree(before, staging, dirs_exist_ok=True)
        for name in FILES:
            (staging / name).touch()
        if not (staging / "spots.json").stat().st_size:
            (staging / "spots.json").write_text("[]\n")
        told = {"files": FILES, **_told(staging / "manifest.json")}
        told |= {
            name: spec[name]
            for name in ("profile", "command", "parameters", "changed", "inputs")
        }
        told |= {"sha256": sha256_of_files(staging)}
        (staging / "manifest.json").write_text(json.dumps(told))
        return ""

    def kill(self) -> None:
        """Nothing runs elsewhere."""


def _told(manifest: Path) -> dict[str, object]:
    try:
        told = json.loads(manifest.read_text() or "{}")
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


page = ModuleType("codestress.report.gallery")
page.__dict__["gallery"] = lambda profile: OUTPUTS / profile / "index.html"
sys.modules[page.__name__] = page
builder._Worker = Executor  # type: ignore[assignment, misc]
if __name__ == "__main__":
    main()
