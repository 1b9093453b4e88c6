"""Asking, side by side with a bare client, on a server on loopback that answers at once: `python bench/bench_run.py`.

Throughput and CPU time of `run` against the openai client alone at the same concurrency; 100,000 requests planned; the
memory of a long run; and what the order of prefixes saves of the prompts' text, with a cache smaller than the study.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

from codestress.inference.registry import load_registry
from codestress.inference.requests import BLOCK, WIDTH, chain, prefix_order, request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.papers.semtrace.contexts import distractors
from codestress.types import Message, Outcome, Prompt, Response, Sampling, Score, Trial, Trials

SERVER = Path(__file__).resolve().parents[1] / "tests" / "openai_server.py"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_trials(count: int, marker: int) -> Trials:
    """Prompts of 4 kB, different in every run."""

    def render(trial: Trial) -> Prompt:
        text = f"run {marker}, question {trial.factors['number']}. " + "word " * 800
        return Prompt((Message("user", text),), Sampling())

    def judge(_: Trial, response: Response) -> Score:
        return Score(Outcome.CORRECT, float(bool(response.text)))

    return Trials([Trial(f"q{n}", {"number": n}) for n in range(count)], render, {"strict": judge})


async def bare(trials: Trials, base_url: str, concurrency: int) -> None:
    """The openai client alone: nothing stored, nothing judged."""
    from openai import AsyncOpenAI

    waiting: Iterator[Trial] = iter(trials.items)
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:

        async def worker() -> None:
            for trial in waiting:
                [message] = trials.render(trial).messages
                await client.chat.completions.create(
                    model="served", messages=[{"role": "user", "content": message.content}], max_tokens=1024
                )

        await asyncio.gather(*(worker() for _ in range(concurrency)))


def told(name: str, numbers: list[float], unit: str) -> None:
    spread = f"min {min(numbers):,.2f}, max {max(numbers):,.2f}, {len(numbers)} runs"
    print(f"{name:44} median {statistics.median(numbers):10,.2f} {unit}  ({spread})")


def throughput(base_url: str, folder: Path, arguments: argparse.Namespace) -> None:
    registry = folder / "models.yaml"
    settings = {"base_url": base_url, "key_env": "", "concurrency": arguments.concurrency}
    registry.write_text(json.dumps({"served": {"engine": "openai", "settings": settings}}))
    count = arguments.requests
    rates: dict[str, list[float]] = {"the openai client alone": [], "run": []}
    cpus: dict[str, list[float]] = {"the openai client alone": [], "run": []}
    for number in range(arguments.runs + 1):  # the first is a warm-up
        for name in rates:
            trials = make_trials(count, 2 * number + (name == "run"))
            started, before = time.perf_counter(), cpu()
            if name == "run":
                run(trials, ["served"], store=folder / f"{number}.sqlite", registry=registry)
            else:
                asyncio.run(bare(trials, base_url, arguments.concurrency))
            if number:
                rates[name].append(count / (time.perf_counter() - started))
                cpus[name].append((cpu() - before) / count * 1000)
    for name in rates:
        told(f"requests a second, {name}", rates[name], "/s")
        told(f"CPU per request, {name}", cpus[name], "ms")
    told("throughput of run, share of the client's", [b / a for a, b in zip(*rates.values(), strict=True)], "")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    run(make_trials(arguments.long, -1), ["served"], store=folder / "long.sqlite", registry=registry)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    text = arguments.long * 4.05 / 1000
    print(
        f"{arguments.long:,} requests in one run, {text:,.0f} MB of prompts: {time.perf_counter() - started:.0f} s, "
        f"memory grew by {grown:.0f} MB "
        f"({grown * 1e6 / arguments.long:,.0f} bytes a request, whose answer is kept for the figure)"
    )


def planning(folder: Path) -> None:
    """Which of 100,000 requests the store lacks, and the order of the others."""
    trials = make_trials(100_000, -2)
    entry = load_registry()["sim-near"]
    rendered = time.perf_counter()
    for trial in trials.items:
        trials.render(trial)
    rendered = time.perf_counter() - rendered
    with Store(folder / "empty.sqlite") as store:
        started = time.perf_counter()
        chains = []
        keys = []
        for trial in trials.items:
            request = request_of(trials, trial, entry)
            keys.append(request.key)
            chains.append(chain(request.prompt))
        store.missing(keys)
        prefix_order(chains)
        seconds = time.perf_counter() - started
    print(f"100,000 requests of 4 kB planned in {seconds:.1f} s, of which {rendered:.1f} s write the prompts")


def positions(counts: Sequence[int], problems: int) -> list[bytes]:
    """Chains of prompts with a target at 11 places among distractors, the first of more being the same."""
    pool = distractors("installed")
    found = []
    for problem in range(problems):
        drawn = random.Random(problem).sample(pool, max(counts))
        target = f"def target_{problem}(x):\n    return {problem} * x\n"
        for count in counts:
            for place in range(11):
                at = round(place * count / 10)
                parts = ["Read the code.\n", *drawn[:at], target, *drawn[at:count], "What does target return?"]
                found.append(chain(Prompt((Message("user", "\n\n".join(parts)),), Sampling())))
    return found


def computed(sequence: Sequence[bytes], capacity: int) -> int:
    """Blocks computed by a server with a least-recently-used cache of so many, one request after the other."""
    cache: OrderedDict[bytes, None] = OrderedDict()
    misses = 0
    for one in sequence:
        for end in range(WIDTH, len(one) + 1, WIDTH):
            block = one[end - WIDTH : end]
            if block in cache:
                cache.move_to_end(block)
            else:
                misses += 1
                cache[block] = None
                if len(cache) > capacity:
                    cache.popitem(last=False)
    return misses


def prefixes() -> None:
    for name, counts in (("one count of distractors", [40]), ("four counts, nested", [20, 40, 60, 80])):
        chains = positions(counts, 40)
        order = prefix_order(chains)
        total = sum(len(one) // WIDTH for one in chains)
        capacity = 4 * max(len(one) // WIDTH for one in chains)
        shuffled = random.Random(0).sample(chains, len(chains))
        by_order = 1 - computed([chains[index] for index in order.requests], capacity) / total
        by_chance = 1 - computed(shuffled, capacity) / total
        print(
            f"11 positions, {name}: the tree of prefixes allows {order.saved:.1%}; by prefix {by_order:.1%} "
            f"({by_order / order.saved:.0%} of it), shuffled {by_chance:.1%}  ({len(chains)} prompts, "
            f"{total * BLOCK / 1e6:.0f} MB, a cache of four prompts)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--long", type=int, default=20_000, help="requests of the run whose memory is measured")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    server = subprocess.Popen([sys.executable, str(SERVER), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            throughput(server.stdout.readline().strip(), Path(folder), arguments)
            planning(Path(folder))
    finally:
        server.kill()
    prefixes()


if __name__ == "__main__":
    main()
