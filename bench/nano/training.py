"""The training of `nano`: transformers' Llama under transformers' Trainer, on chats drawn by seed.

The curriculum has stages. Each has its tasks and sizes, and ends when held-out chats are answered
well enough. A stopped run goes on from its last checkpoint. The chats are a function of seed, stage
and number; the weights are not bit-identical between processors.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import torch
from pydantic import ConfigDict, Field, PositiveInt, model_validator
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import IterableDataset, get_worker_info
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer_callback import ExportableState
from transformers.utils.logging import disable_progress_bar

from chats import Size, Task, chat
from codestress.errors import ParameterError
from codestress.nano.configuration import Configuration
from codestress.seeding import rng
from codestress.validation import Strict
from vocabulary import encode, train_tokenizer

STATE = "trainer_state.json"
"""The last file that the Trainer writes into a checkpoint."""
BATCHES = 4
"""Batches whose chats are drawn together, so that each gets chats of about one length."""
NOT_LEARNT = -100
"""Label of a token that the loss leaves out."""

Row = tuple[list[int], list[bool]]
"""A chat's tokens, and which of them are learnt."""


class Stage(Strict):
    """A part of the curriculum."""

    tasks: dict[Task, Annotated[float, Field(gt=0)]] = Field(min_length=1)
    """Weight of each task among the chats of the stage."""
    fewest_lines: int = Field(gt=0)
    most_lines: int = Field(gt=0)
    """Shortest and longest context, in lines; lengths between are drawn evenly by logarithm."""
    places: tuple[float, float] = Field((0.0, 1.0), strict=False)  # YAML has lists
    """Where in a block to retrieve from, from 0 (its first line) to 1."""
    until: dict[Task, float] = {}
    """Shares of held-out chats of the most lines, answered right, that end the stage."""
    most_tokens: int = Field(10**12, gt=0)
    """Training tokens after which the stage ends in any case."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.fewest_lines > self.most_lines:
            raise ValueError(
                f"fewest_lines: {self.fewest_lines} is more than most_lines: {self.most_lines}"
            )
        if not 0 <= self.places[0] <= self.places[1] <= 1:
            raise ValueError(
                f"places: {list(self.places)} are not two numbers from 0 to 1 in their order"
            )
        if unknown := set(self.until) - set(self.tasks):
            raise ValueError(
                f"until: {', '.join(sorted(unknown))} is none of the stage's tasks"
            )
        return self


class Shape(Configuration):
    """Sizes of the model, by default those of the weights that come with the kit."""

    model_config = ConfigDict(extra="forbid")

    vocab_size: PositiveInt = 1536
    hidden_size: PositiveInt = 192
    num_hidden_layers: PositiveInt = 5
    num_attention_heads: PositiveInt = 4
    num_key_value_heads: PositiveInt = 2
    head_dim: int = Field(64, gt=0, multiple_of=2)
    intermediate_size: PositiveInt = 512
    rms_norm_eps: float = 1e-5
    rope_theta: float = 1e6
    max_position_embeddings: PositiveInt = 4096


class Training(Strict):
    """The settings of a run: params/nano.yaml."""

    seed: int = 0
    shape: Shape = Shape()
    learning_rate: float = Field(3e-3, gt=0)
    warmup_steps: int = 60
    batch_tokens: int = Field(4096, gt=0)
    decay_share: float = Field(0.25, gt=0, lt=1)
    """The last part of the run, in which the learning rate falls to nothing."""
    turns: int = 8
    workers: int = Field(1, ge=0)
    """Processes that draw chats while the model learns; 0: none but its own."""
    bfloat16: bool = True
    """Multiplies in 16 bits; slower on a processor that has no AMX or AVX512-BF16."""
    compiled: bool = False
    """Compiles the layers (a quarter faster; needs a C++ compiler)."""
    evaluate_every: int = 100
    evaluated: int = 48
    """Held-out chats of each task at each evaluation."""
    hours: float = Field(1.0, gt=0)
    """Time of the whole run, over all its parts."""
    stages: list[Stage] = Field(min_length=1)


# ---- what is learnt


@cache
def _tokenizer(path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(path))


def drawn(number: int, stage: Stage, training: Training, tokenizer: Path) -> list[Row]:
    """Returns the encoded chats of one draw, `BATCHES` batches of tokens: a function of seed, stage
    and number."""
    random = rng(training.seed, "nano batch", number)
    names = list(stage.tasks)
    weights = np.array([stage.tasks[name] for name in names])
    low, high = math.log(stage.fewest_lines), math.log(stage.most_lines + 0.49)
    longest = training.shape.max_position_embeddings
    rows: list[Row] = []
    total = 0
    while total < BATCHES * training.batch_tokens:
        task = names[int(random.choice(len(names), p=weights / weights.sum()))]
        lines = round(math.exp(random.uniform(low, high)))
        size = Size(lines, training.turns, places=stage.places)
        one = chat(task, size, "train", training.seed, int(random.integers(2**50)))
        tokens, learnt = encode(_tokenizer(tokenizer), one)
        rows.append((tokens[:longest], learnt[:longest]))
        total += len(rows[-1][0])
    return rows


def held_out(task: Task, lines: int, training: Training, tokenizer: Path) -> list[Row]:
    """Returns encoded chats with one question each, whose seeds, words, keys and distractors are
    never trained on."""
    chats = (
        chat(task, Size(lines, 1), "evaluate", training.seed, number)
        for number in range(training.evaluated)
    )
    return [encode(_tokenizer(tokenizer), one) for one in chats]


def batches(rows: Sequence[Row], batch_tokens: int) -> Iterator[dict[str, Tensor]]:
    """Yields the rows, those of about one length together, in batches of at most `batch_tokens`
    tokens with padding (a longer row stands alone). A batch has `input_ids` and `labels`, both
    [rows, length]."""
    waiting = sorted(rows, key=lambda row: len(row[0]), reverse=True)
    while waiting:
        count = max(1, batch_tokens // len(waiting[0][0]))
        together, waiting = waiting[:count], waiting[count:]
        ids = [torch.tensor(tokens) for tokens, _ in together]
        labels = [
            torch.tensor(tokens).where(torch.tensor(learnt), NOT_LEARNT)
            for tokens, learnt in together
        ]
        yield {
            "input_ids": pad_sequence(ids, batch_first=True),
            "labels": pad_sequence(labels, True, NOT_LEARNT),
        }


class Batches(IterableDataset[dict[str, Tensor]]):
    """The batches of a run, without an end, by the stage that the run has reached."""

    def __init__(
        self, training: Training, tokenizer: Path, stage: Tensor, first: int
    ) -> None:
        self._training, self._tokenizer, self._stage = training, tokenizer, stage
        self._first = first

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        worker = get_worker_info()
        own, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        for number in itertools.count(self._first + own, workers):
            stage = self._training.stages[int(self._stage)]
            rows = drawn(number, stage, self._training, self._tokenizer)
            found = list(batches(rows, self._training.batch_tokens))
            order = rng(self._training.seed, "nano order", number)
            yield from (found[index] for index in order.permutation(len(found)))


# ---- the model


def new_model(shape: Configuration) -> LlamaForCausalLM:
    """Returns a model with random weights; the more layers add to the states, the smaller what each
    adds."""
    model = LlamaForCausalLM(
        LlamaConfig(tie_word_embeddings=True, **shape.model_dump())
    )
    for name, parameter in model.named_parameters():
        if parameter.dim() != 2:
            continue
        deviation = parameter.shape[1] ** -0.5
        if "embed" in name:
            deviation = 0.02
        elif name.endswith(("o_proj.weight", "down_proj.weight")):
            deviation *= (2 * shape.num_hidden_layers) ** -0.5
        torch.nn.init.normal_(parameter, std=deviation)
    return model


class MuonAndAdamW(torch.optim.Optimizer):
    """Muon for the matrices of the layers, AdamW for the rest, as the one optimizer that the
    Trainer takes."""

    def __init__(self, model: LlamaForCausalLM, rate: float) -> None:
        matrices, others = [], []
        for name, parameter in model.named_parameters():
            in_layer = parameter.dim() == 2 and "embed" not in name
            (matrices if in_layer else others).append(parameter)
        self.both: list[torch.optim.Optimizer] = [
            torch.optim.Muon(
                matrices,
                lr=rate,
                weight_decay=0.01,
                momentum=0.95,
                adjust_lr_fn="match_rms_adamw",
            ),
            torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
        ]
        super().__init__([*matrices, *others], {})
        self._share_groups()

    def _share_groups(self) -> None:
        """Makes the groups, and with them the learning rates, those of the two optimizers."""
        self.param_groups = [
            group for optimizer in self.both for group in optimizer.param_groups
        ]

    def step(self, _closure: Any = None) -> None:
        for optimizer in self.both:
            optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        return {"both": [optimizer.state_dict() for optimizer in self.both]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for optimizer, state in zip(self.both, state_dict["both"], strict=True):
            optimizer.load_state_dict(state)
        self._share_groups()


def right(model: LlamaForCausalLM, rows: Sequence[Row], batch_tokens: int) -> int:
    """Counts the chats whose every learnt token is the most likely one: greedy decoding would write
    them."""
    count = 0
    with torch.no_grad():
        for batch in batches(rows, batch_tokens):
            labels = batch["labels"].to(model.device)[:, 1:]
            best = model(batch["input_ids"].to(model.device)).logits[:, :-1].argmax(-1)
            count += int(((best == labels) | (labels == NOT_LEARNT)).all(1).sum())
    return count


# ---- the run


class Curriculum(TrainerCallback, ExportableState):
    """The stage and the time of a run, which its checkpoints keep. It evaluates by exact answers to
    held-out chats where the Trainer logs, and ends the run with its hours."""

    def __init__(self, training: Training, tokenizer: Path) -> None:
        self.training, self.tokenizer = training, tokenizer
        self.stage = torch.zeros((), dtype=torch.int64).share_memory_()
        """The stage, counted from 0, also for the processes that draw chats."""
        self.stage_began = 0
        """Tokens that earlier stages used."""
        self.seconds = 0.0
        self._last = 0.0

    def state(self) -> dict[str, Any]:
        attributes = {
            "shape": self.training.shape.model_dump(),
            "stage": int(self.stage),
            "stage_began": self.stage_began,
            "seconds": self.seconds,
        }
        return {"args": {}, "attributes": attributes}

    def rate(self, step: int) -> float:
        """Returns the share of the learning rate at a step: it rises in the first steps and falls
        in the last part of the hours."""
        left = 1 - self.seconds / (3600 * self.training.hours)
        warmth = (step + 1) / self.training.warmup_steps
        return max(0.0, min(1.0, warmth, left / self.training.decay_share))

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._last = time.monotonic()

    def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
        now = time.monotonic()
        self.seconds, self._last = self.seconds + now - self._last, now
        if self.seconds >= 3600 * self.training.hours:
            control.should_training_stop = control.should_save = True

    def on_log(
        self, _args: Any, state: Any, _control: Any, model: Any, logs: Any, **_: Any
    ) -> None:
        if "loss" not in logs:  # the Trainer's last words
            return
        stage = self.training.stages[int(self.stage)]
        shares = self.evaluate(model, stage)
        row = {
            "step": state.global_step,
            "tokens": state.num_input_tokens_seen,
            "seconds": round(self.seconds),
            "stage": int(self.stage),
            "lines": stage.most_lines,
            "rate": logs["learning_rate"],
            "loss": round(logs["loss"], 4),
        }
        state.log_history[-1] = row | shares
        print(json.dumps(row | shares), flush=True)
        self.end_stage_where_learnt(shares, row["tokens"])

    def evaluate(self, model: LlamaForCausalLM, stage: Stage) -> dict[Task, float]:
        """Returns the share of held-out chats of the stage's most lines that are answered right, by
        task."""
        shares: dict[Task, float] = {}
        for task in stage.tasks:
            rows = held_out(task, stage.most_lines, self.training, self.tokenizer)
            count = right(model, rows, self.training.batch_tokens)
            shares[task] = round(count / self.training.evaluated, 4)
        return shares

    def end_stage_where_learnt(self, shares: dict[Task, float], tokens: int) -> None:
        """Goes to the next stage, where there is one, once this one's shares of right answers, or
        its tokens, are reached; `tokens` is the number that the run has seen."""
        stage = self.training.stages[int(self.stage)]
        learnt = bool(stage.until) and all(
            shares[task] >= wanted for task, wanted in stage.until.items()
        )
        is_last = int(self.stage) + 1 == len(self.training.stages)
        used_up = tokens - self.stage_began >= stage.most_tokens
        if not is_last and (learnt or used_up):
            self.stage += 1
            self.stage_began = tokens


@dataclass(frozen=True)
class Run:
    """A trained model, with the log of its training: a row for each evaluation."""

    model: LlamaForCausalLM
    steps: int
    tokens: int
    seconds: float
    log: list[dict[str, Any]]


def train(training: Training, folder: Path, begin: Path | None = None) -> Run:
    """Trains until the hours are used up, from the last checkpoint in `folder` where there is one.

    A run that has none begins with the weights in the folder `begin`, or with random ones. Raises
    `ParameterError` for a checkpoint or weights that the settings do not fit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if begin is not None:
        config = (begin / "config.json").read_bytes()
        sizes = Configuration.model_validate_json(config).model_dump()
        if sizes != training.shape.model_dump():
            raise ParameterError(
                f"{begin} has another shape than the settings: {sizes}"
            )
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.exists():
        if begin is None:
            train_tokenizer(training.seed).save(str(tokenizer))
        else:
            shutil.copy2(begin / "tokenizer.json", tokenizer)
    curriculum = Curriculum(training, tokenizer)
    checkpoint = last_checkpoint(folder)
    step = _go_on(curriculum, checkpoint) if checkpoint else 0
    torch.manual_seed(training.seed)
    model = new_model(training.shape)
    if begin is not None:
        model.load_state_dict(load_file(begin / "model.safetensors"), strict=False)
    if training.compiled:
        for layer in model.model.layers:
            layer.compile(dynamic=True)
    disable_progress_bar()  # one for each checkpoint
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # which would warn in each process
    optimizer = MuonAndAdamW(model, training.learning_rate)
    trainer = Trainer(
        model,
        _arguments(training, folder),
        lambda one: one[0],
        Batches(training, tokenizer, curriculum.stage, step),
        callbacks=[curriculum],
        optimizers=(optimizer, LambdaLR(optimizer, curriculum.rate)),
    )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters:,} parameters on {trainer.args.device}", flush=True)
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    state = trainer.state
    log = [row for row in state.log_history if "stage" in row]
    tokens = state.num_input_tokens_seen
    return Run(model, state.global_step, tokens, curriculum.seconds, log)


