"""Forward pass of `nano` in numpy: greedy or sampled continuation, with a cache of keys
and values that the next prompt can reuse.

Weights are stored as 16-bit floats in the layout of Hugging Face's Llama; computations
use 32 bits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from codestress.errors import DataError
from codestress.seeding import rng

from .configuration import END, WEIGHTS, Configuration

Array = NDArray[np.float32]

BLOCK = 256
"""Largest number of tokens in one forward pass."""
EMBEDDING, LAST_SCALE = "model.embed_tokens.weight", "model.norm.weight"
"""Llama's names of the weights outside the layers."""


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """Return a context manager with `path`, in which every error becomes a `DataError`
    with the remedy."""
    try:
        yield path
    # The libraries raise bare errors for files that are missing or damaged.
    except Exception as error:
        reason = " ".join(str(error).split()[:30])
        raise DataError(
            f"{path.parent}: no weights of nano (make train-nano writes such a folder): {path.name}: {reason}"
        ) from None


class Nano:
    """The model `nano`, read from a folder of weights, with a cache of the tokens read
    last.

    A `Nano` cannot be used from several threads at once. Raises `DataError` if files of
    the folder are missing or damaged.
    """

    def __init__(self, folder: Path = WEIGHTS) -> None:
        with _readable(folder / "config.json") as path:
            shape = Configuration.model_validate_json(path.read_bytes())
        with _readable(folder / "tokenizer.json") as path:
            self.tokenizer = Tokenizer.from_file(str(path))
        self.shape = shape
        self.end = self.tokenizer.token_to_id(END)
        layers, heads = shape.num_hidden_layers, shape.num_key_value_heads
        cache = (layers, heads, shape.max_position_embeddings, shape.head_dim)
        # Values are [layers, heads, tokens, head], but keys [layers, heads, head, tokens]:
        # a product of one query with long rows takes a fifth of the time.
        self._values = np.zeros(cache, dtype=np.float32)
        self._keys = self._values.transpose(0, 1, 3, 2).copy()
        self._read: list[int] = []
        # Attention weights of the last token over all tokens, [heads, tokens], by layer.
        self._seen: list[Array] = []
        self._later = np.triu(np.full((BLOCK, BLOCK), -np.inf, dtype=np.float32), 1)
        self._cosines, self._sines = rotations(shape)
        with _readable(folder / "model.safetensors") as path:
            self.weights: dict[str, Array] = {}
            for name, weights in load_file(path).items():
                self.weights[name] = weights.astype(np.float32)
            size = (shape.vocab_size, shape.hidden_size)
            actual = self.weights[EMBEDDING].shape
            if actual != size:
                raise ValueError(f"{EMBEDDING} is {actual}; config.json says {size}")
            self.logits([0])  # fails if other sizes are not those of config.json
            self._read.clear()

    def logits(self, tokens: list[int]) -> Array:
        """Return the logits of the token that follows a prompt's `tokens` (one or more
        ids), shape [vocabulary].

        A beginning of the prompt that the last call had too is not read again.
        """
        shared = 0
        for before, token in zip(self._read, tokens[:-1], strict=False):
            if before != token:
                break
            shared += 1
        del self._read[shared:]
        states = np.empty(0, dtype=np.float32)
        for at in range(shared, len(tokens), BLOCK):
            states = self._forward(tokens[at : at + BLOCK])
        logits: Array = states[-1] @ self.weights[EMBEDDING].T
        return logits

    def attention(self, tokens: list[int]) -> Array:
        """Return the attention weights of the last of a prompt's `tokens` over all its
        tokens: shape [layers, heads, tokens]. The prompt is read anew, without the
        cache."""
        self._read.clear()
        self.logits(tokens)
        return np.stack(self._seen)

    def continuation(
        self,
        tokens: Sequence[int],
        *,
        temperature: float = 0.0,
        top_p: float = 1.0,
        random: np.random.Generator,
    ) -> Iterator[int]:
        """Yield the token ids that continue a prompt's `tokens`, until the model ends
        the completion or the context window is full.

        `temperature` (0: greedy) and `top_p` determine the choice of each token
        (`chosen`), with random numbers from `random`.
        """
        context = list(tokens)
        while len(context) < self.shape.max_position_embeddings:
            token = chosen(self.logits(context), temperature, top_p, random)
            if token == self.end:
                return
            yield token
            context.append(token)

    def greedy(self, text: str, most: int) -> str:
        """Return the continuation of `text` with the most likely token at each step, as
        text, of at most `most` tokens."""
        tokens = self.continuation(self.tokens(text), random=rng(0, "greedy"))
        return str(self.tokenizer.decode(list(islice(tokens, most))))

    def tokens(self, text: str) -> list[int]:
        """Return the token ids of a text; no special tokens are added."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _forward(self, tokens: list[int]) -> Array:
        """Read `tokens` after those in the cache, and return the normalised states of
        the last layer, [tokens, hidden].

        The keys and values of the tokens are added to the cache.
        """
        self._seen.clear()
        first = len(self._read)
        last = first + len(tokens)
        states = self.weights[EMBEDDING][tokens]
        for number in range(self.shape.num_hidden_layers):
            weight = partial(self._weight, number)
            normed = self._normed(states, weight("input_layernorm"))
            keys = self._rotated(self._heads(normed, weight("self_attn.k_proj")), first)
            self._keys[number, :, :, first:last] = keys.transpose(0, 2, 1)
            self._values[number, :, first:last] = self._heads(
                normed, weight("self_attn.v_proj")
            )
            queries = self._rotated(
                self._heads(normed, weight("self_attn.q_proj")), first
            )
            mixed = self._attend(queries, number, last)
            states = states + mixed @ weight("self_attn.o_proj").T
            normed = self._normed(states, weight("post_attention_layernorm"))
            gate = normed @ weight("mlp.gate_proj").T
            inner = gate / (1 + np.exp(-gate)) * (normed @ weight("mlp.up_proj").T)
            states = states + inner @ weight("mlp.down_proj").T
        self._read += tokens
        return self._normed(states, self.weights[LAST_SCALE])

    def _weight(self, layer: int, name: str) -> Array:
        """Return the weight with Llama's `name` of layer number `layer`: a scale of
        shape [hidden], or a matrix [out, in]."""
        return self.weights[f"model.layers.{layer}.{name}.weight"]

    def _attend(self, queries: Array, layer: int, last: int) -> Array:
        """Return the output of attention, [tokens, heads · head], of `queries` [heads,
        tokens, head] over the cache of layer number `layer`, up to position `last`."""
        groups, count = self.shape.num_key_value_heads, queries.shape[1]
        size = self.shape.head_dim
        # The heads of a group share keys and values: [groups, heads · tokens, head].
        scaled = queries * np.float32(size**-0.5)
        grouped = scaled.reshape(groups, -1, size)
        # [heads, tokens, tokens of the cache]
        scores = (grouped @ self._keys[layer, :, :, :last]).reshape(-1, count, last)
        scores[:, :, last - count :] += self._later[:count, :count]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=-1, keepdims=True)
        self._seen.append(scores[:, -1] / sums[:, -1])
        grouped = scores.reshape(groups, -1, last)
        mixed = grouped @ self._values[layer, :, :last]
        output: Array = mixed.reshape(-1, count, size) / sums
        return output.transpose(1, 0, 2).reshape(count, -1)

    def _heads(self, states: Array, weights: Array) -> Array:
        """Return the product of `states` [tokens, hidden] and `weights` [heads · head,
        hidden], split by head: [heads, tokens, head]."""
        projected = states @ weights.T
        heads = projected.reshape(len(states), -1, self.shape.head_dim)
        return heads.transpose(1, 0, 2)

    def _rotated(self, heads: Array, first: int) -> Array:
        """Return `heads` [heads, tokens, head] with the rotary encoding of their
        positions, the first of which is `first`."""
        positions = slice(first, first + heads.shape[1])
        half = heads.shape[2] // 2
        turned = np.concatenate((-heads[..., half:], heads[..., :half]), axis=-1)
        rotated: Array = (
            heads * self._cosines[positions] + turned * self._sines[positions]
        )
        return rotated

    def _normed(self, states: Array, scale: Array) -> Array:
        squares = (states**2).mean(axis=-1, keepdims=True)
        root = np.sqrt(squares + np.float32(self.shape.rms_norm_eps))
        normed: Array = states / root * scale
        return normed


def chosen(
    logits: Array, temperature: float, top_p: float, random: np.random.Generator
) -> int:
    """Return the id of the next token: the most likely one at `temperature` 0, else a
    random one.

    A random token is drawn from the smallest set of most likely tokens whose
    probabilities add up to at least `top_p`.
    """
    if temperature == 0:
        return int(logits.argmax())
    scaled = np.exp((logits - logits.max()) / temperature)
    shares = scaled / scaled.sum()
    order = np.argsort(-shares, kind="stable")
    lacking = np.cumsum(shares[order]) < top_p
    likeliest = order[: lacking.sum() + 1]
    kept = shares[likeliest]
    return int(random.choice(likeliest, p=kept / kept.sum()))


def rotations(shape: Configuration) -> tuple[Array, Array]:
    """Return the cosines and the sines of the rotary position encoding for a model of
    sizes `shape`: two arrays [positions, head]."""
    half = np.arange(0, shape.head_dim, 2) / shape.head_dim
    positions = np.arange(shape.max_position_embeddings)
    angles = np.tile(positions[:, None] / shape.rope_theta**half, 2)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
