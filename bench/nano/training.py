"""The training of `nano`: transformers' Llama on chats that are drawn by seed, stage after stage.

Each stage has its tasks and sizes, and ends when held-out chats are answered well enough. A run can be stopped and goes
on from its last checkpoint. On a processor, one process per core works on its shares of each batch. The data are a
function of seed, step and share; the weights are not bit-identical between processors.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, distributed, multiprocessing
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM

from chats import Size, Task, chat
from codestress.errors import ParameterError
from codestress.nano.configuration import Configuration
from codestress.nano.model import configuration
from codestress.seeding import rng
from codestress.validation import Strict
from vocabulary import encode, train_tokenizer

CHECKPOINT = "checkpoint.pt"
HEAD = "lm_head.weight"
"""The output layer's weights, which are the embedding's and are not saved twice."""
SHARES = 4
"""Parts of a batch, so that the data do not depend on the number of processes."""
AHEAD = 3
"""Batches that are drawn while the model learns from an earlier one."""
TOKENS_AT_ONCE = 4096
"""Tokens that the model reads at once, padding included; a longer chat is read alone."""

KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "10000000000"}
"""Settings of glibc that keep the memory of one step for the next."""

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


class Training(Strict):
    """The settings of a run: params/nano.yaml."""

    seed: int = 0
    shape: Configuration = Configuration()
    learning_rate: float = Field(3e-3, gt=0)
    warmup_steps: int = 60
    batch_tokens: int = Field(4096, gt=0)
    decay_share: float = Field(0.25, gt=0, lt=1)
    """The last part of the run, in which the learning rate falls to nothing."""
    turns: int = 8
    workers: int = Field(default_factory=lambda: os.cpu_count() or 1, gt=0)
    """Processes, on a processor; a GPU has one."""
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


@dataclass
class Progress:
    """Progress of a run: what a checkpoint keeps beside the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    stage: int = 0
    stage_tokens: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Where one process of a run works."""

    rank: int
    workers: int
    folder: Path

    @property
    def device(self) -> str:
        return "cuda" if torch.cuda.is_available() else "cpu"

    @property
    def tokenizer(self) -> str:
        return str(self.folder / "tokenizer.json")

    @property
    def checkpoint(self) -> Path:
        return self.folder / CHECKPOINT


# ---- what is learnt


@cache
def _tokenizer(path: str) -> Tokenizer:
    return Tokenizer.from_file(path)


def share_of(
    step: int, share: int, stage: Stage, training: Training, tokenizer: str
) -> list[Row]:
    """The encoded chats of one share of a step's batch; a function of seed, step and share."""
    random = rng(training.seed, "nano batch", step, share)
    names = list(stage.tasks)
    weights = np.array([stage.tasks[name] for name in names])
    longest = training.shape.max_position_embeddings
    rows: list[Row] = []
    total = 0
    while total < training.batch_tokens / SHARES:
        task = names[int(random.choice(len(names), p=weights / weights.sum()))]
        low, high = math.log(stage.fewest_lines), math.log(stage.most_lines + 0.49)
        size = Size(
            round(math.exp(random.uniform(low, high))),
            training.turns,
            places=stage.places,
        )
        drawn = chat(task, size, "train", training.seed, int(random.integers(2**50)))
        tokens, learnt = encode(_tokenizer(tokenizer), drawn)
        rows.append((tokens[:longest], learnt[:longest]))
        total += len(rows[-1][0])
    return rows


def held_out(task: Task, lines: int, training: Training, tokenizer: str) -> list[Row]:
    """Encoded chats with one question each, whose seeds, words, keys and distractors are never trained on."""
    rows = []
    for number in range(training.evaluated):
        drawn = chat(task, Size(lines, 1), "evaluate", training.seed, number)
        rows.append(encode(_tokenizer(tokenizer), drawn))
    return rows


