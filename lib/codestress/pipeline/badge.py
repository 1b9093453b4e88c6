"""Criteria of artifact evaluation, checked: available, functional, reusable, reproduced.

The criteria are those of the ACM's badges (version 1.1). Tasks for a person (an archive with a DOI)
are listed, not claimed.
"""

from __future__ import annotations

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

from codestress.artefact_files import artefact_names
from codestress.paths import MINE, NOTEBOOKS, OUTPUTS, ROOT, shown, visible, write_whole
from codestress.pipeline.surroundings import commit, git
from codestress.report.checked import read_table

ISOLATIONS = (
    ["unshare", "--map-root-user", "--net"],
    ["bwrap", "--dev-bind", "/", "/", "--unshare-net"],
)
"""Commands that run another command without a network."""
BADGES = ("available", "functional", "reusable", "reproduced")


@dataclass(frozen=True)
class Criterion:
    """Result of one criterion of a badge of artifact evaluation: the badge, what is checked,
    whether it is met, and details."""

    badge: str
    what: str
    met: bool
    detail: str


def examine(profile: str) -> Iterator[Criterion]:
    """Yields a `Criterion` for each thing to check, on the checkout and on the artefacts built in
    `profile` (a name). The criterion of the badge `functional` builds a clone, which takes
    minutes."""
    for name, what in (
        ("LICENSE", "a licence"),
        ("CITATION.cff", "how to cite it"),
        ("README.md", "a README"),
    ):
        yield Criterion("available", what, (ROOT / name).is_file(), name)
    known, why = commit()
    clean = bool(known) and not git("status", "--porcelain").stdout
    detail = "git status is clean" if clean else "see git status"
    yield Criterion("available", "everything is committed", clean, detail)
    doi = _has_doi()
    detail = "CITATION.cff has a doi"
    if not doi:
        detail = (
            "deposit the commit (Zenodo, figshare) and put its doi into CITATION.cff"
        )
    yield Criterion("available", "archived with a DOI", doi, detail)
    yield _clean_clone(known[:12], why)
    pins = ROOT / "requirements.lock"
    yield Criterion("reusable", "versions are pinned", pins.is_file(), shown(pins))
    tests = len(visible(ROOT / "tests", "**/test_*.py"))
    yield Criterion(
        "reusable", "tests", tests > 0, f"{tests} files of tests; make test"
    )
    notebooks = len(visible(NOTEBOOKS, "**/*.ipynb"))
    what = "documented notebooks with parameters"
    yield Criterion("reusable", what, notebooks > 0, f"{notebooks} notebooks")
    folder = OUTPUTS / profile
    built = [
        name for name in artefact_names() if (folder / name / "manifest.json").is_file()
    ]
    missing = sorted(set(artefact_names()) - set(built))
    mine = len(visible(OUTPUTS / MINE, "*/*/manifest.json"))
    detail = f"{len(built)} of {len(artefact_names())} in {shown(folder)}"
    detail += f"; {mine} in {shown(OUTPUTS / MINE)} do not count" if mine else ""
    detail += f"; not {missing[0]}" if missing else ""
    yield Criterion("reproduced", "every artefact is built", not missing, detail)
    counts = _verdicts([folder / name / "claims.csv" for name in built])
    decided = counts["reproduced"] + counts["differs"] > 0
    detail = (
        ", ".join(f"{verdict}: {count}" for verdict, count in counts.items())
        or "no ledger"
    )
    reproduced = decided and not counts["differs"]
    yield Criterion(
        "reproduced", "the papers' numbers are reproduced", reproduced, detail
    )
    detail = f"{counts['not run']} not run: they need the models that the ledger names"
    tested = decided and not counts["not run"]
    yield Criterion("reproduced", "all claims were put to the test", tested, detail)


def ready_for(criteria: Sequence[Criterion]) -> list[str]:
    """Names of the badges with no unmet criterion in `criteria`, in the order of `BADGES`:
    available, functional, reusable, reproduced."""
    unmet = {criterion.badge for criterion in criteria if not criterion.met}
    return [badge for badge in BADGES if badge not in unmet]


def _clean_clone(commit: str, why: str) -> Criterion:
    """Result (`Criterion`) of building the profile smoke in a new clone, with this environment's
    packages and without a network. `commit` names the clone's commit, or `why` the reason without
    one. Not met when the build fails, without a commit, and where neither unshare nor bwrap can
    shut off the network."""
    what = "a clean clone builds the profile smoke without a network"
    if not commit:
        return Criterion("functional", what, False, why)
    isolation = next(filter(_works, ISOLATIONS), None)
    if isolation is None:
        detail = "neither unshare nor bwrap can shut off the network here"
        return Criterion("functional", what, False, detail)
    with tempfile.TemporaryDirectory() as clone:
        cloned = git("clone", "--quiet", "--no-local", str(ROOT), clone)
        if cloned.returncode:
            return Criterion("functional", what, False, cloned.stderr.strip())
        # The clone's own code, in this environment.
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith("CODESTRESS_")
        }
        environment |= {"PYTHONPATH": f"{clone}/lib", "CODESTRESS_ROOT": clone}
        code = "from codestress.cli import main; main()"
        building = [
            *isolation,
            sys.executable,
            "-c",
            code,
            "build",
            "--profile",
            "smoke",
        ]
        build = subprocess.run(
            building, cwd=clone, env=environment, capture_output=True, text=True
        )
    last = (build.stdout.strip() or build.stderr.strip() or "no output").splitlines()[
        -1
    ]
    detail = f"commit {commit}: {last.split(';')[0]}"
    return Criterion("functional", what, build.returncode == 0, detail)


def _works(isolation: list[str]) -> bool:
    if not shutil.which(isolation[0]):
        return False
    return subprocess.run([*isolation, "true"], capture_output=True).returncode == 0


def _has_doi() -> bool:
    path = ROOT / "CITATION.cff"
    return path.is_file() and "\ndoi:" in f"\n{path.read_text(encoding='utf-8')}"


def _verdicts(ledgers: Sequence[Path]) -> Counter[str]:
    """Number of claims by verdict in the files `ledgers` (claims.csv of artefacts), most frequent
    first; missing files count nothing."""
    frames = [
        read_table(path, ["verdict"])["verdict"] for path in ledgers if path.is_file()
    ]
    return Counter(pd.concat(frames).value_counts().to_dict() if frames else {})


def write(criteria: Sequence[Criterion]) -> Path:
    """Writes outputs/badge.md, with each of the `criteria` and the badges that they allow, and
    returns its path."""
    ready = ", ".join(ready_for(criteria)) or "none yet"
    lines = ["# Artifact evaluation", "", f"Ready to submit for: {ready}", ""]
    for badge in BADGES:
        lines += [f"## {badge.capitalize()}", ""]
        for criterion in criteria:
            if criterion.badge == badge:
                met = "x" if criterion.met else " "
                lines.append(f"- [{met}] {criterion.what}: {criterion.detail}")
        lines.append("")
    path = OUTPUTS / "badge.md"
    write_whole(path, "\n".join(lines))
    return path
