"""The README and the pages behind it are true: every command in them runs, every file and model they name exists."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from codestress.artefact_files import artefact_names, read_artefact
from codestress.cli import cli
from codestress.inference.registry import load_registry
from codestress.nano.configuration import WEIGHTS
from codestress.rooms import papers
from conftest import ROOT, exposed

BEHIND = (
    "scoring",
    "nano",
    "models",
    "origin",
    "semtrace",
    "codecrash",
    "faultloc",
    "readers",
    "course",
)
PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in BEHIND))
}
README = "\n".join(PAGES.values())
COMMANDS = [
    line.split("#")[0].strip()
    for line in README.splitlines()
    if re.match(r"    (?:make|\.venv/bin/(?:codestress|python bench))\b", line)
]
RUN_ELSEWHERE = {
    "make": "the smoke build of tests/notebooks, and the demo's own benchmark",
    "make test": "this run",
    "make -j4": "the smoke build",
    "make origin": "the smoke build",
    "make origin PROFILE=paper": "needs the paper's models",
    "make semtrace/fig06 PROFILE=paper CODESTRESS_DATA=/path/to/data": "tests/notebooks, where CRUXEval is at hand",
    "make origin/fig04 MODELS=gpt-4o-mini-2024-07-18 BUDGET_USD=5": "needs a key",
    "make serve MODEL=llama-3.1-70b": "needs GPUs",
    "make .venv-vllm/bin/python": "gigabytes",
    "make try MODEL=http://localhost:8000/v1 ID=nano": "needs the server",
    "make explore": "tests/browser",
    "make train-nano": "needs torch, and hours",
    "make course": "tests/course",
    ".venv/bin/codestress course grade 01_scorer ada.ipynb": "tests/course",
    "make semtrace MODELS=llama-3.1-70b": "needs the server",
    'make semtrace/sensitivity MODELS="sim-wide python" SET="problems=mine"': "tests/test_contributing.py",
    ".venv/bin/codestress write hints --problems contest --model gpt-4o-2024-05-13 -o hints.jsonl": "needs a key",
    'make codecrash/tab01 SET="problems=[contest] hints=hints.jsonl"': "needs the hints",
    'make faultloc/relabel PROFILE=paper CODESTRESS_DATA=/path/to/data SET="answers=mine.jsonl"': (
        "tests/papers/faultloc/test_relabel.py, where the public tasks are at hand"
    ),
}
RUN_HERE = [command for command in COMMANDS if command not in RUN_ELSEWHERE]

FILES = {
    "answers.json": '{"a": ["2", "3"], "b": ["f(1)", "f(2)"]}',
    "problems.jsonl": """{"id": "a", "code": "def f(x):\\n    return x + 1", "input": "1", "output": "2"}
{"id": "b", "code": "def f(x):\\n    return x + 1", "input": "2", "output": "3"}""",
    "answers.jsonl.gz": "",
    "localized.jsonl": """{"id": "click/MisplacedReturn/3.1", "line": 101}
{"id": "click/MisplacedReturn/4.1", "line": null}""",
}
"""What the commands read that a reader has, or write."""
RUN_STRANGERS = ("score --task input", "codestress perturb")
"""What is refused, with the remedy, where programs of strangers cannot be isolated."""
FILE_NAME = re.compile("|".join(rf"(?<![\w.]){re.escape(name)}$" for name in FILES))


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 18
    assert {*RUN_ELSEWHERE} <= set(COMMANDS)


def at_smoke_size(command: list[str]) -> list[str]:
    """The same command about the smaller profile."""
    found: click.Command = cli
    for word in command:
        found = (
            found.commands.get(word, found) if isinstance(found, click.Group) else found
        )
    has_profile = any(parameter.name == "profile" for parameter in found.params)
    sized = ["--profile", "smoke"] if has_profile and "--profile" not in command else []
    return [
        re.sub("^(mine/.*@)", r"\1smoke,", re.sub("^demo/", "smoke/", word))
        for word in command
    ] + sized


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
    for name, content in FILES.items():
        if content:
            (folder / name).write_text(content)
    placed = [FILE_NAME.sub(rf"{folder}/\g<0>", word) for word in arguments]
    done = subprocess.run(
        placed, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600
    )
    refused = bool(exposed()) and any(words in command for words in RUN_STRANGERS)
    expected = 1 if " diff " in command or refused else 0
    assert done.returncode == expected, f"{command}\n{done.stdout}\n{done.stderr}"
    assert not refused or "CODESTRESS_UNPROTECTED=1" in done.stderr, (
        f"{command}\n{done.stderr}"
    )


@pytest.mark.slow
def test_the_key_s_absence_is_said_for_the_command_that_needs_one(
    tmp_path: Path,
) -> None:
    without = {
        name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"
    }
    without["CODESTRESS_OUTPUTS"] = str(tmp_path)
    command = ["make", "origin/fig04", "MODELS=gpt-4o-mini-2024-07-18"]
    done = subprocess.run(
        command, cwd=ROOT, env=without, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode != 0
    assert "OPENAI_API_KEY" in done.stderr


def test_links_and_names_exist() -> None:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert (page.parent / target).exists(), (page, target)
    assert len(PAGES[ROOT / "README.md"].splitlines()) <= 150
    linked = {
        (ROOT / name).resolve()
        for name in re.findall(r"\]\(([^)]+)\)", PAGES[ROOT / "README.md"])
    }
    assert {*(ROOT / "docs").glob("*.md")} <= linked
    listed = set(re.findall(r"`(sim-[a-z]+)`", README))
    assert listed == {
        name for name, entry in load_registry().items() if entry.simulated
    }
    for name in re.findall(r"`origin/(\w+)`", README):
        assert f"origin/{name}" in artefact_names()
    for name, entry in load_registry().items():
        if entry.simulated:
            assert (
                f"| `{name}` | {entry.description.replace('sim-flat', '`sim-flat`')} |"
                in README
            )


def test_every_artefact_is_listed_with_its_command() -> None:
    listed = (ROOT / "docs" / "artefacts.md").read_text(encoding="utf-8")
    assert re.findall(r"`make (\S+/\S+)`", listed) == artefact_names()
    for name in artefact_names():
        assert (
            f"| {read_artefact(name).title} | `make {name}` | `outputs/demo/{name}/figure.png` |"
            in listed
        )


def test_make_help_lists_the_papers_and_nothing_else() -> None:
    told = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    [line] = [line for line in told.splitlines() if line.startswith("make PAPER ")]
    assert line.partition(": ")[2].split() == list(papers())


def test_no_machine_s_paths() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    here = str(ROOT.parent)
    for name in tracked:
        content = Path(ROOT / name).read_bytes()
        content = gzip.decompress(content) if name.endswith(".gz") else content
        assert f"{here}/".encode() not in content, name


def test_what_the_small_transformer_can_is_what_was_measured() -> None:
    measured = json.loads((WEIGHTS / "evaluation.json").read_text())
    rows = [
        row
        for name, rows in measured.items()
        if isinstance(rows, list)
        for row in rows
        if "task" in row
    ]
    assert len(rows) >= 10
    for row in rows:
        share, low, high = (100 * row[name] for name in ("share", "low", "high"))
        told = f"{row['right']} of {row['asked']} | {share:.1f} % ({low:.1f} to {high:.1f})"
        assert told in README, row
    assert f"{100 * measured['majority answer of output_prediction']:.1f} %" in README
