"""The README and the pages behind it are true: every command in them runs, every file and model they name exists."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from codestress.artefact_files import artefact_names, read_artefact
from codestress.cli import cli
from codestress.inference.registry import load_registry
from codestress.nano.configuration import WEIGHTS
from codestress.rooms import papers
from conftest import ROOT, exposed, ran

BEHIND = ("scoring", "nano", "models", *papers(), "readers", "course")
PAGES = {
    ROOT / name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", *(f"docs/{name}.md" for name in BEHIND))
}
README = "\n".join(PAGES.values())
COMMANDS = [
    line.split("#")[0].strip()
    for line in README.splitlines()
    if re.match(r"    (?:make|\.venv/bin/(?:codestress|python bench))\b", line)
]
LISTED = yaml.safe_load((ROOT / "tests/examples.yaml").read_text(encoding="utf-8"))
RUN_ELSEWHERE = list(itertools.chain.from_iterable(LISTED["readme elsewhere"].values()))
RUN_HERE = [command for command in COMMANDS if command not in RUN_ELSEWHERE]

CODE = "def f(x):\n    return x + 1"
PROBLEM = {"id": "a", "code": CODE, "input": "1", "output": "2"}
FILES = {
    "answers.json": [{"a": ["2", "3"], "b": ["f(1)", "f(2)"]}],
    "problems.jsonl": [PROBLEM, PROBLEM | {"id": "b", "input": "2", "output": "3"}],
    "answers.jsonl.gz": [],
    "localized.jsonl": [
        {"id": "click/MisplacedReturn/3.1", "line": 101},
        {"id": "click/MisplacedReturn/4.1", "line": None},
    ],
}
"""What the commands read that a reader has, or write."""
RUN_STRANGERS = ("score --task input", "codestress perturb")
"""What is refused, with the remedy, where programs of strangers cannot be isolated."""
FILE_NAME = re.compile("|".join(rf"(?<![\w.]){re.escape(name)}$" for name in FILES))


def test_what_is_run_elsewhere_is_a_command_of_the_pages() -> None:
    assert {*RUN_ELSEWHERE} <= set(COMMANDS)


def at_smoke_size(command: list[str]) -> list[str]:
    """The same command about the smaller profile."""
    found: click.Command = cli
    for word in command:
        if isinstance(found, click.Group):
            found = found.commands.get(word, found)
    words = []
    for word in command:
        smaller = re.sub("^demo/", "smoke/", word)
        words.append(re.sub("^(mine/.*@)", r"\1smoke,", smaller))
    has_profile = any(parameter.name == "profile" for parameter in found.params)
    if has_profile and "--profile" not in command:
        words += ["--profile", "smoke"]
    return words


@pytest.mark.slow
@pytest.mark.release
def test_every_command_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "CODESTRESS_OUTPUTS": str(tmp_path / "outputs")}
    for command in RUN_HERE:  # what `diff` compares is built by the commands above it
        succeeds(command, shlex.split(command), tmp_path, environment)


def succeeds(
    command: str, arguments: list[str], folder: Path, environment: dict[str, str]
) -> None:
    """Runs it where the reader's files are; it ends as the README leads to expect."""
    for name, rows in FILES.items():
        if rows:
            (folder / name).write_text("\n".join(map(json.dumps, rows)))
    placed = [FILE_NAME.sub(rf"{folder}/\g<0>", word) for word in arguments]
    done = ran(*placed, cwd=ROOT, env=environment)
    refused = bool(exposed()) and any(words in command for words in RUN_STRANGERS)
    expected = 1 if " diff " in command or refused else 0
    assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
    assert not refused or "CODESTRESS_UNPROTECTED=1" in done.stderr, (
        f"{command}\n{done.stderr}"
    )


def test_links_and_names_exist() -> None:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert (page.parent / target).exists(), (page, target)
    first = PAGES[ROOT / "README.md"]
    linked = {(ROOT / name).resolve() for name in re.findall(r"\]\(([^)]+)\)", first)}
    assert {*(ROOT / "docs").glob("*.md")} <= linked
    for name in re.findall(r"`origin/(\w+)`", README):
        assert f"origin/{name}" in artefact_names()


def test_the_simulated_models_are_those_of_the_registry() -> None:
    described = {
        name: entry.description.replace("sim-flat", "`sim-flat`")
        for name, entry in load_registry().items()
        if entry.simulated
    }
    assert set(re.findall(r"`(sim-[a-z]+)`", README)) == described.keys()
    for name, description in described.items():
        assert f"| `{name}` | {description} |" in README


def test_every_artefact_is_listed_with_its_command() -> None:
    listed = (ROOT / "docs" / "artefacts.md").read_text(encoding="utf-8")
    assert re.findall(r"`make (\S+/\S+)`", listed) == artefact_names()
    for name in artefact_names():
        figure = f"`make {name}` | `outputs/demo/{name}/figure.png`"
        assert f"| {read_artefact(name).title} | {figure} |" in listed


def test_make_help_lists_the_papers_and_nothing_else() -> None:
    told = ran("make", "help", cwd=ROOT, check=True).stdout
    [line] = [line for line in told.splitlines() if line.startswith("make PAPER ")]
    assert line.partition(": ")[2].split() == list(papers())


def test_no_machine_s_paths() -> None:
    tracked = ran("git", "ls-files", cwd=ROOT, check=True).stdout.split()
    here = str(ROOT.parent)
    for name in tracked:
        content = Path(ROOT / name).read_bytes()
        content = gzip.decompress(content) if name.endswith(".gz") else content
        assert f"{here}/".encode() not in content, name


def test_what_the_small_transformer_can_is_what_was_measured() -> None:
    measured = json.loads((WEIGHTS / "evaluation.json").read_text())
    tables = [rows for rows in measured.values() if isinstance(rows, list)]
    rows = [row for row in itertools.chain.from_iterable(tables) if "task" in row]
    assert len(rows) >= 10
    for row in rows:
        share, low, high = (100 * row[name] for name in ("share", "low", "high"))
        told = f"{row['right']} of {row['asked']} | {share:.1f} % ({low:.1f} to {high:.1f})"
        assert told in README, row
    assert f"{100 * measured['majority answer of output_prediction']:.1f} %" in README
