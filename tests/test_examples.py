"""No example is only read: commands in README, docs, CONTRIBUTING and help texts are typed by a test, or named here."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from codestress.artefact_files import artefact_names
from codestress.cli import cli
from conftest import ROOT, SCRIPT, ran
from test_contributing import RECIPES, steps
from test_readme import RUN_ELSEWHERE, RUN_HERE, at_smoke_size

TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
OTHERS = r"\.ci/\w+|cd|curl|jupyter-repo2docker|ollama|ray"
PROGRAMS = rf"(?:[A-Z_]+=\S+ +)*(?:make|codestress|python|pip|conda|uv|pre-commit|\.venv/bin/\w+|{OTHERS})"
EXAMPLE = re.compile(rf"{PROGRAMS}(?: +[^#`]*)?")
FORM = re.compile(r"…|\b(?:PAPER|ARTEFACT|MODEL|FILE|PORT|NAME|FACTOR|HEAD)\b(?!=)")
"""What stands for something else: a command with it is the form of many."""
BENCH = re.compile(r"python (bench/\w+\.py)")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORDS = {"python", "make", "codestress", "pip", "conda", "uv", "ray", "ollama serve"}
"""Named, not typed."""

LISTED = yaml.safe_load((ROOT / "tests/examples.yaml").read_text(encoding="utf-8"))
TYPED, SAME = LISTED["typed"], LISTED["same"]


def commands_of(table: str) -> list[str]:
    return list(itertools.chain.from_iterable(LISTED[table].values()))


def plain(command: str) -> str:
    """Without where programs lie and how much space there is."""
    words = command.partition("  #")[0]
    return " ".join(re.sub(r"\.venv/bin/(?=codestress|python)", "", words).split())


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
        texts = [command.help, *(getattr(one, "help", "") for one in command.params)]
        for text in filter(None, texts):
            found = re.findall(rf"({PROGRAMS} [^`.;()\n]+)", text)
            found += re.findall(r"(?:e\.g\.|instance) ([^.;)]+)", text)
            yield from (plain(one) for one in found if not FORM.search(one))


def in_makefile() -> Iterator[str]:
    done = ran("make", "--no-print-directory", "help", cwd=ROOT, check=True)
    for one in re.findall(r"^(make\S*(?: \S+)*)", done.stdout, re.M):
        if not FORM.search(one):
            yield one
    yield from re.findall(r"for instance (.+)", done.stdout)


def typed() -> set[str]:
    """Commands that a test types: those of the README, the recipes of CONTRIBUTING, each artefact, and those above."""
    found = [*RUN_HERE, *RUN_ELSEWHERE, *TYPED]
    found += [f"make {name}" for name in artefact_names()]  # the smoke build, once
    for recipe in RECIPES:
        if recipe.startswith("Add "):
            found += [text for name, text in steps(recipe) if not name]
    return {plain(one) for one in found}


def test_no_example_is_only_read() -> None:
    found = {*in_texts(), *in_help(cli), *in_makefile()}
    others = [*SAME, *commands_of("elsewhere"), *commands_of("not typed")]
    known = typed() | {plain(one) for one in others}
    for one in found - known:
        # Parts of `make bench`.
        bench = BENCH.match(one)
        assert bench, f"not typed: {one}"
        assert bench[1] in MAKEFILE, f"not typed: {one}"
    used = found | set(SAME.values())
    assert [one for one in (*TYPED, *others) if plain(one) not in used] == []
    assert [whole for whole in SAME.values() if plain(whole) not in typed()] == []
    for where in LISTED["elsewhere"]:
        file, name = where.split("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), name


@pytest.mark.slow
def test_examples_in_sentences(smoke: Path, tmp_path: Path) -> None:
    """At smoke size, about a copy of its outputs."""
    outputs = shutil.copytree(smoke, tmp_path / "outputs")
    for example in TYPED:
        program, *arguments = shlex.split(example)
        command = [SCRIPT, *at_smoke_size(arguments)]
        if program == "make":
            here = f"BIN={Path(SCRIPT).parent}"
            command = [program, *arguments, "PROFILE=smoke", here]
        environment = {**os.environ, "CODESTRESS_OUTPUTS": str(outputs)}
        done = ran(*command, cwd=ROOT, env=environment)
        assert done.returncode == 0, (example, done.stdout, done.stderr)
