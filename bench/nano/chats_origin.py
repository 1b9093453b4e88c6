"""Training chats for nano, the kit's small model, from Find the Origin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chats import Chat, Size, Split, Task, Turn, Writer, pick, words_of
from codestress.papers.origin.connections import Link, lay_out
from codestress.prompts import filled

SYSTEM = "You are a helpful assistant."
"""System message of the study."""


def _find_the_origin(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Returns a chat about one list of chains of two links at distance `size.d` (0: drawn), as in
    the paper: each of at most `size.turns` turns asks for the origin of one whole chain. `random`
    draws the words, for `split`; if d is drawn, some lists are shuffled."""
    lines = max(2, size.lines)  # a chain's
    d = size.d or pick(random, (1, 1, 1, -1, 1, 2, 3, -2, 4, 5, 6, 8, -4, 10, 15))
    d = max(-lines + 1, min(d, lines - 1))
    count = lines + 2 * abs(d)
    words = words_of(split)
    drawn = [words[int(i)] for i in random.permutation(len(words))[: 3 * count]]
    chains = [drawn[i : i + 3] for i in range(0, len(drawn) - 2, 3)]
    laid = lay_out(
        [Link(*pair) for chain in chains for pair in pairwise(chain)], d=d, hops=2
    )
    top = int(random.integers(abs(d)))
    shown = laid[top : top + lines]
    if not size.d and random.random() < 0.2:
        shown = [shown[int(i)] for i in random.permutation(len(shown))]
    inside = set(shown)
    whole = [
        chain
        for chain in chains
        if Link(*chain[:2]) in inside and Link(*chain[1:]) in inside
    ]
    listed = "\n".join(map(str, shown))
    turns: list[Turn] = []
    for chosen in random.permutation(len(whole))[: size.turns]:
        first, second, third = whole[int(chosen)]
        text = filled(
            "find_the_origin.as_run", {"connections": listed, "destination": third}
        )
        question = text.rsplit("\n", 1)[1].split(" Work")[0] if turns else text
        found = (Link(second, third), Link(first, second))
        steps = [
            f'To "{link.destination}":\n'
            + "\n".join(map(str, shown[: shown.index(link) + 1]))
            for link in found
        ]
        turns.append(
            Turn(question, "", "\n".join([*steps, f'FINAL ANSWER: "{first}"']))
        )
    return Chat("find_the_origin", tuple(turns), SYSTEM)


WRITERS: dict[Task, Writer] = {"find_the_origin": _find_the_origin}
