"""Trains `nano` (`make train-nano`).

Stages follow each other; each has its tasks and sizes, and ends when held-out chats are answered well enough. The run
can be stopped and goes on from its last checkpoint. The data are a function of seed and step; the weights are not
bit-identical between processors.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import Field
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from codestress.inference.nano.configuration import Configuration
from codestress.seeding import rng
from codestress.training.chats import Size, Split, Task, chat
from codestress.training.transformer import Transformer
from codestress.training.vocabulary import encode, train_tokenizer
from codestress.validation import Strict


class Stage(Strict):
    """A part of the curriculum."""

    tasks: dict[Task, float]
    """What is trained on, by weight."""
    fewest_lines: int = Field(gt=0)
    most_lines: int = Field(gt=0)
    """Of a context; drawn evenly by logarithm."""
    until: dict[Task, float] = {}
    """Shares of held-out chats of the most lines, answered right, that end the stage."""
    most_tokens: int = Field(10**12, gt=0)
    """That end it in any case."""


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
    evaluate_every: int = 100
    evaluated: int = 48
    """Held-out chats of each task at each evaluation."""
    hours: float = Field(1.0, gt=0)
    """Time of the whole run, over all its parts."""
    stages: list[Stage]


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


def batch_of(step: int, stage: Stage, training: Training, tokenizer: str) -> list[tuple[list[int], list[bool]]]:
    """The chats of one step, encoded; a function of seed and step."""
    random = rng(training.seed, "nano batch", step)
    names = list(stage.tasks)
    weights = np.array([stage.tasks[name] for name in names])
    rows: list[tuple[list[int], list[bool]]] = []
    while sum(len(tokens) for tokens, _ in rows) < training.batch_tokens:
        task = names[int(random.choice(len(names), p=weights / weights.sum()))]
        low, high = stage.fewest_lines, stage.most_lines
        lines = round(math.exp(random.uniform(math.log(low), math.log(high + 0.49))))
        one = chat(task, Size(lines, training.turns), "train", training.seed, int(random.integers(2**50)))
        tokens, learnt = encode(_tokenizer(tokenizer), one)
        rows.append(
            (tokens[: training.shape.max_position_embeddings], learnt[: training.shape.max_position_embeddings])
        )
    return rows


def stacked(rows: Sequence[tuple[list[int], list[bool]]]) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows of about one length together: token ids and what is learnt, [rows, length]."""
    ordered = sorted(rows, key=lambda row: len(row[0]))
    for at in range(0, len(ordered), 4):
        part = ordered[at : at + 4]
        longest = max(len(tokens) for tokens, _ in part)
        ids = torch.zeros(len(part), longest, dtype=torch.long)
        learnt = torch.zeros(len(part), longest, dtype=torch.bool)
        for row, (tokens, marks) in enumerate(part):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            learnt[row, : len(marks)] = torch.tensor(marks)
        yield ids, learnt


def accuracy(model: Transformer, rows: Sequence[tuple[list[int], list[bool]]], device: str) -> float:
    """Share of chats whose every learnt token is the most likely one, which is what greedy decoding would give."""
    right = 0
    model.eval()
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        for ids, learnt in stacked(rows):
            ids, learnt = ids.to(device), learnt.to(device)
            best = model.logits(model(ids[:, :-1])).argmax(-1)
            right += int(((best == ids[:, 1:]) | ~learnt[:, 1:]).all(1).sum())
    model.train()
    return right / len(rows)


def held_out(task: Task, lines: int, training: Training, tokenizer: Tokenizer) -> list[tuple[list[int], list[bool]]]:
    """Chats with one question each, whose seeds, words, keys and distractors are never trained on."""
    split: Split = "evaluate"
    chats = (chat(task, Size(lines, 1), split, training.seed, number) for number in range(training.evaluated))
    return [encode(tokenizer, one) for one in chats]


