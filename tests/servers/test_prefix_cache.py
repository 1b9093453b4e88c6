"""The order of requests, by vLLM's own counters of its prefix cache; opt-in (`make test-vllm`)."""

from __future__ import annotations

import asyncio
import json
import random
import re
import urllib.request
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path

from real_servers import Checkpoint, checkpoint, needs_vllm, vllm_server

from codestress.inference.engines.openai import open_engine
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.types import Outcome, Prompt, Score, Trial, Trials
from served import prompt

__all__ = ["checkpoint"]
pytestmark = needs_vllm
BLOCK, BLOCKS = 32, 210
"""Tokens of a block, the fewest that vLLM's CPU build takes, and blocks of the cache: far fewer than the study's."""
FLAGS = f"--block-size {BLOCK} --num-gpu-blocks-override {BLOCKS} --max-model-len 3000 --max-num-seqs 2"


def render(trial: Trial) -> Prompt:
    """Return a prompt of 30 functions and, at the trial's place among them, another one."""
    number, place = int(trial.factors["number"] or 0), int(trial.factors["place"] or 0)
    parts = []
    for n in range(30):
        body = f"return x * {n * 37 + number} + len('{n} of {number}')"
        parts.append(f"def other_{number}_{n}(x):\n    {body}\n\n\n")
    wanted = f"def wanted_{number}(x):\n    return x + {number}\n\n\n"
    parts.insert(place * 3, wanted)
    return prompt("".join(parts), max_tokens=1)


def trials_by_place() -> Trials:
    items = []
    for place in range(11):
        for number in range(12):
            items.append(Trial(str(number), {"number": number, "place": place}))
    return Trials(items, render, {"strict": lambda *_: Score(Outcome.CORRECT, 1.0)})


def saved_share(base_url: str) -> float:
    """Return the share of tokens that the server found in its prefix cache."""
    url = base_url.removesuffix("/v1") + "/metrics"
    text = urllib.request.urlopen(url).read().decode()
    counts = {}
    for name in ("queries", "hits"):
        sign = rf"^vllm:prefix_cache_{name}_total\S* (\S+)"
        counts[name] = float(re.findall(sign, text, re.M)[0])
    return counts["hits"] / counts["queries"]


def tokens_of(base_url: str, model: str, prompt: Prompt) -> list[int]:
    """Return the prompt's tokens as the server makes them."""
    messages = [{"role": "user", "content": prompt.messages[0].content}]
    request = urllib.request.Request(
        base_url.removesuffix("/v1") + "/tokenize",
        json.dumps({"model": model, "messages": messages}).encode(),
        {"Content-Type": "application/json"},
    )
    tokens: list[int] = json.loads(urllib.request.urlopen(request).read())["tokens"]
    return tokens


def possible_share(prompts: Sequence[list[int]]) -> float:
    """Return the share of tokens in full blocks that a prompt shares with an earlier one."""
    shared = 0
    for last, tokens in pairwise(sorted(prompts)):
        pairs = zip(last, tokens, strict=False)
        common = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
        shared += len(common) // BLOCK * BLOCK
    return shared / sum(map(len, prompts))


def ask_shuffled(trials: Trials, entry: ModelEntry) -> None:
    """Send all requests in an order of chance, two at a time: what happens without an order."""
    requests = [request_of(trials, trial, entry) for trial in trials.items]
    random.Random(0).shuffle(requests)

    async def ask() -> None:
        engine = open_engine(entry)
        waiting = iter(requests)

        async def worker() -> None:
            for request in waiting:
                await engine.answer(request)

        await asyncio.gather(worker(), worker())
        await engine.close()

    asyncio.run(ask())


def test_the_order_saves_what_the_tree_of_prefixes_allows(
    checkpoint: Checkpoint,
    tmp_path: Path,
) -> None:
    trials, registry = trials_by_place(), tmp_path / "served.yaml"
    log, store = tmp_path / "server.log", tmp_path / "ordered.sqlite"

    def write_row(base_url: str) -> None:
        row = checkpoint.row("openai", base_url=base_url, key_env="", concurrency=1)
        registry.write_text(json.dumps({"tiny": row}))

    with vllm_server(checkpoint, log, *FLAGS.split()) as base_url:
        write_row(base_url)
        model = str(checkpoint.folder)
        prompts = map(render, trials.items)
        tokens = [tokens_of(base_url, model, prompt) for prompt in prompts]
        run(trials, ["tiny"], store=store, registry=registry)
        ordered = saved_share(base_url)
    with vllm_server(checkpoint, log, *FLAGS.split()) as base_url:
        write_row(base_url)
        ask_shuffled(trials, load_registry(registry)["tiny"])
        shuffled = saved_share(base_url)
    possible = possible_share(tokens)
    print(f"\nsaved {ordered:.1%} of {possible:.1%}, shuffled {shuffled:.1%}")
    assert ordered >= 0.95 * possible
    assert shuffled < 0.5 * possible
