"""What a server says that it serves, and how a URL names one of its models."""

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
    row_name,
    served_at,
)
from conftest import ROOT
from openai_server import MODEL, OpenAIServer, Reply, as_json, completion
from told import refused


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "STORE", tmp_path / "store.sqlite")
    for module in (served, registry):
        monkeypatch.setattr(module, "SERVED", tmp_path / "models.yaml")


def listing(*rows: dict[str, Any]) -> Reply:
    return as_json({"data": rows})


class Gateway(OpenAIServer):
    """A server behind whose paths other servers answer, each with the same models."""

    def reply(self, method: str, path: str, *request: Any) -> Reply:
        return super().reply(method, "/v1/" + path.rpartition("/")[2], *request)


def test_which_model_of_a_server() -> None:
    with OpenAIServer(lambda _: completion("no")) as server:
        server.listing = listing({"id": "a"}, {"id": "b", "max_model_len": 4096})
        with refused(ParameterError, server.base_url, "ID=a", "ID=b"):
            served_at(server.base_url, "", "")
        assert served_at(server.base_url.removesuffix("/v1"), "b", "").context == 4096
        with refused(ParameterError, server.base_url, "'c'"):
            served_at(server.base_url, "c", "")
        half = {"id": "\ud800"}  # of a surrogate pair
        server.listing = as_json({"data": [half, None, {"id": "a"}]})
        assert served_at(server.base_url, "", "").id == "a"
        with refused(ParameterError, r"'\ud800'"):
            served_at(server.base_url, "\ud800", "")
        for nonsense in (3, {}, {"data": 3}, {"data": [{}, half]}, "x"):
            server.listing = as_json(nonsense)
            with refused(EngineError, f"{server.base_url}/models"):
                models_of(server.base_url, "", 5)
    with refused(EngineError, server.base_url):
        served_at(server.base_url, "", "")
    for url in ("ftp://localhost", "http://localhost:port/v1", "://x"):
        with refused(ParameterError, "URL", "http://localhost:8000/v1"):
            served_at(url, "", "")
    for place in ("me:sk-marker@localhost/v1", "localhost/v1?key=sk-marker"):
        with pytest.raises(ParameterError) as raised:
            served_at(f"http://{place}", "", "")
        assert "KEY_ENV" in str(raised.value)
        assert "sk-marker" not in str(raised.value)
    with refused(EngineError, "NO_SUCH_KEY", "export"):
        served_at(server.base_url, "", "NO_SUCH_KEY")


def test_models_of_other_servers_have_other_names() -> None:
    """Names differ also behind one host and port, and where they are cut or lose characters."""
    long = "x" * LONGEST_NAME
    models = (MODEL, "a/b", "a-b", "a b", "sim-x", "ä", "A-b", f"{long}/1", f"{long}/2")
    paths = ["v1", "a/v1", "b/v1", "a", "a-b/v1", "a/b/v1", "a;b/v1", "a=b/v1"]
    paths += ["A/v1", "v1/v1", "a%3Fkey=1/v1", "%C3%A4/v1", "a//v1"]
    paths += [f"{long}/1/v1", f"{long}/2/v1"]
    with Gateway() as server:
        server.listing = listing(*({"id": name} for name in models))
        root = server.base_url.removesuffix("/v1")
        rows = [served_at(f"{root}/{path}", MODEL, "") for path in paths]
        rows += [served_at(server.base_url, name, "") for name in models[1:]]
        twins = {f"{root}/{path}": rows[0] for path in ("v1/", "", "v1//", "v1?")}
        twins |= {f"{root}/a/": rows[3], f"HTTP{root[4:]}/v1": rows[0]}
        for url, row in twins.items():
            twin = served_at(url, MODEL, "")
            assert (twin.name, twin.identity) == (row.name, row.identity)
    assert rows[0].name == f"{MODEL}@127.0.0.1-{server.port}"
    assert rows[1].name.startswith(f"{MODEL}@127.0.0.1-{server.port}-a-")
    for facts in ({row.name for row in rows}, {(row.id, row.revision) for row in rows}):
        assert len(facts) == len(rows)
    assert not [row.name for row in rows if len(row.name) > LONGEST_NAME]
    assert not [row.name for row in rows if re.search("^sim-|/", row.name)]


def test_a_name_is_plain_where_it_tells_a_model_from_all_others() -> None:
    assert row_name("m@h-8000", "m at http://h:8000/v1", usual=True) == "m@h-8000"
    unusual = {
        row_name("m@h-8000", scheme, usual=False) for scheme in ("http", "https")
    }
    assert len({*unusual, "m@h-8000"}) == 3
    rows = [function_in(f"{ROOT / path}:f") for path in ("m.py", "a/m.py", "b/m.py")]
    assert rows[0].name == "f@m"
    assert len({row.name for row in rows}) == 3
    places = {"../m.py": Path.cwd().parent / "m.py", "~/m.py": Path.home() / "m.py"}
    for typed, path in places.items():
        assert function_in(f"{typed}:f").settings == {"function": f"{path}:f"}
    for typed in ("m.py:f()", "m.py:my-f", "m.py:2nd", "m.py:"):
        with refused(ParameterError, typed, "FILE.py:FUNCTION"):
            function_in(typed)