def optimizers(model: Transformer, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, AdamW for the rest."""
    matrices = [p for name, p in model.named_parameters() if p.dim() == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.dim() != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.01, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def train(training: Training, folder: Path) -> None:
    """Runs until its hours are used up, from the last checkpoint in `folder` where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(training.seed)
    path = folder / "tokenizer.json"
    if not path.exists():
        train_tokenizer(training.seed).save(str(path))
    tokenizer = _tokenizer(str(path))
    model = Transformer(training.shape).to(device)
    progress = Progress()
    tuned = optimizers(model, training.learning_rate)
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(saved["model"])
        for optimizer, state in zip(tuned, saved["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        progress = Progress(**saved["progress"])
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters on {device}", flush=True)
    started = time.monotonic() - progress.seconds
    total = training.hours * 3600
    with ProcessPoolExecutor(1) as writer:

        def ahead(step: int) -> Any:
            return writer.submit(batch_of, step, training.stages[progress.stage], training, str(path))

        waiting = [ahead(progress.step + i) for i in range(3)]
        losses: list[float] = []
        while progress.seconds < total:
            rows = waiting.pop(0).result()
            waiting.append(ahead(progress.step + 3))
            left = 1 - progress.seconds / total
            rate = training.learning_rate * min(
                1.0, (progress.step + 1) / training.warmup_steps, left / training.decay_share
            )
            losses.append(_step(model, tuned, rows, rate, device))
            progress.step += 1
            tokens = sum(len(ids) for ids, _ in rows)
            progress.tokens += tokens
            progress.stage_tokens += tokens
            progress.seconds = time.monotonic() - started
            if progress.step % training.evaluate_every == 0:
                stage = training.stages[progress.stage]
                asked = {}
                for task in stage.tasks:
                    rows = held_out(task, stage.most_lines, training, tokenizer)
                    asked[task] = accuracy(model, rows, device)
                progress.log.append(_entry(progress, stage, rate, float(np.mean(losses)), asked))
                losses.clear()
                print(json.dumps(progress.log[-1]), flush=True)
                done = bool(stage.until) and all(asked[task] >= share for task, share in stage.until.items())
                if (done or progress.stage_tokens >= stage.most_tokens) and progress.stage + 1 < len(training.stages):
                    progress.stage, progress.stage_tokens = progress.stage + 1, 0
                _save(checkpoint, model, tuned, progress)
    _save(checkpoint, model, tuned, progress)


def _entry(progress: Progress, stage: Stage, rate: float, loss: float, asked: Mapping[Task, float]) -> dict[str, Any]:
    """A line of the log; shares are of held-out chats of the stage's most lines."""
    where = {"step": progress.step, "tokens": progress.tokens, "seconds": round(progress.seconds)}
    what = {"stage": progress.stage, "lines": stage.most_lines, "rate": rate, "loss": round(loss, 4)}
    return where | what | {str(task): round(share, 4) for task, share in asked.items()}


def _step(model: Transformer, tuned: Sequence[torch.optim.Optimizer], rows: Any, rate: float, device: str) -> float:
    """One update; the loss is the mean over all learnt tokens of the batch."""
    learnt_tokens = sum(sum(marks[1:]) for _, marks in rows)
    total = 0.0
    for ids, learnt in stacked(rows):
        ids, learnt = ids.to(device), learnt.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):  # slower on CPUs at this size
            states = model(ids[:, :-1])[learnt[:, 1:]]
            logits = model.logits(states)
        loss = functional.cross_entropy(logits.float(), ids[:, 1:][learnt[:, 1:]], reduction="sum") / learnt_tokens
        loss.backward()
        total += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in tuned:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return total


def _save(path: Path, model: Transformer, tuned: Sequence[torch.optim.Optimizer], progress: Progress) -> None:
    new = path.with_suffix(".new")
    torch.save(
        {"model": model.state_dict(), "optimizers": [o.state_dict() for o in tuned], "progress": asdict(progress)}, new
    )
    new.replace(path)
