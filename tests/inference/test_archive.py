"""Archives: the same responses make the same bytes, come back as they were, and rebuild a run without a model."""

from __future__ import annotations

import gzip
import json
import lzma
import math
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st

from codestress import cli
from codestress.errors import ArchiveError, EngineError
from codestress.inference.archive import (
    import_archive,
    read_archive,
    write_archive,
)
from codestress.inference.budget import BudgetReached
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import server_of, stored_requests
from codestress.inference.results import Results
from codestress.inference.store import Store
from codestress.types import (
    Prompt,
    Request,
    Response,
    Trial,
    Trials,
    Usage,
)
from openai_server import OpenAIServer
from served import Served, in_two_steps, prompt, trials_of
from told import names, refused


def trials(count: int, max_tokens: int = 50, word: str = "question") -> Trials:
    texts = [f"{word} {n}" for n in range(count)]
    first = trials_of(*[prompt(text, max_tokens=max_tokens) for text in texts])

    def second(trial: Trial, response: Response) -> Prompt:
        return prompt(f"and {trial.problem}, after {response.text}")

    return in_two_steps(first, second)


class Answered(Served):
    """Models whose server is gone, a store with answers to 20 trials, and their archive."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.archive = folder / "a.jsonl.gz"
        with OpenAIServer() as server:
            self.rows(server, row={"revision": "r1"})
            self.first = self.run(trials(20))
        with Store(self.store) as opened:
            found = list(stored_requests(trials(20), [self.row], opened))
        again = folder / "b.jsonl.gz"
        for path, rows in ((self.archive, found), (again, found[::-1])):
            assert write_archive(path, rows) == 40
        assert self.archive.read_bytes() == again.read_bytes()

    @property
    def row(self) -> ModelEntry:
        return load_registry(self.registry)["served"]

    def change(self, **fields: Any) -> None:
        row = json.loads(self.registry.read_text())["served"]
        self.registry.write_text(json.dumps({"served": row | fields}))

    def imported(self, archive: Path, name: str = "imported.sqlite") -> tuple[int, int]:
        return import_archive(archive, self.folder / name, {"served": self.row})

    def run_by(self, name: str, of: Trials | None = None) -> Results:
        return self.run(of or trials(20), store=self.folder / name)


@pytest.fixture
def answered(tmp_path: Path) -> Answered:
    return Answered(tmp_path)


def test_an_archive_rebuilds_a_run_without_a_model(answered: Answered) -> None:
    assert answered.imported(answered.archive) == (40, 40)
    assert answered.imported(answered.archive) == (40, 0)
    imported = answered.run_by("imported.sqlite")
    assert imported.asked == 0
    assert imported.answers.equals(answered.first.answers)


def test_answers_that_come_with_a_model_are_not_asked_for(answered: Answered) -> None:
    """The registry's `archive` stands beside it; its server need not be there."""
    answered.change(archive=answered.archive.name)
    known = answered.run_by("empty.sqlite")
    assert known.asked == 0
    assert known.answers.equals(answered.first.answers)
    answered.change(archive="gone.jsonl.gz")
    with refused(ArchiveError, "gone.jsonl.gz"):
        answered.run_by("other.sqlite")


