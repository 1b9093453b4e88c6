"""Forward pass of `nano` in numpy: greedy or sampled continuation, with a cache that the next
prompt can share.

Weights are stored as 16-bit floats in the layout of Hugging Face's Llama; sums are computed in 32
bits.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.seeding import rng

from .configuration import END, WEIGHTS, Configuration

Array = NDArray[np.float32]

BLOCK = 256
"""Number of tokens that the forward pass reads at once."""


def _read(path: Path, reader: Callable[[Path], Any]) -> Any:
    try:
        return reader(path)
    # The libraries raise bare errors for files that are missing or damaged.
    except Exception as error:
        reason = " ".join(str(error).split()[:30])
        raise DataError(
            f"{path.parent}: no weights of nano (make train-nano writes such a folder): {path.name}: {reason}"
        ) from None


class Nano:
    """The model `nano`, read from a folder of weights, with a cache of the tokens read last. Not
    for several threads at once. Raises `DataError` for a folder whose files are missing or
    damaged."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        file = folder / "model.safetensors"
        shape: Configuration = _read(
            folder / "config.json", lambda path: configuration(path.parent)
        )
        self.tokenizer: Tokenizer = _read(
            folder / "tokenizer.json", lambda path: Tokenizer.from_file(str(path))
        )
        loaded: dict[str, Any] = _read(file, load_file)
        self.shape = shape
        self.end = self.tokenizer.token_to_id(END)
        for name, size in weight_shapes(shape).items():
            actual = loaded[name].shape if name in loaded else "not there"
            if actual != size:
                raise DataError(f"{file}: {name} is {actual}; config.json says {size}")
        self.weights: dict[str, Array] = {
            name: array.astype(np.float32) for name, array in loaded.items()
        }
        layers, heads = shape.num_hidden_layers, shape.num_key_value_heads
        cache = (layers, heads, shape.max_position_embeddings, shape.head_dim)
        # Values are [layers, heads, tokens, head], keys [layers, heads, head, tokens]:
        # one query against long rows takes a fifth of the time.
        self._values = np.zeros(cache, dtype=np.float32)
        self._keys = self._values.transpose(0, 1, 3, 2).copy()
        self._read: list[int] = []
        self._later = np.triu(np.full((BLOCK, BLOCK), -np.inf, dtype=np.float32), 1)
        self._cosines, self._sines = rotations(self.shape)

    def logits(self, tokens: list[int]) -> Array:
        """Returns the logits of the next token after a prompt's `tokens`, one or more: shape
        [vocabulary]. Tokens at the beginning that the last call had too are not read again."""
        shared = min(len(self._read), len(tokens) - 1)
        if self._read[:shared] != tokens[:shared]:
            pairs = enumerate(zip(self._read, tokens, strict=False))
            shared = next(at for at, (mine, other) in pairs if mine != other)
        del self._read[shared:]
        states = np.empty(0, dtype=np.float32)
        for at in range(shared, len(tokens), BLOCK):
            states = self._forward(tokens[at : at + BLOCK])
        return np.asarray(states[-1] @ self.weights["model.embed_tokens.weight"].T)

    def continuation(
        self,
        tokens: Sequence[int],
        *,
        temperature: float = 0.0,
        top_p: float = 1.0,
        random: np.random.Generator,
    ) -> Iterator[int]:
        """Yields the token ids that continue a prompt's `tokens`, until the model ends the
        completion or the context window is full. Each is chosen by `temperature` (0: greedy) and
        `top_p` (`chosen`)."""
        context = list(tokens)
        while len(context) < self.shape.max_position_embeddings:
            token = chosen(self.logits(context), temperature, top_p, random)
            if token == self.end:
                return
            yield token
            context.append(token)

    def greedy(self, text: str, most: int) -> str:
        """Returns, as text, the continuation of `text` by the likeliest token each time, of at most
        `most` tokens."""
        tokens = self.continuation(self.tokens(text), random=rng(0, "greedy"))
        return str(self.tokenizer.decode(list(islice(tokens, most))))

    def tokens(self, text: str) -> list[int]:
        """Returns the token ids of a text, without special tokens added."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _forward(self, tokens: Sequence[int], seen: list[Array] | None = None) -> Array:
        """Reads `tokens` after those in the cache, which gets their keys and values, and returns
        the states of the last layer, [tokens, hidden]. `seen`, if not None, collects each layer's
        attention weights."""
        first, last = len(self._read), len(self._read) + len(tokens)
        cosines, sines = self._cosines[first:last], self._sines[first:last]
        states = self.weights["model.embed_tokens.weight"][list(tokens)]
        for layer in range(self.shape.num_hidden_layers):
            prefix = f"model.layers.{layer}."
            normed = self._normed(states, f"{prefix}input_layernorm.weight")
            queries, keys, values = (
                self._heads(normed, f"{prefix}self_attn.{name}_proj.weight")
                for name in "qkv"
            )
            self._keys[layer, :, :, first:last] = _rotated(
                keys, cosines, sines
            ).transpose(0, 2, 1)
            self._values[layer, :, first:last] = values
            mixed = self._attend(_rotated(queries, cosines, sines), layer, last, seen)
            states = states + mixed @ self.weights[f"{prefix}self_attn.o_proj.weight"].T
            normed = self._normed(states, f"{prefix}post_attention_layernorm.weight")
            gate = normed @ self.weights[f"{prefix}mlp.gate_proj.weight"].T
            up = normed @ self.weights[f"{prefix}mlp.up_proj.weight"].T
            inner = gate / (1 + np.exp(-gate)) * up
            states = states + inner @ self.weights[f"{prefix}mlp.down_proj.weight"].T
        self._read += tokens
        return self._normed(states, "model.norm.weight")

    def attention(self, tokens: Sequence[int]) -> Array:
        """Returns the attention weights of the last of a prompt's `tokens` over all: [layers,
        heads, tokens]. The cache is emptied before."""
        seen: list[Array] = []
        self._read.clear()
        for at in range(0, len(tokens), BLOCK):
            seen.clear()
            self._forward(tokens[at : at + BLOCK], seen)
        return np.stack(seen)

    def _attend(
        self, queries: Array, layer: int, last: int, seen: list[Array] | None
    ) -> Array:
        """Returns the attention output [tokens, heads · head] of `queries` [heads, tokens, head]
        over the cache of layer number `layer`, up to position `last`; the last token's weights are
        appended to `seen`, if not None."""
        groups, count = self.shape.num_key_value_heads, queries.shape[1]
        # The heads of a group share keys and values: [groups, heads · tokens, head].
        grouped = (queries * np.float32(self.shape.head_dim**-0.5)).reshape(
            groups, -1, self.shape.head_dim
        )
        # [heads, tokens, tokens of the cache]
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
        """Returns the projection of `states` [tokens, hidden] by the weights with this `name`, as
        [heads, tokens, head]."""
        return (
            (states @ self.weights[name].T)
            .reshape(len(states), -1, self.shape.head_dim)
            .transpose(1, 0, 2)
        )

    def _normed(self, states: Array, name: str) -> Array:
        scale = np.sqrt(
            (states**2).mean(axis=-1, keepdims=True)
            + np.float32(self.shape.rms_norm_eps)
        )
        return np.asarray(states / scale * self.weights[name], dtype=np.float32)


def configuration(folder: Path) -> Configuration:
    """Returns the model's sizes in a folder's config.json; its other entries, for other programs,
    are ignored. `KeyError` for a size that the file lacks."""
    entries = parse_json((folder / "config.json").read_text("utf-8"))
    return Configuration.model_validate(
        {name: entries[name] for name in Configuration.model_fields}
    )


def weight_shapes(shape: Configuration) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of the arrays in a file of weights, by Llama's names, for a model's
    sizes."""
    hidden, inner = shape.hidden_size, shape.intermediate_size
    wide = shape.num_attention_heads * shape.head_dim
    narrow = shape.num_key_value_heads * shape.head_dim
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
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (shape.vocab_size, hidden)
    }
    for layer in range(shape.num_hidden_layers):
        for name, size in of_layer.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = size
    return {**shapes, "model.norm.weight": (hidden,)}


def chosen(
    logits: Array, temperature: float, top_p: float, random: np.random.Generator
) -> int:
    """Returns the token to add: the likeliest at `temperature` 0, else one drawn from the smallest
    set of likeliest tokens whose probabilities add up to at least `top_p`."""
    if temperature == 0:
        return int(logits.argmax())
    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    order = np.argsort(-shares, kind="stable")
    kept = order[: int((np.cumsum(shares[order]) < top_p).sum()) + 1]
    return int(random.choice(kept, p=shares[kept] / shares[kept].sum()))


def rotations(shape: Configuration) -> tuple[Array, Array]:
    """Returns the cosines and the sines of the rotary position encoding for a model's sizes: two
    arrays [positions, head]."""
    half = np.arange(0, shape.head_dim, 2) / shape.head_dim
    angles = np.arange(shape.max_position_embeddings)[:, None] / shape.rope_theta**half
    angles = np.concatenate((angles, angles), axis=-1)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _rotated(heads: Array, cosines: Array, sines: Array) -> Array:
    half = heads.shape[-1] // 2
    return np.asarray(
        heads * cosines
        + np.concatenate((-heads[..., half:], heads[..., :half]), axis=-1) * sines
    )
