"""Trains `nano` (`make train-nano`), transformers' Llama, and saves it as Hugging Face does, with a manifest.

Stages follow each other; each has its tasks and sizes, and ends when held-out chats are answered well enough. The run
can be stopped and goes on from its last checkpoint. On a processor, one process per core works on its shares of each
batch. The data are a function of seed, step and share; the weights are not bit-identical between processors.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import shutil
import socket
import time
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
from safetensors import numpy as safetensors
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, distributed, multiprocessing
from torch.nn import functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM

from codestress.errors import ParameterError
from codestress.nano.chats import Size, Task, chat
from codestress.nano.configuration import END, Configuration
from codestress.nano.model import configuration
from codestress.nano.training.vocabulary import PAD, encode, train_tokenizer
from codestress.seeding import rng
from codestress.validation import Strict

CHECKPOINT = "checkpoint.pt"
SHARES = 4
"""Parts of a batch, so that the data do not depend on the number of processes."""
TOGETHER = 4096
"""Tokens that are read at once, padding included, where a chat is not longer."""

KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "10000000000"}
"""For glibc: what a step frees is not given back, so that the next one need not ask for it again."""

Row = tuple[list[int], list[bool]]
"""A chat's tokens, and which of them are learnt."""


class Stage(Strict):
    """A part of the curriculum."""

    tasks: dict[Task, Annotated[float, Field(gt=0)]] = Field(min_length=1)
    """What is trained on, by weight."""
    fewest_lines: int = Field(gt=0)
    most_lines: int = Field(gt=0)
    """Of a context; drawn evenly by logarithm."""
    places: tuple[float, float] = Field((0.0, 1.0), strict=False)  # YAML has lists
    """Where in a block to retrieve from, from 0 (its first line) to 1."""
    until: dict[Task, float] = {}
    """Shares of held-out chats of the most lines, answered right, that end the stage."""
    most_tokens: int = Field(10**12, gt=0)
    """That end it in any case."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.fewest_lines > self.most_lines:
            raise ValueError(f"fewest_lines: {self.fewest_lines} is more than most_lines: {self.most_lines}")
        if not 0 <= self.places[0] <= self.places[1] <= 1:
            raise ValueError(f"places: {list(self.places)} are not two numbers from 0 to 1 in their order")
        if unknown := set(self.until) - set(self.tasks):
            raise ValueError(f"until: {', '.join(sorted(unknown))} is none of the stage's tasks")
        return self


class Training(Strict):
    """params/nano.yaml."""

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
    """Where a run is."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    stage: int = 0
    stage_tokens: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)


@cache
def _tokenizer(path: str) -> Tokenizer:
    return Tokenizer.from_file(path)


def share_of(step: int, share: int, stage: Stage, training: Training, tokenizer: str) -> list[Row]:
    """The chats of a part of one step, encoded; a function of seed, step and share."""
    random = rng(training.seed, "nano batch", step, share)
    names = list(stage.tasks)
    weights = np.array([stage.tasks[name] for name in names])
    rows: list[Row] = []
    while sum(len(tokens) for tokens, _ in rows) < training.batch_tokens / SHARES:
        task = names[int(random.choice(len(names), p=weights / weights.sum()))]
        low, high = stage.fewest_lines, stage.most_lines
        lines = round(math.exp(random.uniform(math.log(low), math.log(high + 0.49))))
        size = Size(lines, training.turns, places=stage.places)
        one = chat(task, size, "train", training.seed, int(random.integers(2**50)))
        tokens, learnt = encode(_tokenizer(tokenizer), one)
        longest = training.shape.max_position_embeddings
        rows.append((tokens[:longest], learnt[:longest]))
    return rows


