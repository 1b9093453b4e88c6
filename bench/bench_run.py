"""Asking, side by side with bare clients, on a server on loopback: `python bench/bench_run.py`.

For each time that the server takes to answer: requests a second and CPU time of `run`, of the openai client alone and
of a bare HTTP client, in turn in the same run, at the same concurrency. Then the memory of a run of 100,000 requests;
the planning of 100,000; and what the order of prefixes saves of the prompts' text, with a cache smaller than the study.
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
from contextlib import contextmanager
from pathlib import Path

import httpx2
from openai import AsyncOpenAI

from codestress.inference.registry import load_registry
from codestress.inference.requests import BLOCK, WIDTH, chain, request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.papers.semtrace.contexts import distractors
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Response,
    Sampling,
    Score,
    Trial,
    Trials,
)

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

    return Trials(
        [Trial(f"q{n}", {"number": n}) for n in range(count)], render, {"strict": judge}
    )


async def openai_alone(trials: Trials, base_url: str, concurrency: int) -> None:
    """Asks by the openai client alone: nothing stored, nothing judged."""
    waiting: Iterator[Trial] = iter(trials.items)
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:

        async def worker() -> None:
            for trial in waiting:
                [message] = trials.render(trial).messages
                await client.chat.completions.create(
                    model="served",
                    messages=[{"role": "user", "content": message.content}],
                    max_tokens=1024,
                )

        await asyncio.gather(*(worker() for _ in range(concurrency)))


async def http_alone(trials: Trials, base_url: str, concurrency: int) -> None:
    """Asks by a bare HTTP client: the reply's JSON is read, and nothing else is done with it."""
    waiting: Iterator[Trial] = iter(trials.items)
    limits = httpx2.Limits(
        max_connections=concurrency, max_keepalive_connections=concurrency
    )
    async with httpx2.AsyncClient(limits=limits, timeout=60) as client:

        async def worker() -> None:
            for trial in waiting:
                [message] = trials.render(trial).messages
                body = {
                    "model": "served",
                    "messages": [{"role": "user", "content": message.content}],
                    "max_tokens": 1024,
                }
                reply = await client.post(f"{base_url}/chat/completions", json=body)
                reply.raise_for_status()
                json.loads(reply.content)

        await asyncio.gather(*(worker() for _ in range(concurrency)))


CLIENTS = {"openai client": openai_alone, "HTTP client": http_alone}
"""Clients beside `run`, by name."""


