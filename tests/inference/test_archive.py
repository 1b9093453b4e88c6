"""Archives: the same responses make the same bytes, come back as they were, and rebuild a run without a model."""

from __future__ import annotations

import gzip
import json
import lzma
import math
from contextlib import nullcontext
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
from codestress.types import Prompt, Request, Response, Trial, Trials, Usage
from openai_server import OpenAIServer
from served import Served, in_two_steps, prompt, trials_of
from told import names, refused


def trials(word: str = "question", max_tokens: int = 50) -> Trials:
    """Return 20 trials of two questions each."""
    texts = [f"{word} {number}" for number in range(20)]
    first = trials_of(*[prompt(text, max_tokens=max_tokens) for text in texts])

    def second(trial: Trial, response: Response) -> Prompt:
        return prompt(f"and {trial.problem}, after {response.text}")

    return in_two_steps(first, second)


class Answered(Served):
    """A model whose server is gone, the results of 20 trials, and an archive of their answers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with OpenAIServer() as server:
            self.rows(server, row={"revision": "r1"})
            self.first = self.run(trials())
        with Store(self.store) as store:
            self.requests = list(stored_requests(trials(), [self.row], store))
        self.archive = folder / "a.jsonl.gz"
        write_archive(self.archive, self.requests)

    @property
    def row(self) -> ModelEntry:
        return load_registry(self.registry)["served"]

    def change(self, **fields: Any) -> None:
        row = json.loads(self.registry.read_text())["served"]
        self.registry.write_text(json.dumps({"served": row | fields}))

    def imported(self, archive: Path) -> tuple[int, int]:
        store = self.folder / "imported.sqlite"
        return import_archive(archive, store, {"served": self.row})

    def run_by(self, name: str, **changes: Any) -> Results:
        """Run the trials, with changes, on the store with this name."""
        return self.run(trials(**changes), store=self.folder / name)


@pytest.fixture
def answered(tmp_path: Path) -> Answered:
    return Answered(tmp_path)


def test_an_archive_rebuilds_a_run_without_a_model(answered: Answered) -> None:
    """The order in which answers are written makes no difference."""
    again = answered.folder / "b.jsonl.gz"
    assert write_archive(again, answered.requests[::-1]) == 40
    assert answered.archive.read_bytes() == again.read_bytes()
    assert answered.imported(answered.archive) == (40, 40)
    assert answered.imported(answered.archive) == (40, 0)
    results = answered.run_by("imported.sqlite")
    assert results.asked == 0
    assert results.answers.equals(answered.first.answers)


def test_answers_that_come_with_a_model_are_not_asked_for(answered: Answered) -> None:
    """The row's `archive` stands beside the registry; its server need not be there."""
    answered.change(archive=answered.archive.name)
    results = answered.run_by("empty.sqlite")
    assert results.asked == 0
    assert results.answers.equals(answered.first.answers)
    answered.change(archive="gone.jsonl.gz")
    with refused(ArchiveError, "gone.jsonl.gz"):
        answered.run_by("other.sqlite")


@pytest.mark.parametrize("changes", [{"max_tokens": 60}, {"word": "Question"}])
def test_what_an_archive_lacks_stops_a_run_that_may_ask_nothing(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    answered.imported(answered.archive)
    monkeypatch.setenv("MAX_REQUESTS", "0")
    assert answered.run_by("imported.sqlite").asked == 0
    with refused(BudgetReached, "served", "MAX_REQUESTS", "0 of 20"):
        answered.run_by("imported.sqlite", **changes)


def test_a_file_that_is_no_archive_is_refused_and_imports_nothing(
    answered: Answered, tmp_path: Path
) -> None:
    whole = answered.archive.read_bytes()
    lines = gzip.decompress(whole).decode().splitlines()
    row = json.loads(lines[5])

    def with_sixth(**changed: Any) -> bytes:
        return packed([*lines[:5], json.dumps(row | changed), *lines[6:]])

    def packed(rows: list[str]) -> bytes:
        return gzip.compress("\n".join(rows).encode())

    contents: list[tuple[str, bytes, tuple[object, ...]]] = [
        ("3.gz", packed(['{"codestress archive": 3, "responses": 0}']), ()),
        ("key.gz", with_sixth(asked=row["asked"] | {"sample": 9}), ("line 6", "key")),
        ("two.gz", packed([*lines[:6], *lines[5:]]), ("line 7", "order")),
        ("less.gz", packed(lines[:-1]), (39, 40)),
        ("end.gz", with_sixth(finish_reason="tired"), ("line 6", "finish_reason")),
        ("nan.gz", with_sixth(seconds=math.nan), ("line 6", "seconds")),
        ("row.gz", packed([*lines[:5], "{", *lines[6:]]), ("line 6",)),
        ("cut.gz", whole[:-50], ("line",)),
        ("cut.jsonl", gzip.decompress(whole)[:-50], ("line 41",)),
        ("empty.gz", b"", ("line 1",)),
        ("text.gz", b"hello", ("line 1",)),
        ("other.xz", lzma.compress(whole), ("xz",)),
        ("other.zip", b"PK\3\4" + whole, ("zip",)),
    ]
    for name, content, parts in contents:
        path = tmp_path / name
        path.write_bytes(content)
        with refused(ArchiveError, path, *parts):
            import_archive(path, tmp_path / "none.sqlite", {})
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize(
    ("name", "unpacked"), [("a.jsonl.gz", True), ("a.json.txt", False)]
)
def test_an_archive_is_read_by_its_content_not_its_name(
    name: str, unpacked: bool, answered: Answered
) -> None:
    """Browsers unpack what they download, and keep its name."""
    content = answered.archive.read_bytes()
    path = answered.folder / "downloads" / name
    path.parent.mkdir()
    path.write_bytes(gzip.decompress(content) if unpacked else content)
    assert answered.imported(path) == (40, 40)
    result = CliRunner().invoke(cli.cli, ["archive", "verify", str(path)])
    names(result.output, "served", "40")
    answered.change(archive=f"downloads/{name}")
    assert answered.run_by("known.sqlite").asked == 0


@pytest.mark.parametrize(("variable", "belong"), [("", False), ("SERVED_URL", True)])
def test_the_answers_of_an_archive_belong_to_their_server(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, variable: str, belong: bool
) -> None:
    """A row may move by its environment variable."""
    archive, address = answered.archive, "http://other.example/v1"
    rows = list(read_archive(archive))
    assert {row.server for row in rows} == {server_of(answered.row)}
    moved = {"base_url_env": variable} if variable else {"base_url": address}
    monkeypatch.setenv(variable or "UNUSED", address)
    answered.change(settings=answered.row.settings | moved)
    elsewhere = (EngineError, archive.name, "revision")
    with nullcontext() if belong else refused(*elsewhere):
        assert answered.imported(archive) == (40, 40)
    assert (answered.folder / "imported.sqlite").exists() is belong
    answered.change(archive=archive.name)
    with nullcontext() if belong else refused(*elsewhere):
        assert answered.run_by("known.sqlite").asked == 0


def test_an_import_replaces_no_answer(answered: Answered) -> None:
    """The next run refuses the answer of another server to the same question."""
    elsewhere = "https://other.example:443/v1"
    row = list(read_archive(answered.archive))[7]
    with Store(answered.folder / "imported.sqlite") as store:
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