def _arguments(training: Training, folder: Path) -> TrainingArguments:
    """Returns what the Trainer is told: an item of the data set is a batch, and each evaluation
    leaves a checkpoint."""
    every = training.evaluate_every
    return TrainingArguments(
        str(folder),
        per_device_train_batch_size=1,
        max_steps=10**9,  # the hours end the run
        max_grad_norm=1.0,
        use_cpu=not torch.cuda.is_available(),  # said, because 16 bits need it
        bf16=training.bfloat16,
        seed=training.seed,
        ignore_data_skip=True,  # a run that goes on draws other chats
        dataloader_num_workers=training.workers,
        include_num_input_tokens_seen="all",
        logging_steps=every,
        save_steps=every,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
    )


def last_checkpoint(folder: Path) -> Path | None:
    """Returns the newest complete checkpoint of a run; None without one."""
    states = sorted(
        folder.glob(f"checkpoint-*/{STATE}"),
        key=lambda path: int(path.parent.name.partition("-")[2]),
    )
    return states[-1].parent if states else None


def _go_on(curriculum: Curriculum, checkpoint: Path) -> int:
    """Takes stage and time of a run from its checkpoint, and returns its number of steps; raises
    `ParameterError` where the settings cannot go on from it."""
    training = curriculum.training
    saved = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    told = saved["stateful_callbacks"]["Curriculum"]["attributes"]
    if told["shape"] != training.shape.model_dump():
        raise ParameterError(
            f"{checkpoint} has the shape {told['shape']}; settings name another: name another --run"
        )
    if told["stage"] >= len(training.stages):
        raise ParameterError(
            f"{checkpoint} is at stage {told['stage']}, counted from 0; settings have "
            f"{len(training.stages)} stages: give it as many, or name another --run"
        )
    curriculum.stage += told["stage"]
    curriculum.stage_began, curriculum.seconds = told["stage_began"], told["seconds"]
    return int(saved["global_step"])