@pytest.mark.parametrize("changed", [{"max_tokens": 60}, {"word": "Question"}])
def test_what_an_archive_lacks_stops_a_run_that_may_ask_nothing(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    answered.imported(answered.archive)
    monkeypatch.setenv("MAX_REQUESTS", "0")
    assert answered.run_by("imported.sqlite").asked == 0
    with refused(BudgetReached, "served", "MAX_REQUESTS", "0 of 20"):
        answered.run_by("imported.sqlite", trials(20, **changed))


def test_what_is_no_archive_is_refused_and_imports_nothing(
    answered: Answered, tmp_path: Path
) -> None:
    whole = answered.archive.read_bytes()
    good = gzip.decompress(whole).decode().splitlines()
    row = json.loads(good[5])

    def sixth(**changed: Any) -> list[str]:
        return [*good[:5], json.dumps(row | changed), *good[6:]]

    contents: list[tuple[str, list[str] | bytes | None, tuple[object, ...]]] = [
        ("3.gz", ['{"codestress archive": 3, "responses": 0}'], ()),
        ("key.gz", sixth(asked=row["asked"] | {"sample": 9}), ("line 6", "key")),
        ("two.gz", [*good[:6], *good[5:]], ("line 7", "order")),
        ("less.gz", good[:-1], (39, 40)),
        ("end.gz", sixth(finish_reason="tired"), ("line 6", "finish_reason")),
        ("nan.gz", sixth(seconds=math.nan), ("line 6", "seconds")),
        ("minus.gz", sixth(seconds=-1), ("line 6", "seconds")),
        ("row.gz", [*good[:5], "{", *good[6:]], ("line 6",)),
        ("cut.gz", whole[:-50], ("line",)),
        ("cut.jsonl", gzip.decompress(whole)[:-50], ("line 41",)),
        ("head.gz", whole[:5], ()),
        ("empty.gz", b"", ("line 1",)),
        ("text.gz", b"hello", ("line 1",)),
        ("other.xz", lzma.compress(whole), ("xz",)),
        ("other.zip", b"PK\3\4" + whole, ("zip",)),
        ("absent.gz", None, ()),
    ]
    for name, content, named in contents:
        path = tmp_path / name
        if isinstance(content, list):
            content = gzip.compress("\n".join(content).encode())
        if content is not None:
            path.write_bytes(content)
        with refused(ArchiveError, path, *named):
            import_archive(path, tmp_path / "none.sqlite", {})
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json.txt"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_is_read_by_content_not_by_name(
    name: str, packed: bool, answered: Answered
) -> None:
    """Browsers unpack what they download and keep its name; each reader takes it as it is."""
    content = answered.archive.read_bytes()
    brought = answered.folder / "brought" / name
    brought.parent.mkdir()
    brought.write_bytes(content if packed else gzip.decompress(content))
    assert answered.imported(brought) == (40, 40)
    verified = CliRunner().invoke(cli.cli, ["archive", "verify", str(brought)])
    names(verified.output, "served", "40")
    answered.change(archive=f"brought/{name}")
    assert answered.run_by("known.sqlite").asked == 0


@pytest.mark.parametrize(("by", "counts"), [("", False), ("SERVED_URL", True)])
def test_an_archives_answers_belong_to_their_server(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, by: str, counts: bool
) -> None:
    """By import, and by a row that names it alike; what the store has of another server stays as it is."""
    archive, address = answered.archive, "http://other.example/v1"
    rows = list(read_archive(archive))
    assert {row.server for row in rows} == {server_of(answered.row)}
    moved = {"base_url_env": by} if by else {"base_url": address}
    monkeypatch.setenv(by or "UNUSED", address)
    answered.change(settings=answered.row.settings | moved)

    def judged() -> AbstractContextManager[None]:
        wrong = refused(EngineError, archive.name, "revision")
        return nullcontext() if counts else wrong

    with judged():
        assert answered.imported(archive) == (40, 40)
    store = answered.folder / "imported.sqlite"
    assert store.exists() is counts
    if counts:
        with Store(store) as opened:
            found = opened.get(row.key for row in rows)
        assert found == {row.key: row.response for row in rows}
    answered.change(archive=archive.name)
    with judged():
        assert answered.run_by("known.sqlite").asked == 0


def test_an_import_replaces_no_answer(answered: Answered, tmp_path: Path) -> None:
    """The next run refuses an answer of another server to the same question."""
    elsewhere = "https://other.example:443/v1"
    row = list(read_archive(answered.archive))[7]
    with Store(tmp_path / "imported.sqlite") as store:
        store.put(row.key, "served", Response("other", "stop", server=elsewhere))
    assert answered.imported(answered.archive) == (40, 39)
    with refused(EngineError, "served", elsewhere, "CODESTRESS_STORE"):
        answered.run_by("imported.sqlite")


TEXT = st.text(st.characters(exclude_categories=[]))


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(TEXT, TEXT, TEXT, st.none() | st.integers(0, 2**40))
def test_any_text_comes_back(
    tmp_path: Path, text: str, content: str, prefill: str, tokens: int | None
) -> None:
    entry = load_registry()["sim-near"]
    request = Request("m", "r", prompt(content, prefill, stop=("\n",)), 3, 1)
    usage, at = Usage(tokens, 1, None, 0), "2026-01-01T00:00:00+00:00"
    response = Response(text, "length", usage, 1.5, "m fp", at, "s")
    write_archive(tmp_path / "one.gz", [(entry, request, response)])
    [row] = read_archive(tmp_path / "one.gz")
    assert (row.key, row.response) == (request.key, response)
