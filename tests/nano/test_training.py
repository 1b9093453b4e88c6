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
    evaluation = json.loads((WEIGHTS / "evaluation.json").read_text())
    figure = measure.training_figure(log, evaluation)
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


SHAPE = {"hidden_size": 32, "num_hidden_layers": 2}
SHAPE |= {"intermediate_size": 64, "head_dim": 16}
STAGE = {"tasks": {"copy": 1.0}, "fewest_lines": 1, "most_lines": 2}
SETTINGS = {
    "shape": SHAPE,
    "batch_tokens": 256,
    "bfloat16": False,
    "evaluated": 4,
    "warmup_steps": 1,
    "evaluate_every": 5,
    "workers": 0,
    "hours": 0.002,
    "stages": [{**STAGE, "most_tokens": 1}, STAGE],
}


def test_a_run_is_saved_goes_on_and_leaves_weights_that_answer(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import train
    import training

    def changed(**values: object) -> training.Training:
        return check(training.Training, SETTINGS | values, "settings")

    settings = changed()
    shutil.copy(WEIGHTS / "tokenizer.json", tmp_path)
    first = training.train(settings, tmp_path)
    assert [row["step"] for row in first.log] == list(range(5, first.steps + 1, 5))
    assert first.log[-1]["loss"] < first.log[0]["loss"]
    assert [row["stage"] for row in first.log] == [0] + [1] * (len(first.log) - 1)
    checkpoint = training.last_checkpoint(tmp_path)
    assert checkpoint is not None
    assert checkpoint.name == f"checkpoint-{first.steps}"
    # A checkpoint that was begun when the run was stopped is passed over.
    (tmp_path / f"checkpoint-{first.steps + 5}").mkdir()
    assert training.last_checkpoint(tmp_path) == checkpoint
    more = changed(hours=2 * settings.hours)
    second = training.train(more, tmp_path)
    assert second.log[: len(first.log)] == first.log
    assert second.steps > first.steps
    assert second.seconds > first.seconds
    train.export(second, tmp_path / "tokenizer.json", tmp_path / "weights", more)
    model = Nano(tmp_path / "weights")
    assert model.shape.hidden_size == 32
    model.greedy("def f", 4)
    assert len(measure.training_log(tmp_path / "weights")) == len(second.log)
    other = changed(shape=SHAPE | {"hidden_size": 64})
    with refused(ParameterError, tmp_path, "shape", "--run"):
        training.train(other, tmp_path)
    with refused(ParameterError, tmp_path / "weights", "shape"):
        training.train(other, tmp_path / "other", tmp_path / "weights")


def test_only_what_the_assistant_says_is_learnt_and_padding_is_not() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import training

    rows = [([5, 6, 7], [False, True, True]), ([8, 9], [False, True])]
    [batch] = training.batches(rows, 6)
    assert batch["input_ids"].tolist() == [[5, 6, 7], [8, 9, 0]]
    assert batch["labels"].tolist() == [[-100, 6, 7], [-100, 9, -100]]
    assert [len(part["labels"]) for part in training.batches(rows, 3)] == [1, 1]
    shape = training.Shape(vocab_size=16, **SHAPE)
    model = training.new_model(shape)
    for parameter in model.parameters():
        parameter.data.zero_()  # every token is as likely: the first, 0, is taken
    assert training.right(model, rows, 6) == 0
    assert training.right(model, [([5, 0], [False, True])], 6) == 1
    loss = model(**batch).loss
    assert float(loss) == pytest.approx(torch.log(torch.tensor(16.0)).item())


@pytest.mark.parametrize("name", ["nano.yaml", "nano_front.yaml"])
def test_settings_are_valid_and_batches_repeat(name: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import training

    settings = check(training.Training, read_yaml(PARAMS / name), name)
    tokenizer = WEIGHTS / "tokenizer.json"
    how = settings.stages[0], settings, tokenizer
    draws = [training.drawn(number, *how) for number in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    tokens = settings.batch_tokens
    for rows in draws:
        assert sum(len(row) for row, _ in rows) >= training.BATCHES * tokens
        sizes = [part["input_ids"] for part in training.batches(rows, tokens)]
        assert sum(len(part) for part in sizes) == len(rows)
        assert all(part.numel() <= tokens or len(part) == 1 for part in sizes)
