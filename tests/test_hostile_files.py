"""No file that a person gives ends in a traceback: one message names the file, and nothing else has changed.

Commands and files are in test_hostile_files.yaml.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
import yaml

from codestress.cli import cli
from codestress.errors import ArchiveError, DataError, ParameterError
from codestress.inference import archive
from codestress.inference.ask import ask
from codestress.inference.registry import load_registry
from codestress.literals import printable
from codestress.pipeline.artefacts import Artefact
from codestress.problems.problem_files import read_problems
from codestress.report.checked import read_manifest
from codestress.report.claims import COLUMNS as LEDGER, read_ledger
from codestress.validation import read_yaml
from conftest import ROOT, THOROUGH, artefact_of, exposed, ran, slow, some
from told import names, refused

DAMAGED = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
COMMANDS, LONG = DAMAGED["commands"], DAMAGED["long"]
ROW = {"key": archive.key_of(DAMAGED["row"]["asked"]), **DAMAGED["row"]}
DEEP = 200_000
KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "nothing": lambda *_: b"",
    "a list": lambda *_: b"[1, {}]",
    "null": lambda *_: b"null",
    "deep": lambda *_: b"[" * DEEP,
    "deep objects": lambda *_: b'{"a":' * DEEP,
    "deep by lines": lambda *_: b"\n".join(b" " * n + b"a:" for n in range(2000)),
    "no text": lambda *_: b"\xff\xfe\x00\xd8" * 9,
    "cut": lambda content, chance: content[: chance.randrange(len(content))],
    "a byte": lambda content, chance: _with(
        content, chance, lambda _: bytes([chance.randrange(256)])
    ),
    "commands of a terminal": lambda content, chance: _with(
        content, chance, lambda old: old + b"\x1b]0;x\x07\x1b[2J"
    ),
    "a line twice": lambda content, chance: _line(
        content, chance, lambda line: [line, line]
    ),
    "a line less": lambda content, chance: _line(content, chance, lambda _: []),
    "a value of another kind": lambda content, chance: _line(
        content, chance, lambda line: [line.partition(b":")[0] + b": [{}, .nan, 1e999]"]
    ),
}


def _with(
    content: bytes, chance: random.Random, change: Callable[[bytes], bytes]
) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + change(content[at : at + 1]) + content[at + 1 :]


def _line(
    content: bytes, chance: random.Random, change: Callable[[bytes], list[bytes]]
) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    return b"\n".join([*lines[:at], *change(lines[at]), *lines[at + 1 :]])


STORED = "outputs/responses.sqlite"
BUILT = "outputs/smoke/origin/fig04"
LONGEST = [
    name for name in COMMANDS if name.startswith(("build", "write", "archive adopt"))
]
UNREADABLE = ("a list", "deep", "no text", "cut")
STRANGERS = (
    "perturb",
    "plan codecrash/tab01 --profile smoke --set problems=[mine]",
    "write",
    "course grade",
    "course build",
)
"""These run programs of strangers."""
MAY_FAIL = ("store verify", *STRANGERS)
"""With all files in order too: what was published has no checksums here, nothing may isolate programs."""


class Console:
    """The console script in a project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        own = {"CODESTRESS_ROOT": str(root), "CODESTRESS_DATA": str(root / "data")}
        own["CODESTRESS_OUTPUTS"] = "../outputs"
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("many_commands.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root / "params",
            env=os.environ | own,
        )

    def run(self, command: str, file: str, content: bytes) -> dict[str, Any]:
        """What became of a command while the file held that."""
        case = {"command": command, "file": file}
        case["content"] = base64.b64encode(content).decode()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        outcome: dict[str, Any] = json.loads(self.process.stdout.readline())
        return outcome


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    root = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "requirements.lock", root)
    shutil.copytree(ROOT / "params", root / "params")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    shutil.copyfile(root / "notebooks/course/01_scorer.ipynb", root / "ada.ipynb")
    for name, text in DAMAGED["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    _pack(root / "a.jsonl.gz", json.dumps(ROW))
    for name, text in DAMAGED["added"].items():
        with (root / name).open("a") as file:
            file.write(text)
    built = place_artefacts(root)
    # Whichever test comes first, the store has what the figure asks.
    ask(built.trials(), built.model_names, store=root / STORED)
    # Fonts are listed once, by whichever command first draws.
    fonts = os.environ | {"MPLCONFIGDIR": str(root / "outputs/.matplotlib")}
    command = (sys.executable, "-c", "import matplotlib.font_manager")
    ran(*command, env=fonts, check=True)
    opened = Console(root)
    # A relative CODESTRESS_OUTPUTS counts from where the command was typed.
    told = opened.run("store status", "params/models.yaml", b"")["printed"]
    asked = len(built.trials().items) * len(built.models)
    names(told, f"{STORED}: {asked}")
    yield opened
    opened.process.communicate()


def place_artefacts(root: Path) -> Artefact:
    """Puts what builds leave into the project; gives the artefact that is built."""
    built = artefact_of("origin/fig04", "smoke")
    manifests: dict[str, Any] = {
        "one/t/a": {},
        "two/t/a": {},
        BUILT: {"parameters": built.parameters.model_dump()},
        "outputs/smoke/t/b": {"tables": ["claims", "rows"]},
    }
    for name, changed in manifests.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        manifest = json.dumps(DAMAGED["manifest"] | changed, indent=1)
        (folder / "manifest.json").write_text(manifest)
        pd.DataFrame({"n": [1, 2]}).to_parquet(folder / "data.parquet")
        for ending in ("svg", "pdf", "png"):
            (folder / f"figure.{ending}").write_bytes(b"")
    claim = "t/b,s,re-run,equal,1.0,%,2.0,1.0,3.0,differs,0.1,1.0,5.0,20,,,ours"
    (root / "outputs/smoke/t/b/claims.csv").write_text(f"{','.join(LEDGER)}\n{claim}\n")
    return built


def commands_of(group: click.Group, before: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_every_command_is_given_damaged_files() -> None:
    """None is excepted: each reads something that a person can write."""
    tried = [f"{command} " for command in (*COMMANDS, *LONG)]
    for name in commands_of(cli):
        assert any(one.startswith(f"{name} ") for one in tried), name


def cases(file: str, content: bytes) -> dict[str, bytes]:
    packed = file.endswith(".gz")
    whole = gzip.decompress(content) if packed else content
    found = {}
    for kind, change in KINDS.items():
        changed = change(whole, random.Random(f"{file} {kind}"))
        found[kind] = gzip.compress(changed) if packed else changed
    if packed:
        found["cut"] = content[:-9]
    return found


def check_outcome(command: str, file: str, kind: str, done: dict[str, Any]) -> None:
    about = (command, file, kind, done)
    # 2: nothing in a file of answers belongs to what was asked.
    allowed = (0, 1, 2) if command.startswith(("score", "archive adopt")) else (0, 1)
    assert done["status"] in allowed, about
    printed = done["printed"]
    assert "Traceback" not in printed, about
    assert printed == printable(printed), about
    lines = printed.splitlines()
    assert sum(line.startswith(("error: ", "Error: ")) for line in lines) <= 1, about
    if done["status"] == 1 and not (command.startswith(STRANGERS) and exposed()):
        assert Path(file).name in printed, about
        # A command leaves what Python compiled although it failed.
        changed = [path for path in done["changed"] if "/__pycache__/" not in path]
        assert changed == [], about


@pytest.mark.parametrize("command", slow(some([*COMMANDS], 4), *LONGEST))
def test_no_file_ends_in_a_traceback(console: Console, command: str) -> None:
    for number, file in enumerate(COMMANDS[command]):
        content = (console.root / file).read_bytes()
        well = console.run(command, file, content)
        assert well["status"] == 0 or command.startswith(MAY_FAIL), well
        damaged = [*cases(file, content).items()]
        for kind, changed in damaged if THOROUGH else damaged[number % 5 :: 5]:
            check_outcome(command, file, kind, console.run(command, file, changed))


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_no_unreadable_file_ends_in_a_traceback(console: Console, command: str) -> None:
    if command.startswith("crate"):
        pytest.importorskip("rocrate")
    for file in LONG[command]:
        changed = cases(file, (console.root / file).read_bytes())
        for kind in UNREADABLE:
            outcome = console.run(command, file, changed[kind])
            check_outcome(command, file, kind, outcome)


@pytest.mark.parametrize(
    "text",
    ["a: " + "[" * DEEP, "a: " + "[" * 2000 + "]" * 2000, "- " * 2000, "!!timestamp x"],
    ids=["deep", "nested", "lists", "no timestamp"],
)
def test_what_yaml_may_not_hold(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with refused(ParameterError, "a.yaml", "YAML"):
        read_yaml(path)


def test_an_archive_of_another_format_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"codestress archive": 1, "responses": 0}\n')
    with refused(ArchiveError, "a.jsonl", "format 2", "archive export"):
        list(archive.read_archive(tmp_path / "a.jsonl"))


def test_a_ledger_names_the_column_that_is_no_number(tmp_path: Path) -> None:
    place_artefacts(tmp_path)
    path = tmp_path / "outputs/smoke/t/b/claims.csv"
    path.write_text(path.read_text().replace(",5.0,", ",x,"))
    with refused(DataError, "claims.csv", "column difference_high", "'x'"):
        read_ledger(path)


def test_an_archives_line_is_read_as_far_as_a_row_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"codestress archive": 2, "responses": 1}\n')
        for _ in range(101):
            file.write(b" " * 1_000_000)
    with refused(ArchiveError, "a.jsonl.gz", "line 2", "100,000,000"):
        list(archive.read_archive(path))


def test_one_row_does_not_stop_the_others(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    row = {"code": "def f(x): return x", "input": "1", "output": "1", "id": "well"}
    long = json.dumps(row | {"id": "long", "output": "1" * 100_001})
    faulty = (long, "[" * DEEP, '{"id": 1, "code": []}')
    path.write_text("\n".join([*faulty, json.dumps(row)]))
    found = read_problems(path)
    assert [one.id for one in found.problems] == ["well"]
    assert len(found.faults) == 3


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[" * DEEP,
        "{",
        '{"tables": 3}',
        '{"models": [3]}',
        '{"counts": {"m": []}}',
    ],
    ids=["a list", "deep", "cut", "tables", "models", "counts"],
)
def test_a_manifest_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with refused(DataError, "manifest.json", "no manifest"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("archive", ["../a.jsonl.gz", "/etc/passwd", "x/../../a"])
def test_a_models_archive_lies_beside_the_registry(
    tmp_path: Path, archive: str
) -> None:
    (tmp_path / "models.yaml").write_text(f"m: {{engine: openai, archive: {archive}}}")
    with refused(ParameterError, "models.yaml", "archive", archive, tmp_path):
        load_registry(tmp_path / "models.yaml")


def test_nothing_commands_a_terminal() -> None:
    shown = "a\tb\n\\x1b]0;title\\x07\\x9b2J\\r\\u202e"
    assert printable("a\tb\n\x1b]0;title\x07\x9b2J\r\u202e") == shown


def _pack(path: Path, row: str) -> None:
    path.write_bytes(
        gzip.compress(f'{{"codestress archive": 2, "responses": 1}}\n{row}\n'.encode())
    )
