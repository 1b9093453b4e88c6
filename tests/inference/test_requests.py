"""Requests: the order in which they are sent, and the server to which answers belong."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from numbered import questions
from stored import key, put

from codestress.errors import EngineError
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import (
    BLOCK,
    belongs,
    chain,
    request_for,
    server_of,
)
from codestress.inference.store import Store
from codestress.types import Response
from openai_server import OpenAIServer, completion
from served import Served, in_two_steps, prompt, settings_of, trials_of
from told import refused

PATHS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=40
)
"""Paths in a tree of prefixes: for each prompt, the content of its blocks."""


def chain_of(path: list[int]) -> bytes:
    return chain(prompt("".join(str(number) * BLOCK for number in path)))


def prefixes(hashes: bytes) -> set[bytes]:
    return {hashes[:end] for end in range(4, len(hashes) + 1, 4)}


@settings(deadline=None)
@given(PATHS)
def test_each_shared_prefix_is_computed_once(paths: list[list[int]]) -> None:
    """In the sorted order, a cache of the last prompt alone saves all that can be saved."""
    chains = sorted(map(chain_of, paths))
    blocks = sum(len(hashes) // 4 for hashes in chains)
    shared = [prefixes(last) & prefixes(hashes) for last, hashes in pairwise(chains)]
    distinct = set[bytes]().union(*map(prefixes, chains))
    assert sum(map(len, shared)) == blocks - len(distinct)


def test_prompts_with_the_same_beginning_follow_each_other(served: Served) -> None:
    """The trials come in another order."""
    beginnings = [f"{context} line {'x' * 200}\n" for context in "abcdef"] * 6
    texts = [f"{text}{number}" for number, text in enumerate(beginnings)]
    with OpenAIServer(lambda _: completion("x")) as server:
        served.rows(server, concurrency=1)
        served.run(trials_of(*map(prompt, texts)))
        contexts = "".join(received.prompt[0] for received in server.requests)
    for context in "abcdef":
        assert context * 6 in contexts


PLAIN, LOCAL = "http://a.example/v1", "http://localhost:8000/v1"


def row_of(
    name: str, address: str, variable: str = "", revision: str = ""
) -> ModelEntry:
    settings = settings_of(address, base_url_env=variable or None)
    facts = {"engine": "openai", "id": "m", "revision": revision}
    return ModelEntry(name=name, settings=settings, **facts)


@pytest.mark.parametrize(
    ("before", "now", "name", "revision", "belong"),
    [
        (PLAIN, "http://A.example:80/v1/", "other", "", True),
        (PLAIN, "http://b.example/v1", "row", "7", False),
        (PLAIN, "https://a.example/v1", "row", "7", False),
        (PLAIN, "http://a.example/v2", "row", "7", False),
        (LOCAL, "http://127.0.0.1:8000/v1", "other", "", True),
        (LOCAL, "http://127.0.0.1:9000/v1", "row", "7", True),
        (LOCAL, "http://127.0.0.1:9000/v1", "row", "", False),
        (LOCAL, "http://127.0.0.1:9000/v1", "other", "7", False),
        (LOCAL, "http://localhost:8000/b/v1", "row", "7", False),
    ],
)
def test_answers_belong_to_their_server(
    before: str, now: str, name: str, revision: str, belong: bool, tmp_path: Path
) -> None:
    """A row with a revision keeps its answers when its server moves on this machine."""
    row = row_of(name, now, revision=revision)
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 1, name="row", server=server_of(row_of("row", before)))
        put(store, 2, name="row")  # of an unknown server
        assert len(store.get([key(2)], belongs(row))) == 1
        elsewhere = refused(EngineError, "row", name, "revision")
        with nullcontext() if belong else elsewhere:
            assert len(store.get([key(1)], belongs(row))) == 1


@pytest.mark.parametrize(("revision", "belong"), [("7", True), ("", False)])
def test_a_row_with_a_revision_may_move_by_its_environment_variable(
    revision: str, belong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = server_of(row_of("row", LOCAL))
    monkeypatch.setenv("GPU", "http://gpu.example/v1")
    row = row_of("row", LOCAL, "GPU", revision)
    with nullcontext() if belong else refused(EngineError, "row", "revision"):
        belongs(row)("row", before)


@pytest.mark.parametrize("host", ["localhost:9", "gateway.invalid:9"])
def test_a_later_answer_of_a_trial_belongs_to_its_server_too(
    host: str, served: Served
) -> None:
    served.rows("http://127.0.0.1:9/v1")
    row = load_registry(served.registry)["served"]
    second = prompt("second")
    with Store(served.store) as store:
        for text, server in (("question 0", "localhost:9"), ("second", host)):
            response = Response("a", "stop", server=f"http://{server}/v1")
            store.put(request_for(row, prompt(text)).key, "m", response)
    trials = in_two_steps(questions(1), lambda *_: second)
    if host == "localhost:9":
        assert served.run(trials).asked == 0
    else:
        with refused(EngineError, "served", host):
            served.run(trials)
