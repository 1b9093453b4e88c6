"""What `nano` can do on prompts it was not trained on, and its training drawn; needs no torch.

Held out: seeds, words, keys and distractors that the training split never shows. Greedy decoding, judged as strictly
as the studies judge: lines and functions to the character, values by type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from codestress.errors import DataError
from codestress.fitting.proportions import wilson
from codestress.literals import NotLiteral, parse_json, parse_literal, same_value
from codestress.nano.chats import Chat, Size, Task, block_of, chat
from codestress.nano.configuration import chatml
from codestress.nano.model import Nano
from codestress.report.style import COLOURS, MARKERS, use_style

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
    Nano(folder)  # weights that are damaged are told at once
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


def training_log(folder: Path) -> pd.DataFrame:
    """What weights' manifest.json says of their training, a row for each evaluation; `DataError` where it is none."""
    path = folder / "manifest.json"
    try:
        log = pd.DataFrame(parse_json(path.read_text(encoding="utf-8"))["log"], dtype=float)
        return log.dropna(subset=["tokens", "stage"])
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise DataError(f"{path}: has no log of a training: {' '.join(str(error).split()[:20])}") from None


def training_figure(log: pd.DataFrame, found: dict[str, Any]) -> Figure:
    """Held-out accuracy over tokens, stages marked; retrieval by the part of the context in which the line stands."""
    use_style()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    for task, colour, marker in zip(get_args(Task), COLOURS, MARKERS, strict=False):
        if task in log:
            one = log.dropna(subset=[task])
            shown = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 1}
            left.plot(one["tokens"] / 1e6, 100 * one[task], label=task, **shown)
    for tokens in log["tokens"][log["stage"].diff(-1).fillna(0) != 0]:
        left.axvline(tokens / 1e6, linestyle=":", color="0.5", linewidth=0.8)
    left.set(xlabel="tokens seen (millions); dotted: a new stage", ylabel="held-out answers right (%)", ylim=(0, 104))
    left.legend(fontsize=6, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    rows = pd.DataFrame(found[BY_PLACE])
    middle, low, high = (100 * rows[name] for name in ("share", "low", "high"))
    ends = (middle - low, high - middle)
    right.errorbar(rows["part"], middle, yerr=ends, color=COLOURS[0], marker=MARKERS[0], capsize=2)
    lines = rows["lines"].iloc[0]
    right.set(xlabel=f"eighth of the context ({lines} lines)", ylabel="lines retrieved (%)", ylim=(0, 100))
    return figure
