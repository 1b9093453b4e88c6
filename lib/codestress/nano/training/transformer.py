"""The transformer of `nano` in torch: Llama's architecture, with its names for weights, so that others load it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from codestress.nano.configuration import Configuration
from codestress.nano.model import rotations


class Attention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(self, shape: Configuration) -> None:
        super().__init__()
        self.shape = shape
        wide, narrow = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, wide, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, narrow, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, narrow, bias=False)
        self.o_proj = nn.Linear(wide, shape.hidden_size, bias=False)

    def forward(self, states: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        batch, length, _ = states.shape

        def heads(projected: Tensor) -> Tensor:
            return projected.view(batch, length, -1, self.shape.head_dim).transpose(1, 2)

        queries = rotated(heads(self.q_proj(states)), cosines, sines)
        keys = rotated(heads(self.k_proj(states)), cosines, sines)
        values = heads(self.v_proj(states))
        mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


def rotated(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotary positions, the halves of a head paired."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cosines.to(heads.dtype) + torch.cat((-second, first), dim=-1) * sines.to(heads.dtype)


class Mlp(nn.Module):
    """SwiGLU."""

    def __init__(self, shape: Configuration) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(states)) * self.up_proj(states))


class Layer(nn.Module):
    def __init__(self, shape: Configuration) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.mlp = Mlp(shape)

    def forward(self, states: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        states = states + self.self_attn(self.input_layernorm(states), cosines, sines)
        return states + self.mlp(self.post_attention_layernorm(states))


class Decoder(nn.Module):
    def __init__(self, shape: Configuration) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)


class Transformer(nn.Module):
    """Tokens to the last layer's states; `logits` reads the vocabulary off them by the embedding's own weights."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, shape: Configuration) -> None:
        super().__init__()
        self.shape = shape
        self.model = Decoder(shape)
        for name, table in zip(("cosines", "sines"), rotations(shape), strict=True):
            self.register_buffer(name, torch.from_numpy(table), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = (
                    1 / (2 * shape.num_hidden_layers) ** 0.5
                    if name.endswith(("o_proj.weight", "down_proj.weight"))
                    else 1
                )
                nn.init.normal_(parameter, std=0.02 if "embed" in name else scale * parameter.shape[1] ** -0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Token ids [batch, length] to states [batch, length, hidden]."""
        length = tokens.shape[1]
        states = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            states = layer(states, self.cosines[:length], self.sines[:length])
        return self.model.norm(states)

    def logits(self, states: Tensor) -> Tensor:
        """[…, hidden] to […, vocabulary]."""
        return functional.linear(states, self.model.embed_tokens.weight)
