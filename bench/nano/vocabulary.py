"""The tokenizer of `nano`: byte-level BPE, trained on the prompts it will read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    pre_tokenizers,
    trainers,
)

from chats import Chat, Size, Task, chat
from codestress.nano.configuration import END, START, chatml

SIZE = 1536
"""Entries."""
PAD = "<|pad|>"
PIECES = (
    r"\b[0-9a-f]{2}(?=[0-9a-f]{4}\b)"  # a key of six hexadecimal digits is three pairs
    r"|(?<=\b[0-9a-f]{2})[0-9a-f]{2}(?=[0-9a-f]{2}\b)"
    r"|(?<=\b[0-9a-f]{4})[0-9a-f]{2}\b"
    r"| ?[A-Za-z]+"
    r"|[0-9]"  # a digit is one token
    r"| ?[^\sA-Za-z0-9]+|\n| +(?!\S)|\s+"
)
"""What merges never cross; a space belongs to the word after it."""


def train_tokenizer(seed: int, chats: int = 6000) -> Tokenizer:
    """From the first chats of the training split."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(seed, chats), trainer)
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True) for token in (PAD, START, END)]
    )
    return tokenizer


def _texts(seed: int, chats: int) -> Iterator[str]:
    """Text to learn merges from: mostly what stands in templates, sometimes all of one, and all pairs of digits."""
    for number in range(chats):
        for task in get_args(Task):
            one = chat(task, Size(lines=24, turns=2), "train", seed, -1 - number)
            yield one.turns[0].question if number % 20 == 0 else _content(one)
    pairs = [f"{value:02x}" for value in range(256)]
    yield from (
        " ".join(
            a + b + c for a, b, c in zip(pairs, pairs[1:], pairs[2:], strict=False)
        )
        for _ in range(20)
    )


def _content(one: Chat) -> str:
    """The context without the words around it."""
    question = one.turns[0].question
    for opening, closing in (
        ("```python\n", "\n```"),
        ("[FUNCTIONS]\n", "[/FUNCTIONS]"),
        ("meaning:\n", "Your task"),
    ):
        if opening in question:
            return question.split(opening, 1)[1].split(closing, 1)[0]
    return question


def encode(tokenizer: Tokenizer, one: Chat) -> tuple[list[int], list[bool]]:
    """A chat's tokens, and which of them are learnt: what the assistant says, to its end.

    The given beginning of an answer and the rest are encoded apart, as they are when the model is asked.
    """
    pieces: list[tuple[str, bool]] = []
    if one.system:
        pieces.append((f"{START}system\n{one.system}{END}\n", False))
    for turn in one.turns:
        asked = chatml([("user", turn.question)], turn.begun)
        pieces += [(asked, False), (f"{turn.answer}{END}", True), ("\n", False)]
    encoded = tokenizer.encode_batch(
        [text for text, _ in pieces], add_special_tokens=False
    )
    tokens, learnt = [], []
    for piece, (_, learn) in zip(encoded, pieces, strict=True):
        tokens += piece.ids
        learnt += [learn] * len(piece.ids)
    return tokens[:-1], learnt[:-1]