WRITE: list[dict[str, Any]] = [
    {"id": "plain"},
    {"id": "typed", "type": "llm"},
    {"id": "seeing", "type": "vlm"},
    {"id": "talks", "type": "chat"},
    {"id": "an-embedding-by-name-alone", "capabilities": ["completion", "tools"]},
    {"id": "allowed", "capabilities": {"completion_chat": True, "embeddings": False}},
    {"id": "routed", "architecture": {"modality": "text+image->text"}},
    {"id": "tagged", "pipeline_tag": "image-text-to-text"},
    {"id": "able", "model_type": "LLM", "model_ability": ["generate"]},
    {"id": "vanguards", "task": "chat-completion"},
    {"id": "tasked", "task": {"name": "Text Generation", "description": "embedded"}},
    {"id": "draws-too", "supported_output_modalities": ["image", "text"]},
    {"id": "odd", "type": 3, "capabilities": None, "labels": {"x": "y"}},
]
"""Entries of servers' lists for models that write text: by the fields of several servers, and by
name."""
NAMED_OTHERS = [
    *("nomic-embed-text:latest", "text-embedding-3-small", "mxbai-embed-large"),
    *("bge-m3", "all-minilm", "intfloat/multilingual-e5-large", "gte-large"),
    *("bge-reranker-v2-m3", "whisper-1", "tts-1-hd", "gpt-4o-transcribe"),
    *("omni-moderation-latest", "dall-e-3", "gpt-image-1", "stable-diffusion-xl"),
    *("FLUX.1-dev", "llama-guard3", "clip-vit-b32", "siglip-so400m", "xtts-v2"),
    *("voyage-3-large", "sentence-t5-xl", "gtr-t5-base", "wan2.1-t2v"),
]
WRITE_NOT: list[dict[str, Any]] = [
    {"id": "a", "type": "embeddings"},
    {"id": "b", "type": "rerank"},
    {"id": "c", "model_type": "embedding"},
    {"id": "d", "task": "automatic-speech-recognition"},
    {"id": "e", "mode": "audio_transcription"},
    {"id": "f", "capabilities": ["embed"]},
    {"id": "g", "capabilities": {"completion_chat": False, "moderation": True}},
    {
        "id": "h",
        "architecture": {"modality": "text->image", "output_modalities": ["image"]},
    },
    {"id": "i", "pipeline_tag": "feature-extraction"},
    {"id": "j", "endpoints": ["embed", "classify"]},
    {"id": "k", "labels": ["reranking"]},
    {"id": "l", "task": {"name": "Text Embeddings", "id": "0137cdcf"}},
    {"id": "m", "supported_output_modalities": ["embeddings"]},
    {"id": "n", "supportedGenerationMethods": ["embedContent"]},
    {"id": "o", "model_info": {"mode": "embedding"}},
    {"id": "p", "supported_endpoint_types": ["image-generation"]},
    {"id": "q", "task": "fill-mask"},
    *({"id": name} for name in NAMED_OTHERS),
]
"""Entries for models that do something else."""


@pytest.mark.parametrize("row", WRITE, ids=lambda row: row["id"])
def test_a_model_that_writes_is_found_beside_others(row: dict[str, Any]) -> None:
    with OpenAIServer() as server:
        server.listing = listing(*WRITE_NOT, row)
        assert served_at(server.base_url, "", "").id == row["id"]
        offers = models_of(server.base_url, "", 5).items()
        assert [name for name, offer in offers if offer.writes] == [row["id"]]
        # Who names another model gets it: a list may be wrong.
        assert served_at(server.base_url, "bge-m3", "").id == "bge-m3"
        server.listing = listing(*WRITE_NOT)
        with refused(ParameterError, server.base_url, len(WRITE_NOT)):
            served_at(server.base_url, "", "")


def test_a_name_without_a_row_or_with_another_s_is_told_before_anything_runs() -> None:
    assert served.name_of("sim-near", "", "", ask=True) == "sim-near"
    for name, *told in (
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("[::1]:8000/v1", "http://localhost:8000/v1"),
        ("sim-nea", "sim-nea", "sim-near"),
        ("sim-near:8b", "sim-near:8b", "sim-near"),
    ):
        with refused(ParameterError, *told):
            served.name_of(name, "", "", ask=True)
    with OpenAIServer() as server:
        name = served.name_of(server.base_url, "", "", ask=False)
        rows = served.SERVED.read_text()
        served.SERVED.write_text(rows.replace(f"id: {MODEL}", "id: x"))
        with refused(ParameterError, name, f"x at {server.base_url}"):
            served.name_of(server.base_url, "", "", ask=True)
    assert server.requests == []


def test_what_a_probe_asked_is_not_asked_again_unless_the_revision_changes() -> None:
    def asks() -> int:
        """Number of requests that the start of a build sends."""
        before = len(server.requests)
        assert served.name_of(server.base_url, "", "", ask=True) == name
        return len(server.requests) - before

    with OpenAIServer(lambda _: completion("1, 2, 3")) as server:
        name = served_at(server.base_url, "", "").name
        assert [asks(), asks(), asks()] == [1, 0, 0]
        rows = served.SERVED.read_text()
        entry = load_registry(served.SERVED)[name]
        # A row of another revision knows nothing of this server.
        served.SERVED.write_text(rows.replace("revision: at", "revision: formerly at"))
        assert asks() == 0
        assert served.SERVED.read_text() == rows
        checked(entry.model_copy(update={"revision": "another"}))
        assert len(server.requests) == 2
