"""The console script, which executes no notebook: `python without_kernels.py build …`

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
from codestress.pipeline import queue
from codestress.pipeline.artefacts import Artefact
from codestress.report.checked import sha256_of_files


def attempt(
    artefact: Artefact, staging: Path, record: dict[str, object], _: object
) -> str:
    """Leave the files of an artefact without executing its notebook."""
    while (ROOT / "hold").exists():
        time.sleep(0.05)
    if "1 / 0" in artefact.notebook.read_text(encoding="utf-8"):
        return "ZeroDivisionError: division by zero"
    before = OUTPUTS / artefact.profile / artefact.name
    if before.exists():
        shutil.copytree(before, staging, dirs_exist_ok=True)
    for name in FILES:
        (staging / name).touch()
    if not (staging / "spots.json").stat().st_size:
        (staging / "spots.json").write_text("[]\n")
    manifest = {
        "files": FILES,
        **_read(staging / "manifest.json"),
        "profile": artefact.profile,
        "command": artefact.command,
        "parameters": artefact.parameters.model_dump(),
        "inputs": record["inputs"],
        "changed": artefact.marks or None,
        "sha256": sha256_of_files(staging),
    }
    (staging / "manifest.json").write_text(json.dumps(manifest))
    return ""


def _read(path: Path) -> dict[str, object]:
    """Return the manifest of an earlier build; empty if there is none."""
    try:
        manifest = json.loads(path.read_text() or "{}")
    except (ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


page = ModuleType("codestress.report.gallery")
page.__dict__["gallery"] = lambda profile: OUTPUTS / profile / "index.html"
sys.modules[page.__name__] = page
queue.attempt = attempt
queue.start = lambda *_: None
if __name__ == "__main__":
    main()
