"""What a server says that it serves, and how a URL names one of its models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError, ParameterError
from codestress.inference import probe, registry
from codestress.inference.probe import checked
from codestress.inference.registry import load_registry
from codestress.inference.served import (
    LONGEST_NAME,
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
    monkeypatch.setattr(probe, "STORE", tmp_path / "store.sqlite")
    for module in (probe, registry):
        monkeypatch.setattr(module, "SERVED", tmp_path / "models.yaml")


class Several(OpenAIServer):
    models: object = {"data": [{"id": "a"}, {"id": "b", "max_model_len": 4096}]}

    def reply(
        self, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> Reply:
        if path == "/v1/models":
            return as_json(self.models)
        return super().reply(method, path, headers, content)


def test_which_model_of_a_server() -> None:
    with Several(lambda _: completion("no")) as server:
        with refused(ParameterError, server.base_url, "ID=a", "ID=b"):
            served_at(server.base_url, "", "")
        assert served_at(server.base_url.removesuffix("/v1"), "b", "").context == 4096
        with refused(ParameterError, server.base_url, "'c'"):
            served_at(server.base_url, "c", "")
        for nonsense in (3, {}, {"data": 3}, {"data": [{}]}, "x"):
            server.models = nonsense
            with refused(EngineError, f"{server.base_url}/models"):
                models_of(server.base_url, "", 5)
    with refused(EngineError, server.base_url):
        served_at(server.base_url, "", "")
    for url in ("ftp://localhost", "http://", "http://localhost:port/v1", "://x"):
        with refused(ParameterError, "URL", "http://localhost:8000/v1"):
            served_at(url, "", "")
    for url in (
        "http://me:sk-marker@localhost/v1",
        "http://localhost/v1?key=sk-marker",
    ):
        with pytest.raises(ParameterError) as raised:
            served_at(url, "", "")
        assert "KEY_ENV" in str(raised.value)
        assert "sk-marker" not in str(raised.value)
    with refused(EngineError, "NO_SUCH_KEY", "export"):
        served_at(server.base_url, "", "NO_SUCH_KEY")


class Gateway(OpenAIServer):
    """A server behind whose paths other servers answer, each with the same models."""

    ids: tuple[str, ...] = (MODEL,)

    def reply(
        self, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> Reply:
        route = "/v1/" + path.rpartition("/")[2]
        if route == "/v1/models":
            return as_json({"data": [{"id": name} for name in self.ids]})
        return super().reply(method, route, headers, content)


def test_models_of_other_servers_have_other_names() -> None:
    """Names differ also behind one host and port, and where they are cut or lose characters."""
    long = "x" * LONGEST_NAME
    with Gateway() as server:
        server.ids = (MODEL, "a/b", "a-b", "a b", "sim-x", "ä", "A-b")
        server.ids += (f"{long}/1", f"{long}/2")
        root = server.base_url.removesuffix("/v1")
        paths = ["v1", "a/v1", "b/v1", "a", "a-b/v1", "a/b/v1", "a;b/v1", "a=b/v1"]
        paths += ["A/v1", "v1/v1", "a%3Fkey=1/v1", "%C3%A4/v1", "a//v1"]
        paths += [f"{long}/1/v1", f"{long}/2/v1"]
        rows = [served_at(f"{root}/{path}", MODEL, "") for path in paths]
        rows += [served_at(server.base_url, name, "") for name in server.ids[1:]]
        same = [("v1", "v1/"), ("v1", ""), ("v1", "v1//"), ("v1", "v1?"), ("a", "a/")]
        shouted = served_at(server.base_url.replace("http", "HTTP"), MODEL, "")
        twins = [(rows[0], shouted)]
        for pair in same:
            one, other = (served_at(f"{root}/{path}", MODEL, "") for path in pair)
            twins.append((one, other))
    for one, other in twins:
        assert (one.name, one.identity) == (other.name, other.identity)
    assert rows[0].name == f"{MODEL}@127.0.0.1-{server.port}"
    assert rows[1].name.startswith(f"{MODEL}@127.0.0.1-{server.port}-a-")
    for facts in ({row.name for row in rows}, {(row.id, row.revision) for row in rows}):
        assert len(facts) == len(rows)
    assert not [row.name for row in rows if len(row.name) > LONGEST_NAME]
    assert not [row.name for row in rows if re.search("^sim-|/", row.name)]


def test_a_name_is_plain_where_it_tells_a_model_from_all_others() -> None:
    assert row_name("m@h-8000", "m at http://h:8000/v1", usual=True) == "m@h-8000"
    names = {row_name("m@h-8000", scheme, usual=False) for scheme in ("http", "https")}
    assert len(names) == 2
    assert "m@h-8000" not in names
    functions = [
        function_in(f"{ROOT / path}:f") for path in ("m.py", "a/m.py", "b/m.py")
    ]
    assert functions[0].name == "f@m"
    assert len({row.name for row in functions}) == 3
    relative = function_in("../m.py:f")
    assert relative.settings == {"function": f"{Path.cwd().parent / 'm.py'}:f"}
    assert function_in("~/m.py:f").settings == {"function": f"{Path.home() / 'm.py'}:f"}
    for typed in ("m.py:f()", "m.py:my-f", "m.py:2nd", "m.py:"):
        with refused(ParameterError, typed, "FILE.py:FUNCTION"):
            function_in(typed)


WRITE: list[dict[str, Any]] = [
    {"id": "plain"},
    {"id": "qwen2.5-coder:7b", "object": "model", "owned_by": "library"},
    {"id": "typed", "type": "llm"},
    {"id": "seeing", "type": "vlm"},
    {"id": "talks", "type": "chat"},
    {"id": "an-embedding-by-name-alone", "capabilities": ["completion", "tools"]},
    {"id": "allowed", "capabilities": {"completion_chat": True, "embeddings": False}},
    {
        "id": "routed",
        "architecture": {"modality": "text+image->text", "input_modalities": ["text"]},
    },
    {"id": "tagged", "pipeline_tag": "image-text-to-text"},
    {"id": "able", "model_type": "LLM", "model_ability": ["generate"]},
    {"id": "vanguards", "task": "chat-completion"},
    {
        "id": "tasked",
        "task": {"name": "Text Generation", "description": "embedded or not"},
    },
    {"id": "draws-too", "supported_output_modalities": ["image", "text"]},
    {
        "id": "odd",
        "type": 3,
        "architecture": "llama",
        "capabilities": None,
        "labels": {"x": "y"},
    },
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
    with Several() as server:
        server.models = {"data": [*WRITE_NOT, row]}
        assert served_at(server.base_url, "", "").id == row["id"]
        offers = models_of(server.base_url, "", 5).items()
        assert [name for name, offer in offers if offer.writes] == [row["id"]]
        # Who names another model gets it: a list may be wrong.
        assert served_at(server.base_url, "bge-m3", "").id == "bge-m3"
        server.models = {"data": WRITE_NOT}
        with refused(ParameterError, server.base_url, len(WRITE_NOT)):
            served_at(server.base_url, "", "")


def test_a_name_without_a_row_is_told_before_anything_runs() -> None:
    assert probe.name_of("sim-near", "", "", ask=True) == "sim-near"
    for name, *told in (
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("127.0.0.1:8000", "http://localhost:8000/v1"),
        ("[::1]:8000/v1", "http://localhost:8000/v1"),
        ("sim-nea", "sim-nea", "sim-near"),
        ("sim-near:8b", "sim-near:8b", "sim-near"),
    ):
        with refused(ParameterError, *told):
            probe.name_of(name, "", "", ask=True)


@pytest.mark.parametrize("prefill", ["continued", "ignored", "refused"])
def test_what_a_probe_asked_is_not_asked_again_unless_the_revision_changes(
    prefill: Any,
) -> None:
    posts = list[str]()

    class Counting(OpenAIServer):
        def reply(
            self, method: str, path: str, headers: dict[str, str], content: bytes
        ) -> Reply:
            if method == "POST":
                posts.append(path)
            return super().reply(method, path, headers, content)

    def started() -> int:
        """Number of requests that the start of a build sends."""
        before = len(posts)
        assert probe.name_of(server.base_url, "", "", ask=True) == name
        return len(posts) - before

    with Counting(lambda _: completion("1, 2, 3"), prefill=prefill) as server:
        name = served_at(server.base_url, "", "").name
        first = started()
        assert first >= 2  # how it counts a begun answer, and the answer
        assert started() == started() == 0
        rows = probe.SERVED.read_text()
        entry = load_registry(probe.SERVED)[name]
        assert entry.settings["prefill"] == (
            "vllm" if prefill == "continued" else "none"
        )
        # A row of another revision knows nothing of this server.
        probe.SERVED.write_text(rows.replace("revision: at", "revision: formerly at"))
        assert started() == (0 if prefill == "continued" else first - 1)
        assert probe.SERVED.read_text() == rows
        before = len(posts)
        checked(entry.model_copy(update={"revision": "another"}))
        assert len(posts) - before == (first if prefill == "continued" else 1)
