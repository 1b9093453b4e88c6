"""Archives: the same responses make the same bytes, come back as they were, and rebuild a run without a model."""

from __future__ import annotations

import gzip
import json
import lzma
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
    key_of,
    read_archive,
    write_archive,
)
from codestress.inference.budget import BudgetReached
from codestress.inference.registry import load_registry
from codestress.inference.requests import stored_requests
from codestress.inference.run import run
from codestress.inference.servers import server_of
from codestress.inference.store import Store
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Request,
    Response,
    Sampling,
    Score,
    Trial,
    Trials,
    Usage,
)
from openai_server import OpenAIServer
from told import names, refused


def trials(count: int, max_tokens: int = 50, word: str = "question") -> Trials:
    """Trials with a second request after the first answer."""

    def render(trial: Trial) -> Prompt:
        return Prompt(
            (Message("user", f"{word} {trial.problem}"),),
            Sampling(max_tokens=max_tokens),
        )

    def follow_up(trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        if len(responses) > 1:
            return None
        return Prompt(
            (Message("user", f"and {trial.problem}, after {responses[0].text}"),),
            Sampling(),
        )

    return Trials(
        [Trial(str(n), {}) for n in range(count)],
        render,
        {"strict": lambda _, response: Score(Outcome.CORRECT, 1.0, response.text)},
        follow_up=follow_up,
    )


@pytest.fixture
def answered(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A registry whose server is gone, a store with answers to 20 trials, and their archive."""
    registry, store, archive = (
        tmp_path / "models.yaml",
        tmp_path / "s.sqlite",
        tmp_path / "a.jsonl.gz",
    )
    with OpenAIServer() as server:
        row = {
            "engine": "openai",
            "revision": "r1",
            "settings": {"base_url": server.base_url, "key_env": "", "retries": 0},
        }
        registry.write_text(json.dumps({"served": row}))
        run(trials(20), ["served"], store=store, registry=registry)
    entry = load_registry(registry)["served"]
    with Store(store) as opened:
        found = list(stored_requests(trials(20), [entry], opened))
    assert write_archive(archive, found) == 40
    assert write_archive(tmp_path / "b.jsonl.gz", reversed(found)) == 40
    assert archive.read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    return registry, store, archive


def test_an_archive_rebuilds_a_run_without_a_model(
    answered: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    registry, store, archive = answered
    first = run(trials(20), ["served"], store=store, registry=registry)
    assert import_archive(
        archive, tmp_path / "imported.sqlite", load_registry(registry)
    ) == (
        40,
        40,
    )
    assert import_archive(
        archive, tmp_path / "imported.sqlite", load_registry(registry)
    ) == (40, 0)
    imported = run(
        trials(20), ["served"], store=tmp_path / "imported.sqlite", registry=registry
    )
    assert imported.asked == 0
    assert imported.answers.equals(first.answers)


def test_answers_that_come_with_a_model_are_not_asked_for(
    answered: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """The registry's `archive` stands beside it; its server need not be there."""
    registry, store, archive = answered
    first = run(trials(20), ["served"], store=store, registry=registry)
    rows = json.loads(registry.read_text())
    registry.write_text(
        json.dumps({"served": {**rows["served"], "archive": archive.name}})
    )
    known = run(
        trials(20), ["served"], store=tmp_path / "empty.sqlite", registry=registry
    )
    assert known.asked == 0
    assert known.answers.equals(first.answers)
    registry.write_text(
        json.dumps({"served": {**rows["served"], "archive": "gone.jsonl.gz"}})
    )
    with refused(ArchiveError, "gone.jsonl.gz"):
        run(trials(20), ["served"], store=tmp_path / "other.sqlite", registry=registry)


@pytest.mark.parametrize("changed", [{"max_tokens": 60}, {"word": "Question"}])
def test_what_an_archive_lacks_stops_a_run_that_may_ask_nothing(
    answered: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, Any],
) -> None:
    registry, _, archive = answered
    store = tmp_path / "theirs.sqlite"
    import_archive(archive, store, load_registry(registry))
    monkeypatch.setenv("MAX_REQUESTS", "0")
    assert run(trials(20), ["served"], store=store, registry=registry).asked == 0
    with refused(BudgetReached, "served", "MAX_REQUESTS", "0 of 20"):
        run(trials(20, **changed), ["served"], store=store, registry=registry)


def lines(archive: Path) -> list[str]:
    return gzip.decompress(archive.read_bytes()).decode().splitlines()


def test_what_is_no_archive_is_refused_and_imports_nothing(
    answered: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, _, archive = answered
    good = lines(archive)
    row = json.loads(good[5])
    bad: dict[tuple[object, ...], list[str]] = {
        (): ['{"codestress archive": 3, "responses": 0}'],
        ("line 6", "key"): [
            *good[:5],
            json.dumps({**row, "asked": {**row["asked"], "sample": 9}}),
            *good[6:],
        ],
        ("line 7", "order"): [*good[:6], good[5], *good[6:]],
        (39, 40): good[:-1],
        ("line 6", "finish_reason"): [
            *good[:5],
            json.dumps({**row, "finish_reason": "tired"}),
            *good[6:],
        ],
        ("line 6", "text"): [*good[:5], json.dumps({**row, "text": 4}), *good[6:]],
        ("line 6",): [*good[:5], "{", *good[6:]],
    }
    for named, content in bad.items():
        path = tmp_path / "bad.gz"
        path.write_bytes(gzip.compress("\n".join(content).encode()))
        with refused(ArchiveError, path, *named):
            import_archive(path, tmp_path / "empty.sqlite", {})
    whole = archive.read_bytes()
    for name, content, *named in (
        ("cut.gz", whole[:-50], "line"),
        ("cut.jsonl", gzip.decompress(whole)[:-50], "line 41"),
        ("head.gz", whole[:5]),
        ("empty.gz", b"", "line 1"),
        ("nothing.gz", gzip.compress(b""), "line 1"),
        ("text.gz", b"hello", "line 1"),
        ("other.xz", lzma.compress(whole), "xz"),
        ("other.zip", b"PK\3\4" + whole, "zip"),
        ("absent.gz", None),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with refused(ArchiveError, tmp_path / name, *named):
            import_archive(tmp_path / name, tmp_path / "empty.sqlite", {})
    assert not (tmp_path / "empty.sqlite").exists()


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl", "a.json.txt"])
@pytest.mark.parametrize("packed", [0, 1])
def test_an_archive_is_read_by_content_not_by_name(
    name: str,
    packed: int,
    answered: tuple[Path, Path, Path],
    tmp_path: Path,
) -> None:
    """Browsers unpack what they download and keep its name; each reader takes it as it is."""
    registry, _, archive = answered
    content = gzip.decompress(archive.read_bytes())
    for _ in range(packed):
        content = gzip.compress(content)
    (tmp_path / "brought").mkdir()
    brought = tmp_path / "brought" / name
    brought.write_bytes(content)
    models = load_registry(registry)
    assert import_archive(brought, tmp_path / "imported.sqlite", models) == (40, 40)
    verified = CliRunner().invoke(cli.cli, ["archive", "verify", str(brought)])
    names(verified.output, "served", "40")
    row = json.loads(registry.read_text())["served"]
    registry.write_text(json.dumps({"served": row | {"archive": f"brought/{name}"}}))
    known = run(
        trials(20), ["served"], store=tmp_path / "known.sqlite", registry=registry
    )
    assert known.asked == 0


def moved(registry: Path, base_url: str, revision: str) -> Path:
    """The same registry, whose row asks another server."""
    row = json.loads(registry.read_text())["served"]
    settings = row["settings"] | {"base_url": base_url, "base_url_env": "SERVED_URL"}
    other = registry.with_name("moved.yaml")
    other.write_text(
        json.dumps({"served": row | {"revision": revision, "settings": settings}})
    )
    return other


def without_revision(answered: tuple[Path, Path, Path], folder: Path) -> Path:
    """The archive of the same answers by a row that names no revision, as `run` would have made it."""
    rows = [json.loads(line) for line in lines(answered[2])][1:]
    for row in rows:
        row["asked"]["revision"] = ""
        row["key"] = key_of(row["asked"])
    archive = folder / "none.jsonl.gz"
    packed = [
        {"codestress archive": 2, "responses": len(rows)},
        *sorted(rows, key=lambda row: str(row["key"])),
    ]
    archive.write_bytes(gzip.compress("\n".join(map(json.dumps, packed)).encode()))
    return archive


@pytest.mark.parametrize(
    ("address", "revision", "by", "counts"),
    [
        (
            "http://localhost:1/v1",
            "r1",
            "",
            True,
        ),  # another port of this machine, and a revision
        ("http://localhost:1/v1", "", "", False),
        ("http://other.example/v1", "r1", "", False),
        ("http://other.example/v1", "r1", "SERVED_URL", True),
        ("http://other.example/v1", "", "SERVED_URL", False),
    ],
)
def test_an_archives_answers_belong_to_their_server(
    answered: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    revision: str,
    by: str,
    counts: bool,
) -> None:
    """By import, and by a row that names it alike; what the store has of another server stays as it is."""
    archive = answered[2] if revision else without_revision(answered, tmp_path)
    assert {row.server for row in read_archive(archive)} == {
        server_of(load_registry(answered[0])["served"])
    }
    if by:
        monkeypatch.setenv(by, address)
        address = json.loads(answered[0].read_text())["served"]["settings"]["base_url"]
    registry = moved(answered[0], address, revision)

    def judged() -> AbstractContextManager[None]:
        return (
            nullcontext() if counts else refused(EngineError, archive.name, "revision")
        )

    with judged():
        assert import_archive(
            archive, tmp_path / "imported.sqlite", load_registry(registry)
        ) == (
            40,
            40,
        )
        with Store(tmp_path / "imported.sqlite") as store:
            assert {
                response.server
                for response in store.get(
                    row.key for row in read_archive(archive)
                ).values()
            } == {row.server for row in read_archive(archive)}
    assert counts or not (tmp_path / "imported.sqlite").exists()
    row = json.loads(registry.read_text())["served"]
    registry.write_text(json.dumps({"served": row | {"archive": archive.name}}))
    with judged():
        assert (
            run(
                trials(20),
                ["served"],
                store=tmp_path / "known.sqlite",
                registry=registry,
            ).asked
            == 0
        )


def test_an_import_finds_the_same_questions_answered_elsewhere(
    answered: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    registry, _, archive = answered
    rows = list(read_archive(archive))
    with Store(tmp_path / "t.sqlite") as store:
        store.put(
            rows[7].key,
            "served",
            Response("other", "stop", server="https://other.example:443/v1"),
        )
    with refused(
        EngineError, "served", "https://other.example:443/v1", "CODESTRESS_STORE"
    ):
        import_archive(archive, tmp_path / "t.sqlite", load_registry(registry))
    with Store(tmp_path / "t.sqlite") as store:
        assert store.count() == 1


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
    [entry] = [model for model in load_registry().values() if model.name == "sim-near"]
    request = Request(
        "m",
        "r",
        Prompt((Message("user", content),), Sampling(stop=("\n",)), prefill),
        3,
        1,
    )
    response = Response(
        text,
        "length",
        Usage(tokens, 1, None, 0),
        1.5,
        "m fp",
        "2026-01-01T00:00:00+00:00",
        "s",
    )
    write_archive(tmp_path / "one.gz", [(entry, request, response)])
    [row] = read_archive(tmp_path / "one.gz")
    assert (row.key, row.response) == (request.key, response)
