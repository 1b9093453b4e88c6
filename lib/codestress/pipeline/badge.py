"""What a committee for artifact evaluation asks, checked: available, functional, reusable, reproduced.

The criteria are those of the ACM's badges (version 1.1). What a person must do (an archive with a DOI) is said, not
claimed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from codestress.paths import MINE, OUTPUTS, ROOT, shown
from codestress.pipeline.artefacts import artefact_names
from codestress.pipeline.inputs import git
from codestress.report.checked import read_table

BADGES = ("available", "functional", "reusable", "reproduced")


@dataclass(frozen=True)
class Criterion:
    """One thing that a badge asks for."""

    badge: str
    what: str
    met: bool
    detail: str


def examine(profile: str, offline: str) -> Iterator[Criterion]:
    """Each criterion with what was found; `offline` is the profile that a clean clone builds without a network."""
    for name, what in (("LICENSE", "a licence"), ("CITATION.cff", "how to cite it"), ("README.md", "a README")):
        yield Criterion("available", what, (ROOT / name).is_file(), name)
    changed = git("status", "--porcelain")
    clean = changed is not None and not changed
    yield Criterion("available", "everything is committed", clean, "git status is clean" if clean else "see git status")
    commit = (git("rev-parse", "HEAD") or "")[:12]
    doi = _has_doi()
    told = (
        "CITATION.cff has a doi" if doi else "deposit the commit (Zenodo, figshare) and put its doi into CITATION.cff"
    )
    yield Criterion("available", "archived with a DOI", doi, told)
    yield _clean_clone(offline, commit)
    pins = ROOT / "requirements.lock"
    yield Criterion("reusable", "versions are pinned", pins.is_file(), shown(pins))
    tests = len(list((ROOT / "tests").rglob("test_*.py")))
    yield Criterion("reusable", "tests", tests > 0, f"{tests} files of tests; make test")
    notebooks = [path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    yield Criterion("reusable", "documented notebooks with parameters", bool(notebooks), f"{len(notebooks)} notebooks")
    built = [name for name in artefact_names() if (OUTPUTS / profile / name / "manifest.json").is_file()]
    missing = sorted(set(artefact_names()) - set(built))
    mine = len(list((OUTPUTS / MINE).glob("*/*/manifest.json")))
    detail = f"{len(built)} of {len(artefact_names())} in {shown(OUTPUTS / profile)}"
    detail += f"; {mine} in {shown(OUTPUTS / MINE)} do not count" if mine else ""
    detail += f"; not {missing[0]}" if missing else ""
    yield Criterion("reproduced", "every artefact is built", not missing, detail)
    counts = _verdicts(profile, built)
    any_decided = counts["reproduced"] + counts["differs"] > 0
    told = ", ".join(f"{verdict}: {count}" for verdict, count in counts.items()) or "no ledger"
    reproduced = any_decided and not counts["differs"]
    yield Criterion("reproduced", "the papers' numbers are reproduced", reproduced, told)
    told = f"{counts['not run']} not run: they need the models that the ledger names"
    tested = any_decided and not counts["not run"]
    yield Criterion("reproduced", "all claims were put to the test", tested, told)


def ready_for(criteria: Sequence[Criterion]) -> list[str]:
    """The badges all of whose criteria are met."""
    return [badge for badge in BADGES if all(one.met for one in criteria if one.badge == badge)]


def _clean_clone(profile: str, commit: str) -> Criterion:
    """Builds a profile in a new clone, with this environment's packages, and no network where that can be shut off."""
    what = f"a clean clone builds the profile {profile} without a network"
    if not commit:
        return Criterion("functional", what, False, "this is no clone of git")
    walls = (["unshare", "--map-root-user", "--net"], ["bwrap", "--dev-bind", "/", "/", "--unshare-net"])
    tried = ((one, subprocess.run([*one, "true"], capture_output=True)) for one in walls if shutil.which(one[0]))
    wall = next((one for one, done in tried if done.returncode == 0), None)
    if wall is None:
        return Criterion("functional", what, False, "neither unshare nor bwrap can shut off the network here")
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "codestress"
        subprocess.run(
            ["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)], check=True, capture_output=True
        )
        # The clone's own code, in this environment.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CODESTRESS_")}
        environment |= {"PYTHONPATH": str(clone / "lib"), "CODESTRESS_ROOT": str(clone)}
        done = subprocess.run(
            [*wall, sys.executable, "-c", "from codestress.cli import main; main()", "build", "--profile", profile],
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:] or ["nothing was said"]
    return Criterion("functional", what, done.returncode == 0, f"commit {commit}: {last[0].split(';')[0]}")


def _has_doi() -> bool:
    path = ROOT / "CITATION.cff"
    return path.is_file() and any(line.startswith("doi:") for line in path.read_text(encoding="utf-8").splitlines())


def _verdicts(profile: str, built: Sequence[str]) -> Counter[str]:
    """Most frequent first."""
    ledgers = [path for name in built if (path := OUTPUTS / profile / name / "claims.csv").is_file()]
    frames = [read_table(path, ["verdict"])["verdict"] for path in ledgers]
    return Counter(pd.concat(frames).value_counts().to_dict() if frames else {})


def write(criteria: Sequence[Criterion]) -> Path:
    """outputs/badge.md and badge.json; the path of the first."""
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    ready = ready_for(criteria)
    lines = ["# Artifact evaluation", "", f"Ready to submit for: {', '.join(ready) if ready else 'none yet'}", ""]
    for badge in BADGES:
        lines += [f"## {badge.capitalize()}", ""]
        lines += [f"- [{'x' if one.met else ' '}] {one.what}: {one.detail}" for one in criteria if one.badge == badge]
        lines.append("")
    path = OUTPUTS / "badge.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    content = {"ready": ready, "criteria": [vars(one) for one in criteria]}
    path.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
