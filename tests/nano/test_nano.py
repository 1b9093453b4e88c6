"""The kit's own transformer: its weights, its forward pass, its engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from chats import Size, chat
from codestress.errors import DataError, EngineError
from codestress.inference.archive import read_archive
from codestress.inference.engines.base import RequestFailed, open_engine
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.nano.configuration import WEIGHTS
from codestress.nano.engine import NanoEngine, prompt_text
from codestress.nano.model import Nano, chosen
from codestress.pipeline.artefacts import resolve
from codestress.types import Message, Prompt, Request, Response, Sampling
from conftest import ROOT, ran
from evaluate import share
from served import prompt
from told import names, refused


@pytest.fixture(scope="module")
def model() -> Nano:
    return Nano()


def asked(number: int = 0, lines: int = 8, **sampling: object) -> Request:
    turn = chat("line_retrieval", Size(lines, 1), "evaluate", 0, number).turns[0]
    settings = Sampling(**{"max_tokens": 40, **sampling})  # type: ignore[arg-type]
    message = Message("user", turn.question)
    return Request("nano", "", Prompt((message,), settings, turn.begun))


def answer(request: Request, entry: ModelEntry | None = None) -> Response:
    async def ask() -> Response:
        engine = open_engine(entry or load_registry()["nano"])
        assert isinstance(engine, NanoEngine)
        try:
            return await engine.answer(request)
        finally:
            await engine.close()

    return asyncio.run(ask())


def test_the_weights_are_those_of_the_manifests_and_small() -> None:
    folders = [WEIGHTS, WEIGHTS.with_name("weights_front")]
    for folder in folders:
        manifest = json.loads((folder / "manifest.json").read_text())
        content = (folder / "model.safetensors").read_bytes()
        assert hashlib.sha256(content).hexdigest() == manifest["sha256"]
        told = {"seed", "steps", "tokens", "hours", "hardware", "log"}
        assert told <= manifest.keys()
    files = [path for folder in folders for path in folder.iterdir()]
    assert sum(path.stat().st_size for path in files) < 12_000_000


@pytest.mark.slow
def test_what_was_read_before_does_not_change_the_logits(model: Nano) -> None:
    """Prompts of all kinds of overlap, with the cache and without; blocks of any size."""
    texts = [prompt_text(asked(number, 20)) for number in range(3)]
    prompts = [model.tokenizer.encode(text).ids for text in texts]
    first, second, _ = prompts
    prompts += [first[:100], first, first[:60] + second[60:], second[:1]]
    fresh = [Nano().logits(tokens) for tokens in prompts]
    for tokens, expected in zip(prompts, fresh, strict=True):
        np.testing.assert_allclose(model.logits(tokens), expected, atol=2e-4)


def test_attention_is_a_distribution(model: Nano) -> None:
    tokens = model.tokenizer.encode(prompt_text(asked(1))).ids
    weights, shape = model.attention(tokens), model.shape
    layers, heads = shape.num_hidden_layers, shape.num_attention_heads
    assert weights.shape == (layers, heads, len(tokens))
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-4)


@pytest.mark.slow
def test_it_retrieves_a_line() -> None:
    """Real answers of a real model: no more is asked of them here than that they are not chance."""
    [row] = share(WEIGHTS, "line_retrieval", Size(8, 1), 40)
    assert row["share"] > 0.3


@pytest.mark.slow
def test_its_archive_has_all_answers_of_the_demo_as_it_gives_them_here() -> None:
    chosen = resolve(["semtrace/nano", "origin/nano"], "demo")
    archive = load_registry()["nano"].archive
    assert archive is not None
    assert archive.stat().st_size < 1_000_000
    rows = {row.key: row for row in read_archive(archive)}
    asked = {}
    for artefact in chosen:
        trials = artefact.trials()
        for entry in artefact.models:
            if entry.engine == "nano":
                sent = [request_of(trials, trial, entry) for trial in trials.items]
                asked |= {request.key: (request, entry) for request in sent}
    assert asked.keys() <= rows.keys()
    for key in sorted(asked)[:4]:
        assert answer(*asked[key]).text == rows[key].text


def test_the_engine_answers_counts_and_stops() -> None:
    first = answer(asked())
    assert first.text == answer(asked()).text
    assert first.finish_reason == "stop"
    tokens = Nano().tokenizer.encode(prompt_text(asked())).ids
    assert first.usage.prompt_tokens == len(tokens)
    assert "nano" in first.answered_by
    cut = answer(asked(max_tokens=2))
    assert cut.finish_reason == "length"
    assert cut.usage.completion_tokens == 2
    stopped = answer(asked(stop=("```",)))
    assert "```" not in stopped.text
    assert stopped.finish_reason == "stop"
    assert answer(asked(temperature=1.5)).text == answer(asked(temperature=1.5)).text


def test_a_prompt_beyond_its_context_is_a_failed_request_that_says_what_to_do() -> None:
    context = load_registry()["nano"].context
    assert context == Nano().shape.max_position_embeddings
    with refused(RequestFailed, "nano", context, "distractors"):
        answer(Request("nano", "", prompt("word " * 6000)))


@pytest.mark.slow
def test_weights_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    """By the model itself and by a row of the registry; the remedy with them."""
    folder = tmp_path / "weights"
    with refused(DataError, folder, "make train-nano"):
        Nano(folder)
    shutil.copytree(WEIGHTS, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))
    weight = "model.embed_tokens.weight"
    with refused(DataError, folder, weight, "config.json", ", 64)"):
        Nano(folder)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        (folder / name).write_text("{}")
        with refused(DataError, folder, name, "make train-nano"):
            Nano(folder)
    settings = {"settings": {"folder": str(folder)}}
    row = load_registry()["nano"].model_copy(update=settings)
    with refused(EngineError, "nano", "settings.folder", folder, "make train-nano"):
        open_engine(row)
    told = ran(sys.executable, ROOT / "bench/nano/measure.py", folder)
    assert told.returncode == 1
    names(told.stderr, "error", folder)
    assert "Traceback" not in told.stderr


def test_tokens_are_drawn_by_temperature_and_top_p() -> None:
    shares, random = np.array([0.6, 0.3, 0.1], np.float32), np.random.default_rng(0)
    logits = np.log(shares)
    assert chosen(logits, 0, 1, random) == 0
    drawn = np.bincount([chosen(logits, 1, 1, random) for _ in range(4000)])
    np.testing.assert_allclose(drawn / 4000, shares, atol=0.03)
    kept = {chosen(logits, 1, 0.8, random) for _ in range(300)}
    assert kept == {0, 1}
    assert {chosen(logits, 1, 0.5, random) for _ in range(50)} == {0}
