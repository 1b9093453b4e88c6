"""The scripts that train `nano`: the log of a training is drawn, a short run goes on and leaves weights that answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import measure
from codestress.errors import DataError, ParameterError
from codestress.nano.configuration import WEIGHTS
from codestress.nano.model import Nano
from codestress.paths import PARAMS
from codestress.validation import check, read_yaml
from told import refused


def test_the_kit_s_own_training_is_drawn() -> None:
    log = measure.training_log(WEIGHTS)
    figure = measure.training_figure(
        log, json.loads((WEIGHTS / "evaluation.json").read_text())
    )
    training, places = figure.axes
    assert len(training.get_legend().get_texts()) == 6
    assert "96 lines" in places.get_xlabel()


@pytest.mark.parametrize(
    "content", ["", "{}", '{"log": 1}', '{"log": [{"loss": 1}]}', "[" * 5000]
)
def test_a_manifest_without_a_log_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with refused(DataError, tmp_path / "manifest.json", "log"):
        measure.training_log(tmp_path)


SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "head_dim": 16,
}
STAGE = {"tasks": {"copy": 1.0}, "fewest_lines": 1, "most_lines": 2}
SETTINGS = {
    "shape": SHAPE,
    "batch_tokens": 256,
    "bfloat16": False,
    "evaluated": 4,
    "warmup_steps": 1,
    "stages": [{**STAGE, "most_tokens": 1}, STAGE],
}


def test_a_run_is_saved_goes_on_and_leaves_weights_that_answer(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import train
    import training

    settings = check(training.Training, SETTINGS, "settings")
    place = training.Place(0, 1, tmp_path)
    shutil.copy(WEIGHTS / "tokenizer.json", tmp_path)
    rows = training.share_of(0, 0, settings.stages[0], settings, place.tokenizer)
    torch.distributed.init_process_group(
        "gloo", f"file://{tmp_path / 'group'}", rank=0, world_size=1
    )
    try:
        learner = training.Learner(place, settings, None)
        losses = [learner.step(rows, learner.rate()) for _ in range(8)]
        assert losses[-1] < losses[0]
        shares = learner.evaluate()
        assert set(shares) == {"copy"}
        learner.progress.log.append(
            training._log_row(learner, learner.rate(), losses, shares)
        )
        learner.end_stage_where_learnt(shares)
        assert (learner.progress.stage, learner.progress.stage_tokens) == (1, 0)
        learner.save()
        again = training.Learner(place, settings, None)
        assert again.progress == learner.progress
        assert again.step(rows, again.rate()) == pytest.approx(
            learner.step(rows, learner.rate())
        )
    finally:
        torch.distributed.destroy_process_group()
    train.export(tmp_path, tmp_path / "weights", settings)
    model = Nano(tmp_path / "weights")
    assert model.shape.hidden_size == 32
    model.greedy("def f", 4)
    assert list(measure.training_log(tmp_path / "weights")["step"]) == [8]
    other = check(
        training.Training, SETTINGS | {"shape": SHAPE | {"hidden_size": 64}}, "settings"
    )
    with refused(ParameterError, tmp_path, "shape", "--run"):
        training.train(other, tmp_path)
    with refused(ParameterError, tmp_path / "weights", "shape"):
        training.train(other, tmp_path / "other", tmp_path / "weights")


@pytest.mark.parametrize("name", ["nano.yaml", "nano_front.yaml"])
def test_settings_are_valid_and_batches_repeat(name: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import training

    settings = check(training.Training, read_yaml(PARAMS / name), name)
    tokenizer = str(WEIGHTS / "tokenizer.json")
    shares = [
        training.share_of(3, share, settings.stages[0], settings, tokenizer)
        for share in (0, 0, 1)
    ]
    assert shares[0] == shares[1] != shares[2]
    for rows in shares:
        assert (
            sum(len(tokens) for tokens, _ in rows)
            >= settings.batch_tokens / training.SHARES
        )
