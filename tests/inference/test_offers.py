"""Which models of a server's list write text, by the words of many servers."""

from __future__ import annotations

from typing import Any

import pytest

from codestress.errors import ParameterError
from codestress.inference.served import models_of, served_at
from openai_server import OpenAIServer, as_json
from told import refused

WRITE: list[dict[str, Any]] = [
    {"id": "plain"},
    {"id": "typed", "type": "llm"},
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
"""Entries of servers' lists for models that write text."""
OTHER_NAMES = (
    "nomic-embed-text:latest bge-m3 all-minilm multilingual-e5-large gte-large whisper-1 "
    "tts-1-hd gpt-4o-transcribe omni-moderation-latest dall-e-3 gpt-image-1 "
    "stable-diffusion-xl FLUX.1-dev llama-guard3 clip-vit-b32 sentence-t5-xl wan2.1-t2v"
)
OTHERS: list[dict[str, Any]] = [
    {"id": "a", "type": "embeddings"},
    {"id": "b", "type": "rerank"},
    {"id": "d", "task": "automatic-speech-recognition"},
    {"id": "f", "capabilities": ["embed"]},
    {"id": "g", "capabilities": {"completion_chat": False, "moderation": True}},
    {"id": "h", "architecture": {"modality": "text->image"}},
    {"id": "i", "pipeline_tag": "feature-extraction"},
    {"id": "l", "task": {"name": "Text Embeddings", "id": "0137cdcf"}},
    {"id": "n", "supportedGenerationMethods": ["embedContent"]},
    {"id": "o", "model_info": {"mode": "embedding"}},
    {"id": "q", "task": "fill-mask"},
    *({"id": name} for name in OTHER_NAMES.split()),
]
"""Entries for models that do something else."""


@pytest.mark.parametrize("row", WRITE, ids=lambda row: row["id"])
def test_the_model_that_writes_text_is_taken(row: dict[str, Any]) -> None:
    with OpenAIServer() as server:
        server.listing = as_json({"data": [*OTHERS, row]})
        assert served_at(server.base_url, "", "").id == row["id"]
        offers = models_of(server.base_url, "", 5)
        assert [name for name in offers if offers[name].writes] == [row["id"]]


def test_a_model_that_is_named_is_taken_whatever_the_list_says_of_it() -> None:
    with OpenAIServer() as server:
        server.listing = as_json({"data": OTHERS})
        with refused(ParameterError, server.base_url, len(OTHERS)):
            served_at(server.base_url, "", "")
        assert served_at(server.base_url, "bge-m3", "").id == "bge-m3"
