"""Causal attention in blocks of queries: several times as fast as torch's own on processors, forth and back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

BLOCK = 256
"""Queries at once; their weights stay in the processor's cache."""


@torch.compiler.disable  # type: ignore[untyped-decorator]
def causal_attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """[batch, heads, length, dim] from queries of that shape and keys and values of [batch, groups, length, dim]."""
    if queries.device.type == "cpu":
        return _InBlocks.apply(queries, keys, values)
    return functional.scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)


class _InBlocks(torch.autograd.Function):
    """The heads of a group share a key, so that their queries are rows of one matrix."""

    @staticmethod
    def forward(context: Any, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        batch, heads, length, dim = queries.shape
        groups = keys.shape[1]
        keys, values = keys.reshape(-1, length, dim), values.reshape(-1, length, dim)
        grouped = queries.reshape(batch * groups, heads // groups, length, dim)
        mixed = torch.empty_like(grouped)
        shares: list[Tensor] = []
        for first in range(0, length, BLOCK):
            last = min(length, first + BLOCK)
            scores = _rows(grouped[:, :, first:last]) @ keys[:, :last].transpose(1, 2)
            later = torch.ones(last - first, last - first, dtype=torch.bool, device=queries.device).triu(1)
            scores.view(batch * groups, -1, last - first, last)[..., first:].masked_fill_(later, float("-inf"))
            share = torch.softmax(scores.mul_(dim**-0.5), -1)
            mixed[:, :, first:last] = (share @ values[:, :last]).view(mixed[:, :, first:last].shape)
            shares.append(share)
        context.save_for_backward(grouped, keys, values, *shares)
        return mixed.view(batch, heads, length, dim)

    @staticmethod
    def backward(context: Any, *slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries, keys, values, *shares = context.saved_tensors
        [slope] = slopes
        batch, heads, length, dim = slope.shape
        of_mixed = slope.reshape(queries.shape)
        of_queries = torch.empty_like(queries)
        of_keys, of_values = (
            torch.zeros_like(keys, dtype=torch.promote_types(keys.dtype, torch.float32)) for _ in "kv"
        )
        for share, first in zip(shares, range(0, length, BLOCK), strict=True):
            last = min(length, first + BLOCK)
            mine = _rows(of_mixed[:, :, first:last])
            of_values[:, :last] += share.transpose(1, 2) @ mine
            of_shares = mine @ values[:, :last].transpose(1, 2)
            of_scores = torch._softmax_backward_data(of_shares, share, -1, share.dtype).mul_(dim**-0.5)
            of_queries[:, :, first:last] = (of_scores @ keys[:, :last]).view(of_queries[:, :, first:last].shape)
            of_keys[:, :last] += of_scores.transpose(1, 2) @ _rows(queries[:, :, first:last])
        shape = (batch, -1, length, dim)
        return (
            of_queries.view(batch, heads, length, dim),
            of_keys.to(keys.dtype).view(shape),
            of_values.to(values.dtype).view(shape),
        )


def _rows(grouped: Tensor) -> Tensor:
    """[groups, heads of one, length, dim] to [groups, heads · length, dim]."""
    return grouped.reshape(grouped.shape[0], -1, grouped.shape[-1])