def stacked(rows: Sequence[Row]) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows of about one length together: token ids and what is learnt, both [rows, length]."""
    ordered = sorted(rows, key=lambda row: len(row[0]), reverse=True)
    while ordered:
        count = max(1, TOKENS_AT_ONCE // len(ordered[0][0]))
        part, ordered = ordered[:count], ordered[count:]
        ids = pad_sequence(
            [torch.tensor(tokens) for tokens, _ in part], batch_first=True
        )
        learnt = pad_sequence(
            [torch.tensor(marks) for _, marks in part], batch_first=True
        )
        yield ids, learnt


class Batches:
    """The chats of this process, step after step, drawn ahead in a process of their own."""

    def __init__(
        self,
        place: Place,
        training: Training,
        progress: Progress,
        pool: ProcessPoolExecutor,
    ) -> None:
        self._place, self._training, self._progress, self._pool = (
            place,
            training,
            progress,
            pool,
        )
        self._waiting: deque[list[Future[list[Row]]]] = deque()
        for number in range(AHEAD):
            self._draw(progress.step + number)

    def _draw(self, step: int) -> None:
        stage = self._training.stages[self._progress.stage]
        shares = range(self._place.rank, SHARES, self._place.workers)
        self._waiting.append(
            [
                self._pool.submit(
                    share_of, step, share, stage, self._training, self._place.tokenizer
                )
                for share in shares
            ]
        )

    def next(self) -> list[Row]:
        """The rows of the current step."""
        rows: list[Row] = []
        for share in self._waiting.popleft():
            rows += share.result()
        self._draw(self._progress.step + AHEAD)
        return rows


# ---- the model


def new_model(shape: Configuration) -> LlamaForCausalLM:
    """A model with random weights; the more layers add to the states, the smaller what each adds."""
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


def optimizers_of(model: LlamaForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the rest."""
    matrices, others = [], []
    for name, parameter in model.named_parameters():
        (matrices if parameter.dim() == 2 and "embed" not in name else others).append(
            parameter
        )
    return [
        torch.optim.Muon(
            matrices,
            lr=rate,
            weight_decay=0.01,
            momentum=0.95,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def states(model: LlamaForCausalLM, ids: Tensor) -> Tensor:
    """The last layer's states, each of which predicts the next token: [rows, length - 1, hidden]."""
    return model.model(ids[:, :-1], use_cache=False).last_hidden_state


def right(
    model: LlamaForCausalLM, rows: Sequence[Row], device: str, *, bfloat16: bool
) -> int:
    """Count the chats whose every learnt token is the most likely one: greedy decoding would write them."""
    count = 0
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
        for ids, learnt in stacked(rows):
            ids, learnt = ids.to(device), learnt.to(device)
            best = model.lm_head(states(model, ids)).argmax(-1)
            count += int(((best == ids[:, 1:]) | ~learnt[:, 1:]).all(1).sum())
    return count


def _sum_over_processes(*values: float) -> list[float]:
    total = torch.tensor(values, dtype=torch.float64)
    distributed.all_reduce(total)
    return total.tolist()


class Learner:
    """The model of one process, its optimizers and its progress; all processes hold the same weights."""

    def __init__(self, place: Place, training: Training, begin: Path | None) -> None:
        self.place, self.training = place, training
        self.model = new_model(training.shape).to(place.device)
        self.optimizers = optimizers_of(self.model, training.learning_rate)
        self.progress = Progress()
        if place.checkpoint.exists():
            saved = torch.load(place.checkpoint, weights_only=True)
            self._load(saved["model"])
            for optimizer, state in zip(
                self.optimizers, saved["optimizers"], strict=True
            ):
                optimizer.load_state_dict(state)
            self.progress = Progress(**saved["progress"])
        elif begin is not None:
            self._load(load_file(begin / "model.safetensors"))
        if training.compiled:
            for layer in self.model.model.layers:
                layer.compile(dynamic=True)

    def _load(self, weights: dict[str, Tensor]) -> None:
        self.model.load_state_dict(
            weights | {HEAD: weights["model.embed_tokens.weight"]}
        )

    def save(self) -> None:
        """Write the checkpoint; a stop meanwhile leaves the old one."""
        weights = {
            name: weight
            for name, weight in self.model.state_dict().items()
            if name != HEAD
        }
        content = {
            "model": weights,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "shape": self.training.shape.model_dump(),
            "progress": asdict(self.progress),
        }
        part = self.place.checkpoint.with_suffix(".new")
        torch.save(content, part)
        part.replace(self.place.checkpoint)

    def rate(self) -> float:
        """The learning rate of the next step: it rises in the first steps and falls in the last part of the hours."""
        left = 1 - self.progress.seconds / (3600 * self.training.hours)
        warmth = (self.progress.step + 1) / self.training.warmup_steps
        return self.training.learning_rate * min(
            1.0, warmth, left / self.training.decay_share
        )

    def step(self, rows: Sequence[Row], rate: float) -> float:
        """Learn from a batch; return its loss, the mean over all its learnt tokens."""
        own_loss = self._backward(rows)
        own_learnt = sum(sum(marks[1:]) for _, marks in rows)
        own_tokens = sum(len(tokens) for tokens, _ in rows)
        loss, learnt, tokens = _sum_over_processes(own_loss, own_learnt, own_tokens)
        self._share_gradients(learnt)
        clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.progress.step += 1
        self.progress.tokens += round(tokens)
        self.progress.stage_tokens += round(tokens)
        return loss / learnt

    def _backward(self, rows: Sequence[Row]) -> float:
        """Add the gradients of this process's rows; return the sum of their losses."""
        total = 0.0
        for ids, learnt in stacked(rows):
            ids, learnt = ids.to(self.place.device), learnt[:, 1:].to(self.place.device)
            with torch.autocast(
                self.place.device, torch.bfloat16, enabled=self.training.bfloat16
            ):
                logits = self.model.lm_head(states(self.model, ids)[learnt])
            loss = functional.cross_entropy(
                logits.float(), ids[:, 1:][learnt], reduction="sum"
            )
            loss.backward()
            total += float(loss.detach())
        return total

    def _share_gradients(self, learnt_tokens: float) -> None:
        """Make every process's gradients the mean over all learnt tokens of the batch."""
        gradients = [
            parameter.grad
            for parameter in self.model.parameters()
            if parameter.grad is not None
        ]
        vector = parameters_to_vector(gradients) / learnt_tokens
        distributed.all_reduce(vector)
        vector_to_parameters(vector, gradients)

    def evaluate(self) -> dict[Task, float]:
        """The share of held-out chats of the stage's most lines that are answered right, by task."""
        stage = self.training.stages[self.progress.stage]
        shares: dict[Task, float] = {}
        for task in stage.tasks:
            rows = held_out(task, stage.most_lines, self.training, self.place.tokenizer)
            own = rows[self.place.rank :: self.place.workers]
            count = right(
                self.model, own, self.place.device, bfloat16=self.training.bfloat16
            )
            shares[task] = _sum_over_processes(count)[0] / self.training.evaluated
        return shares

    def end_stage_where_learnt(self, shares: dict[Task, float]) -> None:
        """Go to the next stage, where there is one, once this one's shares or its tokens are reached."""
        progress, stage = self.progress, self.training.stages[self.progress.stage]
        learnt = bool(stage.until) and all(
            shares[task] >= wanted for task, wanted in stage.until.items()
        )
        is_last = progress.stage + 1 == len(self.training.stages)
        if not is_last and (learnt or progress.stage_tokens >= stage.most_tokens):
            progress.stage += 1
            progress.stage_tokens = 0


# ---- the run


def train(training: Training, folder: Path, begin: Path | None = None) -> None:
    """Train until the hours are used up, from the last checkpoint in `folder` where there is one.

    A run that has none begins with the weights in `begin`, or with random ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if begin is not None and configuration(begin) != training.shape:
        raise ParameterError(
            f"{begin} has another shape than the settings: {configuration(begin).model_dump()}"
        )
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.exists():
        if begin is None:
            train_tokenizer(training.seed).save(str(tokenizer))
        else:
            shutil.copy2(begin / "tokenizer.json", tokenizer)
    _check_checkpoint(folder / CHECKPOINT, training)
    workers = 1 if torch.cuda.is_available() else min(training.workers, SHARES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(KEEP_MEMORY)
    multiprocessing.spawn(
        _work, (workers, port, training, folder, begin), nprocs=workers
    )


def _check_checkpoint(checkpoint: Path, training: Training) -> None:
    """Refuse a checkpoint that the settings cannot go on from."""
    if not checkpoint.exists():
        return
    saved = torch.load(checkpoint, weights_only=True, map_location="cpu")
    if saved["shape"] != training.shape.model_dump():
        raise ParameterError(
            f"{checkpoint} has the shape {saved['shape']}; settings name another: name another --run"
        )
    stage = saved["progress"]["stage"]
    if stage >= len(training.stages):
        raise ParameterError(
            f"{checkpoint} is at stage {stage}, counted from 0; settings have {len(training.stages)} stages: "
            "give it as many, or name another --run"
        )


def _work(
    rank: int,
    workers: int,
    port: int,
    training: Training,
    folder: Path,
    begin: Path | None,
) -> None:
    """One process of a run."""
    if workers > 1:
        torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=workers
    )
    torch.manual_seed(training.seed)
    place = Place(rank, workers, folder)
    learner = Learner(place, training, begin)
    if rank == 0:
        parameters = sum(parameter.numel() for parameter in learner.model.parameters())
        print(f"{parameters:,} parameters on {workers} × {place.device}", flush=True)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        _learn(learner, Batches(place, training, learner.progress, pool))
    if rank == 0:
        learner.save()
    distributed.destroy_process_group()


def _learn(learner: Learner, batches: Batches) -> None:
    """Learn from batch after batch until the hours are used up; the first process keeps time, log and checkpoint."""
    training, progress, is_first = (
        learner.training,
        learner.progress,
        learner.place.rank == 0,
    )
    started = time.monotonic() - progress.seconds
    losses: list[float] = []
    while progress.seconds < 3600 * training.hours:
        rate = learner.rate()
        losses.append(learner.step(batches.next(), rate))
        seconds = time.monotonic() - started if is_first else 0.0
        [progress.seconds] = _sum_over_processes(seconds)
        if progress.step % training.evaluate_every:
            continue
        shares = learner.evaluate()
        progress.log.append(_log_row(learner, rate, losses, shares))
        losses.clear()
        learner.end_stage_where_learnt(shares)
        if is_first:
            print(json.dumps(progress.log[-1]), flush=True)
            learner.save()


def _log_row(
    learner: Learner, rate: float, losses: Sequence[float], shares: dict[Task, float]
) -> dict[str, Any]:
    """A row of the log: where the run is, the mean loss since the last row, and the held-out shares by task."""
    progress = learner.progress
    row: dict[str, Any] = {
        "step": progress.step,
        "tokens": progress.tokens,
        "seconds": round(progress.seconds),
        "stage": progress.stage,
        "lines": learner.training.stages[progress.stage].most_lines,
        "rate": rate,
        "loss": round(float(np.mean(losses)), 4),
    }
    for task, share in shares.items():
        row[task] = round(share, 4)
    return row
