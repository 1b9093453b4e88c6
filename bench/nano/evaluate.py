"""Accuracy of `nano` on held-out prompts.

Held out are seeds, words, keys and distractors that the training split never shows. Decoding is
greedy, scoring as strict as in the studies: lines and functions to the character, values by type.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from chats import Chat, Size, Task, block_of, chat
from codestress.fitting.proportions import wilson
from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.nano.configuration import chatml
from codestress.nano.model import Nano

Row = dict[str, Any]
BY_PLACE = "line_retrieval by place"
PLACES = 8
"""Number of parts of a block, first lines to last, by which retrieval is reported."""


def answered(model: Nano, one: Chat) -> str:
    """Returns the model's greedy completion (the likeliest token each time) for the first question
    of the chat `one`."""
    turn = one.turns[0]
    said = [("system", one.system)] if one.system else []
    text = chatml([*said, ("user", turn.question)], turn.begun)
    return model.greedy(text, 2 * len(model.tokens(turn.answer)) + 40)


def _counted(found: int, asked: int) -> Row:
    """Returns a row of `found` correct answers of `asked`: right (`found`), asked, share (`found` /
    `asked`), low, high (Wilson's 95 % interval)."""
    low, high = (round(end, 4) for end in wilson(found, asked))
    return {
        "right": found,
        "asked": asked,
        "share": round(found / asked, 4),
        "low": low,
        "high": high,
    }


def share(folder: Path, task: Task, size: Size, asked: int) -> list[Row]:
    """Returns a list with one row: the accuracy on `task` at `size`, from `asked` held-out chats
    and the weights in `folder`.

    Columns: task, lines, right, asked, share, low, high, tokens (their mean number in a question).
    """
    model = Nano(folder)
    chats = [chat(task, size, "evaluate", 1, number) for number in range(asked)]
    found = sum(right(task, answered(model, one), one.turns[0].answer) for one in chats)
    tokens = np.mean(
        [len(model.tokenizer.encode(one.turns[0].question).ids) for one in chats]
    )
    counts = _counted(found, asked)
    return [
        {"task": task, "lines": size.lines, **counts, "tokens": round(float(tokens))}
    ]


def right(task: Task, said: str, expected: str) -> bool:
    """Whether the answer `said` is correct, given the answer `expected`: by the last line (Find the
    Origin), by the value of a literal (SemTrace and output prediction; False for no literal), or by
    the whole text (other tasks)."""
    if task == "find_the_origin":
        return said.rsplit("\n", 1)[-1] == expected.rsplit("\n", 1)[-1]
    if task not in ("semtrace", "output_prediction"):
        return said == expected
    try:
        return same_value(_value(said), _value(expected))
    except NotLiteral:
        return False


def _value(text: str) -> object:
    """Returns the value of the Python literal `text`, which may have comments and a closing fence;
    raises `NotLiteral` for arithmetic and for any other text."""
    read = parse_literal(text.removesuffix("```").strip())
    if read.unresolved:
        raise NotLiteral("arithmetic is left in it")
    return read.value


def by_place(folder: Path, lines: int, asked: int) -> list[Row]:
    """Returns the accuracy of line retrieval in blocks of `lines` lines: a row for each of the
    eight parts of the block (1: the first lines) that held a line asked for.

    Columns: part, lines, right, asked, share, low, high. `asked` held-out chats are answered by the
    weights in `folder`.
    """
    model = Nano(folder)
    right, total = Counter[int](), Counter[int]()
    for number in range(asked):
        one = chat("line_retrieval", Size(lines, 1), "evaluate", 2, number)
        line = one.turns[0].answer.split("\n")[1]
        block = block_of(one.turns[0].question)
        part = block.index(line) * PLACES // len(block)
        total[part] += 1
        right[part] += answered(model, one) == one.turns[0].answer
    return [
        {"part": part + 1, "lines": lines, **_counted(right[part], total[part])}
        for part in sorted(total)
    ]


def evaluate(folder: Path, asked: int) -> dict[str, Any]:
    """Evaluates the weights in a folder on all tasks but copying, with a process per core.

    Returns, by task, a row for each size (`share`), each from `asked` chats, and four times as many
    for output prediction, because few of its answers are correct; under `BY_PLACE` the rows of
    `by_place` (twice as many chats); and the share of the most frequent output, a guess that reads
    no program.
    """
    sizes: dict[Task, list[Size]] = {
        "line_retrieval": [Size(lines, 1) for lines in (4, 8, 16, 24, 48, 96, 200)],
        "function_retrieval": [Size(16, 1)],
        "find_the_origin": [Size(lines, 1, d=1) for lines in (8, 24)],
        "semtrace": [Size(turns=1)],
        "output_prediction": [Size(turns=1)],
    }
    names = {"find_the_origin": "find_the_origin, d = 1"}
    Nano(folder)  # weights that are damaged are told at once
    many = 4 * asked
    answers = (
        chat("output_prediction", Size(turns=1), "evaluate", 1, n).turns[0].answer
        for n in range(many)
    )
    outputs = [repr(_value(answer)) for answer in answers]
    table: dict[str, Any] = {names.get(task, task): [] for task in sizes}
    table["majority answer of output_prediction"] = round(
        max(Counter(outputs).values()) / many, 4
    )
    table[BY_PLACE] = []
    with ProcessPoolExecutor(
        None, get_context("spawn"), threadpool_limits, (1, "blas")
    ) as pool:
        waiting = [(BY_PLACE, pool.submit(by_place, folder, 96, 2 * asked))]
        for task in sizes:
            name, count = (
                names.get(task, task),
                many if task == "output_prediction" else asked,
            )
            for size in sizes[task]:
                waiting.append((name, pool.submit(share, folder, task, size, count)))
        for name, rows in tqdm(waiting, unit="row"):
            table[name] += rows.result()
    return table
