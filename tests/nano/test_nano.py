"""The kit's own transformer: its weights, its forward pass, its engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import subprocess
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
from conftest import ROOT
from evaluate import share
from told import names, refused


@pytest.fixture(scope="module")
def model() -> Nano:
    return Nano()


def asked(number: int = 0, lines: int = 8, **sampling: object) -> Request:
    turn = chat("line_retrieval", Size(lines, 1), "evaluate", 0, number).turns[0]
    settings = Sampling(**{"max_tokens": 40, **sampling})  # type: ignore[arg-type]
    return Request(
        "nano", "", Prompt((Message("user", turn.question),), settings, turn.begun)
    )


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
        assert {
            "seed",
            "steps",
            "tokens",
            "hours",
            "hardware",
            "log",
        } <= manifest.keys()
    assert (
        sum(path.stat().st_size for folder in folders for path in folder.iterdir())
        < 12_000_000
    )


@pytest.mark.slow
def test_what_was_read_before_does_not_change_the_logits(model: Nano) -> None:
    """Prompts of all kinds of overlap, with the cache and without; blocks of any size."""
    prompts = [
        model.tokenizer.encode(prompt_text(asked(number, 20))).ids
        for number in range(3)
    ]
    prompts += [
        prompts[0][:100],
        prompts[0],
        prompts[0][:60] + prompts[1][60:],
        prompts[1][:1],
    ]
    fresh = [Nano().logits(tokens) for tokens in prompts]
    for tokens, expected in zip(prompts, fresh, strict=True):
        np.testing.assert_allclose(model.logits(tokens), expected, atol=2e-4)


def test_attention_is_a_distribution(model: Nano) -> None:
    tokens = model.tokenizer.encode(prompt_text(asked(1))).ids
    weights = model.attention(tokens)
    assert weights.shape == (
        model.shape.num_hidden_layers,
        model.shape.num_attention_heads,
        len(tokens),
    )
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-4)


@pytest.mark.slow
def test_it_retrieves_a_line() -> None:
    """Real answers of a real model: no more is asked of them here than that they are not chance."""
    [row] = share(WEIGHTS, "line_retrieval", Size(8, 1), 40)
    assert row["share"] > 0.3


@pytest.mark.slow
def test_its_archive_has_all_answers_of_the_demo_and_they_are_what_it_says_here() -> (
    None
):
    registry = load_registry()
    chosen = resolve(["semtrace/nano", "origin/nano"], "demo")
    archive = registry["nano"].archive
    assert archive is not None
    assert archive.stat().st_size < 1_000_000
    rows = {row.key: row for row in read_archive(archive)}
    asked = {}
    for artefact in chosen:
        trials = artefact.trials()
        for entry in artefact.models:
            if entry.engine == "nano":
                asked |= {
                    request_of(trials, trial, entry).key: (trials, trial, entry)
                    for trial in trials.items
                }
    assert asked.keys() <= rows.keys()
    for key in sorted(asked)[:4]:
        trials, trial, entry = asked[key]
        assert answer(request_of(trials, trial, entry), entry).text == rows[key].text


def test_the_engine_answers_counts_and_stops() -> None:
    first = answer(asked())
    assert first.text == answer(asked()).text
    assert first.finish_reason == "stop"
    assert first.usage.prompt_tokens == len(
        Nano().tokenizer.encode(prompt_text(asked())).ids
    )
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
        answer(
            Request("nano", "", Prompt((Message("user", "word " * 6000),), Sampling()))
        )


@pytest.mark.slow
def test_weights_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    """By the model itself and by a row of the registry; the remedy with them."""
    folder = tmp_path / "weights"
    with refused(DataError, folder, "make train-nano"):
        Nano(folder)
    shutil.copytree(WEIGHTS, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))
    with refused(
        DataError, folder, "model.embed_tokens.weight", "config.json", ", 64)"
    ):
        Nano(folder)
    for name, content in (
        ("model.safetensors", b"short"),
        ("tokenizer.json", b"{}"),
        ("config.json", b"{}"),
    ):
        (folder / name).write_bytes(content)
        with refused(DataError, folder, name, "make train-nano"):
            Nano(folder)
    row = load_registry()["nano"].model_copy(
        update={"settings": {"folder": str(folder)}}
    )
    with refused(EngineError, "nano", "settings.folder", folder, "make train-nano"):
        open_engine(row)
    told = subprocess.run(
        [sys.executable, str(ROOT / "bench/nano/measure.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    names(told.stderr, "error", folder)
    assert "Traceback" not in told.stderr


def test_tokens_are_drawn_by_temperature_and_top_p() -> None:
    logits, random = (
        np.log(np.array([0.6, 0.3, 0.1], dtype=np.float32)),
        np.random.default_rng(0),
    )
    assert chosen(logits, 0, 1, random) == 0
    drawn = (
        np.bincount([chosen(logits, 1, 1, random) for _ in range(4000)], minlength=3)
        / 4000
    )
    np.testing.assert_allclose(drawn, [0.6, 0.3, 0.1], atol=0.03)
    kept = {chosen(logits, 1, 0.8, random) for _ in range(300)}
    assert kept == {0, 1}
    assert {chosen(logits, 1, 0.5, random) for _ in range(50)} == {0}
