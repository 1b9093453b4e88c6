"""What `nano` can do on prompts it was not trained on; needs no torch.

Held out: seeds, words, keys and distractors that the training split never shows. Greedy decoding, judged as strictly
as the studies judge: lines and functions to the character, values by type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from codestress.fitting.proportions import wilson
from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.nano.chats import Chat, Size, Task, chat
from codestress.nano.model import END, START, Nano
from codestress.seeding import rng

Rows = list[dict[str, Any]]
PLACES = 8
"""Parts of a block, from its first lines to its last, by which retrieval is told."""


def answered(model: Nano, one: Chat) -> str:
    """The model's answer to a chat's first question."""
    system = f"{START}system\n{one.system}{END}\n" if one.system else ""
    turn = one.turns[0]
    text = f"{system}{START}user\n{turn.question}{END}\n{START}assistant\n{turn.begun}"
    tokens = model.tokenizer.encode(text, add_special_tokens=False).ids
    longest = 2 * len(model.tokenizer.encode(turn.answer, add_special_tokens=False).ids) + 40
    told = model.continuation(tokens, random=rng(0, "greedy"))
    return str(model.tokenizer.decode([token for token, _ in zip(told, range(longest), strict=False)]))


def shares(model: Nano, task: Task, sizes: Sequence[Size], asked: int) -> Rows:
    """For each size: right of asked, Wilson's 95 % interval, and the mean number of tokens in a prompt."""
    rows: Rows = []
    for size in sizes:
        chats = [chat(task, size, "evaluate", 1, number) for number in range(asked)]
        found = sum(right(task, answered(model, one), one.turns[0].answer) for one in chats)
        tokens = np.mean([len(model.tokenizer.encode(one.turns[0].question).ids) for one in chats])
        low, high = wilson(found, asked)
        row = {"task": task, "lines": size.lines, "right": found, "asked": asked, "share": round(found / asked, 4)}
        rows.append(row | {"low": round(low, 4), "high": round(high, 4), "tokens": round(float(tokens))})
    return rows


def right(task: Task, said: str, expected: str) -> bool:
    """Whether an answer counts, steps before it aside: the origin, the value of a literal, or all of the text."""
    if task == "find_the_origin":
        return said.rsplit("\n", 1)[-1] == expected.rsplit("\n", 1)[-1]
    if task not in ("semtrace", "output_prediction"):
        return said == expected
    try:
        return same_value(_value(said), _value(expected))
    except NotLiteral:
        return False


def _value(text: str) -> object:
    """Of a Python literal before the end of a block of code, comments in it or not; sums left in it are none."""
    read = parse_literal(text.removesuffix("```").strip())
    if read.unresolved:
        raise NotLiteral("arithmetic is left in it")
    return read.value


def by_place(model: Nano, lines: int, asked: int) -> Rows:
    """Line retrieval by the part of the block in which the line stands."""
    right, total = Counter[int](), Counter[int]()
    for number in range(asked):
        one = chat("line_retrieval", Size(lines, 1), "evaluate", 2, number)
        line = one.turns[0].answer.split("\n")[1]
        block = one.turns[0].question.split("```python\n", 1)[1].split("\n```", 1)[0].split("\n")
        part = block.index(line) * PLACES // len(block)
        total[part] += 1
        right[part] += answered(model, one) == one.turns[0].answer
    rows = []
    for part in sorted(total):
        low, high = wilson(right[part], total[part])
        row = {"part": part + 1, "lines": lines, "right": right[part], "asked": total[part]}
        rows.append(row | {"share": round(right[part] / total[part], 4), "low": round(low, 4), "high": round(high, 4)})
    return rows


def evaluate(folder: Path, asked: int) -> dict[str, Any]:
    """All of it, for the weights in a folder; a process per core.

    Outputs are few that are right: four times as many are asked for.
    """
    kinds: list[tuple[str, Task, list[Size]]] = [
        ("line_retrieval", "line_retrieval", [Size(lines, 1) for lines in (4, 8, 16, 24, 48, 96, 200)]),
        ("function_retrieval", "function_retrieval", [Size(16, 1)]),
        ("find_the_origin, d = 1", "find_the_origin", [Size(lines, 1, d=1) for lines in (8, 24)]),
        ("semtrace", "semtrace", [Size(turns=1)]),
        ("output_prediction", "output_prediction", [Size(turns=1)]),
    ]
    many = 4 * asked
    answers = (chat("output_prediction", Size(turns=1), "evaluate", 1, n).turns[0].answer for n in range(many))
    outputs = [repr(_value(answer)) for answer in answers]
    with (
        ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_one_thread) as pool,
        tqdm(total=1 + sum(len(sizes) for _, _, sizes in kinds), unit="row") as progress,
    ):

        def submitted(work: Callable[..., Rows], *about: Any) -> Future[Rows]:
            future = pool.submit(work, folder, *about)
            future.add_done_callback(lambda _: progress.update())
            return future

        places = submitted(_by_place, 96, 2 * asked)
        rows = {
            name: [submitted(_shares, task, size, many if task == "output_prediction" else asked) for size in sizes]
            for name, task, sizes in kinds
        }
        return {
            **{name: [row for one in waiting for row in one.result()] for name, waiting in rows.items()},
            "majority answer of output_prediction": round(max(Counter(outputs).values()) / many, 4),
            "line_retrieval by place": places.result(),
        }


def _one_thread() -> None:
    threadpool_limits(1, user_api="blas")


def _shares(folder: Path, task: Task, size: Size, asked: int) -> Rows:
    return shares(Nano(folder), task, [size], asked)


def _by_place(folder: Path, lines: int, asked: int) -> Rows:
    return by_place(Nano(folder), lines, asked)
