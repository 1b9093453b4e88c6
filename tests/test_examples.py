"""No example is only read: commands in README, docs, CONTRIBUTING and help texts are typed by a test, or named here."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from codestress.artefact_files import artefact_names
from codestress.cli import cli
from conftest import ROOT, SCRIPT
from test_contributing import RECIPES, steps
from test_readme import RUN_ELSEWHERE, RUN_HERE, at_smoke_size

TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
PROGRAMS = r"(?:[A-Z_]+=\S+ +)*(?:make|codestress|python|pip|conda|uv|pre-commit|\.venv/bin/\w+)"
EXAMPLE = re.compile(rf"{PROGRAMS}(?: +[^#`]*)?")
FORM = re.compile(r"…|\b(?:PAPER|ARTEFACT|MODEL|FILE|PORT|NAME|FACTOR)\b")
"""What stands for something else: a command with it is the form of many."""
BENCH = re.compile(r"python (bench/\w+\.py)")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORDS = {"python", "make", "codestress", "pip", "conda", "uv"}
"""Named, not typed."""

TYPED = (
    *(
        "codestress show origin/fig04 --where d=15",
        "codestress explain origin/fig04 --where model=sim-near",
    ),
    *(
        "codestress explain origin/fig04 --outcome incorrect",
        "codestress archive adopt --help",
        "codestress data list",
    ),
    *("codestress store verify", "codestress store budget --reset"),
    *("make report", "make contact-sheet"),
)
"""Typed here, in this order."""
SAME = {
    "codestress export inspect": "codestress export inspect origin/fig02",
    "codestress score": "codestress score --task output --answers answers.json --problems problems.jsonl",
    "codestress score --json": "codestress score --task output --answers answers.json --problems problems.jsonl",
    "d=15": "codestress show origin/fig04 --where d=15",
    "model=sim-near": "codestress explain origin/fig04 --where model=sim-near",
    "incorrect": "codestress explain origin/fig04 --outcome incorrect",
    'SET="seed=1 step=16"': 'make origin/fig04 SET="seed=1 step=16"',
}
"""What a sentence or a help text names, and the command with it that is typed."""
ELSEWHERE = {
    "make lab": "browser/test_pages.py::test_a_point_is_dragged_in_jupyterlab",
    'make codecrash/tab01 SET="problems=[mine]"': "problems/test_own.py::test_the_readme_s_problems_are_asked_about",
    'make codecrash/tab01 SET="perturbations=[VAN,NOT-NOT]"': (
        "test_contributing.py::test_a_perturbation_is_a_function_and_a_row"
    ),
    "python docs/recompute.py outputs/demo": (
        "notebooks/test_artefacts.py::test_tables_come_out_of_the_answers_without_the_kit"
    ),
    "make crate": "report/test_crate.py::test_a_crate_tells_of_what_each_figure_was_made",
    "make BIN=$CONDA_PREFIX/bin": "test_examples.py::test_examples_in_sentences",
}
"""The test of another file that types it, or what it stands for."""
NOT_TYPED = {
    "make badge": "a clean clone of what is committed, minutes; pipeline/test_badge.py has its criteria",
    "make clean": "removes the outputs of whoever tests",
    "make bench": "an hour of measurements",
    "python -I -S": "a part of that",
    ".venv/bin/python tests/density.py --lower": "writes tests/ceilings.csv",
    "python docs/undecided.py": "writes docs/ledger.md, which report/test_statements.py compares with it",
    "make test": "this run",
    "make test-all": "this run",
    ".venv/bin/pytest -m 'not slow' tests/papers/origin": "this run",
    ".venv/bin/pytest -n 2 -m 'not slow' tests/sandbox": "this run",
    "make test-vllm": "gigabytes",
    "make test-llamacpp": "compiles llama.cpp, ten minutes",
    "make serve": "needs GPUs",
    "make data": "needs the network",
    "codestress data fetch codexglue-python": "needs the network",
    "make lock": "needs the network, and changes what is pinned",
    "conda env create -f environment.yml": "needs conda and the network",
    "pip install -e '.[serve,cluster]'": "gigabytes",
    "uv pip install --python .venv/bin/python -e '.[inspect]'": "replaces packages of the lock",
    "uv pip install --python .venv/bin/python -e '.[crate]'": "needs the network",
    "pre-commit install": "changes the reader's hooks",
}


def plain(command: str) -> str:
    """Without where programs lie and how much space there is."""
    return " ".join(
        re.sub(
            r"\.venv/bin/(?=codestress|python)", "", command.partition("  #")[0]
        ).split()
    )


def in_texts() -> Iterator[str]:
    """Commands that stand by themselves in lines that show them, or between backticks."""
    for path in TEXTS:
        for line in path.read_text(encoding="utf-8").splitlines():
            shown = [line] if line.startswith("    ") else []
            for words in (*shown, *re.findall("`([^`]+)`", line)):
                command = plain(words)
                if (
                    EXAMPLE.fullmatch(command)
                    and not FORM.search(command)
                    and command not in WORDS
                ):
                    yield command


def in_help(group: click.Group) -> Iterator[str]:
    """Commands and examples of values in the help texts."""
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from in_help(command)
        texts = [
            command.help or "",
            *(getattr(parameter, "help", None) or "" for parameter in command.params),
        ]
        for text in texts:
            named = re.findall(rf"({PROGRAMS} [^`.;()\n]+)", text) + re.findall(
                r"(?:e\.g\.|instance) ([^.;)]+)", text
            )
            yield from (plain(one) for one in named if not FORM.search(one))


def in_makefile() -> Iterator[str]:
    told = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    yield from (
        one
        for one in re.findall(r"^(make\S*(?: \S+)*)", told, re.M)
        if not FORM.search(one)
    )
    yield from re.findall(r"for instance (.+)", told)


def typed() -> set[str]:
    """Commands that a test types: those of the README, the recipes of CONTRIBUTING, each artefact, and those above."""
    recipes = (
        text for recipe in RECIPES for name, text in following(recipe) if not name
    )
    artefacts = (f"make {name}" for name in artefact_names())  # the smoke build, once
    return {
        plain(one) for one in (*RUN_HERE, *RUN_ELSEWHERE, *recipes, *artefacts, *TYPED)
    }


def following(recipe: str) -> list[tuple[str, str]]:
    return list(steps(recipe)) if recipe.startswith("Add ") else []


def test_no_example_is_only_read() -> None:
    found = {*in_texts(), *in_help(cli), *in_makefile()}
    # Parts of `make bench`.
    benches = {
        one for one in found if (bench := BENCH.match(one)) and bench[1] in MAKEFILE
    }
    known = typed() | {plain(one) for one in (*SAME, *ELSEWHERE, *NOT_TYPED)}
    assert sorted(found - known - benches) == []
    assert [
        one
        for one in (*TYPED, *SAME, *ELSEWHERE, *NOT_TYPED)
        if plain(one) not in found | set(SAME.values())
    ] == []
    assert [whole for whole in SAME.values() if plain(whole) not in typed()] == []
    for file, name in (where.split("::") for where in ELSEWHERE.values()):
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), (
            name
        )


@pytest.mark.slow
def test_examples_in_sentences(smoke: Path, tmp_path: Path) -> None:
    """At smoke size, about a copy of its outputs."""
    outputs = shutil.copytree(smoke, tmp_path / "outputs")
    for example in TYPED:
        program, *arguments = shlex.split(example)
        command = [SCRIPT, *at_smoke_size(arguments)]
        if program == "make":
            command = [
                program,
                *arguments,
                "PROFILE=smoke",
                f"BIN={Path(SCRIPT).parent}",
            ]
        environment = {**os.environ, "CODESTRESS_OUTPUTS": str(outputs)}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, (example, done.stdout, done.stderr)
