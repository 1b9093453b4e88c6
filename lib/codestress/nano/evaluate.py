"""What `nano` can do on prompts it was not trained on; needs no torch.

Held out: seeds, words, keys and distractors that the training split never shows. Greedy decoding, judged as strictly
as the studies judge: lines and functions to the character, values by type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from codestress.fitting.proportions import wilson
from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.nano.chats import Chat, Size, Task, block_of, chat
from codestress.nano.configuration import chatml
from codestress.nano.model import Nano

Row = dict[str, Any]
BY_PLACE = "line_retrieval by place"
PLACES = 8
"""Parts of a block, from its first lines to its last, by which retrieval is told."""


def answered(model: Nano, one: Chat) -> str:
    """The model's answer to a chat's first question."""
    turn = one.turns[0]
    said = [("system", one.system)] if one.system else []
    text = chatml([*said, ("user", turn.question)], turn.begun)
    return model.greedy(text, 2 * len(model.tokens(turn.answer)) + 40)


def _counted(found: int, asked: int) -> Row:
    """Right of asked, with Wilson's 95 % interval."""
    low, high = (round(end, 4) for end in wilson(found, asked))
    return {"right": found, "asked": asked, "share": round(found / asked, 4), "low": low, "high": high}


def share(folder: Path, task: Task, size: Size, asked: int) -> list[Row]:
    """How many answers are right, and the mean number of tokens in a prompt: one row."""
    model = Nano(folder)
    chats = [chat(task, size, "evaluate", 1, number) for number in range(asked)]
    found = sum(right(task, answered(model, one), one.turns[0].answer) for one in chats)
    tokens = np.mean([len(model.tokenizer.encode(one.turns[0].question).ids) for one in chats])
    return [{"task": task, "lines": size.lines, **_counted(found, asked), "tokens": round(float(tokens))}]


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


def by_place(folder: Path, lines: int, asked: int) -> list[Row]:
    """Line retrieval by the part of the block in which the line stands."""
    model = Nano(folder)
    right, total = Counter[int](), Counter[int]()
    for number in range(asked):
        one = chat("line_retrieval", Size(lines, 1), "evaluate", 2, number)
        line = one.turns[0].answer.split("\n")[1]
        block = block_of(one.turns[0].question)
        part = block.index(line) * PLACES // len(block)
        total[part] += 1
        right[part] += answered(model, one) == one.turns[0].answer
    return [{"part": part + 1, "lines": lines, **_counted(right[part], total[part])} for part in sorted(total)]


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
    jobs: list[tuple[str, Callable[..., list[Row]], *tuple[Any, ...]]] = [(BY_PLACE, by_place, 96, 2 * asked)]
    for name, task, sizes in kinds:
        jobs += [(name, share, task, size, many if task == "output_prediction" else asked) for size in sizes]
    found: dict[str, Any] = {name: [] for name, _, _ in kinds}
    found["majority answer of output_prediction"] = round(max(Counter(outputs).values()) / many, 4)
    found[BY_PLACE] = []
    spawned = get_context("spawn")
    with ProcessPoolExecutor(mp_context=spawned, initializer=threadpool_limits, initargs=(1, "blas")) as pool:
        waiting = [(name, pool.submit(work, folder, *about)) for name, work, *about in jobs]
        for name, rows in tqdm(waiting, unit="row"):
            found[name] += rows.result()
    return found