def stacked(rows: Sequence[Row]) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows of about one length together: token ids and what is learnt, [rows, length]."""
    ordered = sorted(rows, key=lambda row: len(row[0]), reverse=True)
    while ordered:
        together = max(1, TOGETHER // len(ordered[0][0]))
        part, ordered = ordered[:together], ordered[together:]
        ids, learnt = ([torch.tensor(row[side]) for row in part] for side in (0, 1))
        yield pad_sequence(ids, batch_first=True), pad_sequence(learnt, batch_first=True)


def right(model: LlamaForCausalLM, rows: Sequence[Row], device: str, *, bfloat16: bool) -> int:
    """Chats whose every learnt token is the most likely one, which is what greedy decoding would give."""
    found = 0
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
        for ids, learnt in stacked(rows):
            ids, learnt = ids.to(device), learnt.to(device)
            best = model.lm_head(states(model, ids)).argmax(-1)
            found += int(((best == ids[:, 1:]) | ~learnt[:, 1:]).all(1).sum())
    return found


def states(model: LlamaForCausalLM, ids: Tensor) -> Tensor:
    """Of the last layer, from which each next token is told: [rows, length - 1, hidden]."""
    return model.model(ids[:, :-1], use_cache=False).last_hidden_state


def held_out(task: Task, lines: int, training: Training, tokenizer: Tokenizer) -> list[Row]:
    """Chats with one question each, whose seeds, words, keys and distractors are never trained on."""
    chats = (chat(task, Size(lines, 1), "evaluate", training.seed, number) for number in range(training.evaluated))
    return [encode(tokenizer, one) for one in chats]


def llama(shape: Configuration) -> LlamaForCausalLM:
    """With random weights; what is added to the states is the smaller, the more layers add to them."""
    model = LlamaForCausalLM(LlamaConfig(tie_word_embeddings=True, **shape.model_dump()))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            scale = (2 * shape.num_hidden_layers) ** -0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1
            torch.nn.init.normal_(parameter, std=0.02 if "embed" in name else scale * parameter.shape[1] ** -0.5)
    return model


def optimizers(model: LlamaForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the rest."""
    matrices = [p for name, p in model.named_parameters() if p.dim() == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.dim() != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.01, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def train(training: Training, folder: Path, begin: Path | None = None) -> None:
    """Runs until its hours are used up, from the last checkpoint in `folder` where there is one.

    A run that has none begins with the weights in `begin`, or with random ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tokenizer.json"
    if begin is not None and configuration(begin) != training.shape:
        raise ParameterError(f"{begin} has another shape than the settings: {configuration(begin).model_dump()}")
    if not path.exists():
        if begin is None:
            train_tokenizer(training.seed).save(str(path))
        else:
            shutil.copy2(begin / "tokenizer.json", path)
    if (checkpoint := folder / CHECKPOINT).exists():
        saved = torch.load(checkpoint, weights_only=True, map_location="cpu")
        if saved["shape"] != training.shape.model_dump():
            raise ParameterError(
                f"{checkpoint} has the shape {saved['shape']}; settings name another: name another --run"
            )
        if saved["progress"]["stage"] >= len(training.stages):
            raise ParameterError(
                f"{checkpoint} is at stage {saved['progress']['stage']}, counted from 0; settings have "
                f"{len(training.stages)} stages: give it as many, or name another --run"
            )
    workers = 1 if torch.cuda.is_available() else min(training.workers, SHARES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(KEEP_MEMORY)
    multiprocessing.spawn(_work, (workers, port, training, folder, begin), nprocs=workers)


def _work(rank: int, workers: int, port: int, training: Training, folder: Path, begin: Path | None) -> None:
    """One process; the first keeps the time, the log and the checkpoint."""
    if workers > 1:
        torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=workers)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(training.seed)
    path = folder / "tokenizer.json"
    tokenizer = _tokenizer(str(path))
    model = llama(training.shape).to(device)
    progress = Progress()
    tuned = optimizers(model, training.learning_rate)
    checkpoint, head = folder / CHECKPOINT, "lm_head.weight"  # the embedding: not saved twice

    def save() -> None:
        weights = {name: weight for name, weight in model.state_dict().items() if name != head}
        states = {"model": weights, "optimizers": [optimizer.state_dict() for optimizer in tuned]}
        new = checkpoint.with_suffix(".new")
        torch.save(states | {"shape": training.shape.model_dump(), "progress": asdict(progress)}, new)
        new.replace(checkpoint)

    def load(weights: dict[str, Tensor]) -> None:
        model.load_state_dict(weights | {head: weights["model.embed_tokens.weight"]})

    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        load(saved["model"])
        for optimizer, state in zip(tuned, saved["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        progress = Progress(**saved["progress"])
    elif begin is not None:
        load(load_file(begin / "model.safetensors"))
    if training.compiled:
        for layer in model.model.layers:
            layer.compile(dynamic=True)
    if rank == 0:
        print(f"{sum(p.numel() for p in model.parameters()):,} parameters on {workers} × {device}", flush=True)
    started = time.monotonic() - progress.seconds
    total = training.hours * 3600
    with ProcessPoolExecutor(1, get_context("spawn")) as writer:

        def ahead(step: int) -> list[Future[list[Row]]]:
            stage = training.stages[progress.stage]
            mine = range(rank, SHARES, workers)
            return [writer.submit(share_of, step, share, stage, training, str(path)) for share in mine]

        waiting = [ahead(progress.step + i) for i in range(3)]
        losses: list[float] = []
        while progress.seconds < total:
            rows = [row for share in waiting.pop(0) for row in share.result()]
            waiting.append(ahead(progress.step + 3))
            left = 1 - progress.seconds / total
            rate = training.learning_rate * min(
                1.0, (progress.step + 1) / training.warmup_steps, left / training.decay_share
            )
            loss, tokens = _step(model, tuned, rows, rate, device, bfloat16=training.bfloat16)
            losses.append(loss)
            progress.step += 1
            progress.tokens += tokens
            progress.stage_tokens += tokens
            [progress.seconds] = _summed((time.monotonic() - started) * (rank == 0))
            if progress.step % training.evaluate_every == 0:
                stage = training.stages[progress.stage]
                asked: dict[Task, float] = {}
                for task in stage.tasks:
                    mine = held_out(task, stage.most_lines, training, tokenizer)[rank::workers]
                    [found] = _summed(right(model, mine, device, bfloat16=training.bfloat16))
                    asked[task] = found / training.evaluated
                where = {"step": progress.step, "tokens": progress.tokens, "seconds": round(progress.seconds)}
                what = {"stage": progress.stage, "lines": stage.most_lines, "rate": rate}
                loss, shares = float(np.mean(losses)), {str(task): round(share, 4) for task, share in asked.items()}
                progress.log.append({**where, **what, "loss": round(loss, 4), **shares})
                losses.clear()
                done = bool(stage.until) and all(asked[task] >= share for task, share in stage.until.items())
                if (done or progress.stage_tokens >= stage.most_tokens) and progress.stage + 1 < len(training.stages):
                    progress.stage, progress.stage_tokens = progress.stage + 1, 0
                if rank == 0:
                    print(json.dumps(progress.log[-1]), flush=True)
                    save()
    if rank == 0:
        save()
    distributed.destroy_process_group()


def _summed(*values: float) -> list[float]:
    """Over all processes."""
    together = torch.tensor(values, dtype=torch.float64)
    distributed.all_reduce(together)
    return together.tolist()


def _step(
    model: LlamaForCausalLM,
    tuned: Sequence[torch.optim.Optimizer],
    rows: Sequence[Row],
    rate: float,
    device: str,
    *,
    bfloat16: bool,
) -> tuple[float, int]:
    """One update; its loss (the mean over all learnt tokens of the batch) and the batch's tokens."""
    total = 0.0
    for ids, learnt in stacked(rows):
        ids, learnt = ids.to(device), learnt.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=bfloat16):
            logits = model.lm_head(states(model, ids)[learnt[:, 1:]])
        loss = functional.cross_entropy(logits.float(), ids[:, 1:][learnt[:, 1:]], reduction="sum")
        loss.backward()
        total += float(loss.detach())
    mine = sum(sum(marks[1:]) for _, marks in rows)
    total, learnt_tokens, tokens = _summed(total, mine, sum(len(ids) for ids, _ in rows))
    slopes = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    together = parameters_to_vector(slopes) / learnt_tokens
    distributed.all_reduce(together)
    vector_to_parameters(together, slopes)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in tuned:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return total / learnt_tokens, round(tokens)


