"""CPU time of `run` on top of the bare engine, side by side against a server on loopback that answers at once."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from codestress.inference.registry import engine_module, load_registry
from codestress.inference.run import request_of, run
from codestress.types import Message, Prompt, Reason, Response, Sampling, Score, Trial, Trials

SERVER = Path(__file__).resolve().parents[1] / "tests" / "openai_server.py"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_trials(count: int, marker: int) -> Trials:
    """Prompts of 4 kB, different in every run."""

    def render(trial: Trial) -> Prompt:
        return Prompt(
            (Message("user", f"run {marker}, question {trial.factors['number']}. " + "word " * 800),), Sampling()
        )

    def judge(_: Trial, response: Response) -> Score:
        return Score(Reason.RIGHT, float(bool(response.text)))

    return Trials([Trial(f"q{n}", {"number": n}) for n in range(count)], render, {"strict": judge})


async def bare(trials: Trials, registry: Path) -> None:
    """The engine alone, at the same concurrency."""
    entry = load_registry(registry)["served"]
    engine = engine_module(entry).open_engine(entry)
    waiting = iter(trials.items)

    async def worker() -> None:
        for trial in waiting:
            await engine.answer(request_of(trials, trial, entry, attempt=0))

    await asyncio.gather(*(worker() for _ in range(engine.concurrency)))
    await engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    server = subprocess.Popen([sys.executable, str(SERVER), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            registry = Path(folder) / "models.yaml"
            settings = {"base_url": base_url, "key_env": "", "concurrency": arguments.concurrency}
            registry.write_text(json.dumps({"served": {"engine": "openai", "settings": settings}}))
            alone, whole = [], []
            for number in range(arguments.runs + 1):  # the first is a warm-up
                started = cpu()
                asyncio.run(bare(make_trials(arguments.requests, 2 * number), registry))
                between = cpu()
                store = Path(folder) / f"{number}.sqlite"
                run(make_trials(arguments.requests, 2 * number + 1), ["served"], store=store, registry=registry)
                if number:
                    alone.append((between - started) / arguments.requests * 1000)
                    whole.append((cpu() - between) / arguments.requests * 1000)
    finally:
        server.kill()
    on_top = [b - a for a, b in zip(alone, whole, strict=True)]
    for name, numbers in (("the bare engine", alone), ("run", whole), ("run on top of it", on_top)):
        spread = f"min {min(numbers):.2f}, max {max(numbers):.2f}"
        print(f"CPU per request, {name:18} median {statistics.median(numbers):.2f} ms  ({spread})")


if __name__ == "__main__":
    main()
