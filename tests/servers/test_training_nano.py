"""Seconds of `make train-nano`: a checkpoint that goes on, and weights that the engine reads; opt-in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from real_servers import PYTHON, environment, lines_of, needs_vllm

from codestress.nano.model import Nano
from conftest import ROOT, ran
from told import names

pytestmark = needs_vllm
SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "head_dim": 16,
    "intermediate_size": 64,
}
STAGE = {"tasks": {"copy": 1.0}, "fewest_lines": 1, "most_lines": 2}
WHOLE = {"shape": SHAPE, "stages": [STAGE]}


def train(
    folder: Path, settings: dict[str, Any], *more: str
) -> subprocess.CompletedProcess[str]:
    """Train a small transformer, or go on with the training in `folder`."""
    small = {"evaluate_every": 5, "batch_tokens": 256, "workers": 2}
    path = folder.with_suffix(".yaml")
    path.write_text(json.dumps(small | settings))
    command = [PYTHON, ROOT / "bench" / "nano" / "train.py", "--settings", path]
    return ran(*command, "--run", folder, *more, env=environment())


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(
        (folder / "weights/manifest.json").read_text()
    )
    return manifest


def test_a_transformer_is_trained_stopped_and_trained_on(tmp_path: Path) -> None:
    """Settings that do not fit the checkpoint, or each other, are refused, and it stays as it is."""
    run, other = tmp_path / "run", tmp_path / "other"
    steps = []
    for hours in (0.01, 0.015):
        lines_of(train(run, WHOLE | {"hours": hours}))
        manifest = manifest_of(run)
        steps.append(manifest["steps"])
        logged = [row["step"] for row in manifest["log"]]
        assert logged == [*range(5, steps[-1] + 1, 5)]
    assert 0 < steps[0] < steps[1]
    nano = Nano(run / "weights")
    assert len(nano.logits([1, 2, 3])) == nano.shape.vocab_size

    begun = ("--from", str(run / "weights"))
    lines_of(train(other, WHOLE | {"hours": 0.005}, *begun))
    tokenizer = (run / "tokenizer.json").read_bytes()
    assert (other / "tokenizer.json").read_bytes() == tokenizer
    assert manifest_of(other)["log"][0]["loss"] < manifest["log"][0]["loss"]
    result = train(tmp_path / "third", {"hours": 1, "stages": [STAGE]}, *begun)
    assert result.returncode == 1
    names(result.stderr, run / "weights", "shape")

    state = run / f"checkpoint-{steps[-1]}/trainer_state.json"
    before = state.read_bytes()
    wrong: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({"shape": SHAPE | {"hidden_size": 64}}, ("--run",)),
        ({"stages": []}, ("stages",)),
        ({"stages": [STAGE | {"fewest_lines": 3}]}, ("fewest_lines: 3", "most_lines")),
        ({"stages": [STAGE | {"until": {"semtrace": 0.5}}]}, ("semtrace", "tasks")),
    ]
    for settings, parts in wrong:
        result = train(run, WHOLE | {"hours": 1} | settings)
        assert result.returncode == 1, result.stderr
        names(result.stderr, *parts)
        assert "Traceback" not in result.stderr
    assert state.read_bytes() == before
