"""Times the store: opening one with many responses and asking what is missing; CPU time of a write."""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from codestress.inference.store import Store
from codestress.types import Response, Usage


def told(name: str, numbers: list[float], unit: str) -> None:
    middle = statistics.median(numbers)
    print(
        f"{name:58} median {middle:7.3f} {unit}  (min {min(numbers):.3f}, max {max(numbers):.3f}, {len(numbers)} runs)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--written", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    draw = random.Random(0)
    stored = [f"{draw.getrandbits(128):032x}" for _ in range(arguments.responses)]
    absent = [f"{draw.getrandbits(128):032x}" for _ in range(arguments.keys // 2)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "responses.sqlite"
        text = (
            "To find the origin I go back from it step by step. FINAL ANSWER: workbench. "
            * 4
        )
        usage, at = Usage(4000, 80), "2026-01-01T00:00:00+00:00"
        response = Response(text, "stop", usage, 1.5, answered_by="m", answered_at=at)
        with Store(path) as store:
            store.put_all((key, "m", response) for key in stored)
        wanted = draw.sample(stored, arguments.keys - len(absent)) + absent
        draw.shuffle(wanted)
        asking = []
        for _ in range(arguments.runs):
            started = time.perf_counter()
            with Store(path) as store:
                missing = len(wanted) - len(store.get(wanted))
            asking.append(time.perf_counter() - started)
            if missing != len(absent):
                raise SystemExit(
                    f"expected {len(absent)} missing keys, found {missing}"
                )
        told(
            f"open {arguments.responses:,}, what is missing of {arguments.keys:,}",
            asking,
            "s",
        )
        writing = []
        for run in range(arguments.runs):
            with Store(Path(folder) / f"{run}.sqlite") as store:
                started = time.process_time()
                for number in range(arguments.written):
                    store.put(f"{number:032x}", "m", Response(text, "stop"))
                writing.append(
                    (time.process_time() - started) / arguments.written * 1000
                )
        told("CPU per response written, one at a time", writing, "ms")


if __name__ == "__main__":
    main()
