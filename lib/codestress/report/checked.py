"""Whether what was published is still what was written: SHA-256 of every file, in the artefact's manifest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from codestress.paths import shown


def sha256_of_files(folder: Path) -> dict[str, str]:
    """Of every file of an artefact but its manifest, by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "manifest.json")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def changes_of_files(folder: Path, manifest: Any) -> list[str]:
    """What became of an artefact's files since its manifest was written; empty where each is as it was."""
    written = manifest.get("sha256") if isinstance(manifest, dict) else None
    if not isinstance(written, dict) or not written:
        return ["manifest.json has no SHA-256 of its files"]
    missing = [f"{name} is missing" for name in written if not (folder / name).is_file()]
    now = {} if missing else sha256_of_files(folder)
    return missing + [
        f"{name} is not what was written" for name in now if name in written and now[name] != written[name]
    ]


def changed_files(outputs: Path) -> list[str]:
    """The same of all artefacts of all profiles, with their places."""
    found = []
    for path in sorted(outputs.glob("*/*/*/manifest.json")):
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            found.append(f"{shown(path)}: {error}")
            continue
        found += [f"{shown(path.parent)}: {change}" for change in changes_of_files(path.parent, manifest)]
    return found
