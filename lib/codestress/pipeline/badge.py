"""Check of the criteria of artifact evaluation: available, functional, reusable,
reproduced.

The criteria are those of the ACM's badges (version 1.1). A task for a person, such as
an archive with a DOI, is listed and is not claimed to be done.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from os.path import getsize
from pathlib import Path
from typing import NamedTuple

from codestress.artefact_files import artefact_names
from codestress.paths import OUTPUTS, ROOT, shown, visible, write_whole
from codestress.report.checked import read_table
from codestress.validation import read_yaml

from .surroundings import commit, environment_without, finished, git

TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
BADGES = TABLE["badges"]


class Criterion(NamedTuple):
    """Result of one criterion of a badge of artifact evaluation: the badge, the
    criterion in words, whether the criterion is met, and details."""

    badge: str
    what: str
    met: bool
    detail: str


def examine(profile: str) -> Iterator[Criterion]:
    """Yield a `Criterion` for each check of the checkout and of the artefacts built in
    `profile` (a name).

    A criterion of the badge `functional` builds a clone, which takes minutes.
    """
    for name, (badge, what) in TABLE["needed"].items():
        yield Criterion(badge, what, any(map(getsize, ROOT.glob(name))), name)
    known, why = commit()
    clean = bool(known) and not git("status", "--porcelain").stdout
    yield Criterion("available", "everything is committed", clean, "see git status")
    cited = ROOT / "CITATION.cff"
    doi = cited.is_file() and "\ndoi:" in cited.read_text("utf-8")
    yield Criterion("available", "archived with a DOI", doi, TABLE["deposit"])
    what = "a clean clone builds the profile smoke without a network"
    yield Criterion("functional", what, *_clean_clone(known[:12], why))
    yield from _reproduced(OUTPUTS / profile)


def _reproduced(folder: Path) -> Iterator[Criterion]:
    """Yield a `Criterion` for each check of the artefacts built in the output `folder`
    of a profile."""
    names = artefact_names()
    missing = [name for name in names if not (folder / name / "manifest.json").exists()]
    detail = f"{len(names) - len(missing)} of {len(names)} in {shown(folder)}"
    yield Criterion("reproduced", "every artefact is built", not missing, detail)
    counts = Counter[str]()
    for ledger in visible(folder, "*/*/claims.csv"):
        counts.update(read_table(ledger, ["verdict"])["verdict"])
    decided = counts["reproduced"] + counts["differs"] > 0
    listed = ", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common())
    met = decided and not counts["differs"]
    yield Criterion("reproduced", "the papers' numbers are reproduced", met, listed)
    yield Criterion(
        "reproduced",
        "all claims were put to the test",
        decided and not counts["not run"],
        "what was not run needs the models that the ledger names",
    )


def ready_for(criteria: Sequence[Criterion]) -> str:
    """Return the names of the badges with no unmet criterion in `criteria`, as text;
    `none yet` if there is no such badge.

    The names are in the order of `BADGES`: available, functional, reusable, reproduced.
    """
    unmet = {criterion.badge for criterion in criteria if not criterion.met}
    return ", ".join(badge for badge in BADGES if badge not in unmet) or "none yet"


def _clean_clone(commit: str, why: str) -> tuple[bool, str]:
    """Return whether the profile smoke builds in a new clone, with this environment's
    packages and without a network, and details as text.

    `commit` names the commit that is cloned. If there is no commit, `commit` is empty,
    and `why` is the reason. The result is False if the build fails, if there is no
    commit, or if neither unshare nor bwrap can shut off the network.
    """
    if not commit:
        return False, why
    # Run the clone's own code with this environment's packages.
    environment = environment_without(("CODESTRESS_",))
    for isolation in TABLE["isolations"]:
        if not finished([*isolation, "true"], ROOT, environment).returncode:
            break
    else:
        return False, "neither unshare nor bwrap can shut off the network here"
    with tempfile.TemporaryDirectory() as clone:
        cloned = git("clone", "--quiet", "--no-local", str(ROOT), clone)
        if cloned.returncode:
            return False, cloned.stderr.strip()
        environment |= {"PYTHONPATH": f"{clone}/lib", "CODESTRESS_ROOT": clone}
        code = "from codestress.cli import main; main()"
        command = [*isolation, sys.executable, "-c", code, "build", "--profile=smoke"]
        build = finished(command, Path(clone), environment)
    last = (build.stdout.strip() or build.stderr.strip()).rpartition("\n")[2]
    return build.returncode == 0, f"commit {commit}: {last.split(';')[0]}"


def write(criteria: Sequence[Criterion]) -> Path:
    """Write outputs/badge.md, with each of `criteria` and the badges for which the kit
    is ready, and return the file's path."""
    lines = [f"# Artifact evaluation\n\nReady to submit for: {ready_for(criteria)}\n"]
    for criterion in criteria:
        mark = "x" if criterion.met else " "
        words = f"{criterion.what} ({criterion.badge}): {criterion.detail}"
        lines.append(f"- [{mark}] {words}")
    path = OUTPUTS / "badge.md"
    write_whole(path, "\n".join(lines) + "\n")
    return path