@contextmanager
def serving(delay_ms: float) -> Iterator[str]:
    """Base URL of a server on loopback that answers after `delay_ms` milliseconds."""
    command = [
        sys.executable,
        str(SERVER),
        "--port",
        "0",
        "--delay",
        str(delay_ms / 1000),
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def registry_of(base_url: str, folder: Path, concurrency: int) -> Path:
    """A registry whose only model, `served`, is at `base_url`."""
    path = folder / "models.yaml"
    settings = {"base_url": base_url, "key_env": "", "concurrency": concurrency}
    path.write_text(json.dumps({"served": {"engine": "openai", "settings": settings}}))
    return path


def told(name: str, numbers: list[float], unit: str) -> None:
    spread = f"min {min(numbers):,.2f}, max {max(numbers):,.2f}, {len(numbers)} runs"
    print(f"{name:52} median {statistics.median(numbers):10,.2f} {unit}  ({spread})")


def throughput(delay_ms: float, folder: Path, arguments: argparse.Namespace) -> None:
    """Prints what each client manages at a server that answers after `delay_ms` milliseconds."""
    folder.mkdir()
    count, concurrency = arguments.requests, arguments.concurrency
    names = ["run", *CLIENTS]
    rates: dict[str, list[float]] = {name: [] for name in names}
    cpus: dict[str, list[float]] = {name: [] for name in names}
    with serving(delay_ms) as base_url:
        registry = registry_of(base_url, folder, concurrency)
        for number in range(arguments.runs + 1):  # the first is a warm-up
            for place, name in enumerate(names):
                trials = make_trials(count, len(names) * number + place)
                started, before = time.perf_counter(), cpu()
                if name == "run":
                    run(
                        trials,
                        ["served"],
                        store=folder / f"{number}.sqlite",
                        registry=registry,
                    )
                else:
                    asyncio.run(CLIENTS[name](trials, base_url, concurrency))
                if number:
                    rates[name].append(count / (time.perf_counter() - started))
                    cpus[name].append((cpu() - before) / count * 1000)
    print(
        f"answers after {delay_ms:g} ms, {concurrency} in flight, {count:,} requests of 4 kB"
    )
    for name in names:
        told(f"  requests a second, {name}", rates[name], "/s")
        told(f"  CPU per request, {name}", cpus[name], "ms")
    for name in CLIENTS:
        shares = [
            ours / theirs
            for ours, theirs in zip(rates["run"], rates[name], strict=True)
        ]
        told(f"  requests a second of run, share of the {name}'s", shares, "")


def long_run(folder: Path, arguments: argparse.Namespace) -> None:
    """Prints how the memory grows in a run of many requests."""
    with serving(0) as base_url:
        registry = registry_of(base_url, folder, arguments.concurrency)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        trials = make_trials(arguments.long, -1)
        run(trials, ["served"], store=folder / "long.sqlite", registry=registry)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    text = arguments.long * 4.05 / 1000
    print(
        f"{arguments.long:,} requests in one run, {text:,.0f} MB of prompts: {time.perf_counter() - started:.0f} s, "
        f"memory grew by {grown:.0f} MB "
        f"({grown * 1e6 / arguments.long:,.0f} bytes a request, whose answer is kept for the figure)"
    )


def planning(folder: Path, count: int) -> None:
    """Prints how long it takes to find which of so many requests the store lacks, and the order of the others."""
    trials = make_trials(count, -2)
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
        store.get(keys)
        chains.sort()
        seconds = time.perf_counter() - started
    print(
        f"{count:,} requests of 4 kB planned in {seconds:.1f} s, of which {rendered:.1f} s write the prompts"
    )


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
                parts = [
                    "Read the code.\n",
                    *drawn[:at],
                    target,
                    *drawn[at:count],
                    "What does target return?",
                ]
                found.append(
                    chain(Prompt((Message("user", "\n\n".join(parts)),), Sampling()))
                )
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


def allowed(chains: Sequence[bytes]) -> float:
    """Share of the prompts' blocks that an unlimited cache of prefixes would not compute again."""
    blocks = [
        one[end - WIDTH : end]
        for one in chains
        for end in range(WIDTH, len(one) + 1, WIDTH)
    ]
    return 1 - len(set(blocks)) / len(blocks)


def prefixes(problems: int) -> None:
    """Prints what the order of prefixes saves of the prompts' text."""
    for name, counts in (
        ("one count of distractors", [40]),
        ("four counts, nested", [20, 40, 60, 80]),
    ):
        chains = positions(counts, problems)
        total = sum(len(one) // WIDTH for one in chains)
        capacity = 4 * max(len(one) // WIDTH for one in chains)
        shuffled = random.Random(0).sample(chains, len(chains))
        most = allowed(chains)
        by_order = 1 - computed(sorted(chains), capacity) / total
        by_chance = 1 - computed(shuffled, capacity) / total
        print(
            f"11 positions, {name}: the tree of prefixes allows {most:.1%}; by prefix {by_order:.1%} "
            f"({by_order / most:.0%} of it), shuffled {by_chance:.1%}  ({len(chains)} prompts, "
            f"{total * BLOCK / 1e6:.0f} MB, a cache of four prompts)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--requests", type=int, default=2000, help="requests of each run (2000)"
    )
    parser.add_argument(
        "--delays",
        type=float,
        nargs="+",
        default=[0, 5, 30],
        help="ms until an answer (0 5 30)",
    )
    parser.add_argument(
        "--concurrency", type=int, default=64, help="requests in flight (64)"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each client (5)")
    parser.add_argument(
        "--long",
        type=int,
        default=100_000,
        help="requests of the run whose memory is measured",
    )
    parser.add_argument(
        "--planned", type=int, default=100_000, help="requests that are planned"
    )
    parser.add_argument(
        "--problems", type=int, default=40, help="problems with shared prefixes"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for delay in arguments.delays:
            throughput(delay, Path(folder) / f"{delay:g}", arguments)
        long_run(Path(folder), arguments)
        planning(Path(folder), arguments.planned)
    prefixes(arguments.problems)


if __name__ == "__main__":
    main()
