"""The forward pass of `nano` in numpy: greedy or sampled continuation, with a cache that the next prompt can share.

Weights are stored as 16-bit floats in the layout of Hugging Face's Llama; sums are made in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.nano.configuration import END, WEIGHTS, Configuration
from codestress.seeding import rng

Array = NDArray[np.float32]

BLOCK = 256
"""Tokens that are read at once."""


def _read(path: Path, reader: Callable[[Path], Any]) -> Any:
    try:
        return reader(path)
    except Exception as error:  # the libraries raise bare ones for files that are missing or damaged
        told = " ".join(str(error).split()[:30])
        raise DataError(
            f"{path.parent}: no weights of nano (codestress nano train writes such a folder): {path.name}: {told}"
        ) from None


class Nano:
    """The model and what it has read last. Not for several threads at once."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        self.shape: Configuration = _read(folder / "config.json", lambda path: configuration(path.parent))
        self.tokenizer: Tokenizer = _read(folder / "tokenizer.json", lambda path: Tokenizer.from_file(str(path)))
        loaded: dict[str, Any] = _read(folder / "model.safetensors", load_file)
        self.end = self.tokenizer.token_to_id(END)
        for name, size in weight_shapes(self.shape).items():
            if name not in loaded or loaded[name].shape != size:
                found = loaded[name].shape if name in loaded else "not there"
                raise DataError(f"{folder / 'model.safetensors'}: {name} is {found}; config.json says {size}")
        self.weights: dict[str, Array] = {name: array.astype(np.float32) for name, array in loaded.items()}
        shape = (self.shape.num_hidden_layers, self.shape.num_key_value_heads, self.shape.max_position_embeddings)
        self._values = np.zeros((*shape, self.shape.head_dim), dtype=np.float32)
        self._keys = self._values.transpose(0, 1, 3, 2).copy()  # one query against long rows: a fifth of the time
        self._read: list[int] = []
        self._later = np.triu(np.full((BLOCK, BLOCK), -np.inf, dtype=np.float32), 1)
        self._cosines, self._sines = rotations(self.shape)

    def logits(self, tokens: list[int]) -> Array:
        """Of what follows the tokens: [vocabulary]. What they share with the last call is not read again."""
        shared = min(len(self._read), len(tokens) - 1)
        if self._read[:shared] != tokens[:shared]:
            shared = next(at for at, (mine, other) in enumerate(zip(self._read, tokens, strict=False)) if mine != other)
        del self._read[shared:]
        states = np.empty(0, dtype=np.float32)
        for at in range(shared, len(tokens), BLOCK):
            states = self._forward(tokens[at : at + BLOCK])
        return np.asarray(states[-1] @ self.weights["model.embed_tokens.weight"].T)

    def continuation(
        self, tokens: Sequence[int], *, temperature: float = 0.0, top_p: float = 1.0, random: np.random.Generator
    ) -> Iterator[int]:
        """Tokens after a prompt, until the end of the answer or of the context."""
        told = list(tokens)
        while len(told) < self.shape.max_position_embeddings:
            token = chosen(self.logits(told), temperature, top_p, random)
            if token == self.end:
                return
            yield token
            told.append(token)

    def greedy(self, text: str, most: int) -> str:
        """The likeliest text after another, of at most so many tokens."""
        told = self.continuation(self.tokens(text), random=rng(0, "greedy"))
        return str(self.tokenizer.decode([token for token, _ in zip(told, range(most), strict=False)]))

    def tokens(self, text: str) -> list[int]:
        """Of a text as it is."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _forward(self, tokens: Sequence[int], seen: list[Array] | None = None) -> Array:
        """States of the last layer, [tokens, hidden]; keys and values go into the cache."""
        first, last = len(self._read), len(self._read) + len(tokens)
        cosines, sines = self._cosines[first:last], self._sines[first:last]
        states = self.weights["model.embed_tokens.weight"][list(tokens)]
        for layer in range(self.shape.num_hidden_layers):
            prefix = f"model.layers.{layer}."
            normed = self._normed(states, f"{prefix}input_layernorm.weight")
            queries, keys, values = (self._heads(normed, f"{prefix}self_attn.{name}_proj.weight") for name in "qkv")
            self._keys[layer, :, :, first:last] = _rotated(keys, cosines, sines).transpose(0, 2, 1)
            self._values[layer, :, first:last] = values
            mixed = self._attend(_rotated(queries, cosines, sines), layer, last, seen)
            states = states + mixed @ self.weights[f"{prefix}self_attn.o_proj.weight"].T
            normed = self._normed(states, f"{prefix}post_attention_layernorm.weight")
            gate = normed @ self.weights[f"{prefix}mlp.gate_proj.weight"].T
            up = normed @ self.weights[f"{prefix}mlp.up_proj.weight"].T
            states = states + (gate / (1 + np.exp(-gate)) * up) @ self.weights[f"{prefix}mlp.down_proj.weight"].T
        self._read += tokens
        return self._normed(states, "model.norm.weight")

    def attention(self, tokens: Sequence[int]) -> Array:
        """Where the last token looks: weights [layers, heads, tokens] of a prompt's last position."""
        seen: list[Array] = []
        self._read.clear()
        for at in range(0, len(tokens), BLOCK):
            seen.clear()
            self._forward(tokens[at : at + BLOCK], seen)
        return np.stack(seen)

    def _attend(self, queries: Array, layer: int, last: int, seen: list[Array] | None) -> Array:
        """[heads, tokens, head] over the cache to [tokens, heads · head]; the last token's weights go into `seen`."""
        groups, count = self.shape.num_key_value_heads, queries.shape[1]
        grouped = (queries * np.float32(self.shape.head_dim**-0.5)).reshape(groups, -1, self.shape.head_dim)
        scores = (grouped @ self._keys[layer, :, :, :last]).reshape(-1, count, last)
        scores[:, :, last - count :] += self._later[:count, :count]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=-1, keepdims=True)
        if seen is not None:
            seen.append(scores[:, -1] / sums[:, -1])
        mixed = scores.reshape(groups, -1, last) @ self._values[layer, :, :last]
        mixed = mixed.reshape(-1, count, self.shape.head_dim) / sums
        return np.asarray(mixed.transpose(1, 0, 2).reshape(count, -1))

    def _heads(self, states: Array, name: str) -> Array:
        """[tokens, hidden] to [heads, tokens, head]."""
        return (states @ self.weights[name].T).reshape(len(states), -1, self.shape.head_dim).transpose(1, 0, 2)

    def _normed(self, states: Array, name: str) -> Array:
        scale = np.sqrt((states**2).mean(axis=-1, keepdims=True) + np.float32(self.shape.rms_norm_eps))
        return np.asarray(states / scale * self.weights[name], dtype=np.float32)


