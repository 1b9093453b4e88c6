"""Faults in the paper's own Java programs add no error of the compiler's. Most of them lack the classes around them:
what the compiler says of a program as it is, is no fault's."""

from __future__ import annotations

import base64
import random
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest

from codestress.mutate.faults.fault_site import FaultSite
from codestress.mutate.faults.sites import fault_sites
from codestress.papers.faultloc.programs import CorrectProgram, first_programs
from conftest import needs_jdk

COMPILER = Path(__file__).with_name("CompileErrors.java")
PUBLIC = re.compile(
    r"^\s*public (?:(?:abstract|final|strictfp) )*(?:class|interface|enum|@interface) (\w+)",
    re.M,
)


def errors(codes: Sequence[str]) -> list[Counter[str]]:
    """The compiler's errors in each program, by kind."""
    lines = []
    for code in codes:
        public = PUBLIC.search(code)
        lines.append(
            f"{public[1] if public else 'Given'} {base64.b64encode(code.encode()).decode()}"
        )
    command = ["java", "-XX:TieredStopAtLevel=1", str(COMPILER)]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [
        Counter(re.findall(r"=([\w.]+)", line)) for line in done.stdout.splitlines()
    ]


@needs_jdk
def test_errors_are_found_also_where_a_type_is_missing() -> None:
    body = "class Given { Absent a; int f(int n) { if (n > 1) { return 1; %s } return n; } }"
    before, after = errors([body % "", body % "n++;"])
    assert before
    assert after - before == Counter({"compiler.err.unreachable.stmt": 1})


@pytest.mark.slow
@pytest.mark.release
@needs_jdk
@pytest.mark.usefixtures("public")
def test_faults_of_the_papers_java_programs_compile() -> None:
    programs = first_programs("codesearchnet", 1, 0, 0)
    chosen: list[tuple[CorrectProgram, Counter[str], FaultSite]] = []
    for program, before in zip(
        programs, errors([one.code for one in programs]), strict=True
    ):
        sites = sorted(fault_sites(program.code, "java"), key=lambda site: site.kind)
        for _, group in groupby(sites, key=lambda site: site.kind):
            # More, where the program needs no other class.
            found, most = (
                list(group),
                1 if before else 12,
            )
            some = random.Random(program.id).sample(found, min(most, len(found)))
            chosen += [(program, before, site) for site in some]
    alone = sum(not before for _, before, _ in chosen)
    assert alone > 800
    assert len(chosen) - alone > 1400
    after = errors([site.apply(program.code) for program, _, site in chosen])
    bad = [
        f"{program.id}: {site.kind} in line {site.line}: {dict(now - before)}"
        for (program, before, site), now in zip(chosen, after, strict=True)
        if now - before
    ]
    assert not bad, "\n".join(bad)
