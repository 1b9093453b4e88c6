"""How fast the kit's small transformer reads and writes: `python bench/bench_nano.py`.

Medians of 7 prompts each, one thread: tokens read a second without anything shared, and tokens written a second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from codestress.nano.model import Nano

sys.path.insert(0, str(Path(__file__).with_name("nano")))

from chats import Size, chat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--prompts", type=int, default=7, help="prompts of each length (7)"
    )
    prompts: int = parser.parse_args().prompts
    for lines in (16, 48):
        read, written, lengths = [], [], []
        for number in range(prompts):
            model = Nano()
            question = (
                chat("line_retrieval", Size(lines, 1), "evaluate", 9, number)
                .turns[0]
                .question
            )
            tokens = model.tokenizer.encode(question).ids
            started = time.perf_counter()
            model.logits(tokens)
            read.append(len(tokens) / (time.perf_counter() - started))
            started = time.perf_counter()
            told = list(
                islice(
                    model.continuation(
                        tokens, temperature=1, random=np.random.default_rng(number)
                    ),
                    40,
                )
            )
            written.append(len(told) / (time.perf_counter() - started))
            lengths.append(len(tokens))
        print(
            f"{lines} lines, {statistics.median(lengths):.0f} tokens: reads {statistics.median(read):,.0f}, "
            f"writes {statistics.median(written):,.0f} tokens a second"
        )


if __name__ == "__main__":
    with threadpool_limits(1, user_api="blas"):
        main()
