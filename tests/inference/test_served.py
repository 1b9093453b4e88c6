"""Servers that a URL names: their addresses, their lists of models, and the rows made for their models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError, ParameterError
from codestress.inference import registry, served
from codestress.inference.registry import load_registry
from codestress.inference.served import (
    LONGEST_NAME,
    checked,
    function_in,
    models_of,
    name_of,
    served_at,
)
from conftest import ROOT
from openai_server import MODEL, OpenAIServer, Reply, as_json, completion, failure
from told import names, refused


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "STORE", tmp_path / "store.sqlite")
    for module in (served, registry):
        monkeypatch.setattr(module, "SERVED", tmp_path / "models.yaml")


def listing(*rows: Any) -> Reply:
    return as_json({"data": rows})


class Below(OpenAIServer):
    """A server that answers below the path `base` alone, or below every path."""

    base: str | None = "/v1"

    def reply(self, method: str, path: str, *request: Any) -> Reply:
        endpoint = "/models" if path.endswith("/models") else "/chat/completions"
        base = path.removesuffix(endpoint)
        if self.base not in (None, base):
            return failure(404, "no such path")
        return super().reply(method, f"/v1{endpoint}", *request)

    @property
    def root(self) -> str:
        return self.base_url.removesuffix("/v1")


# Addresses


def test_a_text_that_is_no_address_is_refused_without_its_secrets() -> None:
    for url in ("ftp://localhost", "http://localhost:port/v1", "://x"):
        with refused(ParameterError, "URL", "http://localhost:8000/v1"):
            served_at(url, "", "")
    for place in ("me:sk-marker@localhost/v1", "localhost/v1?key=sk-marker"):
        with pytest.raises(ParameterError) as caught:
            served_at(f"http://{place}", "", "")
        names(caught.value, "KEY_ENV")
        assert "sk-marker" not in str(caught.value)
    with refused(EngineError, "NO_SUCH_KEY", "export"):
        served_at("http://127.0.0.1:9/v1", "", "NO_SUCH_KEY")


@pytest.mark.parametrize(
    "pasted",
    ["{}/v1/chat/completions", ' "{}/v1/models?limit=5"', "<{}/>", "{}/v1#x"],
)
def test_a_pasted_address_is_cut_and_reported(
    pasted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Below() as server:
        row = served_at(pasted.format(server.root), "", "")
        assert row.settings["base_url"] == server.base_url
        names(capsys.readouterr().err, server.base_url)
        served_at(server.base_url, "", "")
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("typed", "base"), [("", ""), ("", "/v1"), ("/api", "/api/v1"), ("/v2", "/v2")]
)
def test_a_missing_version_is_tried(typed: str, base: str) -> None:
    with Below() as server:
        server.base = base
        for model in ("", MODEL):
            row = served_at(server.root + typed, model, "")
            assert row.settings["base_url"] == server.root + base


# Lists of models


def test_the_model_is_the_only_one_of_the_list_or_the_one_that_is_named() -> None:
    with OpenAIServer() as server:
        server.listing = listing({"id": "a"}, {"id": "b", "max_model_len": 4096})
        with refused(ParameterError, server.base_url, "ID=a", "ID=b"):
            served_at(server.base_url, "", "")
        assert served_at(server.base_url, "b", "").context == 4096
        with refused(ParameterError, server.base_url, "'c'"):
            served_at(server.base_url, "c", "")
        server.listing = listing({"id": "\ud800"}, None, {"id": "a"})
        assert served_at(server.base_url, "", "").id == "a"
        server.listing = as_json([{"id": MODEL}])
        assert served_at(server.base_url, "", "").id == MODEL
        for nonsense in (3, {"data": 3}, {"data": [{}]}):
            server.listing = as_json(nonsense)
            with refused(EngineError, f"{server.base_url}/models"):
                models_of(server.base_url, "", 5)
    with refused(EngineError, server.base_url):
        served_at(server.base_url, "", "")


@pytest.mark.parametrize(
    "reply",
    [
        failure(404, "no"),
        failure(500, "no"),
        as_json({"data": None}),
        listing(),
        as_json([]),
        Reply(b"<html>hello</html>", content_type="text/html"),
    ],
)
def test_a_model_that_is_named_needs_no_list(reply: Reply) -> None:
    with OpenAIServer() as server:
        server.listing = reply
        with pytest.raises((EngineError, ParameterError), match=server.base_url):
            served_at(server.base_url, "", "")
        assert name_of(server.base_url, MODEL, "", ask=True).startswith(MODEL)
    assert {received.body["model"] for received in server.requests} == {MODEL}


def test_a_list_that_needs_a_key_says_so() -> None:
    with OpenAIServer() as server:
        server.listing = failure(401, "no key")
        with refused(EngineError, "401", "KEY_ENV"):
            served_at(server.base_url, MODEL, "")


def test_a_server_that_loads_its_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Loading(OpenAIServer):
        looks = 0

        def reply(self, *request: Any) -> Reply:
            self.looks += 1
            loading = failure(503, "Loading model")
            return loading if self.looks < 3 else super().reply(*request)

    with Loading() as server:
        assert served_at(server.base_url, "", "").id == MODEL
    assert capsys.readouterr().err.count("Loading model") == 1


@pytest.mark.parametrize(
    ("status", "location", "address"),
    [
        (301, "https://there.example/v1/models", "https://there.example/v1"),
        (303, "/login?next=/v1/models", "/login"),
        (308, "//other.example/v1/models/", "http://other.example/v1"),
    ],
)
def test_a_redirect_of_the_list_is_named(
    status: int, location: str, address: str
) -> None:
    with OpenAIServer() as server:
        server.listing = Reply(b"", status=status, headers={"Location": location})
        for model in ("", MODEL):
            with refused(EngineError, status, address):
                served_at(server.base_url, model, "")


# Rows


def test_models_of_different_servers_have_different_rows() -> None:
    """Also behind one host and port, and where names are cut or lose characters."""
    long = "x" * LONGEST_NAME
    models = ("a/b", "a-b", "a b", "sim-x", "ä", "A-b", f"{long}/1", f"{long}/2")
    paths = ["v1", "a/v1", "a", "a-b/v1", "a/b/v1", "a;b/v1", "A/v1", "v1/v1", "a//v1"]
    with Below() as server:
        server.base = None
        server.listing = listing(*({"id": name} for name in (MODEL, *models)))
        rows = [served_at(f"{server.root}/{path}", MODEL, "") for path in paths]
        rows += [served_at(server.base_url, name, "") for name in models]
        for url in (f"{server.root}/v1/", server.root, f"HTTP{server.base_url[4:]}"):
            twin = served_at(url, MODEL, "")
            assert (twin.name, twin.identity) == (rows[0].name, rows[0].identity)
    assert rows[0].name == f"{MODEL}@127.0.0.1-{server.port}"
    assert len({row.name for row in rows}) == len(rows)
    assert len({(row.id, row.revision) for row in rows}) == len(rows)
    for row in rows:
        assert len(row.name) <= LONGEST_NAME
        assert not re.search("^sim-|/", row.name)


@pytest.mark.parametrize("name", ["通义千问-7b", "मॉडल/7b", "模" * 90, "😀"])
def test_the_name_of_a_model_in_any_script_makes_a_row(name: str) -> None:
    with OpenAIServer() as server:
        server.listing = listing({"id": name})
        row_name = name_of(server.base_url, "", "", ask=True)
        row = load_registry(served.SERVED)[row_name]
    assert row.id == name == server.requests[0].body["model"]
    assert len(row.name.encode()) < 256


def test_functions_in_different_files_have_different_rows() -> None:
    rows = [function_in(f"{ROOT / path}:f") for path in ("m.py", "a/m.py", "b/m.py")]
    assert rows[0].name == "f@m"
    assert len({row.name for row in rows}) == 3
    paths = {"../m.py": Path.cwd().parent / "m.py", "~/m.py": Path.home() / "m.py"}
    for typed, path in paths.items():
        assert function_in(f"{typed}:f").settings == {"function": f"{path}:f"}
    for typed in ("m.py:f()", "m.py:my-f", "m.py:"):
        with refused(ParameterError, typed, "FILE.py:FUNCTION"):
            function_in(typed)


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("localhost:8000/v1", ["http://localhost:8000/v1"]),
        ("[::1]:8000/v1", ["http://localhost:8000/v1"]),
        ("sim-nea", ["sim-nea", "sim-near"]),
        ("sim-near:8b", ["sim-near:8b", "sim-near"]),
    ],
)
def test_a_name_without_a_row_is_refused_before_anything_runs(
    model: str, parts: list[str]
) -> None:
    assert name_of("sim-near", "", "", ask=True) == "sim-near"
    with refused(ParameterError, *parts):
        name_of(model, "", "", ask=True)


def test_a_name_that_another_model_has_is_refused_before_anything_runs() -> None:
    with OpenAIServer() as server:
        name = name_of(server.base_url, "", "", ask=False)
        rows = served.SERVED.read_text()
        served.SERVED.write_text(rows.replace(f"id: {MODEL}", "id: x"))
        with refused(ParameterError, name, f"x at {server.base_url}"):
            name_of(server.base_url, "", "", ask=True)
    assert server.requests == []


def test_a_server_is_asked_its_first_question_once_for_each_revision() -> None:
    with OpenAIServer(lambda _: completion("1, 2, 3")) as server:
        for _ in range(3):
            name = name_of(server.base_url, "", "", ask=True)
        assert len(server.requests) == 1
        rows = served.SERVED.read_text()
        entry = load_registry(served.SERVED)[name]
        # A row of another revision knows nothing of this server.
        served.SERVED.write_text(rows.replace("revision: at", "revision: formerly at"))
        name_of(server.base_url, "", "", ask=True)
        assert served.SERVED.read_text() == rows
        checked(entry.model_copy(update={"revision": "another"}))
        assert len(server.requests) == 2