def configuration(folder: Path) -> Configuration:
    """The shape that a config.json names; its other entries are for other programs."""
    told = parse_json((folder / "config.json").read_text(encoding="utf-8"))
    return Configuration.model_validate({name: told[name] for name in Configuration.model_fields})


def weight_shapes(shape: Configuration) -> dict[str, tuple[int, ...]]:
    """What a file of weights holds, by Llama's names."""
    hidden, inner = shape.hidden_size, shape.intermediate_size
    wide, narrow = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
    of_layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (hidden,),
        "self_attn.q_proj": (wide, hidden),
        "self_attn.k_proj": (narrow, hidden),
        "self_attn.v_proj": (narrow, hidden),
        "self_attn.o_proj": (hidden, wide),
        "post_attention_layernorm": (hidden,),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
    }
    layers = range(shape.num_hidden_layers)
    return {
        "model.embed_tokens.weight": (shape.vocab_size, hidden),
        **{f"model.layers.{layer}.{name}.weight": size for layer in layers for name, size in of_layer.items()},
        "model.norm.weight": (hidden,),
    }


def chosen(logits: Array, temperature: float, top_p: float, random: np.random.Generator) -> int:
    """The likeliest token, or one drawn from the smallest set of likely ones that holds `top_p`."""
    if temperature == 0:
        return int(logits.argmax())
    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    order = np.argsort(-shares, kind="stable")
    kept = order[: int((np.cumsum(shares[order]) < top_p).sum()) + 1]
    return int(random.choice(kept, p=shares[kept] / shares[kept].sum()))


def rotations(shape: Configuration) -> tuple[Array, Array]:
    """Cosines and sines of the rotary positions: [positions, head]."""
    half = np.arange(0, shape.head_dim, 2) / shape.head_dim
    angles = np.arange(shape.max_position_embeddings)[:, None] / shape.rope_theta**half
    angles = np.concatenate((angles, angles), axis=-1)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _rotated(heads: Array, cosines: Array, sines: Array) -> Array:
    half = heads.shape[-1] // 2
    return np.asarray(heads * cosines + np.concatenate((-heads[..., half:], heads[..., :half]), axis=-1) * sines)
