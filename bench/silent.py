"""Which faults in the kit's own Java programs none of their runs shows: `python bench/silent.py` writes silent.json.

Needs a JDK and three minutes; to be made anew when a program or its runs change.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from codestress.mutate.faults.fault_site import FaultSite
from codestress.mutate.faults.sites import fault_sites
from codestress.papers.faultloc import programs
from codestress.papers.faultloc.programs import CorrectProgram, first_programs

SEARCHER = Path(__file__).with_name("SeekDifference.java")


def seek() -> dict[str, list[tuple[str, int, str]]]:
    """The silent sites of all Java programs of the kit, by running each mutant on the program's runs.

    The programs are the kit's own, so they run in one virtual machine, unprotected.
    """
    jobs: list[tuple[CorrectProgram, FaultSite | None]] = []
    for program in first_programs("java", 1, 0, 0):
        jobs += [
            (program, None),
            *((program, site) for site in fault_sites(program.code, "java")),
        ]
    texts = [
        (one.id, site.apply(one.code) if site else one.code, one.runs)
        for one, site in jobs
    ]
    results = ran(texts)
    found: dict[str, list[tuple[str, int, str]]] = {}
    expected = ""
    for (program, site), result in zip(jobs, results, strict=True):
        if site is None:
            expected = result
        elif result in (expected, "does not compile"):
            found.setdefault(program.id, []).append((site.kind, site.start, site.text))
    return found


def ran(
    programs: Sequence[tuple[str, str, Sequence[Sequence[str]]]],
    *,
    limit_s: float = 1.5,
) -> list[str]:
    """What Java programs of the kit's own print and how they fail, all runs of one together: by the name of the class,
    the text and the arguments of each run, which is endless after `limit_s`."""
    lines = [
        " ".join(
            [name, _packed(f"{code}\n"), *(_packed("\t".join(run)) for run in runs)]
        )
        for name, code, runs in programs
    ]
    command = [
        "java",
        "-Xss16m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmn400m",
        str(SEARCHER),
        str(int(1000 * limit_s)),
    ]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [base64.b64decode(line).decode() for line in done.stdout.split()]


def _packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def main() -> None:
    """Writes the file anew."""
    parts = []
    for name, found in sorted(seek().items()):
        rows = ",\n".join(f"  {json.dumps(site)}" for site in found)
        parts.append(f"{json.dumps(name)}: [\n{rows}\n]")
    path = Path(programs.__file__).with_name("silent.json")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