CHAT_TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}{{ "\\n" }}{{ message.content }}<|im_end|>{{ "\\n" }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant{{ "\\n" }}{%- endif -%}"""


def export(run: Path, folder: Path, shape: Configuration, seed: int) -> None:
    """The checkpoint of a run as weights of 16 bits that transformers and vLLM load unchanged."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = torch.load(run / "checkpoint.pt", weights_only=True, map_location="cpu")
    weights = {name: tensor.half().numpy() for name, tensor in saved["model"].items()}
    safetensors.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    shutil.copy2(run / "tokenizer.json", folder)
    tokens = json.loads((run / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    ends = {"bos_token_id": None, "eos_token_id": tokens[END], "pad_token_id": tokens[PAD]}
    config: dict[str, Any] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
        **ends,
        **shape.model_dump(),
    }
    _write(folder / "config.json", config)
    _write(folder / "generation_config.json", ends)
    named = {"eos_token": END, "pad_token": PAD, "chat_template": CHAT_TEMPLATE}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    _write(folder / "tokenizer_config.json", {**kind, **named, "model_max_length": shape.max_position_embeddings})
    progress, cores = saved["progress"], f"{platform.machine()}, {os.cpu_count()} cores"
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else cores
    manifest = {
        "sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "parameters": int(sum(np.prod(array.shape) for array in weights.values())),
        "seed": seed,
        "steps": progress["step"],
        "tokens": progress["tokens"],
        "hours": round(progress["seconds"] / 3600, 2),
        "hardware": f"{device}, torch {torch.__version__}",
        "log": progress["log"],
    }
    _write(folder / "manifest.json", manifest)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
