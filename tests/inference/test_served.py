"""Servers as they are: lists of models in other forms or none, redirects, addresses pasted from elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_probe import store  # noqa: F401  (around each test)

from codestress.errors import EngineError, ParameterError
from codestress.inference import served
from codestress.inference.registry import load_registry
from codestress.inference.served import name_of, served_at
from openai_server import MODEL, OpenAIServer, Reply, as_json, failure
from told import names, refused


class Served(OpenAIServer):
    """A server below the paths `bases`."""

    bases: tuple[str, ...] = ("/v1",)

    def reply(self, method: str, path: str, *request: Any) -> Reply:
        for base in self.bases:
            if path in (f"{base}/models", f"{base}/chat/completions"):
                return super().reply(method, f"/v1{path.removeprefix(base)}", *request)
        return failure(404, "no such path")

    @property
    def root(self) -> str:
        return self.base_url.removesuffix("/v1")


NONE = [
    *(failure(status, "no") for status in (404, 405, 500, 501)),
    as_json({"data": None}),
    as_json({"data": [], "object": "list"}),
    as_json([]),
    as_json({"models": []}),
    Reply(b"<html>hello</html>", content_type="text/html"),
]
FORMS = [
    [{"id": MODEL}],
    {"object": "list", "data": [{"id": MODEL}], "models": [{"name": "other"}]},
]


@pytest.mark.parametrize("listing", NONE)
def test_a_model_that_is_named_needs_no_list(listing: Reply) -> None:
    with Served() as server:
        server.listing = listing
        with pytest.raises((EngineError, ParameterError), match=server.base_url):
            served_at(server.base_url, "", "")
        assert name_of(server.base_url, MODEL, "", ask=True).startswith(MODEL)
    assert {request.body["model"] for request in server.requests} == {MODEL}


@pytest.mark.parametrize("form", FORMS, ids=json.dumps)
def test_lists_in_the_forms_of_other_servers(form: Any) -> None:
    with Served() as server:
        server.listing = as_json(form)
        assert served_at(server.base_url, "", "").id == MODEL
        with refused(ParameterError, "'m2'"):
            served_at(server.base_url, "m2", "")


def test_a_list_that_needs_a_key_says_so() -> None:
    with Served() as server:
        server.listing = failure(401, "no key")
        with refused(EngineError, "401", "KEY_ENV"):
            served_at(server.base_url, MODEL, "")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("https://there.example/v1/models", "https://there.example/v1"),
        ("/login?next=/v1/models", "/login"),
        ("//other.example/v1/models/", "http://other.example/v1"),
    ],
)
def test_where_a_redirect_leads_is_said(status: int, to: str, told: str) -> None:
    with Served() as server:
        server.listing = Reply(b"", status=status, headers={"Location": to})
        for model in ("", MODEL):
            with refused(EngineError, status, told):
                served_at(server.base_url, model, "")


def test_a_redirect_of_a_question_names_the_base(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-marker-0123456789")
    to = "https://there.example/v1/chat/completions?key=sk-marker-0123456789"
    moved = Reply(b"", status=307, headers={"Location": to})
    with OpenAIServer(lambda _: moved) as server, pytest.raises(EngineError) as raised:
        name_of(server.base_url, MODEL, "TEST_KEY", ask=True)
    names(raised.value, "307", "https://there.example/v1")
    assert "completions" not in str(raised.value)
    assert "sk-marker" not in str(raised.value)


def test_a_server_that_loads_its_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Loading(Served):
        looks = 0

        def reply(self, *request: Any) -> Reply:
            self.looks += 1
            loading = failure(503, "Loading model")
            return loading if self.looks < 3 else super().reply(*request)

    with Loading() as server:
        assert served_at(server.base_url, "", "").id == MODEL
        assert capsys.readouterr().err.count("Loading model") == 1


PASTED = [
    "/v1/chat/completions",
    "/v1/completions/",
    "/v1/models?limit=5",
    "/",
    "/v1#x",
]


@pytest.mark.parametrize("pasted", PASTED)
@pytest.mark.parametrize("around", ["{}", ' "{}"', "<{}>"])
def test_a_pasted_address_is_cut_and_said(
    pasted: str, around: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Served() as server:
        row = served_at(around.format(server.root + pasted), "", "")
        assert row.settings["base_url"] == server.base_url
        names(capsys.readouterr().err, server.base_url)
        served_at(server.base_url, "", "")
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("typed", "real"),
    [("", ""), ("", "/v1"), ("/api", "/api/v1"), ("/api", "/api"), ("/v2", "/v2")],
)
def test_a_missing_version_is_tried(
    typed: str, real: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Served() as server:
        server.bases = (real,)
        for model in ("", MODEL):
            row = served_at(server.root + typed, model, "")
            assert row.settings["base_url"] == server.root + real
            said = capsys.readouterr().err
            assert (server.root + real in said) == (typed != real)


@pytest.mark.parametrize("name", ["通义千问-7b", "модель", "मॉडल/7b", "模" * 90, "😀"])
def test_a_model_s_name_in_any_script_makes_a_row(name: str) -> None:
    with Served() as server:
        server.listing = as_json({"data": [{"id": name}]})
        called = name_of(server.base_url, "", "", ask=True)
        row = load_registry(served.SERVED)[called]
    assert row.id == name == server.requests[0].body["model"]
    assert len(row.name.encode()) < 256
